# SPDX-License-Identifier: BSD-3-Clause
"""Seals: h5twin check finds chunks that were moved, swapped, lost or replaced since, and nothing else."""

import json
import os
import stat
import struct
import threading
import time

import h5py
import numpy as np
import pytest

from command_line import needs_hdf5, needs_plugin, run
from conftest import create, smooth
from test_check import change, chunks_of, index_of

SHAPE, CHUNK = (100, 130), (40, 50)


def check(path, *options, code=0):
    document, = json.loads(run("check", "--json", *options, path, code=code).stdout)
    text = run("check", *options, path, code=code).stdout.decode() if not options else ""
    for finding in document["findings"]:
        assert not text or f"{finding['kind']}: {finding['cause']}: {finding['cure']}." in text
    for entry in document["outdated_seals"]:
        assert not text or f"{entry['name']}: its seal" in text and entry["reason"] in text
    return document


def found(path, *options):
    return {(finding["kind"], finding["name"], tuple(finding["chunk"] or ()))
            for finding in check(path, *options, code=1)["findings"]}


@pytest.fixture
def sealed(path):
    """Chunks of lattice, of cascade behind fletcher32, of HDF5's own filters, and of none."""
    for codec in "lattice", "cascade":
        needs_plugin(codec)
    rng = np.random.default_rng(5)
    with h5py.File(path, "w") as file:
        options = {"chunks": CHUNK, "maxshape": (None, None)}
        create(file, "x", smooth(SHAPE, "<f4") + rng.random(SHAPE, "f4"), "lattice", **options)
        create(file, "deep/er/y", smooth(SHAPE, "<f8") + rng.random(SHAPE), "cascade", fletcher32=True, **options)
        file.create_dataset("gzip", data=rng.integers(0, 99, SHAPE), compression="gzip", **options)
        file.create_dataset("plain", data=rng.random(SHAPE), **options)
        file.create_dataset("part", SHAPE, "f4", **options)[:40] = 1
        file.create_dataset("contiguous", data=np.arange(10))
        file["x"].attrs["units"] = "K"
    needs_hdf5(path)
    document = check(path, "--seal")
    assert document["findings"] == [] and document["sealed_now"] == 5
    document = check(path)
    assert (document["sealed"], document["outdated"], document["sound"]) == (5, 0, True)
    return path


NAMES = ["x", "deep/er/y", "gzip", "plain"]


def read(path, name, offset):
    with h5py.File(path) as file:
        return file[name].id.read_direct_chunk(offset)[1]


def write(path, name, offset, chunk):
    with h5py.File(path, "a") as file:
        file[name].id.write_direct_chunk(offset, chunk)


