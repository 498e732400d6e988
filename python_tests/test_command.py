# SPDX-License-Identifier: BSD-3-Clause
"""The h5twin command from outside: files, pipes, messages, exit codes."""

import os
import pathlib
import re
import struct
import subprocess

import numpy as np
import pytest

from command_line import ARRAY, FRAME, TYPES, fields, refused, run, smooth, text_of
from conftest import CODECS, COMMAND

pytestmark = pytest.mark.without_h5py


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", TYPES)
def test_every_type_comes_back_and_shrinks(codec, name, tmp_path):
    source, chunk, back = tmp_path / "source", tmp_path / "chunk", tmp_path / "back"
    source.write_bytes(smooth((4, 30, 50), TYPES[name]).tobytes())
    run("encode", "--codec", codec, "--type", name, "--dims", "4x30x50", source, chunk)
    run("decode", chunk, back)
    assert back.read_bytes() == source.read_bytes()
    assert chunk.stat().st_size <= source.stat().st_size + FRAME


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("count", [0, 1, 2, 31, 127, 128, 129, 4096, 4097])
def test_every_size_comes_back_without_dims_through_pipes(codec, count):
    source = smooth((count,), "<f8").tobytes()
    chunk = run("encode", "--codec", codec, "--type", "f64", "-", "-", input=source).stdout
    assert run("decode", "-", "-", input=chunk).stdout == source
    assert chunk[:4] == b"H5TW"


@pytest.mark.parametrize("codec", CODECS)
def test_bytes_never_depend_on_threads(codec, tmp_path):
    source = tmp_path / "source"
    source.write_bytes(smooth((64, 64, 1024), "<f4").tobytes())
    chunks = [run("encode", "--codec", codec, "--type", "f32", "--dims", "64x64x1024",
                  "--threads", threads, source, "-").stdout for threads in (1, 2, 7)]
    assert chunks[0] == chunks[1] == chunks[2]


@pytest.mark.parametrize("order", ["", "be"])
def test_abs_bound_holds(order, tmp_path):
    source, chunk, back = tmp_path / "source", tmp_path / "chunk", tmp_path / "back"
    dtype = TYPES["f64" + order]
    data = smooth((40, 50), dtype)
    data[3, 4], data[5, 6] = np.nan, np.inf
    source.write_bytes(data.tobytes())
    run("encode", "--codec", "sleek", "--abs", "1e-3", "--type", "f64" + order, source, chunk)
    run("decode", chunk, back)
    decoded = np.frombuffer(back.read_bytes(), dtype).reshape(data.shape)
    finite = np.isfinite(data)
    assert np.max(np.abs(decoded[finite] - data[finite])) <= 1e-3
    assert np.array_equal(decoded[~finite], data[~finite], equal_nan=True)
    assert chunk.stat().st_size < source.stat().st_size / 2


def test_spec_and_separate_options_mean_the_same(array_file):
    ways = [["--spec", "sleek:abs=1e-3"], ["--codec", "sleek", "--abs", "1e-3"],
            ["--option", "abs=0.001", "--codec", "sleek"], ["--spec", "sleek", "--abs", "1e-3"]]
    chunks = {run("encode", *way, *ARRAY, array_file, "-").stdout for way in ways}
    assert len(chunks) == 1


def test_output_may_be_the_input(array_file):
    data = array_file.read_bytes()
    run("encode", "--codec", "sleek", *ARRAY, array_file, array_file)
    assert array_file.read_bytes() != data
    run("decode", array_file, array_file)
    assert array_file.read_bytes() == data


def test_output_may_be_a_device_and_a_link_stays_one(array_file, tmp_path):
    run("encode", "--codec", "sleek", *ARRAY, array_file, "/dev/null")
    assert pathlib.Path("/dev/null").is_char_device()
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_bytes(b"before")
    link.symlink_to(target)
    run("encode", "--codec", "sleek", *ARRAY, array_file, link)
    assert link.is_symlink() and target.read_bytes()[:4] == b"H5TW"


# ---- bare payloads ----


@pytest.mark.parametrize("codec", CODECS)
def test_a_bare_stream_is_the_payload_of_the_chunk(codec, array_file, tmp_path):
    common = ["--codec", codec, *ARRAY]
    chunk = run("encode", *common, array_file, "-").stdout
    bare = run("encode", *common, "--bare", array_file, "-").stdout
    assert not chunk[6] & 1, "this array shrinks with every codec"
    assert chunk.endswith(bare) and len(chunk) - len(bare) in (FRAME, FRAME + 16)
    stream = tmp_path / "stream"
    stream.write_bytes(bare)
    assert run("decode", *common, "--bare", stream, "-").stdout == array_file.read_bytes()


def test_the_sleek_stream_is_as_published(tmp_path):
    """Worked by hand: size, then the block's size, 32 widths, the packed codes, and the trailer."""
    source = tmp_path / "source"
    source.write_bytes(bytes(4096))
    bare = run("encode", "--bare", "--codec", "sleek", "--type", "f32", source, "-").stdout
    assert struct.unpack_from("<Q", bare)[0] == 4096
    assert bare.endswith(bytes(32) + struct.pack("<H", 4096))


