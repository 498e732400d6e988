#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compression ratios of cascade over a folder of arrays, by effort and chunk size.

    H5TWIN_DATA=FOLDER bench/cascade_ratio.py [EFFORT]...

FOLDER holds raw little-endian arrays NAME.AxBxC.f32 or .f64, slowest extent first. The slowest axes
are cut until a chunk has at most so many bytes, and each chunk is a frame. With
H5TWIN_CASCADE_REFERENCE=PROGRAM, `PROGRAM eval FOLDER EFFORT BYTES` is asked for the same and
compared. H5TWIN_COMMAND names the command (default build/bin/h5twin). Prints a table and the arrays
whose ratio is below the reference's, and fails if a geometric mean is.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile

CHUNKS = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 0]


def pieces(dims, word, limit):
    """(offset, dims) of the chunks of an array, offsets in bytes."""
    todo, done = [(0, dims)], []
    while todo:
        at, shape = todo.pop()
        size = word * math.prod(shape)
        if limit == 0 or size <= limit:
            done.append((at, shape))
            continue
        plane = size // shape[0]
        rows = max(1, limit // plane)
        if plane > limit and len(shape) > 1:
            todo += [(at + row * plane, shape[1:]) for row in range(shape[0])]
        else:
            todo += [(at + row * plane, [min(rows, shape[0] - row)] + shape[1:])
                     for row in range(0, shape[0], rows)]
    return done


def encoded_size(command, spec, kind, dims, raw, folder):
    """Bytes of the chunk that the command makes of raw."""
    source, target = folder / "raw", folder / "chunk"
    source.write_bytes(raw)
    subprocess.run([command, "encode", "--spec", spec, "--type", kind, "--dims",
                    "x".join(map(str, dims)), source, target],
                   check=True, stdout=subprocess.DEVNULL)
    return target.stat().st_size


def ratios(command, effort, limit, data, folder):
    """Ratio of each array."""
    found = {}
    for path in sorted(data.iterdir()):
        kind = path.suffix[1:]
        if kind not in ("f32", "f64"):
            continue
        word = int(kind[1:]) // 8
        dims = [int(x) for x in path.name.split(".")[-2].split("x")]
        dims = [x for x in dims if x > 1]
        raw = path.read_bytes()
        total = 0
        for at, shape in pieces(dims, word, limit):
            part = raw[at:at + word * math.prod(shape)]
            total += encoded_size(command, f"cascade:effort={effort}", kind, shape, part, folder)
        found[path.name] = len(raw) / total
    return found


def reference_ratios(program, effort, limit, data):
    """The same by the reference program."""
    lines = subprocess.run([program, "eval", data, effort, str(limit)], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    fields = [line.split() for line in lines]
    return {f[0]: float(f[2]) for f in fields if len(f) > 2 and f[1] == "OK"}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    if "H5TWIN_DATA" not in os.environ:
        sys.exit("cascade_ratio.py: set H5TWIN_DATA to a folder of arrays")
    data = pathlib.Path(os.environ["H5TWIN_DATA"])
    command = os.environ.get("H5TWIN_COMMAND", "build/bin/h5twin")
    reference = os.environ.get("H5TWIN_CASCADE_REFERENCE")
    failed = False
    print("| effort | chunk | f32 | f64 | reference f32 | f64 |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for effort in sys.argv[1:] or ["fast", "quick", "balanced", "max"]:
            for limit in CHUNKS:
                ours = ratios(command, effort, limit, data, pathlib.Path(folder))
                theirs = reference_ratios(reference, effort, limit, data) if reference else {}
                means = {}
                for who, table in (("ours", ours), ("theirs", theirs)):
                    for kind in (".f32", ".f64"):
                        some = [r for name, r in table.items() if name.endswith(kind)]
                        means[who, kind] = geometric_mean(some) if some else None
                cells = [f"{mean:.4f}" if mean else "" for mean in means.values()]
                print(f"| {effort} | {limit or 'whole'} | " + " | ".join(cells) + " |", flush=True)
                for name, ratio in theirs.items():
                    if ours[name] < ratio - 0.0001:
                        print(f"{name}: {ours[name]:.4f}, the reference has {ratio:.4f}")
                for kind in (".f32", ".f64"):
                    least = means["theirs", kind]
                    failed |= least is not None and means["ours", kind] < least - 0.0001
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
