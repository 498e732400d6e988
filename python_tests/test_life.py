# SPDX-License-Identifier: BSD-3-Clause
"""The life of a dataset: created, closed, opened again, changed."""

import os
import subprocess
import sys

import pytest

from conftest import FILTER_IDS, PLUGINS, relative

REOPEN = """
import h5py, numpy as np
data = np.linspace(0, 1, 100)
with h5py.File({path!r}, "w", libver={libver!r}) as file:
    file.create_dataset("x", data=data, chunks=(16,), maxshape=(None,), fillvalue=-9999.9,
                        compression={filter_id}, compression_opts={cd_values})
with h5py.File({path!r}, "a") as file:
    file["x"][:10] = data[:10]
    file["x"].resize((120,))
    file["x"][100:] = 0.5
with h5py.File({path!r}) as file:
    assert np.abs(file["x"][:100] - data).max() <= 1e-3
print("written")
"""


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_opened_dataset_with_a_fill_value_takes_writes(libver, path):
    """In a process of its own: HDF5 crashes if a filter asks for an opened dataset's fill value."""
    script = REOPEN.format(path=str(path), libver=libver, filter_id=FILTER_IDS["sleek"],
                           cd_values=relative(1e-3))
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                            timeout=120, env={**os.environ, "HDF5_PLUGIN_PATH": str(PLUGINS)})
    assert result.returncode == 0, result.stderr
    assert "written" in result.stdout
