#!/usr/bin/env bash
# fuzz.sh [TARGET|all] [SECONDS]: build the fuzzers (tests/fuzz/fuzz_*.c) with libFuzzer, ASan and
# UBSan, and run one, or each, for a time: 10 seconds if none is given.
#
#   tests/fuzz.sh                     all, for a short time
#   tests/fuzz.sh fuzz_decode 3600    one, for an hour
#   tests/fuzz.sh totals [SINCE]      what all runs together did, or those since a time (2026-01-31T12)
#   tests/fuzz.sh document [SINCE]    the same, as the table of docs/SECURITY.md
#   tests/fuzz.sh minimise TARGET     what TARGET learnt, in few small files, to tests/fuzz/seeds/TARGET
#
# What fuzzers learn is kept in build-fuzz/corpus, and each run is a line of build-fuzz/runs.tsv, so
# hours can be run in pieces. An input that breaks something is left in build-fuzz/ and named; copy it
# to tests/fuzz/seeds/TARGET/ with the repair. H5TWIN_FUZZ_MSAN=1 looks for uninitialised memory
# instead (build-fuzz-msan, only targets without HDF5, which is not built for it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build-fuzz sanitizers=address,undefined
if [ "${H5TWIN_FUZZ_MSAN:-0}" = 1 ]; then
    build=build-fuzz-msan sanitizers=memory
fi
runs=$build/runs.tsv

all_targets() {
    local source
    for source in tests/fuzz/fuzz_*.c; do
        if [ $sanitizers != memory ] || ! grep -q hdf5_image "$source"; then
            basename "$source" .c
        fi
    done
}

build_targets() { # TARGET...
    CC=clang cmake -B $build -DH5TWIN_TESTS=ON -DH5TWIN_LIBFUZZER=ON -DH5TWIN_TOOLS=OFF \
        -DH5TWIN_SANITIZE=fuzzer-no-link,$sanitizers -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF \
        -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS="-O1 -g1"
    cmake --build $build -j "$(nproc)" --target make_seeds "$@"
    $build/tests/make_seeds tests/golden $build/seeds
}

# Folders of inputs for TARGET, the one that it may write to first.
corpus_of() { # TARGET
    local folder
    mkdir -p "$build/corpus/$1"
    echo "$build/corpus/$1"
    for folder in "$build/seeds/$1" "tests/fuzz/seeds/$1"; do
        [ ! -d "$folder" ] || echo "$folder"
    done
}

run_target() { # TARGET SECONDS
    local target=$1 seconds=$2 log=$build/$1.log status=0 folders executions
    mapfile -t folders < <(corpus_of "$target")
    "$build/tests/$target" -max_total_time="$seconds" -max_len=24000 -timeout=30 \
        -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$build/$target-" "${folders[@]}" >"$log" 2>&1 || status=$?
    # A run that ends with a finding has no final statistics, but has counted up to there.
    executions=$(grep -oE '^#[0-9]+|number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+' |
        sort -n | tail -1)
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%S)" "$target" "$sanitizers" \
        "$seconds" "${executions:-0}" $((status != 0)) >>$runs
    echo "$target: ${executions:-0} executions in $seconds s, $([ $status = 0 ] && echo no || echo A) finding"
    if [ $status != 0 ]; then
        grep -vE '^#[0-9]+|^INFO:' "$log" | head -n 60
    fi
    return $status
}

print_totals() { # [SINCE]
    [ -f $runs ] || { echo "no run yet"; return; }
    awk -F '\t' -v since="${1-}" '
        $1 >= since { runs[$2]++; seconds[$2] += $4; count[$2] += $5; found[$2] += $6
                      all_runs++; all_seconds += $4; all += $5; all_found += $6 }
        END {
            form = "%-22s %6s %9s %14s %9s\n"
            printf form, "target", "runs", "seconds", "executions", "findings"
            for (t in runs) printf form, t, runs[t], seconds[t], count[t], found[t] | "sort"
            close("sort")
            printf form, "all", all_runs, all_seconds, all, all_found
        }' $runs
}

document() { # [SINCE]: totals, as rows between the markers of the table
    local rows
    rows=$(print_totals "${1-}" | awk '
        NR == 1 { print "| target | runs | seconds | executions | findings |"; print "|---|--:|--:|--:|--:|"; next }
        { print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " |" }')
    awk -v rows="$rows" '
        /<!-- table: fuzz -->/ { print; print ""; print rows; print ""; inside = 1 }
        /<!-- end -->/ { inside = 0 }
        !inside { print }
        ' docs/SECURITY.md | awk '!/table: fuzz/ || !seen++' >$build/SECURITY.md
    cp $build/SECURITY.md docs/SECURITY.md
}

minimise() { # TARGET: inputs of at most 400 bytes that reach what all such reach; 100 of them
    local target=$1 folders work=$build/minimised/$1
    mapfile -t folders < <(corpus_of "$target")
    rm -rf "$work" && mkdir -p "$work" "tests/fuzz/seeds/$target"
    "$build/tests/$target" -merge=1 -max_len=400 "$work" "${folders[@]}" >"$build/$target.log" 2>&1
    find "$work" -type f | sort | head -n 100 | xargs -I{} cp {} "tests/fuzz/seeds/$target/"
    du -sh --apparent-size "tests/fuzz/seeds/$target"
}

main() {
    local targets target running=0 failed=0
    case ${1:-all} in
    totals)
        print_totals "${2-}"
        return
        ;;
    document)
        document "${2-}"
        return
        ;;
    minimise)
        build_targets "$2"
        minimise "$2"
        return
        ;;
    all)
        mapfile -t targets < <(all_targets)
        ;;
    *)
        targets=("$1")
        ;;
    esac
    build_targets "${targets[@]}"
    for target in "${targets[@]}"; do # as many at a time as there are processors
        if [ $running -ge "$(nproc)" ]; then
            wait -n || failed=1
            running=$((running - 1))
        fi
        run_target "$target" "${2:-10}" &
        running=$((running + 1))
    done
    for (( ; running > 0; running--)); do
        wait -n || failed=1
    done
    print_totals
    return $failed
}

main "$@" # all is read by now: the file may change while fuzzers run for hours
exit
