# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin report`: sizes, filters and chunks as h5py sees them, errors as numpy does, in JSON that any
reader takes."""

import html.parser
import json
import re
import subprocess

import h5py
import numpy as np
import pytest

from command_line import refused
from conftest import CODECS, COMMAND, FILTER_IDS, LOSSY_CODECS, absolute, create, relative, smooth
from test_verify import write_everything

pytestmark = pytest.mark.without_h5py


def report(*arguments, code=0):
    result = subprocess.run([COMMAND, "report", *map(str, arguments)], capture_output=True, timeout=120,
                            check=False)
    if b"built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")
    assert result.returncode == code, result.stderr
    return result.stdout.decode()


def report_json(*arguments, code=0):
    def refuse(text):
        raise ValueError(f"{text} is not JSON")

    found = json.loads(report("--json", *arguments, code=code), parse_constant=refuse)
    return found, {dataset["name"]: dataset for dataset in found["datasets"]}


@pytest.fixture
def files(tmp_path):
    original, path = tmp_path / "A.h5", tmp_path / "B.h5"
    write_everything(original)
    write_everything(path, LOSSY_CODECS[0])
    return original, path


def test_sizes_and_chunks_are_those_of_h5py(files):
    _, path = files
    found, datasets = report_json(path)
    with h5py.File(path) as file:
        for name, dataset in datasets.items():
            real = file[name]
            assert dataset["stored_size"] == real.id.get_storage_size()
            assert dataset["raw_size"] == (real.size or 0) * real.id.get_type().get_size()
            assert dataset["shape"] == list(real.shape or ())
            assert dataset["chunk_shape"] == (list(real.chunks) if real.chunks else None)
            assert dataset["ratio"] == (dataset["raw_size"] / dataset["stored_size"]
                                        if dataset["stored_size"] else None)
            if real.chunks:
                places = np.prod([-(-a // b) for a, b in zip(real.shape, real.chunks)])
                assert dataset["chunks"] == real.id.get_num_chunks()
                assert dataset["chunks_never_written"] == places - dataset["chunks"]
            else:
                assert dataset["chunks"] is dataset["chunks_never_written"] is None
    assert datasets["/never"]["chunks_never_written"] == 10 ** 8 and datasets["/never"]["chunks"] == 0
    assert datasets["/some"]["chunks_never_written"] == 12
    assert found["file"] == str(path) and found["original"] is None
    assert "comparison" not in datasets["/big"]
    totals = found["totals"]
    assert totals["datasets"] == len(datasets) == 15
    for size in ("raw_size", "stored_size"):
        assert totals[size] == sum(dataset[size] for dataset in datasets.values())


@pytest.mark.parametrize("codec", CODECS)
def test_filters_are_named_in_words(codec, path):
    data = smooth((64, 64), "<f8")
    with h5py.File(path, "w") as file:
        create(file, "ours", data, codec, (), chunks=(16, 64))
        create(file, "sums", data, codec, (), chunks=(16, 64), fletcher32=True)
        file.create_dataset("zip", data=data, chunks=(16, 64), compression="gzip", shuffle=True)
        file["plain"] = data
        noise = np.frombuffer(np.random.default_rng(5).bytes(8192), "<u8")
        create(file, "noise", noise, codec, (), chunks=(256,))
    _, datasets = report_json(path)
    ours = {"id": FILTER_IDS[codec], "name": codec, "spec": codec}
    assert datasets["/ours"]["filters"] == [ours]
    assert datasets["/sums"]["filters"][0] == ours and datasets["/sums"]["filters"][1]["id"] == 3
    assert [(filter["id"], filter["name"], filter["spec"]) for filter in datasets["/zip"]["filters"]] == \
        [(2, "shuffle", None), (1, "deflate", None)]
    assert datasets["/plain"]["filters"] == [] and datasets["/plain"]["type"] == "f64"
    assert datasets["/noise"]["chunks_raw"] == 4 and datasets["/noise"]["chunks_damaged"] == 0
    assert datasets["/sums"]["chunks_raw"] is not None and datasets["/zip"]["chunks_raw"] is None
    table = report(path)
    assert re.search(rf"^ +32768 +\d+ +\d+\.\d{{3}} +4 +\d+ +0  /ours: {codec}$", table, re.M)
    assert re.search(r"^ +32768 +32768 +1\.000 +- +- +-  /plain$", table, re.M)
    assert "/zip: shuffle (filter 2), deflate (filter 1)" in table
    assert re.search(r"^ +139264 +\d+ +\d\.\d{3} +5 datasets$", table, re.M)


@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_errors_against_the_original_are_those_of_numpy(codec, tmp_path):
    original, path = tmp_path / "A.h5", tmp_path / "B.h5"
    write_everything(original)
    write_everything(path, codec)
    found, datasets = report_json("--against", original, path)
    assert found["original"] == str(original)
    with h5py.File(original) as a, h5py.File(path) as b:
        x, y = a["big"][()], b["big"][()]
    errors, comparison = np.abs(x - y), datasets["/big"]["comparison"]
    assert comparison["max_error"] == errors.max() > 0
    assert comparison["mean_error"] == pytest.approx(errors.mean(), rel=1e-12)
    assert comparison["psnr"] == pytest.approx(
        20 * np.log10((x.max() - x.min()) / np.sqrt((errors ** 2).mean())), rel=1e-12)
    assert comparison["bound"] == 1e-3 and comparison["violations"] == 0
    assert comparison["values"] == x.size and comparison["different"] == (errors != 0).sum()
    for name in ("/points", "/whole", "/never", "/group/text", "/links", "/empty"):
        assert datasets[name]["comparison"]["identical"], name
    assert datasets["/whole"]["comparison"]["max_error"] is None
    assert "bound 0.001 kept" in report("--against", original, path)


def test_a_range_relative_bound_is_in_units_of_the_data(tmp_path):
    data = smooth((64, 64), "<f8")
    with h5py.File(tmp_path / "A.h5", "w") as file:
        file["x"] = data
    with h5py.File(tmp_path / "B.h5", "w") as file:
        create(file, "x", data, "sleek", relative(1e-3), chunks=(32, 64))
    comparison = report_json("--against", tmp_path / "A.h5", tmp_path / "B.h5")[1]["/x"]["comparison"]
    assert comparison["bound"] == pytest.approx(1e-3 * (data.max() - data.min()), rel=1e-12)
    assert comparison["violations"] == 0 < comparison["max_error"]


def test_a_broken_promise_is_an_error_and_a_plain_difference_is_not(tmp_path):
    data = smooth((64, 64), "<f8")
    for path, factor in (("A.h5", 1.0), ("B.h5", 1.5)):
        with h5py.File(tmp_path / path, "w") as file:
            file.create_dataset("x", data=data * factor, chunks=(64, 64))
    paths = tmp_path / "A.h5", tmp_path / "B.h5"
    comparison = report_json("--against", *paths)[1]["/x"]["comparison"]
    assert comparison["violations"] is None and comparison["different"] > 4000
    for name, words in (("lossy", absolute(1e-3)), ("exact", ())):
        for path, factor in (("A.h5", 1.0), ("B.h5", 1.5)):
            with h5py.File(tmp_path / path, "a") as file:
                create(file, name, data * factor, "sleek", words, chunks=(64, 64))
        assert report_json("--against", *paths, code=1)[1][f"/{name}"]["comparison"]["violations"] > 4000
        for path in paths:
            with h5py.File(path, "a") as file:
                del file[name]


def test_datasets_that_cannot_be_compared_say_why(tmp_path):
    with h5py.File(tmp_path / "A.h5", "w") as file:
        file["shape"], file["type"] = np.zeros(3), np.zeros(4)
    with h5py.File(tmp_path / "B.h5", "w") as file:
        file["shape"], file["type"], file["new"] = np.zeros(4), np.zeros(4, "f4"), np.zeros(2)
    _, datasets = report_json("--against", tmp_path / "A.h5", tmp_path / "B.h5")
    assert {name: dataset["comparison"] for name, dataset in datasets.items()} == {
        "/new": {"not_compared": "the original has no such dataset"},
        "/shape": {"not_compared": "their shapes differ"},
        "/type": {"not_compared": "they hold different types"}}
    assert "not compared: their shapes differ" in report("--against", tmp_path / "A.h5", tmp_path / "B.h5")


class Page(html.parser.HTMLParser):
    """The cells of the table's rows, and what the page would load from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.bars, self.foreign, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.foreign += [value for key, value in attrs.items() if key in ("src", "href") or "://" in (value or "")]
        self.foreign += [tag] if tag in ("script", "link", "iframe", "img") else []
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "rect":
            self.bars.append((len(self.rows) - 1, attrs["class"], float(attrs["width"])))

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_a_page_has_all_rows_and_needs_nothing_else(files, tmp_path):
    original, path = files
    page = tmp_path / "page.html"
    assert report("--html", page, "--against", original, path) == ""
    text = page.read_text()
    found, (_, datasets) = Page(text), report_json("--against", original, path)
    assert found.foreign == [] and text.startswith("<!doctype html>")
    names = {name + facts["type"]: name for name, facts in datasets.items()}
    body = {names[row[0]]: row for row in found.rows if row and row[0] in names}
    assert len(found.rows) == len(datasets) + 2
    assert "identical" in body["/whole"][7] and "max error" in body["/big"][7]
    for row, kind, width in found.bars:
        name = names[found.rows[row][0]]
        facts, largest = datasets[name], max(d["raw_size"] for d in datasets.values() if d["stored_size"])
        if kind in ("raw", "stored"):
            size = facts[f"{kind}_size"] if facts["stored_size"] else 0
            assert width == pytest.approx(min(240 * size / largest, 240), abs=0.06), name
        else:
            part = facts["comparison"]["max_error"] / facts["comparison"]["bound"]
            assert kind == "error" and width == pytest.approx(120 * part, abs=0.06)
    assert {kind for _, kind, _ in found.bars} == {"raw", "stored", "error"}


