#!/usr/bin/env bash
# run_gpu.sh: on a machine with a GPU: build with nvcc, run every twin test on the GPU itself, look
# for errors with compute-sanitizer, run the HDF5 tests with H5TWIN_DEVICE=gpu, and measure.
#
#   tests/run_gpu.sh              all steps
#   tests/run_gpu.sh NAME...      some, in the order given
#   tests/run_gpu.sh list         what there is
#
# Needs nvcc, CMake 3.22 and a C++ compiler, no network and no git: cmocka is used if it is there,
# h5py, pytest and HDF5's headers likewise. The build stays in build-gpu/, for the GPU that is there.
# Without a GPU that the toolkit's runtime can use, each step that needs one is an error and says
# that nothing was tested; a test that skips itself is one, too. Only `report` needs no GPU.
# Exit status 0 only if no step failed. Each step ends within ten minutes: what it could not begin
# by then is an error.
#
# H5TWIN_PTX                1: no GPU, but the interpreter of tests/ptx, in build-ptx/; steps that only a GPU
#                           can do are skipped
# H5TWIN_GPU_TESTS          a regular expression: only tests of matching names, default all
# H5TWIN_GPU_JOBS           how many test programs run side by side, default one a core, 8 at most
# H5TWIN_GPU_PYTHON_TESTS   files for step hdf5, default all of python_tests
# H5TWIN_GPU_BENCH_MIB      the largest batch that step bench measures, default 4096
# H5TWIN_SANITIZER_SECONDS  for one program under one tool, default 40; it may be stopped half way
# CMAKE_CUDA_ARCHITECTURES  e.g. 90 or all-major, to build for those instead
# H5TWIN_STEP_SECONDS       for each step, default 570
# H5TWIN_TEST_LARGE         1, or a codec's name: step large also tests arrays of more than 2^31
#                           elements, of that codec alone if all do not fit into ten minutes
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

build='build-gpu'
cuda_option='-DH5TWIN_CUDA=ON'
interpreted=
if [ "${H5TWIN_PTX-}" = 1 ]; then
    interpreted=yes
    build='build-ptx'
    cuda_option='-DH5TWIN_PTX=ON'
fi
jobs=$(nproc)
programs_at_once=${H5TWIN_GPU_JOBS:-$((jobs < 8 ? jobs : 8))}
skip_status=77
step_seconds=${H5TWIN_STEP_SECONDS:-570}
step_begin=0

skip() { # say why on standard output; the step ends
    echo "SKIP: $*"
    exit $skip_status
}

stop() { # say why; the step fails
    echo "ERROR: $*"
    exit 1
}

seconds_left() { # of the step
    local age=$((SECONDS - step_begin))
    echo $((step_seconds > age ? step_seconds - age : 0))
}

cuda_tool() { # NAME: its path; beside nvcc if it is not in PATH
    local nvcc folder
    command -v "$1" && return
    nvcc=$(command -v nvcc || echo "${CUDACXX:-/usr/local/cuda/bin/nvcc}")
    folder=$(dirname "$(readlink -f "$nvcc")")
    for folder in "$folder" "$folder/../compute-sanitizer" "${CUDA_HOME:-/usr/local/cuda}/bin"; do
        if [ -x "$folder/$1" ]; then
            echo "$folder/$1"
            return
        fi
    done
    return 1
}

# ---- the device ----

gpu_capability() { # of the first GPU: 90
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d ' .'
}

driver_version() { # the newest CUDA that the driver knows: 12.4
    nvidia-smi 2>/dev/null | sed -nE 's/.*CUDA ([A-Z]+ )?Version: *([0-9]+\.[0-9]+).*/\2/p' | head -1
}

toolkit_version() { # NVCC
    "$1" --version 2>/dev/null | sed -nE 's/.*release ([0-9]+\.[0-9]+).*/\1/p' | head -1
}

is_older() { # VERSION OTHER
    [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1)" = "$1" ]
}

