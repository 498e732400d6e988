#!/usr/bin/env bash
# run.sh: set up what is missing, build, run every test.
#
#   tests/run.sh              all steps, in two lanes side by side
#   tests/run.sh NAME...      some, in the order given
#   tests/run.sh list         what there is
#
# Builds stay in build-*/ and logs in build-logs/, so later runs are quick. A step that cannot run
# here says SKIP and why. Exit status 0 only if no step failed.
# H5TWIN_TEST_LARGE=1 also tests arrays of several GiB (16 GiB of memory).
# H5TWIN_TEST_EXHAUSTIVE=1 compares instruction sets and kernels over all shapes (more than an hour), with
# H5TWIN_TEST_CODEC=NAME of one codec.
# H5TWIN_TEST_LONG=1 fails every write, kills at many moments, lacks memory with every spec, and
# takes every golden input with the command and under qemu, runs more projects' tests under the connector,
# and runs all device tests on PTX;
# H5TWIN_TEST_ROUNDS=N cancels callers N times as often.
# H5TWIN_FUZZ_SECONDS is the time for each fuzzer, 3 by default.
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
    (flock 9 && build_gcc_once) 9>"$logs/gcc.lock" # steps of both lanes want it
}

build_gcc_once() { # in a run
    if [ -z "$(find build-gcc/.built -newer "$logs/started" 2>/dev/null)" ]; then
        CC=gcc configure_and_build build-gcc -DBUILD_SHARED_LIBS=ON && touch build-gcc/.built
    fi
}

step_clang() { # all but the tests, which asan builds, with clang: warnings are errors; -ffast-math is undone
    CC=clang configure_and_build build-clang -DH5TWIN_CUDA=OFF -DH5TWIN_TESTS=OFF -DCMAKE_BUILD_TYPE=None \
          -DCMAKE_C_FLAGS="-O0 -ffast-math" || return # nobody runs it
    local names
    names=$(nm -g --defined-only build-clang/lib/libh5twin.a | awk 'NF == 3 {print $3}' | grep -v '^h5twin_')
    if [ -n "$names" ]; then
        echo "libh5twin.a defines:" "$names"
        return 1
    fi
}

step_tidy() { # includes point downwards, and clang-tidy finds nothing of its short list
    python3 tests/rooms.py || return
    command -v clang-tidy-14 >/dev/null || skip "no clang-tidy-14 here"
    CC=clang cmake -B build-tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DH5TWIN_TESTS=OFF -DH5TWIN_EXAMPLES=OFF \
        -DH5TWIN_BENCH=OFF -DH5TWIN_CUDA=OFF >/dev/null || return
    sed -n 's/^ *"file": "\(.*\.c\)".*/\1/p' build-tidy/compile_commands.json | sort -u |
        xargs -P "$jobs" -n 4 clang-tidy-14 -p build-tidy --quiet 2>/dev/null
}

step_nvcc() { # with CUDA: no warning, nothing of CUDA or C++ at load time, CPU bytes without a GPU
    command -v nvcc >/dev/null || skip "no nvcc here"
    local flags='' # kernels that nobody runs need not be fast: run_gpu.sh builds those that are run
    if nvcc --help | grep Ofast-compile >/dev/null; then # -q would end nvcc by a signal, and so fail
        flags='-Ofc mid' # max keeps apart what inlined functions share: more memory than a block may have
    fi
    CC=gcc cmake -B build-cuda -DCMAKE_CUDA_ARCHITECTURES="${CMAKE_CUDA_ARCHITECTURES:-90}" \
        -DCMAKE_CUDA_FLAGS="$flags" -DH5TWIN_CUDA=ON -DH5TWIN_TESTS=ON -DH5TWIN_WERROR=ON \
        -DBUILD_SHARED_LIBS=ON -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF &&
        cmake --build build-cuda -j "$jobs" --target h5twin h5twin_command \
            h5twin_plugins &&
        exports_only_ours build-cuda && needs_no_other_library build-cuda &&
        plugins_load build-cuda && command_falls_back build-cuda/bin/h5twin &&
        nvcc -std=c++17 -arch="sm_${CMAKE_CUDA_ARCHITECTURES:-90}" -Werror all-warnings -Xcompiler -Wall,-Wextra \
            -Iinclude -Ibuild-cuda/include -c examples/device_graph.cu -o build-cuda/device_graph.o
}

