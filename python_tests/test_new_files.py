# SPDX-License-Identifier: BSD-3-Clause
"""Files that the command writes: nobody else's until they are whole, gone whatever ends the command; and what cannot be
written or is none of ours is noticed before the work is done."""

import os
import resource
import signal
import stat
import subprocess
import time

import h5py
import numpy as np
import pytest

from conftest import COMMAND
from test_repack import ENV

pytestmark = pytest.mark.without_h5py


@pytest.fixture(name="slow")
def slow_file(tmp_path):
    """One that takes a while to write."""
    path = tmp_path / "in.h5"
    with h5py.File(path, "w") as file:
        for i in range(3):
            file[f"x{i}"] = np.random.default_rng(i).normal(size=(400, 500))
    return path


def begin(slow, out, **more):
    process = subprocess.Popen([COMMAND, "repack", "--codec", "cascade:effort=max", "--threads", "1", slow, out],
                               stderr=subprocess.PIPE, **{"stdout": subprocess.DEVNULL, "env": ENV, **more})
    while process.poll() is None and not list(slow.parent.glob("out.h5.*.tmp")):
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGALRM", "SIGXCPU", "SIGQUIT", "SIGUSR1",
                                  "SIGUSR2", "SIGVTALRM", "SIGPROF"])
def test_no_signal_leaves_a_temporary_file(name, slow, tmp_path):
    process = begin(slow, tmp_path / "out.h5",
                    preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
                                        signal.signal(getattr(signal, name), signal.SIG_DFL)))  # some are ignored in the background
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == -getattr(signal, name)
    assert os.listdir(tmp_path) == ["in.h5"]


def test_a_closed_pipe_leaves_no_temporary_file(slow, tmp_path):
    reader, writer = os.pipe()
    process = begin(slow, tmp_path / "out.h5", stdout=writer)
    os.close(writer)
    os.close(reader)
    process.communicate(timeout=100)
    assert process.returncode in (0, -signal.SIGPIPE)  # 0: all that it printed came at the end
    assert not [name for name in os.listdir(tmp_path) if "tmp" in name]


@pytest.mark.parametrize("mode, umask", [(0o600, 0o022), (0o640, 0o022), (0o600, 0), (0o644, 0o077)])
def test_nobody_else_reads_the_new_file_at_any_time(mode, umask, slow, tmp_path):
    slow.chmod(mode)
    process = begin(slow, tmp_path / "out.h5", umask=umask)
    during = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("out.h5.*.tmp")]
    process.communicate(timeout=100)
    assert process.returncode == 0 and during == [0o600]
    assert stat.S_IMODE((tmp_path / "out.h5").stat().st_mode) == mode & ~umask & 0o666


def test_another_file_in_place_of_the_temporary_one_is_not_touched(slow, tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"do not touch")
    process = begin(slow, tmp_path / "out.h5")
    temporary, = tmp_path.glob("out.h5.*.tmp")
    temporary.unlink()
    temporary.symlink_to(precious)
    _, message = process.communicate(timeout=100)
    assert process.returncode == 1 and b"cannot be written" in message
    assert precious.read_bytes() == b"do not touch" and not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("arguments", [("repack", "--codec", "ndzip", "IN"), ("repack", "--codec", "ndzip", "--force", "IN"),
                                       ("encode", "--codec", "ndzip", "--type", "f64", "IN"), ("decode", "IN")])
def test_a_place_that_cannot_be_written_is_noticed_first(arguments, slow, tmp_path):
    """Before IN is read, which decode would refuse."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    for out, words in (("dangling", "is a link to nothing"), ("folder", "folder"), ("no/out", "No such file")):
        result = subprocess.run([COMMAND, *[str(slow) if word == "IN" else word for word in arguments], tmp_path / out],
                                capture_output=True, text=True, timeout=60, check=False, env=ENV)
        assert result.returncode == 1 and words in result.stderr and out in result.stderr, result.stderr
        assert result.stdout == ""
    assert sorted(os.listdir(tmp_path)) == ["dangling", "folder", "in.h5"]
    assert os.readlink(tmp_path / "dangling") == "nowhere"


@pytest.mark.parametrize("arguments", [("decode", "IN", "-"), ("info", "IN")])
def test_a_large_file_of_another_kind_is_not_read(arguments, tmp_path):
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.write(b"none of ours")
        file.truncate(1 << 40)
    result = subprocess.run([COMMAND, *[str(large) if word == "IN" else word for word in arguments]], capture_output=True,
                            text=True, timeout=60, check=False, env=ENV,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
    assert result.returncode == 1, result.stderr
    assert "memory" not in result.stderr and str(large) in result.stderr and result.stderr.count("\n") == 1


def test_the_folder_reaches_the_disk(slow, tmp_path):
    """After the rename: without, a power failure may leave neither file."""
    trace = tmp_path / "trace"
    strace = subprocess.run(["which", "strace"], capture_output=True, check=False).returncode == 0
    if not strace:
        pytest.skip("no strace here")
    subprocess.run(["strace", "-f", "-e", "trace=fsync,rename,link,openat", "-o", trace, COMMAND, "repack", "--codec", "gfc",
                    slow, tmp_path / "out.h5"], capture_output=True, check=True, env=ENV)
    lines = trace.read_text().splitlines()
    last = max(i for i, line in enumerate(lines) if "link(" in line or "rename(" in line)
    assert any("fsync(" in line for line in lines[last:])
