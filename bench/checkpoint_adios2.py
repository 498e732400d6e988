#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same fields as bench/checkpoint.c writes, through ADIOS2 (PyPI: adios2==2.12.1.1001), one process.

    H5TWIN_DATA=FIELDS checkpoint_adios2.py FOLDER ROUNDS >OUT.csv

FIELDS holds NAME.AxBxC.f32 or .f64 (`checkpoint dump FIELDS MIB` writes some). Without compression: the package from PyPI
has none. Medians, with the data synced to the disk."""

import os
import pathlib
import re
import shutil
import statistics
import sys
import time

import adios2
import numpy as np


def fields():
    for path in sorted(pathlib.Path(os.environ["H5TWIN_DATA"]).iterdir()):
        found = re.fullmatch(r"([^.]+)\.([\dx]+)\.f(32|64)", path.name)
        if found:
            dims = [int(dim) for dim in found[2].split("x")]
            yield found[1], np.fromfile(path, f"f{int(found[3]) // 8}").reshape(dims)


def write(arrays, path):
    shutil.rmtree(path, ignore_errors=True)
    start = time.perf_counter()
    adios = adios2.Adios()
    engine_io = adios.declare_io("checkpoint")
    engine_io.set_engine("BP5")
    variables = []
    for name, array in arrays:
        variables.append(engine_io.define_variable(name, array, list(array.shape), [0] * array.ndim, list(array.shape), True))
    engine = engine_io.open(str(path), adios2.bindings.Mode.Write)
    engine.begin_step()
    for variable, (_, array) in zip(variables, arrays):
        engine.put(variable, array)
    engine.end_step()
    engine.close()
    for file in path.iterdir():
        descriptor = os.open(file, os.O_RDWR)
        os.fsync(descriptor)
        os.close(descriptor)
    return time.perf_counter() - start, sum(file.stat().st_size for file in path.iterdir())


def main():
    path, rounds = pathlib.Path(sys.argv[1]) / "checkpoint.bp", int(sys.argv[2])
    arrays = list(fields())
    raw = sum(array.nbytes for _, array in arrays)
    print("way,still_s,done_s,bytes,ratio,raw_bytes")
    times, sizes = zip(*(write(arrays, path) for _ in range(rounds)))
    median = statistics.median(times)
    print(f'"ADIOS2 BP5, no operator",{median:.3f},{median:.3f},{sizes[-1]},{raw / sizes[-1]:.3f},{raw}')
    shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    main()
