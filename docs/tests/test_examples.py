# SPDX-License-Identifier: BSD-3-Clause
"""The programs of examples/ do what they say, built and run by the lines at their top, beside an installed h5twin."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
BUILD = pathlib.Path(os.environ.get("H5TWIN_BUILD", ROOT / "build-gcc")).resolve()
DEBIAN_PYTHON = "/usr/bin/python3"  # whose h5py may have MPI

NEEDS = {  # what a program needs beside h5cc, and how to find out whether it is here
    "minimal.cpp": ["h5c++ -showconfig"],
    "minimal.f90": ["h5fc -showconfig", "gfortran --version"],
    "minimal_netcdf.c": ["nc-config --version"],
    "minimal_mpi.c": ["mpicc --version", "mpirun --version", "pkg-config --exists hdf5-openmpi"],
    "minimal_mpi.py": ["mpirun --version", f"mpirun -n 1 {DEBIAN_PYTHON} -c 'import mpi4py.MPI, h5py; assert h5py.get_config().mpi'"],
    "minimal_package.py": [f"{sys.executable} -c 'import h5py, h5twin'"],
    "minimal_zarr.py": [f"{sys.executable} -c 'import h5twin.zarr'"],
    "minimal_static.c": ["h5cc -showconfig"],
    "minimal.c": ["h5cc -showconfig"],
    "minimal.py": [f"{sys.executable} -c 'import h5py'"],
}
COMMAND = re.compile(r"^[ *!]*    ((?:cc|h5|mpi|\./|python3|HDF5_PLUGIN_PATH=).*)$", re.M)


def commands(name):
    """The lines at the program's top, with the plugin path and Python that the tests have."""
    text = "\n".join((EXAMPLES / name).read_text().split("\n")[:25])
    found = [command.removeprefix("HDF5_PLUGIN_PATH=.../plugins ") for command in COMMAND.findall(text)]
    python = DEBIAN_PYTHON if "mpi" in name else sys.executable
    return [re.sub(r"\bpython3 ", f"{python} ", command) for command in found]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    pc = next(prefix.rglob("h5twin.pc"))
    return {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "HDF5_PLUGIN_PATH": str(prefix / "lib/hdf5/plugin"),
            "LD_LIBRARY_PATH": str(pc.parent.parent), "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


@pytest.mark.parametrize("name", NEEDS)
def test_program_runs_as_its_head_says(name, environment, tmp_path):
    for need in NEEDS[name]:
        if subprocess.run(need, shell=True, capture_output=True, env=environment).returncode != 0:
            pytest.skip(f"{need}: not here")
    lines = commands(name)
    assert lines, "no line says how to run it"
    shutil.copy(EXAMPLES / name, tmp_path)
    for line in lines:
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert re.search(r"error \S*e?-?\d|within|ratio", done.stdout)


def test_every_small_program_is_here():
    assert {path.name for path in EXAMPLES.glob("minimal*")} == set(NEEDS)
