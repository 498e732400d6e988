#!/usr/bin/env bash
# test_old_glibc.sh: the wheel of this machine's processor with a C library that is older than the one that it is for (2.28):
# in a bare Ubuntu 18.04, which has glibc 2.27. No Python of that system is new enough, so one is compiled there from
# Debian's source. Run wheels.sh before. Needs root, debootstrap, Debian's and Ubuntu's packages, and the package index.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
# shellcheck source=packaging/chroot.sh
. packaging/chroot.sh

root=$PWD/build-packages/chroot-bionic
apt=$PWD/build-packages/apt
keyring=$apt/usr/share/keyrings/ubuntu-archive-keyring.gpg
wheels=(build-packages/wheels/*_"$(uname -m)".whl)
wheel=$(realpath "${wheels[0]}")

# apt with a list of packages of its own: the keys of Ubuntu's archive, and the source of Python.
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
cat >"$apt/sources.list" <<SOURCES
deb [$signed] http://deb.debian.org/debian trixie main
deb-src [$signed] http://deb.debian.org/debian bookworm main
SOURCES
own_apt() {
    (cd "$apt" && apt-get -qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@")
}
if [ ! -e "$keyring" ]; then
    own_apt update
    own_apt download ubuntu-keyring
    dpkg-deb --extract "$apt"/ubuntu-keyring_*.deb "$apt"
    own_apt source --download-only python3.11
fi

h5twin_chroot "$root" bionic "$(dpkg --print-architecture)" http://archive.ubuntu.com/ubuntu "$keyring"
h5twin_as_root cp "$apt"/python3.11_*.orig.tar.gz packaging/quick_check.py "$root/root/"
# The Python there cannot ask the package index, as that needs a newer OpenSSL: what fits its C library comes from here.
h5twin_as_root rm -rf "$root/root/wheels"
h5twin_venv .venv-packaging packaging/requirements.txt
h5twin_as_root .venv-packaging/bin/pip download -q --disable-pip-version-check --only-binary=:all: --python-version 3.11 \
    --platform "manylinux_2_27_$(uname -m)" --platform "manylinux_2_17_$(uname -m)" --platform "manylinux2014_$(uname -m)" \
    -d "$root/root/wheels" numpy h5py
# pip goes by the name: in this one the wheel is for the C library of that system.
h5twin_as_root cp "$wheel" "$root/root/wheels/$(basename "${wheel/manylinux_2_28/manylinux_2_27}")"
# shellcheck disable=SC2016 # the inner shell expands
h5twin_inside "$root" sh -ec '
    ldd --version | head -1
    if [ ! -e python/bin/python3.11 ]; then
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends gcc make libc6-dev zlib1g-dev libffi-dev >/dev/null 2>&1
        rm -rf source && mkdir source
        tar -C source --strip-components=1 -xf python3.11_*.orig.tar.gz
        (cd source && ./configure --prefix=/root/python && make -j"$(nproc)" && make install) >python.log 2>&1 ||
            { tail -n 20 python.log; exit 1; }
    fi
    rm -rf venv && python/bin/python3.11 -m venv venv
    venv/bin/pip install -q --disable-pip-version-check --no-index --find-links wheels h5twin h5py
    venv/bin/python quick_check.py'
echo "$(basename "$wheel"): works with an older glibc than 2.28"
