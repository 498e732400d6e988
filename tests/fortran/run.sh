#!/usr/bin/env bash
# run.sh BUILD: install BUILD below a temporary prefix, build the Fortran example and a test against it by find_package(h5twin), run
# both, and read what they have written by h5py and h5dump.
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -f "$build/lib/libh5twin_fortran.a" ]; then
    echo "$build has no Fortran module: it was configured before a Fortran compiler was there; remove its CMakeCache.txt"
    exit 1
fi
cmake --install "$build" --prefix "$work/prefix" >/dev/null
mv "$work/prefix" "$work/moved"
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
cmake --build "$work/build" >/dev/null
cd "$work"
build/test_h5twin ours.h5
build/fortran_steps steps.h5
export HDF5_PLUGIN_PATH=$build/plugins
/usr/bin/python3 "$here/check.py" ours.h5 steps.h5
h5dump -d /temperature -s 0,0,0 -c 1,1,4 steps.h5 | grep -F '(0,0,0): 0.0' >/dev/null ||
    { echo "h5dump reads something else"; exit 1; }
