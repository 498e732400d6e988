#!/usr/bin/env bash
# gpu_traffic.sh: bytes of device memory that the CUDA back ends load and store for each byte of the
# arrays, and launches for each call, as a table. Counted on the emulator of the tests: no GPU is needed.
#
#   bench/gpu_traffic.sh [-b FILE] [-o FILE] [CHUNK_BYTES CHUNK_COUNT [SPEC...]]
#
# By default 4 chunks of 256 KiB. -b: an earlier table, whose numbers are put before those that
# differ from them by more than a fiftieth.
# tests/simt/traffic/traffic.h says what counts. The rows of each kernel are in build-traffic/traffic.tsv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=/dev/stdout before=/dev/null
while getopts b:o: option; do
    case $option in
    b) before=$OPTARG ;;
    o) output=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
build="build-traffic"
mkdir -p $build
if ! { cmake -B $build -DH5TWIN_TESTS=ON -DH5TWIN_FILTERS=OFF -DH5TWIN_TOOLS=OFF -DH5TWIN_EXAMPLES=OFF \
    -DH5TWIN_SIMT_SANITIZERS=OFF && cmake --build $build -j "$(nproc)" --target gpu_traffic; } >$build/run.log 2>&1; then
    cat $build/run.log >&2
    exit 1
fi
$build/bin/gpu_traffic "$@" >$build/traffic.tsv

awk -F '\t' '
    function cell(key, column, value, format,    now, was) {
        now = sprintf(format, value)
        was = (key, column) in earlier ? earlier[key, column] : "-"
        return was == "-" || (now - was <= was / 50 && was - now <= was / 50) ? now : was " → " now
    }
    FILENAME != ARGV[ARGC - 1] {
        split($0, cells, / *\| */)
        for (column = 3; column <= 8; column++) { earlier[cells[2], column] = cells[column] }
        next
    }
    $4 == "all" {
        key = $1 " " $2
        if (!(key in seen)) { seen[key] = 1; order[++count] = key }
        launches[key, $3] = $5; loaded[key, $3] = $6; stored[key, $3] = $7
    }
    END {
        print "| bytes per byte of the arrays | launches | loaded | stored | launches | loaded | stored |"
        print "|---|--:|--:|--:|--:|--:|--:|"
        print "| | encode | | | decode | | |"
        for (i = 1; i <= count; i++) {
            key = order[i]
            printf "| %s", key
            split("encode decode", directions, " ")
            for (d = 1; d <= 2; d++)
                if ((key, directions[d]) in launches)
                    printf " | %s | %s | %s", cell(key, 3 * d, launches[key, directions[d]], "%d"),
                        cell(key, 3 * d + 1, loaded[key, directions[d]], "%.2f"),
                        cell(key, 3 * d + 2, stored[key, directions[d]], "%.2f")
                else
                    printf " | - | - | -"
            print " |"
        }
    }' "$before" $build/traffic.tsv >"$output"
