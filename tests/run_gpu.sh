#!/usr/bin/env bash
# run_gpu.sh: on a machine with a GPU: build with nvcc, run every twin test on the GPU itself, look
# for errors with compute-sanitizer, run the HDF5 tests with H5TWIN_DEVICE=gpu, and measure.
#
#   tests/run_gpu.sh              all steps
#   tests/run_gpu.sh NAME...      some, in the order given
#   tests/run_gpu.sh list         what there is
#
# Needs nvcc, CMake 3.25 and a C++ compiler, no network: cmocka is used if it is there, h5py, pytest
# and HDF5's headers likewise. The build stays in build-gpu/. Without a GPU the steps that need one
# say SKIP; building and the report of registers need only nvcc. Exit status 0 only if no step failed.
#
# H5TWIN_SANITIZER_TOOLS    default "memcheck racecheck initcheck synccheck"
# H5TWIN_SANITIZER_SECONDS  for one program under one of them, default 300
# CMAKE_CUDA_ARCHITECTURES  e.g. 90 or native, to build for that alone
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

build='build-gpu'
jobs=$(nproc)
skip_status=77

skip() { # say why on standard output; the step ends
    echo "SKIP: $*"
    exit $skip_status
}

need_gpu() {
    if ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
        skip "no GPU here"
    fi
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

device_tests() { # the programs that run on the GPU
    find "$build/bin" -name 'test_*_device' -type f | sort
}

step_build() { # by nvcc, warnings are errors
    local nvcc targets
    nvcc=$(cuda_tool nvcc) || skip "no nvcc here"
    CUDACXX=$nvcc cmake -B "$build" -DH5TWIN_CUDA=ON -DH5TWIN_TESTS=ON -DH5TWIN_WERROR=ON \
        -DBUILD_SHARED_LIBS=OFF \
        ${CMAKE_CUDA_ARCHITECTURES:+-DCMAKE_CUDA_ARCHITECTURES="$CMAKE_CUDA_ARCHITECTURES"} || return
    # Not the emulator: what it runs is run here by the GPU.
    targets=$(cmake --build "$build" --target help |
        grep -oE '\b(test_\w+_device|h5twin_plugin_\w+|h5twin_command|h5twin|bench_gpu)(: phony)?$' |
        sed 's/: phony//' | sort -u)
    # shellcheck disable=SC2086 # the names are words
    cmake --build "$build" -j "$jobs" --target $targets && "$build/bin/h5twin" info --devices
}

step_report() { # registers, shared memory and spills of each kernel -> bench/results/kernels.tsv
    local table=$build/kernels.tsv
    PATH=$(dirname "$(cuda_tool nvcc)"):$PATH bench/kernel_report.sh >"$table" &&
        cp "$table" bench/results/kernels.tsv && cut -f1-8 "$table"
}

step_twins() { # each back end against its CPU codec
    need_gpu
    ctest --test-dir "$build" -L gpu --output-on-failure
}

# Programs that read behind arrays, as they may, where nobody has written: not for initcheck.
reads_padding() { # PROGRAM
    case $1 in
    *test_gpu_host_device | *test_gpu_hdf5_device | *test_info_devices_device) return 0 ;;
    *) return 1 ;;
    esac
}

step_sanitizer() { # the same under memcheck, racecheck, initcheck and synccheck
    need_gpu
    local sanitizer tool program status=0 log=$build/sanitizer.log
    local seconds=${H5TWIN_SANITIZER_SECONDS:-300}
    sanitizer=$(cuda_tool compute-sanitizer) || skip "no compute-sanitizer here"
    for tool in ${H5TWIN_SANITIZER_TOOLS:-memcheck racecheck initcheck synccheck}; do
        for program in $(device_tests); do
            if [ "$tool" = initcheck ] && reads_padding "$program"; then
                continue
            fi
            timeout "$seconds" "$sanitizer" --tool "$tool" --error-exitcode 99 --print-limit 20 \
                "$program" >"$log" 2>&1
            case $? in
            0) echo "$tool $program: no error" ;;
            124) echo "$tool $program: no error in $seconds s, then stopped" ;;
            *)
                echo "$tool $program: FAILED"
                tail -50 "$log"
                status=1
                ;;
            esac
        done
    done
    return $status
}

step_hdf5() { # the tests through h5py with a demanded GPU
    need_gpu
    local python status
    for python in python3 /usr/bin/python3 .venv/bin/python; do
        if "$python" -c 'import h5py, pytest' 2>/dev/null; then
            # CUDA does not survive fork, and who demands a GPU does not get the CPU.
            H5TWIN_DEVICE=gpu H5TWIN_PLUGIN_PATH=$PWD/$build/plugins \
                H5TWIN_COMMAND=$PWD/$build/bin/h5twin PYTHONDONTWRITEBYTECODE=1 \
                "$python" -m pytest -q -rs -p no:cacheprovider -k 'not forked' python_tests
            status=$?
            return $status
        fi
    done
    skip "no Python here that has h5py and pytest"
}

step_bench() { # throughput from device memory -> bench/results/DEVICE/gpu.{csv,md,png}
    need_gpu
    [ -x "$build/bin/bench_gpu" ] || skip "bench_gpu is not built"
    local name folder
    name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr -c 'A-Za-z0-9\n' '-')
    folder=bench/results/$name
    mkdir -p "$folder"
    "$build/bin/bench_gpu" >"$build/gpu.csv" && cp "$build/gpu.csv" "$folder/gpu.csv" &&
        python3 bench/gpu_report.py "$folder" && cat "$folder/gpu.md"
}

all_steps=(build report twins sanitizer hdf5 bench)
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
failed=()
for name in "${steps[@]}"; do
    if ! declare -F "step_$name" >/dev/null; then
        echo "no step $name; tests/run_gpu.sh list shows them" >&2
        exit 2
    fi
    echo "=== $name"
    start=$SECONDS
    ("step_$name")
    status=$?
    echo "=== $name: $((SECONDS - start)) s"
    if [ $status -ne 0 ] && [ $status -ne $skip_status ]; then
        failed+=("$name")
        echo "FAILED: $name"
        [ "$name" = build ] && break
    fi
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
echo "all well"