@pytest.mark.parametrize("name", ["f32", "f64", "f64be"])
def test_a_bare_noa_stream_is_read_with_the_printed_bound(name, tmp_path):
    source, stream = tmp_path / "source", tmp_path / "stream"
    data = smooth((100, 100), TYPES[name])
    source.write_bytes(data.tobytes())
    common = ["--bare", "--codec", "sleek", "--type", name]
    message = run("encode", *common, "--noa", "1e-4", source, stream).stderr.decode()
    bound = re.search(r"decode with --abs (\S+)\.\n$", message).group(1)
    limit = 1e-4 * (float(data.max()) - float(data.min()))
    assert limit / 2 <= float(bound) <= limit
    back = np.frombuffer(run("decode", *common, "--abs", bound, stream, "-").stdout, TYPES[name])
    assert np.max(np.abs(back.reshape(data.shape).astype("f8") - data.astype("f8"))) <= limit
    assert run("encode", *common, "--abs", bound, source, "-").stdout == stream.read_bytes()
    assert "--abs" in refused("decode", *common, "--noa", "1e-4", stream, tmp_path / "back")


def test_a_bare_noa_stream_without_a_range_is_lossless(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(np.ones(1000, "<f4").tobytes())
    common = ["--bare", "--codec", "sleek", "--type", "f32"]
    result = run("encode", *common, "--noa", "1e-4", source, "-")
    if b"losslessly" in result.stderr:
        assert run("decode", *common, "-", "-", input=result.stdout).stdout == source.read_bytes()
    else:
        assert b"decode with --abs" in result.stderr


# ---- refusals ----


@pytest.mark.parametrize("arguments, words", [
    (["info", "--devices", "IN"], "--devices takes neither"),
    (["info", "--devices", "--quick"], "--devices takes neither"),
    ([], "command is missing"),
    (["explode"], "no command explode"),
    (["encode"], "IN and OUT"),
    (["encode", "IN", "OUT"], "--codec or --spec is missing"),
    (["encode", "--codec", "sleek", "IN", "OUT"], "--type is missing"),
    (["encode", "--codec", "nosuch", "--type", "f32", "IN", "OUT"], "no such codec"),
    (["encode", "--codec", "sleek", "--type", "f16", "IN", "OUT"], "no type f16"),
    (["encode", "--codec", "sleek", "--type", "f32bee", "IN", "OUT"], "no type f32bee"),
    (["encode", "--codec", "sleek", "--type"], "--type needs a value"),
    (["encode", "--codec", "sleek", "--colour", "red", "IN", "OUT"], "no option --colour"),
    (["info", "-xq", "IN"], "no option -x"),
    (["encode", "--codec", "sleek", "--type", "f32", "--dims", "4x0", "IN", "OUT"], "4x0"),
    (["encode", "--codec", "sleek", "--type", "f32", "--dims", "4x4x", "IN", "OUT"], "4x4x"),
    (["encode", "--codec", "sleek", "--type", "f32", "--dims", "-4", "IN", "OUT"], "-4"),
    (["encode", "--codec", "sleek", "--type", "f32", "--dims", "1x1x1x1x1x1x1x1x1", "IN", "OUT"],
     "1 to 8"),
    (["encode", "--codec", "sleek", "--type", "f32", "--dims", "3x5", "IN", "OUT"], "3x5 elements"),
    (["encode", "--codec", "sleek", "--type", "f32", "--abs", "0", "IN", "OUT"], "positive"),
    (["encode", "--codec", "sleek", "--type", "f32", "--abs", "nan", "IN", "OUT"], "positive"),
    (["encode", "--codec", "sleek", "--type", "f32", "--abs", "1", "--noa", "1", "IN", "OUT"],
     "exclude"),
    (["encode", "--codec", "sleek", "--spec", "sleek", "--type", "f32", "IN", "OUT"], "both"),
    (["encode", "--codec", "sleek:abs=1", "--type", "f32", "IN", "OUT"], "use --spec"),
    (["encode", "--abs", "1", "--type", "f32", "IN", "OUT"], "need --codec"),
    (["encode", "--codec", "sleek", "--option", "colour=red", "--type", "f32", "IN", "OUT"],
     "no such option"),
    (["encode", "--codec", "e2mc", "--option", "stride=200", "--option", "ways=2", "--type", "f64",
      "IN", "OUT"], "h5twin: stride: "),
    (["args", "e2mc:stride=200,word_bytes=8,ways=2"], "h5twin: stride=200,"),
    (["encode", "--codec", "sleek", "--type", "f32", "--threads", "0", "IN", "OUT"], "--threads"),
    (["encode", "--codec", "sleek", "--type", "f32", "--device", "tpu", "IN", "OUT"], "--device"),
    (["decode", "--type", "f32", "IN", "OUT"], "--type goes with --bare only"),
    (["decode", "--bare", "IN", "OUT"], "--codec or --spec"),
    (["decode", "--bare", "--codec", "sleek", "IN", "OUT"], "--bare needs --type"),
    (["info"], "FILE is missing"),
    (["args"], "SPEC is missing"),
    (["args", "sleek:abs=-1"], "positive"),
    (["args", "sleek:"], "CODEC[:KEY=VALUE"),
    (["args", "--colour"], "no option --colour"),
    (["suggest"], "one FILE"),
    (["suggest", "IN"], "--type is missing"),
    (["suggest", "--type", "f32", "--dims", "5x5", "IN"], "dims say 100"),
    (["suggest", "--type", "f32", "--abs", "0", "IN"], "positive"),
    (["suggest", "--type", "f32", "--sample", "4Q", "IN"], "4Q"),
    (["suggest", "--type", "f32", "--codec", "zstd", "IN"], "no codec zstd"),
    (["suggest", "--type", "i32", "--abs", "1", "IN"], "floating-point"),
    (["codecs", "sleek"], "no arguments"),
])
def test_a_wrong_command_line_gives_a_reason_and_2(arguments, words, tmp_path):
    (tmp_path / "IN").write_bytes(bytes(400))
    assert words in refused(*arguments, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["IN"]


def test_what_cannot_be_read_or_written_gives_a_reason_and_1(array_file, tmp_path):
    message = refused("decode", tmp_path / "none", tmp_path / "back", code=1)
    assert "No such file" in message
    message = refused("encode", "--codec", "sleek", *ARRAY, array_file, tmp_path / "no" / "chunk",
                      code=1)
    assert "cannot be written" in message
    if pathlib.Path("/dev/full").exists():
        message = refused("encode", "--codec", "sleek", *ARRAY, array_file, "/dev/full", code=1)
        assert "No space left" in message


@pytest.mark.parametrize("damage, words", [
    (lambda chunk: chunk[:-1], "cut short|checksum"),
    (lambda chunk: chunk[:10], "cut short"),
    (lambda chunk: b"", "cut short"),
    (lambda chunk: b"NOTH" + chunk[4:], "not an h5twin chunk"),
    (lambda chunk: chunk[:4] + b"\x09" + chunk[5:], "newer"),
    (lambda chunk: chunk[:60] + bytes([chunk[60] ^ 1]) + chunk[61:], "checksum"),
    (lambda chunk: chunk[:9] + b"\xff" + chunk[10:], "checksum"),
])
def test_a_damaged_chunk_is_refused_and_leaves_no_output(damage, words, array_file, tmp_path):
    chunk, back = tmp_path / "chunk", tmp_path / "back"
    run("encode", "--codec", "sleek", *ARRAY, array_file, chunk)
    chunk.write_bytes(damage(chunk.read_bytes()))
    back.write_bytes(b"what was there before")
    assert re.search(words, refused("decode", chunk, back, code=1))
    assert back.read_bytes() == b"what was there before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["array", "back", "chunk"]
    result = run("info", chunk, code=1)
    assert re.search(words, result.stderr.decode())


def test_a_gpu_on_demand_works_or_gives_a_reason(array_file):
    result = subprocess.run([COMMAND, "encode", "--codec", "sleek", *ARRAY, "--device", "gpu",
                             str(array_file), "-"], capture_output=True, check=False, timeout=120)
    if result.returncode == 0:
        assert result.stdout == run("encode", "--codec", "sleek", *ARRAY, "--device", "cpu",
                                    array_file, "-").stdout
    else:
        assert result.returncode == 1 and b"GPU" in result.stderr


def devices(**environment):
    plain = {name: value for name, value in os.environ.items()
             if name not in ("H5TWIN_DEVICE", "H5TWIN_GPU")}
    return fields(text_of("info", "--devices", env={**plain, **environment}))


def test_devices_are_named_with_reasons():
    found = devices(H5TWIN_NUM_THREADS="3")
    assert re.fullmatch(r"scalar.*; \S+ is used", found["instruction sets"])
    assert found["threads"] == "3: H5TWIN_NUM_THREADS=3"
    assert found["H5TWIN_DEVICE"] == "not set: auto" and found["result"] == "as auto means"
    if "usable" in found:  # a reason, and no claim that anything was tried
        assert re.match(r"none: \w", found["usable"]) and "sleek" not in found
    else:
        assert all(found[codec].startswith("works") for codec in CODECS)


def test_devices_tell_what_the_environment_demands():
    usable = "usable" not in devices()
    assert devices(H5TWIN_DEVICE="CPU")["result"] == "the CPU: H5TWIN_DEVICE demands it"
    assert devices(H5TWIN_DEVICE="gpu")["result"].startswith("the GPU" if usable else "calls fail")
    assert devices(H5TWIN_DEVICE="tpu")["result"].endswith("is not auto, cpu or gpu")


def test_an_unknown_device_in_the_environment_is_refused(array_file, tmp_path):
    environment = {**os.environ, "H5TWIN_DEVICE": "tpu"}
    message = refused("encode", "--codec", "sleek", *ARRAY, array_file, tmp_path / "chunk", code=1,
                      env=environment)
    assert "H5TWIN_DEVICE is not auto, cpu or gpu" in message
    run("encode", "--codec", "sleek", *ARRAY, "--device", "CPU", array_file, tmp_path / "chunk",
        env=environment)
