# SPDX-License-Identifier: BSD-3-Clause
"""h5twin repack as archives use it: several rules, bounds of whole datasets, in place, and what it says of that."""

import json
import os
import re
import stat
import subprocess
import sys

import h5py
import numpy as np
import pytest

from command_line import needs_hdf5, needs_plugin, refused, run, smooth, text_of
from conftest import COMMAND, FILTER_IDS, LOSSY_CODECS, filter_of

SAID = "lossy_compression"
ABS = "lossy_compression_maximum_absolute_error"


@pytest.fixture
def archive(tmp_path):
    """Fields of both sizes, a mask, missing data, a coordinate, a string."""
    needs_plugin("lattice")
    path = tmp_path / "in.h5"
    rng = np.random.default_rng(3)
    with h5py.File(path, "w") as file:
        file["fields/u"] = smooth((40, 50, 60), "<f4")
        file["fields/deep/v"] = smooth((40, 50, 60), "<f8") + rng.normal(size=(40, 50, 60)) * 1e-3
        file.create_dataset("t", data=smooth((300, 200), ">f4"), chunks=(100, 100))
        holes = smooth((200, 300), "<f4")
        holes[::7] = -9999
        holes[3, 4], holes[3, 5] = np.nan, np.inf
        file.create_dataset("holes", data=holes, chunks=(100, 100), fillvalue=np.float32(-9999))
        file["mask"] = (smooth((300, 200), "<f4") > 0).astype("i1")
        file["time"] = np.arange(5000.)
        file["time"].attrs["units"] = "days since 2000-01-01"
        file["title"] = "words"
        file["one value"] = np.full((100, 100), 3.25, "<f4")
    needs_hdf5(path)
    return path


def filters(path):
    """{name: filter numbers}"""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: [filter_of(item, i)[0] for i in range(
            item.id.get_create_plist().get_nfilters())]}) if isinstance(item, h5py.Dataset) else None)
    return found


