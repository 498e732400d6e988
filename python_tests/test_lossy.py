# SPDX-License-Identifier: BSD-3-Clause
"""The bound holds for every value, in exact arithmetic."""

from fractions import Fraction

import h5py
import numpy as np
import pytest

from conftest import FILTER_IDS, FLOATS, LOSSY_CODECS, absolute, create, filter_of, relative, run_tool, same_bits, smooth

BOUND = 1e-3


@pytest.fixture(params=LOSSY_CODECS)
def codec(request):
    return request.param


def awkward(dtype, shape=(30, 40)):
    """Smooth numbers among NaNs with payloads, infinities, outliers, zeros and subnormals."""
    data = smooth(shape, dtype)
    flat = data.reshape(-1)
    native = np.dtype(dtype).newbyteorder("=")
    payload = np.array([0x7FF8000000000123], "u8").view("f8") if native.itemsize == 8 else \
        np.array([0x7FC00123], "u4").view("f4")
    specials = [np.nan, np.inf, -np.inf, 1e30, -1e30, 0.0, -0.0, np.finfo(native).smallest_subnormal
                if hasattr(np.finfo(native), "smallest_subnormal") else 1e-45,
                np.finfo(native).max, -np.finfo(native).max]
    flat[3:3 + 11 * len(specials):11] = specials
    bits = flat.view(flat.dtype.str.replace("f", "u"))
    bits[0] = payload.view(f"u{native.itemsize}")[0]
    return data


def largest_error(original, decoded):
    """As a fraction, so that nothing is rounded; non-finite values must be the same bits."""
    finite = np.isfinite(original)
    assert np.array_equal(np.isfinite(decoded), finite)
    assert original[~finite].tobytes() == decoded[~finite].tobytes()
    a, b = original[finite].astype("f8"), decoded[finite].astype("f8")
    differ = a != b
    return max((abs(Fraction(x) - Fraction(y)) for x, y in zip(a[differ].tolist(), b[differ].tolist())),
               default=Fraction(0))


def test_absolute_bound_holds_among_specials(codec, dtype, write):
    data = awkward(dtype)
    back = write(data, codec, absolute(BOUND), chunks=(16, 16))
    assert back.dtype == data.dtype
    assert 0 < largest_error(data, back) <= Fraction(BOUND)


@pytest.mark.parametrize("bound", [1e-30, 1e-7, 0.1, 0.25, 3.0, 1e10, 1e300, 2.2250738585072014e-308])
def test_any_bound_holds(codec, dtype, bound, write):
    data = awkward(dtype)
    assert largest_error(data, write(data, codec, absolute(bound), chunks=(30, 40))) <= Fraction(bound)


def test_lossy_is_smaller_than_lossless(codec, dtype, path):
    data = smooth((64, 64), dtype)
    with h5py.File(path, "w") as file:
        lossy = create(file, "a", data, codec, absolute(BOUND), chunks=(64, 64))
        exact = create(file, "b", data, codec, (), chunks=(64, 64))
        assert lossy.id.get_storage_size() < 0.8 * exact.id.get_storage_size()


def test_writing_decoded_values_again_changes_nothing(codec, dtype, write):
    once = write(awkward(dtype), codec, absolute(BOUND), chunks=(16, 16))
    assert same_bits(write(once, codec, absolute(BOUND), chunks=(16, 16)), once)
    assert same_bits(write(once, codec, absolute(BOUND), chunks=(7, 40)), once)


@pytest.mark.parametrize("share", [1e-2, 1e-6])
def test_range_relative_bound_holds(codec, dtype, share, write):
    data = smooth((32, 32), dtype)
    data[3, 4] = np.nan
    back = write(data, codec, relative(share), chunks=(16, 32))
    native = data.astype("f8")
    span = Fraction(float(np.nanmax(native))) - Fraction(float(np.nanmin(native)))
    assert largest_error(data, back) <= Fraction(share) * span


