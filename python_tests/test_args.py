# SPDX-License-Identifier: BSD-3-Clause
"""h5twin args: lines to paste."""

import re
import shutil
import struct
import subprocess

import h5py
import numpy as np
import pytest

from command_line import needs_plugin, run, smooth, text_of
from conftest import CODECS, FILTER_IDS


def pasted(spec):
    """The lines by their program."""
    text = text_of("args", spec)
    return {
        "h5repack": re.search(r"^h5repack .*$", text, re.M).group(),
        "nccopy": re.search(r"^nccopy .*$", text, re.M).group(),
        "C": re.search(r"cd_values\[\d+\] = \{(.*)\};", text).group(1),
        "C filter": re.search(r"H5Pset_filter\(dcpl, (\d+), H5Z_FLAG_MANDATORY, (\d+),", text),
        "C spec": re.search(r'H5Pset_h5twin\(dcpl, "(.*)"\);', text).group(1),
        "h5py": re.search(r"compression=(\d+), compression_opts=(\(.*?\))\)", text),
    }


@pytest.mark.parametrize("spec, mode, bound", [
    ("sleek", 0, None), ("sleek:abs=1e-3", 1, 1e-3), ("sleek:noa=0.5", 2, 0.5),
    ("sleek:abs=0.1234567890123456", 1, 0.1234567890123456), ("sleek:abs=1e-300", 1, 1e-300),
    ("sleek:abs=4", 1, 4.0),
])
def test_args_lines_all_carry_the_same_numbers(spec, mode, bound):
    lines = pasted(spec)
    words = (mode,) if bound is None else (mode, *struct.unpack("<II", struct.pack("<d", bound)))
    numbers = ",".join(map(str, words))
    assert lines["h5repack"] == f"h5repack -f UD=480,0,{len(words)},{numbers} IN.h5 OUT.h5"
    assert tuple(int(word.rstrip("u")) for word in lines["C"].split(",")) == words
    assert lines["C filter"].groups() == ("480", str(len(words)))
    assert lines["h5py"].group(1) == "480" and eval(lines["h5py"].group(2)) == words
    parts = lines["nccopy"].split("'")[1].split(",")
    assert parts[:3] == ["*", "480", str(mode)]
    assert bound is None and len(parts) == 3 or \
        len(parts) == 4 and parts[3].endswith("d") and float(parts[3][:-1]) == bound
    assert text_of("args", lines["C spec"]) == text_of("args", spec)


def test_args_tells_how_to_see_what_tools_drop():
    text = text_of("args", "sleek")
    for words in ("h5twin info", "H5TWIN_VERBOSE=1", "h5repack --enable-error-stack"):
        assert words in text


def option_specs():
    """One spec for each value that `h5twin codecs` lists as a name."""
    codec = None
    for line in text_of("codecs").splitlines():
        head = re.match(r"(\w+) \(HDF5", line)
        pair = re.match(r"    (\w+)=(\w+(\|\w+)+)", line)
        codec = head.group(1) if head else codec
        if pair:
            yield from (f"{codec}:{pair.group(1)}={value}" for value in pair.group(2).split("|"))


@pytest.mark.parametrize("bound, sentence", [
    ("1e-320", "too small to be meant"), ("1.9991592789737117e+37", "in the other order as 0.01")])
def test_args_prints_no_lines_that_the_filter_refuses(bound, sentence):
    result = run("args", f"sleek:abs={bound}", code=2)
    assert sentence in result.stderr.decode() and not result.stdout


@pytest.mark.parametrize("spec", [*CODECS, "sleek:abs=1e-3", *option_specs()])
def test_args_lines_work_when_pasted(spec, tmp_path):
    codec = spec.partition(":")[0]
    needs_plugin(codec)
    data = smooth((20, 30), "<f8")
    lines = pasted(spec)
    tolerance = 1e-3 if "abs=" in spec else 0
    with h5py.File(tmp_path / "IN.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(10, 30))
    with h5py.File(tmp_path / "h5py.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=True, compression=int(lines["h5py"].group(1)),
                            compression_opts=eval(lines["h5py"].group(2)))
    files = ["h5py.h5"]
    if shutil.which("h5repack"):
        subprocess.run(lines["h5repack"], shell=True, cwd=tmp_path, check=True)
        files.append("OUT.h5")
    shutil.copy(tmp_path / "IN.h5", tmp_path / "IN.nc")
    if shutil.which("nccopy"):
        done = subprocess.run(lines["nccopy"], shell=True, cwd=tmp_path, check=False,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        files.append("OUT.nc")
    for name in files:
        with h5py.File(tmp_path / name) as file:
            assert np.max(np.abs(file["x"][()] - data)) <= tolerance
            assert file["x"].id.get_create_plist().get_filter(0)[0] == FILTER_IDS[codec], name
        if "built without" not in run("info", tmp_path / name).stderr.decode():
            assert f"{FILTER_IDS[codec]}: {spec.replace('1e-3', '0.001')} (" in \
                text_of("info", tmp_path / name), name
