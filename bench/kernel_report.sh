#!/usr/bin/env bash
# kernel_report.sh: what ptxas says of each kernel, as a table: architecture, file, kernel,
# registers, shared memory, stack and spills in bytes. And how long nvcc takes for each file, on
# standard error. Needs nvcc (in PATH, else CUDACXX or /usr/local/cuda) and a configured build*/ for
# the headers that are made there, no GPU and no git.
#
#   bench/kernel_report.sh [-o FILE] [SM...]      e.g. -o bench/results/kernels.tsv 80 86 89 90
#   bench/kernel_report.sh --check FILE           fails if FILE is of other sources: no nvcc is needed
#
# The table begins with a checksum of all that kernels are made of.
# The table is written when it is whole: FILE stays as it was if nvcc fails or reports no kernel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources=$(find codec include \( -name '*.cu' -o -name '*.cuh' -o -name '*.h' \) -print0 | LC_ALL=C sort -z |
    xargs -0 sha256sum | sha256sum | cut -c1-16)
if [ "${1-}" = --check ]; then
    if [ "$(head -n 1 "${2:?the table\'s file}")" != "# sources $sources" ]; then
        echo "kernel_report.sh: $2 is of other sources: renew it by bench/kernel_report.sh -o $2" >&2
        exit 1
    fi
    exit 0
fi
output=
if [ "${1-}" = -o ]; then
    output=${2:?the table\'s file}
    shift 2
fi
architectures=${*:-"80 86 89 90"}
nvcc=$(command -v nvcc || echo "${CUDACXX:-/usr/local/cuda/bin/nvcc}")
if ! command -v "$nvcc" >/dev/null; then
    echo "kernel_report.sh: no nvcc in PATH, and CUDACXX does not name it: no table was made" >&2
    exit 1
fi
generated=$(find . -maxdepth 3 -path './build*/include/h5twin_codecs.h' | LC_ALL=C sort | head -1)
if [ -z "$generated" ]; then
    echo "kernel_report.sh: configure a build first, for its headers: no table was made" >&2
    exit 1
fi
generated=${generated%/include/*}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
table=$folder/table

# The lines of one file's kernels; files of host code alone have none.
report() { # FILE SM PREFIX: makes PREFIX.tsv
    local start
    start=$(date +%s%N)
    "$nvcc" -std=c++17 --fmad=false -gencode "arch=compute_$2,code=sm_$2" -Xptxas -v -Iinclude \
        -Icodec -I"$generated/include" -I"$generated/codec" -c "$1" -o "$3.object" >"$3.log" 2>&1 || return
    echo "$1 sm_$2: $((($(date +%s%N) - start) / 1000000)) ms" >&2
    c++filt -p <"$3.log" | awk -v sm="$2" -v file="${1#codec/}" '
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
        }' >"$3.tsv"
}

printf '# sources %s\n' "$sources" >"$table"
printf 'sm\tfile\tkernel\tregisters\tshared\tstack\tspill_stores\tspill_loads\n' >>"$table"
count=0
for file in $(find codec -name '*.cu' | LC_ALL=C sort); do
    for sm in $architectures; do
        count=$((count + 1))
        if [ $count -gt "$(nproc)" ]; then
            wait -n || true
        fi
        report "$file" "$sm" "$folder/$(printf %05d $count)" &
    done
done
wait
if [ "$(find "$folder" -name '*.tsv' | wc -l)" != $count ]; then
    cat "$folder"/*.log >&2
    echo "kernel_report.sh: nvcc failed: no table was made" >&2
    exit 1
fi
cat "$folder"/*.tsv >>"$table"
for sm in $architectures; do
    if ! grep -q "^$sm"$'\t' "$table"; then
        echo "kernel_report.sh: nvcc reported no kernel for sm_$sm: no table was made" >&2
        exit 1
    fi
done
if [ -n "$output" ]; then
    cp "$table" "$output"
else
    cat "$table"
fi
