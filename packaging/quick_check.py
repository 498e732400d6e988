# SPDX-License-Identifier: BSD-3-Clause
"""quick_check.py: whether an installed h5twin works with an h5py beside it: every codec writes and reads a file, lossy ones
within the bound, and the command looks into it. Run by the scripts of packaging/, in places that have nothing else."""

import subprocess
import sys

import h5py
import numpy as np

import h5twin

BOUND = 1e-3
field = (np.sin(np.indices((20, 40, 60)).sum(axis=0) * 0.05) * 20).astype("f4")
specs = ["cascade", "e2mc", "fpcompress", "gfc", "ndzip", "sleek", f"sleek:abs={BOUND}", f"lattice:abs={BOUND}"]
with h5py.File("check.h5", "w") as file:
    for spec in specs:
        file.create_dataset(spec.replace(":", "_"), data=field, chunks=(20, 40, 60), **h5twin.from_spec(spec))
with h5py.File("check.h5") as file:
    for spec in specs:
        dataset = file[spec.replace(":", "_")]
        error = float(np.abs(dataset[()].astype("f8") - field).max())
        assert error <= (BOUND if ":" in spec else 0), (spec, error)
        assert dataset.id.get_storage_size() <= field.nbytes + 24, spec
command = [sys.executable, "-m", "h5twin", "info", "check.h5"]
assert b"lattice" in subprocess.run(command, check=True, capture_output=True).stdout
print(f"h5twin {h5twin.version()}, HDF5 {h5py.version.hdf5_version}: {len(specs)} datasets written, read, within their bounds")
