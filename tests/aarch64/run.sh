#!/usr/bin/env bash
# run.sh NATIVE_COMMAND: the command built for AArch64 codes the golden inputs to the bytes of the
# native one, and decodes them; each input by an eighth of the specs, in turn, or with
# H5TWIN_TEST_LONG=1 by all. Under qemu-user, so it says nothing about speed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
native=$1
build="build-aarch64"
cmake -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_EXE_LINKER_FLAGS=-static \
    -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
    -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DH5TWIN_WERROR=ON -DH5TWIN_FILTERS=OFF \
    -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF
cmake --build "$build" -j "$(nproc)" --target h5twin_command
foreign=(qemu-aarch64 "$build/bin/h5twin")
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

mapfile -t specs < <(cut -f 1 codec/*/specs.txt)
checked=0 number=0 every=$([ "${H5TWIN_TEST_LONG:-0}" = 1 ] && echo 1 || echo 8)
for input in tests/golden/inputs/*.f32 tests/golden/inputs/*.f64; do
    name=$(basename "$input")
    array=(--type "${name##*.}" --dims "$(cut -d . -f 2 <<<"$name")")
    number=$((number + 1))
    for ((at = number % every; at < ${#specs[@]}; at += every)); do
        spec=${specs[at]}
        "$native" encode --spec "$spec" "${array[@]}" "$input" "$files/native" &
        "${foreign[@]}" encode --spec "$spec" "${array[@]}" --threads 2 "$input" "$files/foreign"
        wait $!
        if ! cmp "$files/native" "$files/foreign"; then
            echo "$spec of $name: AArch64 and this machine disagree"
            exit 1
        fi
        "${foreign[@]}" decode "$files/native" "$files/decoded"
        "$native" decode "$files/native" "$files/expected"
        if ! cmp "$files/decoded" "$files/expected"; then
            echo "$spec of $name: AArch64 decodes something else"
            exit 1
        fi
        checked=$((checked + 1))
    done
done
echo "$checked chunks are the same"
