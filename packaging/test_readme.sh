#!/usr/bin/env bash
# test_readme.sh [SUITE...]: the commands of README's section "Start", taken from README and typed in a bare Debian
# (bookworm and trixie): the Python package by pip into a virtual environment, then plugins and command by CMake, which look
# into a file. First what must fail: pip outside a virtual environment. Needs root, debootstrap and the package index.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
# shellcheck source=packaging/chroot.sh
. packaging/chroot.sh

[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p build-packages
for suite; do
    root=$PWD/build-packages/chroot-$suite-readme
    h5twin_chroot "$root" "$suite"
    h5twin_as_root rm -rf "$root/root/h5twin"
    git archive --prefix=h5twin/ HEAD | h5twin_as_root tar -C "$root/root" -xf -
    python3 packaging/typed.py README.md Start >"$root/root/h5twin/typed.sh"
    # What README asks for, and HDF5 for the command. Ninja: `make -j` without a number starts all compilers at once.
    h5twin_inside "$root" sh -ec '
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends gcc libc6-dev cmake ninja-build pkg-config python3-venv python3-pip \
            libhdf5-dev zlib1g-dev >/dev/null 2>&1
        if python3 -m pip install numpy >log 2>&1; then
            echo "pip install works outside a virtual environment: README says that it does not"
            exit 1
        fi
        grep -o "externally-managed-environment" log
        cd h5twin
        CMAKE_GENERATOR=Ninja bash typed.sh || { tail -n 40 typed.log; exit 1; }'
    echo "$suite: README's commands work"
done
