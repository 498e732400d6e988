# SPDX-License-Identifier: BSD-3-Clause
"""One flipped bit in what an object header says of chunks and filters: no command crashes, reads beyond
its memory, or ends with 0 and other values.

The quick form flips each bit of the layout message under `repack`; H5TWIN_TEST_LONG=1 flips those of the
filter's parameters, too, under every command that opens files."""

import struct
import subprocess

import h5py
import numpy as np
import pytest

from conftest import COMMAND, create
from object_headers import FILTERS, LAYOUT, address_of, messages, sealed
from test_call_faults import run as run_with_shim
from test_call_faults import SHIM
from test_faults import LONG
from test_repack import ENV

pytestmark = pytest.mark.without_h5py

CHUNK = (16, 25)
DATA = np.add.outer(np.arange(32.0), np.sin(np.arange(50.0))).astype("<f4")


def make(path, codec, libver):
    with h5py.File(path, "w", libver=libver) as file:
        create(file, "x", DATA, codec, (), chunks=CHUNK)
    return path.read_bytes()


def layout_message(content):
    """Where it lies, of version 3: version, class, rank, address, extents, size of an element."""
    end = struct.pack("<III", *CHUNK, 4)
    assert content.count(end) == 1
    at = content.index(end)
    assert content[at - 11:at - 8] == bytes([3, 2, 3])
    return range(at - 11, at + 12)


def filter_parameters(content, path):
    with h5py.File(path) as file:
        words = file["x"].id.get_create_plist().get_filter(0)[2]
    end = struct.pack(f"<{len(words)}I", *words)
    at = content.index(end)
    return range(at, at + len(end))


def flips(content, places):
    for at in places:
        for bit in range(8):
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            yield f"byte {at} ({at - places[0]} of the message), bit {bit}", bytes(damaged)


def run(*arguments):
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                            timeout=60, check=False, env=ENV)
    if "built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")
    return result


def check_repack(where, source, out):
    result = run("repack", "--codec", "cascade", "--force", source, out)
    assert result.returncode in (0, 1), (where, result.returncode, result.stderr)
    if result.returncode == 1:
        assert result.stderr.startswith("h5twin: ") and result.stderr.count("\n") == 1, (where, result.stderr)
    else:
        with h5py.File(out) as file:
            assert np.array_equal(file["x"][()], DATA), where
    return result.returncode


def check_others(where, source, good):
    for arguments in (("info", source), ("report", source), ("report", "--against", good, source),
                      ("verify", good, source), ("suggest", "--abs", "1e-3", f"{source}:x")):
        result = run(*arguments)
        assert result.returncode in (0, 1), (where, arguments, result.returncode, result.stderr)


@pytest.mark.parametrize("codec", ["ndzip", "lattice"] if LONG else ["ndzip"])
def test_each_flipped_bit_of_the_layout(codec, tmp_path):
    source, good, out = tmp_path / "in.h5", tmp_path / "good.h5", tmp_path / "out.h5"
    content = make(source, codec, "earliest")
    good.write_bytes(content)
    assert check_repack("undamaged", source, out) == 0
    refused = 0
    for where, damaged in flips(content, layout_message(content)):
        source.write_bytes(damaged)
        refused += check_repack(where, source, out)
        if LONG:
            check_others(where, source, good)
    assert refused > 100
    for where, damaged in flips(content, filter_parameters(content, good) if LONG else []):
        source.write_bytes(damaged)
        check_repack(where, source, out)
        check_others(where, source, good)


@pytest.mark.parametrize("arguments", [("repack", "--codec", "ndzip", "IN", "OUT"), ("info", "IN"), ("report", "IN"),
                                       ("info", "--quick", "IN"), ("report", "--against", "GOOD", "IN"),
                                       ("verify", "GOOD", "IN"), ("verify", "IN", "GOOD"),
                                       ("repack", "--codec", "ndzip", "--only", "y", "IN", "OUT"),
                                       ("suggest", "--abs", "1e-3", "IN:x")])
