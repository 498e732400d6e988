# SPDX-License-Identifier: BSD-3-Clause
"""works.py [--write]: try reading and writing through each tool, and print the table of docs/pages/works.md.

With --write the table in that page is replaced. With H5TWIN_TEST_LONG=1 several h5py from the package index are
tried as well; otherwise their rows stay as they are. A tool that is not here keeps its row."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/pages/works.md"
BUILD = pathlib.Path(os.environ.get("H5TWIN_BUILD", ROOT / "build-gcc")).resolve()
START, END = "<!-- table: works -->", "<!-- end -->"
DEBIAN_PYTHON = "/usr/bin/python3"
NO_WRITER = "-"
H5PY_VERSIONS = ("3.8.0", "3.10.0", "3.12.1", "3.14.0")  # with wheels for Python 3.11; HDF5 1.12 and 1.14
LATTICE_1E3 = "1,3539053052,1062232653"


class NotHere(Exception):
    """The tool is not installed."""


def run(*command, **more):
    """Output of a command; NotHere if there is none of this name, CalledProcessError if it fails."""
    try:
        return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, **more).stdout
    except FileNotFoundError:
        raise NotHere(command[0]) from None


def failure(action):
    """What a tool said as it failed, or None."""
    try:
        action()
    except subprocess.CalledProcessError as error:
        return error.output or "failed"
    return None


def python(code, *arguments, interpreter=sys.executable, path=None):
    """Run code in a process of its own, with the plugins on the path of HDF5."""
    more = {"PYTHONPATH": str(path)} if path else {}
    return run(interpreter, "-c", code, *arguments, env={**os.environ, **more})


# ---- the files, and what they must read as ----

MAKE = """
import h5py, numpy as np, sys
data = np.sin(np.arange(60000) * 0.001).astype("f4").reshape(200, 300)
with h5py.File(sys.argv[1], "w") as file:
    for name, number, words in (("exact", 483, ()), ("lossy", 486, (%s))):
        file.create_dataset(name, data=data, chunks=(100, 300), compression=number, compression_opts=words)
    file["plain"] = data
""" % LATTICE_1E3
CHECK = """
import h5py, numpy as np, sys
data = np.sin(np.arange(60000) * 0.001).astype("f4").reshape(200, 300)
with h5py.File(sys.argv[1]) as file:
    assert (file["exact"][()] == data).all()
    assert 0 < abs(file["lossy"][()].astype("f8") - data).max() <= 1e-3
"""
VERSION = "import {0}; print({0}.__version__)"
HAS_FILTER = """
import h5py, sys
with h5py.File(sys.argv[1]) as file:
    assert file[sys.argv[2]].id.get_create_plist().get_filter(0)[0] in (483, 486)
"""


def h5py_row(path, interpreter=sys.executable, target=None):
    version = python("import h5py; print(h5py.__version__, 'with HDF5', h5py.version.hdf5_version)",
                     interpreter=interpreter, path=target).strip()
    new = path.with_name("h5py.h5")
    return version, failure(lambda: python(CHECK, path, interpreter=interpreter, path=target)), failure(
        lambda: (python(MAKE, new, interpreter=interpreter, path=target), python(CHECK, new)))


def row_h5py(path):
    return h5py_row(path)


def row_h5py_debian(path):
    if failure(lambda: run(DEBIAN_PYTHON, "-c", "import h5py")):
        raise NotHere
    return h5py_row(path, DEBIAN_PYTHON)


def older_h5py(version):
    def row(path):
        if not os.environ.get("H5TWIN_TEST_LONG"):
            raise NotHere
        target = ROOT / ".venv-h5py" / version
        if not (target / "h5py").exists():
            run(sys.executable, "-m", "pip", "install", "-q", "--only-binary=:all:", "--target", target,
                f"h5py=={version}", "numpy<2")
        return h5py_row(path, target=target)
    return row


def package_row(module, read, write):
    """A row of a Python package: its version, and code that must not fail."""
    def row(path):
        try:
            version = python(VERSION.format(module)).strip()
        except subprocess.CalledProcessError:
            raise NotHere(module) from None
        new = path.with_name(f"{module}.h5")
        return (version, failure(lambda: python(DATA + read, path, new)),
                failure(lambda: python(DATA + write, path, new)))
    return row


DATA = """
import h5py, h5twin, numpy as np, sys
path, new = sys.argv[1:]
data = np.sin(np.arange(60000) * 0.001).astype("f4").reshape(200, 300)
def check(exact, lossy):
    assert (np.asarray(exact) == data).all() and h5twin.verify(data, np.asarray(lossy), abs=1e-3)
