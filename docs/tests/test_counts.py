# SPDX-License-Identifier: BSD-3-Clause
"""How many lives and faults the pages count is how many the tests have."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def text(name):
    return " ".join((ROOT / name).read_text().split())


def found(name, pattern):
    return int(re.search(pattern, (ROOT / name).read_text())[1])


def test_lives_of_every_run():
    chunks = found("tests/codec/test_chunk_life.c", r"#define LIVES +\((\d+)u / TEST_SLOWNESS\)")
    datasets = found("python_tests/test_dataset_life.py", r'"H5TWIN_DATASET_LIVES", (\d+)\)')
    assert f"{chunks:,} chunks and {datasets:,} datasets in every run" in text("docs/pages/testing.md")
    security = text("docs/SECURITY.md")
    assert f"| {chunks:,} lives of chunks:" in security and f"| {datasets:,} lives of datasets, with every HDF5" in security


def test_faults_that_tests_must_notice():
    rows = [line.split("\t") for line in (ROOT / "tests/mutants.tsv").read_text().splitlines()
            if line and not line.startswith("#")]
    noticed = sum(len(row) < 5 for row in rows)
    assert f"`tests/mutate.sh`: {len(rows)} faults, of which {noticed} must be noticed" in text("docs/SECURITY.md")
