# SPDX-License-Identifier: BSD-3-Clause
"""HDF5's functions, memory and files fail, one place of the command after the other: it says so and leaves
nothing, or what it did is right all the same.

Places are calls in the command's own code, told by tests/support/call_fault_shim.c, built beside the tests
and preloaded here. The quick form tries every third one, H5TWIN_TEST_LONG=1 all of them, also when they are
reached for the second and third time."""

import os
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

from conftest import COMMAND, smooth
from test_faults import BUILD, LONG
from test_repack import same, snapshot

pytestmark = pytest.mark.without_h5py

SHIM = pathlib.Path(os.environ.get("H5TWIN_CALL_FAULT_SHIM", BUILD / "tests" / "call_fault_shim.so"))
CRASHES = -11, -6, -8, -7, -4  # by signals
# What these say is taken for an answer of HDF5's: 0 bytes are stored, there is no such type or reference. A
# dataset stays as it is then, a reference that leads nowhere is counted, a row has another number.
ANSWERS = set("""
    H5Tget_class H5Tequal H5Tget_size H5Tget_order H5Tget_super H5Tget_nmembers H5Tget_member_type
    H5Dget_type H5Dget_space H5Dget_storage_size H5Sget_simple_extent_ndims H5Sget_simple_extent_npoints
    H5Sget_simple_extent_dims H5Pget_layout H5Pget_chunk H5Rdereference2 H5Oget_info2 H5Pget_nfilters
    H5Pget_filter2
    """.split())


