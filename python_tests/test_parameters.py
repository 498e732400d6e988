# SPDX-License-Identifier: BSD-3-Clause
"""cd_values: what is stored, what is refused and how it is said."""

import struct

import h5py
import numpy as np
import pytest

from conftest import (CODECS, FILTER_IDS, FIRST, LOSSY_CODECS, OPTIONAL, OPTIONS, absolute, bound_words, create,
                      filter_of, relative, same_bits, smooth)

TAG = 0x54570001


def test_stored_form(codec, path):
    with h5py.File(path, "w") as file:
        dataset = create(file, "x", smooth((6, 1, 8, 10), ">f8"), codec, chunks=(3, 1, 4, 10))
        assert filter_of(dataset)[2] == (0, 0, 0, 0, 0, TAG, 8 | 1 << 28, FIRST | 3, 3, 4, 10)


def test_being_the_first_filter_is_noted(codec, path):
    """Another one before may change sizes. Taken from another dataset, the note is made anew."""
    data = smooth((40, 50), "f4")
    with h5py.File(path, "w") as file:
        behind = create(file, "x", data, codec, chunks=(16, 16), shuffle=True)
        before = create(file, "y", data, codec, chunks=(16, 16), fletcher32=True)
        assert filter_of(behind, 1)[2][5:] == (TAG, 4, 2, 16, 16)
        assert filter_of(before, 0)[2][5:] == (TAG, 4, FIRST | 2, 16, 16)
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((16, 16))
        dcpl.set_fletcher32()
        dcpl.set_filter(FILTER_IDS[codec], 0, filter_of(before, 0)[2])
        copy = h5py.h5d.create(file.id, b"z", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((40, 50)),
                               dcpl)
        assert filter_of(h5py.Dataset(copy), 1)[2][5:] == (TAG, 4, 2, 16, 16)


def test_user_words_are_kept(codec, path):
    for words in OPTIONS[codec]:
        with h5py.File(path, "w") as file:
            stored = filter_of(create(file, "x", smooth((9,), "f4"), codec, (0, 0, 0, *words)))[2]
            assert stored[:6] == (0, 0, 0, *words, TAG)


def test_shortest_user_forms_are_accepted(codec, write):
    data = smooth((50,), "f4")
    for count in range(0, 6):
        assert same_bits(write(data, codec, (0,) * count, chunks=(50,)), data)


def test_at_most_sixteen_words(codec, path):
    shape = (2, 1, 2, 1, 2, 1, 2, 2, 2, 2, 3, 2)
    with h5py.File(path, "w") as file:
        words = filter_of(create(file, "x", smooth(shape, "f4"), codec, chunks=shape))[2]
    assert len(words) == 16
    assert words[7] == FIRST | 8
    assert np.prod(words[8:]) == np.prod(shape)
    assert words[9:] == (2, 2, 2, 2, 2, 3, 2)


def test_compression_is_never_optional(codec, path):
    with h5py.File(path, "w") as file:
        assert filter_of(create(file, "x", smooth((9,), "f4"), codec))[1] & OPTIONAL == 0
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((4,))
        dcpl.set_filter(FILTER_IDS[codec], h5py.h5z.FLAG_OPTIONAL, ())
        dataset = h5py.h5d.create(file.id, b"y", h5py.h5t.IEEE_F32LE,
                                  h5py.h5s.create_simple((9,)), dcpl)
        assert dataset.get_create_plist().get_filter(0)[1] & OPTIONAL == 0


def test_copied_property_list_is_adapted(codec, path):
    """The list of one dataset, used for another type and chunk shape: nothing of the old stays."""
    data = smooth((40, 50), ">f8")
    with h5py.File(path, "w") as file:
        options = (OPTIONS[codec] or [(0, 0)])[-1]
        first = create(file, "x", smooth((9, 9, 9), "f4"), codec, (0, 0, 0, *options), chunks=(3, 3, 3))
        dcpl = first.id.get_create_plist().copy()
        dcpl.set_chunk((20, 25))
        second = h5py.Dataset(h5py.h5d.create(file.id, b"y", h5py.h5t.IEEE_F64BE,
                                              h5py.h5s.create_simple((40, 50)), dcpl))
        second[:] = data
        expected = (0, 0, 0, *options, TAG, 8 | 1 << 28, FIRST | 2, 20, 25)
        assert filter_of(second)[2] == expected
        third = h5py.h5d.create(file.id, b"z", h5py.h5t.IEEE_F64BE,
                                h5py.h5s.create_simple((40, 50)), second.id.get_create_plist())
        assert third.get_create_plist().get_filter(0)[2] == expected
    with h5py.File(path) as file:
        assert same_bits(file["y"][:], data)


