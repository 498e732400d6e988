# SPDX-License-Identifier: BSD-3-Clause
"""What xarray's users do: write with an encoding, open again, append, write back."""

import numpy as np
import pytest

from conftest import FILTER_IDS, relative

xarray = pytest.importorskip("xarray")
h5netcdf = pytest.importorskip("h5netcdf")
netCDF4 = pytest.importorskip("netCDF4")

BOUND = 1e-3
SHAPE = (24, 60, 50)


def field(seed=0):
    """Between -1/2 and 1/2, a part of it missing."""
    at = np.indices(SHAPE).sum(axis=0)
    values = 0.5 * np.sin(0.05 * at + seed)
    values[:, ::20, :7] = np.nan
    return values


def write(path, values, dtype, fill):
    dataset = xarray.Dataset({"t": (("time", "y", "x"), values)})
    dataset.to_netcdf(path, engine="h5netcdf", unlimited_dims=["time"], encoding={"t": {
        "dtype": dtype, "_FillValue": fill, "chunksizes": (8, 60, 50),
        "compression": FILTER_IDS["sleek"], "compression_opts": relative(BOUND)}})


def check(path, expected):
    for engine in "h5netcdf", "netcdf4":
        with xarray.open_dataset(path, engine=engine) as dataset:
            found = dataset["t"].values
        assert np.array_equal(np.isnan(found), np.isnan(expected)), engine
        assert np.nanmax(np.abs(found.astype("f8") - expected)) <= BOUND, engine


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("fill", [9.969209968386869e36, -9999.9, 1e20, np.nan], ids=str)
def test_variable_with_a_fill_value_is_written_again(engine, dtype, fill, tmp_path):
    path = tmp_path / "t.nc"
    values = field().astype(dtype).astype("f8")
    write(path, values, dtype, fill)
    check(path, values)
    # Another variable beside it, then the same one anew.
    xarray.Dataset({"u": (("y",), np.arange(60.0))}).to_netcdf(path, mode="a", engine=engine)
    check(path, values)
    with xarray.open_dataset(path, engine=engine) as dataset:
        changed = dataset.load()
    changed["t"].values[3] = values[3] = field(1)[3].astype(dtype)
    changed.drop_vars("u").to_netcdf(path, mode="a", engine=engine)
    check(path, values)


def append(path, library, more):
    if library == "netCDF4":
        with netCDF4.Dataset(path, "a") as file:
            file["t"][SHAPE[0]:] = np.ma.masked_invalid(more)
    else:
        with h5netcdf.File(path, "a") as file:
            file.resize_dimension("time", SHAPE[0] + len(more))
            fill = file["t"].attrs["_FillValue"]
            file["t"][SHAPE[0]:] = np.where(np.isnan(more), fill, more)


@pytest.mark.parametrize("library", ["h5netcdf", "netCDF4"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("fill", [9.969209968386869e36, -9999.9], ids=str)
def test_time_steps_are_appended(library, dtype, fill, tmp_path):
    path = tmp_path / "t.nc"
    values, more = field().astype(dtype), field(2)[:5].astype(dtype)
    write(path, values, dtype, fill)
    append(path, library, more)
    check(path, np.concatenate([values, more]).astype("f8"))
