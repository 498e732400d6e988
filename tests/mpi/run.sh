#!/usr/bin/env bash
# run.sh BUILD openmpi|mpich: collective writes of all codecs through that parallel HDF5, by three
# processes, one of which has nothing to write, against what the serial HDF5 writes.
set -euo pipefail
build=$(realpath "$1") mpi=$2
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export HDF5_PLUGIN_PATH=$build/plugins OMP_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
read -ra flags < <(pkg-config --cflags --libs "hdf5-$mpi")
"mpicc.$mpi" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -I"$here/../../include" -I"$build/include" \
    -o "$work/write_collectively" "$here/write_collectively.c" \
    "${flags[@]}" -L"$build/lib" -lh5twin -lm -Wl,-rpath,"$build/lib"
mapfile -t specs < <(cut -f 1 "$here"/../../codec/*/specs.txt)
timeout 120 "mpirun.$mpi" -n 3 "$work/write_collectively" "$work/collective.h5" "${specs[@]}"
echo "$mpi: $(/usr/bin/python3 "$here/compare.py" "$work/collective.h5" "$work/serial.h5")"
