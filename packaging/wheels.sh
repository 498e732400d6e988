#!/usr/bin/env bash
# wheels.sh [sdist|x86_64|aarch64]...: the source distribution and the wheels for PyPI, in build-packages/wheels.
#
# Wheels are for Linux with glibc 2.28 or later (manylinux_2_28), as numpy's and h5py's are, whatever the machine has: ziglang,
# from PyPI, is the compiler for both processors. They need no symbol that is newer than 2.17, as auditwheel says: so
# test_old_glibc.sh can try them with a C library from before 2.28. One wheel serves every Python 3.9 and later.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

out=$PWD/build-packages/wheels
venv=$PWD/.venv-packaging
h5twin_venv .venv-packaging packaging/requirements.txt
mkdir -p "$out"
export PATH=$venv/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1
# ccache would not see that the compiler depends on a variable.
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER

build_sdist() {
    rm -f "$out"/*.tar.gz
    python -m build --sdist --no-isolation --outdir "$out" . >/dev/null
}

build_wheel() { # x86_64|aarch64
    local arch=$1 made report
    made=$PWD/build-packages/wheel-$arch
    rm -rf "$made" "$out"/*_"$arch".whl
    # _PYTHON_HOST_PLATFORM: what the wheel's name says.
    _PYTHON_HOST_PLATFORM=linux-$arch H5TWIN_ZIG_ARCH=$arch H5TWIN_ZIG_PYTHON=$venv/bin/python \
        CC=$PWD/packaging/zig_cc.sh pip wheel -q --no-deps --no-build-isolation -w "$made" \
        --config-settings=build-dir="build-packages/build-$arch" \
        --config-settings=install.strip=false \
        --config-settings=cmake.define.CMAKE_SYSTEM_NAME=Linux \
        --config-settings=cmake.define.CMAKE_SYSTEM_PROCESSOR="$arch" \
        --config-settings=cmake.define.H5TWIN_WERROR=ON .
    report=$(auditwheel show "$made"/*.whl)
    grep -qE "manylinux_2_(5|12|17)_$arch" <<<"$(tr -d '\n' <<<"$report")" ||
        { echo "$report"; return 1; }
    wheel tags --remove --platform-tag "manylinux_2_28_$arch" "$made"/*.whl >/dev/null
    mv "$made"/*.whl "$out/"
}

[ $# -gt 0 ] || set -- sdist x86_64 aarch64
for what; do
    case $what in
    sdist) build_sdist ;;
    x86_64 | aarch64) build_wheel "$what" ;;
    *) echo "usage: ${0##*/} [sdist|x86_64|aarch64]..." >&2; exit 2 ;;
    esac
done
ls -l "$out"
