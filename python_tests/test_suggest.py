# SPDX-License-Identifier: BSD-3-Clause
"""h5twin suggest: what it tries, and its table."""

import re
import zlib

import h5py
import numpy as np
import pytest

from command_line import needs_hdf5, needs_plugin, refused, run, smooth, text_of
from conftest import CODECS, LOSSY_CODECS


def rows(text):
    """spec -> (ratio, rest) of the table."""
    return {match[0]: (float(match[1]), match[2])
            for match in re.findall(r"^(\S+) +(\d+\.\d{3}) +(.*)$", text, re.M)}


def test_suggest_tries_all_codecs_and_each_bound(tmp_path):
    path = tmp_path / "field"
    path.write_bytes(smooth((16, 32, 64), "<f4").tobytes())
    text = text_of("suggest", "--all", "--type", "f32", "--dims", "16x32x64", "--abs", "1e-3", "--noa",
                   "1e-5", path)
    found = rows(text)
    assert set(CODECS) <= set(found)
    assert {"sleek:abs=0.001", "sleek:noa=1e-05", "memcpy"} <= set(found)
    lossless = {spec: row for spec, row in found.items() if "=1e" not in spec and
                "abs=" not in spec and spec != "memcpy"}
    best = [spec for spec, (_, rest) in lossless.items() if "best ratio" in rest]
    assert len(best) == 1
    assert lossless[best[0]][0] == max(ratio for ratio, _ in lossless.values())
    assert sum("fastest" in rest for _, rest in lossless.values()) == 1
    assert f"# {best[0]}: best ratio" in text and "h5repack -f UD=" in text


def test_a_file_that_is_missing_is_said_to_be(tmp_path):
    for name in "x.h5", "x.h5:u", "x.f32":
        assert "cannot be read: No such file" in refused("suggest", tmp_path / name, code=1)


def test_suggest_samples_pieces_of_a_large_array(tmp_path):
    path = tmp_path / "field"
    path.write_bytes(smooth((64, 128, 128), "<f4").tobytes())
    few = ["suggest", "--type", "f32", "--codec", "sleek", "--codec", "gfc"]
    text = text_of(*few, "--dims", "64x128x128", "--sample", "1M", path)
    assert "16 pieces of 16x32x32, 25 % of the array; 1 thread" in text
    assert {spec.partition("+")[0] for spec in rows(text)} == {"sleek", "gfc", "memcpy"}
    one_row = text_of(*few, "--sample", "100k", "--threads", "2", path)
    assert re.search(r"\d pieces of \d+, [\d.]+ % of the array; 2 threads", one_row)


def uneven(kind):
    """Arrays whose parts compress differently."""
    rng = np.random.default_rng(5)
    if kind == "series":  # noise that grows with time
        time = np.arange(3 << 20)
        return (np.sin(time / 300) + rng.normal(size=time.size) * np.linspace(0, 0.1, time.size)).astype("<f4")
    if kind == "image":  # a rough disc on a smooth ground
        y, x = np.indices((1800, 1800)) / 1800
        rough = (x - 0.5) ** 2 + (y - 0.4) ** 2 < 0.1
        return (np.sin(x * 20) + rough * rng.normal(size=x.shape) * 0.01).astype("<f4")
    z, y, x = np.indices((60, 200, 300), dtype="<f4")
    layers = np.where(z < 20, 0, np.where(z < 40, 1, rng.normal(size=z.shape) * 1e-3))  # volume
    return (np.sin(x / 50 + y / 30) * layers).astype("<f8")


@pytest.mark.without_h5py
@pytest.mark.parametrize("kind", ["series", "image", "volume"])
def test_suggest_s_ratios_are_about_those_of_the_whole_array(kind, tmp_path):
    data, path = uneven(kind), tmp_path / "field"
    path.write_bytes(data.tobytes())
    shape = ["--type", f"f{8 * data.itemsize}", "--dims", "x".join(map(str, data.shape))]
    found = rows(text_of("suggest", "--all", *shape, "--abs", "1e-3", path))
    specs = [spec for spec in found if "+" not in spec and spec != "memcpy"]
    assert {spec.partition(":")[0] for spec in specs} == set(CODECS)
    assert set(specs) >= set(CODECS) | {f"{name}:abs=0.001" for name in LOSSY_CODECS}
    for spec in specs:
        run("encode", "--spec", spec, *shape, path, tmp_path / "chunk")
        whole = path.stat().st_size / (tmp_path / "chunk").stat().st_size
        assert found[spec][0] == pytest.approx(whole, rel=0.1), spec


