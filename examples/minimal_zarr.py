#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a Zarr array (format 3) with a bound on its error and read it back.

    python3 minimal_zarr.py

The chunks are those that the HDF5 filter stores, byte for byte. Needs zarr and the package h5twin."""
import numpy as np
import zarr

import h5twin
import h5twin.zarr

i, j = np.indices((512, 768))
field = (np.sin(0.02 * i) * np.cos(0.03 * j)).astype("f4")

array = zarr.create_array("minimal.zarr", data=field, chunks=(256, 256), compressors=None, overwrite=True,
                          serializer=h5twin.zarr.H5twin("lattice:abs=1e-3"))

result = h5twin.verify(field, zarr.open("minimal.zarr", mode="r")[:], abs=1e-3)
print(result)
assert result.ok and 0 < result.max_error <= 1e-3
