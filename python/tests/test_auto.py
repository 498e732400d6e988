# SPDX-License-Identifier: BSD-3-Clause
"""h5twin.auto: programs that know nothing of h5twin. Each case is a process of its own, as all of it is
about what a process has loaded and changed."""

import os
import pathlib
import subprocess
import sys
import textwrap

import h5py
import numpy as np
import pytest

import h5twin

RULES = "# rules\n** float -> lattice:abs=1e-3\n** integer -> cascade\n"
CONNECTOR = (h5twin.PLUGIN_PATH / "vol" / "libh5twin_vol.so").exists() and \
    h5py.version.hdf5_version_tuple >= (1, 14)
PROGRAM = """
import os, sys
import h5py, numpy as np
x = np.sin(np.arange(100_000, dtype="f4") * 1e-3)
def own_filters(dataset):
    dcpl = dataset.id.get_create_plist()
    return [dcpl.get_filter(i)[0] for i in range(dcpl.get_nfilters())]
"""


def run(tmp_path, before, program, rules=RULES, code=0, **environment):
    """What a program prints that starts with `before`, and the lines of the log."""
    (tmp_path / "rules.policy").write_text(rules)
    log = tmp_path / "log"
    log.unlink(missing_ok=True)
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("H5TWIN_", "HDF5_")) or name == "H5TWIN_LIBRARY"}
    variables = {**kept, "H5TWIN_POLICY": str(tmp_path / "rules.policy"), "H5TWIN_POLICY_LOG": str(log), **environment}
    result = subprocess.run([sys.executable, "-c", before + PROGRAM + textwrap.dedent(program)], cwd=tmp_path,
                            capture_output=True, text=True, timeout=120, check=False,
                            env={name: value for name, value in variables.items() if value is not None})
    assert result.returncode == code, result.stderr
    lines = log.read_text().splitlines() if log.exists() else []
    return result.stdout, {line.split("\t")[1]: line.split("\t") for line in lines}


AUTO = "import h5twin.auto\n"


def test_datasets_get_what_the_policy_says(tmp_path):
    out, log = run(tmp_path, AUTO, """
        with h5py.File("x.h5", "w") as file:
            group = file.create_group("fields")
            group.create_dataset("u", data=x)
            group["v"] = x
            file["a/b/w"] = x
            file.create_dataset("n", data=np.arange(100_000))
            file.create_dataset("time", data=np.arange(100_000.))
            file.create_dataset("small", data=x[:100])
            file.create_dataset("gzip", data=x, compression="gzip")
            file.create_dataset("chunked", data=x, chunks=(1000,))
            file.create_dataset("series", (0, 64, 64), maxshape=(None, 64, 64), dtype="f8", chunks=(4, 64, 64))
            file["text"], file["number"] = "x", 3.5
            file["pairs"] = np.zeros(10_000, "c8")
            file["again"] = file["fields/u"]
            file["soft"] = h5py.SoftLink("/fields/u")
            file["type"] = np.dtype("f4")
            series = file["series"]
            for step in range(9):
                series.resize(step + 1, axis=0)
                series[step] = x[:4096].reshape(64, 64) * step
    """)
    x = np.sin(np.arange(100_000, dtype="f4") * 1e-3)
    with h5py.File(tmp_path / "x.h5") as file:
        for name in "fields/u", "fields/v", "a/b/w", "chunked":
            assert h5twin.explain(file[name]).filter == h5twin.Lattice(abs=1e-3), name
            assert h5twin.verify(x, file[name][()], abs=1e-3)
        assert file["chunked"].chunks == (1000,)
        assert file["fields/u"].chunks == h5twin.chunks(x.shape, x.dtype)
        assert file["fields/u"].id.get_storage_size() < x.nbytes / 5
        assert h5twin.explain(file["n"]).filter == h5twin.Cascade()
        assert np.array_equal(file["n"][()], np.arange(100_000))
        for step in range(9):
            assert np.abs(file["series"][step] - x[:4096].reshape(64, 64).astype("f8") * step).max() <= 1.001e-3
        for name in "time", "small", "text", "number", "pairs":
            assert file[name].id.get_create_plist().get_nfilters() == 0, name
        assert file["gzip"].compression == "gzip"
        assert file["again"] == file["fields/u"] == file["soft"] and isinstance(file["type"], h5py.Datatype)
    assert log["/fields/u"][2:] == ["float32 100000", "lattice:abs=0.001", log["/fields/u"][4]]
    assert log["/fields/u"][0] == "x.h5" and log["/fields/u"][4].startswith("line 2, new chunks ")
    assert log["/chunked"][4] == "line 2, its own chunks 1000"
    assert log["/time"][3] == "left alone" and "coordinate" in log["/time"][4]
    assert log["/gzip"][4] == "the program sets a filter itself"
    assert {"/fields/v", "/a/b/w", "/n", "/small", "/series", "/text", "/pairs"} <= set(log)