def test_names_cannot_become_markup(path):
    with h5py.File(path, "w") as file:
        file["<script>alert('&')</script>"] = 1.0
    page = path.with_suffix(".html")
    report("--html", page, path)
    assert Page(page.read_text()).foreign == [] and "&lt;script&gt;" in page.read_text()


def test_names_of_any_bytes_are_json(path):
    names = {b'quote" back\\slash \n\t\x01\x7f': 'quote" back\\slash \n\t\x01\x7f', "grüße 数 😀".encode(): "grüße 数 😀",
             b"latin \xe9 end": "latin \ufffd end", b"\xc0\xaf\xed\xa0\x80": "\ufffd" * 5,
             b"cut \xe6\x95": "cut \ufffd\ufffd", b"\xf4\x90\x80\x80": "\ufffd" * 4}
    with h5py.File(path, "w") as file:
        for name in names:
            file[name] = 1.0
    _, datasets = report_json(path)
    assert set(datasets) == {f"/{name}" for name in names.values()}


def test_damage_is_an_error(path):
    with h5py.File(path, "w") as file:
        create(file, "x", smooth((40, 50), "<f8"), CODECS[0], (), chunks=(20, 50))
        offset = file["x"].id.get_chunk_info(0).byte_offset
    with open(path, "r+b") as file:
        file.seek(offset + 100)
        byte = file.read(1)[0]
        file.seek(offset + 100)
        file.write(bytes([byte ^ 0x10]))
    result = subprocess.run([COMMAND, "report", "--json", str(path)], capture_output=True, check=False)
    assert result.returncode == 1 and b"1 of its chunks are damaged" in result.stderr
    dataset, = json.loads(result.stdout)["datasets"]
    assert dataset["chunks_damaged"] == 1 and dataset["chunks"] == 2
    message = refused_report("--against", path, path)
    assert "/x cannot be read" in message


def refused_report(*arguments):
    result = subprocess.run([COMMAND, "report", *map(str, arguments)], capture_output=True, check=False)
    assert result.returncode == 1
    return result.stderr.decode()


@pytest.mark.parametrize("arguments, words, code", [
    (["report"], "expected one FILE, but got 0", 2),
    (["report", "IN.h5", "IN.h5"], "got 2", 2),
    (["report", "--against"], "--against needs a value", 2),
    (["report", "--plot", "IN.h5"], "no option --plot", 2),
    (["report", "--html", "PAGE", "--json", "IN.h5"], "exclude each other", 2),
    (["report", "--html", "no/such/PAGE", "IN.h5"], "no/such/PAGE cannot be created", 1),
    (["report", "none.h5"], "No such file", 1),
    (["report", "RAW"], "RAW is not an HDF5 file", 1),
    (["report", "--against", "RAW", "IN.h5"], "RAW is not an HDF5 file", 1),
])
def test_a_wrong_command_line_gives_a_reason(arguments, words, code, tmp_path):
    (tmp_path / "RAW").write_bytes(bytes(400))
    with h5py.File(tmp_path / "IN.h5", "w") as file:
        file["x"] = [1.0]
    assert words in refused(*arguments, code=code, cwd=tmp_path)
