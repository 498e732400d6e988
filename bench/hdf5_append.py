#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hdf5_append.py COMMAND FOLDER [SPEC]... >OUT.csv: rows appended one by one to chunks of many, by an unmodified h5py program.

Three ways, one after the other in each round: HDF5 alone, under `COMMAND run`, and with a policy that says append=hold. Each is a process of its
own, which times resize and write of each row and the close, on a file with HDF5's cache of 1 MiB; beside it a copy of the same array in memory.
Columns: spec, rows in a chunk, way, median seconds of the rounds, MB/s, and how many times a copy takes. Needs an h5py with HDF5 1.14 or later,
HDF5_PLUGIN_PATH set to the filters, and some 64 MiB below FOLDER (tmpfs)."""

import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys

ROWS, ROUNDS = 60, 5
PROGRAM = f"""
import json, sys, time, h5py, numpy as np
path, number, words, steps = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
t, y, x = np.ogrid[0:{ROWS}, 0:384, 0:512]
u = (np.sin(t * 0.05 + y * 0.02) * np.cos(x * 0.013 - t * 0.01) * 40 + np.random.default_rng(1).normal(size=({ROWS}, 384, 512)) * 1e-3).astype("f4")
room = np.zeros_like(u)
start = time.perf_counter(); np.copyto(room, u); copy = time.perf_counter() - start
start = time.perf_counter()
with h5py.File(path, "w", rdcc_nbytes=1 << 20) as file:
    data = file.create_dataset("u", (0, 384, 512), "f4", chunks=(steps, 384, 512), maxshape=(None, 384, 512), compression=number,
                               compression_opts=tuple(words) or None)
    for i in range({ROWS}):
        data.resize(i + 1, axis=0)
        data[i] = u[i]
seconds = time.perf_counter() - start
with h5py.File(path) as file:
    error = float(np.abs(file["u"][...].astype("f8") - u).max())
print(json.dumps([seconds, copy, u.nbytes, error]))
"""
SPECS = ["cascade", "sleek", "ndzip", "lattice:abs=1e-2"]


def filter_of(command, spec):
    shown = subprocess.run([command, "codecs", "--machine"], check=True, capture_output=True, text=True).stdout
    number = next(line.split("\t")[2] for line in shown.splitlines() if line.split("\t")[0] == spec.split(":")[0])
    words = [1, *struct.unpack("<II", struct.pack("<d", float(spec.split("abs=")[1])))] if "abs=" in spec else []  # mode 1, a double
    return number, words


def main(command, folder, *specs):
    folder = pathlib.Path(folder)
    policy = folder / "hold.policy"
    policy.write_text("** any -> none append=hold\n")
    ways = {"native": [], "connector": [command, "run"], "hold": [command, "run", "--policy", str(policy)]}
    print("spec,chunk_rows,way,seconds,mb_per_s,copies,bound_kept")
    for spec in specs or SPECS:
        number, words = filter_of(command, spec)
        bound = float(spec.split("abs=")[1]) if words else 0
        for steps in (10, 30):
            runs = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, before in ways.items():
                    shown = subprocess.run([*before, sys.executable, "-c", PROGRAM, str(folder / "append.h5"), number, json.dumps(words),
                                            str(steps)], check=True, capture_output=True, text=True, env=os.environ)
                    runs[way].append(json.loads(shown.stdout))
            copy = statistics.median(run[1] for way in runs.values() for run in way)
            for way, found in runs.items():
                seconds = statistics.median(run[0] for run in found)
                kept = max(run[3] for run in found) <= bound
                print(f"{spec},{steps},{way},{seconds:.4f},{found[0][2] / seconds / 1e6:.0f},{seconds / copy:.1f},{kept}", flush=True)
    (folder / "append.h5").unlink()
    policy.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