@pytest.mark.parametrize("before", ["import h5py\n" + AUTO, AUTO + "import h5py\n"])
def test_h5py_may_be_loaded_before_or_after(tmp_path, before):
    out, log = run(tmp_path, before, """
        with h5py.File("x.h5", "w") as file:
            file.create_dataset("u", data=x)
        with h5py.File("x.h5") as file:
            print(own_filters(file["u"]))
    """)
    assert out == f"[{h5twin.Lattice.filter_id}]\n" and log["/u"][3] == "lattice:abs=0.001"


def test_off_puts_everything_back(tmp_path):
    out, log = run(tmp_path, """
        import os, h5py
        def state():
            files = __import__("sys").modules[h5py.File.__module__]
            return h5py.h5d.create, h5py.Group.__setitem__, files.make_fapl
        import h5twin
        before, variables = state(), dict(os.environ)
        import h5twin.auto
        assert h5twin.auto.status().is_on and state() != before
        assert not h5twin.auto.off().is_on and state() == before and dict(os.environ) == variables
        assert str(h5twin.auto.status()) == "h5twin.auto is off; policy: none."
        h5twin.auto.off()
    """.replace("\n        ", "\n"), """
        with h5py.File("x.h5", "w") as file:
            file.create_dataset("u", data=x)
            h5twin.auto.on()
            h5twin.auto.on()
        with h5py.File("y.h5", "w") as file:
            file["v"] = x
            print(own_filters(file["v"]))
            h5twin.auto.off()
        with h5py.File("x.h5", "a") as file:
            file["v"] = x
            print(own_filters(file["u"]), own_filters(file["v"]))
    """)
    assert out == f"[{h5twin.Lattice.filter_id}]\n[] []\n" and set(log) == {"/v"}


def test_another_policy(tmp_path):
    (tmp_path / "other").write_text("u -> sleek\n")
    out, _ = run(tmp_path, AUTO, """
        print(h5twin.auto.on("other").policy == os.path.abspath("other"))
        with h5py.File("x.h5", "w") as file:
            file["u"] = x
            print(own_filters(file["u"]))
        h5twin.auto.off()
        print(os.environ["H5TWIN_POLICY"].endswith("rules.policy"))
    """)
    assert out == f"True\n[{h5twin.Sleek.filter_id}]\nTrue\n"


def test_policies_that_cannot_be_used(tmp_path):
    program = """
        print(h5twin.auto.status())
        with h5py.File("x.h5", "w") as file:
            file["u"] = x
            print(own_filters(file["u"]))
        try:
            h5twin.auto.on(os.environ["H5TWIN_POLICY"])
        except h5twin.H5twinError as error:
            print(error)
    """
    out, log = run(tmp_path, AUTO, program, rules="u -> cascade\nv flaot -> cascade\n")
    status, filters, error = out.splitlines()
    assert "policy: none." in status and "H5TWIN_POLICY cannot be used" in status and filters == "[]"
    assert error.startswith(f"{tmp_path / 'rules.policy'}:2:3: ") and '"flaot" is no condition' in error
    assert log["-"][3] == "no policy" and ":2:3: " in log["-"][4]


def test_without_a_policy_nothing_is_coded(tmp_path):
    out, log = run(tmp_path, AUTO, """
        with h5py.File("x.h5", "w") as file:
            file["u"] = x
            print(own_filters(file["u"]), h5twin.auto.status().policy == "")
    """, H5TWIN_POLICY=None)
    assert out == "[] True\n" and not log