@pytest.mark.parametrize("fill", [None, 0, 9.969209968386869e36, -5e20, np.nan, 1000.25])
def test_range_relative_bound_ignores_the_padding_of_edge_chunks(codec, dtype, fill, write):
    """HDF5 pads edge chunks with the fill value, which is no part of the data's range."""
    data = (smooth((21, 33), "f8") / 100 + 1000).astype(dtype)
    back = write(data, codec, relative(1e-3), chunks=(16, 16), fillvalue=fill)
    native = data.astype("f8")
    span = Fraction(float(native.max())) - Fraction(float(native.min()))
    assert largest_error(data, back) <= Fraction(1e-3) * span


def test_fill_time_never_pads_with_zeros(codec, dtype, path):
    data = (smooth((21, 33), "f8") / 100 + 1000).astype(dtype)
    with h5py.File(path, "w") as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((16, 16))
        dcpl.set_fill_value(np.array(1000, "f8"))
        dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        dcpl.set_filter(480, 0, relative(1e-3))
        dataset = h5py.Dataset(h5py.h5d.create(file.id, b"x", h5py.h5t.py_create(data.dtype),
                                               h5py.h5s.create_simple(data.shape), dcpl))
        dataset[:] = data
    with h5py.File(path) as file:
        back = file["x"][:]
    native = data.astype("f8")
    span = Fraction(float(native.max())) - Fraction(float(native.min()))
    assert largest_error(data, back) <= Fraction(1e-3) * span


def test_constant_data_with_a_range_relative_bound_is_exact(codec, dtype, write):
    data = np.full((21, 33), 1.7, dtype)
    assert same_bits(write(data, codec, relative(0.5), chunks=(16, 16)), data)


def test_complex_numbers_within_the_bound(codec, write):
    data = smooth((30, 40), "f4") + 1j * smooth((30, 40), "f4", 2)
    data = data.astype("c8")
    back = write(data, codec, absolute(BOUND), chunks=(30, 40))
    assert 0 < largest_error(data.view("f4"), back.view("f4")) <= Fraction(BOUND)


def test_lossy_on_other_floats_is_exact(codec, write):
    data = smooth((500,), "f2")
    assert same_bits(write(data, codec, absolute(0.5), chunks=(100,)), data)


def of_another_form(size, form):
    """A float of as many bytes as IEEE's, which is not one of them."""
    made = (h5py.h5t.IEEE_F32LE if size == 4 else h5py.h5t.IEEE_F64LE).copy()
    if form == "bias":
        made.set_ebias(120)
    elif form == "mantissa":
        sign, exponent, exponent_bits, mantissa, mantissa_bits = made.get_fields()
        made.set_fields(sign, exponent + 1, exponent_bits - 1, mantissa, mantissa_bits + 1)
        made.set_ebias(120)
    else:
        made.set_norm(h5py.h5t.NORM_NONE)
    return made


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("form", ["bias", "mantissa", "norm"])
def test_lossy_on_floats_of_another_form_is_exact(codec, size, form, path):
    """What they mean is not what IEEE's bits would: bytes are kept."""
    data = smooth((500,), f"f{size}")
    floats = of_another_form(size, form)
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((100,))
        plist.set_filter(FILTER_IDS[codec], 0, absolute(0.5))
        made = h5py.h5d.create(file.id, b"x", floats, h5py.h5s.create_simple((500,)), plist)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, data, floats)
    with h5py.File(path) as file:
        back = np.empty_like(data)
        file["x"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, back, floats)
    assert same_bits(back, data)


@pytest.mark.parametrize("offsets, size", [((0,), 6), ((2,), 8), ((0, 8), 12), ((1, 5), 12)])
def test_lossy_on_compounds_with_gaps_is_exact(codec, offsets, size, write):
    """Words of such elements are not the members."""
    names = [f"member {i}" for i in range(len(offsets))]
    kind = np.dtype({"names": names, "formats": ["<f4"] * len(names), "offsets": offsets, "itemsize": size})
    data = np.zeros(500, kind)
    for i, name in enumerate(names):
        data[name] = smooth((500,), "f4", i)
    back = write(data, codec, absolute(0.5), chunks=(100,))
    assert all(same_bits(np.ascontiguousarray(back[name]), np.ascontiguousarray(data[name])) for name in names)


