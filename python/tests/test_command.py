# SPDX-License-Identifier: BSD-3-Clause
"""The package's command: it opens HDF5 files through the HDF5 of h5py, and prints what the native one does.

All tests of the native command on files (python_tests/) run with this one, too: tests/run.sh wheel."""

import os
import re
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import h5twin
from h5twin import _library

NATIVE = os.environ.get("H5TWIN_COMMAND")


def run(*arguments, code=0, command=(sys.executable, "-m", "h5twin"), **more):
    env = {key: value for key, value in os.environ.items() if key != "HDF5_PLUGIN_PATH"}
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, env=env, **more)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def files(tmp_path):
    """a.h5: without filters; b.h5: the same within 1e-3."""
    u = np.sin(np.indices((40, 60, 80)).sum(axis=0) * 0.02)
    for name, more in (("a.h5", {}), ("b.h5", h5twin.Lattice(abs=1e-3))):
        with h5py.File(tmp_path / name, "w") as file:
            group = file.create_group("run")
            group.attrs["kind"] = "test"
            group.create_dataset("u", data=u, chunks=(20, 60, 80), **more)
            file["again"] = h5py.SoftLink("/run/u")
            file["names"] = np.array([b"one", b"two"])
            file.create_dataset("never", (9, 9), "f4", chunks=(9, 9), **h5twin.Ndzip())
    return tmp_path


def test_files_are_verified_reported_and_shown(files):
    assert "bound 0.001 kept" in run("verify", "--abs", "1e-3", "a.h5", "b.h5", cwd=files).stdout
    assert "/run/u" in run("verify", "--abs", "1e-4", "a.h5", "b.h5", cwd=files, code=1).stdout
    assert "lattice:abs=0.001" in run("report", "--against", "a.h5", "b.h5", cwd=files).stdout
    assert "all checksums correct" in run("info", "b.h5", cwd=files).stdout
    run("report", "--html", "page.html", "b.h5", cwd=files)
    assert "</html>" in (files / "page.html").read_text()


def test_a_file_is_repacked(files):
    said = run("repack", "--codec", "cascade", "--chunks", "auto", "a.h5", "c.h5", cwd=files).stdout
    assert "/run/u: cascade, chunks of" in said
    with h5py.File(files / "a.h5") as a, h5py.File(files / "c.h5") as c:
        assert h5twin.explain(c["run/u"]).filter == h5twin.Cascade()
        assert np.array_equal(c["run/u"][()], a["run/u"][()]) and c["run"].attrs["kind"] == "test"
        assert c.get("again", getlink=True).path == "/run/u" and list(c["names"]) == [b"one", b"two"]
    assert "identical" in run("verify", "a.h5", "c.h5", cwd=files).stdout


def test_the_dataset_to_try_is_found(files):
    said = run("suggest", "--codec", "ndzip", "--codec", "lattice", "--abs", "1e-3", "a.h5", cwd=files).stdout
    assert "/run/u: f64, 40x60x80" in said and "lattice:abs=0.001" in said


@pytest.mark.skipif(not NATIVE, reason="H5TWIN_COMMAND names no command to compare with")
@pytest.mark.parametrize("arguments", [
    ["info", "b.h5"], ["verify", "--abs", "1e-3", "a.h5", "b.h5"], ["verify", "a.h5", "b.h5"],
    ["verify", "a.h5:/run/u", "b.h5:/run/v"], ["report", "b.h5"], ["report", "--json", "--against", "a.h5", "b.h5"],
    ["repack", "--codec", "ndzip", "a.h5", "c.h5", "--force"], ["repack", "--codec", "ndzip", "a.h5", "a.h5"],
    ["explain", "486", "1", "0", "1071644672"], ["args", "lattice:abs=1e-3"], ["codecs"], ["info", "names.txt"],
    ["report", "nothing.h5"]], ids=" ".join)
def test_it_prints_what_the_native_command_prints(files, arguments):
    (files / "names.txt").write_text("no HDF5 file")
    env = {**os.environ, "HDF5_PLUGIN_PATH": str(h5twin.PLUGIN_PATH)}
    native = subprocess.run([NATIVE, *arguments], cwd=files, capture_output=True, text=True, env=env)
    ours = run(*arguments, cwd=files, code=native.returncode)
    assert (ours.stdout, ours.stderr) == (native.stdout, native.stderr)


