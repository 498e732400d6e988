# SPDX-License-Identifier: BSD-3-Clause
"""Files whose bytes are not what was written: refused, or read right; never wrong numbers."""

import struct

import h5py
import numpy as np
import pytest

from conftest import (FILTER_IDS, FIRST, FRAME_NUMBERS, absolute, create, filter_of, same_bits,
                      smooth)

FRAME_BYTES = 24


def one_chunk(path, codec, data, cd_values=(), **more):
    """The bytes of the only chunk of a new dataset."""
    with h5py.File(path, "w") as file:
        dataset = create(file, "x", data, codec, cd_values, chunks=data.shape, **more)
        return dataset.id.read_direct_chunk((0,) * data.ndim)[1]


def read_with_chunk(path, chunk, offset=(0,)):
    with h5py.File(path, "a") as file:
        file["x"].id.write_direct_chunk(offset, bytes(chunk))
    with h5py.File(path) as file:
        return file["x"][()]


def test_frame_tells_everything(codec, dtype, path):
    data = smooth((3000,), dtype)
    chunk = one_chunk(path, codec, data)
    assert chunk[:5] == b"H5TW\1"
    assert chunk[5] == FRAME_NUMBERS[codec]
    assert struct.unpack_from("<Q", chunk, 8)[0] == data.nbytes


def test_every_flipped_bit_is_an_error(codec, path):
    data = smooth((64,), "f4")
    chunk = one_chunk(path, codec, data)
    for bit in range(0, 8 * len(chunk), 5 if len(chunk) > 200 else 1):
        damaged = bytearray(chunk)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(OSError, match=f"h5twin {codec}: Decoding a chunk of {len(chunk)} bytes: "):
            read_with_chunk(path, damaged)
    assert same_bits(read_with_chunk(path, chunk), data)


@pytest.mark.parametrize("size", [1, 3, 4, 23, 24, 30])
def test_cut_chunks_are_refused(codec, size, path):
    chunk = one_chunk(path, codec, smooth((640,), "f8"))
    with pytest.raises(OSError, match="cut short|contradicts|checksum"):
        read_with_chunk(path, chunk[:size])


def test_longer_chunks_are_refused(codec, path):
    chunk = one_chunk(path, codec, smooth((640,), "f8"))
    with pytest.raises(OSError, match="contradicts|checksum"):
        read_with_chunk(path, chunk + b"\0")


@pytest.mark.parametrize("garbage, sentence", [
    (b"\0" * 100, "not an h5twin chunk"),
    (b"x\x9c" * 30, "not an h5twin chunk"),
    (b"H5TW\2" + b"\0" * 95, "newer h5twin"),
    (b"H5TW\1\x63" + b"\0" * 94, "newer h5twin"),
    (b"H5TW\1\1\0\2" + struct.pack("<Q", 1 << 62) + b"\0" * 40, "contradicts|cut short|checksum"),
    (b"H5TW\1\1\1\2" + struct.pack("<Q", 1 << 40) + b"\0" * 40, "cut short"),
], ids=["zeros", "deflate", "newer frame", "newer codec", "huge size", "huge raw size"])
def test_foreign_bytes_are_refused(codec, garbage, sentence, path):
    one_chunk(path, codec, smooth((640,), "f8"))
    with pytest.raises(OSError, match=sentence):
        read_with_chunk(path, garbage)


def as_of_an_older_version(path):
    """h5twin 0.1.0 did not note whether the filter is the first of the pipeline."""
    with h5py.File(path) as file:
        words = filter_of(file["x"])[2]
    words_in_file(path, words, (*words[:7], words[7] & ~FIRST, *words[8:]))


@pytest.mark.parametrize("count", [1, 999_999, 1_000_001])
def test_chunk_of_another_size_is_refused(codec, count, path, tmp_path):
    """A valid one of 8 bytes, say, where HDF5 will read 8 MB."""
    other = one_chunk(tmp_path / "other.h5", codec, np.full(count, 1.0))
    one_chunk(path, codec, np.full(1_000_000, 5.0))
    with pytest.raises(OSError, match=f"Decoding a chunk of {len(other)} bytes: It has {8 * count} bytes "
                                      "when decoded, while those of the dataset have 8000000"):
        read_with_chunk(path, other)


def test_small_chunk_in_a_large_ones_place_reads_no_foreign_memory(codec, path, tmp_path):
    """Where the filter may be behind another one, which takes any size."""
    small = one_chunk(tmp_path / "small.h5", codec, np.array([1.0]))
    one_chunk(path, codec, np.full(1_000_000, 5.0))
    as_of_an_older_version(path)
    back = read_with_chunk(path, small)
    assert back[0] == 1.0
    assert not back[1:].any()


