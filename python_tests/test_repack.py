# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin repack`: all that an HDF5 file may hold is in the new one, and its arrays have the codec.

The quick form kills it 8 times, H5TWIN_TEST_LONG=1 a hundred times."""

import os
import pty
import random
import resource
import select
import subprocess
import time

import h5py
import numpy as np
import pytest

from command_line import refused
from conftest import CODECS, COMMAND, FILTER_IDS, LOSSY_CODECS, create, filter_of, run_tool, smooth
from test_faults import LONG, SHIM, some
from test_report import report_json
from test_verify import verify

pytestmark = pytest.mark.without_h5py

ENV = {**os.environ, "H5TWIN_NUM_THREADS": "3"}


def repack(*arguments, code=0, **more):
    result = subprocess.run([COMMAND, "repack", *map(str, arguments)], capture_output=True, text=True,
                            timeout=120, check=False, **{"env": ENV, **more})
    if "built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")
    assert result.returncode == code, result.stderr
    return result.stdout if code == 0 else result.stderr


# ---- a file with everything ----

def add_attributes(where, target, region):
    where.attrs["text"] = "wörds"
    where.attrs["texts"] = np.array(["a", "", "ccc"], h5py.string_dtype())
    where.attrs["fixed"] = np.bytes_(b"fixed")
    where.attrs["number"] = np.float32(1.5)
    where.attrs["big-endian"] = np.arange(6, dtype=">i2").reshape(2, 3)
    where.attrs["none"] = h5py.Empty("f8")
    where.attrs["nothing"] = np.zeros((0, 3))
    where.attrs.create("colour", 1, dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1}, "u1"))
    where.attrs["pair"] = np.array([(1, 2.5)], [("a", "<i2"), ("b", "<f8")])
    where.attrs.create("points at", target.ref, dtype=h5py.ref_dtype)
    where.attrs.create("region", region, dtype=h5py.regionref_dtype)
    rows = np.empty(2, object)
    rows[:] = [np.array([1, 2, 3], "i4"), np.array([], "i4")]
    where.attrs.create("rows", rows, dtype=h5py.vlen_dtype("i4"))
    where.attrs["aaa comes last, if order is kept"] = 1


def add_datasets(file):
    field = smooth((40, 60, 50), "<f4")
    ordered = file.create_group("ordered", track_order=True)
    for name in ("zulu", "alpha", "mike"):
        ordered.create_dataset(name, data=field[:20], chunks=(8, 32, 50), track_order=True)
    file["contiguous"] = field.astype(">f8")
    file.create_dataset("zipped", data=field, chunks=(7, 60, 11), compression="gzip", compression_opts=0,
                        shuffle=True, fletcher32=True)
    file.create_dataset("whole", data=np.arange(40000, dtype="<i4").reshape(200, 200), chunks=(64, 200))
    file.create_dataset("bytes", data=np.arange(9000) % 50, dtype="u1", chunks=(4096,))
    file["half"] = field[0].astype("<f2")
    file["complex"] = field[:4] + 1j * field[4:8]
    file["bool"] = field[0] > 0
    file.create_dataset("colours", data=np.arange(5000) % 2,
                        dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1}, "u1"))
    file.create_dataset("growing", data=field, chunks=(1, 60, 50), maxshape=(None, 60, None), fillvalue=-9.5)
    file.create_dataset("time", data=np.arange(40.0), chunks=(512,), maxshape=(None,))
    file.create_dataset("empty but growing", (0, 60), "f8", chunks=(16, 60), maxshape=(None, 60))
    file.create_dataset("never", (10 ** 6, 10 ** 6), "f8", chunks=(100, 100), fillvalue=7)
    file.create_dataset("never, contiguous", (100, 100), "f8", fillvalue=8)
    some_of_it = file.create_dataset("some", (2000, 2000), "f8", chunks=(50, 50), fillvalue=-1)
    some_of_it[60:70, 120:190] = 3.0
    some_of_it[1999, 1999] = 4.0
    file["scalar"] = 3.5
    file["null"] = h5py.Empty("f4")
    file.create_dataset("zero", (0, 5), "f8")
    file["few"] = np.arange(5.0)
    file["text"] = "wörds"
    file["texts"] = np.array(["one", "", "three"], h5py.string_dtype())
    file["fixed"] = np.array([b"a", b"bc"])
    file.create_dataset("zipped texts", data=np.array(["one", "two"] * 50, h5py.string_dtype()), chunks=(20,),
                        compression="gzip")
    file["points"] = np.array([(1, 2.5, b"x"), (3, 4.5, b"y")], [("a", "<i2"), ("b", "<f8"), ("c", "S3")])
    file.create_dataset("arrays", (4,), np.dtype(("f8", (6,))))[...] = np.arange(24.0).reshape(4, 6)
    rows = file.create_dataset("rows", (300,), h5py.vlen_dtype("i4"), chunks=(50,))
    rows[0], rows[299] = [1, 2, 3], [4]
    file.create_dataset("opaque", data=np.array([b"ab", b"cd"], "V2"))
    file.create_dataset("outside", (100,), "f8", external=[(file.filename + ".outside", 0, 800)])
    layout = h5py.VirtualLayout((2, 60, 50), "f4")
    layout[0] = h5py.VirtualSource(".", "zipped", (40, 60, 50))[3]
    file.create_virtual_dataset("virtual", layout, fillvalue=1)


def add_types(file):
    users = file.create_group("a user of types")
    file["named type"] = np.dtype([("a", "<i2"), ("b", "<f8")])
    file["named float"] = np.dtype("<f8")
    file["named float"].attrs["units"] = "m"
    users.create_dataset("points", data=np.array([(1, 2.5), (3, 4.5)], file["named type"].dtype),
                         dtype=file["named type"])
    users.create_dataset("chunked", (100,), dtype=file["named type"], chunks=(10,))[55] = (5, 6.5)
    users.create_dataset("floats", data=smooth((30, 200), "<f8"), dtype=file["named float"])
    users.attrs.create("float", 1.5, dtype=file["named float"])


def add_links(file):
    file["again"] = file["ordered/alpha"]
    file["ordered/and again"] = file["whole"]
    file["ordered/circle"] = file["/"]
    file["soft"] = h5py.SoftLink("/ordered/alpha")
    file["dangling"] = h5py.SoftLink("no/such/thing")
    file["external"] = h5py.ExternalLink("other.h5", "/x/y")
    file["grüße"] = h5py.SoftLink("/grüße")
    file["named type again"] = file["named type"]
    many = file.create_group("many", track_order=True)
    for i in range(50):
        many[f"link {i * 37 % 50}"] = h5py.SoftLink("/soft")
        many.attrs[f"attribute {i}"] = i
    deep = file
    for depth in range(40):
        deep = deep.create_group(f"level {depth}")
    deep["bottom"] = np.arange(3)


def add_references(file):
    x = file["zipped"]
    file.create_dataset("links", data=[file["ordered"].ref, x.ref, file["named type"].ref], dtype=h5py.ref_dtype)
    file.create_dataset("links in chunks", (1000,), h5py.ref_dtype, chunks=(100,))[250] = x.ref
    regions = file.create_dataset("regions", (2,), h5py.regionref_dtype)
    regions[0] = x.regionref[3:5, 10:20, ::2]
    pairs = file.create_dataset("pairs", (2,), [("at", h5py.ref_dtype), ("n", "<i4")])
    pairs[1] = (file["scalar"].ref, 5)
    file["latitude"] = np.arange(60.0)
    file["latitude"].make_scale("latitude")
    x.dims[1].attach_scale(file["latitude"])
    x.dims[0].label = "depth"
    for name in ("/", "ordered", "zipped", "text", "named type"):
        add_attributes(file[name], file["ordered/mike"], x.regionref[1:2, :, 7])
    add_attributes(file["ordered/zulu"], file, x.regionref[1])
    file["text"].attrs["large"] = np.arange(20000.0)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "in.h5"
    with h5py.File(path, "w", libver=("v108", "latest"), userblock_size=1024, track_order=True) as file:
        add_datasets(file)
        add_types(file)
        add_links(file)
        add_references(file)
        h5py.h5o.set_comment(file["ordered"].id, b"a comment")
        h5py.h5o.set_comment(file["text"].id, b"another one")
        file.flush()
        file["outside"][...] = np.arange(100.0)
    with open(path, "r+b") as file:
        file.write(b"#!/bin/sh\n")
    return path


# ---- what a file holds, as h5py sees it ----

def plain(value, file):
    """Values that can be compared: references as names and selections."""
    if isinstance(value, h5py.RegionReference):
        space = h5py.h5r.get_region(value, file.id) if value else None
        return (file[value].name, space.get_select_bounds(), space.get_select_npoints()) if value else "null"
    if isinstance(value, h5py.Reference):
        return file[value].name if value else "null"
    if isinstance(value, h5py.Empty):
        return "empty", value.dtype.str
    if isinstance(value, np.ndarray) and value.dtype.names:
        return [[plain(item[name], file) for name in value.dtype.names] for item in value.ravel()]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [plain(item, file) for item in value.ravel()]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.str, value.shape, value.tobytes()
    return value


def attributes(thing, file):
    found, order = [], h5py.h5.INDEX_NAME
    if hasattr(thing.id, "get_create_plist") and thing.id.get_create_plist().get_attr_creation_order():
        order = h5py.h5.INDEX_CRT_ORDER
    for index in range(h5py.h5a.get_num_attrs(thing.id)):
        attribute = h5py.h5a.open(thing.id, index=index, index_type=order)
        kind = attribute.get_type()
        name = attribute.name.decode()
        found.append((name, repr(kind.dtype), kind.committed(), attribute.shape,
                      attribute.get_space().get_simple_extent_type(), plain(thing.attrs[name], file)))
    return found


def dataset_facts(dataset, file, values):
    plist, kind = dataset.id.get_create_plist(), dataset.id.get_type()
    huge = dataset.size is not None and dataset.size > 10 ** 7
    facts = {"dtype": repr(dataset.dtype), "committed": kind.committed(), "size": kind.get_size(),
             "order": kind.get_order() if isinstance(kind, h5py.h5t.TypeIntegerID) else None,
             "shape": dataset.shape, "maxshape": dataset.maxshape,
             "outside": plist.get_external_count(), "virtual": dataset.is_virtual and [
                 (source.file_name, source.dset_name, source.vspace.get_select_bounds(),
                  source.src_space.get_select_bounds()) for source in dataset.virtual_sources()]}
    if not kind.detect_class(h5py.h5t.VLEN) and dataset.dtype.kind not in "OSV":
        facts["fill"] = plain(np.asarray(dataset.fillvalue), file)
    if values and not huge:
        facts["values"] = plain(dataset[()], file)
    return facts


def snapshot(path, values=True):
    """Everything by name; an object's facts stand under its first one."""
    found, seen = {}, {}
    with h5py.File(path) as file:
        def look(group, prefix):
            # In the order of creation where the group has it: h5py's own choice.
            for name in group:
                full = prefix + name
                link = group.get(name, getlink=True)
                if isinstance(link, h5py.SoftLink):
                    found[full] = "soft", link.path
                elif isinstance(link, h5py.ExternalLink):
                    found[full] = "external", link.filename, link.path
                else:
                    thing = group[name]
                    address = h5py.h5o.get_info(thing.id).addr
                    if address in seen:
                        found[full] = "again", seen[address]
                        continue
                    seen[address] = full
                    facts = {"kind": type(thing).__name__, "attributes": attributes(thing, file)}
                    if isinstance(thing, h5py.Dataset):
                        facts.update(dataset_facts(thing, file, values))
                    elif isinstance(thing, h5py.Datatype):
                        facts["dtype"] = repr(thing.dtype)
                    found[full] = facts
                    if isinstance(thing, h5py.Group):
                        look(thing, full + "/")

        seen[h5py.h5o.get_info(file.id).addr] = "/"
        found["/"] = attributes(file["/"], file), file.userblock_size
        look(file, "/")
    return found