"""
NETCDF4 = ("import netCDF4\nwith netCDF4.Dataset(path) as file: check(file['exact'][:], file['lossy'][:])",
           """import netCDF4
with netCDF4.Dataset(new, "w") as file:
    file.createDimension("y", 200), file.createDimension("x", 300)
    file.createVariable("exact", "f4", ("y", "x"), compression=483)[:] = data
with h5py.File(new) as file:
    assert file["exact"].id.get_create_plist().get_filter(0)[0] == 483""")
XARRAY_READ = """import xarray
with xarray.open_dataset(path, engine="{0}", **{1}) as file: check(file["exact"], file["lossy"])"""
XARRAY_WRITE = """import xarray
xarray.Dataset({{"exact": (("y", "x"), data), "lossy": (("y", "x"), data)}}).to_netcdf(new, engine="{0}", encoding={{
    "exact": {{"chunksizes": (100, 300), **h5twin.Ndzip()}},
    "lossy": {{"chunksizes": (100, 300), **h5twin.Lattice(abs=1e-3)}}}})
with h5py.File(new) as file:
    assert file["exact"].id.get_create_plist().get_filter(0)[0] == 483
    check(file["exact"], file["lossy"])"""
TABLES = ("import tables\nwith tables.open_file(path) as file: check(file.root.exact[:], file.root.lossy[:])",
          """import tables
with tables.open_file(new, "w") as file:
    file.create_carray("/", "exact", obj=data, filters=tables.Filters(complevel=1, complib="h5twin-ndzip"))""")
DASK = ("""import dask.array
with h5py.File(path) as file:
    check(*(dask.array.from_array(file[name], chunks=(100, 300)).compute() for name in ("exact", "lossy")))""",
        """import dask.array
array = dask.array.from_array(data, chunks=(100, 300))
dask.array.to_hdf5(new, {"/exact": array}, **h5twin.Ndzip())
dask.array.to_hdf5(new, {"/lossy": array}, **h5twin.Lattice(abs=1e-3))
with h5py.File(new) as file: check(file["exact"], file["lossy"])""")
PANDAS = ("import pandas\npandas.read_hdf(path, 'exact')",
          """import pandas
pandas.DataFrame(data).to_hdf(new, key="exact", complib="h5twin-ndzip", complevel=1)""")
ZARR_MAKE = """import zarr, h5twin.codecs, h5twin.zarr
for name, spec in (("exact", "ndzip"), ("lossy", "lattice:abs=1e-3")):
    zarr.create_array(new + name, shape=data.shape, chunks=(100, 300), dtype="f4", {})[:] = data
