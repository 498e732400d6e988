# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of a program whose state is known at every step (tests/checkpoint/checkpoint_run.c), killed,
starved and damaged. "check" reads the newest checkpoint and compares every value with what was written.

H5TWIN_TEST_LONG=1 fails every write, and kills some 500 runs.
"""

import errno
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from conftest import COMMAND

BUILD = pathlib.Path(COMMAND).resolve().parent.parent
PROGRAM = BUILD / "tests" / "checkpoint_run"
SHIM = BUILD / "tests" / "fault_shim.so"
LONG = os.environ.get("H5TWIN_TEST_LONG") == "1"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"no {PROGRAM}: build the tests with HDF5's C library")

WAYS = [(), ("--background",), ("--verify",), ("--processes", "3"), ("--processes", "3", "--background", "--verify")]
NAMES = ["one", "background", "verify", "team", "team in the background"]
ways = pytest.mark.parametrize("way", WAYS, ids=NAMES)


def write(folder, *arguments, **more):
    return subprocess.run([PROGRAM, "write", folder, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          check=False, **more)


def newest(folder, processes=1):
    """The step of the newest checkpoint, all of which is right; 0 if there is none."""
    done = subprocess.run([PROGRAM, "check", folder, "--processes", str(processes)], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return 0 if done.stdout == "none\n" else int(done.stdout.split()[1])


def whole(folder):
    """All files that have the name of a complete checkpoint are one."""
    done = subprocess.run([PROGRAM, "check", folder, "--all"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and int(done.stdout.split()[-1]) == len(masters(folder)), done
    return True


def committed(text):
    """The last step that the program said to be complete; 0 if none."""
    steps = [int(line.split()[1]) for line in text.splitlines() if line.startswith("committed ")]
    return max(steps, default=0)


def masters(folder):
    return sorted(path.name for path in folder.glob("checkpoint-*.h5"))


def only_complete(folder):
    """Nothing half written is left, once somebody has opened the folder to write."""
    serials = {name[len("checkpoint-"):-len(".h5")] for name in masters(folder)}
    for path in folder.iterdir():
        assert path.name == ".checkpoint.lock" or (
            path.suffix in (".h5", ".xmf", ".parts") and path.stem[len("checkpoint-"):] in serials), path


# ---- what is written ----

@ways
def test_all_is_restored_by_any_number_of_processes(tmp_path, way):
    folder = tmp_path / "out"
    done = write(folder, "--steps", 4, *way)
    assert done.returncode == 0 and committed(done.stdout) == 4, done
    for processes in 1, 2, 5:
        assert newest(folder, processes) == 4
    assert len(masters(folder)) == 3            # keep is 3 by default
    only_complete(folder)
    assert write(folder, "--steps", 2, *way).returncode == 0
    assert newest(folder) == 6


@ways
def test_h5py_reads_the_same_values(tmp_path, way):
    write(tmp_path, "--steps", 2, *way)
    with h5py.File(tmp_path / "checkpoint-00000002.h5") as file:
        index = np.arange(23 * 20 * 21, dtype=np.float64)
        assert np.array_equal(file["flow/pressure"][()].ravel(), (3 * (index % 1009)) / 7.0 + index)
        index = index.astype(np.uint64)
        expected = ((index * 2654435761 + 2) >> 8).astype(np.uint32).astype(np.int32)
        assert np.array_equal(file["marker"][()].ravel(), expected)
        assert file.attrs["step"] == 2 and file.attrs["time"] == 1.0 and file.attrs["model"] == b"a model"


# ---- what fails ----

def some(count, wanted=10):
    if LONG or count <= wanted:
        return list(range(count))
    return sorted({round(i * (count - 1) / (wanted - 1)) for i in range(wanted)})


@pytest.mark.without_h5py
@ways
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT], ids=["ENOSPC", "EIO", "EDQUOT"])
def test_a_failing_disk_loses_one_checkpoint_and_no_other(tmp_path, way, code):
    if not SHIM.exists():
        pytest.skip(f"no {SHIM}: build the tests for Linux")
    log = tmp_path / "log"
    write(tmp_path / "counted", "--steps", 3, *way, env={**os.environ, "LD_PRELOAD": str(SHIM), "H5TWIN_FAULT_LOG": str(log)})
    calls = len(log.read_text().splitlines()) // (3 if "--processes" in way else 1)
    for at in some(calls):
        folder = tmp_path / str(at)
        write(folder, "--steps", 1)
        env = {**os.environ, "LD_PRELOAD": str(SHIM), "H5TWIN_FAULT_AT": str(at), "H5TWIN_FAULT_ERROR": str(code)}
        done = write(folder, "--steps", 3, *way, env=env)
        assert done.returncode == 3 and "failed" in done.stdout, done
        assert os.strerror(code) in done.stdout
        found = newest(folder)
        assert whole(folder)
        # The file may have its name although the folder could not be synced: then it is whole.
        assert found >= max(committed(done.stdout) - ("--background" in way), 1)
        assert write(folder, "--steps", 1, *way).returncode == 0 and newest(folder) == found + 1
        only_complete(folder)
        shutil.rmtree(folder)


@ways
def test_a_full_disk_is_survived(tmp_path, way):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    assert write(tmp_path, "--steps", 2, *way).returncode == 0
    done = write(tmp_path, "--steps", 2, *way, preexec_fn=small_files)
    assert done.returncode == 3 and "File too large" in done.stdout, done
    assert newest(tmp_path) == 2
    assert write(tmp_path, "--steps", 1, *way).returncode == 0 and newest(tmp_path) == 3
    only_complete(tmp_path)


@ways
def test_killed_at_any_moment_the_newest_complete_one_is_there(tmp_path, way):
    moments, seen = random.Random(5), 0
    for _ in range(100 if LONG else 6):
        folder = tmp_path / "out"
        process = subprocess.Popen([PROGRAM, "write", folder, "--steps", "100000", *way], stdout=subprocess.PIPE, text=True,
                                   start_new_session=True)
        time.sleep(moments.uniform(0.02, 0.4))
        os.killpg(process.pid, signal.SIGKILL)
        said = committed(process.communicate(timeout=60)[0])
        found = newest(folder) if folder.exists() else 0
        assert found >= max(seen, said - ("--background" in way))
        seen = found
    assert seen > 0
    assert write(tmp_path / "out", "--steps", 1, *way).returncode == 0
    only_complete(tmp_path / "out")


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("background", [(), ("--background",)], ids=["foreground", "background"])
def test_a_process_that_is_lost_stops_nobody_else(tmp_path, rank, background):
    moments = random.Random(rank)
    for _ in range(20 if LONG else 2):
        before = newest(tmp_path)
        process = subprocess.Popen([PROGRAM, "write", tmp_path, "--steps", "100000", "--processes", "3", *background],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(moments.uniform(0.1, 0.3))
        if rank == 0:
            os.kill(process.pid, signal.SIGKILL)
        else:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if len(children) == 2:
                os.kill(int(children[rank - 1]), signal.SIGKILL)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGKILL)      # it goes on to fail: 100000 steps are many
        said = committed(process.communicate(timeout=60)[0])
        assert newest(tmp_path) >= max(before, said - len(background))
        assert before == 0 or whole(tmp_path)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_process_that_fails_makes_all_fail_with_its_reason(tmp_path, rank):
    done = write(tmp_path, "--steps", 3, "--processes", 3, "--fail-at", 2, "--fail-rank", rank)
    assert done.returncode == 3 and "failed 2: " in done.stdout and "sleek:no=option" in done.stdout
    assert ("Process" in done.stdout) == (rank > 0)
    assert committed(done.stdout) == 3 and newest(tmp_path) == 3 and len(masters(tmp_path)) == 2
    only_complete(tmp_path)


# ---- what is damaged ----

def damage(path, how):
    content = bytearray(path.read_bytes())
    if how == "cut":
        del content[1500:]
    elif how == "empty":
        content.clear()
    else:
        content[8:40] = bytes(32)
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["cut", "empty", "superblock"])
@ways
def test_a_damaged_checkpoint_is_passed_over(tmp_path, way, how):
    write(tmp_path, "--steps", 3, *way)
    damage(tmp_path / "checkpoint-00000003.h5", how)
    assert newest(tmp_path) == 2


@pytest.mark.parametrize("how", ["cut", "empty", "removed"])
def test_a_damaged_part_is_noticed(tmp_path, how):
    write(tmp_path, "--steps", 3, "--processes", 3)
    part = tmp_path / "checkpoint-00000003.parts" / "1.h5"
    if how == "removed":
        part.unlink()
    else:
        damage(part, how)
    assert newest(tmp_path, processes=2) == 2


def test_a_renamed_checkpoint_is_passed_over(tmp_path):
    """Its number is not that of its file: who copies an old one under a new name does not go back to it."""
    write(tmp_path, "--steps", 3)
    shutil.copy(tmp_path / "checkpoint-00000001.h5", tmp_path / "checkpoint-00000009.h5")
    assert newest(tmp_path) == 3


def test_parts_that_nobody_has_are_noticed(tmp_path):
    """A field of which the file names two parts of three: HDF5 itself would give zeros for the third."""
    write(tmp_path, "--steps", 1, "--processes", 3)
    with h5py.File(tmp_path / "checkpoint-00000001.h5", "r+") as file:
        sources, shape = file["flow/pressure"].virtual_sources(), file["flow/pressure"].shape
        assert len(sources) == 3
        del file["flow/pressure"]
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        for source in sources[:2]:
            low, high = source.vspace.get_select_bounds()
            own = h5py.h5s.create_simple(tuple(b - a + 1 for a, b in zip(low, high)))
            plist.set_virtual(source.vspace, source.file_name.encode(), source.dset_name.encode(), own)
        h5py.h5d.create(file["flow"].id, b"pressure", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple(shape), plist)
    done = subprocess.run([PROGRAM, "check", tmp_path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "Parts of the field flow/pressure are missing." in done.stderr, done


@pytest.mark.parametrize("processes", [2**31 - 1, 4, 2, 0, -1])
def test_another_number_of_processes_is_noticed(tmp_path, processes):
    write(tmp_path, "--steps", 2, "--processes", 3)
    with h5py.File(tmp_path / "checkpoint-00000002.h5", "r+") as file:
        file.attrs.modify("processes", np.int32(processes))

    def little_memory():    # 2^31 sizes would be 16 GiB
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    done = subprocess.run([PROGRAM, "check", tmp_path], capture_output=True, text=True, timeout=60, check=False,
                          preexec_fn=little_memory)
    assert done.returncode == 0 and done.stdout.startswith("step 1 "), done


@pytest.mark.parametrize("way", [(), ("--processes", "3")], ids=["one", "team"])
def test_no_flipped_bit_gives_other_values(tmp_path, way):
    write(tmp_path, "--steps", 1, *way)
    part = tmp_path / ("checkpoint-00000001.parts/1.h5" if way else "checkpoint-00000001.h5")
    content = part.read_bytes()
    places = random.Random(3)
    for _ in range(400 if LONG else 40):
        changed = bytearray(content)
        changed[places.randrange(len(content))] ^= 1 << places.randrange(8)
        part.write_bytes(changed)
        done = subprocess.run([PROGRAM, "check", tmp_path], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 1) and "differs" not in done.stderr, done


# ---- who may what ----

def test_one_program_writes_at_a_time(tmp_path):
    first = subprocess.Popen([PROGRAM, "write", tmp_path, "--steps", "100000"], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout.readline() == "committed 1\n"
        second = write(tmp_path, "--steps", 1)
        assert second.returncode == 1 and "Another program writes" in second.stderr
        assert newest(tmp_path) >= 1                # reading is fine
    finally:
        first.kill()
        first.communicate()
    assert write(tmp_path, "--steps", 1).returncode == 0


def test_what_is_being_read_is_not_removed(tmp_path):
    write(tmp_path, "--steps", 1)
    with h5py.File(tmp_path / "checkpoint-00000001.h5") as file:
        write(tmp_path, "--steps", 6)
        assert "checkpoint-00000001.h5" in masters(tmp_path)
        assert file["marker"].shape == (23, 20, 21) and file["marker"][0, 0, 1] == (2654435761 + 1) >> 8
    write(tmp_path, "--steps", 1)
    assert masters(tmp_path) == [f"checkpoint-{serial:08}.h5" for serial in (6, 7, 8)]


def test_names_that_are_not_ours_stay(tmp_path):
    names = ["checkpoint-1.h5", "checkpoint-00000001.h5.bak", "other-00000001.h5", "checkpoint-0000000x.h5", "notes"]
    for name in names:
        (tmp_path / name).write_text("mine")
    write(tmp_path, "--steps", 6)
    assert all((tmp_path / name).read_text() == "mine" for name in names) and newest(tmp_path) == 6


def test_the_clock_does_not_decide_which_is_newest(tmp_path):
    write(tmp_path, "--steps", 3)
    os.utime(tmp_path / "checkpoint-00000003.h5", (0, 0))
    assert newest(tmp_path) == 3


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = write(tmp_path / "file", "--steps", 1)
    assert done.returncode == 1 and "Cannot make" in done.stderr
    done = write(tmp_path / "no" / "such", "--steps", 1)
    assert done.returncode == 1 and "one above it missing" in done.stderr


@pytest.mark.without_h5py
def test_campaign(tmp_path):
    """A few runs of tests/checkpoint/campaign.py, whose default is hundreds of them."""
    script = pathlib.Path(__file__).resolve().parent.parent / "tests" / "checkpoint" / "campaign.py"
    done = subprocess.run([sys.executable, script, "--build", BUILD, "--runs", "600" if LONG else "40"],
                          env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=3600,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- how it is written ----

def test_threads_do_not_change_a_byte(tmp_path):
    for threads in "125":
        write(tmp_path / threads, "--steps", 1, "--side", 70, env={**os.environ, "OMP_NUM_THREADS": threads})
    files = [(tmp_path / threads / "checkpoint-00000001.h5").read_bytes() for threads in "125"]
    assert files[0] == files[1] == files[2]


def test_chunks_are_those_that_hdf5_would_have_stored(tmp_path):
    """All cores write a field; HDF5's own H5Dwrite makes the same chunks (they may lie in another order)."""
    write(tmp_path, "--steps", 1, "--side", 70)
    with h5py.File(tmp_path / "checkpoint-00000001.h5") as file, h5py.File(tmp_path / "native.h5", "w") as other:
        for name in "flow/pressure", "marker":
            ours = file[name].id
            values = file[name][()]
            native = h5py.h5d.create(other.id, name.split("/")[-1].encode(), ours.get_type(), ours.get_space(),
                                     ours.get_create_plist())
            native.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
            other.flush()
            assert ours.get_num_chunks() == native.get_num_chunks() > 1
            for index in range(ours.get_num_chunks()):
                place = ours.get_chunk_info(index).chunk_offset
                assert ours.read_direct_chunk(place) == native.read_direct_chunk(place)


