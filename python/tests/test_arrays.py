# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without files: chunks are those of the filter, errors are measured, not believed."""

import math
import pathlib
import threading
from fractions import Fraction

import h5py
import numpy as np
import pytest

import h5twin

TYPES = ["<f4", ">f4", "<f8", ">f8", "<i4", ">i8", "u1", "<c8", "<f2", "S5"]


def field(shape, dtype="<f4", seed=0):
    rng = np.random.default_rng(seed)
    grid = np.indices(shape).sum(axis=0) if shape else np.array(0.0)
    values = np.sin(grid * 0.05) * 10 + rng.normal(size=shape) * 1e-3
    return (values * 20).astype(dtype) if np.dtype(dtype).kind in "iuS" else values.astype(dtype)


@pytest.mark.parametrize("cls", h5twin.FILTERS.values(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (5000,), (37, 41), (3, 1, 20, 30), (2,) * 10], ids=str)
def test_encode_and_decode_give_the_array_back(cls, dtype, shape):
    data = field(shape, dtype)
    chunk = h5twin.encode(data, cls())
    back = h5twin.decode(chunk, data.dtype.newbyteorder("<"), shape)
    assert np.array_equal(back, data) and len(chunk) <= data.nbytes + 24


@pytest.mark.parametrize("shape", [(5000,), (37, 41), (10, 20, 30), (4, 1, 20, 30)], ids=str)
@pytest.mark.parametrize("made", [cls() for cls in h5twin.FILTERS.values()] + [h5twin.Sleek(abs=1e-2)], ids=repr)
def test_the_chunk_is_what_the_filter_stores(tmp_path, made, shape):
    data = field(shape)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=data, chunks=shape, **made)
        dataset.flush()
        mask, stored = dataset.id.read_direct_chunk((0,) * len(shape))
    assert mask == 0 and stored == h5twin.encode(data, made)


def test_an_empty_array_is_a_chunk_too():
    assert h5twin.decode(h5twin.encode(np.empty((0, 3), "f4"), "ndzip"), "f4", (0, 3)).shape == (0, 3)


def test_threads_do_not_change_the_bytes():
    data = field((200, 300, 30), "f8")
    assert h5twin.encode(data, "ndzip", threads=1) == h5twin.encode(data, "ndzip", threads=4)


def test_decode_without_a_type_takes_what_the_chunk_knows():
    data = field((1000,), "f8")
    back = h5twin.decode(h5twin.encode(data, "sleek"))
    assert back.dtype == "f8" and np.array_equal(back, data)


def test_a_wrong_shape_or_a_damaged_chunk_is_refused():
    chunk = h5twin.encode(field((1000,)), "sleek")
    with pytest.raises(h5twin.H5twinError, match="4000 bytes"):
        h5twin.decode(chunk, "f4", (999,))
    for damaged in (chunk[:-1], b"", chunk[:50] + bytes([chunk[50] ^ 1]) + chunk[51:]):
        with pytest.raises(h5twin.H5twinError):
            h5twin.decode(damaged)


def test_python_objects_are_refused():
    with pytest.raises(TypeError, match="objects"):
        h5twin.encode(np.array([object()]), "sleek")


def test_what_is_no_array_and_no_chunk_is_refused():
    for what in "u.h5", pathlib.Path("u.h5"):
        with pytest.raises(TypeError, match="is not an array"):
            h5twin.encode(what, "sleek")
    for what in "H5TW", 7, None:
        with pytest.raises(TypeError, match="is no chunk"):
            h5twin.decode(what)
    chunk = h5twin.encode(field((10,)), "sleek")
    with pytest.raises(TypeError, match="objects"):
        h5twin.decode(chunk, "O")
    for threads in -1, 1 << 32:
        with pytest.raises(ValueError, match="threads"):
            h5twin.encode(field((10,)), "sleek", threads=threads)
        with pytest.raises(ValueError, match="threads"):
            h5twin.decode(chunk, threads=threads)
    assert h5twin.decode(chunk, "f4", 10).shape == (10,)


def test_a_mask_is_not_lost_without_a_word():
    data = np.ma.masked_greater(field((100,)), 5)
    with pytest.raises(TypeError, match="mask"):
        h5twin.encode(data, "sleek")
    assert h5twin.encode(np.ma.array(field((100,))), "sleek") == h5twin.encode(field((100,)), "sleek")


