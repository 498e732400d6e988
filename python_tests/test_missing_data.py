# SPDX-License-Identifier: BSD-3-Clause
"""Fill values survive a lossy filter bit for bit, are no part of a range, and rewriting keeps it so."""

from fractions import Fraction

import h5py
import numpy as np
import pytest

from conftest import COMMAND, FILTER_IDS, FIRST, LOSSY_CODECS, absolute, bound_words, create, filter_of, relative, run_tool, same_bits

MODES = {"abs": absolute(1e-3), "noa": relative(1e-3)}
FILLS = [-9999.9, -9999, 9.969209968386869e36, 1e35, 1e-3, -1e-40, 0.1]


@pytest.fixture(params=LOSSY_CODECS)
def codec(request):
    return request.param


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def named(cd_values, fill):
    """The user's form with a fill value: no options, then a double."""
    return (*cd_values, 0, 0, *bound_words(fill))


def ocean(dtype, mark, shape=(60, 50), seed=1):
    """Values in [0, 1], a third of them missing; the rest are no marks."""
    rng = np.random.default_rng(seed)
    data = rng.random(shape).astype(dtype)
    mark = np.asarray(mark, dtype)
    data[data == mark] = 0.5
    data[rng.random(shape) < 1 / 3] = mark
    return data


def largest_error(data, back, mark):
    """Of the values that are no marks, as a fraction; the marks must be the same bits."""
    missing = data == np.asarray(mark, data.dtype)
    assert data[missing].tobytes() == back[missing].tobytes()
    a, b = data[~missing].astype("f8"), back[~missing].astype("f8")
    return max((abs(Fraction(x) - Fraction(y)) for x, y in zip(a[a != b].tolist(), b[a != b].tolist())),
               default=Fraction(0))


def read(path):
    with h5py.File(path) as file:
        return file["x"][()]


def check_life(data, mark, codec, cd_values, path, tmp_path, chunks=(16, 16), **more):
    """Write, write again by h5repack and through a copied property list: marks and bound hold, and after
    the first time nothing changes. The bound is 1e-3, and the range at most 1."""
    with h5py.File(path, "w") as file:
        create(file, "x", data, codec, cd_values, chunks=chunks, **more)
    once = read(path)
    assert largest_error(data, once, mark) <= Fraction(1e-3)
    run_tool("h5repack", "-l", f"x:CHUNK={chunks[0]}x{chunks[1]}", path, tmp_path / "again.h5")
    assert same_bits(read(tmp_path / "again.h5"), once)
    with h5py.File(path) as file, h5py.File(tmp_path / "copy.h5", "w") as copy:
        old = file["x"]
        new = h5py.Dataset(h5py.h5d.create(copy.id, b"x", old.id.get_type(), old.id.get_space(),
                                           old.id.get_create_plist()))
        assert filter_of(new)[2] == filter_of(old)[2]
        new[...] = once
    assert same_bits(read(tmp_path / "copy.h5"), once)
    return once


@pytest.mark.parametrize("fill", FILLS)
def test_the_fill_value_is_exact_before_and_after_rewriting(codec, dtype, mode, fill, path, tmp_path):
    data = ocean(dtype, fill)
    check_life(data, fill, codec, MODES[mode], path, tmp_path, fillvalue=np.asarray(fill, dtype))


@pytest.mark.parametrize("fill", [-9999.9, 1e35, 0.25])
def test_a_named_fill_value_is_exact_though_the_dataset_has_none(codec, dtype, mode, fill, path, tmp_path):
    """The file pads with zeros, which count for no range either: all data lie in [1000, 1001]."""
    data = ocean(dtype, fill)
    data[data != np.asarray(fill, dtype)] += np.asarray(1000, dtype)
    once = check_life(data, fill, codec, named(MODES[mode], fill), path, tmp_path,
                      chunks=(32, 32))
    assert not same_bits(once, data)


def test_a_named_fill_value_is_exact_beside_that_of_the_dataset(codec, dtype, path):
    data = ocean(dtype, 0.1)
    with h5py.File(path, "w") as file:
        create(file, "x", data, codec, named(absolute(1e-3), 0.1), chunks=(16, 16), fillvalue=0.3)
    assert largest_error(data, read(path), 0.1) <= Fraction(1e-3)


def test_the_default_fill_value_marks_nothing(codec, dtype, path):
    """But for zeros, which are exact anyway: words and grid are as if there were no fill value."""
    data = ocean(dtype, 0.25)
    with h5py.File(path, "w") as file:
        words = filter_of(create(file, "x", data, codec, absolute(0.125), chunks=(16, 16)))[2]
        assert len(words) == 10 and words[7] == FIRST | 2
    back = read(path)
    assert np.abs(back.astype("f8") - data.astype("f8")).max() <= 0.125
    if codec == "sleek":
        assert set(np.unique(back).tolist()) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_marks_that_nobody_declared_do_not_ruin_the_data(codec, dtype, path, tmp_path):
    data = ocean(dtype, 1e35, (64, 48))
    once = check_life(data, 1e35, codec, relative(1e-3), path, tmp_path, chunks=data.shape)
    assert not same_bits(once, data)


