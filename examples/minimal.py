#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write one dataset with a bound on its error and read it back, through h5py.

    HDF5_PLUGIN_PATH=.../plugins python3 minimal.py
"""
import struct

import h5py
import numpy as np

SLEEK = 480  # filter id
BOUND = 1e-3

i, j = np.indices((512, 768))
field = (np.sin(0.02 * i) * np.cos(0.03 * j)).astype("f4")

# Mode 1 is an absolute bound; the bound follows as the two halves of a double.
options = (1, *struct.unpack("<2I", struct.pack("<d", BOUND)))

with h5py.File("minimal_py.h5", "w") as file:
    file.create_dataset("field", data=field, chunks=(256, 256),
                        compression=SLEEK, compression_opts=options)

with h5py.File("minimal_py.h5", "r") as file:
    dataset = file["field"]
    error = np.abs(dataset[...].astype("f8") - field).max()
    ratio = dataset.nbytes / dataset.id.get_storage_size()
print(f"minimal_py.h5: ratio {ratio:.1f}, largest error {error:g} of {BOUND:g}")
assert error <= BOUND
