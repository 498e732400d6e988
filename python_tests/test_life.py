# SPDX-License-Identifier: BSD-3-Clause
"""The life of a dataset: created, closed, opened again, extended, changed, rewritten, repacked, copied.

After each step values are within their bound, and the fill value and what is not finite are there bit
for bit. The data lie between -1/2 and 1/2, and all pieces of them that make a chunk have both, so that
a range-relative bound is the same as an absolute one, at every step.
"""

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

from conftest import FILTER_IDS, PLUGINS, absolute, relative, run_tool

BOUND = 1e-3
COLUMNS = 80
CHUNK = (8, 64)

MODES = {
    **{name: (name, ()) for name in FILTER_IDS},
    "abs": ("sleek", absolute(BOUND)), "noa": ("sleek", relative(BOUND)),
}
PAIR = np.dtype([("a", "<f8"), ("b", "<f8")])
TYPES = [np.dtype(name) for name in ("<f4", "<f8", ">f4", ">f8", "<i4", "<c8")] + [PAIR]
# The value that marks what is missing, and whether HDF5 may write it by itself.
FILLS = {"default": (None, True), "zero": (0, True), "nan": (np.nan, True), "mark": (-9999.9, True),
         "1e20": (1e20, True), "1e35": (1e35, True), "never": (-9999.9, False)}
# Formats of files; h5repack may be that of HDF5 1.10.
LIBVERS = {"earliest": "earliest", "v110": ("v110", "v110")}


def part_type(dtype):
    """Of the numbers that an element consists of."""
    return {"<c8": np.dtype("<f4"), PAIR.str: np.dtype("<f8")}.get(dtype.str, dtype)


def parts(data):
    """The numbers of an array, and their bits."""
    numbers = np.frombuffer(data.tobytes(), part_type(data.dtype))
    return numbers, numbers.view(f"u{numbers.itemsize}")


def of_parts(numbers, shape, dtype):
    return np.frombuffer(numbers.astype(part_type(dtype)).tobytes(), dtype).reshape(shape).copy()


