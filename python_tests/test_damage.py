# SPDX-License-Identifier: BSD-3-Clause
"""Files whose bytes are not what was written: refused, or read right; never wrong numbers."""

import struct

import h5py
import numpy as np
import pytest

from conftest import FILTER_IDS, FLOATS, FRAME_NUMBERS, absolute, create, filter_of, same_bits, smooth

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


def test_small_chunk_in_a_large_ones_place_reads_no_foreign_memory(codec, path, tmp_path):
    """A valid chunk of 8 bytes where HDF5 will read 8 MB."""
    small = one_chunk(tmp_path / "small.h5", codec, np.array([1.0]))
    one_chunk(path, codec, np.full(1_000_000, 5.0))
    back = read_with_chunk(path, small)
    assert back[0] == 1.0
    assert not back[1:].any()


def test_chunk_of_an_empty_array_is_refused(codec, path):
    one_chunk(path, codec, np.full(100, 5.0))
    with pytest.raises(OSError, match=f"h5twin {codec}: Decoding"):
        read_with_chunk(path, b"H5TW\1\1\1\0" + b"\0" * 16)


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
    "rank": {7: 200},
    "rank lower": {7: 1},
    "dims": {8: 0, 9: 0},
    "dims larger": {8: 0xFFFFFFFF, 9: 0xFFFFFFFF},
    "dims far larger": {8: 0x00FFFFFF, 9: 0x00FFFFFF},
    "dims smaller": {8: 1},
    "all ones": {i: 0xFFFFFFFF for i in range(10)},
    "all zero": {i: 0 for i in range(10)},
}


LOCAL = [name for name, words in DAMAGES.items() if min(words) > 5]


def damage_words(path, codec, data, damage, cd_values=()):
    with h5py.File(path, "w") as file:
        words = list(filter_of(create(file, "x", data, codec, cd_values, chunks=(16, 16)))[2])
    changed = list(words)
    for index, word in DAMAGES[damage].items():
        changed[index] = word
    words_in_file(path, words, changed)


@pytest.mark.parametrize("damage", DAMAGES)
def test_reading_needs_no_cd_values(codec, dtype, damage, path):
    data = smooth((40, 50), dtype)
    damage_words(path, codec, data, damage)
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data)


@pytest.mark.parametrize("damage", LOCAL)
def test_writing_with_damaged_words_about_the_array_loses_nothing(codec, dtype, damage, path):
    data = smooth((40, 50), dtype)
    damage_words(path, codec, data, damage)
    with h5py.File(path, "a") as file:
        file["x"][:] = data[::-1]
    with h5py.File(path) as file:
        assert same_bits(file["x"][:], data[::-1])


@pytest.mark.parametrize("damage", [name for name in LOCAL if "dims l" not in name])
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
                 "fpcompress": (5, 484)}
    assert {name: (FRAME_NUMBERS[name], FILTER_IDS[name]) for name in published} == published
    assert len(set(FRAME_NUMBERS.values())) == len(set(FILTER_IDS.values())) == len(FILTER_IDS)
