#!/usr/bin/env bash
# run.sh: set up what is missing, build, run every test.
#
#   tests/run.sh              all steps
#   tests/run.sh NAME...      some, in the order given
#   tests/run.sh list         what there is
#
# Builds stay in build-*/ and logs in build-logs/, so later runs are quick. A step that cannot run
# here says SKIP and why. Exit status 0 only if no step failed.
# H5TWIN_TEST_LARGE=1 also tests arrays of several GiB (16 GiB of memory).
# H5TWIN_FUZZ_SECONDS is the time for each fuzzer, 10 by default.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

jobs=$(nproc)
logs=build-logs
skip_status=77

skip() { # say why on standard output; the step ends
    echo "SKIP: $*"
    exit $skip_status
}

# ---- builds ----

configure_and_build() { # FOLDER [CMAKE ARGUMENT...]
    local folder=$1
    shift
    cmake -B "$folder" -DH5TWIN_TESTS=ON -DH5TWIN_WERROR=ON "$@" && cmake --build "$folder" -j "$jobs"
}

step_gcc() { # build with gcc, warnings are errors
    CC=gcc configure_and_build build-gcc -DBUILD_SHARED_LIBS=ON
}

step_clang() { # build with clang, warnings are errors
    CC=clang configure_and_build build-clang -DH5TWIN_CUDA=OFF
}

step_asan() { # all C tests under AddressSanitizer and UBSan
    CC=clang configure_and_build build-asan -DH5TWIN_SANITIZE=address,undefined \
        -DH5TWIN_CUDA=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS="-O1 -g1" &&
        UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir build-asan --output-on-failure -j "$jobs"
}

step_tsan() { # the threads under ThreadSanitizer
    CC=clang cmake -B build-tsan -DH5TWIN_TESTS=ON -DH5TWIN_SANITIZE=thread -DH5TWIN_CUDA=OFF -DH5TWIN_FILTERS=OFF \
        -DH5TWIN_TOOLS=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE= \
        -DCMAKE_C_FLAGS="-O1 -g1" &&
        cmake --build build-tsan -j "$jobs" --target test_threads &&
        ctest --test-dir build-tsan --output-on-failure -R '^test_threads$'
}

# ---- sources ----

step_format() { # C sources are formatted by clang-format 14
    command -v clang-format-14 >/dev/null || skip "no clang-format-14 here"
    git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format-14 --dry-run -Werror
}

step_shell() { # shell scripts parse, and shellcheck has nothing to say
    local script status=0
    for script in $(git grep -lE '^#!.*(bash|sh)$|^# shellcheck shell=' -- '*.sh' .ci); do
        bash -n "$script" || status=1
        if command -v shellcheck >/dev/null; then
            shellcheck -x "$script" || status=1
        fi
    done
    return $status
}

# ---- C tests ----

step_ctest() { # all C tests
    step_gcc && ctest --test-dir build-gcc --output-on-failure -j "$jobs"
}

step_fuzz() { # each fuzzer for a short time, from golden seeds
    echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }' |
        clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null || skip "clang has no libFuzzer here"
    tests/fuzz/run.sh "${H5TWIN_FUZZ_SECONDS:-10}"
}

# ---- what is built ----