def test_other_threads_run_while_one_encodes():
    data, ticks, stop = field((400, 300, 100), "f8"), [], threading.Event()

    def tick():
        while not stop.wait(0.0005):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    h5twin.encode(data, "e2mc", threads=1)
    seen = len(ticks)
    stop.set()
    thread.join()
    assert seen > 5


def test_verify_counts_what_exceeds_the_bound_in_exact_arithmetic():
    a = np.array([0.0, 1.0, 2.0, np.nan, np.inf])
    assert h5twin.verify(a, a).identical
    b = a.copy()
    b[1] = np.nextafter(1.25, 2)
    assert h5twin.verify(a, b, abs=0.25).violations == 1
    b[1] = 1.25
    result = h5twin.verify(a, b, abs=0.25)
    assert result and result.max_error == 0.25 and result.mean_error == pytest.approx(0.25 / 3)
    assert result.psnr == pytest.approx(20 * math.log10(2 / math.sqrt(0.0625 / 3)))
    assert h5twin.verify(a, b, noa=0.125).violations == 0 and h5twin.verify(a, b, noa=0.1249).violations == 1
    assert h5twin.verify(a, b, rel=0.25).violations == 0 and h5twin.verify(a, b, rel=0.24).violations == 1
    assert h5twin.verify(a, b).violations == 1
    b[3] = 0
    assert not h5twin.verify(a, b, abs=1).non_finite_equal


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_verify_agrees_with_rational_numbers(dtype):
    rng = np.random.default_rng(1)
    a = (rng.normal(size=2000) * 10.0 ** rng.integers(-5, 5, 2000)).astype(dtype)
    b = (a + rng.choice([-0.1, 0.1, 0.05], 2000)).astype(dtype)
    exact = sum(abs(Fraction(float(x)) - Fraction(float(y))) > Fraction(0.1) for x, y in zip(a, b))
    assert 0 < exact < 2000 and h5twin.verify(a, b, abs=0.1).violations == exact


def test_verify_wants_marks_exact_and_leaves_them_out_of_the_range():
    a = np.array([0.0, 1.0, 1e35], "f4")
    b = np.array([0.1, 1.0, 1e35], "f4")
    assert h5twin.verify(a, b, noa=0.01).violations == 0
    assert h5twin.verify(a, b, noa=0.01, fill=1e35).violations == 1
    b[2] = np.nextafter(b[2], np.float32(0))
    assert h5twin.verify(a, b, noa=0.2, fill=1e35).violations == 1


def test_verify_says_what_it_found():
    a, b = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.5, 4.0])
    assert str(h5twin.verify(a, a)) == "3 values, identical"
    assert ", 1 differ," in str(h5twin.verify(a, b))
    for bound in 0.5, np.float32(0.5), Fraction(1, 2):
        assert ", bound 0.5 kept," in str(h5twin.verify(a, b, abs=bound))
    assert ", relative bound 0.25 kept," in str(h5twin.verify(a, b, rel=0.25))
    assert ", relative bound 0.2 exceeded by 1 values," in str(h5twin.verify(a, b, rel=0.2))
    assert str(h5twin.verify(a.astype(int), np.array([1, 3, 4]))) == "3 values, of which 1 differ"
    long = np.array([np.longdouble(1) / 3, np.nan, -np.inf])
    assert h5twin.verify(long, long) and not h5twin.verify(long, long + np.longdouble(1e-18))


@pytest.mark.parametrize("key", ["abs", "noa", "rel"])
def test_verify_refuses_bounds_that_are_none(key):
    a = np.ones(3)
    for bound in -1.0, math.nan, math.inf:
        with pytest.raises(ValueError, match=f"{key}=.*finite"):
            h5twin.verify(a, a, **{key: bound})
    with pytest.raises(TypeError, match=f"{key}='1e-3' is not a number"):
        h5twin.verify(a, a, **{key: "1e-3"})


STRUCTURED = {
    "mixed": [("n", "i8"), ("x", "f4")], "floats": [("x", "f4"), ("y", "f4", (3,))],
    "padded": np.dtype([("n", "u1"), ("x", "f8")], align=True), "nested": [("a", [("x", "f8"), ("s", "S3")]), ("b", "c8")],
    "orders": [("x", ">f8"), ("n", "<i2")],
}


