#!/usr/bin/env bash
# callgrind.sh: count the instructions of each codec on fixed small inputs and compare them with
# bench/callgrind.tsv. A guard against lost speed that does not depend on the machine's load.
#
#   bench/callgrind.sh            compare; exit status 1 if one takes 5 % more instructions
#   bench/callgrind.sh --update   write bench/callgrind.tsv anew
#
# Counts depend on the compiler, which the first line of the file names: with another one, compare
# against a file made before the change. valgrind knows no AVX-512, so scalar, sse4.2 and avx2 it is.
# H5TWIN_CALLGRIND_TOLERANCE is the tolerated growth in percent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

tolerance=${H5TWIN_CALLGRIND_TOLERANCE:-5}
kept=bench/callgrind.tsv
build="build-bench"
h5twin_apt build-essential cmake valgrind
cmake -B "$build" -DH5TWIN_TESTS=ON -DH5TWIN_EXAMPLES=OFF >/dev/null
cmake --build "$build" -j "$(nproc)" --target count_codecs >/dev/null

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

count_variant() { # NAME: lines "NAME SPEC TYPE DIRECTION COUNT", tabs between
    local variant=$1
    H5TWIN_CPU=$variant valgrind -q --tool=callgrind --callgrind-out-file="$folder/$variant" \
        --dump-after=counted_nothing --dump-after=counted_encode --dump-after=counted_decode \
        "$build/bin/count_codecs" >"$folder/$variant.calls"
    # A dump holds what ran since the one before. Four for each codec: what came before, encode,
    # decode, and what came behind.
    local calls=0 call number
    while read -r call; do
        number=$((2 * calls + 2 - calls % 2)) # 2, 3, 6, 7, ...
        printf '%s\t%s\t%s\n' "$variant" "${call// /$'\t'}" \
            "$(awk '/^(summary|totals):/ {print $2; exit}' "$folder/$variant.$number")"
        calls=$((calls + 1))
    done <"$folder/$variant.calls"
}

{
    echo "# $(cc --version | head -1)"
    for variant in scalar sse4.2 avx2; do
        count_variant $variant
    done
} >"$folder/counts.tsv"

if [ "${1-}" = --update ] || [ ! -e $kept ]; then
    cp "$folder/counts.tsv" $kept
    echo "wrote $kept"
    exit 0
fi
[ "$(head -1 $kept)" = "$(head -1 "$folder/counts.tsv")" ] ||
    echo "note: counted with another compiler: $(head -1 $kept)" >&2
awk -F'\t' -v tolerance="$tolerance" '
    /^#/ { next }
    FNR == NR { kept[$1 FS $2 FS $3 FS $4] = $5; next }
    {
        key = $1 FS $2 FS $3 FS $4
        if (!(key in kept)) { print "new: " key; next }
        change = 100 * ($5 / kept[key] - 1)
        seen++
        if (change > tolerance) { printf "%+.1f %%  %s\n", change, key; failed = 1 }
        if (change < -tolerance) { printf "%+.1f %%  %s (better: --update keeps it)\n", change, key }
    }
    END { printf "%d counts compared, tolerance %s %%\n", seen, tolerance; exit failed }
' $kept "$folder/counts.tsv"