step_symbols() { # only h5twin_ and H5PL names are visible from outside
    step_gcc || return
    local status=0 file names
    names=$(nm -D --defined-only build-gcc/lib/libh5twin.so | awk '{print $NF}' | grep -v '^h5twin_')
    if [ -n "$names" ]; then
        echo "libh5twin.so exports:" "$names"
        status=1
    fi
    for name in $(nm -D --defined-only build-gcc/lib/libh5twin.so | awk '{print $NF}'); do
        if ! grep -rqw "$name" include; then
            echo "libh5twin.so exports $name, which no public header declares"
            status=1
        fi
    done
    names=$(nm -g --defined-only build-clang/lib/libh5twin.a 2>/dev/null |
        awk 'NF == 3 {print $3}' | grep -v '^h5twin_')
    if [ -n "$names" ]; then
        echo "libh5twin.a defines:" "$names"
        status=1
    fi
    plugins_exist || return
    for file in build-gcc/plugins/*.so; do
        names=$(nm -D --defined-only "$file" | awk '{print $NF}' | sort | tr '\n' ' ')
        if [ "$names" != "H5PLget_plugin_info H5PLget_plugin_type " ]; then
            echo "$file exports: $names"
            status=1
        fi
    done
    return $status
}

step_ldd() { # plugins need neither HDF5 nor CUDA
    step_gcc && plugins_exist || return
    local file status=0
    for file in build-gcc/plugins/*.so build-gcc/lib/libh5twin.so; do
        if readelf -d "$file" | grep NEEDED | grep -E 'hdf5|cuda|nvidia|omp'; then
            echo "in $file"
            status=1
        fi
    done
    return $status
}

plugins_exist() {
    ls build-gcc/plugins/*.so >/dev/null 2>&1 || { echo "no plugins in build-gcc/plugins"; return 1; }
}

step_install() { # an installed copy is found by CMake and by pkg-config
    step_gcc && tests/install/run.sh build-gcc
}

# ---- Python ----

run_pytest() { # PYTHON
    step_gcc || return
    H5TWIN_PLUGIN_PATH=$PWD/build-gcc/plugins H5TWIN_COMMAND=$PWD/build-gcc/bin/h5twin \
        PYTHONDONTWRITEBYTECODE=1 "$1" -m pytest -q -rs -p no:cacheprovider python_tests
}

step_python_debian() { # through the distribution's h5py
    /usr/bin/python3 -c 'import h5py, pytest' || skip "no python3-h5py and python3-pytest here"
    run_pytest /usr/bin/python3
}

step_python_wheels() { # through the wheels of python_tests/requirements.txt
    h5twin_venv || skip "cannot make .venv (needs Python 3.11 and the package index)"
    run_pytest .venv/bin/python
}

# ---- run ----

all_steps=(format shell gcc clang ctest symbols ldd python_debian python_wheels install asan tsan fuzz)

list_steps() {
    local step
    for step in "${all_steps[@]}"; do
        printf '%-15s %s\n' "$step" "$(sed -n "s/^step_$step() { # //p" tests/run.sh)"
    done
}

set_up() {
    h5twin_apt git build-essential cmake pkg-config clang libcmocka-dev libssl-dev libhdf5-dev \
        hdf5-tools netcdf-bin python3-h5py python3-pytest python3-venv || return
    local package
    for package in clang-format-14 libclang-rt-14-dev shellcheck; do # not every release has these
        if apt-cache show "$package" >/dev/null 2>&1; then
            h5twin_apt "$package" || true
        fi
    done
}

run_step() { # NAME; prints one line, and the log's end on failure
    local step=$1 log=$logs/$1.log start=$SECONDS status
    printf '%-15s ' "$step"
    ("step_$step") >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        echo "PASS  $((SECONDS - start)) s"
    elif [ $status = $skip_status ]; then
        skipped=$((skipped + 1))
        echo "SKIP  $(sed -n 's/^SKIP: //p' "$log" | tail -1)"
    else
        failed=$((failed + 1))
        echo "FAIL  $((SECONDS - start)) s, $log ends:"
        tail -n 40 "$log" | sed 's/^/    /'
    fi
}

if [ "${1-}" = list ] || [ "${1-}" = --help ]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tests/run.sh
    list_steps
    exit 0
fi
steps=("$@")
if [ $# = 0 ]; then
    steps=("${all_steps[@]}")
fi
for step in "${steps[@]}"; do
    if ! declare -F "step_$step" >/dev/null; then
        echo "no step $step; tests/run.sh list shows them" >&2
        exit 2
    fi
done
if ! set_up; then
    echo "cannot install the packages that the tests need" >&2
    exit 1
fi
mkdir -p $logs
passed=0 failed=0 skipped=0
for step in "${steps[@]}"; do
    run_step "$step"
done
if [ $skipped -gt 0 ]; then
    echo "$skipped skipped"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