def same(before, after):
    assert list(before) == list(after)
    for name, facts in before.items():
        assert after[name] == facts, name


# ---- without loss ----

CODED = {"/ordered/zulu", "/ordered/alpha", "/ordered/mike", "/contiguous", "/zipped", "/whole", "/bytes", "/half",
         "/complex", "/bool", "/colours", "/growing", "/time", "/empty but growing", "/never",
         "/never, contiguous", "/some", "/a user of types/floats"}


@pytest.mark.parametrize("codec, more", [("ndzip", ()), ("cascade", ("--chunks", "auto")),
                                         ("gfc", ("--then", "deflate=1", "--threads", 1))])
def test_everything_is_kept(original, tmp_path, codec, more):
    out = tmp_path / "out.h5"
    repack("--codec", codec, *more, original, out)
    same(snapshot(original), snapshot(out))
    repack("--codec", codec, "--quiet", out, tmp_path / "again.h5")
    same(snapshot(original), snapshot(tmp_path / "again.h5"))
    assert out.read_bytes()[:1024] == original.read_bytes()[:1024]
    with h5py.File(original) as old, h5py.File(out) as new:
        # Not by h5py.h5o.get_comment, which reads memory that it has freed.
        for name, comment in (b"ordered", b"a comment"), (b"text", b"another one"):
            assert new["/"].id.get_comment(name) == old["/"].id.get_comment(name) == comment
        coded = []
        new.visititems(lambda name, thing: coded.append(thing) if isinstance(thing, h5py.Dataset) and
                       thing.id.get_create_plist().get_nfilters() and
                       filter_of(thing)[0] == FILTER_IDS[codec] else None)
        assert len(coded) == len(CODED) and all(new[name] in coded for name in CODED)
        for name in ("never", "never, contiguous", "empty but growing"):
            assert new[name].id.get_storage_size() == 0 and new[name].chunks
        assert new["zipped texts"].compression == "gzip"
        if not more:
            assert new["zipped"].chunks == old["zipped"].chunks and new["growing"].chunks == (1, 60, 50)
            assert new["some"].id.get_num_chunks() == old["some"].id.get_num_chunks() == 3
        for name in CODED:
            stages = new[name].id.get_create_plist().get_nfilters()
            assert stages == (2 if "--then" in more else 1), name
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []


