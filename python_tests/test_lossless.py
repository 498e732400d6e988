# SPDX-License-Identifier: BSD-3-Clause
"""Every type and shape comes back bit for bit."""

import h5py
import numpy as np
import pytest

from conftest import (CODECS, FILTER_IDS, FIRST, FLOATS, LOSSY_CODECS, OPTIONS, absolute, create,
                      filter_of, same_bits, smooth)


def special_values(dtype):
    """Every class of floats, NaN payloads too."""
    values = smooth((300,), dtype)
    word = np.dtype(dtype.str.replace("f", "u"))
    bits = values.view(word)
    width, mantissa = 8 * dtype.itemsize, np.finfo(dtype).nmant
    exponent = ((1 << width - 1 - mantissa) - 1) << mantissa
    bits[:8] = [0, 1 << width - 1, 1, (1 << mantissa) - 1, exponent, exponent | 1 << width - 1,
                exponent | 5, exponent | 1 << mantissa - 1 | 77]
    return bits.view(dtype)


def test_floats_are_bit_exact(codec, dtype, write):
    for data in (smooth((40, 50, 7), dtype), special_values(dtype)):
        assert same_bits(write(data, codec, chunks=True), data)


def test_options_are_bit_exact(codec, dtype, write):
    data = smooth((40, 50, 7), dtype)
    for words in OPTIONS[codec]:
        assert same_bits(write(data, codec, (0, 0, 0, *words), chunks=(33, 50, 7)), data)


def test_smooth_floats_shrink(codec, dtype, path):
    with h5py.File(path, "w") as file:
        dataset = create(file, "x", np.round(smooth((64, 64, 64), dtype), 1), codec, chunks=(32,) * 3)
        assert dataset.id.get_storage_size() < 0.95 * 64**3 * dtype.itemsize


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097])
def test_any_number_of_values(codec, dtype, size, write):
    data = smooth((size,), dtype)
    assert same_bits(write(data, codec, chunks=(size,)), data)


@pytest.mark.parametrize("shape, chunks", [
    ((100,), (7,)),
    ((1, 100), (1, 100)),
    ((50, 60), (17, 60)),
    ((20, 30, 40), (16, 16, 16)),
    ((20, 30, 40), (1, 30, 40)),
    ((20, 30, 40), (20, 1, 40)),
    ((5, 6, 7, 8), (2, 3, 7, 8)),
    ((4, 1, 5, 6, 7), (4, 1, 5, 3, 7)),
    ((2, 3, 4, 5, 6, 7), (2, 3, 2, 5, 6, 4)),
    ((1, 1, 1), (1, 1, 1)),
    ((2,) * 10, (2,) * 10),
    ((2, 2, 2, 2, 2, 2, 2, 2, 3, 1, 2), (2, 2, 2, 2, 2, 2, 2, 2, 3, 1, 2)),
    ((70, 70, 70), (70, 70, 70)),
    ((10, 130, 130), (10, 130, 130)),
])
def test_any_rank_and_chunk_shape(codec, shape, chunks, write):
    for dtype in ("<f4", ">f8"):
        data = smooth(shape, dtype)
        for options in [()] + [(0, 0, 0, *words) for words in OPTIONS[codec]]:
            assert same_bits(write(data, codec, options, chunks=chunks), data)


def test_partly_written_chunks_and_fill_values(codec, path):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("x", (100, 100), "<f4", chunks=(30, 30), fillvalue=-7.5,
                                      compression=FILTER_IDS[codec])
        dataset[10:55, 95:] = 3
    expected = np.full((100, 100), -7.5, "<f4")
    expected[10:55, 95:] = 3
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], expected)


def test_growing_and_shrinking_datasets(codec, path):
    data = smooth((100, 20), "<f8")
    with h5py.File(path, "w") as file:
        dataset = create(file, "x", data[:37], codec, chunks=(16, 20), maxshape=(None, 20))
        dataset.resize(100, axis=0)
        dataset[37:] = data[37:]
        dataset.resize(90, axis=0)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data[:90])