SLOW_DISK = """
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int fsync(int file)
{
    nanosleep(&(struct timespec){0, 400000000}, 0);
    return (int)syscall(SYS_fsync, file);
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler for a library that makes the disk slow")
def test_no_more_than_two_checkpoints_are_in_memory(tmp_path):
    """However slow the disk is: one on its way, and one being made."""
    shim = tmp_path / "slow.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-x", "c", "-", "-o", shim], input=SLOW_DISK, text=True, check=True)

    def peak(name, *arguments):
        """MiB of the program, and of its largest checkpoint."""
        process = subprocess.Popen([PROGRAM, "write", tmp_path / name, "--side", "128", *arguments], stdout=subprocess.DEVNULL,
                                   env={**os.environ, "OMP_NUM_THREADS": "1", "LD_PRELOAD": str(shim)})
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return used.ru_maxrss / 1024, max(path.stat().st_size for path in (tmp_path / name).glob("*.h5")) / 2**20

    alone, size = peak("one", "--steps", "1")
    several, _ = peak("several", "--steps", "8", "--background")
    assert size > 10
    assert several < alone + 1.2 * size + 8, (alone, several, size)


FORGETFUL_DISK = r"""
#include <sys/syscall.h>
#include <unistd.h>
ssize_t read(int file, void *bytes, size_t size)
{
    const ssize_t got = syscall(SYS_read, file, bytes, size);
    if (got > 4000)
        ((char *)bytes)[4000] ^= 1;
    return got;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler for a library that makes the disk forget")
@pytest.mark.parametrize("way", [(), ("--processes", "3")], ids=["one", "team"])
def test_what_a_disk_does_not_keep_is_noticed_if_asked(tmp_path, way):
    """And nothing is left of it, not even until somebody opens the folder to write."""
    shim = tmp_path / "forgetful.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-x", "c", "-", "-o", shim], input=FORGETFUL_DISK, text=True,
                   check=True)
    env = {**os.environ, "LD_PRELOAD": str(shim)}
    assert committed(write(tmp_path / "trusting", "--steps", 2, *way, env=env).stdout) == 2
    done = write(tmp_path / "out", "--steps", 2, "--verify", *way, env=env)
    assert committed(done.stdout) == 0 and "the same bytes in" in done.stdout and not masters(tmp_path / "out"), done
    only_complete(tmp_path / "out")