def fill_of(fill, dtype):
    """As an array of one element; None where the dataset has none of its own."""
    value = FILLS[fill][0]
    if value is None or dtype.kind == "i" and not abs(value) < 1e9:
        return None
    with np.errstate(over="ignore"):
        return of_parts(np.full(dtype.itemsize // part_type(dtype).itemsize, value), (1,), dtype)


def field(rows, dtype, fill, seed):
    """A smooth field, but for both ends of its range in each row of a chunk, and few fill values, NaN
    and infinities: what does not shrink is stored as it is."""
    rng = np.random.default_rng(seed)
    count = dtype.itemsize // part_type(dtype).itemsize
    at = np.indices((rows, COLUMNS, count)).sum(axis=0) + rng.random()
    numbers = 0.49 * np.sin(0.1 * at) + 1e-3 * rng.random(at.shape)
    numbers[:, (0, 64)] = -0.5
    numbers[:, (1, 65)] = 0.5
    if dtype.kind == "i":
        numbers *= 1000
    else:
        numbers[::7, 5] = np.nan
        numbers[1::7, 6] = np.inf
        numbers[2::7, 7] = -np.inf
    data = of_parts(numbers, (rows, COLUMNS), dtype)
    mark = fill_of(fill, dtype)
    if mark is not None:
        data[::3, (3, 66)] = mark
        data[2, 8:20] = mark
    return data


def on_grid(numbers):
    """Which are rounded to the step that the bound gives, twice the power of two below it. In chunks
    that do not shrink, or whose fill values need a finer step, others remain: these may be rounded
    once more in other chunks."""
    with np.errstate(invalid="ignore"):
        return ~np.isfinite(numbers) | (np.fmod(numbers, 2.0**-9) == 0)


class Dataset:
    """What a dataset should hold, and what it did hold when it was looked at last."""

    def __init__(self, dtype, fill):
        self.dtype, self.fill = dtype, fill
        self.name = dtype.str.strip("<|") if dtype != PAIR else "pair"
        self.wanted = field(21, dtype, fill, 1)
        self.seen = None  # at the last look

    def create(self, file, mode):
        codec, cd_values = MODES[mode]
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(CHUNK)
        mark = fill_of(self.fill, self.dtype)
        if mark is not None:
            dcpl.set_fill_value(mark.reshape(()))
        if not FILLS[self.fill][1]:
            dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        dcpl.set_filter(FILTER_IDS[codec], 0, cd_values)
        self.create_as(file, dcpl)[()] = self.wanted

    def create_as(self, file, dcpl):
        space = h5py.h5s.create_simple(self.wanted.shape, (h5py.h5s.UNLIMITED, COLUMNS))
        kind = h5py.h5t.py_create(self.dtype, logical=True)
        return h5py.Dataset(h5py.h5d.create(file.id, self.name.encode(), kind, space, dcpl))

    def append(self, file):
        data = file[self.name]
        old, more = len(self.wanted), field(9, self.dtype, self.fill, 2)
        data.resize((old + 9, COLUMNS))
        if FILLS[self.fill][1]:
            mark = fill_of(self.fill, self.dtype)
            empty = np.zeros(1, self.dtype) if mark is None else mark
            assert data[old:].tobytes() == empty.tobytes() * (9 * COLUMNS), "not the fill value"
        data[old:] = more
        self.wanted = np.concatenate([self.wanted, more]).astype(self.dtype)

    def change_a_part(self, file):
        self.wanted[3:19, 2:24] = field(16, self.dtype, self.fill, 3)[:, 2:24]
        file[self.name][3:19, 2:24] = self.wanted[3:19, 2:24]

    def write_what_was_read(self, file):
        file[self.name][()] = file[self.name][()]

    def check(self, file, mode, unchanged):
        found = file[self.name][()]
        assert found.dtype == self.dtype
        (a, a_bits), (b, b_bits) = parts(self.wanted), parts(found)
        exact = ~np.isfinite(a)
        mark = fill_of(self.fill, self.dtype)
        if mark is not None:
            exact |= a_bits == parts(mark)[1][0]
        if mode not in ("abs", "noa") or self.dtype.kind == "i":
            exact[:] = True
        assert np.array_equal(a_bits[exact], b_bits[exact]), "exact values differ"
        error = np.abs(a[~exact].astype("f8") - b[~exact].astype("f8"))
        assert (error <= BOUND).all(), f"{error.max()} is more than the bound"
        assert exact.all() or (error > 0).any(), "nothing was rounded, so the bound was not tried"
        if unchanged:
            seen, seen_bits = parts(self.seen)
            kept = on_grid(seen) if unchanged == "on the grid" else np.ones(seen.shape, bool)
            assert np.array_equal(seen_bits[kept], b_bits[kept]), "values changed"
        if file[self.name].chunks == CHUNK:
            self.seen = found


def check_all(path, datasets, mode, step, unchanged=None):
    failures = []
    with h5py.File(path) as file:
        for dataset in datasets:
            try:
                dataset.check(file, mode, unchanged)
            except AssertionError as error:
                failures.append(f"{dataset.name} after {step}: {str(error).splitlines()[0]}")
    assert not failures, failures


def act(path, datasets, step, libver):
    with h5py.File(path, "a", libver=libver) as file:
        for dataset in datasets:
            getattr(dataset, step)(file)


@pytest.mark.parametrize("libver", LIBVERS.values(), ids=LIBVERS)
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("mode", MODES)
def test_life(mode, fill, libver, path, tmp_path):
    datasets = [Dataset(dtype, fill) for dtype in TYPES]
    with h5py.File(path, "w", libver=libver) as file:
        for dataset in datasets:
            dataset.create(file, mode)
    check_all(path, datasets, mode, "create")
    for step in "append", "change_a_part":
        act(path, datasets, step, libver)
        check_all(path, datasets, mode, step)
    act(path, datasets, "write_what_was_read", libver)
    check_all(path, datasets, mode, "write_what_was_read", unchanged="all")

    copy = tmp_path / "copy.h5"
    with h5py.File(path) as old, h5py.File(copy, "w", libver=libver) as new:
        for dataset in datasets:
            dcpl = old[dataset.name].id.get_create_plist()
            dataset.create_as(new, dcpl)[()] = old[dataset.name][()]
    check_all(copy, datasets, mode, "a copy with the property list", unchanged="all")

    again, other = tmp_path / "again.h5", tmp_path / "other.h5"
    if mode in ("abs", "noa"):  # the others: test_tools.py
        run_tool("h5repack", path, again)
        check_all(again, datasets, mode, "h5repack", unchanged="all")
    run_tool("h5repack", "-l", "CHUNK=5x7", path, other)
    check_all(other, datasets, mode, "h5repack to other chunks", unchanged="on the grid")
    act(other, datasets, "append", libver)
    check_all(other, datasets, mode, "an append to other chunks")


@pytest.mark.parametrize("kind", ["<c8", PAIR], ids=str)
def test_fill_value_of_unequal_parts_is_refused_with_a_range_relative_bound(kind, path):
    """By set_local: can_apply must not look."""
    kind = np.dtype(kind)
    with h5py.File(path, "w") as file:
        with pytest.raises((ValueError, RuntimeError), match="members of the fill value differ"):
            file.create_dataset("x", (8,), kind, chunks=(4,), compression=480,
                                compression_opts=relative(BOUND),
                                fillvalue=of_parts(np.array([1.0, 2.0]), (1,), kind)[0])
        assert "x" not in file


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
