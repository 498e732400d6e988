#!/usr/bin/env bash
# kernel_report.sh: what ptxas says of each kernel, as a table: architecture, file, kernel,
# registers, shared memory, stack and spills in bytes. And how long nvcc takes for each file, on
# standard error. Needs nvcc, no GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
architectures=${*:-"80 86 89 90"}
object=$(mktemp)
trap 'rm -f "$object"' EXIT

printf 'sm\tfile\tkernel\tregisters\tshared\tstack\tspill_stores\tspill_loads\n'
for file in $(git ls-files 'codec/*.cu' | sort); do
    for sm in $architectures; do
        start=$(date +%s%N)
        nvcc -std=c++17 --fmad=false -gencode "arch=compute_$sm,code=sm_$sm" -Xptxas -v -Iinclude \
            -Icodec -c "$file" -o "$object" 2>&1 | c++filt -p | awk -v sm="$sm" -v file="${file#codec/}" '
            /Compiling entry function/ {
                match($0, /\047[^\047]*\047/)
                kernel = substr($0, RSTART + 1, RLENGTH - 2)
                if (kernel ~ /^cub::/) {
                    sub(/<.*/, "", kernel)
                    sub(/CUB_[0-9]+_SM_[0-9]+::/, "", kernel)
                }
            }
            /bytes stack frame/ { stack = $1; stores = $5; loads = $9 }
            /Used [0-9]+ registers/ {
                shared = 0
                for (i = 1; i < NF; i++) {
                    if ($i == "Used") registers = $(i + 1)
                    if ($(i + 2) ~ /^smem/ && $(i + 1) == "bytes") shared = $i
                }
                print sm "\t" file "\t" kernel "\t" registers "\t" shared "\t" stack "\t" stores "\t" loads
            }'
        echo "$file sm_$sm: $((($(date +%s%N) - start) / 1000000)) ms" >&2
    done
done
