#!/usr/bin/env bash
# coverage.sh: which branches of the C code do the tests take? With clang 14 and its llvm-cov.
#
#   tests/coverage.sh            build in build-coverage, run the tests once, print the numbers by room
#   tests/coverage.sh report     print them again
#
# Left out are the emulated GPU, whose code is not counted, and the slowest tests
# or those of other things: so the numbers are lower bounds. It takes some six minutes of a processor where
# the compiler cache is warm. A branch is one outcome of one
# condition; code that is compiled for several instruction sets or types counts as taken where any of them takes it.
# build-coverage/uncovered.txt lists the branches that were not taken, by file and line.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

build="build-coverage"
jobs=$(nproc)
slow='^test_(differential_.*|large|chunk_life|fast_math)$|^fuzz_differential$'
slow_python=(dataset_life faults golden_command life process damaged_layout)
# A program that writes its counts as it ends meets the file limit, the failing disk or the signal, too.
not_counting='a_limit_of_the_file_size or a_failing_disk or no_signal_leaves'
left_out='(_gpu|_asan$|_tsan$|^test_(simt|sums|lookback|info_devices|ndzip_divide)$)'

build_it() {
    local targets
    CC=clang cmake -B $build -DH5TWIN_TESTS=ON -DH5TWIN_CUDA=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF \
        -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -fprofile-instr-generate -fcoverage-mapping" >/dev/null || return
    targets=$(cmake --build $build --target help | awk '{print $2}' |
        grep -E '^(test_.*|fuzz_.*|make_seeds|static_hdf5|h5twin(|_command|_plugins|_fault_shim|_call_fault_shim|_class3_plugin|_fake_.*))$' |
        grep -vE "$left_out")
    # shellcheck disable=SC2086 # one word each
    cmake --build $build -j "$jobs" --target $targets
}

run_tests() { # what a failure says is on the screen; the branches are counted all the same
    local name ignored=() status=0
    rm -rf $build/profiles
    # One file for each program or plugin, into which its runs are merged.
    export LLVM_PROFILE_FILE=$PWD/$build/profiles/%m.profraw
    ctest --test-dir $build -Q -j "$jobs" --output-log $build/ctest.log \
        -E "$slow|_gpu|_(asan|tsan)$|^test_(simt|sums|lookback|info_devices|ndzip_divide|run_gpu)$|^mutants_table$" ||
        { status=1; tail -n 20 $build/ctest.log; }
    for name in "${slow_python[@]}"; do
        ignored+=("--ignore=python_tests/test_$name.py")
    done
    H5TWIN_PLUGIN_PATH=$PWD/$build/plugins H5TWIN_COMMAND=$PWD/$build/bin/h5twin PYTHONDONTWRITEBYTECODE=1 \
        timeout "${H5TWIN_COVERAGE_SECONDS:-900}" /usr/bin/python3 -m pytest -q -p no:cacheprovider \
        python_tests "${ignored[@]}" -k "not ($not_counting)" || status=1
    return $status
}

report() {
    local file objects=()
    llvm-profdata-14 merge -sparse -o $build/all.profdata $build/profiles/*.profraw || return
    for file in "$build"/tests/* "$build"/plugins/*.so "$build"/bin/h5twin; do
        if [ -f "$file" ] && readelf -S "$file" 2>/dev/null | grep -q __llvm_covmap; then
            objects+=(-object "$file")
        fi
    done
    # The first has no -object before it.
    llvm-cov-14 export -format=text -instr-profile $build/all.profdata "${objects[@]:1}" |
        python3 tests/coverage.py "$PWD" $build/uncovered.txt
}

case ${1:-all} in
all)
    build_it || exit 1
    run_tests
    status=$?
    report && exit $status
    ;;
report) report ;;
*) sed -n '2,12s/^# \{0,1\}//p' "$0" ;;
esac