def test_h5diff_finds_no_difference(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:  # without references: it crashes on those to nothing
        add_datasets(file)
        add_types(file)
        file["soft"], file["again"] = h5py.SoftLink("/zipped"), file["whole"]
        # Nor does it compare what is empty.
        for name in ("never", "null", "zero", "outside", "empty but growing", "never, contiguous"):
            del file[name]
    repack("--codec", "sleek", source, out)
    found = run_tool("h5diff", "-v", source, out).stdout
    assert found.count("0 differences found") > 30
    assert found.count("differences found") == found.count("\n0 differences found")


@pytest.mark.parametrize("codec", CODECS)
def test_chunks_are_those_that_hdf5_would_have_written(codec, tmp_path):
    data = smooth((50, 60), ">f4")
    source, out, expected = (tmp_path / name for name in ("in.h5", "out.h5", "expected.h5"))
    with h5py.File(source, "w") as file:
        file.create_dataset("x", data=data, chunks=(50, 100), maxshape=(None, None), fillvalue=-5)
    with h5py.File(expected, "w") as file:
        create(file, "x", data, codec, (), chunks=(16, 25), fillvalue=-5)
    repack("--codec", codec, "--chunks", "16x25", source, out)  # fewer bytes, even if stored raw
    with h5py.File(out) as found, h5py.File(expected) as wanted:
        assert filter_of(found["x"])[:3] == filter_of(wanted["x"])[:3]
        assert wanted["x"].id.get_num_chunks() == found["x"].id.get_num_chunks() == 12
        for offset in np.ndindex(4, 3):
            place = (offset[0] * 16, offset[1] * 25)
            assert found["x"].id.read_direct_chunk(place) == wanted["x"].id.read_direct_chunk(place)


def test_new_chunks_over_old_ones(tmp_path):
    data = smooth((70, 90, 33), "<f8")
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(9, 11, 33), compression="gzip")
        part = file.create_dataset("part", data.shape, "f8", chunks=(9, 11, 33), fillvalue=2)
        part[20:30, 40:50] = 1
    repack("--codec", "ndzip", "--chunks", "16x90x200", tmp_path / "in.h5", tmp_path / "out.h5")
    with h5py.File(tmp_path / "in.h5") as old, h5py.File(tmp_path / "out.h5") as new:
        assert new["x"].chunks == (16, 90, 33)
        for name in old:
            assert np.array_equal(old[name][()], new[name][()])
        assert new["part"].id.get_num_chunks() == 2


