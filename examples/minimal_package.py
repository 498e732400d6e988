#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a dataset with a bound on its error, explain and verify it, with the package h5twin.

    python3 minimal_package.py
"""
import h5py
import numpy as np

import h5twin

i, j = np.indices((512, 768))
field = (np.sin(0.02 * i) * np.cos(0.03 * j)).astype("f4")

with h5py.File("minimal_package.h5", "w") as file:
    file.create_dataset("field", data=field, chunks=h5twin.chunks(field.shape, field.dtype),
                        **h5twin.Lattice(abs=1e-3))

with h5py.File("minimal_package.h5") as file:
    print(h5twin.explain(file["field"]))
    result = h5twin.verify(field, file["field"][()], abs=1e-3)
print(result)
assert result.ok and 0 < result.max_error <= 1e-3