@pytest.mark.parametrize("chunk", ["8x50", "30x40", "1x1"])
def test_bound_holds_after_repacking(codec, dtype, chunk, path, tmp_path):
    data = awkward(dtype)
    with h5py.File(path, "w") as file:
        create(file, "x", data, codec, absolute(BOUND), chunks=(16, 16))
    chunk = "8x40" if chunk == "8x50" else chunk
    run_tool("h5repack", "-l", f"x:CHUNK={chunk}", path, tmp_path / "again.h5")
    with h5py.File(path) as file, h5py.File(tmp_path / "again.h5") as again:
        assert again["x"].chunks == tuple(map(int, chunk.split("x")))
        assert filter_of(again["x"])[2][:5] == filter_of(file["x"])[2][:5]
        assert largest_error(data, again["x"][:]) <= Fraction(BOUND)
        assert same_bits(again["x"][:], file["x"][:])  # quantized values are fixed points


def test_floats_list_has_both_byte_orders():
    assert {np.dtype(d).str for d in FLOATS} == {"<f4", ">f4", "<f8", ">f8"}


@pytest.mark.parametrize("dtype", ["<f4", ">f8"])
@pytest.mark.parametrize("mode", ["abs", "noa"])
def test_sleek_in_a_chunk_that_is_filled_in_parts(path, mode, dtype):
    """An absolute bound moves nothing that was there. With a range-relative one each part that widens the range does, and
    the roundings add up: they end beyond the bound, but within twice of it. docs/pages/bounds.md says both."""
    bound, rows, moved, largest = 1e-3, 64, 0, 0.0
    for seed in range(12):
        steps = np.random.default_rng(seed).normal(size=(rows, rows)) * 2.0 ** (np.arange(rows)[:, None] // 8)
        data, before = np.cumsum(steps, axis=1).astype(dtype), None
        with h5py.File(path, "w") as file:
            create(file, "x", None, "sleek", (absolute if mode == "abs" else relative)(bound),
                   shape=data.shape, dtype=dtype, chunks=data.shape)
        for end in range(8, rows + 1, 8):
            with h5py.File(path, "a") as file:
                file["x"][end - 8:end] = data[end - 8:end]
            with h5py.File(path) as file:
                stored = file["x"][:end]
            if before is not None:
                moved += np.count_nonzero(stored[:end - 8] != before)
            before = stored
        scale = bound * (float(data.max()) - float(data.min()) if mode == "noa" else 1)
        largest = max(largest, np.abs(stored.astype("f8") - data.astype("f8")).max() / scale)
    if mode == "abs":
        assert moved == 0 and largest <= 1
    else:
        assert moved > 0 and 1 < largest <= 2


@pytest.mark.parametrize("offset, least", [(0, 0.93), (2.0 ** 21, 0.5)])
def test_lattice_uses_most_of_its_bound(offset, least, tmp_path):
    """What README says; of 2 B / 2^k from 32 to 64 the odd number below is at least 31 / 33."""
    for bound in [1.0, 1.001, 1.03125, 1.0313, 1.5, 1.999]:  # every power of two is alike
        ramp = bound * (offset + np.arange(-20000, 20000) / 1000)
        with h5py.File(tmp_path / "ramp.h5", "w") as file:
            create(file, "x", ramp, "lattice", absolute(bound), chunks=ramp.shape)
        with h5py.File(tmp_path / "ramp.h5") as file:
            used = np.abs(file["x"][()] - ramp).max() / bound
        assert least - 2e-3 <= used <= 1, (bound, used)