@pytest.mark.parametrize("fields", STRUCTURED)
def test_verify_compares_structured_types_bit_by_bit_in_each_field(fields):
    dtype = np.dtype(STRUCTURED[fields])

    def leaves(values):
        if values.dtype.names is None:
            return [values]
        return [leaf for name in values.dtype.names for leaf in leaves(values[name])]

    a = np.zeros((4, 5), dtype)
    b = np.frombuffer(b"\xff" * a.nbytes, dtype).reshape(a.shape).copy()  # also what lies between fields
    for x, y in zip(leaves(a), leaves(b)):
        y[...] = x
    assert h5twin.verify(a, b).identical and h5twin.verify(a, b.astype(dtype.newbyteorder())).identical
    for at, leaf in enumerate(leaves(b)):
        changed = b.copy()
        place = leaves(changed)[at][2, 3:4]
        if leaf.dtype.kind in "fc":
            place[...] = -0.0
            assert (leaves(changed)[at] == leaf).all()  # to numpy that is the same
        else:
            place[...] = 1
        result = h5twin.verify(a, changed)
        assert not result and not result.identical and result.violations == (3 if leaf.ndim == 3 else 1)
        with_bound = h5twin.verify(a, changed, abs=0.5)
        assert bool(with_bound) == (fields == "floats")  # to which alone a bound applies


def test_verify_wants_masks_to_agree_and_leaves_out_what_they_hide():
    data = np.arange(6.0)
    a = np.ma.array(data, mask=[0, 0, 0, 0, 1, 1])
    b = np.ma.array(data + [0, 0, 0, 0, 7, np.nan], mask=a.mask)
    assert h5twin.verify(a, b).identical and h5twin.verify(a, b).values == 4
    assert h5twin.verify(a, b, noa=1e-3).bound == pytest.approx(3e-3)
    for other in (np.ma.array(data, mask=[0, 0, 0, 0, 0, 1]), np.ma.array(data, mask=[0, 0, 0, 1, 1, 1]), data):
        for bound in {}, {"abs": 100}:
            for pair in (a, other), (other, a):
                result = h5twin.verify(*pair, **bound)
                assert not result and not result.identical and result.violations == (2 if other is data else 1)
    b[2] = 2.5
    assert h5twin.verify(a, b).violations == 1 and h5twin.verify(a, b, abs=0.5)
    for dtype in "i8", "c8", [("x", "f8"), ("n", "i4")]:
        x = np.ma.zeros(4, dtype)
        x[1] = np.ma.masked
        assert h5twin.verify(x, x.copy()).identical and not h5twin.verify(x, x.data)


def test_verify_knows_what_became_the_fill_value():
    a, b = np.array([4.99, 5, 6, -0.0]), np.array([5.0, 5, 6, 0.0])
    assert h5twin.verify(a, b, abs=0.1)
    result = h5twin.verify(a, b, abs=0.1, fill=5)
    assert not result and result.violations == result.became_fill == 1
    assert str(result).endswith("exceeded by 1 values, of which 1 became the fill value, non-finite values equal")
    assert h5twin.verify(a, b, fill=5).violations == 2
    assert h5twin.verify(a, b, abs=0.1, fill=0).became_fill == 1  # -0 is another value than the fill value 0
    assert h5twin.verify(a, b, abs=0.1, fill=-0.0).violations == 1
    assert h5twin.verify(a, b, abs=0.1, fill=np.nan)
    z = a + 1j * a
    assert h5twin.verify(z, b + 1j * b, abs=0.1, fill=5).became_fill == 2
    with pytest.raises(TypeError, match="fill='5' is not a number"):
        h5twin.verify(a, b, fill="5")


