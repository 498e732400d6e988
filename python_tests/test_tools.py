# SPDX-License-Identifier: BSD-3-Clause
"""The command line tools of HDF5 and netCDF, which know nothing of this project."""

import re

import h5py
import numpy as np
import pytest

from conftest import (CODECS, FILTER_IDS, FIRST, FLOATS, OPTIONS, absolute, create, filter_of, run_tool,
                      same_bits, smooth)


def all_floats(path, codec, cd_values=(), shape=(40, 50), chunks=(16, 16)):
    arrays = {f"x{i}": smooth(shape, dtype, i) for i, dtype in enumerate(FLOATS)}
    with h5py.File(path, "w") as file:
        for name, data in arrays.items():
            create(file, name, data, codec, cd_values, chunks=chunks)
    return arrays


def assert_file_holds(path, arrays):
    with h5py.File(path) as file:
        for name, data in arrays.items():
            assert same_bits(file[name][()], data)


def test_h5dump_reads(codec, path):
    with h5py.File(path, "w") as file:
        create(file, "x", np.array([1.5, -2.25, 1024.0], "f4"), codec)
    text = run_tool("h5dump", "-p", path).stdout
    assert "1.5, -2.25, 1024" in text
    assert re.search(rf"FILTER_ID {FILTER_IDS[codec]}\s+COMMENT h5twin-{codec} .*HDF5_PLUGIN_PATH", text)
    assert "H5Z_FLAG_OPTIONAL" not in text


def test_h5repack_copies(codec, path, tmp_path):
    arrays = all_floats(path, codec)
    run_tool("h5repack", path, tmp_path / "copy.h5")
    assert_file_holds(tmp_path / "copy.h5", arrays)
    with h5py.File(path) as a, h5py.File(tmp_path / "copy.h5") as b:
        for name in arrays:
            assert filter_of(a[name]) == filter_of(b[name])


@pytest.mark.parametrize("chunk", [(1, 50), (40, 1), (13, 17), (40, 50)], ids=str)
def test_h5repack_rechunks_a_compressed_file(codec, chunk, path, tmp_path):
    """set_local sees its own words, for another chunk shape."""
    arrays = all_floats(path, codec)
    run_tool("h5repack", "-l", f"CHUNK={chunk[0]}x{chunk[1]}", path, tmp_path / "again.h5")
    assert_file_holds(tmp_path / "again.h5", arrays)
    with h5py.File(tmp_path / "again.h5") as file:
        for name in arrays:
            assert file[name].chunks == chunk
            identifier, flags, words, _ = filter_of(file[name])
            assert identifier == FILTER_IDS[codec] and flags == 0
            kept = tuple(n for n in chunk if n > 1)
            assert words[7:] == (FIRST | len(kept), *kept)


@pytest.mark.parametrize("flag", [0, 1])
def test_h5repack_compresses(codec, flag, path, tmp_path):
    arrays = {"f": smooth((60, 70), "f4"), "i": np.arange(5000, dtype=">i2"),
              "s": np.array([b"abc"] * 40)}
    with h5py.File(path, "w") as file:
        for name, data in arrays.items():
            file.create_dataset(name, data=data, chunks=True)
    for words in [(0, 0)] + OPTIONS[codec]:
        options = ",".join(map(str, (5, 0, 0, 0, *words)))
        out = tmp_path / "out.h5"
        run_tool("h5repack", "-f", f"UD={FILTER_IDS[codec]},{flag},{options}", path, out)
        assert_file_holds(out, arrays)
        with h5py.File(out) as file:
            for name in arrays:
                assert filter_of(file[name])[:2] == (FILTER_IDS[codec], 0)


def test_h5repack_without_values_means_lossless(codec, path, tmp_path):
    data = smooth((60, 70), "f8")
    with h5py.File(path, "w") as file:
        file["x"] = data
    run_tool("h5repack", "-l", "x:CHUNK=60x70", "-f", f"x:UD={FILTER_IDS[codec]},0,0", path,
             tmp_path / "out.h5")
    assert_file_holds(tmp_path / "out.h5", {"x": data})
    with h5py.File(tmp_path / "out.h5") as file:
        assert filter_of(file["x"])[0] == FILTER_IDS[codec]


