# SPDX-License-Identifier: BSD-3-Clause
"""The golden streams through the command, as a user would check them by hand.

From files to files what tests/codec/test_golden.c does from memory to memory: every eighth row of the
manifest (with H5TWIN_TEST_LONG=1 every row) and the first of each spec, and every row of the other
tables of tests/golden.
H5TWIN_COMMAND is the command to test, default ../build/bin/h5twin.
"""

import csv
import hashlib
import pathlib
import subprocess

import pytest

from conftest import COMMAND
from test_faults import LONG

pytestmark = pytest.mark.without_h5py

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests" / "golden"


def table(name):
    with open(GOLDEN / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def run(*arguments, **more):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, timeout=60,
                          check=False, **more)


def array_arguments(row):
    arguments = ["--type", row["type"]]
    return arguments if row["dims"] == "-" else [*arguments, "--dims", row["dims"]]


def separate_arguments(spec):
    """--codec, --abs and --option instead of --spec."""
    codec, _, pairs = spec.partition(":")
    arguments = ["--codec", codec]
    for pair in filter(None, pairs.split(",")):
        key, _, value = pair.partition("=")
        arguments += ["--abs", value] if key == "abs" else ["--option", pair]
    return arguments


def sha256(data):
    return hashlib.sha256(data).hexdigest()


MANIFEST, EXCEPTIONS = table("manifest.tsv"), table("exceptions.tsv")
FIRST = {row["spec"]: row for row in reversed(MANIFEST)}
SOME = [row for i, row in enumerate(MANIFEST) if LONG or i % 8 == 0 or row is FIRST[row["spec"]]]


def expected_to_be(word):
    return [row for row in EXCEPTIONS if row["expected"] == word]


def row_name(row):
    return f"{row['spec']}-{pathlib.Path(row['input']).name}-{row['type']}"


def encode_bare(row, spec, stream):
    return run("encode", "--bare", *separate_arguments(spec), *array_arguments(row),
               GOLDEN / "inputs" / row["input"], stream)


@pytest.mark.parametrize("row", SOME, ids=row_name)
def test_encode_bare_writes_the_golden_stream_and_decode_reads_it(row, tmp_path):
    stream, back = tmp_path / "stream", tmp_path / "back"
    result = encode_bare(row, row["spec"], stream)
    assert result.returncode == 0, result.stderr.decode()
    assert stream.stat().st_size == int(row["compressed_size"])
    assert sha256(stream.read_bytes()) == row["sha256_compressed"]
    result = run("decode", "--bare", "--spec", row["spec"], *array_arguments(row), stream, back)
    assert result.returncode == 0, result.stderr.decode()
    assert sha256(back.read_bytes()) == row["sha256_decoded"]


@pytest.mark.parametrize("row", MANIFEST[::7], ids=row_name)
def test_pipes_carry_framed_chunks(row):
    array = (GOLDEN / "inputs" / row["input"]).read_bytes()
    chunk = run("encode", "--spec", row["spec"], *array_arguments(row), "-", "-", input=array)
    assert chunk.returncode == 0, chunk.stderr.decode()
    assert len(chunk.stdout) <= len(array) + 24
    back = run("decode", "-", "-", input=chunk.stdout)
    assert back.returncode == 0, back.stderr.decode()
    assert sha256(back.stdout) in (row["sha256_decoded"], sha256(array))


@pytest.mark.parametrize("row", table("decode_only.tsv"), ids=lambda row: row["stream"])
def test_streams_that_we_do_not_write_are_read(row):
    result = run("decode", "--bare", "--spec", row["spec"], *array_arguments(row),
                 GOLDEN / "streams" / row["stream"], "-")
    assert result.returncode == 0, result.stderr.decode()
    assert sha256(result.stdout) == row["sha256_decoded"]


@pytest.mark.parametrize("row", table("bad.tsv"), ids=lambda row: row["stream"])
def test_damaged_streams_are_refused_with_a_reason(row, tmp_path):
    back = tmp_path / "back"
    result = run("decode", "--bare", "--spec", row["spec"], "--type", "f32",
                 GOLDEN / "bad" / row["stream"], back)
    assert result.returncode not in (0, 139, 134), result.returncode
    assert len(result.stderr) > 20
    assert not back.exists()


@pytest.mark.parametrize("row", expected_to_be("refused"), ids=row_name)
def test_bounds_that_are_not_positive_are_refused(row, tmp_path):
    result = encode_bare(row, row["spec"], tmp_path / "stream")
    assert result.returncode > 0
    assert b"positive" in result.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("row", expected_to_be("lossless"), ids=row_name)
def test_bounds_below_the_normal_numbers_give_the_lossless_stream(row, tmp_path):
    codec = row["spec"].partition(":")[0]
    for spec, name in ((row["spec"], "bounded"), (codec, "lossless")):
        result = encode_bare(row, spec, tmp_path / name)
        assert result.returncode == 0, result.stderr.decode()
    assert (tmp_path / "bounded").read_bytes() == (tmp_path / "lossless").read_bytes()


def test_the_tables_are_whole():
    assert {row["expected"] for row in EXCEPTIONS} == {"refused", "lossless"}
    assert len(MANIFEST) + len(EXCEPTIONS) + len(table("decode_only.tsv")) >= 1296
