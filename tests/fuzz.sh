#!/usr/bin/env bash
# fuzz.sh [TARGET|all] [SECONDS]: build the fuzzers (tests/fuzz/fuzz_*.c) with libFuzzer, ASan and
# UBSan, and run one, or each, for a time: 10 seconds if none is given.
#
#   tests/fuzz.sh                     all, for a short time
#   tests/fuzz.sh fuzz_decode 3600    one, for an hour
#   tests/fuzz.sh keep                add what ran here to tests/fuzz/hours.tsv, and to the table of
#                                     docs/SECURITY.md that is made from it
#   tests/fuzz.sh minimise TARGET     what TARGET learnt, in few small files, to tests/fuzz/seeds/TARGET
#
# What fuzzers learn is kept in build-fuzz/corpus, and each run is a line of build-fuzz/runs.tsv, so
# hours can be run in pieces: they are counted in seconds of processor time. An input that breaks
# something is left in build-fuzz/ and named; copy it to tests/fuzz/seeds/TARGET/ with the repair,
# and take the lines of its target out of hours.tsv: hours count from the last fix.
# H5TWIN_TEST_CODEC=NAME lets targets that choose a codec take this one only (decode_payload, roundtrip,
# differential). H5TWIN_FUZZ_MSAN=1 looks for uninitialised memory instead (build-fuzz-msan, only targets
# without HDF5, which is not built for it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build-fuzz sanitizers=address,undefined
if [ "${H5TWIN_FUZZ_MSAN:-0}" = 1 ]; then
    build=build-fuzz-msan sanitizers=memory
fi
runs=$build/runs.tsv
hours=tests/fuzz/hours.tsv
TIMEFORMAT='%U %S'

all_targets() {
    local source
    for source in tests/fuzz/fuzz_*.c; do
        if [ $sanitizers != memory ] || ! grep -q hdf5_image "$source"; then
            basename "$source" .c
        fi
    done
}

build_targets() { # TARGET...; one at a time, if several run this script
    mkdir -p $build
    (flock 9 && build_these "$@") 9>$build/lock
}

build_these() { # TARGET...
    CC=clang cmake -B $build -DH5TWIN_TESTS=ON -DH5TWIN_LIBFUZZER=ON -DH5TWIN_TOOLS=OFF \
        -DH5TWIN_SANITIZE=fuzzer-no-link,$sanitizers -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF \
        -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" &&
        cmake --build $build -j "$(nproc)" --target make_seeds "$@" &&
        $build/tests/make_seeds tests/golden $build/seeds
}

# Folders of inputs for TARGET, the one that it may write to first.
corpus_of() { # TARGET
    local folder own=$build/corpus/$1${H5TWIN_TEST_CODEC:+.$H5TWIN_TEST_CODEC}
    mkdir -p "$own"
    echo "$own"
    for folder in "$build/seeds/$1" "tests/fuzz/seeds/$1"; do
        [ ! -d "$folder" ] || echo "$folder"
    done
}

run_target() { # TARGET SECONDS
    local target=$1 seconds=$2 status=0 folders executions
    local log=$build/$1${H5TWIN_TEST_CODEC:+.$H5TWIN_TEST_CODEC}.log
    mapfile -t folders < <(corpus_of "$target")
    { time "$build/tests/$target" -max_total_time="$seconds" -max_len=24000 -timeout=30 \
        -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$build/$target-" "${folders[@]}" >"$log" 2>&1; } 2>"$log.time" || status=$?
    seconds=$(awk '{ printf "%.0f", $1 + $2 }' "$log.time") # of a processor, however busy the machine
    # A run that ends with a finding has no final statistics, but has counted up to there.
    executions=$(grep -oE '^#[0-9]+|number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+' |
        sort -n | tail -1)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%Y-%m-%d)" "$target" "$sanitizers" \
        "$seconds" "${executions:-0}" $((status != 0)) "${H5TWIN_TEST_CODEC:-all}" >>$runs
    echo "$target: ${executions:-0} executions in $seconds s of a processor, $(
        [ $status = 0 ] && echo no || echo A) finding"
    if [ $status != 0 ]; then
        grep -vE '^#[0-9]+|^INFO:' "$log" | head -n 60
    fi
    return $status
}

print_totals() { # FILE
    [ -f "$1" ] || { echo "no run yet"; return; }
    awk -F '\t' '
        function add(name) { runs[name]++; seconds[name] += $4; count[name] += $5; found[name] += $6 }
        !/^#/ { add($2) }
        !/^#/ && $7 != "all" { add("only " $7) }
        END {
            form = "%s\t%s\t%s\t%s\t%s\n"
            printf form, "target", "pieces", "seconds", "executions", "findings"
            for (t in runs) printf form, t, runs[t], seconds[t], count[t], found[t] | "sort"
        }' "$1"
}

# The runs of here become one line for each target, sanitizers and day; then the table's rows.
keep() {
    [ -f $runs ] || { echo "no run yet" >&2; return 1; }
    local rows
    sort $runs | awk -F '\t' -v OFS='\t' '
        { key = $1 OFS $2 OFS $3 OFS $7; seconds[key] += $4; count[key] += $5; found[key] += $6 }
        END {
            for (key in seconds) {
                split(key, part, OFS)
                print part[1], part[2], part[3], seconds[key], count[key], found[key], part[4] | "sort"
            }
        }' >>$hours
    rm $runs
    rows=$(print_totals $hours | awk -F '\t' '
        NR == 1 { print "| target | pieces | seconds | executions | findings |"; print "|---|--:|--:|--:|--:|"; next }
        { print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " |" }')
    awk -v rows="$rows" '
        /<!-- table: fuzz -->/ { print; print ""; print rows; print ""; inside = 1; next }
        /<!-- end -->/ { inside = 0 }
        !inside { print }
        ' docs/SECURITY.md >$build/SECURITY.md
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
    keep)
        keep
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
    print_totals $runs | expand -t 24,32,42,58
    return $failed
}

main "$@" # all is read by now: the file may change while fuzzers run for hours
exit
