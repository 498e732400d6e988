#!/usr/bin/env bash
# gray_scott_cuda.sh GRAY_SCOTT_CUDA GRAY_SCOTT: the example on a GPU, or in the interpreter, against that
# on the CPU: the same state after a restart of its own, and the same bytes in its checkpoints.
set -euo pipefail
cuda=$(realpath "$1") cpu=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cuda" "$work/gpu" 12 4 2
going_on=$("$cuda" "$work/gpu" 12 8 2 | tee "$work/log" | tail -n 1)
cat "$work/log"
grep -q 'going on from step 4' "$work/log"
mkdir "$work/cpu"
wanted=$("$cpu" --folder "$work/cpu" --side 12 --steps 8 --every 2 | tail -n 1)
[ "$going_on" = "$wanted" ] || { echo "on the GPU: $going_on; on the CPU: $wanted"; exit 1; }
dumped() { # of a checkpoint: the values of the state, as they are stored
    h5dump -d /restart/U -d /restart/V -b LE -o "$2" "$1" >/dev/null
}
if command -v h5dump >/dev/null && [ -n "${HDF5_PLUGIN_PATH-}" ]; then
    dumped "$work/gpu/checkpoint-00000004.h5" "$work/gpu.bin"
    dumped "$work/cpu/checkpoint-00000004.h5" "$work/cpu.bin"
    cmp "$work/gpu.bin" "$work/cpu.bin"
fi
echo "the same state on GPU and CPU: $wanted"
