# SPDX-License-Identifier: BSD-3-Clause
"""What a machine may do to the command and to the example: full disks, signals, little stack.

Failing writes come from tests/support/fault_shim.c, built beside the tests and preloaded here. The
quick form tries some places and moments, H5TWIN_TEST_LONG=1 every write and many moments.
"""

import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from command_line import run
from conftest import COMMAND, SPECS, smooth

pytestmark = pytest.mark.without_h5py

BUILD = pathlib.Path(COMMAND).resolve().parent.parent
SHIM = pathlib.Path(os.environ.get("H5TWIN_FAULT_SHIM", BUILD / "tests" / "fault_shim.so"))
GRAY_SCOTT = BUILD / "bin" / "gray_scott"
LONG = os.environ.get("H5TWIN_TEST_LONG") == "1"


@pytest.fixture
def faults():
    if not SHIM.exists():
        pytest.skip(f"no {SHIM}: build the tests for Linux")
    return lambda **more: {**os.environ, "LD_PRELOAD": str(SHIM), "OMP_NUM_THREADS": "1",
                           **{f"H5TWIN_FAULT_{key.upper()}": str(more[key]) for key in more}}


@pytest.fixture
def gray_scott(tmp_path):
    """gray_scott(*arguments, **more of subprocess.run) in the folder tmp_path / "run"."""
    if not GRAY_SCOTT.exists():
        pytest.skip(f"no {GRAY_SCOTT}: build the examples")
    (tmp_path / "run").mkdir()

    def simulate(*arguments, **more):
        return subprocess.run([GRAY_SCOTT, "--folder", tmp_path / "run", *map(str, arguments)],
                              capture_output=True, text=True, timeout=120, check=False, **more)

    return simulate


def some(count, wanted=12):
    """Calls to fail: all, or as many as wanted with the first and the last among them."""
    if LONG or count <= wanted:
        return list(range(count))
    return sorted({round(i * (count - 1) / (wanted - 1)) for i in range(wanted)})


def checkpoints(folder):
    """The serial numbers of those that are complete."""
    return sorted(int(path.stem[len("checkpoint-"):]) for path in folder.glob("checkpoint-*.h5"))


def file_of(folder, serial):
    return folder / f"checkpoint-{serial:08}.h5"


# ---- full disks ----

@pytest.mark.parametrize("all_later", [0, 1])
def test_the_command_leaves_what_was_there_when_a_write_fails(tmp_path, faults, all_later):
    source, target, log = tmp_path / "in", tmp_path / "out", tmp_path / "log"
    source.write_bytes(smooth((100, 100), "f4").tobytes())
    encode = ("encode", "--codec", "sleek", "--type", "f32", source, target)
    run(*encode, env=faults(log=log))
    whole = target.read_bytes()
    calls = log.read_text().split()
    assert calls == ["write", "fsync", "rename"]
    for number in range(len(calls)):
        target.write_bytes(b"what was there")
        message = run(*encode, code=1, env=faults(at=number, all_later=all_later)).stderr.decode()
        assert message.startswith(f"h5twin: {target} cannot be written: ")
        assert target.read_bytes() == b"what was there"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "log", "out"]
    run(*encode, env=faults(at=len(calls)))
    assert target.read_bytes() == whole


def test_the_commands_output_keeps_the_mode_of_what_it_replaces(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(bytes(400))
    encode = ("encode", "--codec", "gfc", "--type", "f64", source, target)
    for mode in (0o600, 0o640, 0o664, 0o777):
        target.write_bytes(b"")
        target.chmod(mode)
        run(*encode, umask=0o022)
        assert target.stat().st_mode & 0o7777 == mode
    # A new file: that of what was read, as far as the umask leaves it.
    for like, umask, mode in ((0o644, 0o022, 0o644), (0o666, 0o077, 0o600), (0o666, 0, 0o666), (0o600, 0, 0o600),
                              (0o640, 0o022, 0o640), (0o755, 0, 0o644)):
        target.unlink()
        source.chmod(like)
        run(*encode, umask=umask)
        assert target.stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize("all_later", [0, 1])
def test_the_example_survives_failing_writes(tmp_path, faults, gray_scott, all_later):
    small = ("--side", 16, "--steps", 3, "--every", 1, "--keep", 2)
    log, folder = tmp_path / "log", tmp_path / "run"
    expected = gray_scott(*small, env=faults(log=log))
    assert expected.returncode == 0, expected.stderr
    last_line = expected.stdout.splitlines()[-1]
    calls = len(log.read_text().split())
    assert calls > 20
    for number in some(calls):
        for path in folder.iterdir():
            path.unlink()
        result = gray_scott(*small, env=faults(at=number, all_later=all_later))
        assert result.returncode == 1, (number, result.returncode)  # negative: a signal
        assert "Cannot " in result.stderr
        left = checkpoints(folder)
        if left:  # none if the first write of a full disk fails
            again = gray_scott("--continue", "--steps", 3, "--every", 1)
            assert again.returncode == 0, (number, again.stderr)
            assert again.stdout.splitlines()[-1] == last_line
        else:
            assert all_later


# ---- signals ----

@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_example_restarts_after_any_signal(tmp_path, gray_scott, number):
    folder = tmp_path / "run"
    chance = random.Random(int(number))
    arguments = [GRAY_SCOTT, "--folder", folder, "--side", "20", "--steps", "1000000", "--every", "1"]
    for turn in range(150 if LONG else 5):
        for path in folder.iterdir():
            path.unlink()
        with open(tmp_path / "output", "wb") as output:
            process = subprocess.Popen(  # a background job would inherit an ignored SIGINT
                arguments, stdout=output, stderr=output,
                preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
                if number != signal.SIGKILL else None)
        deadline = time.monotonic() + 60
        while max(checkpoints(folder), default=0) < 1 + turn % 4 and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.05))
        seen = max(checkpoints(folder), default=0)  # the step, too: there is one for each
        process.send_signal(number)
        assert process.wait(60) == -number
        result = gray_scott("--continue", "--steps", 1)
        assert result.returncode == 0, result.stderr
        step = int(result.stdout.split("going on from step ")[1].split()[0])
        assert step >= seen > turn % 4


