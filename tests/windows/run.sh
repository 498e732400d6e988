#!/usr/bin/env bash
# run.sh NATIVE_COMMAND: built for Windows by mingw-w64 and run under wine, the command codes the golden
# inputs to the bytes of the native one, and decodes them; and HDF5 of a Windows wheel of h5py writes
# and reads through the plugins, if that wheel can be had. It says nothing about speed: compiling takes
# longest, so nothing is optimised. (Some intrinsics are macros then, whose casts change signs.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
native=$1
build="build-windows"
compiler=x86_64-w64-mingw32-gcc-posix
command -v $compiler >/dev/null || compiler=x86_64-w64-mingw32-gcc
cmake -S . -B $build -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 -DCMAKE_C_COMPILER=$compiler \
    -DCMAKE_FIND_ROOT_PATH=/usr/x86_64-w64-mingw32 -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY \
    -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG -Wno-sign-conversion" \
    -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DBUILD_SHARED_LIBS=ON -DH5TWIN_WERROR=ON \
    -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF
cmake --build $build -j "$(nproc)"

export WINEPREFIX=$PWD/$build/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
mkdir -p "$WINEPREFIX"
"$wine" wineboot -i >/dev/null 2>&1 || true
foreign() {
    "$wine" $build/bin/h5twin.exe "$@"
}
files=$(mktemp -d -p $build)
trap 'rm -rf "$files"' EXIT

# A few inputs, each by every second spec in turn: each call starts a process, which takes long here.
mapfile -t specs < <(cut -f 1 codec/*/specs.txt)
checked=0 first=0
for name in field2d.200x143.f32 masked3d.20x40x50.f64; do
    input=tests/golden/inputs/$name
    array=(--type "${name##*.}" --dims "$(cut -d . -f 2 <<<"$name")")
    for ((at = first; at < ${#specs[@]}; at += 2)); do
        spec=${specs[at]}
        "$native" encode --spec "$spec" "${array[@]}" "$input" "$files/native"
        "$native" decode "$files/native" "$files/expected"
        foreign encode --spec "$spec" "${array[@]}" --threads 2 "$input" "$files/foreign"
        cmp "$files/native" "$files/foreign" || { echo "$spec of $name: Windows makes other bytes"; exit 1; }
        foreign decode - - <"$files/native" >"$files/decoded"
        cmp "$files/decoded" "$files/expected" || { echo "$spec of $name: Windows decodes something else"; exit 1; }
        checked=$((checked + 1))
    done
    first=$((first + 1))
done
echo "$checked chunks are the same"

# The HDF5 of a wheel, through the plugins, and opened by the command. Of an old one, 1.12: newer ones want
# feholdexcept(), which wine 8 lacks.
wheel=$build/hdf5
if [ ! -d $wheel ] && ! (python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    --platform win_amd64 --python-version 3.11 -d "$files" h5py==3.8.0 &&
    mkdir $wheel && python3 -m zipfile -e "$files"/h5py-*.whl $wheel) >/dev/null 2>&1; then
    rm -rf $wheel
    echo "HDF5 for Windows cannot be had here: the plugins were not tried"
    exit 0
fi
H5TWIN_HDF5=$(find $wheel -name 'hdf5*.dll' ! -name '*hl*' | head -1)
export H5TWIN_HDF5 HDF5_PLUGIN_PATH=$build/plugins
$compiler -O1 -Itools -Ifilter -Iinclude -I$build/include -Icodec tests/windows/through_plugin.c tools/hdf5_loaded.c \
    tools/messages.c filter/shared_objects.c $build/lib/libh5twin.dll.a -static -o $build/bin/through_plugin.exe
"$wine" $build/bin/through_plugin.exe "$files/plugin.h5"
foreign repack --codec cascade "$files/plugin.h5" "$files/repacked.h5"
foreign verify "$files/plugin.h5" "$files/repacked.h5"
if ! "$native" info "$files/repacked.h5" 2>&1 | grep -q "built without"; then
    "$native" verify "$files/plugin.h5" "$files/repacked.h5"
fi