@pytest.mark.parametrize("fill", [None, -5])
def test_what_was_never_written_is_the_fill_value_even_if_hdf5_writes_none(fill, tmp_path):
    data = np.arange(1.0, 7)[:, None] * np.ones(1024)  # so that it gets smaller
    data[[1, 3, 4]] = 0 if fill is None else fill
    with h5py.File(tmp_path / "in.h5", "w") as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((1, 1024))
        dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        if fill is not None:
            dcpl.set_fill_value(np.array(fill, "f8"))
        h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(data.shape), dcpl)
        for row in (0, 2, 5):
            file["x"][row] = data[row]
    repack("--codec", "ndzip", "--chunks", "2x1024", "--threads", "1", tmp_path / "in.h5", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert np.array_equal(file["x"][()], data)


@pytest.mark.parametrize("share", [0.02, 0.6])
def test_few_chunks_of_a_dataset_that_grows_along_its_last_axis(share, tmp_path):
    """HDF5 lists these chunks at places where they are not."""
    old, new, rng = tmp_path / "old.h5", tmp_path / "new.h5", np.random.default_rng(1)
    with h5py.File(old, "w", libver=("v110", "v110")) as file:
        data = file.create_dataset("x", (160, 1600), "f8", maxshape=(160, None), chunks=(16, 16))
        for at in rng.permutation(1000)[:int(1000 * share)]:
            row, column = at // 100 * 16, at % 100 * 16
            data[row:row + 16, column:column + 16] = rng.random((16, 16))
        values = data[()]
    repack("--codec", f"{LOSSY_CODECS[0]}:abs=1e-3", old, new)
    with h5py.File(new) as file:
        assert filter_of(file["x"]) is not None
        assert np.abs(file["x"][()] - values).max() <= 1e-3


def test_chunks_auto_are_those_that_the_library_advises(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("x", (200, 300, 400), "f4", chunks=(1, 1, 400))
        file.create_dataset("growing", (0, 1000, 1000), "f4", maxshape=(None, 1000, 1000), chunks=(1, 1000, 1))
    repack("--codec", "ndzip", "--chunks", "auto", tmp_path / "in.h5", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"].chunks == (50, 76, 50)
        assert file["growing"].chunks == (1, 512, 512)


# ---- with loss, and not all ----

@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_a_bound_is_kept_and_repacking_again_changes_nothing(original, codec, tmp_path):
    out, again = tmp_path / "out.h5", tmp_path / "again.h5"
    repack("--codec", f"{codec}:abs=1e-2", "--no-attributes", original, out)
    before, after = snapshot(original, values=False), snapshot(out, values=False)
    same(before, after)
    good, text = verify("--abs", "1e-2", original, out)
    assert good and "/contiguous: 120000 values, max error" in text and "/ordered/and again: 40000 values, identical" in text
    repack("--codec", f"{codec}:abs=1e-2", "--no-attributes", out, again)
    assert verify(out, again)[0]
    _, datasets = report_json("--against", original, out)
    assert datasets["/contiguous"]["filters"][0]["spec"] == f"{codec}:abs=0.01"
    assert datasets["/growing"]["comparison"]["violations"] == 0


@pytest.mark.parametrize("patterns, names", [
    (["zipped"], {"/zipped"}), (["/ordered/*"], {"/ordered/zulu", "/ordered/alpha", "/ordered/mike", "/whole"}),
    (["a*a", "[wb]hole", "bytes"], {"/ordered/alpha", "/whole", "/bytes"}), (["again"], {"/ordered/alpha"})])
def test_only_those_that_are_named(original, patterns, names, tmp_path):
    arguments = [word for pattern in patterns for word in ("--only", pattern)]
    repack("--codec", "sleek", *arguments, original, tmp_path / "out.h5")
    _, datasets = report_json(tmp_path / "out.h5")
    found = {name for name, row in datasets.items() if any(f["id"] == FILTER_IDS["sleek"] for f in row["filters"])}
    # `report` takes the first name in alphabetical order, repack that of creation.
    assert {"/again" if name == "/ordered/alpha" else name for name in names} == \
        {"/whole" if name == "/ordered/and again" else name for name in found}
    same(snapshot(original), snapshot(tmp_path / "out.h5"))


# ---- what may go wrong ----

@pytest.mark.parametrize("arguments, words, code", [
    (["--codec", "ndzip", "IN.h5"], "IN and OUT", 2),
    (["IN.h5", "OUT.h5"], "--codec is missing", 2),
    (["--codec", "zstd", "IN.h5", "OUT.h5"], "zstd", 2),
    (["--codec", "ndzip:abs=1e-3", "IN.h5", "OUT.h5"], "abs=1e-3", 2),
    (["--codec", "ndzip", "--chunks", "12y5", "IN.h5", "OUT.h5"], "--chunks 12y5 is not", 2),
    (["--codec", "ndzip", "--chunks", "some", "IN.h5", "OUT.h5"], "keep, auto", 2),
    (["--codec", "ndzip", "--then", "zstd", "IN.h5", "OUT.h5"], "is not deflate", 2),
    (["--codec", "ndzip", "--then", "deflate=0", "IN.h5", "OUT.h5"], "deflate=1", 2),
    (["--codec", "ndzip", "--threads", "0", "IN.h5", "OUT.h5"], "--threads 0", 2),
    (["--codec", "ndzip", "--only", "y", "IN.h5", "OUT.h5"], "no dataset of the name", 1),
    (["--codec", "ndzip", "--chunks", "4x4", "IN.h5", "OUT.h5"], "/x has 1 dims, but --chunks 2", 1),
    (["--codec", "ndzip", "none.h5", "OUT.h5"], "No such file", 1),
    (["--codec", "ndzip", "RAW", "OUT.h5"], "not an HDF5 file", 1),
    (["--codec", "ndzip", "IN.h5", "RAW"], "RAW is there already", 1),
    (["--codec", "ndzip", "--force", "IN.h5", "IN.h5"], "are the same file", 1),
    (["--codec", "ndzip", "--force", "IN.h5", "LINK"], "are the same file", 1),
    (["--codec", "ndzip", "--force", "IN.h5", "/dev/null"], "no regular file", 1),
    (["--codec", "ndzip", "IN.h5", "no/such/folder/OUT.h5"], "cannot be written", 1),
])
def test_a_wrong_command_line_gives_a_reason(arguments, words, code, tmp_path):
    (tmp_path / "RAW").write_bytes(bytes(400))
    with h5py.File(tmp_path / "IN.h5", "w") as file:
        file["x"] = np.arange(1000.0)
    (tmp_path / "LINK").symlink_to("IN.h5")
    assert words in refused("repack", *arguments, code=code, cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"RAW", "IN.h5", "LINK"}


def test_force_replaces_and_keeps_the_mode(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:
        file["x"] = np.arange(1000.0)
    out.write_bytes(b"what was there")
    out.chmod(0o640)
    repack("--codec", "ndzip", "--force", "--quiet", source, out)
    assert verify(source, out)[0] and out.stat().st_mode & 0o777 == 0o640


def test_damage_and_unknown_filters_leave_nothing(tmp_path):
    source = tmp_path / "in.h5"
    with h5py.File(source, "w") as file:
        create(file, "x", smooth((40, 500), "<f8"), CODECS[0], (), chunks=(20, 500))
        offset = file["x"].id.get_chunk_info(1).byte_offset
    with open(source, "r+b") as file:
        file.seek(offset + 100)
        file.write(b"damage")
    assert "/x cannot be read" in repack("--codec", CODECS[-1], source, tmp_path / "out.h5", code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]


def test_references_to_nothing_are_counted(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["gone"] = 1
        file.create_dataset("links", data=[file["gone"].ref], dtype=h5py.ref_dtype)
        file["x"] = np.arange(1000.0)
        del file["gone"]
    assert "1 reference pointed to no object" in repack("--codec", "ndzip", tmp_path / "in.h5", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert not file["links"][0]


@pytest.fixture
def large(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        for i in range(6):
            file.create_dataset(f"x{i}", data=smooth((50, 100, 100), "<f4", seed=i), chunks=(5, 100, 100))
        file["text"] = "words"
    return tmp_path / "in.h5"


def test_killed_at_any_time_there_is_no_half_file(large, tmp_path):
    before, out = large.read_bytes(), tmp_path / "out.h5"
    command = [COMMAND, "repack", "--quiet", "--force", "--codec", "cascade:effort=fast", large, out]
    start = time.monotonic()
    subprocess.run(command, check=True, env=ENV)
    took = time.monotonic() - start
    assert verify(large, out)[0]
    rng, killed, rounds = random.Random(7), 0, 100 if LONG else 8
    for i in range(5 * rounds):
        if i >= rounds and killed > 0:
            break
        present = i % 2 == 1
        out.write_bytes(b"what was there") if present else out.unlink(missing_ok=True)
        process = subprocess.Popen(command, env=ENV)
        time.sleep(rng.random() * took)
        process.send_signal(9 if i % 4 < 2 else 15)
        killed += process.wait() != 0
        if killed == 0:
            took /= 2  # it was measured while the machine was busier
        assert large.read_bytes() == before
        before_it = b"what was there" if present else None
        left = out.read_bytes() if out.exists() else None
        if process.returncode == 0 or left != before_it:  # it was killed after the renaming
            assert verify(large, out)[0]
        else:
            assert process.returncode in (-9, -15)
            if process.returncode == -15:
                assert list(tmp_path.glob("*.tmp")) == []
        for path in tmp_path.glob("*.tmp"):
            path.unlink()
    assert killed > 0


@pytest.mark.parametrize("all_later", [0, 1])
def test_a_failing_disk_leaves_what_was_there(large, tmp_path, all_later):
    if not SHIM.exists():
        pytest.skip(f"no {SHIM}: build the tests for Linux")
    env = {**ENV, "LD_PRELOAD": str(SHIM)}
    out, log = tmp_path / "out.h5", tmp_path / "log"
    arguments = ("--quiet", "--force", "--codec", "ndzip", large, out)
    repack(*arguments, env={**env, "H5TWIN_FAULT_LOG": str(log)})
    calls, whole = log.read_text().split(), out.read_bytes()
    assert calls[-2:] == ["fsync", "rename"]
    for number in some(len(calls), 6):
        out.write_bytes(b"what was there")
        message = repack(*arguments, code=1, env={**env, "H5TWIN_FAULT_AT": str(number),
                                                  "H5TWIN_FAULT_ALL_LATER": str(all_later)})
        assert message.startswith("h5twin: ") and message.count("\n") == 1, (calls[number], message)
        assert out.read_bytes() == b"what was there"
        assert list(tmp_path.glob("*.tmp")) == []
    assert whole != b"what was there"


def test_a_limit_of_the_file_size_is_an_error(large, tmp_path):
    message = repack("--codec", "ndzip", large, tmp_path / "out.h5", code=1,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000)))
    assert "written" in message or "repacked" in message
    assert {path.name for path in tmp_path.iterdir()} == {"in.h5"}


# ---- what is shown ----

def test_the_table_says_what_became_of_each_dataset(original, tmp_path):
    text = repack("--codec", "ndzip", original, tmp_path / "out.h5")
    for line in ("/text: as it is: not an array of numbers", "/zipped: ndzip, chunks of 7x60x11",
                 "/scalar: as it is: no array", "/zero: as it is: empty",
                 "/outside: as it is: its values are in other files", "/few: as it is: its chunks are below 1 KiB"):
        assert line in text
    some = repack("--codec", "ndzip", "--only", "bool", original, tmp_path / "some.h5")
    assert "/zipped: as it is: not asked for" in some and "1 dataset coded" in some
    assert text.splitlines()[-1].endswith("as they are") and "datasets coded" in text
    assert repack("--codec", "ndzip", "--quiet", original, tmp_path / "quiet.h5") == ""


def test_a_terminal_gets_a_progress_bar(large, tmp_path):
    terminal, end = pty.openpty()
    process = subprocess.Popen([COMMAND, "repack", "--codec", "cascade", large, tmp_path / "out.h5"], stderr=end,
                               stdout=subprocess.DEVNULL, env=ENV)
    os.close(end)
    shown = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
    os.close(terminal)
    assert process.wait() == 0
    assert b" MB/s" in shown and shown.endswith(b"\r\x1b[K")