# A driver runs programs of any toolkit of its own major version or an older one; of a newer minor
# version only machine code, no PTX.
need_gpu() {
    local nvcc driver toolkit
    if [ -n "$interpreted" ]; then
        cuda_tool nvcc >/dev/null || stop "no nvcc here: nothing was tested"
        return
    fi
    nvidia-smi -L 2>/dev/null | grep GPU >/dev/null ||
        stop "no GPU here, or no nvidia-smi that shows one: nothing was tested"
    nvcc=$(cuda_tool nvcc) || stop "no nvcc here: nothing was tested"
    driver=$(driver_version)
    toolkit=$(toolkit_version "$nvcc")
    if [ -n "$driver" ] && [ -n "$toolkit" ] && is_older "${driver%.*}" "${toolkit%.*}"; then
        stop "the driver is for CUDA $driver, nvcc's runtime needs one for ${toolkit%.*}.0 or newer:" \
            "nothing was tested. Install a newer driver, or name an nvcc of CUDA ${driver%.*} in CUDACXX"
    fi
}

# What to compile for: machine code of the GPU that is there; if nvcc does not know it, PTX of the
# newest that it knows, which the driver translates if it is not older than nvcc.
choose_architectures() { # NVCC
    local capability newest driver toolkit
    if [ -n "$interpreted" ]; then
        echo 90-virtual
        return
    fi
    if [ -n "${CMAKE_CUDA_ARCHITECTURES-}" ]; then
        echo "$CMAKE_CUDA_ARCHITECTURES"
        return
    fi
    capability=$(gpu_capability)
    if "$1" --list-gpu-code 2>/dev/null | grep -x "sm_$capability" >/dev/null; then
        echo "$capability-real"
        return
    fi
    newest=$("$1" --list-gpu-arch 2>/dev/null | sed -n 's/^compute_\([0-9]*\)$/\1/p' |
        awk -v most="${capability:-0}" '$1 <= most' | sort -n | tail -1)
    driver=$(driver_version)
    toolkit=$(toolkit_version "$1")
    if [ -z "$newest" ]; then
        echo "nvcc $toolkit compiles for no GPU as old as compute capability ${capability:-?}" >&2
        return 1
    fi
    if [ -n "$driver" ] && is_older "$driver" "$toolkit"; then
        echo "nvcc $toolkit makes no machine code for compute capability $capability, and the driver," \
            "for CUDA $driver, is too old for its PTX" >&2
        return 1
    fi
    echo "$newest-virtual"
}

step_device() { # the GPU, its driver and the toolkit: can they be used together?
    need_gpu
    if [ -n "$interpreted" ]; then
        echo "the interpreter of tests/ptx, nvcc $(toolkit_version "$(cuda_tool nvcc)")"
        return
    fi
    nvidia-smi -L
    echo "driver for CUDA $(driver_version), nvcc $(toolkit_version "$(cuda_tool nvcc)")"
    choose_architectures "$(cuda_tool nvcc)" || stop "nothing was tested"
}

# ---- builds ----

step_build() { # by nvcc for the GPU that is there, warnings are errors
    need_gpu
    local nvcc targets architectures
    nvcc=$(cuda_tool nvcc)
    architectures=$(choose_architectures "$nvcc") || stop "nothing was tested"
    CUDACXX=$nvcc cmake -B "$build" "$cuda_option" -DH5TWIN_TESTS=ON -DH5TWIN_WERROR=ON \
        -DBUILD_SHARED_LIBS=OFF -DCMAKE_CUDA_ARCHITECTURES="$architectures" || return
    # Not the emulator: what it runs is run here by the GPU.
    targets=$(cmake --build "$build" --target help |
        grep -oE '\b(test_\w+_device|h5twin_plugin_\w+|h5twin_command|h5twin|bench_gpu|gpu_whole)(: phony)?$' |
        sed 's/: phony//' | sort -u)
    # shellcheck disable=SC2086 # the names are words
    timeout "$(seconds_left)" cmake --build "$build" -j "$jobs" --target $targets || return
    "$build/bin/h5twin" info --devices
}

step_report() { # registers, shared memory and spills of each kernel -> bench/results/kernels.tsv
    timeout "$step_seconds" bench/kernel_report.sh -o bench/results/kernels.tsv &&
        cat bench/results/kernels.tsv
}

# ---- tests ----

