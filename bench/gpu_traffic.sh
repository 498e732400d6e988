#!/usr/bin/env bash
# gpu_traffic.sh: bytes of device memory that the CUDA back ends load and store for each byte of the
# arrays, and launches for each call, as a table. Counted on the emulator of the tests: no GPU is needed.
#
#   bench/gpu_traffic.sh [-o FILE] [CHUNK_BYTES CHUNK_COUNT [SPEC...]]     default: 4 chunks of 256 KiB
#
# tests/simt/traffic/traffic.h says what counts. The rows of each kernel are in build-traffic/traffic.tsv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=/dev/stdout
if [ "${1-}" = -o ]; then
    output=${2:?the table\'s file}
    shift 2
fi
build="build-traffic"
mkdir -p $build
if ! { cmake -B $build -DH5TWIN_TESTS=ON -DH5TWIN_FILTERS=OFF -DH5TWIN_TOOLS=OFF -DH5TWIN_EXAMPLES=OFF \
    -DH5TWIN_SIMT_SANITIZERS=OFF && cmake --build $build -j "$(nproc)" --target gpu_traffic; } >$build/run.log 2>&1; then
    cat $build/run.log >&2
    exit 1
fi
$build/bin/gpu_traffic "$@" >$build/traffic.tsv

awk -F '\t' '
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
                    printf " | %d | %.2f | %.2f", launches[key, directions[d]], loaded[key, directions[d]], stored[key, directions[d]]
                else
                    printf " | - | - | -"
            print " |"
        }
    }' $build/traffic.tsv >"$output"