def test_small_chunk_in_a_lossy_ones_place_is_refused_in_older_files_too(path, tmp_path):
    """A bound has always needed the first place."""
    small = one_chunk(tmp_path / "small.h5", "sleek", np.array([1.0]))
    one_chunk(path, "sleek", np.full(1000, 5.0), absolute(1e-3))
    as_of_an_older_version(path)
    with pytest.raises(OSError, match="It has 8 bytes when decoded"):
        read_with_chunk(path, small)


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("other, own, sentence", [
    ("<f8", "<f4", "made of floats of 8 bytes, while the dataset has floats of 4"),
    ("<f4", "<f8", "made of floats of 4 bytes, while the dataset has floats of 8"),
    (">f4", "<f4", "made of big-endian floats of 4 bytes, while the dataset has floats of 4"),
    ("<i8", "<f8", "made of integers of 8 bytes, while the dataset has floats of 8"),
    (">i4", "<i4", "made of big-endian integers of 4 bytes, while the dataset has integers of 4"),
    ("S8", "<f8", "made of words of no number of 8 bytes, while the dataset has floats of 8"),
])
def test_chunk_of_another_type_is_refused(codec, other, own, sentence, older, path, tmp_path):
    bytes_of = smooth((400,), "<f8").tobytes()
    chunk = one_chunk(tmp_path / "other.h5", codec, np.frombuffer(bytes_of, other))
    one_chunk(path, codec, np.frombuffer(bytes_of, own))
    if older:
        as_of_an_older_version(path)
    with pytest.raises(OSError, match=sentence):
        read_with_chunk(path, chunk)


@pytest.mark.parametrize("data", [np.arange(300, dtype=kind) for kind in ("<i2", ">i2", "u1", ">f2", ">i8")]
                         + [np.array([b"abc"] * 100), np.zeros(60, "<c16"), np.zeros(40, "<f4,<f8,u1"),
                            np.arange(1, dtype="f8"), np.zeros((7, 1, 3), ">f4")],
                         ids=lambda data: f"{data.dtype}{data.shape}")
@pytest.mark.parametrize("older", [False, True])
def test_every_own_chunk_is_read(codec, data, older, path):
    one_chunk(path, codec, data)
    if older:
        as_of_an_older_version(path)
    with h5py.File(path) as file:
        assert file["x"][()].tobytes() == data.tobytes()


@pytest.mark.parametrize("is_described", [True, False])
def test_chunk_of_an_empty_array_is_refused(codec, is_described, path):
    """With the reason, also where no word says how many bytes a chunk has."""
    data = np.full((16, 16), 5.0)
    if is_described:
        one_chunk(path, codec, data)
    else:
        damage_words(path, codec, data, "element")
    with pytest.raises(OSError, match=f"h5twin {codec}: Decoding .* contradicts the format"):
        read_with_chunk(path, b"H5TW\1\1\1\0" + b"\0" * 16, (0, 0))


# ---- cd_values that are not those the chunk was written with ----


def words_in_file(path, old, new):
    """Overwrite the filter's words in the file's own bytes."""
    content = path.read_bytes()
    packed = struct.pack(f"<{len(old)}I", *old)
    assert content.count(packed) == 1
    path.write_bytes(content.replace(packed, struct.pack(f"<{len(new)}I", *new)))


DAMAGES = {
    "mode": {0: 77},
    "bound": {1: 0xFFFFFFFF, 2: 0xFFFFFFFF},
    "options": {3: 0xFFFFFFFF, 4: 0xFFFFFFFF},
    "tag": {5: 0},
    "newer": {5: 0x54570007},
    "element": {6: 0xFFFFFFFF},
    "element size": {6: 3},
    "rank": {7: FIRST | 200},
    "rank lower": {7: FIRST | 1},
    "dims": {8: 0, 9: 0},
    "dims larger": {8: 0xFFFFFFFF, 9: 0xFFFFFFFF},
    "dims far larger": {8: 0x00FFFFFF, 9: 0x00FFFFFF},
    "dims smaller": {8: 1},
    "all ones": {i: 0xFFFFFFFF for i in range(10)},
    "all zero": {i: 0 for i in range(10)},
}


LOCAL = [name for name, words in DAMAGES.items() if min(words) > 5]
OTHER_SIZE = ["dims far larger", "dims smaller"]  # a valid description of another array


def damage_words(path, codec, data, damage, cd_values=()):
    """The words as they were, and as they are."""
    with h5py.File(path, "w") as file:
        words = list(filter_of(create(file, "x", data, codec, cd_values, chunks=(16, 16)))[2])
    changed = list(words)
    for index, word in DAMAGES[damage].items():
        changed[index] = word
    words_in_file(path, words, changed)
    return words, changed


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name not in OTHER_SIZE])
def test_reading_needs_no_cd_values(codec, dtype, damage, path):
    data = smooth((40, 50), dtype)
    damage_words(path, codec, data, damage)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("damage", OTHER_SIZE)
