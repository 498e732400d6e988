# SPDX-License-Identifier: BSD-3-Clause
"""Threads that append rows, which are held, and write, read and flush whole arrays, through h5py and, if it is there with an HDF5 of its
own, through netCDF4 at the same time. For tsan.sh.

    race_program.py FOLDER FILTER_ID"""

import concurrent.futures
import pathlib
import random
import sys

import h5py
import numpy as np

try:
    import netCDF4
    netCDF4.set_chunk_cache(1000)
except ImportError:
    netCDF4 = None

folder, filter_id = pathlib.Path(sys.argv[1]), int(sys.argv[2])
u = np.cumsum(np.random.default_rng(3).normal(size=(25, 32, 64)), 0).astype("f4")
large = np.tile(u, (1, 4, 8))  # enough for several threads


def by_h5py(i):
    rng = random.Random(i)
    with h5py.File(folder / f"{i // 2}.h5", "a", rdcc_nbytes=0) as file:  # two threads share a file
        rows = file.create_dataset(f"rows{i}", (0, 32, 64), "f4", chunks=(10, 32, 64), maxshape=(None, 32, 64), compression=filter_id)
        whole = file.create_dataset(f"whole{i}", large.shape, "f4", chunks=(5, 64, 128), compression=filter_id)
        for k in range(25):
            rows.resize(k + 1, axis=0)
            rows[k] = u[k]
            if rng.random() < 0.2:
                assert (rows[k // 2] == u[k // 2]).all()
            if rng.random() < 0.2:
                file.flush()
            if rng.random() < 0.1:
                whole[...] = large
                assert (whole[...] == large).all() and (whole[:, 3] == large[:, 3]).all()
        return bool((rows[...] == u).all())


def by_netcdf(i):
    with netCDF4.Dataset(folder / f"{i}.nc", "w") as file:
        for name, size in (("time", None), ("y", 32), ("x", 64)):
            file.createDimension(name, size)
        rows = file.createVariable("rows", "f4", ("time", "y", "x"), chunksizes=(10, 32, 64))
        for k in range(25):
            rows[k] = u[k]
            if k % 7 == 6:
                file.sync()
        return bool((rows[:] == u).all())


def netcdf_alone():
    """netCDF knows no threads: one for all its files."""
    return all(by_netcdf(i) for i in range(4))


with concurrent.futures.ThreadPoolExecutor(7) as pool:
    results = [pool.submit(by_h5py, i) for i in range(4)]
    if netCDF4 is not None:
        results.append(pool.submit(netcdf_alone))
    assert all(result.result() for result in results)
print("HDF5", h5py.version.hdf5_version, "and", netCDF4.__hdf5libversion__ if netCDF4 else "no other")
