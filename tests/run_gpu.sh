#!/usr/bin/env bash
# run_gpu.sh: on a machine with a GPU: build with nvcc, run every twin test on the GPU itself, look
# for errors with compute-sanitizer, run the HDF5 tests with H5TWIN_DEVICE=gpu, and measure.
#
#   tests/run_gpu.sh              all steps
#   tests/run_gpu.sh NAME...      some, in the order given
#   tests/run_gpu.sh list         what there is
#
# The build stays in build-gpu/. Without a GPU the steps that need one say SKIP; building and the
# report of registers need only nvcc. Exit status 0 only if no step failed.
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

device_tests() { # the programs that run on the GPU
    find "$build/bin" -name 'test_*_device' -type f | sort
}

step_build() { # everything, by nvcc, warnings are errors
    cmake -B "$build" -DH5TWIN_CUDA=ON -DH5TWIN_TESTS=ON -DH5TWIN_WERROR=ON &&
        cmake --build "$build" -j "$jobs"
}

step_report() { # registers, shared memory and spills of each kernel -> bench/results/kernels.tsv
    bench/kernel_report.sh >bench/results/kernels.tsv && column -t -s "$(printf '\t')" bench/results/kernels.tsv
}

step_twins() { # each back end against its CPU codec
    need_gpu
    ctest --test-dir "$build" -L gpu --output-on-failure
}

step_sanitizer() { # the same under memcheck, racecheck, initcheck and synccheck
    need_gpu
    command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer here"
    local tool program status=0
    for tool in memcheck racecheck initcheck synccheck; do
        for program in $(device_tests); do
            echo "== $tool $program"
            compute-sanitizer --tool "$tool" --error-exitcode 1 --print-limit 20 "$program" >"$build/sanitizer.log" 2>&1 ||
                { tail -50 "$build/sanitizer.log"; status=1; }
        done
    done
    return $status
}

step_host() { # the C tests of chunks, everything by the GPU
    need_gpu
    "$build/bin/test_gpu_host_device"
}

step_hdf5() { # the tests through h5py with a demanded GPU
    need_gpu
    H5TWIN_DEVICE=gpu H5TWIN_PLUGINS=$PWD/$build/plugins tests/run.sh pytest
}

step_bench() { # throughput from device memory -> bench/results/DEVICE/
    need_gpu
    [ -x "$build/bin/bench_gpu" ] || skip "bench_gpu is not built"
    local name folder
    name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr -c 'A-Za-z0-9\n' '-')
    folder=bench/results/$name
    mkdir -p "$folder"
    "$build/bin/bench_gpu" >"$folder/gpu.csv" && cat "$folder/gpu.csv"
}

all="build report twins sanitizer host hdf5 bench"
if [ "${1:-}" = list ]; then
    grep -E '^step_[a-z0-9_]+\(\)' "$0" | sed -E 's/^step_([a-z0-9_]+)\(\) \{ ?#? ?/\1\t/'
    exit 0
fi
failed=
# shellcheck disable=SC2086 # the names are words
[ $# -gt 0 ] || set -- $all
for name; do
    echo "=== $name"
    ("step_$name")
    status=$?
    if [ $status -ne 0 ] && [ $status -ne $skip_status ]; then
        failed="$failed $name"
        echo "FAILED: $name"
        [ "$name" = build ] && break
    fi
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "all well"
