# SPDX-License-Identifier: BSD-3-Clause
"""The h5twin command from outside: files, pipes, messages, exit codes, lines to paste.

H5TWIN_COMMAND is the command to test, default ../build/bin/h5twin. What writes HDF5 files through
the filters needs their plugins, in H5TWIN_PLUGIN_PATH, default ../build/plugins.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest

from conftest import COMMAND

HERE = pathlib.Path(__file__).resolve().parent
PLUGINS = pathlib.Path(os.environ.get("H5TWIN_PLUGIN_PATH", HERE.parent / "build" / "plugins"))
os.environ.setdefault("HDF5_PLUGIN_PATH", str(PLUGINS))

TYPES = {
    "f32": "<f4", "f64": "<f8", "f32be": ">f4", "f64be": ">f8", "f32le": "<f4",
    "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "i16be": ">i2",
    "u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "u32be": ">u4", "u64be": ">u8",
    "bytes": "<u1",
}
FRAME = 24


def run(*arguments, code=0, **more):
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, timeout=120,
                            check=False, **more)
    assert result.returncode == code, (result.args, result.stderr.decode())
    return result


def text_of(*arguments, **more):
    return run(*arguments, **more).stdout.decode()


def refused(*arguments, code=2, **more):
    """The one sentence on stderr of a command line that must fail."""
    result = run(*arguments, code=code, **more)
    message = result.stderr.decode()
    assert message.startswith("h5twin: ") and message.endswith(".\n") and message.count("\n") == 1
    return message


def codec_names():
    return re.findall(r"^(\w+) \(HDF5 filter \d+\)$", text_of("codecs"), re.M)


def filter_id(codec):
    return int(re.search(rf"^{codec} \(HDF5 filter (\d+)\)$", text_of("codecs"), re.M).group(1))


CODECS = codec_names() if shutil.which(COMMAND) else []


def smooth(shape, dtype):
    grid = np.indices(shape).sum(axis=0)
    return (np.sin(grid * 0.05) * 100 + grid * 0.01).astype(dtype)


@pytest.fixture
def array_file(tmp_path):
    path = tmp_path / "array"
    path.write_bytes(smooth((8, 16, 40), "<f4").tobytes())
    return path


ARRAY = ["--type", "f32", "--dims", "8x16x40"]


# ---- round trips ----


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


# ---- completion and the page for man ----

MAKE_DOCS = pathlib.Path(__file__).resolve().parent.parent / "tools" / "make_docs.sh"


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run(["sh", MAKE_DOCS, COMMAND, folder], check=True)
    return folder


def test_bash_completes_commands_options_and_values(docs):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")

    def complete(*words):
        script = (f"source {docs}/h5twin.bash; COMP_WORDS=({' '.join(map(repr, words))}); "
                  f"COMP_CWORD={len(words) - 1}; _h5twin; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return set(subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True,
                                  cwd=docs).stdout.split())

    assert complete("h5twin", "re") == {"report", "repack"}
    assert complete("h5twin", "help", "ver") == {"verify"}
    assert complete("h5twin", "repack", "--th") == {"--then", "--threads"}
    assert complete("h5twin", "verify", "--a") == {"--abs"}
    assert set(CODECS) <= complete("h5twin", "repack", "--codec", "")
    assert complete("h5twin", "report", "h5twin.b") == {"h5twin.bash"}


def test_zsh_takes_its_completion(docs):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    subprocess.run(["zsh", "-n", docs / "_h5twin"], check=True)


def test_the_page_for_man_says_what_the_command_says(docs):
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    shown = subprocess.run(["man", "--warnings", "-l", docs / "h5twin.1"], check=True, capture_output=True, text=True,
                           env={**os.environ, "MANWIDTH": "140", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
    assert shown.stderr == ""
    for command in ("encode", "repack", "explain"):
        for line in text_of(command, "--help").splitlines():
            assert line.strip() in shown.stdout.replace("\u2010", "-").replace("\u2212", "-"), line


# ---- help ----


def test_help_and_version_name_what_there_is():
    overview = text_of("--help")
    commands = re.findall(r"^  (\w+) +\w", overview, re.M)[:6]
    assert commands == ["encode", "decode", "info", "args", "suggest", "codecs"]
    for command in commands:
        assert text_of(command, "--help").startswith(f"Usage: h5twin {command}")
    assert re.fullmatch(r"h5twin \d+\.\d+\.\d+\n", text_of("--version"))
    assert all(len(line) <= 100 for command in commands
               for line in text_of(command, "--help").splitlines())


def test_codecs_lists_options_that_are_accepted():
    codec, accepted = None, 0
    for line in text_of("codecs").splitlines():
        head = re.match(r"(\w+) \(HDF5", line)
        pair = re.match(r"    (\w+)=(\S+)", line)
        codec = head.group(1) if head else codec
        if pair and pair.group(2) != "E" and re.fullmatch(r"[\w|]+", pair.group(2)):
            for value in pair.group(2).split("|"):
                text_of("args", f"{codec}:{pair.group(1)}={value}")
                accepted += 1
    assert CODECS == ["sleek"] or accepted > 0


# ---- info ----


def fields(text):
    return dict(re.findall(r"^  (\w[\w ]*?)  +(.*)$", text, re.M))


def test_info_says_what_a_chunk_is(array_file, tmp_path):
    chunk = tmp_path / "chunk"
    run("encode", "--codec", "sleek", "--abs", "1e-3", *ARRAY, array_file, chunk)
    found = fields(text_of("info", chunk))
    assert found["codec"] == "sleek (HDF5 filter 480)"
    assert found["words"] == "float, 4 bytes, little-endian"
    assert found["stored"] == "absolute, effective absolute bound 2^-10"
    assert found["raw size"] == "20480 bytes"
    assert found["stored size"].startswith(f"{chunk.stat().st_size} bytes")
    assert float(found["ratio"]) == pytest.approx(20480 / chunk.stat().st_size, abs=1e-3)
    assert found["checksum"] == "correct"


def test_info_says_raw_where_nothing_shrank(tmp_path):
    source, chunk = tmp_path / "source", tmp_path / "chunk"
    source.write_bytes(np.random.default_rng(1).bytes(8000))
    run("encode", "--codec", CODECS[0], "--type", "f64be", source, chunk)
    found = fields(text_of("info", chunk))
    assert found["stored"].startswith("raw")
    assert found["ratio"] == "0.997"


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


def needs_plugin(codec):
    if not (PLUGINS / f"libh5twin_{codec}.so").exists():
        pytest.skip(f"no plugin for {codec} in {PLUGINS}")


def needs_hdf5(path):
    result = subprocess.run([COMMAND, "info", str(path)], capture_output=True, check=False)
    if b"built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")


def blocks(text):
    """Dataset name -> its lines."""
    parts = re.split(r"^(/.*)\n", text.partition("\n")[2], flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_info_lists_datasets_without_our_filters(h5py, tmp_path):
    path = tmp_path / "plain.h5"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["group/scalar"] = 3.0
        file["text"] = "words"
        file.create_dataset("zipped", data=smooth((40, 50), ">f8"), chunks=(10, 10),
                            compression="gzip", shuffle=True)
    needs_hdf5(path)
    found = blocks(text_of("info", path))
    assert list(found) == ["/group/scalar", "/text", "/zipped"]
    zipped = found["/zipped"]
    assert "f64be, 40x50 in chunks of 10x10" in zipped
    assert "2: shuffle" in zipped and "1: deflate" in zipped
    assert fields(zipped)["raw size"] == "16000 bytes"


@pytest.mark.parametrize("codec", CODECS)
def test_info_tells_parameters_and_chunks_of_a_filtered_dataset(codec, h5py, tmp_path):
    needs_plugin(codec)
    path = tmp_path / "file.h5"
    noise = np.frombuffer(np.random.default_rng(2).bytes(8 * 1000), "<u8")
    with h5py.File(path, "w") as file:
        common = {"compression": filter_id(codec), "compression_opts": (0,)}
        file.create_dataset("field", data=smooth((24, 32, 50), ">f4"), chunks=(10, 16, 50), **common)
        file.create_dataset("noise", data=noise, chunks=(500,), fletcher32=True, **common)
        sparse = file.create_dataset("sparse", (1000, 1000), "<f8", chunks=(50, 50), **common)
        sparse[100:150, 200:250] = smooth((50, 50), "<f8")
        some = file.create_dataset("some", (100, 100), "<f8", chunks=(25, 25), **common)
        some[:75] = 1
    needs_hdf5(path)
    found = blocks(text_of("info", path))
    assert f"{filter_id(codec)}: {codec} (lossless) for 10x16x50 floats of 4 bytes, big-endian" \
        in found["/field"]
    assert re.fullmatch(r"6 written, [0-5] of them raw, all checksums correct",
                        fields(found["/field"])["chunks"])
    assert fields(found["/noise"])["chunks"] == "2 written, 2 of them raw, all checksums correct"
    assert fields(found["/sparse"])["chunks"].startswith("1 written")
    assert fields(found["/some"])["chunks"].startswith("12 written")
    assert "chunks " not in "".join(blocks(text_of("info", "--quick", path)).values()) \
        .replace("in chunks of", "")


def test_info_tells_bounds_and_damage(h5py, tmp_path):
    needs_plugin("sleek")
    path = tmp_path / "file.h5"
    words = struct.unpack("<II", struct.pack("<d", 1e-3))
    with h5py.File(path, "w") as file:
        for mode, name in ((1, "abs"), (2, "noa")):
            file.create_dataset(name, data=smooth((40, 50), "<f8"), chunks=(40, 50),
                                compression=480, compression_opts=(mode, *words))
        offset = file["abs"].id.get_chunk_info(0).byte_offset
    needs_hdf5(path)
    found = blocks(text_of("info", path))
    assert "sleek:abs=0.001 (absolute error bound)" in found["/abs"]
    assert "absolute, effective absolute bound 2^-10" in found["/abs"]
    assert "sleek:noa=0.001 (error bound relative to each chunk's range)" in found["/noa"]
    with open(path, "r+b") as file:
        file.seek(offset + 100)
        byte = file.read(1)[0]
        file.seek(offset + 100)
        file.write(bytes([byte ^ 0x10]))
    result = run("info", path, code=1)
    assert b"1 DAMAGED" in result.stdout and b"checksum is wrong" in result.stderr


# ---- args ----


def pasted(spec):
    """The lines by their program."""
    text = text_of("args", spec)
    return {
        "h5repack": re.search(r"^h5repack .*$", text, re.M).group(),
        "nccopy": re.search(r"^nccopy .*$", text, re.M).group(),
        "C": re.search(r"cd_values\[\d+\] = \{(.*)\};", text).group(1),
        "C filter": re.search(r"H5Pset_filter\(dcpl, (\d+), H5Z_FLAG_MANDATORY, (\d+),", text),
        "C spec": re.search(r'H5Pset_h5twin\(dcpl, "(.*)"\);', text).group(1),
        "h5py": re.search(r"compression=(\d+), compression_opts=(\(.*?\))\)", text),
    }


@pytest.mark.parametrize("spec, mode, bound", [
    ("sleek", 0, None), ("sleek:abs=1e-3", 1, 1e-3), ("sleek:noa=0.5", 2, 0.5),
    ("sleek:abs=0.1234567890123456", 1, 0.1234567890123456), ("sleek:abs=1e-300", 1, 1e-300),
    ("sleek:abs=4", 1, 4.0),
])
def test_args_lines_all_carry_the_same_numbers(spec, mode, bound):
    lines = pasted(spec)
    words = (mode,) if bound is None else (mode, *struct.unpack("<II", struct.pack("<d", bound)))
    numbers = ",".join(map(str, words))
    assert lines["h5repack"] == f"h5repack -f UD=480,0,{len(words)},{numbers} IN.h5 OUT.h5"
    assert tuple(int(word.rstrip("u")) for word in lines["C"].split(",")) == words
    assert lines["C filter"].groups() == ("480", str(len(words)))
    assert lines["h5py"].group(1) == "480" and eval(lines["h5py"].group(2)) == words
    parts = lines["nccopy"].split("'")[1].split(",")
    assert parts[:3] == ["*", "480", str(mode)]
    assert bound is None and len(parts) == 3 or \
        len(parts) == 4 and parts[3].endswith("d") and float(parts[3][:-1]) == bound
    assert text_of("args", lines["C spec"]) == text_of("args", spec)


def test_args_tells_how_to_see_what_tools_drop():
    text = text_of("args", "sleek")
    for words in ("h5twin info", "H5TWIN_VERBOSE=1", "h5repack --enable-error-stack"):
        assert words in text


def option_specs():
    """One spec for each value that `h5twin codecs` lists as a name."""
    codec = None
    for line in text_of("codecs").splitlines():
        head = re.match(r"(\w+) \(HDF5", line)
        pair = re.match(r"    (\w+)=(\w+(\|\w+)+)", line)
        codec = head.group(1) if head else codec
        if pair:
            yield from (f"{codec}:{pair.group(1)}={value}" for value in pair.group(2).split("|"))


@pytest.mark.parametrize("bound, sentence", [
    ("1e-320", "too small to be meant"), ("1.9991592789737117e+37", "in the other order as 0.01")])
def test_args_prints_no_lines_that_the_filter_refuses(bound, sentence):
    result = run("args", f"sleek:abs={bound}", code=2)
    assert sentence in result.stderr.decode() and not result.stdout


@pytest.mark.parametrize("spec", [*CODECS, "sleek:abs=1e-3", *(option_specs() if CODECS else [])])
def test_args_lines_work_when_pasted(spec, h5py, tmp_path):
    codec = spec.partition(":")[0]
    needs_plugin(codec)
    data = smooth((20, 30), "<f8")
    lines = pasted(spec)
    tolerance = 1e-3 if "abs=" in spec else 0
    with h5py.File(tmp_path / "IN.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(10, 30))
    with h5py.File(tmp_path / "h5py.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=True, compression=int(lines["h5py"].group(1)),
                            compression_opts=eval(lines["h5py"].group(2)))
    files = ["h5py.h5"]
    if shutil.which("h5repack"):
        subprocess.run(lines["h5repack"], shell=True, cwd=tmp_path, check=True)
        files.append("OUT.h5")
    shutil.copy(tmp_path / "IN.h5", tmp_path / "IN.nc")
    if shutil.which("nccopy"):
        done = subprocess.run(lines["nccopy"], shell=True, cwd=tmp_path, check=False,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        files.append("OUT.nc")
    for name in files:
        with h5py.File(tmp_path / name) as file:
            assert np.max(np.abs(file["x"][()] - data)) <= tolerance
            assert file["x"].id.get_create_plist().get_filter(0)[0] == filter_id(codec), name
        if "built without" not in run("info", tmp_path / name).stderr.decode():
            assert f"{filter_id(codec)}: {spec.replace('1e-3', '0.001')} (" in \
                text_of("info", tmp_path / name), name


# ---- suggest ----


def rows(text):
    """spec -> (ratio, rest) of the table."""
    return {match[0]: (float(match[1]), match[2])
            for match in re.findall(r"^(\S+) +(\d+\.\d{3}) +(.*)$", text, re.M)}


def test_suggest_tries_all_codecs_and_each_bound(tmp_path):
    path = tmp_path / "field"
    path.write_bytes(smooth((16, 32, 64), "<f4").tobytes())
    text = text_of("suggest", "--type", "f32", "--dims", "16x32x64", "--abs", "1e-3", "--noa",
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


@pytest.mark.parametrize("kind", ["series", "image", "volume"])
def test_suggest_s_ratios_are_about_those_of_the_whole_array(kind, tmp_path):
    data, path = uneven(kind), tmp_path / "field"
    path.write_bytes(data.tobytes())
    shape = ["--type", f"f{8 * data.itemsize}", "--dims", "x".join(map(str, data.shape))]
    codecs = [word for name in ("sleek", "ndzip", "gfc", "fpcompress") for word in ("--codec", name)]
    found = rows(text_of("suggest", *shape, *codecs, "--abs", "1e-3", path))
    for spec in ("sleek", "ndzip", "gfc", "fpcompress:mode=speed", "sleek:abs=0.001"):
        run("encode", "--spec", spec, *shape, path, tmp_path / "chunk")
        whole = path.stat().st_size / (tmp_path / "chunk").stat().st_size
        assert found[spec][0] == pytest.approx(whole, rel=0.1), spec


def test_suggest_knows_what_users_have_already(tmp_path):
    path = tmp_path / "field"
    data = smooth((16, 32, 64), "<f4")
    path.write_bytes(data.tobytes())
    text = text_of("suggest", "--type", "f32", "--dims", "16x32x64", "--abs", "1e-2", path)
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


def test_suggest_leaves_out_what_was_never_written(h5py, tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("never", (5000, 5000), "f8", chunks=(100, 100))
        part = file.create_dataset("part", (4000, 4000), "f4", chunks=(100, 100))
        part[300:400, 700:900] = np.random.default_rng(1).normal(size=(100, 200))
    needs_hdf5(path)
    text = text_of("suggest", "--codec", "gfc", path)
    assert text.startswith("part: f32") or text.startswith("/part: f32")
    assert "sample: 2 pieces of 100x100" in text and rows(text)["gfc"][0] < 1.3
    assert "nothing was ever written to never" in refused("suggest", f"{path}:never", code=1)


def test_suggest_reports_the_error_of_lossy_specs(tmp_path):
    path = tmp_path / "field"
    path.write_bytes(smooth((100, 100), ">f8").tobytes())
    found = rows(text_of("suggest", "--type", "f64be", "--abs", "0.25", path))
    assert 0 < float(found["sleek:abs=0.25"][1].split()[2]) <= 0.25
    assert found["sleek"][1].split()[2] == "0"


def test_suggest_names_what_looks_like_missing_data(tmp_path):
    path = tmp_path / "x.raw"
    numbers = np.sin(np.arange(8192) / 50).astype(">f4")
    numbers[::2] = 1e35
    path.write_bytes(numbers.tobytes())
    text = text_of("suggest", "--type", "f32be", "--abs", "1e-3", "--noa", "1e-3", path)
    assert "1e+35 occurs in 50 % of the values: looks like missing data" in text
    found = rows(text)
    for bound in ("abs", "noa"):
        assert 0 < float(found[f"sleek:{bound}=0.001,fill=1e+35"][1].split()[2]) <= 2e-3
    numbers[::2] = 15
    path.write_bytes(numbers.tobytes())
    assert "missing data" not in text_of("suggest", "--type", "f32be", "--abs", "1e-3", path)


def test_suggest_marks_nothing_that_does_not_shrink(tmp_path):
    path = tmp_path / "noise"
    path.write_bytes(np.random.default_rng(3).bytes(100000))
    text = text_of("suggest", "--type", "f32", path)
    assert set(CODECS) <= set(rows(text))
    assert "best stored as it is" in text and "fastest" not in text and "best ratio" not in text


def test_suggest_has_nothing_to_try_on_an_empty_file(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert "nothing to try" in refused("suggest", "--type", "f32", tmp_path / "empty", code=1)


def test_suggest_takes_the_largest_floats_of_an_hdf5_file(h5py, tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file["ints"] = np.arange(100000)
        file["small"] = smooth((10, 10), "<f4")
        file.create_dataset("group/large", data=smooth((64, 64, 64), ">f4"), chunks=(16, 32, 32))
        file["text"] = "words"
    needs_hdf5(path)
    text = text_of("suggest", "--sample", "256k", path)
    assert text.startswith("/group/large: f32be, 64x64x64, 1048576 bytes\n")
    assert set(CODECS) <= set(rows(text))
    assert "pieces of 16x32x32" in text
    assert text_of("suggest", f"{path}:small").startswith("small: f32, 10x10")
    assert "not an array of plain numbers" in refused("suggest", f"{path}:text", code=1)
    assert "nosuch cannot be opened" in refused("suggest", f"{path}:nosuch", code=1)
    assert "knows its --type" in refused("suggest", "--type", "f32", path)


def test_suggest_reads_datasets_that_our_filters_wrote(h5py, tmp_path):
    needs_plugin("sleek")
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=smooth((64, 64), "<f8"), chunks=(32, 64), compression=480)
    needs_hdf5(path)
    assert set(CODECS) <= set(rows(text_of("suggest", path)))
