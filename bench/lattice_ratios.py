#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of lattice over a folder of arrays, by chunk size, bound and effort, beside another program's.

    H5TWIN_DATA=FOLDER bench/lattice_ratios.py build/bin/h5twin

The folder holds raw little-endian arrays NAME.AxBxC.f32 or .f64, slowest extent first. Each is cut
along its slowest axis into chunks of at most so many bytes, and coded with the absolute bound eps * (max - min),
magnitudes from 1e30 on left out. Every byte of the payloads counts, no frame. If H5TWIN_LATTICE_REFERENCE names a
program that is called as `PROGRAM enc f32|f64 DIMS abs=E EFFORT IN OUT`, its ratios stand beside ours, and a row that
is worse than its is marked. Options: --chunks 65536,1048576  --eps 1e-2,1e-4  --efforts fast  --stable no  --types f64"""

import argparse
import array
import math
import os
import pathlib
import subprocess
import sys
import tempfile


def slabs(path, chunk_bytes):
    """The bytes and dims of each chunk of a file."""
    dims = [int(extent) for extent in path.name.split(".")[-2].split("x")]
    size = 4 if path.suffix == ".f32" else 8
    data = path.read_bytes()
    while len(dims) > 1 and math.prod(dims[1:]) * size > chunk_bytes:  # rows that are too large
        dims[0:2] = [dims[0] * dims[1]]
    row = math.prod(dims[1:]) * size
    rows = max(1, chunk_bytes // row)
    for first in range(0, dims[0], rows):
        count = min(rows, dims[0] - first)
        yield data[first * row:(first + count) * row], [count, *dims[1:]]


def value_range(path):
    values = array.array("f" if path.suffix == ".f32" else "d", path.read_bytes())
    if sys.byteorder == "big":
        values.byteswap()
    kept = [value for value in values if abs(value) < 1e30]  # not NaN either
    return max(kept) - min(kept)


def coded_size(command, source, target):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return target.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="the h5twin command")
    parser.add_argument("--chunks", default="65536,262144,1048576,4194304")
    parser.add_argument("--eps", default="1e-2,1e-3,1e-4,1e-5")
    parser.add_argument("--efforts", default="fast,balanced")
    parser.add_argument("--stable", default="auto")
    parser.add_argument("--types", default="f32,f64")
    options = parser.parse_args()
    folder, reference = os.environ.get("H5TWIN_DATA"), os.environ.get("H5TWIN_LATTICE_REFERENCE")
    if folder is None:
        print("SKIP: H5TWIN_DATA names no folder of arrays")
        return 77
    files = sorted(path for path in pathlib.Path(folder).iterdir() if path.suffix[1:] in options.types.split(","))
    ranges = {path: value_range(path) for path in files}
    print(f"{len(files)} arrays, geometric mean of the ratios; in brackets the reference's")
    worse = 0
    with tempfile.TemporaryDirectory() as scratch:
        source, target = pathlib.Path(scratch, "in"), pathlib.Path(scratch, "out")
        for effort in options.efforts.split(","):
            for chunk in map(int, options.chunks.split(",")):
                for eps in options.eps.split(","):
                    logs = [0.0, 0.0]
                    for path in files:
                        bound = repr(float(eps) * ranges[path])
                        raw, ours, theirs = 0, 0, 0
                        for data, dims in slabs(path, chunk):
                            source.write_bytes(data)
                            raw += len(data)
                            kind, shape = path.suffix[1:], "x".join(map(str, dims))
                            spec = f"lattice:abs={bound},effort={effort},stable={options.stable}"
                            ours += coded_size([options.command, "encode", "--bare", "--spec", spec, "--type", kind,
                                                "--dims", shape, source, target], source, target)
                            if reference is not None:
                                name = effort + ("+stable" if options.stable == "yes" else "")
                                theirs += coded_size([reference, "enc", kind, shape, f"abs={bound}", name, source,
                                                      target], source, target)
                        logs[0] += math.log(raw / ours)
                        logs[1] += math.log(raw / theirs) if theirs else 0
                        if theirs and ours > theirs:
                            worse += 1
                            print(f"  worse: {path.name} {effort} chunk {chunk} eps {eps}: {ours} > {theirs} bytes")
                    means = [math.exp(log / len(files)) for log in logs]
                    beside = f" ({means[1]:.3f})" if reference is not None else ""
                    print(f"{effort:9} chunk {chunk >> 10:5} KiB  eps {eps}: {means[0]:.3f}{beside}", flush=True)
    print(f"{worse} rows worse than the reference" if reference is not None else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
