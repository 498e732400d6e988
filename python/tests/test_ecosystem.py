# SPDX-License-Identifier: BSD-3-Clause
"""The tools that people use, in one process with several HDF5 libraries: import h5twin is all they need."""

import multiprocessing
import os
import pathlib
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest

import h5twin

BOUND = 1e-3


def field(shape=(20, 60, 80)):
    rng = np.random.default_rng(3)
    return (np.sin(np.indices(shape).sum(axis=0) * 0.05) + rng.normal(size=shape) * 1e-4).astype("f4")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "x.nc")


def dataset():
    xarray = pytest.importorskip("xarray")
    return xarray.Dataset({"u": (("t", "y", "x"), field())})


def write(path):
    encoding = {"u": {"chunksizes": (10, 60, 80), **h5twin.Sleek(abs=BOUND)}}
    dataset().to_netcdf(path, engine="h5netcdf", encoding=encoding)


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_writes_through_h5netcdf_and_both_engines_read(path, engine):
    import xarray
    write(path)
    with xarray.open_dataset(path, engine=engine) as back:
        result = h5twin.verify(field(), back["u"].values, abs=BOUND)
    assert result and not result.identical
    with h5py.File(path) as file:
        assert h5twin.explain(file["u"]).filter == h5twin.Sleek(abs=BOUND)


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_loads_and_writes_again_without_the_old_encoding(path, engine):
    import xarray
    write(path)
    with xarray.open_dataset(path, engine=engine) as back:
        again = back.load().drop_encoding()
    again.to_netcdf(path + "2", engine=engine)
    with xarray.open_dataset(path + "2", engine=engine) as back:
        assert np.array_equal(back["u"].values, again["u"].values)


def test_xarray_opens_in_pieces_with_dask(path):
    pytest.importorskip("dask.array")
    import xarray
    write(path)
    with xarray.open_dataset(path, engine="h5netcdf", chunks={"t": 10}) as back:
        assert float(back["u"].mean().compute(scheduler="threads")) == pytest.approx(field().mean(), abs=BOUND)


def test_netcdf4_reads_by_itself(path):
    netCDF4 = pytest.importorskip("netCDF4")
    write(path)
    with netCDF4.Dataset(path) as file:
        assert h5twin.verify(field(), np.asarray(file["u"][:]), abs=BOUND)


def test_pytables_reads(path):
    tables = pytest.importorskip("tables")
    with h5py.File(path, "w") as file:
        file.create_dataset("u", data=field(), chunks=(10, 60, 80), **h5twin.Ndzip())
    with tables.open_file(path) as file:
        assert np.array_equal(file.root.u[:], field())


def test_hdf5plugin_may_be_there_too(path):
    hdf5plugin = pytest.importorskip("hdf5plugin")
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=field(), chunks=(10, 60, 80), **hdf5plugin.Zstd())
        file.create_dataset("b", data=field(), chunks=(10, 60, 80), **h5twin.Ndzip())
    with h5py.File(path) as file:
        assert np.array_equal(file["a"][()], field()) and np.array_equal(file["b"][()], field())


def _read_in_child(path):
    with h5py.File(path) as file:
        return float(file["u"][()].sum(dtype="f8"))


def _write_in_child(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("u", data=field(), chunks=(10, 60, 80), **h5twin.Ndzip())
    return True


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_child_processes_read_and_write(path, method):
    assert _write_in_child(path)  # this process has used its threads already
    with multiprocessing.get_context(method).Pool(2) as pool:
        sums = pool.map_async(_read_in_child, [path] * 4).get(timeout=60)
        assert sums == [float(field().sum(dtype="f8"))] * 4
        assert all(pool.map_async(_write_in_child, [path + str(i) for i in range(2)]).get(timeout=60))


@pytest.mark.parametrize("order", ["import h5py, h5twin", "import h5twin, h5py",
                                   "import h5py; h5py.File('x', 'w', driver='core', backing_store=False); import h5twin"])
def test_imports_in_any_order(path, order):
    code = (f"{order}; f = h5py.File({path!r}, 'w'); d = f.create_dataset('x', data=list(map(float, range(999))), "
            "**h5twin.Gfc()); f.close(); print(h5py.File(" + repr(path) + ")['x'][998])")
    env = {k: v for k, v in os.environ.items() if k != "HDF5_PLUGIN_PATH"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.strip() == "998.0"


def test_an_existing_plugin_path_is_kept():
    code = "import os, h5twin; print(os.environ['HDF5_PLUGIN_PATH'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "HDF5_PLUGIN_PATH": "/elsewhere"})
    assert done.stdout.strip().split(os.pathsep) == [str(h5twin.PLUGIN_PATH), "/elsewhere"]


def test_the_command_is_in_the_package(path):
    done = subprocess.run([sys.executable, "-m", "h5twin", "args", "sleek:abs=1e-3"], capture_output=True,
                          text=True, check=True)
    assert "480" in done.stdout
    assert subprocess.run([sys.executable, "-m", "h5twin", "nonsense"], capture_output=True).returncode == 2


def test_numcodecs_codec_writes_the_same_bytes():
    numcodecs = pytest.importorskip("numcodecs")
    import h5twin.codecs
    data = field()
    codec = h5twin.codecs.H5twin("sleek:abs=1e-3")
    chunk = codec.encode(data)
    assert chunk == h5twin.encode(data, "sleek:abs=1e-3")
    assert h5twin.verify(data, np.asarray(codec.decode(chunk)).view("f4").reshape(data.shape), abs=1e-3)
    out = np.empty_like(data)
    codec.decode(chunk, out=out)
    assert h5twin.verify(data, out, abs=1e-3)
    assert numcodecs.get_codec(codec.get_config()) == codec


README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def test_the_readme_s_python_runs(tmp_path):
    snippet = re.search(r"```python\n(import h5py, h5twin.*?)```", README.read_text(), re.S).group(1)
    done = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "480" in done.stdout and "bound 0.001 kept" in done.stdout and "ndzip" in done.stdout
