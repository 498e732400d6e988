#!/usr/bin/env bash
# run.sh BUILD: the chunks that test_decoders of BUILD compares, decoded by WebAssembly in node, with the same
# verdicts and arrays.
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/../../decoders/build_wasm.sh" "$work/h5twin_decoder.wasm"
mkdir "$work/corpus"
H5TWIN_DECODER_CORPUS=$work/corpus "$build/tests/test_decoders" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
node "$here/corpus.mjs" "$work/h5twin_decoder.wasm" "$work/corpus"