def test_h5repack_with_a_bound(path, tmp_path):
    data = smooth((60, 70), "f4")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=data, chunks=(30, 70))
    words = absolute(1e-3)
    run_tool("h5repack", "-f", f"UD=480,0,3,{words[0]},{words[1]},{words[2]}", path, tmp_path / "o.h5")
    with h5py.File(tmp_path / "o.h5") as file:
        assert 0 < np.abs(file["x"][:].astype("f8") - data).max() <= 1e-3


def test_h5repack_decompresses(codec, path, tmp_path):
    arrays = all_floats(path, codec)
    run_tool("h5repack", "-f", "NONE", path, tmp_path / "plain.h5")
    assert_file_holds(tmp_path / "plain.h5", arrays)
    with h5py.File(tmp_path / "plain.h5") as file:
        assert all(file[name].id.get_create_plist().get_nfilters() == 0 for name in arrays)


def test_h5dump_of_a_damaged_chunk_says_what_is_wrong(codec, path):
    with h5py.File(path, "w") as file:
        dataset = create(file, "x", smooth((4000,), "f4"), codec, chunks=(4000,))
        mask, chunk = dataset.id.read_direct_chunk((0,))
        damaged = bytearray(chunk)
        damaged[-1] ^= 1
        dataset.id.write_direct_chunk((0,), bytes(damaged), mask)
    result = run_tool("h5dump", "--enable-error-stack", path, check=False)
    assert result.returncode != 0
    assert re.search(rf"h5twin {codec}: Decoding a chunk of {len(chunk)} bytes: The chunk's checksum "
                     "is wrong.*restore the file from a copy", result.stderr)


# ---- netCDF ----


@pytest.fixture
def netcdf_file(tmp_path):
    """Two variables: floats and integers."""
    run_tool("ncgen", "--help", check=False)
    numbers = smooth((20, 30), "f4")
    text = ("netcdf t { dimensions: y = 20; x = 30; variables: float v(y, x); int k(y, x); data: v = "
            + ", ".join(repr(float(x)) for x in numbers.reshape(-1))
            + "; k = " + ", ".join(map(str, range(600))) + "; }")
    (tmp_path / "t.cdl").write_text(text)
    run_tool("ncgen", "-4", "-o", tmp_path / "t.nc", tmp_path / "t.cdl")
    return tmp_path / "t.nc", numbers


def test_nccopy_takes_a_bound_as_a_plain_number(netcdf_file, tmp_path):
    source, numbers = netcdf_file
    target = tmp_path / "lossy.nc"
    run_tool("nccopy", "-4", "-F", "v,480,1,1e-3d", source, target)
    text = run_tool("ncdump", "-hs", target).stdout
    assert re.search(r'v:_Filter = "480,1,', text)
    with h5py.File(target) as file:
        assert filter_of(file["v"])[2][:3] == absolute(1e-3)
        assert 0 < np.abs(file["v"][:].astype("f8") - numbers).max() <= 1e-3
    assert "v =" in run_tool("ncdump", target).stdout


def test_nccopy_compresses_all_variables(codec, netcdf_file, tmp_path):
    source, numbers = netcdf_file
    target = tmp_path / "all.nc"
    run_tool("nccopy", "-4", "-F", f"*,{FILTER_IDS[codec]},0", source, target)
    with h5py.File(target) as file:
        assert same_bits(file["v"][:], numbers)
        assert np.array_equal(file["k"][:].reshape(-1), np.arange(600))
        assert {filter_of(file[name])[0] for name in "vk"} == {FILTER_IDS[codec]}


def test_nccopy_rechunks_a_compressed_file(codec, netcdf_file, tmp_path):
    source, numbers = netcdf_file
    run_tool("nccopy", "-4", "-F", f"v,{FILTER_IDS[codec]},0", source, tmp_path / "a.nc")
    run_tool("nccopy", "-4", "-M", "0", "-c", "v:7,30", tmp_path / "a.nc", tmp_path / "b.nc")
    with h5py.File(tmp_path / "b.nc") as file:
        assert file["v"].chunks == (7, 30)
        assert same_bits(file["v"][:], numbers)


def test_codec_list_is_that_of_the_filters():
    assert set(CODECS) <= set(FILTER_IDS)