def test_without_h5py_it_says_what_to_install(files):
    """As if no module brought an HDF5."""
    code = ("import sys; sys.modules.update(dict.fromkeys(['h5py', 'tables', 'netCDF4'])); "
            "from h5twin.__main__ import main; sys.exit(main())")
    done = run("info", "a.h5", command=(sys.executable, "-c", code), cwd=files, code=1)
    assert re.fullmatch(r"h5twin: a.h5 is an HDF5 file, .*`pip install h5py`.*\.\n", done.stderr)


def test_an_old_hdf5_is_named(files):
    """A library without the functions: the C library stands for it."""
    code = ("import ctypes, sys; from h5twin import _library; "
            "sys.exit(_library.command(['info', 'a.h5'], lambda: ctypes.CDLL('libc.so.6')._handle))")
    done = run(command=(sys.executable, "-c", code), cwd=files, code=1)
    assert "a.h5 cannot be opened" in done.stderr and "newer h5py" in done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no pipes that break here")
def test_an_interrupt_ends_it_and_a_closed_pipe_does_so_silently(files):
    data = np.random.default_rng(0).normal(size=20_000_000)
    with h5py.File(files / "large.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(100_000,))
    child = subprocess.Popen([sys.executable, "-m", "h5twin", "repack", "--codec", "cascade:effort=max", "--threads", "1",
                              "large.h5", "out.h5"], cwd=files, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(files.glob("out.h5.*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == -signal.SIGINT
    assert not list(files.glob("out.h5*"))
    reading = subprocess.Popen([sys.executable, "-m", "h5twin", "codecs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reading.stdout.close()
    assert reading.stderr.read() == b"" and reading.wait(timeout=60) == -signal.SIGPIPE


def test_swapped_words_are_refused_with_the_sentence_of_explain():
    words = h5twin.Sleek(abs=1e-2).filter_options
    swapped = (words[0], words[2], words[1])
    with pytest.raises(h5twin.H5twinError) as caught:
        h5twin.from_cd_values(480, swapped)
    said = run("explain", 480, *swapped, code=2).stderr
    assert said == f"h5twin: {caught.value}\n" and "in the other order as 0.01" in said


def test_the_trials_are_those_of_the_command(tmp_path):
    """Large, so that the sample is a part."""
    rng = np.random.default_rng(2)
    data = np.cumsum(rng.normal(size=(300, 200, 100)), axis=2).astype("f4")
    data[200:] = rng.normal(size=(100, 200, 100))
    data.tofile(tmp_path / "x.f32")
    specs = ["ndzip", "gfc", "sleek"]
    said = run("suggest", "--type", "f32", "--dims", "300x200x100", "--sample", "262144",
               *(f"--codec={spec}" for spec in specs), tmp_path / "x.f32").stdout
    assert " pieces of " in said and "100 % of the array" not in said
    for row in h5twin.suggest(data, specs=specs, sample_bytes=262144):
        found = re.search(rf"^{row.filter.name} +([\d.]+) ", said, re.M)
        assert float(found.group(1)) == pytest.approx(row.ratio, abs=6e-4)


def test_args_advise_chunks_that_work_when_pasted(tmp_path):
    array = np.sin(np.arange(600_000.0)).reshape(60, 100, 100)
    said = run("args", "lattice:abs=1e-3").stdout
    package = re.search(r"^import h5twin\n.*$", said, re.M).group()
    alone = re.search(r"^rows = .*\n.*$", said, re.M).group()
    for name, lines in (("package", package), ("alone", alone)):
        with h5py.File(tmp_path / name, "w") as file:
            exec(lines, {"file": file, "array": array})
            dataset = file["name"]
            assert h5twin.explain(dataset).filter == h5twin.Lattice(abs=1e-3)
            assert 2 ** 18 <= np.prod(dataset.chunks) * 8 <= 2 ** 20
            if name == "package":
                assert dataset.chunks == h5twin.chunks(array.shape, array.dtype)


def test_the_library_is_the_package_s_own():
    assert _library.path.startswith(str(_library.FOLDER)) or "H5TWIN_LIBRARY" in os.environ
