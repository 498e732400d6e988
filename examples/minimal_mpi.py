#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All processes write one dataset together, each its rows, with a bound on the error.

    mpirun -n 2 python3 minimal_mpi.py

Needs mpi4py and an h5py that was built with MPI (Debian: python3-h5py-mpi, python3-mpi4py), and
HDF5_PLUGIN_PATH, or `import h5twin` where the package is installed."""
import struct

import numpy as np
from mpi4py import MPI

import h5py

LATTICE, BOUND, ROWS, COLUMNS = 486, 1e-3, 256, 512
world = MPI.COMM_WORLD
first = ROWS * world.rank
i, j = np.indices((ROWS, COLUMNS))
field = (np.sin(0.02 * (i + first)) * np.cos(0.03 * j)).astype("f4")

# Mode 1 is an absolute bound; the bound follows as the two halves of a double.
options = (1, *struct.unpack("<2I", struct.pack("<d", BOUND)))
with h5py.File("minimal_mpi_py.h5", "w", driver="mpio", comm=world) as file:
    dataset = file.create_dataset("field", (ROWS * world.size, COLUMNS), "f4", chunks=(ROWS, COLUMNS),
                                  compression=LATTICE, compression_opts=options)
    with dataset.collective:  # filters need it
        dataset[first:first + ROWS] = field
        error = np.abs(dataset[first:first + ROWS].astype("f8") - field).max()
error = world.allreduce(error, MPI.MAX)
if world.rank == 0:
    print(f"minimal_mpi_py.h5: {world.size} processes, largest error {error:g} of {BOUND:g}")
assert 0 < error <= BOUND