device_tests() { # the programs that run on the GPU
    find "$build/bin" -name 'test_*_device' -type f 2>/dev/null | grep -E "${H5TWIN_GPU_TESTS:-}" |
        grep -v test_large_gpu_device | LC_ALL=C sort
}

run_program() { # LIMIT EARLY-STATUS PROGRAM RUNNER...: says in one line how it ended; what skips itself tests nothing
    local limit=$1 stopped=$2 program=$3 log=$build/${3##*/}.log left begin=$SECONDS
    shift 3
    left=$(seconds_left)
    if [ "$left" = 0 ]; then
        echo "$program: NOT RUN, the step's time is over (H5TWIN_GPU_TESTS chooses some)"
        return 1
    fi
    left=$((left < limit ? left : limit))
    timeout "$left" "$@" "$program" >"$log" 2>&1
    case $? in
    0) echo "$program: passed, $((SECONDS - begin)) s" ;;
    77)
        echo "$program: SKIPPED ITSELF: $(grep -m 1 SKIP "$log")"
        return 1
        ;;
    124)
        echo "$program: no error in $left s, then stopped"
        [ "$stopped" = may-stop ]
        ;;
    *)
        echo "$program: FAILED, $((SECONDS - begin)) s"$'\n'"$(tail -50 "$log")"
        return 1
        ;;
    esac
}

# Programs side by side, each with a process of its own, `limit` seconds each, through `runner`.
run_programs() { # LIMIT EARLY-STATUS PROGRAM... -- RUNNER...
    local limit=$1 stopped=$2 program programs=() process processes=() status=0
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        programs+=("$1")
        shift
    done
    shift
    [ ${#programs[@]} -gt 0 ] || stop "there is no test program: nothing was tested (step build?)"
    for program in "${programs[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$programs_at_once" ]; do
            sleep 0.1
        done
        run_program "$limit" "$stopped" "$program" "$@" &
        processes+=($!)
    done
    for process in "${processes[@]}"; do
        wait "$process" || status=1
    done
    return $status
}

step_twins() { # each back end against its CPU codec
    need_gpu
    local programs
    mapfile -t programs < <(device_tests)
    run_programs 180 must-end "${programs[@]}" -- env
}

step_large() { # chunks of 64 MiB, and with H5TWIN_TEST_LARGE=1 of more than 2^31 elements
    need_gpu
    [ -x "$build/bin/test_large_gpu_device" ] || stop "there is no test program: nothing was tested"
    run_programs "$step_seconds" must-end "$build/bin/test_large_gpu_device" -- env
}

# Programs that read behind arrays, as they may, where nobody has written: not for initcheck.
reads_padding() { # PROGRAM
    case $1 in
    *test_gpu_host_device | *test_gpu_hdf5_device | *test_gpu_transfer_device | *test_info_devices_device) return 0 ;;
    *) return 1 ;;
    esac
}

under_sanitizer() { # TOOL
    need_gpu
    local sanitizer program programs=()
    [ -z "$interpreted" ] || skip "the interpreter looks at each access itself"
    sanitizer=$(cuda_tool compute-sanitizer) || skip "no compute-sanitizer here"
    for program in $(device_tests); do
        if [ "$1" != initcheck ] || ! reads_padding "$program"; then
            programs+=("$program")
        fi
    done
    run_programs "${H5TWIN_SANITIZER_SECONDS:-40}" may-stop "${programs[@]}" -- \
        "$sanitizer" --tool "$1" --error-exitcode 99 --print-limit 20
}

step_memcheck() { # the same under compute-sanitizer: accesses out of bounds, leaks
    under_sanitizer memcheck
}

step_racecheck() { # races in shared memory
    under_sanitizer racecheck
}

step_initcheck() { # memory that nobody has written
    under_sanitizer initcheck
}

step_synccheck() { # barriers that some threads do not reach
    under_sanitizer synccheck
}