step_asan() { # all C tests under AddressSanitizer and UBSan, scalar and with the widest instruction set
    # Each test_differential codes with scalar code first; the others have more arrays or boxes, not other code.
    local others='^test_(golden|differential|decode_box)_scalar$'
    if grep -qw avx512_vbmi2 /proc/cpuinfo; then
        others+='|_(sse4\.2|avx2)$' # instruction sets between those
    fi
    if has_libfuzzer; then
        others+='|^fuzz_|^make_seeds$' # step_fuzz begins with their seeds, under the same sanitizers
    fi
    CC=clang configure_and_build build-asan -DH5TWIN_SANITIZE=address,undefined \
        -DH5TWIN_CUDA=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" &&
        UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir build-asan --output-on-failure -j "$jobs" -E "$others"
}

step_tsan() { # the threads under ThreadSanitizer, a library without filters that is closed, and transfers with HDF5
    local alone=(threads ordered parallel transfer coded_ahead unload)
    local with_hdf5=(dataset_io direct_chunks checkpoint checkpoint_hdf5) # which is itself not built for it
    tsan_of OFF "${alone[@]}" || return
    # The same folder, so that it is only linked once more.
    if pkg-config --exists hdf5 2>/dev/null; then
        tsan_of ON "${with_hdf5[@]}"
    else
        skip "no HDF5 for C here, so ${with_hdf5[*]} were not run; the others passed"
    fi
}

tsan_of() { # WITH_FILTERS TEST...
    local names filters=$1
    shift
    names=$(printf '|%s' "$@")
    CC=clang cmake -B build-tsan -DH5TWIN_TESTS=ON -DBUILD_SHARED_LIBS=ON -DH5TWIN_SANITIZE=thread -DH5TWIN_CUDA=OFF \
        -DH5TWIN_FILTERS="$filters" -DH5TWIN_TOOLS=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS="-O1 -g1" &&
        cmake --build build-tsan -j "$jobs" --target "${@/#/test_}" &&
        ctest --test-dir build-tsan --output-on-failure --no-tests=error -R "^test_(${names#|})\$"
}

step_msan() { # decoders read nothing that was not written, under MemorySanitizer: forgeries, old and damaged chunks
    local tests=(forgeries forever inserted_bytes cascade_reject e2mc_reject fpcompress_reject gfc_reject lattice_reject)
    local names
    names=$(printf '|%s' "${tests[@]}")
    CC=clang cmake -B build-msan -DH5TWIN_TESTS=ON -DH5TWIN_SANITIZE=memory -DH5TWIN_CUDA=OFF -DH5TWIN_FILTERS=OFF \
        -DH5TWIN_TOOLS=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS="-O1 -g1 -fsanitize-memory-track-origins" &&
        cmake --build build-msan -j "$jobs" --target "${tests[@]/#/test_}" &&
        ctest --test-dir build-msan --output-on-failure --no-tests=error -j "$jobs" -R "^test_(${names#|})(_scalar)?\$"
}

step_aarch64() { # built for AArch64, the command codes golden inputs to the same bytes
    h5twin_apt gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user >/dev/null 2>&1 ||
        skip "cannot install a compiler for AArch64 and qemu-user here"
    if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
        skip "no compiler for AArch64, or no qemu-aarch64, here"
    fi
    step_gcc && tests/aarch64/run.sh build-gcc/bin/h5twin
}

step_windows() { # built for Windows, the command makes the same bytes under wine, and its HDF5 reads them
    h5twin_apt gcc-mingw-w64-x86-64-posix wine64 >/dev/null 2>&1 ||
        skip "cannot install mingw-w64 and wine here"
    command -v x86_64-w64-mingw32-gcc-posix >/dev/null || skip "no mingw-w64 here"
    [ -x /usr/lib/wine/wine64 ] || command -v wine64 >/dev/null || skip "no wine here"
    step_gcc && tests/windows/run.sh build-gcc/bin/h5twin
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

has_libfuzzer() {
    echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }' |
        clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null
}

step_fuzz() { # each fuzzer for a short time, from golden seeds
    has_libfuzzer || skip "clang has no libFuzzer here"
    tests/fuzz.sh all "${H5TWIN_FUZZ_SECONDS:-3}"
}