def test_verify_knows_what_left_the_limits():
    a, b = np.array([0, 0.5, 1.01, -3], "f4"), np.array([-0.001, 0.5, 1.01, -3], "f4")
    assert h5twin.verify(a, b, abs=0.01) and h5twin.verify(a, b, abs=0.01, max=1)
    result = h5twin.verify(a, b, abs=0.01, min=0, max=1)
    assert not result and result.violations == result.left_limits == 1
    assert str(result).endswith("of which 1 left the limits, non-finite values equal")
    assert h5twin.verify(a, b, min=0, max=1).violations == 1
    assert h5twin.verify(b, a, abs=0.01, min=0)  # it was beyond already


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bound", [{"abs": 1e-2}, {"noa": 1e-2}, {"rel": 1e-2}, {"abs": 1e-2, "stable": "no"}])
def test_limits_of_lattice_are_kept(dtype, bound):
    data = np.clip(np.sin(np.arange(6000.0) / 50) + 0.2, 0, 1).astype(dtype).reshape(60, 100)
    data[0, :4] = 1.5, -2, np.nan, np.nextafter(np.ones(1, dtype)[0], 0)
    limited = h5twin.Lattice(min=0, max=1, **bound)
    back = h5twin.decode(h5twin.encode(data, limited), dtype, data.shape)
    inside = (data >= 0) & (data <= 1)
    assert ((back[inside] >= 0) & (back[inside] <= 1)).all()
    assert (back[data == 1] == 1).all() and (back[data == 0] == 0).all()
    assert back[~inside].tobytes() == data[~inside].tobytes()
    promise = {key: value for key, value in bound.items() if key != "stable"}
    assert h5twin.verify(data, back, min=0, max=1, **promise)
    assert limited.get_config()["min"] == 0 and limited.get_config()["max"] == 1
    assert h5twin.from_cd_values(limited.filter_id, limited.filter_options) == limited


def test_limits_have_six_digits():
    assert h5twin.Lattice(abs=1, min=-273.15).get_config()["min"] == -273.15
    with pytest.raises(h5twin.H5twinError, match="min is number of at most 6 digits"):
        h5twin.Lattice(abs=1, min=271.3499756)
    with pytest.raises(h5twin.H5twinError):
        h5twin.Lattice(abs=1, min=2, max=1)
    with pytest.raises(TypeError):
        h5twin.Sleek(abs=1, min=0)


def test_verify_takes_the_range_of_the_original_alone():
    a, b = np.array([0.0, 1.0, 100.0]), np.array([0.0, 1.5, np.nan])
    result = h5twin.verify(a, b, noa=0.01)
    assert result.bound == 1 and result.violations == 0 and not result.non_finite_equal


def test_verify_of_integers_strings_and_nothing():
    a = np.array([2 ** 62, 2 ** 53 + 1, -1])
    assert h5twin.verify(a, a.copy()).identical and h5twin.verify(a, a - [0, 1, 0]).violations == 1
    assert not h5twin.verify(a, a - [1, 0, 0], abs=10)  # which are equal or not
    dates = np.array(["NaT", "2020-01-01"], "M8[s]")
    assert h5twin.verify(dates, dates.copy()).identical
    assert h5twin.verify(np.array(["a", "bc"]), np.array(["a", "bd"])).violations == 1
    texts = np.array(["a", "bc"], object)
    assert h5twin.verify(texts, np.array(["a", "b" + "c"], object)).identical
    assert h5twin.verify(texts, np.array(["a", "bd"], object)).violations == 1
    with pytest.raises(TypeError, match="object of Python's"):
        h5twin.verify(np.array([{}, 1]), np.array([{}, 1]))
    for dtype in "f4", "i2", "S0", [("x", "f4"), ("n", "i2")], [("x", "f4", (2,))], "c16":
        assert h5twin.verify(np.zeros((0, 3), dtype), np.zeros((0, 3), dtype), abs=1).identical
    assert h5twin.verify(np.zeros(2, "S0"), np.zeros(2, "S0")).identical
    with pytest.raises(ValueError, match=r"differ in kind: .*\(2, 3\) and .* \(3, 2\)"):
        h5twin.verify(np.zeros((2, 3)), np.zeros((3, 2)))
    for long in np.longdouble, np.clongdouble:
        with pytest.raises(TypeError, match="more digits than a bound"):
            h5twin.verify(np.ones(3, long), np.ones(3, long), abs=1)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_relative_bounds_of_tiny_values_are_decided_exactly(dtype):
    least = np.finfo(dtype).smallest_subnormal
    x, y = np.array([0, least, 7 * least, least], dtype), np.array([least, 0, 10 * least, 2 * least], dtype)
    for share in 2.0 ** -1074, 0.4, 0.5, 3 / 7, np.nextafter(3 / 7, 1), 1, 1e300, Fraction(3, 7), 10 ** 400:
        exact = sum(abs(Fraction(float(a)) - Fraction(float(b))) > Fraction(share) * abs(Fraction(float(a)))
                    for a, b in zip(x, y))
        assert h5twin.verify(x, y, rel=share).violations == exact