def values(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def error(before, after):
    with np.errstate(invalid="ignore"):
        return np.nanmax(np.abs(before.astype("f8") - after.astype("f8")))


def test_the_first_rule_that_fits_decides(archive, tmp_path):
    out = tmp_path / "out.h5"
    run("repack", "--set", "/fields/deep/*=sleek:abs=1e-1", "--set", "/fields/**=lattice:abs=1e-2", "--set", "mask=keep",
        "--set", "holes=lattice:abs=1e-3", "--set", "*=cascade", archive, out)
    found, before, after = filters(out), values(archive), values(out)
    assert found["fields/u"] == found["holes"] == [FILTER_IDS["lattice"]]
    assert found["fields/deep/v"] == [FILTER_IDS["sleek"]]
    assert found["mask"] == [] and found["t"] == found["time"] == [FILTER_IDS["cascade"]]
    assert 0 < error(before["fields/u"], after["fields/u"]) <= 1e-2
    assert 1e-2 < error(before["fields/deep/v"], after["fields/deep/v"]) <= 1e-1
    for name in "mask", "t", "time", "title", "one value":
        assert np.array_equal(before[name], after[name])
    special = ~np.isfinite(before["holes"]) | (before["holes"] == -9999)
    assert before["holes"][special].tobytes() == after["holes"][special].tobytes()
    assert run("check", out).returncode == 0


def test_rules_then_a_policy_then_the_codec(archive, tmp_path):
    policy, out = tmp_path / "rules.policy", tmp_path / "out.h5"
    policy.write_text("/fields/**  float64 -> sleek:abs=1e-2 chunks=20x25x30\nmask any >=1B -> gfc\n")
    run("repack", "--set", "t=fpcompress", "--policy", policy, "--codec", "ndzip", "--only", "[hu]*", archive, out)
    found = filters(out)
    assert found["t"] == [FILTER_IDS["fpcompress"]] and found["fields/deep/v"] == [FILTER_IDS["sleek"]]
    assert found["fields/u"] == found["holes"] == [FILTER_IDS["ndzip"]] and found["time"] == []
    with h5py.File(out) as file:
        assert file["fields/deep/v"].chunks == (20, 25, 30)
    text = text_of("repack", "--policy", policy, "--force", archive, out)
    assert "/time: as it is: " in text


@pytest.mark.parametrize("arguments, message", [
    (["--set", "lattice"], "not like"), (["--set", "lattice:abs=1e-3"], "no such codec"), (["--set", "a=nothing"], "codec"), (["--set", "[=cascade"], r"\["),
    (["--set", "u=lattice:abs=-1"], "bound"), ([], "--codec is missing"), (["--set", "u=gfc", "--only", "u"], "--only goes"),
    (["--codec", "gfc", "--noa-of", "file"], "not chunk or dataset"), (["--codec", "gfc", "--replace"], "expected one")])
def test_what_is_no_rule_is_refused(arguments, message, archive, tmp_path):
    assert re.search(message, refused("repack", *arguments, archive, tmp_path / "out.h5"))


def test_rules_that_fit_nothing_and_policies_that_are_none(archive, tmp_path):
    assert "--set gives" in refused("repack", "--set", "nosuch=cascade", archive, tmp_path / "out.h5", code=1)
    (tmp_path / "bad").write_text("u -> nothing\n")
    assert "bad:1:" in refused("repack", "--policy", tmp_path / "bad", archive, tmp_path / "out.h5", code=1)
    assert "cannot" in refused("repack", "--policy", tmp_path / "none", archive, tmp_path / "out.h5", code=1)


def test_a_name_may_hold_an_equals_sign(tmp_path):
    needs_plugin("cascade")
    path, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(path, "w") as file:
        file["a=b"], file["c"] = smooth((100, 100), "<f4"), smooth((100, 100), "<f4")
    needs_hdf5(path)
    run("repack", "--set", "a=b=cascade", path, out)
    assert filters(out) == {"a=b": [FILTER_IDS["cascade"]], "c": []}


@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_the_range_may_be_that_of_the_whole_dataset(codec, archive, tmp_path):
    needs_plugin(codec)
    by_dataset = tmp_path / "dataset.h5"
    rules = ["--codec", f"{codec}:noa=1e-4", "--only", "t", "--only", "holes", "--only", "u", "--only", "one value",
             "--chunks", "auto"]
    run("repack", *rules, "--noa-of", "dataset", "--verify", archive, by_dataset)
    before, after = values(archive), values(by_dataset)
    for name in "t", "holes", "fields/u":
        finite = before[name][np.isfinite(before[name]) & (before[name] != -9999)].astype("f8")
        with h5py.File(by_dataset) as file:
            words = filter_of(file[name])[2]
            said = file[name].attrs[ABS]
        bound = np.array(words[1:3], "<u4").view("<f8")[0] if len(words) == 3 else said
        assert said == pytest.approx(1e-4 * np.ptp(finite), rel=1e-12) and said <= 1e-4 * np.ptp(finite)
        assert bound == said and error(before[name], after[name]) <= said
    with h5py.File(by_dataset) as file:
        assert SAID not in file["one value"].attrs
    assert np.array_equal(before["one value"], after["one value"])


@pytest.mark.parametrize("dtype", ["<f4", ">f8"])
@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_a_named_fill_value_is_no_part_of_a_datasets_range(codec, dtype, tmp_path):
    """One that a float rounds, too."""
    needs_plugin(codec)
    path, out = tmp_path / "in.h5", tmp_path / "out.h5"
    data = smooth((200, 300), dtype)
    data[::3] = -9999.9
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=data, chunks=(100, 100))
    needs_hdf5(path)
    run("repack", "--set", f"x={codec}:noa=1e-3,fill=-9999.9", "--noa-of", "dataset", path, out)
    is_fill = data == np.dtype(dtype).type(-9999.9)
    with h5py.File(out) as file:
        said = file["x"].attrs[ABS]
    assert said == pytest.approx(1e-3 * np.ptp(data[~is_fill].astype("f8")), rel=1e-12)
    after = values(out)["x"]
    assert np.array_equal(after[is_fill], data[is_fill]) and error(data, after) <= said