# ---- folders of checkpoints ----

def test_a_run_that_goes_back_keeps_what_it_writes(tmp_path, gray_scott):
    folder = tmp_path / "run"
    assert gray_scott("--side", 8, "--steps", 40, "--every", 10, "--keep", 3).returncode == 0
    assert checkpoints(folder) == [2, 3, 4]         # steps 20, 30, 40
    back = gray_scott("--restart", 2, "--steps", 24, "--every", 2, "--keep", 3)
    assert back.returncode == 0, back.stderr
    assert checkpoints(folder) == [4, 5, 6]         # steps 40, 22, 24
    newest = gray_scott("--continue", "--steps", 25, "--every", 1, "--keep", 3)
    assert "going on from step 24 of checkpoint 6" in newest.stdout
    assert checkpoints(folder) == [5, 6, 7]


def test_a_damaged_newest_checkpoint_is_passed_over(tmp_path, gray_scott):
    folder = tmp_path / "run"
    assert gray_scott("--side", 16, "--steps", 3, "--every", 1).returncode == 0
    path = file_of(folder, 3)
    content = bytearray(path.read_bytes())
    with h5py.File(path) as file:   # in the middle of the first chunk
        place = file["restart/U"].id.get_chunk_info(0)
    content[place.byte_offset + place.size // 2] ^= 1
    path.write_bytes(content)
    result = gray_scott("--continue", "--steps", 3, "--every", 1)
    assert result.returncode == 0, result.stderr
    assert "going on from step 2 " in result.stdout and "checkpoint 3 is damaged" in result.stderr
    path.write_bytes(content[:100])
    file_of(folder, 4).write_bytes(b"")
    assert "going on from step 2 " in gray_scott("--continue", "--steps", 2).stdout


def test_a_used_folder_is_noticed(tmp_path, gray_scott):
    folder = tmp_path / "run"
    small = ("--side", 8, "--steps", 4, "--every", 2)
    assert gray_scott("--continue", "--steps", 4).returncode == 1
    assert gray_scott(*small).returncode == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    refused = gray_scott(*small)
    assert refused.returncode == 1 and "holds 2 checkpoints of another run" in refused.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert gray_scott(*small, "--overwrite").returncode == 0
    assert gray_scott("--restart", 2, *small).returncode == 0
    assert gray_scott("--restart", 99, *small).returncode == 1


def test_what_is_in_the_way_of_a_new_checkpoint_is_not_followed(tmp_path, gray_scott):
    innocent = tmp_path / "innocent"
    innocent.write_bytes(b"not ours")
    (tmp_path / "run" / "checkpoint-00000001.h5.tmp").symlink_to(innocent)
    assert gray_scott("--side", 8, "--steps", 1, "--every", 1).returncode == 0
    assert innocent.read_bytes() == b"not ours"
    assert len(checkpoints(tmp_path / "run")) == 1


# ---- little stack ----

@pytest.mark.parametrize("kib", [128, 256])
@pytest.mark.parametrize("spec", [spec for specs in SPECS.values() for spec in specs])
def test_the_command_works_with_little_stack(tmp_path, spec, kib):
    source, chunk, back = tmp_path / "in", tmp_path / "chunk", tmp_path / "back"
    source.write_bytes(smooth((300, 1000), "f8").tobytes())

    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (kib * 1024, kib * 1024))

    run("encode", "--spec", spec, "--type", "f64", "--threads", 4, source, chunk, preexec_fn=limit)
    run("decode", "--threads", 4, chunk, back, preexec_fn=limit)
    decoded, original = (np.fromfile(path, "f8") for path in (back, source))
    unit = {"abs": 1, "noa": np.ptp(original), "rel": np.abs(original)}
    allowed = [float(part[4:]) * unit[part[:3]] for part in spec.partition(":")[2].split(",") if part[:3] in unit]
    assert (np.abs(decoded - original) <= (allowed or [0])[0]).all()
