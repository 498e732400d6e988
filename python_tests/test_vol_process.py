# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin run`, and what happens to the processes under it: signals, forks, threads, a full disk, a reader beside."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from conftest import COMMAND, FILTER_IDS, HERE, PLUGINS, same_bits
from test_vol import lines_of, start

pytestmark = [pytest.mark.skipif(not (PLUGINS / "vol").is_dir(), reason=f"no connector below {PLUGINS}"),
              pytest.mark.skipif(sys.platform == "win32", reason="signals, limits, forks")]

FILTER = FILTER_IDS.get("cascade") or next(iter(FILTER_IDS.values()))
ROWS = 40
PRELUDE = """
import sys, os, h5py, numpy as np
number = int(sys.argv[1]); path = sys.argv[2]
def field(i): return np.sin(np.arange(40 * 6000).reshape(40, 6000) * 1e-3 + i).astype("f4")
def make(file, name, i=0, **more):
    return file.create_dataset(name, data=field(i), chunks=(10, 1000), compression=number, **more)
"""


def field(i):
    return np.sin(np.arange(ROWS * 6000).reshape(ROWS, 6000) * 1e-3 + i).astype("f4")


def script(text, path, **more):
    return start("-c", PRELUDE + text, FILTER, path, **{"connector": True, **more})


# ---- the command ----

