#!/usr/bin/env bash
# test_run_gpu.sh: run_gpu.sh and kernel_report.sh do not say that all is well when nothing was
# tested: with false nvidia-smi, nvcc, compute-sanitizer and test programs, in a folder without .git.
set -uo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/fake" "$folder/tests" "$folder/bench/results" "$folder/codec" "$folder/include" "$folder/build-gpu/bin"
mkdir "$folder/build-gpu/include" && touch "$folder/build-gpu/include/h5twin_codecs.h"
cp "$source/tests/run_gpu.sh" "$folder/tests/"
cp "$source/bench/kernel_report.sh" "$folder/bench/"
echo >"$folder/codec/one.cu"
cd "$folder" || exit 1
PATH=$folder/fake:/usr/bin:/bin
export CUDACXX=$folder/none CUDA_HOME=$folder/none
export H5TWIN_GPU_JOBS=1
unset H5TWIN_GPU_TESTS H5TWIN_TEST_LARGE H5TWIN_SANITIZER_SECONDS CMAKE_CUDA_ARCHITECTURES
failures=0

make_fake() { # NAME < SCRIPT
    { echo '#!/bin/sh' && cat; } >"fake/$1" && chmod +x "fake/$1"
}

make_program() { # NAME COMMAND
    printf '#!/bin/sh\n%s\n' "$2" >"build-gpu/bin/test_$1_device"
    chmod +x "build-gpu/bin/test_$1_device"
}

make_gpu() { # DRIVER CAPABILITY; no GPU if they are empty
    make_fake nvidia-smi <<END
case "\$*" in
-L) if [ -n "$2" ]; then echo "GPU 0: Fake (UUID: GPU-1)"; else echo "No devices" >&2; exit 6; fi ;;
*compute_cap*) echo "$2" ;;
*=name*) echo Fake ;;
*) echo "| NVIDIA-SMI 550.54   Driver Version: 550.54   CUDA Version: $1     |" ;;
esac
END
}

make_nvcc() { # VERSION COMMAND: of the newest architecture it knows, 9.0
    make_fake nvcc <<END
case "\$1" in
--version) echo "Cuda compilation tools, release $1, V$1.99" ;;
--list-gpu-code) printf 'sm_80\nsm_90\n' ;;
--list-gpu-arch) printf 'compute_80\ncompute_90\n' ;;
*) $2 ;;
esac
END
}

expect() { # WHAT STATUS TEXT COMMAND...: fails or not, and says TEXT
    local what=$1 wanted=$2 text=$3 output status
    shift 3
    output=$("$@" 2>&1)
    status=$?
    if [ $status != "$wanted" ] || ! grep -qE -- "$text" <<<"$output"; then
        echo "FAILED: $what: status $status, not $wanted, or no \"$text\" in:"
        printf '%s\n' "$output"
        failures=$((failures + 1))
    fi
}

# ---- the device ----

make_gpu '' ''
make_nvcc 13.0 'exit 1'
expect 'no GPU' 1 'ERROR: no GPU.*nothing was tested' tests/run_gpu.sh
for step in device build twins large memcheck racecheck initcheck synccheck hdf5 bench; do
    expect "no GPU, $step" 1 'nothing was tested' tests/run_gpu.sh $step
done
expect 'no GPU: only the first step' 1 'failed: device$' tests/run_gpu.sh
make_gpu 12.4 9.0
expect 'old driver' 1 'for CUDA 12\.4.*needs one for 13\.0.*nothing was tested' tests/run_gpu.sh device
expect 'old driver, twins' 1 'nothing was tested' tests/run_gpu.sh twins
make_gpu 13.0 9.0
expect 'right driver' 0 '^90-real$' tests/run_gpu.sh device
expect 'asked for' 0 '^75$' env CMAKE_CUDA_ARCHITECTURES=75 tests/run_gpu.sh device
make_nvcc 12.8 'exit 1'
make_gpu 12.2 9.0
expect 'older minor version' 0 '^90-real$' tests/run_gpu.sh device
make_gpu 12.8 12.0
expect 'GPU newer than nvcc' 0 '^90-virtual$' tests/run_gpu.sh device
make_gpu 12.2 12.0
expect 'GPU newer than nvcc, older driver' 1 'too old for its PTX' tests/run_gpu.sh device
make_gpu 12.8 5.0
expect 'GPU too old for nvcc' 1 'no GPU as old.*' tests/run_gpu.sh device
rm fake/nvcc
make_gpu 12.8 9.0
expect 'no nvcc' 1 'no nvcc here: nothing was tested' tests/run_gpu.sh device
expect 'no such step' 2 'no step nonsense' tests/run_gpu.sh nonsense

