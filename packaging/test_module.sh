#!/usr/bin/env bash
# test_module.sh BUILD: install BUILD below a temporary prefix, move it, and load its module file with Environment Modules
# and with Lmod, whichever are there: the command runs, and HDF5's path names the filters.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

h5twin_apt environment-modules || true # Lmod may be there instead: both cannot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
mv "$work/prefix" "$work/moved"
tried=0
for init in /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    [ -f "$init" ] || continue
    # shellcheck disable=SC2016 # the inner shell expands
    env -i HOME="$work" PATH=/usr/bin:/bin bash -euc '
        set +u; . "$1"; set -u
        module use "$2/share/modulefiles"
        module load h5twin
        [ "$(command -v h5twin)" = "$2/bin/h5twin" ]
        h5twin --version
        ls "$HDF5_PLUGIN_PATH"/libh5twin_lattice.* >/dev/null
        [ "$H5TWIN_ROOT" = "$2" ]
        module unload h5twin
        [ -z "${HDF5_PLUGIN_PATH-}" ]' bash "$init" "$work/moved"
    echo "$init: loaded and unloaded"
    tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "neither Environment Modules nor Lmod is here"; exit 1; }