@pytest.mark.parametrize("fill, is_kept", [("0", False), ("-9999", True)])
@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_verification_fails_if_values_become_the_fill_value(codec, fill, is_kept, tmp_path):
    """0, of which values within the bound may become one, is a fill value to avoid."""
    needs_plugin(codec)
    path, out = tmp_path / "in.h5", tmp_path / "out.h5"
    data = smooth((200, 300), "<f4")
    data[::5] = float(fill)
    data[1, 3] = 1e-3
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=data, chunks=(100, 100))
    needs_hdf5(path)
    done = subprocess.run([COMMAND, "repack", "--set", f"x={codec}:abs=1e-2,fill={fill}", "--verify", path, out],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == (0 if is_kept else 1) and out.exists() == is_kept, done
    assert is_kept or "/x came back changed" in done.stderr


@pytest.mark.parametrize("mode", ["abs", "noa", "rel"])
@pytest.mark.parametrize("noa_of", ["chunk", "dataset"])
def test_limits_hold_after_verification(mode, noa_of, tmp_path):
    needs_plugin("lattice")
    path, out = tmp_path / "in.h5", tmp_path / "out.h5"
    cloud = np.clip(smooth((200, 300), "<f4"), 0, 1)
    cloud[0, :3] = -2, 3, np.nan  # beyond the limits already: exact, and part of the range
    with h5py.File(path, "w") as file:
        file.create_dataset("cloud", data=cloud, chunks=(100, 100))
    needs_hdf5(path)
    run("repack", "--set", f"cloud=lattice:{mode}=1e-2,min=0,max=1", "--noa-of", noa_of, "--verify", path, out)
    after = values(out)["cloud"]
    inside = (cloud >= 0) & (cloud <= 1)
    assert np.any(after != cloud) and np.all((after[inside] >= 0) & (after[inside] <= 1))
    assert np.array_equal(after[0, :3], cloud[0, :3], equal_nan=True)
    if (mode, noa_of) == ("noa", "dataset"):
        assert error(cloud, after) <= 1e-2 * 5


@pytest.mark.parametrize("limits, violations", [("", False), (",min=0.03", True), (",max=2", False)])
def test_a_chunk_that_leaves_the_limits_of_its_dataset_is_told(limits, violations, tmp_path):
    """The chunk is made without limits, and put into a dataset whose parameters promise them."""
    needs_plugin("lattice")
    original, free, path = tmp_path / "in.h5", tmp_path / "free.h5", tmp_path / "out.h5"
    with h5py.File(original, "w") as file:
        file["u"] = np.maximum(smooth((100, 100), "<f4") * 1e-2, np.float32(0.03))
    needs_hdf5(original)
    for spec, out in ("lattice:abs=5e-2", free), (f"lattice:abs=5e-2{limits}", path):
        run("repack", "--codec", spec, "--chunks", "100,100", original, out)
    with h5py.File(free) as file:
        assert 0 <= file["u"][()].min() < 0.03
        chunk = file["u"].id.read_direct_chunk((0, 0))[1]
    with h5py.File(path, "r+") as file:
        file["u"].id.write_direct_chunk((0, 0), chunk)
    found = json.loads(text_of("report", "--json", "--against", original, path, code=1 if violations else 0))
    assert (found["datasets"][0]["comparison"]["violations"] > 0) == violations


def test_the_report_is_json(archive, tmp_path):
    out = tmp_path / "out.h5"
    document = json.loads(text_of("repack", "--json", "--verify", "--set", "u=lattice:abs=1e-2", "--set", "t=cascade",
                                  archive, out))
    assert document["verified"] is True and document["input"] == str(archive) and document["output"] == str(out)
    rows = {row["name"]: row for row in document["datasets"]}
    assert set(rows) == {f"/{name}" for name in values(archive)}
    assert document["coded"] == 2 and document["coded"] + document["as_it_was"] == len(rows)
    with h5py.File(out) as file, h5py.File(archive) as old:
        for name in "fields/u", "t":
            row = rows[f"/{name}"]
            assert row["new_size"] == file[name].id.get_storage_size()
            assert row["old_size"] == old[name].id.get_storage_size() and row["raw_size"] == file[name].nbytes
            assert row["ratio"] == pytest.approx(row["raw_size"] / row["new_size"])
            assert row["chunk_shape"] == "x".join(map(str, file[name].chunks))
    assert rows["/fields/u"]["spec"] == "lattice:abs=0.01" and rows["/mask"]["spec"] is None
    assert rows["/mask"]["why"] == "not asked for"


def test_attributes_say_what_was_done(archive, tmp_path):
    once, twice, plain = tmp_path / "once.h5", tmp_path / "twice.h5", tmp_path / "plain.h5"
    run("repack", "--set", "u=lattice:abs=1e-3", "--set", "v=lattice:rel=1e-3", "--set", "holes=sleek:noa=1e-3",
        "--set", "*=cascade", archive, once)
    with h5py.File(once) as file:
        u = dict(file["fields/u"].attrs)
        assert u[SAID] in (b"lattice:abs=0.001", "lattice:abs=0.001") and u[ABS] == 1e-3
        assert str(u["lossy_compression_implementation"]).find("h5twin version") >= 0
        assert file["fields/deep/v"].attrs["lossy_compression_maximum_relative_error"] == 1e-3
        assert file["holes"].attrs["lossy_compression_maximum_range_relative_error"] == 1e-3
        for name in "t", "time", "mask", "one value":
            assert SAID not in file[name].attrs
    run("repack", "--codec", "lattice:abs=1e-2", "--only", "u", once, twice)
    with h5py.File(twice) as file:
        said = file["fields/u"].attrs[SAID]
        assert (said.decode() if isinstance(said, bytes) else said) == "lattice:abs=0.001, then lattice:abs=0.01"
        assert file["fields/u"].attrs[ABS] == 1e-3 + 1e-2
    assert error(values(archive)["fields/u"], values(twice)["fields/u"]) <= 1.1e-2
    run("repack", "--codec", "lattice:abs=1e-2", "--only", "u", "--no-attributes", archive, plain)
    with h5py.File(plain) as file:
        assert dict(file["fields/u"].attrs) == {}
    run("repack", "--codec", "lattice:abs=1e-3", "--only", "u", "--force", once, twice)
    with h5py.File(twice) as file:
        assert file["fields/u"].attrs[ABS] == 1e-3


def test_a_file_is_replaced_in_place(archive, tmp_path):
    os.chmod(archive, 0o640)
    if os.geteuid() == 0:
        os.chown(archive, 1234, 4321)
    before, status = values(archive), archive.stat()
    (tmp_path / "link.h5").symlink_to(archive)
    text = text_of("repack", "--replace", "--codec", "lattice:abs=1e-3", tmp_path / "link.h5")
    assert "coded" in text and (tmp_path / "link.h5").is_symlink()
    now, after = archive.stat(), values(archive)
    assert now.st_size < status.st_size and now.st_ino != status.st_ino
    assert (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid) == (0o640, status.st_uid, status.st_gid)
    assert filters(archive)["fields/u"] == [FILTER_IDS["lattice"]]
    assert error(before["fields/u"], after["fields/u"]) <= 1e-3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", "link.h5"]


def test_what_may_not_be_replaced_is_left(archive, tmp_path):
    content = archive.read_bytes()
    replace = ["repack", "--replace", "--codec", "cascade", archive]
    os.link(archive, tmp_path / "other.h5")
    assert "hard links" in refused(*replace, code=1)
    (tmp_path / "other.h5").unlink()
    with open(archive, "r+b"):
        if os.uname().sysname == "Linux" and subprocess.run(
                [COMMAND, *map(str, replace[:-1]), archive], capture_output=True, check=False).returncode == 0:
            pytest.skip("this file system gives no leases")
    assert archive.read_bytes() == content
    code = f"import h5py, sys; f = h5py.File({str(archive)!r}, 'a'); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        run(*replace, code=1)
        writer.stdin.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5"]


# ---- explain FILE ----

def test_a_file_is_explained_for_a_paper(archive, tmp_path):
    out = tmp_path / "out.h5"
    with h5py.File(archive, "a") as file:
        file["fields/u"].attrs["units"] = "m s-1"
    run("repack", "--set", "u=lattice:abs=1e-3", "--set", "holes=lattice:abs=1e-2", "--set", "v=lattice:rel=1e-3",
        "--set", "t=sleek:noa=1e-3", "--set", "time=cascade", archive, out)
    said = " ".join(text_of("explain", out).split())
    assert "/fields/u is compressed with the codec lattice (lattice:abs=0.001; h5twin version" in said
    assert "by at most 0.001 m s-1; NaN and infinities are kept exactly." in said
    assert "by at most 0.01; NaN, infinities and the fill value -9999 are kept exactly." in said
    assert "0.001 times its own magnitude" in said and "0.001 times the range of the values in its chunk" in said
    assert "/time is compressed without loss with the codec cascade" in said
    with h5py.File(out) as file:
        stored = file["fields/u"].id.get_storage_size()
        others = len(values(out)) - 5
        assert f"It takes {stored / 1e6:.4g} MB instead of {file['fields/u'].nbytes / 1e6:.4g} MB" in said
    assert f"{others} other datasets of the file did not go through" in said
    one = text_of("explain", f"{out}:/holes")
    assert one.startswith("/holes is compressed") and "/fields/u" not in one
    run("repack", "--codec", "lattice:abs=1e-2", "--only", "u", "--force", out, tmp_path / "twice.h5")
    again = " ".join(text_of("explain", f"{tmp_path / 'twice.h5'}:fields/u").split())
    assert "lattice:abs=0.001, then lattice:abs=0.01, together at most 0.011 m s-1 from the first original" in again
    assert "none of its arrays" in refused("explain", archive, code=1)
    assert "No such file" in refused("explain", tmp_path / "none.h5", code=1)
    assert "cannot be opened" in refused("explain", f"{out}:nosuch", code=1)
