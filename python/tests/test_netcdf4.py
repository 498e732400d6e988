# SPDX-License-Identifier: BSD-3-Clause
"""h5twin.netcdf4.define(): what netCDF4-python writes through it is within the bound, for every filter and type."""

import h5py
import numpy as np
import pytest

import h5twin
import h5twin.netcdf4

netCDF4 = pytest.importorskip("netCDF4")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.nc"


def filters_of(path, name):
    with h5py.File(path) as file:
        plist = file[name].id.get_create_plist()
        return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]


def write(path, values, *arguments, **options):
    with netCDF4.Dataset(path, "w") as file:
        for axis, extent in enumerate(values.shape):
            file.createDimension(f"d{axis}", extent)
        variable = file.createVariable("t", values.dtype, [f"d{axis}" for axis in range(values.ndim)])
        h5twin.netcdf4.define(variable, *arguments, **options)
        variable[:] = values
    with netCDF4.Dataset(path) as file:
        return np.ma.getdata(file["t"][:])


@pytest.mark.parametrize("cls", h5twin.FILTERS.values(), ids=lambda cls: cls.name)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_every_filter_without_loss(cls, dtype, path):
    values = (np.indices((30, 40, 50)).sum(axis=0) * 0.7).astype(dtype)
    assert np.array_equal(write(path, values, cls()), values)
    assert filters_of(path, "t") == [cls().filter_id]


@pytest.mark.parametrize("filter", [h5twin.Lattice(abs=1e-3), "lattice:abs=1e-3", h5twin.Sleek(abs=1e-3)], ids=str)
def test_a_bound_is_kept_and_chunks_are_chosen(filter, path):
    values = np.sin(np.arange(2_000_000) / 500).reshape(100, 100, 200)
    back = write(path, values, filter, chunks="auto")
    assert 0 < abs(back - values).max() <= 1e-3
    with h5py.File(path) as file:
        assert file["t"].chunks == h5twin.chunks(values.shape, "f8")
        assert "sleek" in str(filter).lower() or file["t"].id.get_storage_size() < values.nbytes / 4
    write(path, values, filter, chunks=(50, 10, 200))
    with h5py.File(path) as file:
        assert file["t"].chunks == (50, 10, 200)


def test_variables_that_grow_in_groups_with_a_fill_value(path):
    with netCDF4.Dataset(path, "w") as file:
        group = file.createGroup("g")
        group.createDimension("time", None)
        group.createDimension("x", 500)
        variable = group.createVariable("t", "f4", ("time", "x"), fill_value=-9999, chunksizes=(4, 500))
        h5twin.netcdf4.define(variable, h5twin.Lattice(abs=0.01))
        for step in range(6):
            variable[step] = np.where(np.arange(500) % 7 == 0, -9999, step + np.arange(500) / 9)
    with netCDF4.Dataset(path) as file:
        back = file["g/t"][:]
        assert back.mask.sum() == 6 * 72
        assert abs(back - (np.arange(6)[:, None] + np.arange(500) / 9)).max() <= 0.0101
    assert filters_of(path, "g/t") == [h5twin.Lattice().filter_id]


def test_what_cannot_be_is_said(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 100)
        late, good = file.createVariable("late", "f4", ("x",)), file.createVariable("t", "f4", ("x",))
        late[:] = 1
        file.sync()
        with pytest.raises(h5twin.H5twinError, match="before anything is written"):
            h5twin.netcdf4.define(late, h5twin.Gfc())
        with pytest.raises(TypeError, match="not a filter of h5twin"):
            h5twin.netcdf4.define(file.createVariable("u", "f4", ("x",)), {"compression": 480})
        with pytest.raises(TypeError, match="createVariable"):
            h5twin.netcdf4.define(np.zeros(3), h5twin.Gfc())
        with pytest.raises(ValueError, match="extents"):
            h5twin.netcdf4.define(good, h5twin.Gfc(), chunks=(3, 4))
    with netCDF4.Dataset(path.with_name("classic.nc"), "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 100)
        with pytest.raises(h5twin.H5twinError, match="NETCDF4 format"):
            h5twin.netcdf4.define(file.createVariable("t", "f4", ("x",)), h5twin.Gfc())
