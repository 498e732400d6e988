# SPDX-License-Identifier: BSD-3-Clause
"""H5TWIN_VERBOSE=1: what tools keep to themselves. Without it nothing is ever printed."""

import h5py
import numpy as np
import pytest

from conftest import FILTER_IDS, run_tool, smooth

VERBOSE = {"H5TWIN_VERBOSE": "1"}
QUIET = [None, {"H5TWIN_VERBOSE": ""}, {"H5TWIN_VERBOSE": "0"}]


def lines(result):
    return [line for line in result.stderr.splitlines() if line.startswith("h5twin ")]


@pytest.fixture
def plain(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=smooth((60, 70), "f4"), chunks=(60, 70))
    return path


@pytest.fixture
def damaged(codec, tmp_path):
    """A netCDF-4 file, as nccopy makes it, with a flipped bit in its only chunk."""
    source, path = tmp_path / "plain.nc", tmp_path / "damaged.nc"
    with h5py.File(source, "w") as file:
        data = smooth((40, 50), "f4")
        file["x"] = data
        for axis, size in enumerate(data.shape):
            file[f"d{axis}"] = np.arange(size, dtype="f4")
            file[f"d{axis}"].make_scale(f"d{axis}")
            file["x"].dims[axis].attach_scale(file[f"d{axis}"])
    run_tool("nccopy", "-F", f"x,{FILTER_IDS[codec]},0", source, path)
    with h5py.File(path, "a") as file:
        mask, chunk = file["x"].id.read_direct_chunk((0, 0))
        changed = bytearray(chunk)
        changed[-1] ^= 1
        file["x"].id.write_direct_chunk((0, 0), bytes(changed), mask)
    return path


def test_h5repack_leaves_the_filter_out_and_the_reason_is_printed_once(codec, plain, tmp_path):
    """h5repack ends with 0 and an unfiltered copy: the line is all that a user can see of it."""
    command = ("h5repack", "-f", f"x:UD={FILTER_IDS[codec]},0,1,9", plain, tmp_path / "out.h5")
    printed = lines(run_tool(*command, env=VERBOSE))
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"].id.get_create_plist().get_nfilters() == 0
    assert len(printed) == 1 and printed[0].startswith(f"h5twin {codec}: ")
    assert printed[0].endswith(".")
    for env in QUIET:
        assert lines(run_tool(*command, env=env, check=False)) == []


def test_h5repacks_own_option_shows_the_sentence(codec, plain, tmp_path):
    result = run_tool("h5repack", "--enable-error-stack", "-f", f"x:UD={FILTER_IDS[codec]},0,1,9",
                      plain, tmp_path / "out.h5", check=False)
    assert f"h5twin {codec}: " in result.stderr


@pytest.mark.parametrize("tool", [("ncdump",), ("h5dump",)], ids=lambda tool: tool[0])
def test_damage_is_printed(codec, tool, damaged):
    result = run_tool(*tool, damaged, env=VERBOSE, check=False)
    assert result.returncode != 0
    printed = lines(result)
    assert printed and all("Decoding a chunk of" in line and "checksum is wrong" in line
                           for line in printed)
    for env in QUIET:
        assert lines(run_tool(*tool, damaged, env=env, check=False)) == []


def test_success_prints_nothing(codec, plain, tmp_path):
    result = run_tool("h5repack", "-f", f"x:UD={FILTER_IDS[codec]},0,1,0", plain,
                      tmp_path / "out.h5", env=VERBOSE)
    assert result.stderr == ""
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"].id.get_create_plist().get_nfilters() == 1