# ---- what is built ----

exports_only_ours() { # FOLDER: names that are visible from outside
    local status=0 file name
    for name in $(nm -D --defined-only "$1/lib/libh5twin.so" | awk '{print $NF}'); do
        case $name in
        h5twin_*)
            if ! grep -rqw "$name" include; then
                echo "libh5twin.so exports $name, which no public header declares"
                status=1
            fi
            ;;
        *)
            echo "libh5twin.so exports $name"
            status=1
            ;;
        esac
    done
    plugins_exist "$1" || return
    for file in "$1"/plugins/*.so; do
        name=$(nm -D --defined-only "$file" | awk '{print $NF}' | sort | tr '\n' ' ')
        if [ "$name" != "H5PLget_plugin_info H5PLget_plugin_type " ]; then
            echo "$file exports: $name"
            status=1
        fi
    done
    return $status
}

needs_no_other_library() { # FOLDER: at load time, neither HDF5, CUDA, OpenMP nor C++
    plugins_exist "$1" || return
    local file status=0
    for file in "$1"/plugins/*.so "$1/lib/libh5twin.so"; do
        if readelf -d "$file" | grep NEEDED | grep -E 'hdf5|cuda|nvidia|omp|stdc\+\+'; then
            echo "in $file"
            status=1
        fi
    done
    return $status
}

plugins_exist() { # FOLDER
    ls "$1"/plugins/*.so >/dev/null 2>&1 || { echo "no plugins in $1/plugins"; return 1; }
}

plugins_load() { # FOLDER: every symbol is found at once, whether or not there is a driver
    python3 - "$1"/plugins/*.so <<'END'
import ctypes, os, sys
for path in sys.argv[1:]:
    ctypes.CDLL(os.path.abspath(path), os.RTLD_NOW | os.RTLD_LOCAL).H5PLget_plugin_info()
END
}

# Without a GPU: the same bytes if one is tried, an error if one is demanded.
command_falls_back() { # COMMAND
    local codec input=build-cuda/fallback.in chunk=build-cuda/fallback.out
    head -c 500000 "$1" >$input
    while IFS=$'\t' read -r codec _; do
        H5TWIN_DEVICE=cpu "$1" encode --codec "$codec" --type f64 $input $chunk.cpu &&
            H5TWIN_DEVICE=auto H5TWIN_GPU_PAYS=1 "$1" encode --codec "$codec" --type f64 $input $chunk &&
            cmp $chunk $chunk.cpu && H5TWIN_GPU_PAYS=1 "$1" decode $chunk $chunk.back &&
            cmp $chunk.back $input || return
        if H5TWIN_DEVICE=gpu "$1" encode --codec "$codec" --type f64 $input $chunk; then
            cmp $chunk $chunk.cpu || return
        fi
    done < <("$1" codecs --machine)
}

step_symbols() { # only h5twin_ and H5PL names are visible from outside
    step_gcc && exports_only_ours build-gcc
}

step_ldd() { # plugins need neither HDF5 nor CUDA
    step_gcc && needs_no_other_library build-gcc
}

step_install() { # an installed copy is found by CMake and by pkg-config
    step_gcc && tests/install/run.sh build-gcc
}

step_decoders() { # decoders/ as WebAssembly: the chunks of test_decoders in node, with the library's verdicts
    h5twin_apt clang lld nodejs >/dev/null 2>&1 || true
    if ! command -v node >/dev/null || ! command -v wasm-ld >/dev/null; then
        skip "cannot install lld and nodejs here"
    fi
    step_gcc && tests/decoders/run.sh build-gcc
}

step_fortran() { # the Fortran module of an installed copy: two programs, their files read by h5py and h5dump
    command -v gfortran >/dev/null || skip "no gfortran here"
    /usr/bin/python3 -c 'import h5py' || skip "no python3-h5py here, to compare with"
    step_gcc && tests/fortran/run.sh build-gcc
}

# ---- MPI ----

step_mpi() { # collective writes through Open MPI's and MPICH's HDF5: the bytes of serial ones
    /usr/bin/python3 -c 'import h5py' || skip "no python3-h5py here, to compare with"
    local mpi tried=0
    step_gcc || return
    for mpi in openmpi mpich; do
        h5twin_apt "libhdf5-$mpi-dev" pkg-config >/dev/null 2>&1 || true
        h5twin_apt "$([ $mpi = openmpi ] && echo openmpi-bin || echo mpich)" >/dev/null 2>&1 || true
        if command -v mpicc.$mpi >/dev/null && command -v mpirun.$mpi >/dev/null &&
            pkg-config --exists hdf5-$mpi; then
            tests/mpi/run.sh build-gcc $mpi || return
            tried=$((tried + 1))
        else
            echo "no HDF5 with $mpi here"
        fi
    done
    [ $tried -gt 0 ] || skip "cannot install an HDF5 with Open MPI or MPICH here"
}

# ---- Python ----

pytest_jobs() { # PYTHON: the argument that spreads tests over the processors, if it can
    if "$1" -c 'import xdist' 2>/dev/null; then
        echo "-n$jobs"
    fi
}

run_pytest() { # FOLDER PYTHON [ARGUMENT...]
    local folder=$1 python=$2
    shift 2
    # shellcheck disable=SC2046 # none, or one
    H5TWIN_PLUGIN_PATH=$PWD/$folder/plugins H5TWIN_COMMAND=$PWD/$folder/bin/h5twin \
        PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -q -rs --durations=25 -p no:cacheprovider $(pytest_jobs "$python") python_tests "$@"
}

step_python_debian() { # through the distribution's h5py
    /usr/bin/python3 -c 'import h5py, pytest' || skip "no python3-h5py and python3-pytest here"
    step_gcc && run_pytest build-gcc /usr/bin/python3
}

step_python_wheels() { # through the wheels of python_tests/requirements.txt
    h5twin_venv .venv python_tests/requirements.txt ||
        skip "cannot make .venv (needs Python 3.11 and the package index)"
    local vtk=requirements-vtk.txt # one test is skipped without it
    if ! cmp -s python_tests/$vtk .venv/$vtk; then
        .venv/bin/pip install -q --disable-pip-version-check --only-binary=:all: -r python_tests/$vtk &&
            cp python_tests/$vtk .venv/ || echo "VTK cannot be installed here: test_checkpoint_vtk is skipped"
    fi
    step_gcc && run_pytest build-gcc .venv/bin/python -m 'not without_h5py'
}

step_vol() { # under `h5twin run`: h5py's own tests as without; random programs with HDF5 1.14; threads under TSan
    local old=.venv-hdf5-1.14
    if ! h5twin_venv .venv python_tests/requirements.txt ||
        ! h5twin_venv $old python_tests/requirements-hdf5-1.14.txt; then
        skip "cannot make .venv and $old (needs Python 3.11 and the package index)"
    fi
    step_gcc || return
    local command=$PWD/build-gcc/bin/h5twin
    old=$PWD/$old/bin/python
    # The root of all users may write what a test takes for protected: it fails in both runs.
    python3 tests/vol/suite.py "$command" "$PWD/.venv/bin/python" "-n$jobs" --pyargs h5py -o addopts= || return
    run_pytest build-gcc "$old" -k 'test_vol' || return
    connector_tsan || return
    if [ "${H5TWIN_TEST_LONG-}" = 1 ]; then
        python3 tests/vol/suite.py "$command" "$old" "-n$jobs" --pyargs h5py -o addopts= &&
            PYTHONPATH=$PWD/tests/vol python3 tests/vol/suite.py "$command" "$old" "-n$jobs" -p suite_tables --pyargs tables || return
        h5twin_venv .venv-hdf5-1.12 python_tests/requirements-hdf5-1.12.txt || # takes no connector of ours
            skip "cannot make .venv-hdf5-1.12; the others passed"
        run_pytest build-gcc "$PWD/.venv-hdf5-1.12/bin/python" -k 'test_vol'
    fi
}

connector_tsan() { # the connector under ThreadSanitizer, in threads of h5py and netCDF4
    CC=gcc cmake -B build-tsan-vol -DH5TWIN_TESTS=ON -DBUILD_SHARED_LIBS=ON -DH5TWIN_SANITIZE=thread -DH5TWIN_CUDA=OFF \
        -DH5TWIN_TOOLS=OFF -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" &&
        cmake --build build-tsan-vol -j "$jobs" --target h5twin_plugins &&
        tests/vol/tsan.sh build-tsan-vol "$PWD/.venv/bin/python"
}

install_wheel() { # the Python package, from its wheel, in .venv-package beside xarray, netCDF4, tables, dask
    if [ -n "$(find build-wheels/.installed -newer "$logs/started" 2>/dev/null)" ]; then
        return 0 # by another step of this run
    fi
    h5twin_venv .venv-package python/tests/requirements.txt ||
        skip "cannot make .venv-package (needs Python 3.11 and the package index)"
    local pip=.venv-package/bin/pip
    rm -rf build-wheels
    # As step_gcc builds it, as deep in the tree, so that ccache has most of it. pip would take Ninja, and
    # Python's compiler.
    CC=gcc CMAKE_GENERATOR="Unix Makefiles" $pip wheel -q --disable-pip-version-check --no-deps \
        --no-build-isolation -w build-wheels --config-settings=build-dir=build-package \
        --config-settings=cmake.define.H5TWIN_WERROR=ON . &&
        $pip install -q --disable-pip-version-check --no-deps --force-reinstall build-wheels/h5twin-*-py3-none-*.whl &&
        touch build-wheels/.installed
}

step_wheel() { # the Python package, installed from its wheel beside xarray, netCDF4, tables, dask
    install_wheel || return
    local wheel size native=
    [ -x build-gcc/bin/h5twin ] && native=$PWD/build-gcc/bin/h5twin # to compare with
    wheel=$(echo build-wheels/h5twin-*-py3-none-*.whl)
    size=$(stat -c %s "$wheel")
    echo "$wheel has $size bytes"
    [ "$size" -lt 3000000 ] || { echo "a wheel must stay below 3 MB"; return 1; }
    # Not from the source tree: what is installed must be enough.
    (cd build-wheels && PYTHONDONTWRITEBYTECODE=1 H5TWIN_COMMAND=$native ../.venv-package/bin/python -m pytest -q -rs \
        -p no:cacheprovider "-n$jobs" ../python/tests) || return
    # The package's command on files, by two tests of the native one: its way to an HDF5 is its own.
    H5TWIN_COMMAND=$PWD/.venv-package/bin/h5twin PYTHONDONTWRITEBYTECODE=1 H5TWIN_PLUGIN_PATH=$(
        .venv-package/bin/python -c 'import h5twin; print(h5twin.PLUGIN_PATH)') .venv-package/bin/python -m pytest -q -rs \
        -p no:cacheprovider "-n$jobs" python_tests/test_{report,repack}.py
}

step_docs() { # every code block and example runs, links lead somewhere, the site is built
    h5twin_apt gfortran libnetcdf-dev nco libhdf5-openmpi-dev openmpi-bin python3-mpi4py python3-h5py-mpi ||
        echo "some packages are missing: what needs them is skipped"
    step_gcc && install_wheel && H5TWIN_BUILD=build-gcc PYTHONDONTWRITEBYTECODE=1 \
        .venv-package/bin/python -m pytest -q -rs -p no:cacheprovider docs/tests
}

step_ptx() { # CUDA without a GPU: nvcc's PTX, interpreted: golden streams, device tests, orders, races, faults
    command -v nvcc >/dev/null || skip "no nvcc here"
    local targets label='^ptx$'
    if [ -n "${H5TWIN_TEST_LONG-}" ]; then
        label='^ptx(_long)?$'
    fi
    CC=gcc cmake -B build-ptx -DH5TWIN_PTX=ON -DH5TWIN_TESTS=ON -DH5TWIN_WERROR=ON -DBUILD_SHARED_LIBS=OFF ||
        return
    targets=$(cmake --build build-ptx --target help | grep -oE '\b(test_\w+_device|bench_gpu|gpu_whole|gray_scott|gray_scott_cuda)(: phony)?$' |
        sed 's/: phony//' | sort -u)
    # shellcheck disable=SC2086 # the names are words
    cmake --build build-ptx -j "$jobs" --target test_opcodes ptx_dump gpu_counts $targets &&
        ctest --test-dir build-ptx --output-on-failure -j "$jobs" -L "$label"
}

# A codec is its folder and its line: the library, the command, a plugin, h5py and the tests of all
# codecs see it.
step_toy() { # a codec that was added by the recipe of docs/DESIGN.md
    /usr/bin/python3 -c 'import h5py, pytest' || skip "no python3-h5py and python3-pytest here"
    CC=clang cmake -B build-toy -DH5TWIN_EXTRA_CODECS="$PWD/tests/toy/codecs.def" -DH5TWIN_TESTS=ON \
        -DH5TWIN_WERROR=ON -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS=-O0 && # only the toy runs
        cmake --build build-toy -j "$jobs" --target h5twin_command h5twin_plugins \
            test_frame test_memory test_params test_roundtrip test_threads &&
        build-toy/bin/h5twin codecs --machine | grep '^toy' &&
        H5TWIN_TEST_CODEC=toy ctest --test-dir build-toy --output-on-failure -j "$jobs" -R '^test_(frame|memory|params|roundtrip|threads)$' &&
        H5TWIN_CODECS=toy run_pytest build-toy /usr/bin/python3 \
            -k 'toy and not shrink and not bare_stream' # which want fields to become smaller
}

# ---- run ----

# Two lanes that run side by side, since many steps leave a processor idle for a time. Steps that
# use build-gcc are in the first one, or late in the second one, when it is built.
lane_one=(format shell gcc ctest symbols ldd wheel docs vol python_debian python_wheels)
lane_two=(clang asan nvcc ptx toy tsan msan fuzz tidy install decoders fortran mpi aarch64 windows)
all_steps=("${lane_one[@]}" "${lane_two[@]}")

list_steps() {
    local step
    for step in "${all_steps[@]}"; do
        printf '%-15s %s\n' "$step" "$(sed -n "s/^step_$step() { # //p" tests/run.sh)"
    done
}

set_up() {
    h5twin_apt git build-essential ccache cmake pkg-config clang libcmocka-dev libhdf5-dev \
        hdf5-tools netcdf-bin python3-h5py python3-pytest python3-pytest-xdist python3-venv locales || return
    local package
    for package in clang-format-14 clang-tidy-14 libclang-rt-14-dev shellcheck gfortran; do # not every release has these
        if apt-cache show "$package" >/dev/null 2>&1; then
            h5twin_apt "$package" || true
        fi
    done
}

processor_seconds() { # of what `times` has printed: what a step costs, whatever runs beside it
    tr 'ms' '  ' | awk '{ sum += 60 * $1 + $2 + 60 * $3 + $4 } END { printf "%.0f\n", sum }'
}

run_step() { # NAME; prints one line, and the log's end on failure; leaves PASS, SKIP or FAIL in a file
    local step=$1 log=$logs/$1.log start=$SECONDS status text
    (trap 'times >"$logs/$step.times"' EXIT && "step_$step") >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        text="PASS  $((SECONDS - start)) s, $(processor_seconds <"$logs/$step.times") s of processors"
    elif [ $status = $skip_status ]; then
        text="SKIP  $(sed -n 's/^SKIP: //p' "$log" | tail -1)"
    else
        text="FAIL  $((SECONDS - start)) s, $log ends:"$'\n'$(tail -n 40 "$log" | sed 's/^/    /')
    fi
    printf '%-15s %s\n' "$step" "$text"
    echo "${text%% *}" >"$logs/$step.result"
}

run_lane() { # STEP...
    local step
    for step in "$@"; do
        run_step "$step"
    done
}

count() { # PASS|SKIP|FAIL STEP...: how many steps ended so
    local wanted=$1 step number=0
    shift
    for step in "$@"; do
        if [ "$(cat "$logs/$step.result")" = "$wanted" ]; then
            number=$((number + 1))
        fi
    done
    echo "$number"
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
if command -v ccache >/dev/null; then # several builds compile the same sources with the same flags
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
fi
mkdir -p $logs && touch $logs/started
for step in "${steps[@]}"; do
    echo FAIL >"$logs/$step.result" # unless it says otherwise
done
if [ $# = 0 ]; then
    run_lane "${lane_two[@]}" &
    run_lane "${lane_one[@]}"
    wait
else
    run_lane "${steps[@]}"
fi
passed=$(count PASS "${steps[@]}") skipped=$(count SKIP "${steps[@]}") failed=$(count FAIL "${steps[@]}")
if [ "$skipped" -gt 0 ]; then
    echo "$skipped skipped"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
