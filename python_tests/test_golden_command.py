# SPDX-License-Identifier: BSD-3-Clause
"""The golden streams through the command, as a user would check them by hand.

tests/codec/test_golden.c covers every row; here some rows of each spec, from files to files.
H5TWIN_COMMAND is the command to test, default ../build/bin/h5twin.
"""

import collections
import csv
import hashlib
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests" / "golden"
COMMAND = os.environ.get("H5TWIN_COMMAND", str(HERE.parent / "build" / "bin" / "h5twin"))
ROWS_PER_CODEC = 36


def table(name):
    with open(GOLDEN / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def codec_of(row):
    return row["spec"].partition(":")[0]


def some_rows():
    """About ROWS_PER_CODEC rows of each codec, spread evenly, and at least one of each spec."""
    by_codec = collections.defaultdict(list)
    for row in table("manifest.tsv"):
        by_codec[codec_of(row)].append(row)
    chosen = []
    for rows in by_codec.values():
        step = max(1, len(rows) // ROWS_PER_CODEC)
        specs = {row["spec"]: index for index, row in enumerate(rows)}
        wanted = set(range(0, len(rows), step)) | set(specs.values())
        chosen += [rows[index] for index in sorted(wanted)]
    return chosen


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


def row_name(row):
    return f"{row['spec']}-{pathlib.Path(row['input']).name}-{row['type']}"


@pytest.mark.parametrize("row", some_rows(), ids=row_name)
def test_encode_bare_writes_the_golden_stream_and_decode_reads_it(row, tmp_path):
    source = GOLDEN / "inputs" / row["input"]
    stream, back = tmp_path / "stream", tmp_path / "back"
    result = run("encode", "--bare", *separate_arguments(row["spec"]), *array_arguments(row),
                 source, stream)
    assert result.returncode == 0, result.stderr.decode()
    assert stream.stat().st_size == int(row["compressed_size"])
    assert sha256(stream.read_bytes()) == row["sha256_compressed"]
    result = run("decode", "--bare", "--spec", row["spec"], *array_arguments(row), stream, back)
    assert result.returncode == 0, result.stderr.decode()
    assert sha256(back.read_bytes()) == row["sha256_decoded"]


@pytest.mark.parametrize("row", some_rows()[::7], ids=row_name)
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


@pytest.mark.parametrize("row", [row for row in table("exceptions.tsv")
                                 if row["expected"] == "refused"][::6], ids=row_name)
def test_bounds_that_are_not_positive_are_refused(row, tmp_path):
    result = run("encode", "--bare", "--spec", row["spec"], *array_arguments(row),
                 GOLDEN / "inputs" / row["input"], tmp_path / "stream")
    assert result.returncode > 0
    assert b"positive" in result.stderr
