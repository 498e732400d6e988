# SPDX-License-Identifier: BSD-3-Clause
"""Figures in the README and in the table of docs/pages/speed.md are those of the recorded run of bench/run.sh."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/pages/speed.md"
GPU_FOLDER = "bench/results/NVIDIA-H200"


@pytest.fixture
def bench(monkeypatch):
    """Modules results and speed_table of bench/."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    import results
    import speed_table
    return results, speed_table


@pytest.fixture
def folder():
    """The results that the documentation shows."""
    shown = set(re.findall(r"bench/results/[\w-]+", PAGE.read_text() + (ROOT / "README.md").read_text()))
    shown -= {"bench/results/aarch64-qemu", GPU_FOLDER}
    assert len(shown) == 1
    return ROOT / shown.pop()


def test_table_of_instruction_sets(bench, folder):
    results, _ = bench
    rows = results.read(folder / "codecs.csv")
    counts = {}
    for line in (ROOT / "bench/results/aarch64-qemu/counts.md").read_text().splitlines():
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[1] in ("f32", "f64"):
            counts[cells[0], cells[1]] = f"{cells[3]} / {cells[5]}"
    shown = re.findall(r"^\| `(\S+)` \| (.*) \|$", PAGE.read_text().partition("## Without AVX-512")[2], re.M)
    assert len(shown) >= 10
    for contender, cells in shown:
        of_sets = [[row for row in rows if row["contender"] == contender and row["variant"] == variant]
                   for variant in ("scalar", "sse4.2", "avx2", "avx512")]
        assert cells.split(" | ") == [
            *(" / ".join(f"{results.geometric_mean(row[way] for row in of_set):.2f}"
                         for way in ("encode_gbps", "decode_gbps")) for of_set in of_sets),
            counts[contender, "f32"], counts[contender, "f64"]], contender


def test_table_of_the_page(bench, folder):
    _, speed_table = bench
    _, _, rest = PAGE.read_text().partition(speed_table.START)
    assert rest.partition(speed_table.END)[0].strip() == speed_table.fragment(folder).strip()


def test_table_of_the_gpu(bench):
    import gpu_report
    _, _, rest = PAGE.read_text().partition(gpu_report.START)
    assert rest.partition(gpu_report.END)[0].strip() == gpu_report.page_fragment(ROOT / GPU_FOLDER).strip()
    assert len(rest.partition(gpu_report.END)[0].splitlines()) > 20


def test_sentence_of_the_readme_on_a_gpu(bench):
    import gpu_report
    _, rows = gpu_report.read((ROOT / GPU_FOLDER / "gpu_whole.csv").read_text().splitlines())
    written = {row["way"]: float(row["write_gbps"]) for row in rows if row["spec"] == "lattice:abs=1e-3"}
    sentence = (f"A smooth array in its memory went to a file at {written['gpu']:.1f} GB/s compressed by `lattice:abs=1e-3`, "
                f"at {written['unfiltered']:.1f} without a filter ([speeds](docs/pages/speed.md)).")
    assert sentence in " ".join((ROOT / "README.md").read_text().split())


def test_sentences_of_the_readme(bench, folder):
    results, _ = bench
    rows = [row for row in results.read(folder / "hdf5.csv") if row["path"] == "hdf5"]

    def mean(contender, column="ratio", bound=0):
        return results.geometric_mean(row[column] for row in rows if row["contender"] == contender
                                      and results.relative_bound(row) == bound)

    zstd = [mean(f"Blosc2 shuffle zstd-{level}") for level in (1, 5, 9)]
    within = {"bound": 1e-3}
    sentences = [
        f"Geometric means over {len(results.arrays_of(rows))} real arrays through HDF5, one core,",
        f"Without loss `cascade` reaches {mean('h5twin cascade'):.2f} "
        f"(`effort=fast` {mean('h5twin cascade fast'):.2f}), "
        f"Blosc2 with zstd {min(zstd):.2f} to {max(zstd):.2f}, shuffle and gzip {mean('shuffle + gzip -6'):.2f}.",
        f"Within 1e-3 of each array's range `lattice` reaches {mean('h5twin lattice', **within):.1f} "
        f"(`effort=fast` {mean('h5twin lattice fast', **within):.1f}), SZ3 {mean('SZ3', **within):.1f}, "
        f"`sleek` {mean('h5twin sleek', **within):.1f}; no value of ours was over its bound.",
        f"`cascade` coded {mean('h5twin cascade', 'encode_gbps'):.2f} GB/s "
        f"(`effort=fast` {mean('h5twin cascade fast', 'encode_gbps'):.2f}), "
        f"`lattice` within 1e-3 {mean('h5twin lattice', 'encode_gbps', **within):.2f} "
        f"(`effort=fast` {mean('h5twin lattice fast', 'encode_gbps', **within):.2f}) through HDF5."]
    text = " ".join((ROOT / "README.md").read_text().split())
    assert [sentence for sentence in sentences if sentence not in text] == []
    assert not [row for row in rows if results.is_ours(row["contender"]) and results.exceeds(row)]


def test_sentence_of_the_limits(bench, folder):
    results, _ = bench
    speeds = [row["encode_gbps"] for row in results.read(folder / "hdf5.csv")
              if (row["path"], row["contender"]) == ("hdf5", "h5twin cascade")]
    sentence = f"`cascade` coded {min(speeds):.2f} to {max(speeds):.1f} GB/s through HDF5,"
    assert sentence in " ".join((ROOT / "docs/pages/limits.md").read_text().split())


def test_table_of_whole_datasets(bench, folder):
    """Each cell of the page, and the two ratios beside threads in the chunk, is in the recorded run."""
    results, _ = bench
    rows = {(row["contender"], str(int(row["chunk_bytes"])), row["direction"]): row for row in results.read(folder / "hdf5_whole.csv")}
    page = (ROOT / "docs/pages/run.md").read_text().partition("## How much faster")[2].partition("\n## ")[0]
    shown = re.findall(r"^\| `(\S+)` \| (.*) \|$", page, re.M)
    assert len(shown) == 5
    for spec, cells in shown:
        assert cells.split(" | ") == [f"{float(rows[spec, chunk, way]['single_ratio']):.2f}"
                                      for chunk in ("65536", "1048576") for way in ("write", "read")], spec
    beside = [f"{float(rows['e2mc', '1048576', way]['ratio']):.2f}" for way in ("write", "read")]
    assert f"gains {beside[0]} and {beside[1]} times" in page
