#!/usr/bin/env bash
# neon_counts.sh: how many instructions of AArch64 each codec takes for a value, with NEON and CRC and
# without, on fixed small inputs: counted by qemu-user, so any machine will do.
#
#   bench/neon_counts.sh [FILE]    write the table there, default bench/results/aarch64-qemu/counts.md
#
# Instructions are not time: a processor takes several in a cycle, and how many depends on it. What
# the table shows is what NEON saves, and where one codec takes more work than another.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

table=${1:-bench/results/aarch64-qemu/counts.md}
build="build-bench-aarch64"
h5twin_apt build-essential cmake gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
mkdir -p "$build" "$(dirname "$table")"
cmake -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_EXE_LINKER_FLAGS=-static \
    -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DH5TWIN_TESTS=ON -DH5TWIN_FILTERS=OFF -DH5TWIN_TOOLS=OFF \
    -DH5TWIN_EXAMPLES=OFF >"$build/run.log" 2>&1 || { cat "$build/run.log" >&2; exit 1; }
cmake --build "$build" -j "$(nproc)" --target count_codecs >"$build/run.log" 2>&1 ||
    { cat "$build/run.log" >&2; exit 1; }
cc -O2 -shared -fPIC -Wall -Wextra -Wno-unused-parameter bench/qemu_counts.c -o "$build/qemu_counts.so"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The program enters counted_nothing, counted_encode, counted_decode and counted_nothing again for
# each of its pairs of calls. Lines "SPEC TYPE DIRECTION COUNT".
count_variant() { # NAME
    H5TWIN_CPU=$1 qemu-aarch64 -plugin "$build/qemu_counts.so,counts=$folder/$1.counts" \
        "$build/bin/count_codecs" >"$folder/$1.calls"
    awk '{ at = NR % 4 }
         at == 3 || at == 0 { print $2 - before }
         { before = $2 }' "$folder/$1.counts" | paste -d ' ' "$folder/$1.calls" - >"$folder/$1"
    [ "$(wc -l <"$folder/$1.counts")" = $((2 * $(wc -l <"$folder/$1.calls"))) ]
}

for variant in scalar armv8-crc; do
    count_variant $variant
done
{
    echo "Instructions for a value, $(aarch64-linux-gnu-gcc --version | head -1), 256 KiB of the generated field, with frame"
    echo "and checksum; what \`bench/neon_counts.sh\` counts."
    echo
    echo "| codec | type | encode: plain C | NEON, CRC | decode: plain C | NEON, CRC |"
    echo "|---|---|--:|--:|--:|--:|"
    paste -d ' ' "$folder/scalar" <(cut -d ' ' -f 4 "$folder/armv8-crc") | awk '
        { values = 262144 / (substr($2, 2) / 8) }
        $3 == "encode" { encode = sprintf("%.1f | %.1f", $4 / values, $5 / values) }
        $3 == "decode" { printf "| `%s` | %s | %s | %.1f | %.1f |\n", $1, $2, encode, $4 / values, $5 / values }'
} >"$table"
echo "wrote $table"
