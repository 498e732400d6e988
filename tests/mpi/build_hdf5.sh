#!/usr/bin/env bash
# build_hdf5.sh SOURCE PREFIX openmpi|mpich: HDF5's source, of 1.14 or later, as a parallel library in PREFIX, for
# run.sh: that of Debian 12 is 1.10, which has no VOL connectors.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
# shellcheck disable=SC2317
log_at_failure() { tail -n 40 "$build/log"; }
trap log_at_failure ERR
CC=mpicc.$3 cmake -S "$1" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$2" \
    -DHDF5_ENABLE_PARALLEL=ON -DBUILD_STATIC_LIBS=OFF -DBUILD_TESTING=OFF -DHDF5_BUILD_CPP_LIB=OFF \
    -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_EXAMPLES=OFF \
    -DHDF5_ENABLE_Z_LIB_SUPPORT=OFF -DHDF5_ENABLE_SZIP_SUPPORT=OFF >"$build/log" 2>&1
cmake --build "$build" -j "$(nproc)" --target install >>"$build/log" 2>&1