def test_lossy_setting_survives_the_way_over_integers(path):
    """Stored exactly for integers, the bound is still there when the list is used for floats."""
    with h5py.File(path, "w") as file:
        ints = create(file, "i", np.arange(100), "sleek", absolute(0.5), chunks=(100,))
        assert filter_of(ints)[2][:3] == absolute(0.5)
        floats = h5py.h5d.create(file.id, b"f", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((100,)),
                                 ints.id.get_create_plist())
        assert floats.get_create_plist().get_filter(0)[2][:8] == (*absolute(0.5), 0, 0, TAG, 8, FIRST | 1)


HALF, HUNDREDTH = bound_words(0.5), bound_words(0.01)
REFUSED = [
    ((1,), "An error mode needs an error bound"),
    ((1, 0), "An error mode needs an error bound"),
    ((2,), "An error mode needs an error bound"),
    ((4, *HALF), "must be 0 (lossless), 1 (absolute error bound), 2 (range-relative"),
    ((99,), "must be 0 (lossless), 1 (absolute error bound), 2 (range-relative"),
    ((0, *HALF), "the first value says 0, lossless"),
    ((1, 0, 0), "not a positive finite number"),
    ((1, *bound_words(-1.0)), "not a positive finite number"),
    ((1, *bound_words(float("nan"))), "not a positive finite number"),
    ((1, *bound_words(float("inf"))), "not a positive finite number"),
    ((1, *HUNDREDTH[::-1]), "read as 1.9991592789737117e+37, but in the other order as 0.01"),
    ((2, *HALF[::-1]), "but in the other order as 0.5: give the low word of the double first"),
    ((1, 1, 0), "read as 5e-324, which is too small to be meant"),
    ((0,) * 6, "more than 5 values"),
    ((0,) * 16, "more than 5 values"),
    ((0, 0, 0, 0, 0, 0x54570002), "newer h5twin"),
    ((0,) * 17, "more than 16 values"),
    ((0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF), "no such option"),
]


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("cd_values, sentence", REFUSED, ids=str)
def test_refusals_say_why(codec, cd_values, sentence, optional, path):
    with h5py.File(path, "w") as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((4,))
        dcpl.set_filter(FILTER_IDS[codec], OPTIONAL if optional else 0, cd_values)
        with pytest.raises((ValueError, RuntimeError)) as error:
            h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((9,)), dcpl)
        assert f"h5twin {codec}: " in str(error.value)
        assert sentence in str(error.value)
        assert "x" not in file


@pytest.mark.parametrize("codec", [c for c in CODECS if c == "e2mc"])
def test_options_that_do_not_suit_the_elements_are_refused_at_creation(codec, path):
    """A stride of 200 words of 8 bytes leaves the block of 1024 bytes."""
    stride_200 = (0, 0, 0, 0, 200 << 14)
    with h5py.File(path, "w") as file:
        create(file, "four", smooth((900,), "f4"), codec, stride_200)
        with pytest.raises(ValueError, match="h5twin e2mc: The codec has no such option, or not"):
            create(file, "eight", smooth((900,), "f8"), codec, stride_200)
        assert "eight" not in file


@pytest.mark.parametrize("codec", [c for c in CODECS if c not in LOSSY_CODECS])
@pytest.mark.parametrize("mode", [absolute, relative])
def test_lossy_mode_on_a_lossless_codec_is_refused(codec, mode, path):
    with h5py.File(path, "w") as file:
        with pytest.raises(ValueError, match=f"h5twin {codec}: This codec is lossless only"):
            create(file, "x", smooth((9,), "f4"), codec, mode(1e-3))


@pytest.mark.parametrize("other", [dict(shuffle=True), dict(scaleoffset=3)], ids=str)
def test_lossy_after_another_filter_is_refused(other, path):
    """Behind shuffle the codec would quantize a mix of bytes."""
    with h5py.File(path, "w") as file:
        with pytest.raises(ValueError, match="Another filter, such as shuffle"):
            create(file, "x", smooth((90,), "f4"), "sleek", absolute(1e-3), chunks=(90,), **other)


def test_lossy_before_a_checksum_is_fine(write):
    data = smooth((90,), "f4")
    back = write(data, "sleek", absolute(1e-3), chunks=(90,), fletcher32=True)
    assert 0 < np.abs(back - data).max() <= 1e-3


def test_double_is_given_low_word_first():
    assert absolute(1e-3) == (1, 3539053052, 1062232653)
    assert struct.unpack("<d", struct.pack("<II", *absolute(1e-3)[1:]))[0] == 1e-3
