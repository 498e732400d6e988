#!/usr/bin/env bash
# check_opcodes.sh BUILD: every typed opcode in the PTX of a build with -DH5TWIN_PTX=ON has a row in
# opcodes.tsv, which test_opcodes runs.
set -uo pipefail
build=$1
table=$(dirname "${BASH_SOURCE[0]}")/opcodes.tsv
mapfile -t objects < <(find "$build" -name '*.cu.o')
if [ ${#objects[@]} = 0 ]; then
    echo "no objects of nvcc in $build"
    exit 1
fi
used=$("$build/bin/ptx_dump" --opcodes "${objects[@]}") || exit 1
missing=$(LC_ALL=C comm -23 <(cut -f1 <<<"$used" | LC_ALL=C sort -u) \
    <(grep -v '^#' "$table" | cut -f1 | LC_ALL=C sort -u))
if [ -n "$missing" ]; then
    echo "in the PTX of ${#objects[@]} objects, but in no row of $table:"
    echo "$missing"
    exit 1
fi
echo "$(wc -l <<<"$used") typed opcodes in ${#objects[@]} objects, each with a row"
