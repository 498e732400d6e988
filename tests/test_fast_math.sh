#!/usr/bin/env bash
# test_fast_math.sh: with the options that the project's targets have, -ffast-math and its like change nothing
# behind them; without those, our sources do not compile.
#
#   tests/test_fast_math.sh COMPILER_ID COMPILER OPTION... -- LINK_OPTION...
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
id=$1 compiler=$2
shift 2
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
done
shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
status=0

compile() { # OPTION...: a source whose results need IEEE arithmetic
    "$compiler" -std=c11 -Iinclude -Icodec -c codec/sleek/sleek_maps.c -o "$folder/maps.o" "$@"
}

macros() { # OPTION...: what the compiler says of its arithmetic
    "$compiler" -std=c11 -x c -dM -E /dev/null "$@" 2>/dev/null |
        grep -E '__(FAST_MATH|FINITE_MATH_ONLY|ASSOCIATIVE_MATH|RECIPROCAL_MATH|NO_SIGNED_ZEROS|NO_MATH_ERRNO)__'
}

plain=$(macros "${options[@]}" | grep -v ERRNO)
for fast in -ffast-math -Ofast -ffinite-math-only -funsafe-math-optimizations -fno-signed-zeros -freciprocal-math; do
    if ! compile "$fast" "${options[@]}" -Wno-error 2>"$folder/said"; then
        echo "$fast is not undone:"
        cat "$folder/said"
        status=1
    fi
    if [ "$(macros "$fast" "${options[@]}" | grep -v ERRNO)" != "$plain" ]; then
        echo "$fast leaves its macros"
        status=1
    fi
    if [ "$id" != GNU ] && [[ $fast == -funsafe* || $fast == -fno-s* || $fast == -frec* ]]; then
        continue # clang does not say that it was given these
    fi
    if compile "$fast" 2>"$folder/said" || ! grep -q 'h5twin: -ffast-math' "$folder/said"; then
        echo "$fast is neither undone nor refused"
        status=1
    fi
    if [ "$id" = GNU ] && [ "$fast" != -Ofast ] && # which cmake/ieee.cmake looks for
        "$compiler" "$fast" "$@" -shared -x c /dev/null -o "$folder/empty.so" '-###' 2>&1 | grep -q crtfastmath; then
        echo "$fast links a start file that flushes subnormal numbers"
        status=1
    fi
done
exit $status