@pytest.mark.parametrize("axis, bit", [(0, 7), (1, 2)])
def test_every_command_says_so(arguments, axis, bit, tmp_path):
    source, good = tmp_path / "in.h5", tmp_path / "good.h5"
    with h5py.File(source, "w") as file:
        create(file, "x", DATA, "lattice", (), chunks=CHUNK)
        file["y"] = DATA
    content = bytearray(source.read_bytes())
    good.write_bytes(content)
    content[layout_message(content)[11] + 4 * axis] ^= 1 << bit
    source.write_bytes(content)
    names = {"IN": source, "OUT": tmp_path / "out.h5", "GOOD": good, "IN:x": f"{source}:x"}
    result = run(*(names.get(word, word) for word in arguments))
    assert result.returncode == 1, (result.returncode, result.stdout)
    assert "the shape of its chunks is not that of its filter's parameters" in result.stderr
    assert "x: the shape" in result.stderr and not (tmp_path / "out.h5").exists()


# ---- headers with checksums, made right again ----


@pytest.mark.parametrize("more", [{}, {"maxshape": (None, 50)}, {"maxshape": (None, None)}], ids=["fixed", "growing", "both ways"])
def test_each_damaged_byte_of_a_new_header(more, tmp_path):
    """What a dataset's header says of chunks and filters, as libver='latest' writes it."""
    source, good, out = tmp_path / "in.h5", tmp_path / "good.h5", tmp_path / "out.h5"
    with h5py.File(good, "w", libver="latest") as file:
        create(file, "x", DATA, "ndzip", (), **{"chunks": CHUNK, **more})
        file["y"] = np.arange(1000.0)
    content = good.read_bytes()
    address = address_of(good, "x")
    assert sealed(content, address) == content
    found = messages(content, address)
    for kind in (LAYOUT, FILTERS):
        name = content.index(b"h5twin-", found[FILTERS][0])
        end = content.index(0, name)
        for at in found[kind]:
            if name < at < end - 1 and not LONG:
                continue  # letters of the filter's name
            for flip in (1, 2, 4, 8, 16, 32, 64, 128, 255) if LONG else (1 << at % 8,):
                damaged = bytearray(content)
                damaged[at] ^= flip
                source.write_bytes(sealed(bytes(damaged), address))
                where = kind, at - found[kind][0], flip
                check_repack(where, source, out)
                if LONG:
                    check_others(where, source, good)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_name_without_its_end_is_not_copied_into_a_file_that_nobody_opens(libver, tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    content = make(source, "ndzip", libver)
    with h5py.File(source, "a") as file:
        file["y"] = np.arange(1000.0)
    content, address = source.read_bytes(), address_of(source, "x")
    at = content.index(0, content.index(b"h5twin-", messages(content, address)[FILTERS][0]))
    damaged = bytearray(content)
    damaged[at] = 1
    source.write_bytes(sealed(bytes(damaged), address))
    result = run("repack", "--codec", "cascade", "--only", "y", source, out)
    if result.returncode == 0:
        with h5py.File(out) as file:
            assert np.array_equal(file["x"][()], DATA)
    else:
        assert result.returncode == 1 and not out.exists()
        assert result.stderr.startswith("h5twin: ") and result.stderr.count("\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]


def test_a_chunk_is_no_larger_than_the_file_that_claims_it(tmp_path):
    """Nobody asks for 4 GiB of memory because four bytes of an index say so."""
    if not SHIM.exists():
        pytest.skip(f"no {SHIM}: build the tests for Linux")
    source, good, out = tmp_path / "in.h5", tmp_path / "good.h5", tmp_path / "out.h5"
    content = make(source, "ndzip", "earliest")
    good.write_bytes(content)
    with h5py.File(source) as file:
        chunks = [file["x"].id.get_chunk_info(i) for i in range(4)]
    for info in chunks:  # a key of the B-tree: size, filter mask, offsets, of which the last is of bytes
        key = struct.pack("<IIQQQ", info.size, 0, *info.chunk_offset, 0)
        assert content.count(key) == 1
        content = content.replace(key, struct.pack("<I", 0xFFFFFFF0) + key[4:])
    source.write_bytes(content)
    for arguments in (("info", source), ("report", source), ("verify", good, source), ("suggest", f"{source}:x"),
                      ("repack", "--codec", "cascade", source, out)):
        result = run_with_shim(*arguments, room=16 << 20)
        assert result.returncode == 1 and not out.exists(), (arguments, result)
        assert result.stderr.startswith("h5twin: "), arguments
    assert "cut short" in run("info", source).stderr
