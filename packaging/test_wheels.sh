#!/usr/bin/env bash
# test_wheels.sh [SUITE...]: the wheel of this machine's processor, installed by `pip install` into a fresh environment of a
# bare Debian (bullseye has glibc 2.31, the oldest that can still be had), then the sdist, which is compiled there, with
# what it needs and without. The library in the wheel for AArch64 codes an array in qemu. Run wheels.sh before. Needs root,
# debootstrap and the package index.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
# shellcheck source=packaging/chroot.sh
. packaging/chroot.sh

wheels=$PWD/build-packages/wheels
[ $# -gt 0 ] || set -- bullseye trixie
for suite; do
    root=$PWD/build-packages/chroot-$suite
    mkdir -p build-packages
    h5twin_chroot "$root" "$suite"
    cp "$wheels"/*"_$(uname -m).whl" "$wheels"/*.tar.gz packaging/quick_check.py "$root/root/"
    h5twin_inside "$root" sh -ec '
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends python3-venv >/dev/null 2>&1
        ldd --version | head -1
        rm -rf venv && python3 -m venv venv
        venv/bin/pip install -q --upgrade pip
        venv/bin/pip install -q h5twin-*.whl h5py
        venv/bin/python quick_check.py
        # The sdist: first without a compiler, which must be said.
        rm -rf fresh && python3 -m venv fresh
        fresh/bin/pip install -q --upgrade pip
        if command -v cc >/dev/null; then
            apt-get purge -qq -y gcc cpp >/dev/null 2>&1
        fi
        if fresh/bin/pip install -q h5twin-*.tar.gz >log 2>&1; then
            echo "the sdist was installed without a compiler"
            exit 1
        fi
        grep -oE "CMAKE_C_COMPILER|No CMAKE_C_COMPILER could be found" log | sort -u | head -1
        apt-get install -qq -y --no-install-recommends gcc libc6-dev >/dev/null 2>&1
        fresh/bin/pip install -q h5twin-*.tar.gz h5py
        fresh/bin/python quick_check.py'
    echo "$suite: wheel and sdist work"
done

h5twin_apt gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$wheels"/*_aarch64.whl "$work"
# The headers that CMake makes are those of the build of the wheel.
aarch64-linux-gnu-gcc -std=c11 -Iinclude -Ibuild-packages/build-aarch64/include -o "$work/consumer" \
    tests/install/consumer/consumer.c "$work/h5twin/lib/libh5twin.so.0"
qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$work/h5twin/lib" "$work/consumer"
