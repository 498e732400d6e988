# SPDX-License-Identifier: BSD-3-Clause
"""h5twin.Checkpoints: what is written is read back by it and by h5py; a killed program loses nothing."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import h5py
import numpy as np
import pytest

import h5twin

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
SHAPES = [(), (1,), (7,), (0,), (5, 0, 3), (33, 20), (40, 30, 50), (2, 3, 4, 5, 6, 2, 1, 3)]


def values(shape, dtype="f8"):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 0.01) * 100).astype(dtype).reshape(shape)


@pytest.fixture
def checkpoints(tmp_path):
    with h5twin.Checkpoints(tmp_path / "out") as opened:
        yield opened


def same(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_array_equal(found.view("u1") if found.ndim and found.size else found,
                                  wanted.view("u1") if wanted.ndim and wanted.size else wanted)


def test_all_types_and_shapes(checkpoints):
    fields = {f"group/{dtype}/{number}": values(shape, dtype) for dtype in TYPES for number, shape in enumerate(SHAPES)}
    with checkpoints.begin(12, 0.5) as draft:
        for name, array in fields.items():
            draft[name] = array
    with checkpoints.newest() as found:
        assert (found.step, found.time, found.serial) == (12, 0.5, 1) and found.size > 0
        assert sorted(found.keys()) == sorted(fields)
        for name, array in fields.items():
            same(found[name], array)
    with h5py.File(checkpoints.path(1)) as file:
        for name, array in fields.items():
            same(np.asarray(file[name][()]), array)


@pytest.mark.parametrize("array", [np.asfortranarray(values((30, 40))), values((60, 40))[::2], values((30, 40), ">f8"),
                                   values((4, 5), "f4").T, [[1, 2], [3, 4]], 7, np.float32(2.5)], ids=lambda a: type(a).__name__)
def test_any_layout_in_memory(checkpoints, array):
    with checkpoints.begin(1) as draft:
        draft["u"] = array
    with checkpoints.newest() as found:
        np.testing.assert_array_equal(found["u"], array)
    with h5py.File(checkpoints.path(1)) as file:
        np.testing.assert_array_equal(file["u"][()], array)


@pytest.mark.parametrize("array", [np.ones(3, "c8"), np.array(["a"]), np.ones(2, "f2"), np.ones(1, [("x", "f4")])],
                         ids=lambda a: str(a.dtype))
def test_other_types_are_refused(checkpoints, array):
    draft = checkpoints.begin(1)
    with pytest.raises(TypeError, match="float32, float64"):
        draft["u"] = array


def test_attributes(checkpoints):
    wanted = {"model": "gäs", "empty": "", "dt": 0.25, "counts": np.arange(5, dtype="u2"), "flag": True, "n": 7}
    with checkpoints.begin(1) as draft:
        draft["u"] = np.arange(3.0)
        draft.attributes.update(wanted)
    with checkpoints.newest() as found:
        attributes = found.attributes
        assert sorted(attributes) == sorted(wanted)
        for name, value in wanted.items():
            np.testing.assert_array_equal(attributes[name], value)
    with h5py.File(checkpoints.path(1)) as file:
        assert file.attrs["dt"] == 0.25 and file.attrs["model"].decode() == "gäs"
    checkpoints.begin(2)
    with pytest.raises(h5twin.CheckpointError, match="every checkpoint has"):
        checkpoints.begin(2).attributes["step"] = 3


def test_boxes(checkpoints):
    array = values((50, 40, 30), "f4")
    with checkpoints.begin(1) as draft:
        draft["u"] = array
    with checkpoints.newest() as found:
        same(found.read("u", (10, 5, 0), (30, 20, 30)), array[10:40, 5:25].copy())
        same(found.read("u", (49, 0, 29)), array[49:, :, 29:].copy())
        out = np.zeros((50, 40, 30), "f4")
        assert found.read("u", out=out) is out
        same(out, array)
        for wrong in (np.zeros((50, 40, 30)), np.zeros((40, 50, 30), "f4"), np.zeros((50, 40, 60), "f4")[..., ::2]):
            with pytest.raises(ValueError, match="C-contiguous"):
                found.read("u", out=wrong)
        with pytest.raises(h5twin.CheckpointError, match="not within"):
            found.read("u", (10, 0, 0), (50, 1, 1))
        with pytest.raises(ValueError, match="3 whole numbers"):
            found.read("u", (10, 0), (5, 1))
        with pytest.raises(KeyError, match="no field 'v'; it has u"):
            found["v"]


def test_a_bound_needs_leave(checkpoints):
    array = values((64, 64), "f8")
    for spec in "lattice:abs=1e-3", h5twin.Lattice(abs=1e-3):
        with pytest.raises(h5twin.CheckpointError, match="may_lose"):
            checkpoints.begin(1).write("u", array, spec=spec)
        with checkpoints.begin(2) as draft:
            draft.write("u", array, spec=spec, may_lose=True)
        with checkpoints.newest() as found:
            restored = found["u"]
        assert 0 < np.abs(restored - array).max() <= 1e-3


def test_a_policy_chooses(tmp_path):
    (tmp_path / "rules").write_text("/exact/** float -> ndzip\n**/t float64 -> lattice:abs=1e-2\n** integer -> none\n")
    with h5twin.Checkpoints(tmp_path / "out", policy=tmp_path / "rules") as checkpoints:
        with checkpoints.begin(1) as draft:
            for name in "exact/u", "other/u":
                draft[name] = values((64, 64))
            draft["marks"] = np.arange(9000)
            draft.write("named", values((64, 64)), spec="gfc")
            draft.write("flow/t", values((64, 64)), may_lose=True)
    with h5py.File(checkpoints.path(1)) as file:
        codecs = {name: h5twin.FILTERS[file[name].id.get_create_plist().get_filter(0)[0]].name for name in
                  ("exact/u", "other/u", "marks", "named", "flow/t")}
    assert codecs == {"exact/u": "ndzip", "other/u": "cascade", "marks": "cascade", "named": "gfc", "flow/t": "lattice"}
    with h5twin.Checkpoints(tmp_path / "out", policy=tmp_path / "rules") as checkpoints:
        with pytest.raises(h5twin.CheckpointError, match="may_lose"):
            checkpoints.begin(2)["flow/t"] = values((64, 64))
    (tmp_path / "rules").write_text("** any -> nothing_such\n")
    with pytest.raises(h5twin.CheckpointError, match="rules:1:"):
        h5twin.Checkpoints(tmp_path / "out", policy=tmp_path / "rules")


def test_newest_list_open_prune(tmp_path):
    with h5twin.Checkpoints(tmp_path, keep=0) as checkpoints:
        assert not checkpoints.newest() and checkpoints.list() == []
        with checkpoints.newest() as found:
            assert found is None
        for step in range(1, 6):
            with checkpoints.begin(step, step / 2) as draft:
                draft["u"] = np.full(10, step)
        assert [(one.serial, one.step, one.time) for one in checkpoints.list()] == [(n, n, n / 2) for n in (5, 4, 3, 2, 1)]
        with checkpoints.open(2) as found:
            assert found["u"][0] == 2
            checkpoints.prune(2)
            assert [one.serial for one in checkpoints.list()] == [5, 4, 2]
        with checkpoints.newest(before=5) as found:
            assert found.step == 4
        checkpoints.prune(0)
        assert [one.serial for one in checkpoints.list()] == [5]
        with pytest.raises(KeyError):
            checkpoints.open(2)


def test_an_exception_drops_what_was_begun(checkpoints):
    with pytest.raises(ZeroDivisionError):
        with checkpoints.begin(1) as draft:
            draft["u"] = np.ones(3)
            raise ZeroDivisionError
    assert checkpoints.list() == []
    with pytest.raises(h5twin.CheckpointError, match="No checkpoint was begun"):
        checkpoints.commit()


def test_after_close_all_is_refused(tmp_path):
    checkpoints = h5twin.Checkpoints(tmp_path)
    with checkpoints.begin(1) as draft:
        draft["u"] = np.ones(3)
    found = checkpoints.newest()
    checkpoints.close()
    checkpoints.close()
    for call in (lambda: checkpoints.begin(2), checkpoints.list, lambda: checkpoints.is_due(1), lambda: found["u"]):
        with pytest.raises(h5twin.CheckpointError, match="closed"):
            call()


def test_due(tmp_path):
    with h5twin.Checkpoints(tmp_path, every_steps=10) as checkpoints:
        assert [step for step in range(1, 31) if checkpoints.is_due(step)] == [10, 20, 30]


def test_in_the_background_and_beside_h5py(tmp_path):
    """Other threads use h5py meanwhile."""
    stop, failures = threading.Event(), []

    def busy():
        try:
            with h5py.File(tmp_path / "other.h5", "w") as file:
                for number in range(100000):
                    if stop.is_set():
                        return
                    file[str(number)] = np.arange(10)
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)
    thread = threading.Thread(target=busy)
    thread.start()
    try:
        with h5twin.Checkpoints(tmp_path / "out", background=True, verify=True) as checkpoints:
            for step in range(1, 8):
                with checkpoints.begin(step) as draft:
                    draft["u"] = values((60, 50, 40)) + step
            checkpoints.wait()
            with checkpoints.newest() as found:
                same(found["u"], values((60, 50, 40)) + 7)
    finally:
        stop.set()
        thread.join()
    assert failures == []


def test_a_full_disk_is_an_error_that_is_survived(tmp_path):
    import resource
    with h5twin.Checkpoints(tmp_path) as checkpoints:
        with checkpoints.begin(1) as draft:
            draft["u"] = np.ones(3)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, before[1]))
        try:
            with pytest.raises(h5twin.CheckpointError, match="File too large"):
                with checkpoints.begin(2) as draft:
                    draft["u"] = np.random.default_rng(1).random(100000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        with checkpoints.newest() as found:
            assert found.step == 1
        with checkpoints.begin(3) as draft:
            draft["u"] = np.ones(3)
        assert [one.step for one in checkpoints.list()] == [3, 1]


SIMULATION = """
import sys
import numpy as np
import h5twin
with h5twin.Checkpoints(sys.argv[1], background=len(sys.argv) > 2) as checkpoints:
    u, step = np.linspace(0, 1, 20000), 0
    with checkpoints.newest() as found:
        if found is not None:
            u, step = found["u"], found.step
    while True:
        step += 1
        u = u * 3.7 * (1 - u)
        with checkpoints.begin(step) as draft:
            draft["u"] = u
        print(step, flush=True)