@pytest.mark.without_h5py
def test_suggest_s_ratios_are_about_those_of_the_chunks_of_a_dataset(tmp_path):
    """Larger than the sample of sizes, in chunks larger than a piece; whole ones alone, without padding."""
    needs_plugin("ndzip")
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.tile(uneven("image"), (1, 3)), chunks=(225, 300))
    needs_hdf5(path)
    found = rows(text_of("suggest", "--all", "--abs", "1e-3", path))
    for spec in [*CODECS, "ndzip:layout=reference", *(f"{name}:abs=0.001" for name in LOSSY_CODECS)]:
        run("repack", "--codec", spec, "--quiet", "--force", path, tmp_path / "out.h5")
        with h5py.File(tmp_path / "out.h5") as file:
            whole = file["x"].nbytes / file["x"].id.get_storage_size()
        assert found[spec][0] == pytest.approx(whole, rel=0.1), spec


def test_suggest_knows_what_users_have_already(tmp_path):
    path = tmp_path / "field"
    data = smooth((16, 32, 64), "<f4")
    path.write_bytes(data.tobytes())
    text = text_of("suggest", "--all", "--type", "f32", "--dims", "16x32x64", "--abs", "1e-2", path)
    found = rows(text)
    if "ndzip+deflate=1" not in found:
        pytest.skip("this h5twin was built without zlib")
    shuffled = np.frombuffer(data.tobytes(), "u1").reshape(-1, 4).T.tobytes()
    assert found["shuffle+gzip=6"][0] == pytest.approx(data.nbytes / len(zlib.compress(shuffled, 6)), rel=1e-2)
    run("encode", "--codec", "gfc", "--type", "f32", "--dims", "16x32x64", path, tmp_path / "chunk")
    stacked = len(zlib.compress((tmp_path / "chunk").read_bytes(), 1))
    assert found["gfc+deflate=1"][0] == pytest.approx(data.nbytes / stacked, rel=1e-2)
    for mark in ("best ratio", "fastest", "best balance"):
        assert sum(mark in rest for _, rest in found.values()) == 2, "without loss, and within the bound"
    run("encode", "--spec", "sleek:abs=0.01", "--type", "f32", path, tmp_path / "chunk")
    run("decode", tmp_path / "chunk", tmp_path / "back")
    errors = data.ravel().astype("f8") - np.fromfile(tmp_path / "back", "<f4")
    psnr = 20 * np.log10((data.max() - data.min()) / np.sqrt((errors ** 2).mean()))
    assert float(found["sleek:abs=0.01"][1].split()[3]) == pytest.approx(psnr, abs=0.1)
    assert "h5twin repack --codec" in text