def run(*arguments, **more):
    env = {**os.environ, "H5TWIN_NUM_THREADS": "1", "LD_PRELOAD": str(SHIM),
           **{f"H5TWIN_CALL_{key.upper()}": str(more[key]) for key in more}}
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          timeout=60, check=False, env=env)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a file of most that repack knows, the same with loss and without, raw numbers, a chunk."""
    if not SHIM.exists():
        pytest.skip(f"no {SHIM}: build the tests for Linux")
    folder = tmp_path_factory.mktemp("files")
    with h5py.File(folder / "in.h5", "w", libver=("v108", "latest"), userblock_size=512, track_order=True) as file:
        group = file.create_group("group", track_order=True)
        group.create_dataset("zulu", data=smooth((40, 60), "<f4"), chunks=(16, 60), track_order=True)
        group["alpha"] = smooth((40, 60), ">f8")
        group["again"] = group["zulu"]
        group["circle"] = file["/"]
        file.create_dataset("zipped", data=np.arange(4000, dtype="i4"), chunks=(1000,), compression="gzip")
        file.create_dataset("growing", data=smooth((4, 300), "<f8"), chunks=(2, 300), maxshape=(None, 300))
        file.create_dataset("never", (30, 100), "f8", chunks=(10, 100), fillvalue=7)
        file["complex"] = (smooth((20, 60), "<f4") + 1j).astype("<c8")
        file["named"] = np.dtype([("a", "<i2"), ("b", "<f8")])
        file.create_dataset("points", (9,), dtype=file["named"], chunks=(5,))[3] = (1, 2.5)
        file["text"] = "wörds"
        file["texts"] = np.array(["one", "", "three"], h5py.string_dtype())
        file["soft"], file["far"] = h5py.SoftLink("/group/alpha"), h5py.ExternalLink("other.h5", "/x")
        file.create_dataset("links", data=[group.ref, file["zipped"].ref], dtype=h5py.ref_dtype)
        regions = file.create_dataset("regions", (2,), h5py.regionref_dtype)
        regions[0] = group["zulu"].regionref[3:5, 10:20]
        file["time"] = np.arange(600.0)
        file["time"].make_scale("time")
        file["text"].attrs.create("colour", 1, dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1}, "u1"))
        file["zipped"].attrs["to"] = file["text"].ref
        for name in "zyx":
            group.attrs[name] = np.arange(3.0)
        h5py.h5o.set_comment(group.id, b"a comment")
    (folder / "numbers").write_bytes(smooth((64, 64), "<f4").tobytes())
    for arguments in (("repack", "--codec", "lattice:abs=1e-2", "in.h5", "lossy.h5"),
                      ("repack", "--codec", "cascade", "in.h5", "coded.h5"),
                      ("encode", "--codec", "cascade", "--type", "f32", "numbers", "chunk")):
        result = subprocess.run([COMMAND, *(folder / word if "." in word[1:] and ":" not in word or word in
                                            ("numbers", "chunk") else word for word in arguments)],
                                capture_output=True, text=True, check=False)
        if "built without HDF5" in result.stderr:
            pytest.skip("this h5twin was built without HDF5")
        assert result.returncode == 0, result.stderr
    return folder


LINES = {
    "repack": "repack --codec ndzip in.h5 OUT",
    "repack with loss": "repack --codec lattice:abs=1e-2 --then deflate=1 --chunks auto --force in.h5 OUT",
    "verify": "verify --noa 1e-3 in.h5 lossy.h5",
    "verify one": "verify --abs 1e-2 in.h5:group/alpha lossy.h5:group/alpha",
    "verify numbers": "verify --type f32 --abs 1 numbers numbers",
    "info": "info coded.h5",
    "info of a chunk": "info chunk",
    "report": "report coded.h5",
    "report against": "report --against in.h5 lossy.h5",
    "page": "report --html OUT lossy.h5",
    "suggest": "suggest --codec gfc coded.h5:zipped",
    "suggest the largest": "suggest --codec gfc --sample 4k coded.h5",
    "suggest numbers": "suggest --codec gfc --type f32 --dims 64x64 --sample 4k numbers",
    "encode": "encode --codec cascade --type f32 numbers OUT",
    "decode": "decode chunk OUT",
}


def without_what_was_done(facts):
    """A snapshot but for the attributes in which repack says what it did to a dataset."""
    return {name: {**fact, "attributes": [row for row in fact["attributes"] if not row[0].startswith("lossy_compression")]}
            if isinstance(fact, dict) and "attributes" in fact else fact for name, fact in facts.items()}


def check(what, out, line, expected, result, original):
    """What a place that fails may make of a command."""
    name = what[0]
    assert result.returncode not in CRASHES, (what, result.returncode)
    if result.returncode != 0:
        assert result.returncode in (1, 2), (what, result)
        assert not out.exists() or line[0] == "report", what  # whose page tells of what it could read
        lines = result.stderr.splitlines()
        assert all(text.startswith("h5twin: ") for text in lines), (what, result.stderr)
        assert lines or line[0] == "verify", what
        assert lines or any(word in result.stdout for word in ("DIFFER", "there is no", "different types", "shapes differ",
                                                               "EXCEEDED", "cannot be compared", "CHANGED")), (what, result.stdout)
        return
    if name == "H5Eset_auto2":
        return  # HDF5 goes on to print
    assert result.stderr == "", (what, result.stderr)
    if line[0] == "repack":
        lost = "now to nothing" in result.stdout
        if lost:
            assert name in ANSWERS, what
        else:
            same(original, without_what_was_done(snapshot(out, values="ndzip" in line)))
        if "ndzip" not in line:
            assert subprocess.run([COMMAND, "verify", "--abs", "1e-2", out.parent / "in.h5", out], check=False,
                                  capture_output=True).returncode == 0 or lost, what
    elif line[0] in ("encode", "decode"):
        assert out.read_bytes() == expected, what
    elif line[0] == "verify":  # what the original seems to lack is no difference, but has a line
        assert set(expected.splitlines()) <= set(result.stdout.splitlines()), (what, result.stdout)
    elif line[0] == "info" and name not in ANSWERS:
        assert result.stdout == expected, what


@pytest.mark.parametrize("name", LINES)
def test_a_call_that_fails_is_noticed_or_does_not_matter(name, files):
    out, log = files / "out", files / "log"
    line = LINES[name].split()
    words = [out if word == "OUT" else files / word if (files / word.partition(":")[0]).exists() else word for word in line]
    log.unlink(missing_ok=True)
    out.unlink(missing_ok=True)
    good = run(*words, log=log)
    assert good.returncode == 0, good.stderr
    expected = out.read_bytes() if line[0] in ("encode", "decode") else good.stdout
    original = snapshot(files / "in.h5", values="ndzip" in line) if line[0] == "repack" else None
    places = [row.split() for row in log.read_text().splitlines()]
    assert len(places) > 3
    before = set(files.iterdir()) - {out}
    for offset, function in places if LONG else places[len(name) % 3::3]:
        for turn in range(3 if LONG else 1):
            out.unlink(missing_ok=True)
            what = function, f"call to {int(offset):#x}", f"time {turn}"
            result = run(*words, fail=offset, turn=turn)
            check(what, out, line, expected, result, original)
            assert set(files.iterdir()) - {out} == before, what
