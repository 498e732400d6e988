#!/usr/bin/env bash
# build_deb.sh [SUITE]: the Debian packages, in build-packages/deb-SUITE: built in a bare chroot of that Debian
# (bookworm), looked at by lintian, installed into another bare one, where debian/tests/repack is run.
# MAINTAINER="Name <address>" is who stands in them. Needs root, debootstrap and Debian's packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
# shellcheck source=packaging/chroot.sh
. packaging/chroot.sh

suite=${1-bookworm}
version=$(sed -n 's/^project(h5twin VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
maintainer=${MAINTAINER-h5twin developers <h5twin@packages.debian.org>}
out=$PWD/build-packages/deb-$suite
builder=$PWD/build-packages/chroot-$suite-builder
user=$PWD/build-packages/chroot-$suite-user
name=h5twin-$version
rm -rf "$out"
mkdir -p "$out"
h5twin_chroot "$builder" "$suite"
h5twin_chroot "$user" "$suite"

git archive --prefix="$name/" HEAD | gzip -9n >"$out/h5twin_$version.orig.tar.gz"
tar -C "$out" -xf "$out/h5twin_$version.orig.tar.gz"
cp -r packaging/debian "$out/$name/debian"
# shellcheck disable=SC2001 # each line of the licence
license=$(sed -n '5,$p' LICENSE | sed 's/^$/./; s/^/ /')
python3 - "$out/$name/debian" "$version" "$maintainer" "$(date -R)" "License: BSD-3-Clause
$license" <<'END'
import pathlib
import sys
folder, version, maintainer, date, license = sys.argv[1:]
for name in ("control", "changelog", "copyright"):
    path = pathlib.Path(folder, name)
    text = path.read_text()
    for key, value in {"VERSION": version, "MAINTAINER": maintainer, "DATE": date, "LICENSE": license}.items():
        text = text.replace(f"@{key}@", value)
    path.write_text(text)
END
h5twin_as_root rm -rf "$builder/root/build"
h5twin_as_root cp -r "$out" "$builder/root/build"
h5twin_inside "$builder" sh -ec "
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends build-essential devscripts equivs lintian debhelper >/dev/null 2>&1
    cd build/$name
    apt-get build-dep -qq -y --no-install-recommends ./ >/dev/null 2>&1
    dpkg-buildpackage -us -uc -j$(nproc) >../build.log 2>&1 || { tail -40 ../build.log; exit 1; }
    cd ..
    # The number of the bug that asks for the package is for who uploads it.
    lintian --allow-root --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning --display-info ./*.changes"
cp "$builder"/root/build/*.deb "$builder"/root/build/*.dsc "$builder"/root/build/*.changes \
    "$builder"/root/build/*.debian.tar.* "$out/"

h5twin_as_root cp "$out"/*.deb packaging/debian/tests/repack "$user/root/"
h5twin_inside "$user" sh -ec '
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 ./*.deb hdf5-tools python3-h5py >/dev/null
    sh ./repack'
rm -rf "${out:?}/$name"
ls -l "$out"