OTHER_TYPES = (
    [np.dtype(f"{order}{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8) for order in "<>"]
    + [np.dtype(t) for t in ("?", "<f2", ">f2", "S5", "S8", "V12", "<f4,<i4", "<f4,<f8")]
)
if np.dtype("g").itemsize == 16:
    OTHER_TYPES.append(np.dtype("g"))


@pytest.mark.parametrize("other", OTHER_TYPES, ids=str)
@pytest.mark.parametrize("codec, cd_values", [(codec, ()) for codec in CODECS]
                         + [(codec, absolute(1e-3)) for codec in LOSSY_CODECS])
def test_other_types_are_bit_exact_in_every_mode(codec, cd_values, other, write):
    """A bound is met by exact storage, so that one setting serves a whole file."""
    rng = np.random.default_rng(5)
    data = rng.integers(0, 256, 1003 * other.itemsize, dtype=np.uint8)
    data[: data.size // 2] //= 100
    if other.kind == "b":
        data = data & 1
    if other.kind == "g" or other == np.dtype("g"):
        data = np.arange(1003).astype("g").view(np.uint8)
    data = data.view(other)
    if other.kind == "S":
        data = np.char.strip(data, b"\0").astype(other)
    back = write(data, codec, cd_values, chunks=(100,))
    if other == np.dtype("g"):
        assert np.array_equal(back, data)
    else:
        assert back.tobytes() == data.tobytes()


@pytest.mark.parametrize("base", FLOATS)
def test_complex_numbers_are_pairs_of_floats(codec, base, path):
    base = np.dtype(base)
    data = np.empty((30, 40), dtype=base.str.replace("f4", "c8").replace("f8", "c16"))
    data.real, data.imag = smooth((30, 40), base), smooth((30, 40), base, 1)
    with h5py.File(path, "w") as file:
        words = filter_of(create(file, "x", data, codec, chunks=(20, 1)))[2]
        assert words[6] & 0xFFFFFF == base.itemsize  # the float, not the pair
        assert words[6] >> 24 & 3 == 0
        assert tuple(words[7:]) == (FIRST | 2, 20, 2)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


def test_uniform_compounds_and_arrays_are_floats(codec, path):
    uniform = np.dtype([("a", ">f4"), ("b", ">f4", (2, 3))])
    padded = np.dtype({"names": ["a", "b"], "formats": ["<f4", "<f4"], "offsets": [0, 8],
                       "itemsize": 12})
    mixed = np.dtype([("a", "<f4"), ("b", ">f4")])
    with h5py.File(path, "w") as file:
        for name, kind, expected in [("u", uniform, (4 | 1 << 28, FIRST | 2, 50, 7)),
                                     ("p", padded, (12 | 2 << 24, FIRST | 1, 50)),
                                     ("m", mixed, (8 | 2 << 24, FIRST | 1, 50))]:
            data = np.zeros(200, kind)
            for field in kind.names:
                data[field] = smooth(data[field].shape, "f8", 3)
            words = filter_of(create(file, name, data, codec, chunks=(50,)))[2]
            assert tuple(words[6:]) == expected
            assert same_bits(file[name][:], data)


def test_strings_of_variable_length(codec, path):
    texts = ["", "a", "some text", "x" * 1000] * 50
    with h5py.File(path, "w") as file:
        create(file, "x", np.array(texts, dtype=object), codec, chunks=(30,),
               dtype=h5py.string_dtype())
    with h5py.File(path) as file:
        assert [t.decode() for t in file["x"][:]] == texts


@pytest.mark.parametrize("other", [dict(shuffle=True), dict(fletcher32=True),
                                   dict(shuffle=True, fletcher32=True)], ids=str)
def test_in_a_pipeline_with_other_filters(codec, dtype, other, write):
    data = smooth((40, 50), dtype)
    assert same_bits(write(data, codec, chunks=(16, 16), **other), data)


def test_filter_after_fletcher32_and_deflate(codec, path):
    """Chunk sizes that say nothing about the array: checksummed, or already compressed."""
    data = smooth((40, 50), "<f4")
    with h5py.File(path, "w") as file:
        for first in ("fletcher32", "deflate"):
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk((16, 16))
            dcpl.set_fletcher32() if first == "fletcher32" else dcpl.set_deflate(4)
            dcpl.set_filter(FILTER_IDS[codec], 0, ())
            space = h5py.h5s.create_simple((40, 50))
            dataset = h5py.Dataset(h5py.h5d.create(file.id, first.encode(), h5py.h5t.IEEE_F32LE,
                                                   space, dcpl))
            dataset[:] = data
    with h5py.File(path) as file:
        assert same_bits(file["fletcher32"][:], data)
        assert same_bits(file["deflate"][:], data)