def run(*arguments, **environment):
    return subprocess.run([COMMAND, "run", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


def test_environment(tmp_path):
    shown = run("--threads", 3, "sh", "-c", 'echo "$HDF5_VOL_CONNECTOR $H5TWIN_NUM_THREADS"; echo "$HDF5_PLUGIN_PATH"',
                HDF5_PLUGIN_PATH="/one:/two")
    assert shown.stdout.splitlines() == ["h5twin 3", f"{PLUGINS.resolve() / 'vol'}:{PLUGINS.resolve()}:/one:/two"]


def test_exit_codes():
    assert run("sh", "-c", "exit 7").returncode == 7
    assert run("sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    assert run("/no/such/program").returncode == 127
    assert run("/").returncode == 126
    assert run().returncode == 2 and run("--threads", "0", "true").returncode == 2


def test_options_of_the_program_are_its_own():
    assert run("--", "echo", "--threads", "x").stdout == "--threads x\n"
    assert run("echo", "--check", "-h").stdout == "--check -h\n"


def test_another_connector_is_not_replaced():
    refused = run("true", HDF5_VOL_CONNECTOR="pass_through under_vol=0;under_info={}")
    assert refused.returncode == 1 and "pass_through" in refused.stderr and refused.stderr.count("\n") == 1
    assert run("true", HDF5_VOL_CONNECTOR="native").returncode == 0


def test_a_bad_policy_starts_nothing(tmp_path):
    policy = tmp_path / "rules"
    policy.write_text("what is this\n")
    refused = run("--policy", policy, "echo", "started")
    assert refused.returncode == 1 and refused.stdout == "" and f"{policy}:1:" in refused.stderr


def test_check_tells_what_this_python_has():
    asked = run("--check", sys.executable)
    assert f"HDF5 {h5py.version.hdf5_version}" in asked.stdout
    if h5py.version.hdf5_version_tuple >= (1, 14, 0):
        assert "takes the connector" in asked.stdout
    assert run("--check", "/bin/sh").returncode == 1


@pytest.fixture
def alone(tmp_path):
    """The command without its connector; what it runs with these arguments and variables."""
    command = tmp_path / "bin" / "h5twin"
    command.parent.mkdir()
    shutil.copy2(COMMAND, command)
    libraries = str(pathlib.Path(COMMAND).resolve().parent.parent / "lib")

    def run_alone(*arguments, **environment):
        variables = {name: value for name, value in os.environ.items() if name not in ("HDF5_VOL_CONNECTOR", "HDF5_PLUGIN_PATH")}
        return subprocess.run([command, "run", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env={**variables, "LD_LIBRARY_PATH": libraries, **environment})
    return run_alone


SHOW = 'echo "${HDF5_VOL_CONNECTOR-none} ${HDF5_PLUGIN_PATH-none}"; exit 7'


def test_without_the_connector_a_program_runs_natively(alone, tmp_path):
    """Who asks for all cores, or a policy, hears in one sentence that there are none. No connector is named: HDF5 2.0 would crash."""
    for before in ({}, {"HDF5_VOL_CONNECTOR": "h5twin"}, {"HDF5_VOL_CONNECTOR": "native"}):
        done = alone("sh", "-c", SHOW, **before)
        assert (done.returncode, done.stdout) == (7, "none none\n")
        assert done.stderr.count("\n") == 1 and "vol/libh5twin_vol.so" in done.stderr and "is missing" in done.stderr
    assert alone("sh", "-c", SHOW, HDF5_PLUGIN_PATH="/one").stdout == "none /one\n"
    (tmp_path / "plugins").mkdir()  # the filters are there
    assert alone("sh", "-c", SHOW).stdout.startswith(f"none {tmp_path.resolve() / 'plugins'}")
    assert alone("sh", "-c", SHOW, HDF5_PLUGIN_PATH="/one").stdout == f"none {tmp_path.resolve() / 'plugins'}:/one\n"


def test_h5py_without_the_connector(alone, tmp_path):
    """What native HDF5 writes, though a policy is given; a bad policy starts nothing here either."""
    rules, path = tmp_path / "rules", tmp_path / "x.h5"
    rules.write_text("** float >=1B -> cascade\n")
    text = "import sys, h5py, numpy; h5py.File(sys.argv[1], 'w').create_dataset('x', data=numpy.arange(99.0)); print('written')"
    done = alone("--policy", rules, sys.executable, "-c", text, path)
    assert (done.returncode, done.stdout) == (0, "written\n") and done.stderr.count("\n") == 1
    with h5py.File(path) as file:
        assert file["x"].chunks is None and (file["x"][...] == np.arange(99.0)).all()
    rules.write_text("what is this\n")
    assert alone("--policy", rules, "echo", "started").stdout == ""


def test_check_fails_without_the_connector(alone):
    for command in [], [sys.executable]:
        refused = alone("--check", *command)
        assert refused.returncode == 1 and refused.stdout == "" and refused.stderr.count("\n") == 1
        assert "is missing" in refused.stderr and "install h5twin as a whole" in refused.stderr


def test_plugins_that_are_forbidden():
    refused = run("echo", "started", HDF5_PLUGIN_PRELOAD="::")
    assert refused.returncode == 1 and refused.stdout == "" and refused.stderr.count("\n") == 1


def test_a_program_that_sets_the_folders_itself(tmp_path):
    """With the connector's among them it goes on; HDF5 1.14 goes on without it, 2.0 does not."""
    text = """
import os, sys
os.environ["HDF5_PLUGIN_PATH"] = sys.argv.pop()
""" + PRELUDE + """
with h5py.File(path, "w") as file: make(file, "x")
with h5py.File(path) as file: print(bool((file["x"][...] == field(0)).all()))
"""
    log = tmp_path / "log"
    both = f"{PLUGINS.resolve() / 'vol'}:{PLUGINS.resolve()}"
    assert lines_of(start("-c", text, FILTER, tmp_path / "x.h5", both, connector=True, log=log)) == ["True"]
    takes = h5py.version.hdf5_version_tuple >= (1, 14, 0)
    assert log.exists() is takes and (not takes or "on all cores" in log.read_text())
    if h5py.version.hdf5_version_tuple < (2, 0, 0):
        assert lines_of(start("-c", text, FILTER, tmp_path / "x.h5", PLUGINS, connector=True)) == ["True"]


# ---- processes ----

def test_forked_and_spawned_children(tmp_path):
    done = script("""
import multiprocessing
def child(path, i):
    with h5py.File(path, "w") as file: make(file, "x", i)
    with h5py.File(path) as file: assert (file["x"][...] == field(i)).all()
with h5py.File(path, "w") as file: make(file, "x")
context = multiprocessing.get_context("fork")
children = [context.Process(target=child, args=(f"{path}{i}", i)) for i in range(3)]
for c in children: c.start()
for c in children: c.join(60)
print([c.exitcode for c in children])
os.execv(sys.executable, [sys.executable, "-c", "import h5py; print(h5py.File(%r + '1')['x'][...].shape)" % path])
""", tmp_path / "x.h5")
    assert lines_of(done) == ["[0, 0, 0]", "(40, 6000)"]
    for i in range(3):
        with h5py.File(tmp_path / f"x.h5{i}") as file:
            assert same_bits(file["x"][...], field(i))


SPAWNING = """
import multiprocessing, sys
import h5py, numpy as np
number = int(sys.argv[1]); path = sys.argv[2]
def field(i): return np.sin(np.arange(40 * 6000).reshape(40, 6000) * 1e-3 + i).astype("f4")
def work(i):
    with h5py.File(f"{path}{i}", "w") as file: file.create_dataset("x", data=field(i), chunks=(10, 1000), compression=number)
    with h5py.File(f"{path}{i}") as file: return bool((file["x"][...] == field(i)).all())
if __name__ == "__main__":
    print(work(9))
    with h5py.File(path + "9") as file, multiprocessing.get_context("spawn").Pool(2) as pool:
        print(file["x"][:, 5].shape, pool.map(work, range(4)), file["x"].shape)
"""


def test_spawned_workers(tmp_path):
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(SPAWNING)
    done = start(program, FILTER, tmp_path / "x.h5", connector=True, log=log)
    assert lines_of(done) == ["True", "(40,) [True, True, True, True] (40, 6000)"]
    if h5py.version.hdf5_version_tuple >= (1, 14, 0):
        written = {line.split("\t")[0] for line in log.read_text().splitlines() if "on all cores" in line}
        assert written == {str(tmp_path / f"x.h5{i}") for i in (0, 1, 2, 3, 9)}
    for i in range(4):
        with h5py.File(tmp_path / f"x.h5{i}") as file:
            assert same_bits(file["x"][...], field(i))


def test_threads(tmp_path):
    done = script("""
import concurrent.futures
def work(i):
    with h5py.File(f"{path}{i}", "w") as file: make(file, "x", i)
    with h5py.File(f"{path}{i}") as file: return bool((file["x"][...] == field(i)).all())
with concurrent.futures.ThreadPoolExecutor(6) as pool: print(all(pool.map(work, range(12))))
""", tmp_path / "x.h5")
    assert lines_of(done) == ["True"]


def test_a_full_disk_is_the_same_error(tmp_path):
    """A limit on the size of files stands for it. What was written before is there."""
    text = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
noise = np.random.default_rng(1).integers(0, 1 << 32, (40, 6000), "u4").view("f4")
with h5py.File(path, "w") as file: make(file, "before")
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 300000, resource.RLIM_INFINITY))
file = h5py.File(path, "r+")
arrays = [file.create_dataset(f"y{i}", noise.shape, "f4", chunks=(10, 1000), compression=number) for i in range(9)]
try:
    for array in arrays:
        array[...] = noise
        file.flush()
    print("no error", flush=True)
except (OSError, RuntimeError) as error:
    print(type(error).__name__, flush=True)
os._exit(0) # a file that cannot be closed any more may end the program
"""
    native = lines_of(script(text, tmp_path / "native.h5", connector=False))
    assert native == ["OSError"] or native == ["RuntimeError"]
    assert lines_of(script(text, tmp_path / "ours.h5")) == native


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("moment", [0.0, 0.05, 0.2])
def test_a_program_is_ended_at_any_moment(how, moment, tmp_path):
    """It goes at once, with nothing left waiting, and what another file held stays."""
    path = tmp_path / "x.h5"
    child = subprocess.Popen([COMMAND, "run", sys.executable, "-c", PRELUDE + """
with h5py.File(path, "w") as file: make(file, "x")
print("ready", flush=True)
with h5py.File(path + ".more", "w") as file:
    for i in range(100000): make(file, f"y{i}", i)
""", str(FILTER), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "H5TWIN_NUM_THREADS": "4"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a background job inherits an ignored one
    assert child.stdout.readline() == "ready\n"
    time.sleep(moment)
    for _ in range(100):  # Python loses an interrupt that comes while h5py lets an object go
        child.send_signal(how)
        try:
            _, errors = child.communicate(timeout=0.5)
            break
        except subprocess.TimeoutExpired:
            pass
    assert child.returncode in (-how, 1) and (how == signal.SIGKILL or "KeyboardInterrupt" in errors)
    with h5py.File(path) as file:
        assert same_bits(file["x"][...], field(0))


def test_a_reader_beside_a_writer(tmp_path):
    """SWMR: the writer appends whole chunks under the connector; a reader without and one with it see whole rows."""
    path = tmp_path / "x.h5"
    writer = subprocess.Popen([COMMAND, "run", sys.executable, "-c", PRELUDE + """
file = h5py.File(path, "w", libver="latest")
data = file.create_dataset("x", (0, 6000), "f4", maxshape=(None, 6000), chunks=(10, 1000), compression=number)
file.swmr_mode = True
print("ready", flush=True)
for i in range(30):
    data.resize(data.shape[0] + 40, axis=0)
    data[-40:] = field(i)
    data.flush()
print("done", flush=True)
sys.stdin.readline()
""", str(FILTER), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    reader = """
with h5py.File(path, "r", libver="latest", swmr=True) as file:
    data, seen = file["x"], 0
    while seen < 1200:
        data.refresh()
        rows = data.shape[0] // 40 - 1  # the last ones may not be written yet
        for i in range(seen // 40, rows):
            assert (data[40 * i:40 * (i + 1)] == field(i)).all(), i
        seen = max(seen, 40 * rows)
        if rows >= 29: break
print(seen)
"""
    try:
        assert writer.stdout.readline() == "ready\n"
        for connector in (False, True):
            assert lines_of(script(reader, path, connector=connector, HDF5_USE_FILE_LOCKING="FALSE")) == ["1160"]
        assert writer.stdout.readline() == "done\n"
        writer.communicate("\n", timeout=60)
    finally:
        writer.kill()
    with h5py.File(path) as file:
        assert all(same_bits(file["x"][40 * i:40 * (i + 1)], field(i)) for i in range(30))


def test_a_file_that_is_open_for_reading_only(tmp_path):
    """H5Dwrite_chunk would not refuse it, and the file could then not be closed."""
    text = """
with h5py.File(path, "w") as file: make(file, "x")
with h5py.File(path) as file:
    for value in (field(1), field(0) * 0):
        try: file["x"][...] = value
        except (OSError, RuntimeError, ValueError) as error: print(type(error).__name__, error)
with h5py.File(path) as file: print((file["x"][...] == field(0)).all())
"""
    native = lines_of(script(text, tmp_path / "x.h5", connector=False))
    assert len(native) == 3 and native[-1] == "True"
    assert lines_of(script(text, tmp_path / "x.h5")) == native


# ---- memory, large arrays ----

SCARCE = """
import resource
room = int(sys.argv[3]) << 20
u = field(0)
with h5py.File(path, "w") as file: make(file, "before")
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + room, resource.RLIM_INFINITY))
try:
    with h5py.File(path, "r+") as file:
        for i in range(6): make(file, f"x{i}", i)
        for i in range(6):
            for j in range(0, 40, 7): assert (file[f"x{i}"][j] == field(i)[j]).all()
            assert (file[f"x{i}"][...] == field(i)).all()
    print("True")
except (OSError, RuntimeError, MemoryError, ValueError) as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
@pytest.mark.parametrize("room", [2, 6, 20, 60, 600])
def test_memory_is_short(room, tmp_path):
    """Room for some threads, some chunks, or neither: right values or an error, and what was there before stays."""
    path = tmp_path / "x.h5"
    done = start("-c", PRELUDE + SCARCE, FILTER, path, room, connector=True)
    assert done.returncode == 0, done.stderr
    assert room < 600 or done.stdout == "True\n"
    assert done.stdout.strip() in ("True", "OSError", "RuntimeError", "MemoryError", "ValueError")
    if done.stdout == "True\n":
        with h5py.File(path) as file:
            assert same_bits(file["before"][...], field(0)) and same_bits(file["x5"][...], field(5))


@pytest.mark.skipif(os.environ.get("H5TWIN_TEST_LARGE") != "1", reason="needs H5TWIN_TEST_LARGE=1 and 16 GiB of memory")
def test_an_array_of_several_gib(tmp_path):
    done = script("""
u = np.arange(5 << 28, dtype="f4").reshape(5, 1 << 14, 1 << 14) # 5 GiB
with h5py.File(path, "w") as file:
    data = file.create_dataset("u", u.shape, "f4", chunks=(1, 512, 512), compression=number)
    data[...] = u
    print(data.id.get_storage_size() < u.nbytes / 2)
with h5py.File(path) as file:
    v = np.empty_like(u)
    file["u"].read_direct(v)
    print((u == v).all(), (file["u"][:, 77] == u[:, 77]).all(), (file["u"][4, -1] == u[4, -1]).all())
""", tmp_path / "x.h5")
    assert lines_of(done) == ["True", "True True True"]