def test_verify_refuses_arrays_of_different_kind():
    with pytest.raises(ValueError, match="differ"):
        h5twin.verify(np.zeros(3, "f4"), np.zeros(3, "f8"))


def test_suggest_tries_every_codec_and_tells_the_truth():
    data = field((60, 70, 80))
    rows = h5twin.suggest(data, "abs=1e-2")
    assert {row.filter.name for row in rows} == set(h5twin.config()["codecs"])
    assert [row.ratio for row in rows] == sorted((row.ratio for row in rows), reverse=True)
    for row in rows:
        assert row.ratio == pytest.approx(data.nbytes / len(h5twin.encode(data, row.filter)))
        assert row.max_error <= (1e-2 if "abs" in row.filter.get_config() else 0)


def test_suggest_looks_at_a_part_of_what_is_large():
    rows = h5twin.suggest(np.zeros((4000, 1000), "f4"), specs=["sleek"], sample_bytes=1 << 20)
    assert len(rows) == 1 and rows[0].ratio > 5


def test_a_small_sample_tells_what_the_whole_array_gains():
    """Smooth in one half, noise in the other, in planes: a few large pieces would miss the mixture."""
    rng = np.random.default_rng(4)
    data = np.cumsum(rng.normal(size=(400, 100, 100)), axis=2).astype("f4")
    data[1::2] = 1
    whole = data.nbytes / sum(len(h5twin.encode(piece, "cascade")) for piece in np.array_split(data, 20))
    sampled = h5twin.suggest(data, specs=["cascade"])[0].ratio
    assert sampled == pytest.approx(whole, rel=0.1)


def test_bounds_are_tried_with_the_codecs_that_take_them():
    data = field((20, 30, 40))
    tried = [row.filter.spec for row in h5twin.suggest(data, "rel=1e-2")]
    assert "lattice:rel=0.01" in tried and not any("sleek:rel" in spec for spec in tried)
    for bound in "abs=-1", "1e-3", 1e-3:
        with pytest.raises(h5twin.H5twinError, match="abs=1e-3"):
            h5twin.suggest(data, bound)
    with pytest.raises(ValueError, match="sample_bytes"):
        h5twin.suggest(data, sample_bytes=0)
    assert [row.filter for row in h5twin.suggest(data, specs="sleek")] == [h5twin.Sleek()]


@pytest.mark.parametrize("call", [lambda path: h5twin.suggest(path), lambda path: h5twin.verify(path, path)])
def test_a_file_name_is_no_array(call, tmp_path):
    for path in ("x.h5", tmp_path / "x.h5"):
        with pytest.raises(TypeError, match="python -m h5twin (suggest|verify)"):
            call(path)


@pytest.mark.parametrize("data", [np.zeros((3, 0)), [], np.zeros(0, "f4")], ids=str)
def test_nothing_can_be_tried_on_nothing(data):
    with pytest.raises(ValueError, match="empty"):
        h5twin.suggest(data)


@pytest.mark.parametrize("data", [np.float64(3), np.arange(5), np.zeros((2,) * 12, "c8"), np.array(["a", "b"]),
                                  field((30, 40)).astype(">f4"), field((40, 30))[::2, ::-1]], ids=lambda d: str(d.dtype))
def test_any_array_can_be_tried(data):
    assert all(row.ratio > 0 for row in h5twin.suggest(data))


@pytest.mark.parametrize("shape, dtype", [
    ((1000, 2000, 3000), "f4"), ((41, 128, 128), "f4"), ((10 ** 8,), "f8"), ((365, 720, 1440), "f8"),
    ((5,), "f4"), ((1, 1), "u1"), ((10 ** 6, 3), "f4"), ((3, 10 ** 7), "f8"), ((2,) * 25, "f4")], ids=str)
def test_chunks_fit_the_array_and_the_target(shape, dtype):
    chunk = h5twin.chunks(shape, dtype)
    size, whole = math.prod(chunk) * np.dtype(dtype).itemsize, math.prod(shape) * np.dtype(dtype).itemsize
    assert all(1 <= c <= s for c, s in zip(chunk, shape)) and len(chunk) == len(shape)
    assert size <= 1 << 20 and (size == whole or size >= 1 << 17)


