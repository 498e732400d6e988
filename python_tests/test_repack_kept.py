# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin repack`: what a bound must not touch, and what would not get smaller, is kept as it was stored."""

import os
import shutil

import h5py
import numpy as np
import pytest

from conftest import CODECS, FILTER_IDS, LOSSY_CODECS, run_tool, smooth
from test_repack import repack

pytestmark = pytest.mark.without_h5py

BOUND = "abs=1e-2"
HOURS = np.arange(4000) / 24.0  # days: 1e-2 of a day is 14 minutes


def stored(dataset):
    """All chunks as they lie in the file, with their places and filters."""
    dcpl = dataset.id.get_create_plist()
    filters = [dcpl.get_filter(i)[:3] for i in range(dcpl.get_nfilters())]
    if dataset.chunks is None:
        return filters, dataset[()].tobytes()
    infos = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]
    return filters, dataset.chunks, {info.chunk_offset: dataset.id.read_direct_chunk(info.chunk_offset)
                                     for info in infos}


def exact(source, out, *names):
    with h5py.File(source) as old, h5py.File(out) as new:
        for name in names:
            assert stored(new[name]) == stored(old[name]), name
            assert new[name].dtype == old[name].dtype


def coded(out, codec, *names):
    with h5py.File(out) as new:
        for name in names:
            assert new[name].id.get_create_plist().get_filter(0)[0] == FILTER_IDS[codec], name


def field():
    return (smooth((40, 50, 60), "<f4") * 10).astype("<f4")


# ---- coordinates ----

def plain_file(path):
    """What programs write without netCDF: scales of HDF5, or CF's attributes alone. Returns the coordinates."""
    names = ["time", "labelled", "since", "north", "axis", "lat2d", "lon2d", "time_bnds", "crs", "utm_x", "area",
             "ap", "b", "ps", "clim", "group/local", "outer", "named by the group", "half lat"]
    with h5py.File(path, "w") as file:
        for name in names:
            if name not in ("named by the group",):
                file.create_dataset(name, data=HOURS * 1.0, chunks=(1000,), compression="gzip" if name == "ps" else None)
        file["byname"] = HOURS
        file["time"].make_scale("time")
        t = file.create_dataset("t", data=field())
        t.dims[0].label = "labelled"
        t.attrs["coordinates"] = np.bytes_(b"lat2d lon2d no_such")
        t.attrs["grid_mapping"] = "crs: utm_x"
        t.attrs["cell_measures"] = "area: area"
        file["since"].attrs["units"] = "days since 1970-01-01"
        file["north"].attrs["units"] = np.bytes_(b"degrees_north   ")
        file["axis"].attrs["axis"] = "Z"
        file["time"].attrs["bounds"] = "time_bnds"
        file["axis"].attrs["formula_terms"] = "a: ap b: b ps: ps"
        file["half lat"].attrs["_CoordinateAxisType"] = "Lat"
        file["time"].attrs["climatology"] = "/clim"
        inner = file.create_dataset("group/deep/t", data=field())
        inner.attrs["coordinates"] = "local outer"
        file["group"].attrs["coordinates"] = np.array(["byname"], h5py.string_dtype())
        file["d/again"] = file["time"]
        # Data: the words of an attribute that names no variables, and of ancillary ones.
        file["error"] = field()
        t.attrs["ancillary_variables"] = "error"
        t.attrs["comment"] = "crs error"
        file["error"].attrs["coordinates"] = 5
        file["error"].attrs["units"] = "m"
    names.remove("named by the group")
    return names + ["byname", "d/again"]