# ---- programs ----

make_nvcc 12.8 'exit 1'
expect 'no programs' 1 'nothing was tested' tests/run_gpu.sh twins
expect 'no large program' 1 'nothing was tested' tests/run_gpu.sh large
expect 'no bench' 1 'nothing was measured' tests/run_gpu.sh bench
make_program good 'exit 0'
expect 'good program' 0 '^1 steps passed' tests/run_gpu.sh twins
make_program idle 'echo "SKIP: no GPU: initialization error"; exit 77'
expect 'skipped' 1 'idle_device: SKIPPED ITSELF: SKIP: no GPU' tests/run_gpu.sh twins
expect 'chosen' 0 'good_device: passed' env H5TWIN_GPU_TESTS=good tests/run_gpu.sh twins
expect 'none chosen' 1 'nothing was tested' env H5TWIN_GPU_TESTS=nonsense tests/run_gpu.sh twins
make_program idle 'echo "another result"; exit 1'
expect 'failing' 1 'another result' tests/run_gpu.sh twins
make_program idle 'sleep 30'
expect 'endless' 1 'idle_device: no error in [1-3] s, then stopped' \
    env H5TWIN_STEP_SECONDS=3 H5TWIN_GPU_TESTS=idle tests/run_gpu.sh twins
make_program a_slow 'sleep 30'
expect 'no time left' 1 'idle_device: NOT RUN' env H5TWIN_STEP_SECONDS=2 tests/run_gpu.sh twins
expect 'side by side' 1 'good_device: passed' env H5TWIN_GPU_JOBS=2 H5TWIN_STEP_SECONDS=2 tests/run_gpu.sh twins
rm build-gpu/bin/test_a_slow_device
expect 'no sanitizer' 1 '^nothing was tested' tests/run_gpu.sh memcheck
# shellcheck disable=SC2016 # for the false tool
echo 'case "$*" in *idle*) exit 99 ;; esac' | make_fake compute-sanitizer
expect 'sanitizer' 1 'idle_device: FAILED' tests/run_gpu.sh memcheck
echo 'case "$*" in *idle*) sleep 30 ;; esac' | make_fake compute-sanitizer
expect 'sanitizer, stopped' 0 'idle_device: no error in 1 s, then stopped' \
    env H5TWIN_SANITIZER_SECONDS=1 tests/run_gpu.sh racecheck

# ---- the table of kernels ----

table=bench/results/kernels.tsv
lines="echo \"ptxas info : Compiling entry function 'one_kernel' for 'sm_90'\"
echo '    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads'
echo 'ptxas info : Used 32 registers, 128 bytes smem, 400 bytes cmem[0]'"
make_nvcc 12.8 "$lines"
expect 'table' 0 $'^90\tone.cu\tone_kernel\t32\t128\t0\t4\t8$' bench/kernel_report.sh 90
expect 'table of two' 0 '' bench/kernel_report.sh -o $table 80 90
expect 'table of two, made' 0 $'^90\tone.cu' cat $table
expect 'table of all' 0 $'^89\tone.cu' tests/run_gpu.sh report
cp $table kept
make_nvcc 12.8 'exit 0'
expect 'no kernels' 1 'no table was made' bench/kernel_report.sh -o $table
expect 'no kernels, step' 1 'failed: report' tests/run_gpu.sh report
make_nvcc 12.8 "$lines; exit 1"
expect 'failing nvcc' 1 'no table was made' bench/kernel_report.sh -o $table
rm fake/nvcc
expect 'no nvcc' 1 'no nvcc.*no table was made' bench/kernel_report.sh -o $table
expect 'no nvcc, step' 1 'failed: report' tests/run_gpu.sh report
make_nvcc 12.8 "$lines"
rm build-gpu/include/h5twin_codecs.h
expect 'no headers' 1 'no table was made' bench/kernel_report.sh -o $table
expect 'the table is kept' 0 '' cmp $table kept

if [ $failures != 0 ]; then
    echo "$failures failed"
    exit 1
fi
echo "all passed"