"""


@pytest.mark.parametrize("background", [(), ("background",)], ids=["foreground", "background"])
def test_a_killed_program_goes_on_bit_for_bit(tmp_path, background):
    said = 0
    for wait in 0.3, 0.7, 0.5:
        process = subprocess.Popen([sys.executable, "-c", SIMULATION, tmp_path, *background], stdout=subprocess.PIPE,
                                   text=True)
        assert process.stdout.readline()
        time.sleep(wait)
        process.kill()
        rest = process.communicate()[0].split()
        said = max(said, int(rest[-1]) - len(background)) if rest else said
    u = np.linspace(0, 1, 20000)
    with h5twin.Checkpoints(tmp_path, read_only=True) as checkpoints, checkpoints.newest() as found:
        assert found.step >= said > 0
        for _ in range(found.step):
            u = u * 3.7 * (1 - u)
        same(found["u"], u)


TEAM = """
import sys
import numpy as np
from mpi4py import MPI
import h5twin
comm = MPI.COMM_WORLD
rows = np.array_split(np.arange(37), comm.size)[comm.rank]
u = rows[:, None] * 100.0 + np.arange(50)
with h5twin.Checkpoints(sys.argv[2], comm=comm, background=True) as checkpoints:
    if sys.argv[1] == "write":
        for step in 1, 2:
            with checkpoints.begin(step, 0.5) as draft:
                draft.write("flow/u", u * step, dims=(37, 50), offset=(rows[0], 0))
                draft.attributes["ranks"] = comm.size
        checkpoints.wait()
        for wrong in dict(spec="nosuch"), dict(offset=(1, 2, 3)):
            try:
                with checkpoints.begin(3) as draft:
                    draft.write("flow/u", u, **{"dims": (37, 50), "offset": (rows[0], 0), **(wrong if comm.rank == 1 else {})})
                    draft["flow/v"] = np.zeros((0, 3)) if comm.rank else np.ones((0, 3))
                assert False
            except (h5twin.CheckpointError, ValueError) as error:
                assert comm.rank == 1 or "Process 1" in str(error), error
    with checkpoints.newest() as found:
        assert found.step == 2 and found.attributes["ranks"] == int(sys.argv[3])
        assert (found.read("flow/u", (rows[0], 0), (len(rows), 50)) == 2 * u).all()
print("fine", comm.rank)
"""


def test_mpi(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("no mpirun")
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    for processes, what in ((3, "write"), (2, "read"), (1, "read")):
        done = subprocess.run([mpirun, "-n", str(processes), sys.executable, "-c", TEAM, what, tmp_path / "out", "3"],
                              env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0 and done.stdout.count("fine") == processes, done.stdout + done.stderr


def test_without_the_library_it_is_said(monkeypatch, tmp_path):
    from h5twin import checkpoints as module
    module._library_of_checkpoints.cache_clear()
    monkeypatch.setattr(module._library, "path", str(tmp_path / "libh5twin.so.0"))
    with pytest.raises(ImportError, match="install the package anew"):
        h5twin.Checkpoints(tmp_path / "out")
    module._library_of_checkpoints.cache_clear()


def test_the_wheel_has_it():
    package = pathlib.Path(h5twin.__file__).parent
    assert list(package.glob("lib/*h5twin_checkpoint*")) or os.environ.get("H5TWIN_LIBRARY")
