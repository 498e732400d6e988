# SPDX-License-Identifier: BSD-3-Clause
"""VTK's reader of XDMF, which ParaView has too, reads the file beside a checkpoint (requirements-vtk.txt)."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import PLUGINS
from test_checkpoint import BUILD

PROGRAM = BUILD / "tests" / "checkpoint_pictures"
# In a process of its own: VTK brings an HDF5 of its own.
READER = """
import json, sys
import numpy as np
from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkXdmfReader()
reader.SetFileName(sys.argv[1])
reader.UpdateInformation()
reader.Update()
grids = []
def walk(block):
    if hasattr(block, "GetNumberOfBlocks"):
        for index in range(block.GetNumberOfBlocks()):
            walk(block.GetBlock(index))
        return
    arrays = {}
    for index in range(block.GetPointData().GetNumberOfArrays()):
        array = vtk_to_numpy(block.GetPointData().GetArray(index))
        arrays[block.GetPointData().GetArrayName(index)] = [str(array.dtype), array.tolist()]
    grids.append({"dims": block.GetDimensions(), "origin": block.GetOrigin(), "spacing": block.GetSpacing(),
                  "arrays": arrays})
walk(reader.GetOutputDataObject(0))
json.dump(grids, sys.stdout)
"""


@pytest.mark.skipif(not PROGRAM.exists(), reason=f"no {PROGRAM}: build the tests with HDF5's C library")
@pytest.mark.parametrize("processes", [1, 3])
def test_vtk_reads_fields_of_all_ranks(tmp_path, processes):
    pytest.importorskip("vtkmodules", reason="VTK is not installed: pip install -r python_tests/requirements-vtk.txt")
    subprocess.run([PROGRAM, tmp_path, str(processes)], check=True, timeout=60)
    done = subprocess.run([sys.executable, "-c", READER, tmp_path / "checkpoint-00000001.xmf"], capture_output=True,
                          text=True, timeout=120, check=False, env={**os.environ, "HDF5_PLUGIN_PATH": str(PLUGINS)})
    assert done.returncode == 0, done.stderr
    grids = json.loads(done.stdout)
    assert len(grids) == 3
    for rank, grid in enumerate(sorted(grids, key=lambda one: int(np.prod(one["dims"]))), start=1):
        # VTK has x first; fields of fewer dims have no extent along the slow axes.
        assert grid["dims"] == ([29, 17, 40][:rank][::-1] + [1, 1])[:3]
        assert grid["origin"] == ([10, 20, 30][:rank][::-1] + [0, 0])[:3]
        assert grid["spacing"][:rank] == [0.5, 1.5, 2.5][:rank][::-1]
        assert set(grid["arrays"]) == {f"{rank}d/f32", f"{rank}d/f64"}
        wanted = np.arange(int(np.prod(grid["dims"]))) / 4
        for name, (dtype, values) in grid["arrays"].items():
            assert dtype == {"f32": "float32", "f64": "float64"}[name[-3:]]
            assert np.array_equal(values, wanted)
