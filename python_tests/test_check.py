# SPDX-License-Identifier: BSD-3-Clause
"""h5twin check: planted damage of each kind is found and named; sound files are told to be sound."""

import ctypes
import json
import os
import pathlib
import pickle
import re
import signal
import struct
import subprocess
import sys

import h5py
import numpy as np
import pytest

import object_headers
from command_line import needs_hdf5, needs_plugin, refused, run
from conftest import CODECS, COMMAND, FILTER_IDS, LOSSY_CODECS, SPECS, absolute, bound_words, create, filter_of, smooth

SHAPE, CHUNK = (100, 130), (40, 50)


def check(path, *options, code):
    """Its findings, by --json; the lines tell the same ones."""
    document = json.loads(run("check", "--json", *options, path, code=code).stdout)
    assert len(document) == 1 and document[0]["file"] == str(path)
    lines = run("check", *options, path, code=code).stdout.decode().splitlines()
    found = document[0]["findings"]
    assert len(lines) == len(found) + 1
    for line, finding in zip(lines, found):
        assert line.startswith(f"{path}: {finding['name']}")
        assert f"{finding['kind']}: {finding['cause']}: {finding['cure']}." in line
    return found


def kinds(path, *options, code=1):
    return {finding["kind"] for finding in check(path, *options, code=code)}


@pytest.fixture
def sound(path):
    """A file in HDF5's first format, whose structures have no checksums; 3x3 chunks of lattice."""
    needs_plugin("lattice")
    with h5py.File(path, "w", libver="earliest") as file:
        create(file, "x", smooth(SHAPE, "<f4"), "lattice", chunks=CHUNK)
        create(file, "group/other", smooth(SHAPE, "<f8"), "cascade", chunks=CHUNK)
    needs_hdf5(path)
    assert check(path, code=0) == []
    return path


def chunks_of(path, name="x"):
    """[(offset, address, size)] in the order of the index."""
    with h5py.File(path) as file:
        dataset = file[name].id
        found = [dataset.get_chunk_info(i) for i in range(dataset.get_num_chunks())]
    return [(info.chunk_offset, info.byte_offset, info.size) for info in found]


def change(path, place, replacement):
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(replacement)


def index_of(path, name="x"):
    """Addresses of the keys in the only node of a dataset's B-tree, each (size, mask, offsets), child behind it."""
    content = path.read_bytes()
    first = chunks_of(path, name)[0]
    place = -1
    while True:
        place = content.index(b"TREE\x01\x00", place + 1)
        size, mask = struct.unpack_from("<II", content, place + 24)
        child = struct.unpack_from("<Q", content, place + 24 + 8 + 8 * 3)[0]
        if (size, child) == (first[2], first[1]):
            return [place + 24 + i * 40 for i in range(struct.unpack_from("<H", content, place + 6)[0])]


def write_chunk(path, offset, chunk, mask=0, name="x"):
    with h5py.File(path, "a") as file:
        file[name].id.write_direct_chunk(offset, bytes(chunk), mask)


def read_chunk(path, offset=(0, 0), name="x"):
    with h5py.File(path) as file:
        return file[name].id.read_direct_chunk(offset)[1]


# ---- planted damage: each a function of the path of the sound file, under the kind that must be told ----