def test_reading_with_the_words_of_another_array_is_refused(codec, dtype, damage, older, path):
    """Before memory is asked for: 2^50 bytes, where HDF5 wants 2 KiB."""
    data = smooth((40, 50), dtype)
    damage_words(path, codec, data, damage)
    if older:
        as_of_an_older_version(path)
    with h5py.File(path) as file:
        if older and damage == "dims smaller":  # might be the work of a filter before
            assert same_bits(file["x"][:], data)
            return
        with pytest.raises(OSError, match="bytes when decoded, while those of the dataset have"):
            file["x"][:]


@pytest.mark.parametrize("damage", OTHER_SIZE)
def test_writing_with_the_words_of_another_array_loses_nothing(codec, dtype, damage, path):
    """Whole chunks are stored, exactly; to change a part of one HDF5 must read it, and cannot."""
    data = smooth((40, 50), dtype)
    words, changed = damage_words(path, codec, data, damage,
                                  absolute(1e-3) if codec == "sleek" else ())
    with h5py.File(path, "a") as file:
        file["x"][:32, :48] = data[:32, :48]
    with h5py.File(path, "a") as file:
        with pytest.raises(OSError, match="bytes when decoded, while those of the dataset have"):
            file["x"][33, 3] = 0
    words_in_file(path, changed, words)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:32, :48], data[:32, :48])
        assert np.abs(file["x"][:].astype("f8") - data).max() <= 1e-3


@pytest.mark.parametrize("damage", [name for name in LOCAL if name not in OTHER_SIZE])
def test_writing_with_damaged_words_about_the_array_loses_nothing(codec, dtype, damage, path):
    data = smooth((40, 50), dtype)
    damage_words(path, codec, data, damage)
    with h5py.File(path, "a") as file:
        file["x"][:] = data[::-1]
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data[::-1])


@pytest.mark.parametrize("damage", [name for name in LOCAL
                                    if name not in OTHER_SIZE and "dims l" not in name])
def test_bound_whose_array_is_unknown_is_not_applied(damage, path):
    data = smooth((40, 50), "f8")
    damage_words(path, "sleek", data, damage, absolute(1e-3))
    with h5py.File(path, "a") as file:
        file["x"][:] = data
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name not in LOCAL])
def test_writing_with_damaged_user_words_is_refused_before_the_first_chunk(codec, damage, path):
    data = smooth((40, 50), "f4")
    damage_words(path, codec, data, damage)
    with h5py.File(path, "a") as file:
        with pytest.raises(OSError, match=f"h5twin {codec}: "):
            file["x"][:] = data[::-1]
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


def test_chunks_of_other_options_are_read(codec, dtype, path, tmp_path):
    """Written with a bound, or for another shape, and put where other words stand."""
    data = smooth((300,), dtype)
    chunk = one_chunk(tmp_path / "other.h5", codec, data.reshape(10, 30))
    one_chunk(path, codec, np.zeros(300, dtype))
    assert same_bits(read_with_chunk(path, chunk), data)


@pytest.mark.parametrize("damage", [name for name in LOCAL if name not in OTHER_SIZE])
def test_chunks_written_without_a_description_are_read_with_one(codec, dtype, damage, path):
    """As bytes: the words were damaged, or of a later version, when they were written."""
    data = smooth((40, 50), dtype)
    words, changed = damage_words(path, codec, np.zeros_like(data), damage)
    with h5py.File(path, "a") as file:
        file["x"][:] = data
    words_in_file(path, changed, words)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


def test_filter_mask_is_honoured(codec, path):
    """A chunk that its writer stored without the filter."""
    data = smooth((300,), "f8")
    with h5py.File(path, "w") as file:
        dataset = create(file, "x", np.zeros(300), codec, chunks=(300,))
        dataset.id.write_direct_chunk((0,), data.tobytes(), 1)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


def test_numbers_that_files_hold_do_not_change():
    """Whatever else is added: these are in files."""
    published = {"sleek": (1, 480), "gfc": (2, 481), "e2mc": (3, 482), "ndzip": (4, 483),
                 "fpcompress": (5, 484), "cascade": (6, 485), "lattice": (7, 486)}
    assert {name: (FRAME_NUMBERS[name], FILTER_IDS[name]) for name in FILTER_IDS if name != "toy"} == published
    assert len(set(FRAME_NUMBERS.values())) == len(set(FILTER_IDS.values())) == len(FILTER_IDS)