"""
ZARR_CHECK = "check(zarr.open(new + 'exact', mode='r')[:], zarr.open(new + 'lossy', mode='r')[:])"


def zarr_programs(options):
    make = ZARR_MAKE.format(options)
    return make + ZARR_CHECK, make.replace("new +", "new + 'w' +")


ZARR2 = zarr_programs("zarr_format=2, compressors=h5twin.codecs.H5twin(spec)")
ZARR3 = zarr_programs("zarr_format=3, compressors=None, serializer=h5twin.zarr.H5twin(spec)")


def row_h5dump(path):
    version = run("h5dump", "--version").split()[-1]
    return version, failure(lambda: run("h5dump", path)), NO_WRITER


def row_h5repack(path):
    new = path.with_name("repack.h5")

    def write():
        run("h5repack", "-f", f"plain:UD=486,0,3,{LATTICE_1E3}", "-l", "plain:CHUNK=100x300", path, new)
        python(HAS_FILTER, new, "plain")
    return run("h5repack", "--version").split()[-1], failure(lambda: run("h5repack", "-f", "NONE", path, new)), failure(write)


def netcdf_file(path):
    new = path.with_name("plain.nc")
    (path.with_name("plain.cdl")).write_text("netcdf plain { dimensions: x = 2000; variables: float v(x); data: v = "
                                             + ", ".join(str(number / 8) for number in range(2000)) + "; }")
    run("ncgen", "-4", "-o", new, path.with_name("plain.cdl"))
    return new


def row_nccopy(path):
    plain = netcdf_file(path)
    new, back = path.with_name("copy.nc"), path.with_name("back.nc")

    def write():
        run("nccopy", "-F", "v,486,1,1e-3d", plain, new)
        python(HAS_FILTER, new, "v")
    refused = failure(write)
    usage = subprocess.run(["ncdump"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    version = re.search(r"library version ([\d.]+)", usage)
    return version[1] if version else "", refused or failure(lambda: run("nccopy", "-F", "none", new, back)), refused


def row_nco(path):
    new, cut = path.with_name("nco.nc"), path.with_name("cut.nc")
    run("ncks", "--version")
    run("nccopy", "-F", "v,486,1,1e-3d", netcdf_file(path), new)
    version = re.search(r"version (\d[\d.]+)", run("ncks", "--version"))

    def write():  # a hyperslab of the variable, through the filter again
        run("ncks", "-O", "-d", "x,0,999", new, cut)
        python(HAS_FILTER, cut, "v")
    return version[1] if version else "", failure(lambda: run("ncks", "-C", "-v", "v", new)), failure(write)


ROWS = {
    "h5py": (row_h5py, "`**h5twin.Lattice(abs=1e-3)`"),
    "h5py of Debian": (row_h5py_debian, "`HDF5_PLUGIN_PATH`, words of `h5twin args`"),
    **{f"h5py {version}": (older_h5py(version), "the same") for version in H5PY_VERSIONS},
    "netCDF4-python": (package_row("netCDF4", *NETCDF4), "`h5twin.netcdf4.define`, h5netcdf or `nccopy`"),
    "xarray, engine h5netcdf": (package_row("xarray", XARRAY_READ.format("h5netcdf", {"phony_dims": "sort"}),
                                            XARRAY_WRITE.format("h5netcdf")), "`encoding=`"),
    "xarray, engine netcdf4": (package_row("xarray", XARRAY_READ.format("netcdf4", {}), XARRAY_WRITE.format("netcdf4")),
                               "write with engine h5netcdf"),
    "PyTables": (package_row("tables", *TABLES), "write with h5py"),
    "pandas": (package_row("pandas", *PANDAS), "columns through h5py: [recipe](recipes/python.md)"),
    "dask": (package_row("dask", *DASK), "`dask.array.from_array`, `to_hdf5(..., **h5twin.Ndzip())`"),
    "zarr, format 2": (package_row("zarr", *ZARR2), "`h5twin.codecs.H5twin`"),
    "zarr, format 3": (package_row("zarr", *ZARR3), "`serializer=h5twin.zarr.H5twin(\"lattice:abs=1e-3\")`"),
    "h5dump": (row_h5dump, "`HDF5_PLUGIN_PATH`"),
    "h5repack": (row_h5repack, "`-f UD=486,0,3,...`"),
    "nccopy, ncdump": (row_nccopy, "`-F v,486,1,1e-3d`"),
    "NCO": (row_nco, "keeps the filter of what it copies"),
}


# What a tool says that cannot: anything else is a fault of ours, or news.
REFUSALS = {
    "netCDF4-python": r"Unsupported value for compression kwarg",
    "xarray, engine netcdf4": r"unexpected encoding parameters for 'netCDF4' backend",
    "PyTables": r"compression library .* is not supported",
    "pandas": r"complib only supports|cannot create a storer",
}


def stored():
    """The rows that the page has: name -> [version, read, write]."""
    table = PAGE.read_text().partition(START)[2].partition(END)[0] if PAGE.exists() else ""
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|"))
    return {row[0]: row[1:4] for row in cells if row[0] in ROWS}


def word(said):
    return {None: "yes", NO_WRITER: "-"}.get(said, "no")


def tried(name):
    """Version, and what the tool said as it failed to read and to write, or None; NotHere."""
    os.environ["HDF5_PLUGIN_PATH"] = str(BUILD / "plugins")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.h5"
        python(MAKE, path)
        return ROWS[name][0](path)


def table():
    old, lines = stored(), ["| tool | version | reads | writes | how |", "|---|---|---|---|---|"]
    for name, (_, how) in ROWS.items():
        try:
            version, *said = tried(name)
            cells = [version, *map(word, said)]
        except NotHere:
            cells = old.get(name)
        if cells:
            lines.append(f"| {name} | {' | '.join(cells)} | {how} |")
    return "\n".join(lines) + "\n"


def main():
    text = table()
    print(text, end="")
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text().partition(START)
        PAGE.write_text(f"{before}{START}\n\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