def test_suggest_leaves_out_what_was_never_written(tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("never", (5000, 5000), "f8", chunks=(100, 100))
        part = file.create_dataset("part", (4000, 4000), "f4", chunks=(100, 100))
        part[300:400, 700:900] = np.random.default_rng(1).normal(size=(100, 200))
    needs_hdf5(path)
    text = text_of("suggest", "--all", "--codec", "gfc", path)
    assert text.startswith("part: f32") or text.startswith("/part: f32")
    assert "sample: 2 pieces of 100x100" in text and rows(text)["gfc"][0] < 1.3
    assert "nothing was ever written to never" in refused("suggest", f"{path}:never", code=1)


def test_suggest_reports_the_error_of_lossy_specs(tmp_path):
    path = tmp_path / "field"
    path.write_bytes(smooth((100, 100), ">f8").tobytes())
    found = rows(text_of("suggest", "--all", "--type", "f64be", "--abs", "0.25", path))
    assert 0 < float(found["sleek:abs=0.25"][1].split()[2]) <= 0.25
    assert found["sleek"][1].split()[2] == "0"


def test_suggest_names_what_looks_like_missing_data(tmp_path):
    path = tmp_path / "x.raw"
    numbers = np.sin(np.arange(8192) / 50).astype(">f4")
    numbers[::2] = 1e35
    path.write_bytes(numbers.tobytes())
    text = text_of("suggest", "--all", "--type", "f32be", "--abs", "1e-3", "--noa", "1e-3", path)
    assert "1e+35 occurs in 50 % of the values: looks like missing data" in text
    found = rows(text)
    for bound in ("abs", "noa"):
        assert 0 < float(found[f"sleek:{bound}=0.001,fill=1e+35"][1].split()[2]) <= 2e-3
    numbers[::2] = 15
    path.write_bytes(numbers.tobytes())
    assert "missing data" not in text_of("suggest", "--all", "--type", "f32be", "--abs", "1e-3", path)


def test_suggest_marks_nothing_that_does_not_shrink(tmp_path):
    path = tmp_path / "noise"
    path.write_bytes(np.random.default_rng(3).bytes(100000))
    text = text_of("suggest", "--all", "--type", "f32", path)
    assert set(CODECS) <= set(rows(text))
    assert "best stored as it is" in text and "fastest" not in text and "best ratio" not in text


def test_suggest_has_nothing_to_try_on_an_empty_file(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert "nothing to try" in refused("suggest", "--type", "f32", tmp_path / "empty", code=1)


def test_suggest_takes_the_largest_floats_of_an_hdf5_file(tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file["ints"] = np.arange(100000)
        file["small"] = smooth((10, 10), "<f4")
        file.create_dataset("group/large", data=smooth((64, 64, 64), ">f4"), chunks=(16, 32, 32))
        file["text"] = "words"
    needs_hdf5(path)
    text = text_of("suggest", "--all", "--sample", "256k", path)
    assert text.startswith("/group/large: f32be, 64x64x64, 1048576 bytes\n")
    assert set(CODECS) <= set(rows(text))
    assert "pieces of 16x32x32" in text
    assert text_of("suggest", "--all", f"{path}:small").startswith("small: f32, 10x10")
    assert "not an array of plain numbers" in refused("suggest", f"{path}:text", code=1)
    assert "nosuch cannot be opened" in refused("suggest", f"{path}:nosuch", code=1)
    assert "knows its --type" in refused("suggest", "--type", "f32", path)


def test_suggest_reads_datasets_that_our_filters_wrote(tmp_path):
    needs_plugin("sleek")
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=smooth((64, 64), "<f8"), chunks=(32, 64), compression=480)
    needs_hdf5(path)
    assert set(CODECS) <= set(rows(text_of("suggest", "--all", path)))


# ---- what is shown ----

def test_the_best_rows_are_shown_and_the_rest_is_counted(tmp_path):
    path = tmp_path / "field"
    path.write_bytes(smooth((16, 32, 64), "<f4").tobytes())
    shape = ["--type", "f32", "--dims", "16x32x64", "--abs", "1e-3", path]
    every, text = rows(text_of("suggest", "--all", *shape)), text_of("suggest", *shape)
    shown = rows(text)
    assert set(shown) < set(every)
    assert f"{len(every) - len(shown)} more rows with --all" in text
    assert sum(spec.startswith("e2mc") for spec in shown) <= 1 < sum(spec.startswith("e2mc") for spec in every)
    for has_bound in False, True:
        group = {spec: ratio for spec, (ratio, _) in every.items()
                 if ("abs=" in spec) == has_bound and spec != "memcpy" and not spec.startswith("e2mc")}
        best = sorted(group.values(), reverse=True)[4]  # e2mc may be among the six
        assert all(spec in shown for spec, ratio in group.items() if ratio > best)
    for mark in "best ratio", "fastest", "best balance":
        assert sum(mark in rest for _, rest in shown.values()) == 2


@pytest.mark.parametrize("attributes, advice", [
    ({"units": "days since 1970-01-01"}, "keep it exact"), ({"axis": "X"}, "keep it exact"),
    ({"flag_values": np.arange(3, dtype="i1")}, "categories"), ({"lossy_compression": "sleek:abs=1"}, "errors of another"),
    ({"units": "K"}, None), ({}, None)], ids=str)
def test_suggest_reads_what_is_sure(attributes, advice, tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file["x"] = smooth((64, 64), "<f4")
        file["x"].attrs.update(attributes)
    needs_hdf5(path)
    text = text_of("suggest", "--codec", "sleek", "--abs", "1e-2", path)
    assert ("advice: " in text) == (advice is not None) and (advice or "") in text
    assert (f"units: {attributes.get('units')}, which a bound abs=E is in" in text) == ("units" in attributes)