def payload_bit(path):
    _, address, size = chunks_of(path)[4]
    byte = path.read_bytes()[address + size // 2]
    change(path, address + size // 2, bytes([byte ^ 16]))
    return "checksum"


def frame_size_bit(path):
    change(path, chunks_of(path)[4][1] + 9, b"\xff")
    return {"checksum", "frame"}


def no_frame(path):
    change(path, chunks_of(path)[2][1], b"\0" * 30)
    return "frame"


def newer_frame(path):
    write_chunk(path, (40, 50), b"H5TW\x63" + bytes(200))
    return "newer"


def cut_short(path):
    write_chunk(path, (40, 50), read_chunk(path)[:-7])
    return {"checksum", "frame"}


def grown(path):
    write_chunk(path, (40, 50), read_chunk(path) + b"\0")
    return {"checksum", "frame"}


def empty_chunk(path):
    write_chunk(path, (0, 0), b"\0")
    return "frame"


def other_codec(path):
    write_chunk(path, (0, 0), other(path, "cascade", smooth(CHUNK, "<f4")))
    return "codec"


def other_size(path):
    write_chunk(path, (0, 0), other(path, "lattice", smooth((40, 51), "<f4")))
    return "foreign"


def other_words(path):
    write_chunk(path, (0, 0), other(path, "lattice", smooth((40, 25), "<f8")))
    return "foreign"


def lossy_in_lossless(path):
    write_chunk(path, (0, 0), other(path, "lattice", smooth(CHUNK, "<f4"), absolute(0.01)))
    return "mode"


def bound_of_another(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        create(file, "x", smooth(SHAPE, "<f4"), "lattice", absolute(1e-3), chunks=CHUNK)
    assert check(path, code=0) == []
    write_chunk(path, (0, 0), other(path, "lattice", smooth(CHUNK, "<f4"), absolute(0.01)))
    return "bound"


def relative_in_absolute(path):
    bound_of_another(path)
    write_chunk(path, (0, 0), other(path, "lattice", smooth(CHUNK, "<f4"), (3, *absolute(1e-3)[1:])))
    return "mode"


def other(path, codec, data, cd_values=()):
    """A chunk of another dataset of another file."""
    beside = path.with_name("other.h5")
    with h5py.File(beside, "w") as file:
        create(file, "x", data, codec, cd_values, chunks=data.shape)
        return file["x"].id.read_direct_chunk((0,) * data.ndim)[1]


def overlapping(path):
    keys = index_of(path)
    content = path.read_bytes()
    size = content[keys[1]:keys[1] + 4]
    change(path, keys[3], size)
    change(path, keys[3] + 32, content[keys[1] + 32:keys[1] + 40])
    return "overlap"


def two_datasets_overlap(path):
    _, address, size = chunks_of(path, "group/other")[0]
    key = index_of(path)[4]
    change(path, key, struct.pack("<I", size))
    change(path, key + 32, struct.pack("<Q", address))
    return "overlap"


def beyond_the_end(path):
    change(path, index_of(path)[4] + 32, struct.pack("<Q", path.stat().st_size - 10))
    return "address"


def size_beyond_the_end(path):
    change(path, index_of(path)[4], struct.pack("<I", 1 << 30))
    return "address"


def double(path):
    key = index_of(path)
    change(path, key[5] + 8, path.read_bytes()[key[4] + 8:key[4] + 24])
    return {"double", "lookup"}


def moved(path):
    change(path, index_of(path)[4] + 8, struct.pack("<QQ", 80, 100))
    return {"double", "lookup"}


def outside(path):
    change(path, index_of(path)[8] + 8, struct.pack("<Q", 40 * 1000))
    return {"outside", "index"}


def out_of_order(path):
    keys = index_of(path)
    content = path.read_bytes()
    change(path, keys[1], content[keys[7]:keys[7] + 40])
    change(path, keys[7], content[keys[1]:keys[1] + 40])
    return "lookup"


def byte_of_an_element_in_a_key(path):
    change(path, index_of(path)[4] + 24, b"\2")
    return {"index", "lookup", "double"}


def key_behind_the_last_chunk(path):
    change(path, index_of(path)[-1] + 40 + 8, bytes([3 * CHUNK[0] + 1]))
    return "index"


def chunk_of_no_bytes(path):
    change(path, index_of(path)[4], bytes(4))
    return {"address", "lookup"}


def unknown_filter_in_mask(path):
    change(path, index_of(path)[4] + 4, struct.pack("<I", 1 << 9))
    return "mask"


def unfiltered_of_wrong_size(path):
    write_chunk(path, (40, 50), bytes(77), 1)
    return "size"


def filter_left_out_that_is_mandatory(path):
    write_chunk(path, (40, 50), bytes(4 * CHUNK[0] * CHUNK[1]), 1)
    return "mask"


def damaged_index(path):
    change(path, index_of(path)[0] - 24, b"TRAP")
    return "index"


def damaged_header(path):
    change(path, object_headers.address_of(path, "x"), b"\x63")
    return {"object", "dataset"}


def damaged_group(path):
    content = path.read_bytes()
    change(path, content.rindex(b"SNOD"), b"SNAP")
    return {"group", "object"}


def chunk_shape(path):
    at = message(path, object_headers.LAYOUT)
    place = path.read_bytes().index(struct.pack("<III", *CHUNK, 4), at.start)
    change(path, place, struct.pack("<II", CHUNK[1], CHUNK[0]))
    return "layout"


def element_size_in_layout(path):
    at = message(path, object_headers.LAYOUT)
    place = path.read_bytes().index(struct.pack("<III", *CHUNK, 4), at.start)
    change(path, place + 8, struct.pack("<I", 8))
    return {"read", "size", "layout", "index", "lookup", "dataset", "object", "misplaced"}


def shape_beyond_its_limits(path):
    at = message(path, object_headers.DATASPACE)
    place = path.read_bytes().index(struct.pack("<QQ", *SHAPE), at.start)
    change(path, place, struct.pack("<Q", SHAPE[0] + 1))
    return {"shape", "dataset", "object"}


def precision_beyond_the_size(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        create(file, "x", np.arange(13000, dtype="<i4").reshape(SHAPE), "cascade", chunks=CHUNK)
    assert check(path, code=0) == []
    at = message(path, object_headers.TYPE)
    change(path, at.start + 10, struct.pack("<H", 40))
    return {"type", "dataset", "object"}


def byte_order(path):
    at = message(path, object_headers.TYPE)
    change(path, at.start + 1, bytes([path.read_bytes()[at.start + 1] | 1]))
    return "type"


def words(path):
    with h5py.File(path) as file:
        own = filter_of(file["x"])[2]
    place = path.read_bytes().index(struct.pack(f"<{len(own)}I", *own))
    change(path, place + 4, struct.pack("<I", 77))
    return "words"


def codec_in_pipeline(path):
    at = message(path, object_headers.FILTERS)
    place = path.read_bytes().index(struct.pack("<H", FILTER_IDS["lattice"]), at.start)
    change(path, place, struct.pack("<H", FILTER_IDS["sleek"]))
    return "codec"


def unknown_filter_in_pipeline(path):
    at = message(path, object_headers.FILTERS)
    place = path.read_bytes().index(struct.pack("<H", FILTER_IDS["lattice"]), at.start)
    change(path, place, struct.pack("<H", 47777))
    return "filter"


def fill_value(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        create(file, "x", smooth(SHAPE, "<f4"), "lattice", absolute(1e-3), chunks=CHUNK, fillvalue=-9999)
    assert check(path, code=0) == []
    at = message(path, object_headers.FILL)
    place = path.read_bytes().index(struct.pack("<f", -9999), at.start)
    change(path, place, struct.pack("<f", -9998))
    return "fill"


def early_but_missing(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        space, dcpl = h5py.h5s.create_simple(SHAPE), h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(CHUNK)
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_INCR)
        dcpl.set_filter(FILTER_IDS["lattice"], 1, ())
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, space, dcpl)
        made.write_direct_chunk((0, 0), other(path, "lattice", smooth(CHUNK, "<f4")))
    assert check(path, code=0) == []
    assert kinds(path, "--complete") == {"missing"}
    at = message(path, object_headers.FILL)
    content = path.read_bytes()[at.start]
    place = at.start + 1
    change(path, place, bytes([path.read_bytes()[place] & ~3 | 1]) if content == 3 else b"\1")
    return "missing"


def fletcher(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        create(file, "x", smooth(SHAPE, "<f4"), "lattice", chunks=CHUNK, fletcher32=True)
        pipeline = [filter_of(file["x"], i)[0] for i in range(2)]
    assert check(path, code=0) == []
    _, address, size = chunks_of(path)[4]
    change(path, address + size - 2, b"\x55\xaa")
    return "fletcher32" if pipeline[1] == 3 else {"checksum", "frame", "read"}


def deflate(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(CHUNK)
        dcpl.set_filter(FILTER_IDS["lattice"], 1, ())
        dcpl.set_deflate(4)
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(SHAPE), dcpl)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, smooth(SHAPE, "<f4"))
    assert check(path, code=0) == []
    _, address, size = chunks_of(path)[4]
    change(path, address, b"\0" * size)
    return {"deflate", "read"}


def gzip_of_hdf5(path):
    with h5py.File(path, "a") as file:
        del file["x"]
        file.create_dataset("x", data=smooth(SHAPE, "<f4"), chunks=CHUNK, compression="gzip")
    assert check(path, code=0) == []
    _, address, size = chunks_of(path)[4]
    change(path, address + 10, b"\xff" * (size - 10))
    return "read"


def truncated(path):
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 100)
    return "file"


DAMAGE = [payload_bit, frame_size_bit, no_frame, newer_frame, cut_short, grown, empty_chunk, other_codec, other_size,
          other_words, lossy_in_lossless, bound_of_another, relative_in_absolute, overlapping,
          two_datasets_overlap, beyond_the_end, size_beyond_the_end, double, moved, outside, out_of_order,
          byte_of_an_element_in_a_key, key_behind_the_last_chunk, chunk_of_no_bytes, unknown_filter_in_mask,
          unfiltered_of_wrong_size, filter_left_out_that_is_mandatory, damaged_index, damaged_header, damaged_group,
          chunk_shape, shape_beyond_its_limits, precision_beyond_the_size, element_size_in_layout, byte_order, words,
          codec_in_pipeline, unknown_filter_in_pipeline, fill_value,
          early_but_missing, fletcher, deflate, gzip_of_hdf5, truncated]


def message(path, kind):
    return object_headers.messages(path.read_bytes(), object_headers.address_of(path, "x"))[kind]


@pytest.mark.parametrize("plant", DAMAGE, ids=lambda plant: plant.__name__)
def test_planted_damage_is_found_and_named(plant, sound):
    wanted = plant(sound)
    found = check(sound, code=1)
    wanted = wanted if isinstance(wanted, set) else {wanted}
    assert wanted & {finding["kind"] for finding in found}, found
    assert {finding["name"] for finding in found} <= {"/x", "/group/other", "/group", "/", ""}
    if plant not in (truncated, damaged_group):
        assert "/x" in {finding["name"] for finding in found}


@pytest.mark.parametrize("track_times", [False, True])
@pytest.mark.parametrize("attributes", [0, 30])
@pytest.mark.parametrize("libver", ["earliest", "v108"])
def test_a_key_is_found_wrong_wherever_the_layout_is(libver, attributes, track_times, path):
    """In headers of both versions that HDF5 1.8 has, in their first piece or in one behind it."""
    needs_plugin("lattice")
    with h5py.File(path, "w", libver=(libver, "v108")) as file:
        create(file, "x", smooth(SHAPE, "<f4").astype("<c8"), "lattice", chunks=CHUNK, track_times=track_times)
    with h5py.File(path, "a", libver=(libver, "v108")) as file:
        for i in range(attributes):
            file["x"].attrs[f"a{i}"] = "text" * 10
    needs_hdf5(path)
    first, = object_headers.blocks(path.read_bytes(), object_headers.address_of(path, "x"))[2]
    assert libver == "earliest" or (message(path, object_headers.LAYOUT).start > first[1]) == (attributes > 0)
    assert check(path, code=0) == []
    byte_of_an_element_in_a_key(path)
    assert kinds(path) == {"index"}


def test_an_overlap_is_told_of_each_chunk_below_a_long_one(sound):
    _, address, size = sorted(chunks_of(sound), key=lambda chunk: chunk[1])[0]
    keys = index_of(sound)
    content = sound.read_bytes()
    key = next(key for key in keys if content[key + 32:key + 40] == struct.pack("<Q", address))
    change(sound, key, struct.pack("<I", size * 3))
    found = [finding for finding in check(sound, code=1) if finding["kind"] == "overlap"]
    assert len(found) >= 2


def test_what_a_newer_hdf5_wrote_is_no_damage(path):
    """A message of a version that there is not, below a right checksum; what is damage beside it is told as such."""
    needs_plugin("gfc")
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        create(file, "x", smooth((100,), "<f4"), "gfc", chunks=(50,))
        create(file, "y", smooth((100,), "<f4"), "gfc", chunks=(50,))
    needs_hdf5(path)
    address, at, content = object_headers.address_of(path, "x"), message(path, object_headers.LAYOUT), bytearray(path.read_bytes())
    content[at.start] = 99
    path.write_bytes(object_headers.sealed(content, address))
    assert kinds(path, code=2) == {"unknown"}
    write_chunk(path, (0,), b"no chunk", name="y")
    assert kinds(path, code=1) == {"unknown", "frame"}


# ---- sound files ----

def words_of(spec):
    """Filter number and cd_values, as `h5twin args` tells them to users of h5repack."""
    text = run("args", spec).stdout.decode()
    numbers = [int(word) for word in re.search(r"UD=([\d,]+)", text).group(1).split(",")]
    return numbers[0], tuple(numbers[3:])


TYPES = ["<f4", "<f8", ">f4", ">f8", "<i4", "<u2", "i1", "<i8", "<c8", "<c16", "S7", "bool",
         [("a", "<f4"), ("b", "<f4")], [("a", "<f4"), ("b", "<i8")]]


def random_dataset(file, rng, name, specs):
    """Any spec, type, shape, state; rarely other filters around, raw edges, or none of ours."""
    rank = rng.integers(1, 5)
    shape = tuple(int(n) for n in rng.integers(1, (3000, 60, 20, 9)[rank - 1], rank))
    if rng.random() < 0.08:
        shape = (0,) + shape[1:]
    chunk = tuple(int(rng.integers(1, max(n, 2) + 1)) for n in shape)
    if int(np.prod([-(-n // c) for n, c in zip(shape, chunk)])) > 300:
        chunk = tuple(max(n, 1) for n in shape)
    dtype = np.dtype(TYPES[rng.integers(len(TYPES))])
    codec, words = words_of(specs[rng.integers(len(specs))])
    kind = dtype.base if dtype.names is None else dtype[0]
    may_be_lossy = kind.kind in "fc" and dtype.names is None
    if not may_be_lossy and words and words[0] in (1, 2, 3):
        words = ()
    dcpl, space = h5py.h5p.create(h5py.h5p.DATASET_CREATE), h5py.h5s.create_simple(shape, (h5py.h5s.UNLIMITED,) * rank)
    dcpl.set_chunk(chunk)
    kind_of_pipeline = rng.random()
    if kind_of_pipeline < 0.1 and not words:
        dcpl.set_shuffle()
    if kind_of_pipeline < 0.95:
        dcpl.set_filter(codec, int(rng.integers(2)), words)
    if 0.1 < kind_of_pipeline < 0.2 or kind_of_pipeline > 0.97:
        dcpl.set_deflate(2)
    if 0.15 < kind_of_pipeline < 0.25:
        dcpl.set_fletcher32()
    if rng.random() < 0.3 and dtype.names is None and dtype.kind in "fi":
        dcpl.set_fill_value(np.array(rng.choice([0, -99, 7]), dtype))
    if rng.random() < 0.1:
        dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    if rng.random() < 0.1:
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    try:
        made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(dtype), space, dcpl)
    except (ValueError, RuntimeError):  # what the filter refuses
        return
    dataset = h5py.Dataset(made)
    how = rng.random()
    if how < 0.1:
        return  # all fill
    values = rng.normal(size=shape) * 100 if how < 0.5 else np.indices(shape).sum(axis=0) * 0.37 % 50
    if dtype.kind == "S":
        values = np.floor(values).astype("S7")
    if dtype.names is not None:
        records = np.zeros(shape, dtype)
        records["a"], records["b"] = values, np.floor(values)
        values = records
    if dtype.kind in "f" and rng.random() < 0.2:
        values[values > 30] = np.nan
    with np.errstate(all="ignore"):
        values = np.asarray(values).astype(dtype)
    if how < 0.7:
        dataset[...] = values
    else:  # a part, and later another shape
        box = tuple(slice(0, max(n // 2, 0)) for n in shape)
        dataset[box] = values[box]
        dataset.resize(tuple(max(0, int(n * rng.uniform(0.3, 1.6))) for n in shape))
    if rng.random() < 0.1:
        file[f"again/{name}"] = dataset
        file[f"soft {name}"] = h5py.SoftLink(f"/{name}" if rng.random() < 0.7 else "/nothing")


SEEDS, FILES = 20, 10


def test_the_documentation_counts_these():
    page = " ".join((pathlib.Path(__file__).resolve().parents[1] / "docs/pages/testing.md").read_text().split())
    assert len({plant.__name__ for plant in DAMAGE}) == len(DAMAGE)
    assert f"{len(DAMAGE)} kinds of planted damage are found and named, and nothing is found in {SEEDS * FILES} random" in page


@pytest.mark.parametrize("seed", range(SEEDS))
def test_sound_files_are_told_to_be_sound(seed, tmp_path):
    for codec in CODECS:
        needs_plugin(codec)
    rng = np.random.default_rng(seed)
    specs = [spec for name in CODECS for spec in SPECS[name]]
    paths = [tmp_path / f"{i}.h5" for i in range(FILES)]
    for path in paths:
        libver = [None, ("earliest", "v108"), "earliest", ("v110", "v110"), ("v108", "v110")][rng.integers(5)]
        with h5py.File(path, "w", libver=libver, userblock_size=int(rng.choice([0, 0, 512, 4096]))) as file:
            for i in range(rng.integers(1, 4)):
                random_dataset(file, rng, f"d{i}", specs)
    needs_hdf5(paths[0])
    for options in [], ["--quick"]:
        document = json.loads(run("check", "--json", *options, *paths).stdout)
        assert len(document) == len(paths)
        for entry in document:
            assert entry["findings"] == [] and entry["sound"] is True
            if not options:
                assert entry["decoded"] + entry["not_decoded_for_want_of_filters"] <= entry["chunks"]
    # Seals change nothing of that.
    run("check", "--quiet", "--seal", *paths)
    for entry in json.loads(run("check", "--json", *paths).stdout):
        assert entry["findings"] == entry["outdated_seals"] == [] and entry["sealed"] == entry["chunked"]


GROWING = [((160, 1600), (160, None), (16, 16)), ((7, 300), (22, None), (9, 15)), ((7, 64, 5), (7, None, 5), (4, 7, 5)),
           ((20, 30, 9), (None, 30, 9), (3, 4, 5)), ((6, 20, 40), (9, 20, None), (2, 3, 4)), ((30, 50), (None, None), (8, 8))]


@pytest.mark.parametrize("share", [0.02, 0.4, 1])
@pytest.mark.parametrize("shape, most, chunks", GROWING, ids=str)
def test_chunks_are_found_whichever_axis_grows(shape, most, chunks, share, tmp_path):
    """HDF5 lists the chunks of some of these at places where they are not."""
    codec = sorted(FILTER_IDS)[0]
    needs_plugin(codec)
    path, rng = tmp_path / "file.h5", np.random.default_rng(len(shape))
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        data = file.create_dataset("x", shape, "f4", maxshape=most, chunks=chunks, compression=FILTER_IDS[codec])
        places = [place for place in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunks)))]
        for place in rng.permutation(places)[:max(2, int(share * len(places)))]:
            data[tuple(slice(i * c, (i + 1) * c) for i, c in zip(place, chunks))] = rng.random()
    needs_hdf5(path)
    for options in [], ["--quick"]:
        entry, = json.loads(run("check", "--json", *options, path).stdout)
        assert entry["findings"] == []


@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_a_bound_of_an_earlier_range_is_no_damage(codec, tmp_path):
    """Values that are coded again stay, whatever has become of the range."""
    needs_plugin(codec)
    path, values = tmp_path / "file.h5", np.sin(np.arange(4096.)) * 10
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (2, 4096), "f8", chunks=(2, 4096), compression=FILTER_IDS[codec],
                                   compression_opts=(2, *bound_words(0.05)))
        data[0], data[1] = values, values * 3
    with h5py.File(path, "a") as file:
        file["x"][1] = file["x"][0]
    entry, = json.loads(run("check", "--json", path).stdout)
    assert entry["findings"] == []


def test_sums_as_hdf5_1_6_2_stored_them_are_right(path):
    """The bytes of each half swapped; later releases take both."""
    needs_plugin("cascade")
    with h5py.File(path, "w", libver="earliest") as file:
        create(file, "x", smooth(CHUNK, "<f4"), "cascade", chunks=CHUNK, fletcher32=True)
        assert filter_of(file["x"], 1)[0] == h5py.h5z.FILTER_FLETCHER32
    needs_hdf5(path)
    stored = read_chunk(path)
    write_chunk(path, (0, 0), stored[:-4] + bytes([stored[-3], stored[-4], stored[-1], stored[-2]]))
    assert check(path, code=0) == []
    with h5py.File(path) as file:
        assert (file["x"][...] == smooth(CHUNK, "<f4")).all()
    write_chunk(path, (0, 0), stored[:-4] + stored[-2:] + stored[-4:-2])
    assert kinds(path) == {"fletcher32"}


def test_noise_that_deflate_makes_longer_is_sound(path):
    """Chunks of ours that are longer than their values, too."""
    needs_plugin("cascade")
    noise = np.random.default_rng(1).integers(0, 1 << 32, CHUNK, "u4").view("f4")
    with h5py.File(path, "w") as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(CHUNK)
        dcpl.set_filter(FILTER_IDS["cascade"], 1, ())
        dcpl.set_deflate(4)
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(CHUNK), dcpl)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, noise)
    needs_hdf5(path)
    assert chunks_of(path)[0][2] > noise.nbytes
    assert check(path, code=0) == []


@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_bounds_of_many_digits_are_sound(codec, tmp_path):
    """Streams tell their bound, which may be the very one that was asked for, rounded to three digits."""
    needs_plugin(codec)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        for i, bound in enumerate([steps / 2 ** 15 for steps in range(33, 64, 2)]):
            create(file, f"d{i}", smooth((500,), "<f4"), codec, absolute(bound), chunks=(100,))
    needs_hdf5(path)
    assert check(path, code=0) == []


def test_chunks_at_the_end_without_filters_are_sound(path):
    needs_plugin("cascade")
    hdf5 = ctypes.CDLL(h5py.h5p.__file__)  # with the HDF5 that h5py is linked to
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for i, codec in enumerate([FILTER_IDS["cascade"], h5py.h5z.FILTER_DEFLATE]):
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk(CHUNK)
            dcpl.set_filter(codec, 1, () if i == 0 else (1,))
            assert hdf5.H5Pset_chunk_opts(ctypes.c_int64(dcpl.id), 2) >= 0
            made = h5py.h5d.create(file.id, b"x%d" % i, h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(SHAPE), dcpl)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, smooth(SHAPE, "<f4"))
    needs_hdf5(path)
    assert chunks_of(path, "x0")[-1][2] == 4 * CHUNK[0] * CHUNK[1]
    assert check(path, code=0) == []
    write_chunk(path, (80, 100), bytes(77), name="x0")
    assert kinds(path) == {"size"}


def test_fill_values_that_are_nan_are_sound(path):
    needs_plugin("lattice")
    with h5py.File(path, "w") as file:
        for i, bits in enumerate([0x7FC00000, 0xFFC00001, 0x7F800001]):
            fill = np.array(bits, "u4").view("f4")
            create(file, f"d{i}", smooth((500,), "<f4"), "lattice", absolute(0.01), chunks=(100,), fillvalue=fill)
    needs_hdf5(path)
    assert check(path, code=0) == []


WITHOUT_PLUGIN = """
import h5py, sys, numpy as np
path, number = sys.argv[1], int(sys.argv[2])
with h5py.File(path, "w") as file:
    for name, more in ("x", []), ("y", [h5py.h5z.FILTER_FLETCHER32]):
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((40, 50))
        dcpl.set_filter(number, h5py.h5z.FLAG_OPTIONAL, ())
        if more: dcpl.set_fletcher32()
        h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((40, 50)), dcpl)
"""


def test_chunks_of_datasets_that_were_made_without_the_plugin(path, tmp_path):
    """Their filter has no words about the array, and stays optional."""
    needs_plugin("lattice")
    subprocess.run([sys.executable, "-c", WITHOUT_PLUGIN, path, str(FILTER_IDS["lattice"])], check=True,
                   env={**os.environ, "HDF5_PLUGIN_PATH": str(tmp_path)})
    needs_hdf5(path)
    write_chunk(path, (0, 0), other(path, "lattice", smooth(CHUNK, "<f4")))
    assert check(path, code=0) == []
    write_chunk(path, (0, 0), other(path, "lattice", smooth((40, 51), "<f4")))
    assert kinds(path) == {"foreign"}
    write_chunk(path, (0, 0), bytes(8000), 1)
    write_chunk(path, (0, 0), bytes(8000 + 4), 1, "y")  # HDF5's sum of zeros is 0
    assert check(path, code=0) == []
    write_chunk(path, (0, 0), bytes(7996 + 4), 1, "y")
    assert kinds(path) == {"size"}


# ---- many files, names, what cannot be looked at ----

def test_names_cannot_forge_lines(tmp_path):
    needs_plugin("gfc")
    path, name = tmp_path / "x.h5", "a\nx: sound\x1b[31m\u202e\"b"
    with h5py.File(path, "w") as file:
        create(file, name, smooth((100,), "<f4"), "gfc", chunks=(50,))
        file[name].id.write_direct_chunk((0,), b"no chunk")
    needs_hdf5(path)
    lines = run("check", path, code=1).stdout.decode().splitlines()
    assert len(lines) == 2 and "\\x0ax: sound\\x1b[31m\\u202e" in lines[0]
    assert check_json(path, code=1)["findings"][0]["name"] == f"/{name}"


def check_json(path, *options, code):
    return json.loads(run("check", "--json", *options, path, code=code).stdout)[0]


def test_several_files_and_what_is_none(sound, tmp_path):
    text, damaged = tmp_path / "text", tmp_path / "damaged.h5"
    text.write_text("no HDF5 file")
    damaged.write_bytes(sound.read_bytes())
    payload_bit(damaged)
    assert "is missing" in refused("check")
    assert "not an HDF5 file" in refused("check", text)
    assert "No such file" in refused("check", tmp_path / "none.h5")
    result = run("check", sound, text, damaged, code=1)
    assert result.stdout.decode().startswith(f"{sound}: sound: 2 of 2 datasets with chunks, 2 of h5twin; 18 chunks, 18 decoded\n")
    document = json.loads(run("check", "--json", sound, text, damaged, code=1).stdout)
    assert [entry["sound"] for entry in document] == [True, None, False]
    assert run("check", "--quiet", sound).stdout == b""
    assert kinds(damaged, "--quick") == {"checksum"}


def test_an_object_is_looked_at_once_through_all_its_links(sound):
    with h5py.File(sound, "a") as file:
        file["hard"], file["soft"] = file["x"], h5py.SoftLink("/group/other")
        file["loop"] = file["/"]
        file["group/up"], file["nothing"] = h5py.SoftLink("/group"), h5py.SoftLink("/nowhere")
        file["elsewhere"] = h5py.ExternalLink("none.h5", "/x")
    document = check_json(sound, code=0)
    assert (document["datasets"], document["chunks"], document["findings"]) == (2, 18, [])


def test_objects_of_other_files_are_left_to_them(sound, tmp_path):
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        create(file, "g/x", smooth(SHAPE, "<f4"), "lattice", chunks=CHUNK)
    with h5py.File(sound, "a") as file:
        file["elsewhere"], file["there"] = h5py.ExternalLink(str(other), "/g"), h5py.SoftLink("/elsewhere/x")
        assert file["there"].shape == SHAPE
    document = check_json(sound, code=0)
    assert (document["datasets"], document["chunks"], document["findings"]) == (2, 18, [])


# ---- random flips ----

def content_of(path, names):
    """What h5py reads, in a process that may crash: {name: (type, shape, bytes) or why not}."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        found = {}
        try:
            with h5py.File(path) as file:
                for name in names:
                    try:
                        value = file[name][()]
                        found[name] = (value.dtype.str, value.shape, value.tobytes())
                    except Exception as error:  # pylint: disable=broad-except
                        found[name] = str(error)
        except Exception as error:  # pylint: disable=broad-except
            found = dict.fromkeys(names, str(error))
        with os.fdopen(writer, "wb") as out:
            out.write(pickle.dumps(found))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as data:
        found = data.read()
    os.waitpid(child, 0)
    return pickle.loads(found) if found else dict.fromkeys(names, "crashed")


def is_stated(before, after):
    """What `h5twin check --help` says is not found: another shape, or a dataset that is gone or no array any more."""
    if isinstance(after, tuple):
        return after[1] != before[1]
    return re.search("doesn't exist|not found|out of bounds|subscriptable|dimension|dataspace|extent|NoneType|bytes or str|"
                     "too big|too large|allocate|memory|addr overflow|crashed", after) is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="h5py may crash on damaged files, and there is no fork here")
@pytest.mark.parametrize("libver", ["earliest", ("v110", "v110")], ids=str)
def test_flipped_bytes_that_change_what_is_read_are_found(libver, tmp_path):
    for codec in "lattice", "cascade", "ndzip":
        needs_plugin(codec)
    rng, path, names = np.random.default_rng(int(os.environ.get("H5TWIN_SEED", 1))), tmp_path / "x.h5", ["x", "g/y", "z"]
    with h5py.File(path, "w", libver=libver) as file:
        create(file, "x", smooth((30, 37), "<f4"), "lattice", absolute(1e-3), chunks=(10, 15), fillvalue=-99)
        create(file, "g/y", smooth((50,), "<f8"), "cascade", chunks=(20,))
        create(file, "z", smooth((20, 20), "<f4"), "ndzip", chunks=(10, 10), maxshape=(None, 20))
    needs_hdf5(path)
    content, good = path.read_bytes(), content_of(path, names)
    chunks = {byte for name in names for _, address, size in chunks_of(path, name) for byte in range(address, address + size)}
    others = [byte for byte in range(len(content)) if byte not in chunks]
    paths, missed = [tmp_path / f"{i}.h5" for i in range(200)], []
    for damaged in paths:
        place = int(rng.choice(others) if rng.random() < 0.9 else rng.integers(len(content)))
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.integers(8)
        damaged.write_bytes(flipped)
    result = subprocess.run([COMMAND, "check", "--json", *map(str, paths)], capture_output=True, check=False, timeout=600)
    assert result.returncode == 1
    for damaged, entry in zip(paths, json.loads(result.stdout)):
        if entry["findings"] or entry["sound"] is None:
            continue
        after = content_of(damaged, names)
        missed += [(damaged.name, name, after[name]) for name in names
                   if after[name] != good[name] and not is_stated(good[name], after[name])]
    assert missed == []