step_hdf5() { # the tests through h5py with a demanded GPU
    need_gpu
    [ -x "$build/bin/h5twin" ] || stop "there is no command: nothing was tested (step build?)"
    local python side_by_side=()
    for python in python3 /usr/bin/python3 .venv/bin/python; do
        if "$python" -c 'import h5py, pytest' 2>/dev/null; then
            if "$python" -c 'import xdist' 2>/dev/null; then
                side_by_side=(-n "$programs_at_once")
            fi
            # CUDA does not survive fork, and who demands a GPU does not get the CPU.
            # shellcheck disable=SC2086 # the names are words
            H5TWIN_DEVICE=gpu H5TWIN_PLUGIN_PATH=$PWD/$build/plugins \
                H5TWIN_COMMAND=$PWD/$build/bin/h5twin PYTHONDONTWRITEBYTECODE=1 \
                timeout "$step_seconds" "$python" -m pytest -q -rs -p no:cacheprovider \
                -k 'not forked' "${side_by_side[@]}" ${H5TWIN_GPU_PYTHON_TESTS:-python_tests}
            return
        fi
    done
    skip "no Python here that has h5py and pytest"
}

results_folder() { # for what this GPU reaches
    local name
    name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr -c 'A-Za-z0-9\n' '-')
    mkdir -p "bench/results/$name" && echo "bench/results/$name"
}

step_bench() { # throughput from device memory -> bench/results/DEVICE/gpu.{csv,md,png}
    [ -z "$interpreted" ] || skip "an interpreter has no speed to measure"
    need_gpu
    [ -x "$build/bin/bench_gpu" ] || stop "bench_gpu is not built: nothing was measured"
    local folder status
    folder=$(results_folder)
    timeout "$step_seconds" "$build/bin/bench_gpu" --most "${H5TWIN_GPU_BENCH_MIB:-4096}" >"$build/gpu.csv"
    status=$?
    if [ $status = 124 ]; then # small batches come first, so what there is can be used
        echo "the step's time is over: the largest batches were not measured"
        sed -i '$ d' "$build/gpu.csv" # perhaps cut off
    elif [ $status != 0 ]; then
        return $status
    fi
    cp "$build/gpu.csv" "$folder/gpu.csv" &&
        python3 bench/gpu_report.py "$folder" && cat "$folder/gpu.md" && return $status
}

step_whole() { # an array of 1 GiB from device memory to a file and back -> bench/results/DEVICE/gpu_whole.csv
    [ -z "$interpreted" ] || skip "an interpreter has no speed to measure"
    need_gpu
    [ -x "$build/bin/gpu_whole" ] || skip "gpu_whole is not built: it needs HDF5 for C"
    local folder
    folder=$(results_folder)
    timeout "$step_seconds" "$build/bin/gpu_whole" /dev/shm "${H5TWIN_GPU_WHOLE_MIB:-1024}" 3 >"$build/gpu_whole.csv" &&
        cp "$build/gpu_whole.csv" "$folder/" && cat "$folder/gpu_whole.csv"
}

# ---- run ----

all_steps=(device build report twins large memcheck racecheck initcheck synccheck hdf5 bench whole)
if [ "${1-}" = list ] || [ "${1-}" = --help ]; then
    for name in "${all_steps[@]}"; do
        printf '%-12s %s\n' "$name" "$(sed -n "s/^step_$name() { # //p" tests/run_gpu.sh)"
    done
    exit 0
fi
steps=("$@")
if [ $# = 0 ]; then
    steps=("${all_steps[@]}")
fi
passed=0 failed=() skipped=()
for name in "${steps[@]}"; do
    if ! declare -F "step_$name" >/dev/null; then
        echo "no step $name; tests/run_gpu.sh list shows them" >&2
        exit 2
    fi
    echo "=== $name"
    step_begin=$SECONDS
    ("step_$name")
    status=$?
    echo "=== $name: $((SECONDS - step_begin)) s"
    if [ $status = $skip_status ]; then
        skipped+=("$name")
    elif [ $status != 0 ]; then
        failed+=("$name")
        echo "FAILED: $name"
        case $name in
        device | build) break ;; # the others could only fail
        esac
    else
        passed=$((passed + 1))
    fi
done
if [ ${#skipped[@]} -gt 0 ]; then
    echo "skipped: ${skipped[*]}"
fi
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
if [ $passed = 0 ]; then
    echo "nothing was tested"
    exit 1
fi
echo "$passed steps passed"
