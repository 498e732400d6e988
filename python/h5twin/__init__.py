# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 filters that compress floating-point arrays, losslessly or within a guaranteed error bound.

Importing this package makes the filters known to every HDF5 library of the process, whether it is
loaded already or comes later: h5py, netCDF4, PyTables, and what builds on them.

    import h5py, h5twin
    with h5py.File("out.h5", "w") as file:
        file.create_dataset("u", data=u, chunks=h5twin.chunks(u.shape, u.dtype), **h5twin.Sleek(abs=1e-3))
        print(h5twin.explain(file["u"]))
        print(h5twin.verify(u, file["u"][()], abs=1e-3))
"""

from ._hdf5 import activate
from ._library import PLUGIN_PATH, ChunkInfo, H5twinError, inspect, version
from .arrays import Suggestion, chunks, decode, encode, suggest
from .checkpoints import Checkpoint, CheckpointError, CheckpointInfo, Checkpoints
from .files import ChunkParams, Explanation, config, explain, params
from .filters import (FILTERS, Cascade, E2mc, Filter, Fpcompress, Gfc, Lattice, Ndzip, Sleek, from_cd_values,
                      from_spec)
from .transfers import keep_chunks, read, write
from .verification import Verification, verify

__version__ = version()
__all__ = [
    "Cascade", "Checkpoint", "CheckpointError", "CheckpointInfo", "Checkpoints", "ChunkInfo", "ChunkParams", "E2mc", "Explanation", "FILTERS", "Filter", "Fpcompress", "Gfc", "H5twinError",
    "Lattice",
    "Ndzip", "PLUGIN_PATH", "Sleek", "Suggestion", "Verification", "activate", "chunks", "config", "decode",
    "encode", "explain", "from_cd_values", "from_spec", "inspect", "keep_chunks", "params", "read", "suggest", "verify", "version", "write",
]

activate()