@pytest.mark.parametrize("shape", [(100, 100, 100), (60, 200, 300), (41, 128, 128), (365, 720, 1440), (129, 257, 513), (5000, 7001),
                                   (10 ** 6 + 1,)], ids=str)
def test_chunks_leave_little_empty(shape):
    stored = math.prod(-(-extent // part) * part for extent, part in zip(shape, h5twin.chunks(shape, "f4")))
    assert stored <= 1.1 * math.prod(shape)


def test_cut_axes_are_multiples_of_the_block_side():
    assert h5twin.chunks((1000, 2000, 3000), "f4")[0] % 16 == 0
    assert all(c % 64 == 0 for c in h5twin.chunks((5000, 7000), "f8"))


@pytest.mark.parametrize("shape", [(-3, 4), (3.5, 4), (None, 4), "u", (1 << 63,), np.ones((2, 2))], ids=str)
def test_chunks_of_what_is_no_shape_are_refused(shape):
    with pytest.raises(ValueError, match="is not a shape"):
        h5twin.chunks(shape, "f4")


# ---- chunks of a dataset ----

@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("declared", [None, 1e20])
@pytest.mark.parametrize("spec", [*(cls.name for cls in h5twin.FILTERS.values()), "sleek:abs=0.5", "sleek:noa=1e-2,fill=-9999",
                                  "lattice:abs=0.5,fill=-9999", "lattice:noa=1e-2", "lattice:rel=1e-3,fill=-9999"])
def test_chunks_with_the_params_of_a_dataset_are_those_of_its_filter(tmp_path, spec, declared, dtype):
    data = (278 + np.sin(np.indices((40, 50)).sum(axis=0) * 0.1)).astype(dtype)
    data[::7, 3::5] = -9999
    data[::5, 1::6] = 1e20
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=data, chunks=(16, 16), fillvalue=declared, **h5twin.from_spec(spec))
        params = h5twin.params(dataset)
        padded = np.full((48, 64), declared or 0, dtype)
        padded[:40, :50] = data
        for row in range(0, 48, 16):
            for column in range(0, 64, 16):
                chunk = padded[row:row + 16, column:column + 16]
                stored = dataset.id.read_direct_chunk((row, column))[1]
                assert h5twin.encode(chunk, params) == stored
                assert h5twin.encode(chunk.astype(dtype[1:]), params, threads=1) == stored  # in the machine's order
        with pytest.raises(ValueError, match="give a whole one"):
            h5twin.encode(padded[:8, :16], params)
        with pytest.raises(TypeError, match="give no declared_fill"):
            h5twin.encode(padded[:16, :16], params, declared_fill=1)


def test_params_are_those_of_one_filter_alone(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        params = h5twin.params(file.create_dataset("a", (8, 8), ">f4", chunks=(4, 8), **h5twin.Lattice(abs=1e-3, fill=-1)))
        assert params.spec == "lattice:abs=0.001,fill=-1" and params.chunks == (4, 8) and params.dtype == np.dtype(">f4")
        for more in ({}, {"compression": "gzip"}, {"shuffle": True, **h5twin.Ndzip()}):
            dataset = file.create_dataset(f"x{len(file)}", (8,), "f8", chunks=(4,), **more)
            with pytest.raises(ValueError, match="one filter alone"):
                h5twin.params(dataset)
    with pytest.raises(TypeError, match="takes an h5py dataset"):
        h5twin.params("x.h5")


def test_a_declared_fill_value_is_as_exact_as_a_named_one():
    data = np.linspace(0, 1, 4000).astype("f4")
    data[::7], data[3::11] = -9999.9, 1e20
    for spec in ("sleek:noa=1e-3,fill=-9999.9", "lattice:noa=1e-3,fill=-9999.9", "lattice:abs=1e-3,fill=-9999.9"):
        back = h5twin.decode(h5twin.encode(data, spec, declared_fill=1e20), "f4", data.shape)
        marks = np.isin(data, np.asarray([-9999.9, 1e20], "f4"))
        assert (back[marks] == data[marks]).all() and np.abs(back - data)[~marks].max() <= 1e-3