# ---- Fortran ----

WAVE = BUILD / "bin" / "wave"


def wave(folder, steps):
    done = subprocess.run([WAVE, folder, str(steps)], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(not WAVE.exists(), reason=f"no {WAVE}: it needs a Fortran compiler")
def test_the_example_in_fortran_goes_on_bit_for_bit(tmp_path):
    whole = wave(tmp_path / "whole", 300)
    folder = tmp_path / "killed"
    for number in range(3):
        process = subprocess.Popen([WAVE, folder, "1000000"], stdout=subprocess.DEVNULL)
        while not masters(folder) or len(masters(folder)) <= (0 if number == 0 else 1):
            time.sleep(0.01)
        process.kill()
        process.wait()
    done = wave(tmp_path / "part", 140)
    assert done[-1].startswith("step 140")
    done = wave(tmp_path / "part", 300)
    assert done[0] == "going on from step 140 of checkpoint 7" and done[-1] == whole[-1]
    with h5py.File(tmp_path / "part" / masters(tmp_path / "part")[-1]) as file:
        now, middle = file["membrane/now"][()], file["middle"][()]
        assert now.shape == (200, 200) and middle.shape == (100, 100) and middle.dtype == "f4"
        assert 0 < np.abs(middle - now[50:150, 50:150]).max() <= 1.0001e-4
    with h5py.File(folder / masters(folder)[-1]) as file:
        found, step = file["membrane/now"][()], int(file.attrs["step"])
    wave(tmp_path / "same", step)
    with h5py.File(tmp_path / "same" / masters(tmp_path / "same")[-1]) as file:
        assert file.attrs["step"] == step and np.array_equal(file["membrane/now"][()], found)
