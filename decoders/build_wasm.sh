#!/usr/bin/env bash
# build_wasm.sh FILE.wasm: lattice.c, which contains cascade.c, as WebAssembly without imports. Needs clang and
# lld with the target wasm32, as Debian's packages clang and lld have it.
set -euo pipefail
[ $# = 1 ] || { echo "usage: ${0##*/} FILE.wasm" >&2; exit 2; }
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
"${CLANG:-clang}" --target=wasm32 -std=c11 -O2 -ffreestanding -nostdlib -mbulk-memory \
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-unused-command-line-argument \
    -Wl,--no-entry -Wl,-z,stack-size=131072 -Wl,--export=__heap_base \
    -Wl,--export=h5twin_decoder_sizes -Wl,--export=h5twin_decoder_decode \
    -o "$1" "$here/lattice.c"
