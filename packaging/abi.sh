#!/usr/bin/env bash
# abi.sh check|write [BUILD]: compare the functions and types of libh5twin with packaging/abi/libh5twin.abi, or write that
# baseline. Fails if something was removed or changed; what was added is listed. The library is built with debugging
# information in BUILD (build-abi). Needs abidw and abidiff.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

build=${2-build-abi}
baseline=packaging/abi/libh5twin.abi
h5twin_apt abigail-tools
cmake -B "$build" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-g -O0 -w -ffile-prefix-map=$PWD=." -DH5TWIN_TOOLS=OFF \
    -DH5TWIN_CHECKPOINT=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF >/dev/null
cmake --build "$build" -j "$(nproc)" --target h5twin >/dev/null
library=$(realpath "$build/lib/libh5twin.so")
# Types of the public headers alone; no path of this machine, no line numbers.
dump() {
    abidw --exported-interfaces-only --headers-dir include --headers-dir "$build/include" --drop-private-types --no-show-locs \
        --no-corpus-path --no-comp-dir-path --out-file "$1" "$library"
}
case ${1-} in
write)
    dump "$baseline"
    ;;
check)
    now=$(mktemp)
    trap 'rm -f "$now"' EXIT
    dump "$now"
    if ! abidiff --no-added-syms "$baseline" "$now"; then
        echo "not compatible with $baseline: RELEASING.md says what that means" >&2
        exit 1
    fi
    abidiff "$baseline" "$now" | grep '\[A\]' || true
    echo "compatible with $baseline"
    ;;
*)
    echo "usage: ${0##*/} check|write [BUILD]" >&2
    exit 2
    ;;
esac