def test_an_opened_dataset_keeps_its_marks(codec, dtype, mode, path):
    data = ocean(dtype, -9999.9)
    with h5py.File(path, "w") as file:
        create(file, "x", data[:30], codec, MODES[mode], chunks=(16, 16), maxshape=(None, 50),
               fillvalue=np.asarray(-9999.9, dtype))
    with h5py.File(path, "r+") as file:
        file["x"].resize(data.shape)
        file["x"][30:] = data[30:]
    assert largest_error(data, read(path), -9999.9) <= Fraction(2e-3)  # rows 16 to 31: coded twice


# ---- a named fill value and a declared one ----

DECLARED = [None, 1e20, 400.0, float("nan"), 0.0, -9999.0]
NAMED = [None, -9999.0, -9999.9, 1e20, float("nan")]
SHAPE, CHUNKS = (60, 70), (16, 16)  # chunks end beyond the dataset
WRITTEN = (slice(3, 40), slice(5, 50))  # some chunks are never written, others in part
BOUNDED = [(codec, mode) for codec in LOSSY_CODECS for mode in ("abs", "noa", "rel") if (codec, mode) != ("sleek", "rel")]
BOUND = {"abs": 0.5, "noa": 1e-2, "rel": 1e-3}
MODE_NUMBERS = {"abs": 1, "noa": 2, "rel": 3}


def two_fills(dtype, declared, named):
    """What is in a file: a smooth field that has both marks, and what nobody wrote."""
    real = np.float32 if dtype.itemsize == 4 else np.float64
    rows, columns = np.indices(SHAPE)
    field = 278 + 5 * np.sin(rows * 0.1) + 3 * np.cos(columns * 0.07)
    rng = np.random.default_rng(1)
    data = np.full(SHAPE, 0 if declared is None else declared, real)
    written = field.astype(real)
    for mark in (declared, named):
        if mark is not None:
            written[rng.random(SHAPE) < 0.1] = mark
    data[WRITTEN] = written[WRITTEN]
    return data.astype(dtype)


def wrong_values(data, back, mode, declared, named):
    """How many values break the promise: marks and padding are the same bits, and others within the bound, for
    which only real data count."""
    marks = [np.asarray(mark, data.dtype) for mark in (declared, named) if mark is not None and np.isfinite(mark)]
    kept = ~np.isfinite(data) | np.isin(data, marks)
    counts = ~kept & ((data != 0) | (mode != "noa") | (declared is not None))  # zeros of HDF5's own do not
    word = f"u{data.dtype.itemsize}"
    wrong = (data.view(word) != back.view(word)) & kept
    x, y = data.astype("f8"), back.astype("f8")
    for row in range(0, SHAPE[0], CHUNKS[0]):
        for column in range(0, SHAPE[1], CHUNKS[1]):
            at = (slice(row, row + CHUNKS[0]), slice(column, column + CHUNKS[1]))
            a, b = x[at][~kept[at]], y[at][~kept[at]]
            if a.size:
                real = x[at][counts[at]] if counts[at].any() else np.zeros(1)
                limit = {"abs": 1.0, "noa": real.max() - real.min(), "rel": np.abs(a)}[mode] * BOUND[mode]
                wrong[at][~kept[at]] = ~(np.abs(a - b) <= limit * (1 + 1e-9))
    return int(wrong.sum())


def two_fills_file(path, dtype, named, **more):
    """A dataset for each declared value, written in part; {name: (data, declared)}."""
    made = {}
    with h5py.File(path, "w") as file:
        for declared in DECLARED:
            data, name = two_fills(dtype, declared, named), f"declared {declared}"
            fill = {} if declared is None else {"fillvalue": np.asarray(declared, dtype)}
            file.create_dataset(name, SHAPE, dtype, chunks=CHUNKS, **fill, **more)[WRITTEN] = data[WRITTEN]
            made[name] = data, declared
    return made


def judge(path, made, mode, named, what):
    """The cases that break the promise, in words."""
    with h5py.File(path) as file:
        return [f"{what}, {name}, named {named}: {count} of {data.size} values"
                for name, (data, declared) in made.items()
                if (count := wrong_values(data, file[name][()], mode, declared, named))]