@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_a_bound_is_not_for_coordinates(codec, tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    names = plain_file(source)
    table = repack("--codec", f"{codec}:{BOUND}", source, out)
    exact(source, out, *names)
    coded(out, codec, "t", "group/deep/t", "error")
    assert table.count("a coordinate, exact unless --only names it") == len(names) - 1  # one has two names
    # Wildcards name nothing, not even *.
    repack("--codec", f"{codec}:{BOUND}", "--only", "*", "--only", "/group/*", "--force", source, out)
    exact(source, out, *names)
    # A name does.
    repack("--codec", f"{codec}:{BOUND}", "--only", "time", "--only", "/ap", "--only", "l*", "--force", source, out)
    coded(out, codec, "time", "ap", "d/again")
    exact(source, out, *[name for name in names if name not in ("time", "ap", "d/again")])


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec not in LOSSY_CODECS] + ["lattice"])
def test_without_a_bound_coordinates_get_the_codec(codec, tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:
        file["time"] = HOURS * 0 + 3
        file["time"].make_scale("time")
    repack("--codec", codec, source, out)
    coded(out, codec, "time")


CDL = """netcdf t {
dimensions: time = UNLIMITED; lat = 300; lon = 4; nv = 2; z = 300;
variables:
  double time(time); time:units = "days since 2000-1-1"; time:bounds = "time_bnds";
  double time_bnds(time, nv);
  float lat(lat); lat:units = "degrees_north";
  float z(z);
  double area(lat);
  double crs;
  float t(time, lat, lon); t:cell_measures = "area: area"; t:grid_mapping = "crs";
data:
}
"""


@pytest.mark.skipif(shutil.which("ncgen") is None, reason="no ncgen here")
def test_coordinates_of_a_netcdf_file_are_exact(tmp_path):
    source, out = tmp_path / "in.nc", tmp_path / "out.nc"
    (tmp_path / "t.cdl").write_text(CDL)
    run_tool("ncgen", "-k", "nc4", "-o", source, tmp_path / "t.cdl")
    rng = np.random.default_rng(5)
    with h5py.File(source, "r+") as file:  # each has values that the bound would move
        file["time"].resize((300,))
        file["time_bnds"].resize((300, 2))
        file["t"].resize((300, 300, 4))
        for name in ("time", "time_bnds", "lat", "z", "area", "t"):
            file[name][...] = np.cumsum(rng.normal(size=file[name].shape), axis=0) / 7
    repack("--codec", f"lattice:{BOUND}", source, out)
    exact(source, out, "time", "time_bnds", "lat", "z", "area", "crs")
    coded(out, "lattice", "t")


def test_coordinates_of_xarray_are_exact(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    source, out = tmp_path / "in.nc", tmp_path / "out.nc"
    rng = np.random.default_rng(6)
    lat2d, height = rng.normal(size=(40, 50)), rng.normal(size=3000)
    data = xarray.Dataset({"t": (("time", "y", "x"), rng.normal(size=(300, 40, 50)))},
                          {"time": np.arange(300) / 24.0, "lat2d": (("y", "x"), lat2d), "height": ("station", height)})
    data.to_netcdf(source, engine="netcdf4")
    repack("--codec", f"lattice:{BOUND}", source, out)
    exact(source, out, "time", "lat2d", "height")
    coded(out, "lattice", "t")


# ---- what would not get smaller ----

def masks(path):
    rng = np.random.default_rng(7)
    mask = np.zeros((600, 700), "<f4")
    mask[:300] = 1
    with h5py.File(path, "w") as file:
        file.create_dataset("mask", data=mask, chunks=(100, 100), compression="gzip", maxshape=(None, 700))
        file.create_dataset("both", data=rng.integers(0, 3, (500, 800)).astype("<f8"), chunks=(50, 800),
                            compression="gzip", shuffle=True)
        file.create_dataset("noise", data=np.frombuffer(rng.bytes(400000), "<f4").reshape(100, 1000))
        file.create_dataset("chunked noise", data=np.frombuffer(rng.bytes(80000), "<f4"), chunks=(5000,))
        file.create_dataset("smooth", data=field())
        file["mask"].attrs["units"] = "1"
    return path


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("more", [(), ("--chunks", "auto"), ("--then", "deflate=1")])
def test_nothing_gets_larger(codec, more, tmp_path):
    source, out = masks(tmp_path / "in.h5"), tmp_path / "out.h5"
    table = repack("--codec", codec, *more, source, out)
    with h5py.File(source) as old, h5py.File(out) as new:
        for name in old:
            before, after = old[name], new[name]
            assert after.id.get_storage_size() <= before.id.get_storage_size(), name
            assert after[()].tobytes() == before[()].tobytes() and dict(after.attrs) == dict(before.attrs)
            row = next(line for line in table.splitlines() if f" /{name}: " in line)
            kept = stored(after) == stored(before)
            assert ("kept" in row) == kept, row
            assert kept == (after.id.get_storage_size() == before.id.get_storage_size())
            assert after.maxshape == before.maxshape
    # The room of what was tried is used again.
    assert os.path.getsize(out) <= os.path.getsize(source) + 20000


def test_the_table_tells_what_it_would_have_been(tmp_path):
    source, out = masks(tmp_path / "in.h5"), tmp_path / "out.h5"
    table = repack("--codec", "gfc", source, out)
    assert "/mask: as it is: kept gzip: would be " in table and " times as large" in table
    assert "/both: as it is: kept shuffle, gzip: would be " in table
    assert "/noise: as it is: kept without a filter: would be 1.00" in table
    with h5py.File(source) as old:
        size = old["mask"].id.get_storage_size()
    row = next(line for line in table.splitlines() if " /mask: " in line)
    assert row.split()[0] == str(size)
    factor = float(row.split("would be ")[1].split()[0])
    with h5py.File(tmp_path / "plain.h5", "w") as plain, h5py.File(source) as old:
        plain.create_dataset("mask", data=old["mask"][()], chunks=(100, 100))
    repack("--codec", "gfc", tmp_path / "plain.h5", tmp_path / "coded.h5")
    with h5py.File(tmp_path / "coded.h5") as file:
        assert abs(file["mask"].id.get_storage_size() / size - factor) < 0.01


def test_repacking_again_keeps_each_chunk(tmp_path):
    source, out, again = masks(tmp_path / "in.h5"), tmp_path / "out.h5", tmp_path / "again.h5"
    repack("--codec", "cascade", source, out)
    table = repack("--codec", "cascade", out, again)
    exact(out, again, "mask", "both", "noise", "chunked noise", "smooth")
    assert "/smooth: as it is: kept cascade: would be as large" in table
