#!/usr/bin/env bash
# build_lib.sh: called by rattler-build in the source; PREFIX is where it goes.
set -euo pipefail
# conda's HDF5 looks for filters in lib/hdf5/plugin of its environment, so there is no variable to set.
# shellcheck disable=SC2086 # CMAKE_ARGS are words
cmake -B build-conda ${CMAKE_ARGS-} -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
    -DBUILD_SHARED_LIBS=ON -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF
cmake --build build-conda -j "${CPU_COUNT:-1}"
cmake --install build-conda