def user_words(mode, named):
    words = (MODE_NUMBERS[mode], *bound_words(BOUND[mode]))
    return words if named is None else (*words, 0, 0, *bound_words(named))


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f4"])
@pytest.mark.parametrize("codec, mode", BOUNDED)
def test_two_marks_are_exact_and_outside_every_range(codec, mode, dtype, tmp_path):
    """A named fill value, and another one that the dataset declares: through h5py, written again by h5repack, and
    from a file without a filter by both repacks."""
    dtype, wrong = np.dtype(dtype), []
    for named in NAMED:
        words = user_words(mode, named)
        made = two_fills_file(tmp_path / "h5py.h5", dtype, named, compression=FILTER_IDS[codec], compression_opts=words)
        wrong += judge(tmp_path / "h5py.h5", made, mode, named, "h5py")
        run_tool("h5repack", "-l", "CHUNK=16x16", tmp_path / "h5py.h5", tmp_path / "again.h5")
        with h5py.File(tmp_path / "h5py.h5") as once, h5py.File(tmp_path / "again.h5") as again:
            wrong += [f"h5repack changed {name}, named {named}" for name in made
                      if not same_bits(once[name][()], again[name][()])]
        two_fills_file(tmp_path / "plain.h5", dtype, named)
        ud = ",".join(map(str, (FILTER_IDS[codec], 0, len(words), *words)))
        run_tool("h5repack", "-f", f"UD={ud}", tmp_path / "plain.h5", tmp_path / "ud.h5")
        wrong += judge(tmp_path / "ud.h5", made, mode, named, "h5repack -f")
        spec = f"{codec}:{mode}={BOUND[mode]}" + ("" if named is None else f",fill={named}")
        run_tool(COMMAND, "repack", "--force", "--codec", spec, tmp_path / "plain.h5", tmp_path / "repacked.h5")
        wrong += judge(tmp_path / "repacked.h5", made, mode, named, "h5twin repack")
    assert not wrong, f"{len(wrong)} cases: " + "; ".join(wrong[:8])


def test_two_marks_where_hdf5_never_fills(codec, dtype, path):
    """H5D_FILL_TIME_NEVER: chunks are padded with zeros, though another value is declared."""
    data = two_fills(np.dtype(dtype), 400.0, -9999.0)[WRITTEN]
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk(CHUNKS)
        plist.set_fill_value(np.asarray(400.0, dtype))
        plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        plist.set_filter(FILTER_IDS[codec], 0, user_words("noa", -9999.0))
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.py_create(np.dtype(dtype)), h5py.h5s.create_simple(data.shape), plist)
        h5py.Dataset(made)[...] = data
        assert len(filter_of(file["x"])[2]) == 14 and filter_of(file["x"])[2][7] >> 8 == 0b11111
    back = read(path)
    for row in range(0, data.shape[0], CHUNKS[0]):
        for column in range(0, data.shape[1], CHUNKS[1]):
            at = (slice(row, row + CHUNKS[0]), slice(column, column + CHUNKS[1]))
            real = (data[at] != 400) & (data[at] != -9999)
            assert same_bits(data[at][~real], back[at][~real])
            a, b = data[at][real].astype("f8"), back[at][real].astype("f8")
            assert np.abs(a - b).max() <= BOUND["noa"] * (a.max() - a.min()) * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["<c8", ">c16"])
def test_two_marks_of_complex_numbers(codec, mode, kind, path):
    """Parts are floats of their own; more than one declared value has no room."""
    data = np.full((40, 50), 278 + 280j, kind) + np.sin(np.arange(50) / 9)
    data[::3, ::4], data[1::3, ::4] = complex(1e20, 1e20), complex(-9999, 280)
    data = data.astype(kind)
    with h5py.File(path, "w") as file:
        create(file, "x", data, codec, named(MODES[mode], -9999), chunks=CHUNKS, fillvalue=np.asarray(1e20 + 1e20j, kind))
        with pytest.raises((ValueError, RuntimeError), match="same fill value for all members"):
            create(file, "y", data, codec, named(MODES[mode], -9999), chunks=CHUNKS, fillvalue=np.asarray(1 + 2j, kind))
    parts, back = data.view(data.real.dtype), read(path).view(data.real.dtype)
    marks = (parts == np.asarray(1e20, parts.dtype)) | (parts == -9999)
    assert same_bits(parts[marks], back[marks])
    assert np.abs(parts[~marks].astype("f8") - back[~marks].astype("f8")).max() <= 5e-3  # the range is at most 4


def test_two_marks_leave_four_dims(codec, path, tmp_path):
    """More are merged; a property list that is copied keeps the named value, and takes the declared one anew."""
    rng = np.random.default_rng(2)
    data = (278 + rng.random((3, 2, 4, 5, 6, 7))).astype("f4")
    data[0, 0], data[1, 1, 1] = -9999.9, 400
    with h5py.File(path, "w") as file:
        old = create(file, "x", data, codec, named(relative(1e-3), -9999.9), chunks=(2, 2, 3, 5, 6, 7), fillvalue=400)
        words = filter_of(old)[2]
        assert len(words) == 16 and words[7] & 0xFF == 4 and words[8:12] == (12, 5, 6, 7)
        plist = old.id.get_create_plist()
        plist.set_fill_value(np.asarray(-1.0, "f8"))
        new = h5py.Dataset(h5py.h5d.create(file.id, b"y", h5py.h5t.NATIVE_DOUBLE, old.id.get_space(), plist))
        assert filter_of(new)[2][12:] == (*bound_words(-9999.9), *bound_words(-1.0))
        wide = data.astype("f8")
        wide[0, 0], wide[1, 1, 1] = -9999.9, -1
        new[...] = wide
        for dataset, given in ((old, data), (new, wide)):
            back, marks = dataset[()], np.isin(given, np.asarray([-9999.9, 400, -1], given.dtype))
            assert same_bits(given[marks], back[marks]) and np.abs(given - back)[~marks].max() <= 1.001e-3