def test_errors_are_those_of_h5py(tmp_path):
    program = """
        def say(action):
            try:
                action()
            except Exception as error:
                print(type(error).__name__, error)
        with h5py.File("x.h5", "w") as file:
            file["u"] = x
            say(lambda: file.create_dataset("u", data=x))
            say(lambda: file.__setitem__("u", x))
            say(lambda: file.create_dataset("u/v", data=x))
            say(lambda: file.create_dataset("w", data=x, chunks=(10**9,)))
            say(lambda: file.create_dataset("w", data=object()))
        with h5py.File("x.h5") as file:
            say(lambda: file.create_dataset("w", data=x))
    """
    native, _ = run(tmp_path, "", program)
    out, _ = run(tmp_path, AUTO, program)
    assert out == native and native.count("\n") == 6


def test_what_the_filter_refuses_is_created_natively(tmp_path):
    out, log = run(tmp_path, AUTO, """
        kind = np.dtype([("r", "f4"), ("i", "f4")])
        with h5py.File("x.h5", "w") as file:
            pairs = file.create_dataset("pairs", (10_000,), kind, fillvalue=np.array((1, 2), kind), chunks=(10_000,))
            print(own_filters(pairs), pairs[0])
    """, rules="** complex -> lattice:abs=1\n")
    assert out == "[] (1+2j)\n" and log["/pairs"][3] == "left alone"
    assert "HDF5 does not create it" in log["/pairs"][4]


def test_threads_create_datasets(tmp_path):
    out, log = run(tmp_path, AUTO, """
        from concurrent.futures import ThreadPoolExecutor
        with h5py.File("x.h5", "w") as file:
            def make(i):
                file[f"g{i % 7}/u{i}"] = x
            list(ThreadPoolExecutor(8).map(make, range(100)))
            print(all(own_filters(file[f"g{i % 7}/u{i}"]) for i in range(100)))
    """)
    assert out == "True\n" and len(log) == 100


def test_xarray_through_h5netcdf(tmp_path):
    pytest.importorskip("xarray")
    out, log = run(tmp_path, AUTO, """
        import xarray
        data = xarray.Dataset({"u": (("t", "y", "x"), np.broadcast_to(x[:10_000].reshape(100, 100), (10, 100, 100)))},
                              {"t": np.arange(10.), "lat": (("y", "x"), np.full((100, 100), 50.123456))})
        data.to_netcdf("x.nc", engine="h5netcdf")
        with xarray.open_dataset("x.nc", engine="h5netcdf") as back:
            print(float(abs(back.u - data.u).max()) <= 1e-3, back.lat.equals(data.lat))
    """)
    assert out == "True True\n"
    with h5py.File(tmp_path / "x.nc") as file:
        assert h5twin.explain(file["u"]).filter == h5twin.Lattice(abs=1e-3)
        assert file["lat"].id.get_create_plist().get_nfilters() == 0
    assert log["/u"][3] == "lattice:abs=0.001"


@pytest.mark.parametrize("seed", range(12 * int(os.environ.get("H5TWIN_TEST_ROUNDS", "1"))))
def test_reads_and_writes_are_those_of_h5py(seed, tmp_path):
    """Results, errors and stored chunks of random programs, with h5py changed as for an HDF5 without connectors."""
    program = pathlib.Path(__file__).parent / "dataset_calls.py"
    result = subprocess.run([sys.executable, program, tmp_path, str(seed)], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1, result.stdout
    native, ours, done = map(int, result.stdout.split())
    assert native == ours > 100 and done > 10


def test_h5py_can_be_changed_where_it_could_have_the_connector(tmp_path):
    out, log = run(tmp_path, AUTO, """
        print(h5twin.auto.status().way)
        with h5py.File("x.h5", "w") as file:
            file["u"] = x
            print(type(file["u"].id) is h5py.h5d.DatasetID, np.abs(file["u"][()] - x).max() <= 1e-3)
    """, H5TWIN_AUTO="patches")
    assert out == "patches\nFalse True\n" and log["/u"][3] == "lattice:abs=0.001"


def test_the_connector_is_taken_where_there_is_one(tmp_path):
    out, _ = run(tmp_path, AUTO, """
        print(h5twin.auto.status().way, h5twin.auto.status().hdf5 == h5py.version.hdf5_version)
        with h5py.File("x.h5", "w") as file:
            file["u"] = x
            print(np.abs(file["u"][()] - x).max() <= 1e-3)
    """)
    assert out == f"{'connector' if CONNECTOR else 'patches'} True\nTrue\n"
