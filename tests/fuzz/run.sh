#!/usr/bin/env bash
# run.sh SECONDS [FUZZER...]: build the fuzzers with libFuzzer and sanitizers, and run each for a
# time. What they learn is kept in build-fuzz/corpus. An input that breaks something is left in
# build-fuzz/ and named; copy it to tests/fuzz/seeds/FUZZER/ with the repair.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-10}
fuzzers=("${@:2}")
if [ ${#fuzzers[@]} = 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        fuzzers+=("$(basename "$source" .c)")
    done
fi

CC=clang cmake -B build-fuzz -DH5TWIN_TESTS=ON -DH5TWIN_LIBFUZZER=ON -DH5TWIN_TOOLS=OFF \
    -DH5TWIN_SANITIZE=fuzzer-no-link,address,undefined -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF \
    -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS="-O1 -g1"
cmake --build build-fuzz -j "$(nproc)" --target make_seeds "${fuzzers[@]}"
build-fuzz/tests/make_seeds tests/golden build-fuzz/seeds

for fuzzer in "${fuzzers[@]}"; do
    echo "== $fuzzer"
    mkdir -p "build-fuzz/corpus/$fuzzer"
    folders=("build-fuzz/corpus/$fuzzer")
    for folder in "build-fuzz/seeds/$fuzzer" "tests/fuzz/seeds/$fuzzer"; do
        [ ! -d "$folder" ] || folders+=("$folder")
    done
    "build-fuzz/tests/$fuzzer" -max_total_time="$seconds" -max_len=24000 -timeout=30 \
        -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="build-fuzz/$fuzzer-" "${folders[@]}"
done