@pytest.mark.parametrize("options", [[], ["--quick"]], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_swapped_chunks_are_found_with_the_places_they_had(sealed, name, options):
    here, there = (0, 50), (40, 0)
    first, second = read(sealed, name, here), read(sealed, name, there)
    write(sealed, name, here, second)
    write(sealed, name, there, first)
    findings = check(sealed, *options, code=1)["findings"]
    assert {(entry["kind"], entry["name"], tuple(entry["chunk"])) for entry in findings} == \
        {("moved", f"/{name}", here), ("moved", f"/{name}", there)}
    assert "in place 40,0 " in next(entry["cause"] for entry in findings if tuple(entry["chunk"]) == here)
    assert check(sealed, "--seal", code=1)["sealed_now"] == 0
    assert found(sealed, *options)  # not sealed anew


@pytest.mark.parametrize("name", NAMES)
def test_a_chunk_in_two_places_is_found(sealed, name):
    write(sealed, name, (40, 50), read(sealed, name, (0, 0)))
    assert found(sealed) == {("moved", f"/{name}", (40, 50))}


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_chunk_is_found(sealed, name, tmp_path):
    other = tmp_path / "other.h5"
    with h5py.File(sealed) as source, h5py.File(other, "w") as file:
        source.copy(name, file, "z")
        file["z"][:40, :50] = np.ones((40, 50))
    write(sealed, name, (0, 0), read(other, "z", (0, 0)))
    assert found(sealed) == {("changed", f"/{name}", (0, 0))}


def test_a_lost_chunk_is_found(sealed):
    """Shrunk and grown again: nothing else says that there was a chunk."""
    with h5py.File(sealed, "a") as file:
        file["x"].resize((100, 100))
        file["x"].resize(SHAPE)
    assert {("lost", "/x", (40, 100)), ("lost", "/x", (0, 100))} <= found(sealed)
    assert all(name == "/x" for _, name, _ in found(sealed))


def test_what_damage_is_told_of_is_not_told_again(sealed):
    """Neither that a chunk is another one now, nor that it is gone."""
    content = sealed.read_bytes()
    offset, address, size = chunks_of(sealed)[4]
    change(sealed, address + size // 2, bytes([content[address + size // 2] ^ 16]))
    assert found(sealed) == {("checksum", "/x", offset)}
    change(sealed, index_of(sealed)[4] + 32, struct.pack("<Q", len(content)))
    assert found(sealed) == {("address", "/x", offset)}


def test_a_place_that_was_empty_is_found(sealed):
    with h5py.File(sealed, "a") as file:
        file["part"][99, 129] = 3
    assert found(sealed) == {("changed", "/part", (80, 100))}


def test_many_changes_are_counted(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.random.default_rng(1).random(1000), chunks=(10,))
    needs_hdf5(path)
    check(path, "--seal")
    with h5py.File(path, "a") as file:
        file["x"][...] = 1
    findings = check(path, code=1)["findings"]
    assert len(findings) == 9 and {entry["kind"] for entry in findings} == {"changed"}
    assert "92 more of its 100" in findings[-1]["cause"]
    assert check(path, "--seal", code=1)["sealed_now"] == 0
    assert check(path, "--seal-anew")["sealed_now"] == 1
    assert check(path)["sealed"] == 1


def test_grown_datasets_are_no_damage_and_what_was_there_is_compared(sealed):
    with h5py.File(sealed, "a") as file:
        for name in NAMES:
            file[name].resize((155, 210))
            file[name][100:, :130] = 7  # in the chunks at the old end, too
            file[name][:, 130:] = 8
    document = check(sealed)
    assert document["findings"] == [] and document["outdated"] == 4 and document["sealed"] == 5
    assert {entry["name"] for entry in document["outdated_seals"]} == {f"/{name}" for name in NAMES}
    first, second = read(sealed, "x", (0, 50)), read(sealed, "x", (40, 0))
    write(sealed, "x", (0, 50), second)
    write(sealed, "x", (40, 0), first)
    assert found(sealed) == {("moved", "/x", (0, 50)), ("moved", "/x", (40, 0))}
    write(sealed, "x", (0, 50), first)
    write(sealed, "x", (40, 0), second)
    assert check(sealed, "--seal")["sealed_now"] == 5
    document = check(sealed)
    assert (document["sealed"], document["outdated"]) == (5, 0)


def test_smaller_datasets_are_no_damage(sealed):
    with h5py.File(sealed, "a") as file:
        file["x"].resize((70, 90))
        file["gzip"].resize((0, 90))
    document = check(sealed)
    assert document["findings"] == [] and document["outdated"] == 2


def test_other_chunks_or_filters_are_no_damage(sealed, tmp_path):
    out = tmp_path / "out.h5"
    with h5py.File(sealed) as source, h5py.File(out, "w") as file:
        for name, options in (("x", {"chunks": (50, 50)}), ("gzip", {"chunks": CHUNK, "compression": 9})):
            file.create_dataset(name, data=source[name][...], **options)
            source.copy(source["plain"], file, f"copy of {name}")
            attribute = h5py.h5a.open(source[name].id, b"h5twin_seal")
            bytes_ = np.empty((), attribute.dtype)
            attribute.read(bytes_)
            made = h5py.h5a.create(file[name].id, b"h5twin_seal", attribute.get_type(), attribute.get_space())
            made.write(bytes_)
    document = check(out)
    assert document["findings"] == [] and document["outdated"] == 2 and document["sealed"] == 2


def test_copies_by_other_tools_keep_their_seals(sealed, tmp_path):
    out = tmp_path / "out.h5"
    with h5py.File(sealed) as source, h5py.File(out, "w") as file:
        for name in NAMES + ["part"]:
            source.copy(name, file)
    assert check(out)["sealed"] == 5


def test_repack_seals_what_it_writes(sealed, tmp_path):
    out, plain = tmp_path / "out.h5", tmp_path / "plain.h5"
    run("repack", "--codec", "cascade", "--seal", "--verify", sealed, out)
    assert check(out)["sealed"] >= 5 and check(out)["outdated"] == 0
    run("repack", "--codec", "cascade", "--only", "x", sealed, plain)  # x gets no seal, the others keep theirs
    document = check(plain)
    assert document["findings"] == [] and document["outdated"] == 0 and document["sealed"] == 4
    with h5py.File(out) as file:
        assert file["x"].attrs["units"] == "K"


def test_the_file_keeps_mode_and_values_and_is_left_alone_where_it_must_be(sealed, tmp_path):
    sealed.chmod(0o640)
    with h5py.File(sealed) as file:
        before = file["x"][...]
    check(sealed, "--seal")
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o640
    with h5py.File(sealed) as file:
        assert np.array_equal(before, file["x"][...])
    assert os.listdir(sealed.parent) == [sealed.name]
    os.link(sealed, sealed.with_suffix(".again"))
    content = sealed.read_bytes()
    assert "hard links" in run("check", "--seal", sealed, code=2).stderr.decode()
    assert sealed.read_bytes() == content


def test_a_file_that_changes_meanwhile_is_left_alone(sealed):
    content, ended = sealed.read_bytes(), threading.Event()

    def touch():
        while not ended.is_set():
            os.utime(sealed)
            time.sleep(0.001)
    thread = threading.Thread(target=touch)
    thread.start()
    try:
        message = run("check", "--seal", sealed, code=2).stderr.decode()
    finally:
        ended.set()
        thread.join()
    assert "changed meanwhile" in message
    assert sealed.read_bytes() == content and os.listdir(sealed.parent) == [sealed.name]


def test_a_seal_has_the_time_of_its_making(path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(9.0), chunks=(3,))
    needs_hdf5(path)
    before = int(time.time())
    check(path, "--seal")
    assert before <= int.from_bytes(seal_of(path, "x")[8:16], "little") <= time.time()


def test_the_same_file_gets_the_same_seal_where_the_time_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    contents = []
    for name in "a.h5", "b.h5":
        with h5py.File(tmp_path / name, "w", track_order=False) as file:
            file.create_dataset("x", data=np.arange(100.0), chunks=(9,), track_times=False)
        needs_hdf5(tmp_path / name)
        check(tmp_path / name, "--seal")
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["x"].id.write_direct_chunk((0,), bytes(72))
    assert "2023-11-14T22:13:20Z" in check(tmp_path / "a.h5", code=1)["findings"][0]["cause"]


def crc32c(data, so_far=0):
    crc = so_far ^ 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


def seal_of(path, name):
    with h5py.File(path) as file:
        return bytes(np.asarray(file[name].attrs["h5twin_seal"]).tobytes())


def test_the_bytes_are_those_of_the_documentation(path):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("x", (5, 4), "u1", chunks=(2, 3))
        dataset[:, :3] = 7
    needs_hdf5(path)
    check(path, "--seal")
    seal = seal_of(path, "x")
    words = {}
    with h5py.File(path) as file:
        dataset = file["x"].id
        for i in range(dataset.get_num_chunks()):
            info = dataset.get_chunk_info(i)
            place = info.chunk_offset[0] // 2 * 2 + info.chunk_offset[1] // 3
            stored = dataset.read_direct_chunk(info.chunk_offset)[1]
            words[place] = crc32c(place.to_bytes(8, "little") + len(stored).to_bytes(8, "little") +
                                  crc32c(stored).to_bytes(4, "little"))
    assert seal[:6] == b"H5TS\x01\x02" and seal[16:20] == bytes(4)
    assert int.from_bytes(seal[20:24], "little") == 6 and int.from_bytes(seal[24:32], "little") == 1
    assert [int.from_bytes(seal[32 + 8 * i:40 + 8 * i], "little") for i in range(4)] == [5, 2, 4, 3]
    assert [int.from_bytes(seal[64 + 4 * i:68 + 4 * i], "little") for i in range(6)] == [words.get(i, 0) for i in range(6)]
    assert int.from_bytes(seal[88:], "little") == crc32c(seal[:88])


def test_filters_are_sealed_as_documented(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(9), chunks=(3,), shuffle=True, compression=7)
        filters = [file["x"].id.get_create_plist().get_filter(i) for i in range(2)]
    needs_hdf5(path)
    check(path, "--seal")
    crc = 0
    for number, _, words, _ in filters:
        crc = crc32c(struct.pack(f"<II{len(words)}I", number, len(words), *words), crc)
    assert seal_of(path, "x")[16:20] == struct.pack("<I", crc)


def forge(start, target):
    """Four bytes after which the CRC-32C of all is the target."""
    state = target ^ 0xFFFFFFFF
    for _ in range(32):
        state = (state ^ 0x82F63B78) << 1 | 1 if state >> 31 else state << 1
    return (state ^ crc32c(start) ^ 0xFFFFFFFF).to_bytes(4, "little")


def test_no_chunk_is_sealed_like_none(path):
    """Of the chunk at 8 the CRC-32C of the seal is 0, the word for a place without a chunk."""
    place = struct.pack("<QQ", 2, 4)
    value = forge(b"", int.from_bytes(forge(place, 0), "little"))
    assert crc32c(place + struct.pack("<I", crc32c(value))) == 0
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=[1, 2, struct.unpack("<I", value)[0]], dtype="<u4", chunks=(1,), maxshape=(9,))
    needs_hdf5(path)
    check(path, "--seal")
    assert seal_of(path, "x")[48 + 8:48 + 12] == b"\1\0\0\0"
    with h5py.File(path, "a") as file:
        file["x"].resize((2,))
        file["x"].resize((3,))
    assert found(path) == {("lost", "/x", (2,))}


def test_large_grids_are_sealed_by_groups(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(40000, dtype="f4"), chunks=(1,))
        file.create_dataset("sparse", (1 << 40,), "f4", chunks=(16,))[1 << 39] = 1
    needs_hdf5(path)
    check(path, "--seal")
    assert len(seal_of(path, "x")) < 65000
    assert check(path)["sealed"] == 2
    first, second = read(path, "x", (30000,)), read(path, "x", (30001,))
    write(path, "x", (30000,), second)
    write(path, "x", (30001,), first)
    kinds = found(path)
    assert {(kind, name) for kind, name, _ in kinds} == {("changed", "/x")} and len(kinds) == 1
    assert "29" in check(path, code=1)["findings"][0]["cause"] or "30000" in check(path, code=1)["findings"][0]["cause"]


def test_groups_are_not_compared_in_a_smaller_dataset(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(20000, dtype="f4"), chunks=(1,), maxshape=(None,))
    needs_hdf5(path)
    check(path, "--seal")
    with h5py.File(path, "a") as file:
        file["x"].resize((19000,))
    document = check(path)
    assert document["findings"] == [] and document["outdated"] == 1


@pytest.mark.parametrize("byte", [0, 4, 5, 17, 21, 25, 40, 70, -1])
def test_damaged_seals_are_told(sealed, byte):
    seal = seal_of(sealed, "x")
    content = bytearray(sealed.read_bytes())
    at = content.index(seal)
    content[at + byte % len(seal)] ^= 0x20
    sealed.write_bytes(content)
    document = json.loads(run("check", "--json", sealed, code=0 if byte == 4 else 1).stdout)[0]
    if byte == 4:  # the version
        assert document["outdated"] == 1 and document["findings"] == []
    else:
        assert [(entry["kind"], entry["name"]) for entry in document["findings"]] == [("seal", "/x")]
    run("check", "--seal-anew", sealed)
    assert check(sealed)["sealed"] == 5


def with_right_sum(seal):
    return bytes(seal[:-4]) + crc32c(bytes(seal[:-4])).to_bytes(4, "little")


def changed(seal, at, bytes_):
    return with_right_sum(seal[:at] + bytes_ + seal[at + len(bytes_):])


def with_dims(seal, rank):
    """Of one place."""
    return with_right_sum(seal[:5] + bytes([rank]) + seal[6:20] + struct.pack("<IQ", 1, 1) + struct.pack("<Q", 1) * (2 * rank) + bytes(8))


# Seals that contradict themselves though their checksum is right; of x: 2 dims, 9 words.
FORGED = {"no dims": lambda seal: with_dims(seal, 0),
          "more dims than HDF5 has": lambda seal: with_dims(seal, 40),
          "less than its dims": lambda seal: with_right_sum(seal[:32] + bytes(4)),
          "an extent of 0": lambda seal: changed(seal, 40, bytes(8)),
          "another number of words": lambda seal: changed(seal, 20, b"\x08"),
          "another group": lambda seal: changed(seal, 24, b"\2"),
          "a word more": lambda seal: with_right_sum(seal[:-4] + bytes(8)),
          "a word less": lambda seal: with_right_sum(seal[:-8] + bytes(4)),
          "more places than there are numbers": lambda seal: with_right_sum(
              seal[:20] + struct.pack("<IQ4Q", 0, 1, 40 << 32, 40, 50 << 32, 50) + bytes(4)),
          "another magic": lambda seal: changed(seal, 0, b"h"),
          "nothing but a head": lambda seal: seal[:33]}


@pytest.mark.parametrize("kind", [*FORGED, "two of them", "bytes of another type"])
def test_forged_seals_are_not_believed(sealed, kind):
    seal = seal_of(sealed, "x")
    assert with_right_sum(seal) == seal
    with h5py.File(sealed, "a") as file:
        del file["x"].attrs["h5twin_seal"]
        forged = FORGED[kind](seal) if kind in FORGED else seal
        data = np.frombuffer(forged * (2 if kind == "two of them" else 1), f"V{len(forged)}")
        if kind == "bytes of another type":
            file["x"].attrs["h5twin_seal"] = np.frombuffer(seal, "u1")
        else:
            file["x"].attrs["h5twin_seal"] = data if kind == "two of them" else data[0]
    assert found(sealed) == {("seal", "/x", ())}


def test_netcdf_does_not_show_the_seal(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "x.nc"
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("a", 100)
        file.createVariable("x", "f4", ("a",), chunksizes=(10,), zlib=True)[:] = np.arange(100)
    check(path, "--seal")
    with netcdf.Dataset(path) as file:
        assert file["x"].ncattrs() == [] and np.array_equal(file["x"][:], np.arange(100))
    with h5py.File(path) as file:
        assert "h5twin_seal" in file["x"].attrs and dict(file["x"].attrs)


def test_xarray_copies_a_file_without_its_seal_only(tmp_path):
    """As docs/pages/archives.md says: an opaque attribute is nothing that xarray can write."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    path, copy = tmp_path / "x.nc", tmp_path / "copy.nc"
    data = xarray.Dataset({"x": ("a", np.arange(100, dtype="f4"))})
    data.to_netcdf(path, engine="h5netcdf", encoding={"x": {"chunksizes": (10,), "zlib": True}})
    check(path, "--seal")
    with xarray.open_dataset(path, engine="h5netcdf") as file:
        data = file.load().drop_encoding()
    with pytest.raises(TypeError, match="h5twin_seal"):
        data.to_netcdf(copy, engine="h5netcdf")
    del data["x"].attrs["h5twin_seal"]
    data.to_netcdf(copy, engine="h5netcdf")
    with h5py.File(copy) as file:
        assert "h5twin_seal" not in file["x"].attrs and np.array_equal(file["x"], np.arange(100))
