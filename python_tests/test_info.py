# SPDX-License-Identifier: BSD-3-Clause
"""h5twin info: what it says of chunks and of files."""

import re
import struct

import h5py
import numpy as np
import pytest

from command_line import ARRAY, fields, needs_hdf5, needs_plugin, run, smooth, text_of
from conftest import CODECS, FILTER_IDS


def test_info_says_what_a_chunk_is(array_file, tmp_path):
    chunk = tmp_path / "chunk"
    run("encode", "--codec", "sleek", "--abs", "1e-3", *ARRAY, array_file, chunk)
    found = fields(text_of("info", chunk))
    assert found["codec"] == "sleek (HDF5 filter 480)"
    assert found["words"] == "float, 4 bytes, little-endian"
    assert found["stored"] == "absolute, effective absolute bound 2^-10"
    assert found["raw size"] == "20480 bytes"
    assert found["stored size"].startswith(f"{chunk.stat().st_size} bytes")
    assert float(found["ratio"]) == pytest.approx(20480 / chunk.stat().st_size, abs=1e-3)
    assert found["checksum"] == "correct"


def test_info_says_raw_where_nothing_shrank(tmp_path):
    source, chunk = tmp_path / "source", tmp_path / "chunk"
    source.write_bytes(np.random.default_rng(1).bytes(8000))
    run("encode", "--codec", CODECS[0], "--type", "f64be", source, chunk)
    found = fields(text_of("info", chunk))
    assert found["stored"].startswith("raw")
    assert found["ratio"] == "0.997"


def blocks(text):
    """Dataset name -> its lines."""
    parts = re.split(r"^(/.*)\n", text.partition("\n")[2], flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_info_lists_datasets_without_our_filters(tmp_path):
    path = tmp_path / "plain.h5"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["group/scalar"] = 3.0
        file["text"] = "words"
        file.create_dataset("zipped", data=smooth((40, 50), ">f8"), chunks=(10, 10),
                            compression="gzip", shuffle=True)
    needs_hdf5(path)
    found = blocks(text_of("info", path))
    assert list(found) == ["/group/scalar", "/text", "/zipped"]
    zipped = found["/zipped"]
    assert "f64be, 40x50 in chunks of 10x10" in zipped
    assert "2: shuffle" in zipped and "1: deflate" in zipped
    assert fields(zipped)["raw size"] == "16000 bytes"


@pytest.mark.parametrize("codec", CODECS)
def test_info_tells_parameters_and_chunks_of_a_filtered_dataset(codec, tmp_path):
    needs_plugin(codec)
    path = tmp_path / "file.h5"
    noise = np.frombuffer(np.random.default_rng(2).bytes(8 * 1000), "<u8")
    with h5py.File(path, "w") as file:
        common = {"compression": FILTER_IDS[codec], "compression_opts": (0,)}
        file.create_dataset("field", data=smooth((24, 32, 50), ">f4"), chunks=(10, 16, 50), **common)
        file.create_dataset("noise", data=noise, chunks=(500,), fletcher32=True, **common)
        sparse = file.create_dataset("sparse", (1000, 1000), "<f8", chunks=(50, 50), **common)
        sparse[100:150, 200:250] = smooth((50, 50), "<f8")
        some = file.create_dataset("some", (100, 100), "<f8", chunks=(25, 25), **common)
        some[:75] = 1
    needs_hdf5(path)
    found = blocks(text_of("info", path))
    assert f"{FILTER_IDS[codec]}: {codec} (lossless) for 10x16x50 floats of 4 bytes, big-endian" \
        in found["/field"]
    assert re.fullmatch(r"6 written, [0-5] of them raw, all checksums correct",
                        fields(found["/field"])["chunks"])
    assert fields(found["/noise"])["chunks"] == "2 written, 2 of them raw, all checksums correct"
    assert fields(found["/sparse"])["chunks"].startswith("1 written")
    assert fields(found["/some"])["chunks"].startswith("12 written")
    assert "chunks " not in "".join(blocks(text_of("info", "--quick", path)).values()) \
        .replace("in chunks of", "")


def test_info_tells_bounds_and_damage(tmp_path):
    needs_plugin("sleek")
    path = tmp_path / "file.h5"
    words = struct.unpack("<II", struct.pack("<d", 1e-3))
    with h5py.File(path, "w") as file:
        for mode, name in ((1, "abs"), (2, "noa")):
            file.create_dataset(name, data=smooth((40, 50), "<f8"), chunks=(40, 50),
                                compression=480, compression_opts=(mode, *words))
        offset = file["abs"].id.get_chunk_info(0).byte_offset
    needs_hdf5(path)
    found = blocks(text_of("info", path))
    assert "sleek:abs=0.001 (absolute error bound)" in found["/abs"]
    assert "absolute, effective absolute bound 2^-10" in found["/abs"]
    assert "sleek:noa=0.001 (error bound relative to each chunk's range)" in found["/noa"]
    with open(path, "r+b") as file:
        file.seek(offset + 100)
        byte = file.read(1)[0]
        file.seek(offset + 100)
        file.write(bytes([byte ^ 0x10]))
    result = run("info", path, code=1)
    assert b"1 DAMAGED" in result.stdout and b"checksum is wrong" in result.stderr
