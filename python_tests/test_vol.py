# SPDX-License-Identifier: BSD-3-Clause
"""Programs under `h5twin run`: what they read, which errors they get and what they store are as without it.

H5TWIN_TEST_ROUNDS=N tries N times as many random programs, H5TWIN_TEST_SEEDS=FIRST:END those besides. Where HDF5 is older than 1.14 the connector takes part in
nothing, and the same must hold."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from conftest import CODECS, COMMAND, FILTER_IDS, HERE, LOSSY_CODECS, PLUGINS, absolute

pytestmark = pytest.mark.skipif(not (PLUGINS / "vol").is_dir(), reason=f"no connector below {PLUGINS}")

PROGRAM = HERE / "vol_program.py"
ROUNDS = 12 * int(os.environ.get("H5TWIN_TEST_ROUNDS", "1"))
SEEDS = range(*map(int, os.environ.get("H5TWIN_TEST_SEEDS", "0:0").split(":")))
MANY = 25  # seeds in a process
TAKES_CONNECTORS = h5py.version.hdf5_version_tuple >= (1, 14, 0)
SPECS = ([[FILTER_IDS[name], []] for name in CODECS] + [[FILTER_IDS[name], list(absolute(1e-2))] for name in LOSSY_CODECS])


def start(*arguments, connector, log=None, **more):
    """This Python with these arguments, with the connector or without."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "H5TWIN_NUM_THREADS": "4", **more}
    if log is not None:
        environment["H5TWIN_VOL_LOG"] = str(log)
    before = [COMMAND, "run"] if connector else []
    return subprocess.run([*before, sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env=environment)


def lines_of(result):
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def by_h5dump(path):
    """None if h5dump is too old for the file."""
    if shutil.which("h5dump") is None:
        return None
    result = subprocess.run(["h5dump", "-p", path.name], capture_output=True, text=True, cwd=path.parent, timeout=300)
    return result.stdout if result.returncode == 0 else None


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_programs(seed, tmp_path):
    """Differences are looked for by plain HDF5: in what was printed, in what is stored."""
    outputs, dumps, texts = [], [], []
    for connector in (False, True):
        folder = tmp_path / ("with" if connector else "without")
        folder.mkdir()
        path = folder / "file.h5"
        outputs.append(lines_of(start(PROGRAM, "random", path, seed, json.dumps(SPECS), connector=connector)))
        dumps.append(lines_of(start(PROGRAM, "dump", path, connector=False)))
        texts.append(by_h5dump(path))
    assert len(outputs[0]) > 20 and len(dumps[0]) > 5
    assert outputs[1] == outputs[0]
    assert dumps[1] == dumps[0]
    assert texts[1] == texts[0]


@pytest.mark.skipif(not SEEDS, reason="needs H5TWIN_TEST_SEEDS")
@pytest.mark.parametrize("first", SEEDS[::MANY])
def test_many_random_programs(first, tmp_path):
    """The same for many, one after the other in a process."""
    seeds, outputs, dumps = range(first, min(first + MANY, SEEDS.stop)), [], []
    for connector in (False, True):
        path = tmp_path / f"{connector}.h5"
        outputs.append(lines_of(start(PROGRAM, "random", path, f"{seeds.start}:{seeds.stop}", json.dumps(SPECS), connector=connector)))
        files = [f"{path}.{seed}" for seed in seeds]
        dumps.append(lines_of(start(PROGRAM, "dump", *files, connector=False)))
        for file in files:
            os.remove(file)
    assert len(outputs[0]) > 20 * len(seeds) and len(dumps[0]) > 5 * len(seeds)
    assert outputs[1] == outputs[0]
    assert dumps[1] == dumps[0]


ARRAY = """
import sys, h5py, numpy as np
path, filter_id, words = sys.argv[1], int(sys.argv[2]), tuple(map(int, sys.argv[3:]))
u = np.sin(np.arange(64 * 96 * 100).reshape(64, 96, 100) * 1e-3).astype("f4")
with h5py.File(path, "w") as file:
    data = file.create_dataset("g/u", u.shape, "f4", chunks=(16, 50, 100), compression=filter_id, compression_opts=words or None)
    data[...] = u
    data[16:32, :, :] = u[16:32] + 1
with h5py.File(path) as file:
    a, b = file["g/u"][...], file["g/u"][8:40, :50, :]
print(a.tobytes() == b"" or a[8:40, :50, :].tobytes() == b.tobytes())
"""


@pytest.mark.skipif(not TAKES_CONNECTORS, reason="this HDF5 has no connectors")
@pytest.mark.parametrize("words", [(), absolute(1e-3)])
def test_whole_arrays_go_over_all_cores(codec, words, tmp_path):
    """By its own log, without which none of these tests would tell much; by its file the same chunks."""
    if words and codec not in LOSSY_CODECS:
        pytest.skip("a lossless codec")
    log = tmp_path / "log"
    for connector in (False, True):
        path = tmp_path / f"{connector}.h5"
        assert lines_of(start("-c", ARRAY, path, FILTER_IDS[codec], *words, connector=connector, log=log)) == ["True"]
    assert lines_of(start(PROGRAM, "dump", tmp_path / "True.h5", connector=False)) == \
        lines_of(start(PROGRAM, "dump", tmp_path / "False.h5", connector=False))
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    assert {line[0] for line in lines} == {str(tmp_path / "True.h5")}
    assert [line[1:4] for line in lines[:2]] == [["/g/u", "write", "on all cores"]] * 2
    assert ["/g/u", "read", "on all cores"] in [line[1:4] for line in lines[2:]]


PLANES = """
import sys, h5py, numpy as np
path, filter_id = sys.argv[1], int(sys.argv[2])
u = np.sin(np.arange(40 * 60 * 50).reshape(40, 60, 50) * 1e-3).astype("f4")
with h5py.File(path, "w") as file:
    file.create_dataset("u", data=u, chunks=(20, 30, 25), compression=filter_id)
for cache in (1024, None): # no chunk fits, all do
    with h5py.File(path, rdcc_nbytes=cache) as file:
        data = file["u"]
        print(all((data[i] == u[i]).all() for i in range(40)), all((data[:, i] == u[:, i]).all() for i in range(60)),
              all((data[:, :, i] == u[:, :, i]).all() for i in range(50)), data[7, 8, 9] == u[7, 8, 9],
              (data[3:30, ::7, 5] == u[3:30, ::7, 5]).all())
"""


@pytest.mark.skipif(not TAKES_CONNECTORS, reason="this HDF5 has no connectors")
@pytest.mark.parametrize("kept", [None, "0", "30000", "no number"])
def test_planes_of_chunks_that_hdf5_does_not_cache(kept, codec, tmp_path):
    """Each plane has fewer values than a chunk. HDF5 would decode all of its chunks."""
    log = tmp_path / "log"
    more = {} if kept is None else {"H5TWIN_KEPT_BYTES": kept}
    result = start("-c", PLANES, tmp_path / "x.h5", FILTER_IDS[codec], connector=True, log=log, **more)
    assert lines_of(result) == ["True True True True True"] * 2
    lines = [line.split("\t")[2:] for line in log.read_text().splitlines()]
    reads = [line[1:] for line in lines if line[0] == "read"]
    assert reads[:151] == [["on all cores", "-"]] * 151 and reads[151] == ["by HDF5", "the selection is no box"]
    assert reads[152:303] == [["by HDF5", "no more than one chunk"]] * 151


@pytest.mark.skipif(not TAKES_CONNECTORS, reason="this HDF5 has no connectors")
def test_it_can_be_switched_off(codec, tmp_path):
    log = tmp_path / "log"
    result = start("-c", ARRAY, tmp_path / "x.h5", FILTER_IDS[codec], connector=True, log=log, H5TWIN_VOL="off")
    assert lines_of(result) == ["True"] and not log.exists()


@pytest.mark.skipif(TAKES_CONNECTORS, reason="this HDF5 has connectors")
def test_an_old_hdf5_says_so_once(codec, tmp_path):
    """1.12 asks for the connector when it starts, 1.10 whenever it searches a filter."""
    said = start("-c", ARRAY, tmp_path / "x.h5", FILTER_IDS[codec], connector=True)
    assert lines_of(said) == ["True"]
    assert len(said.stderr.splitlines()) == 1 and "codes chunks itself, one after the other; use HDF5 1.14" in said.stderr
    for quiet in ({"H5TWIN_VERBOSE": "0"}, {"H5TWIN_VOL": "off"}):
        result = start("-c", ARRAY, tmp_path / "x.h5", FILTER_IDS[codec], connector=True, **quiet)
        assert lines_of(result) == ["True"] and result.stderr == ""
    asked = subprocess.run([COMMAND, "run", "--check", sys.executable], capture_output=True, text=True)
    assert asked.returncode == 1 and f"HDF5 {h5py.version.hdf5_version}" in asked.stdout and "too old" in asked.stdout
    assert asked.stderr == ""


UNFILTERED = """
import sys, h5py, numpy as np
path, filter_id = sys.argv[1], int(sys.argv[2])
u = np.sin(np.arange(4000) * 1e-3).astype("f4")
with h5py.File(path, "w", rdcc_nbytes=0) as file:
    data = file.create_dataset("u", u.shape, "f4", chunks=(1000,), compression=filter_id)
    for at in (3000, 0, 1000): # the last chunk of a write, and others
        data[...] = u
        data.id.write_direct_chunk((at,), np.ones(1000, "f4").tobytes(), 1)
        data[2000:2001] # HDF5 looks up another one
        print(data[at], data[at + 999])
        data[...] = u + at
        data[at + 5] = 7
        print(data[at + 5], (data[...] == u + at).sum())
"""


def test_over_a_chunk_that_was_stored_without_the_filter(codec, tmp_path):
    """H5Dwrite_chunk does not tell HDF5's memory of the last chunk that there is a filter again."""
    outputs = [lines_of(start("-c", UNFILTERED, tmp_path / f"{connector}.h5", FILTER_IDS[codec], connector=connector))
               for connector in (False, True)]
    assert outputs[1] == outputs[0] == ["1.0 1.0", "7.0 3999"] * 3


# ---- several datasets in one call ----

SEVERAL = """
import ctypes, json, sys, h5py, numpy as np
path, codecs = sys.argv[1], json.loads(sys.argv[2])
name = next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line and "_hl" not in line)
hdf5 = ctypes.CDLL(name)
def call(function, datasets, types, memory, places, arrays):
    n, ids = len(datasets), ctypes.c_int64 * len(datasets)
    return function(ctypes.c_size_t(n), ids(*datasets), ids(*types), ids(*memory), ids(*places), ctypes.c_int64(0),
                    (ctypes.c_void_p * n)(*(array.ctypes.data for array in arrays)))
rng = np.random.default_rng(5)
with h5py.File(path, "w") as file:
    sets, spaces, types, arrays = [], [], [], []
    for i, (number, words) in enumerate([*codecs, [None, []]]):
        more = {} if number is None else dict(compression=number, compression_opts=tuple(words) or None, chunks=(10, 8))
        sets.append(file.create_dataset(f"d{i}", (40, 24), "f4", **more))
        spaces.append(h5py.h5s.create_simple((40, 24)))
        types.append(h5py.h5t.py_create(sets[-1].dtype))
        arrays.append(np.cumsum(rng.normal(size=(40, 24)), 0).astype("f4"))
    part = h5py.h5s.create_simple((40, 24)); part.select_hyperslab((0, 0), (5, 24))
    ids = [d.id.id for d in sets]
    print(call(hdf5.H5Dwrite_multi, ids, [t.id for t in types], [0] * len(ids), [0] * len(ids), arrays))
    # The first again, in part and as a whole, which HDF5 refuses.
    for order in ((0, 1), (1, 0)):
        places = [[part.id, 0][i] for i in order]
        new = [arrays[0] + 1, arrays[0] + 2]
        print(call(hdf5.H5Dwrite_multi, [ids[0]] * 2, [types[0].id] * 2, places, places, [new[i] for i in order]))
        print(sets[0][()].sum(dtype="f8"))
    back = [np.full_like(a, 3) for a in arrays]
    print(call(hdf5.H5Dread_multi, ids, [t.id for t in types], [part.id if i == 1 else 0 for i in range(len(ids))],
               [part.id if i == 1 else 0 for i in range(len(ids))], back))
    for a in back:
        print(a.tobytes().hex()[:64], a.sum(dtype="f8"))
    print(call(hdf5.H5Dread_multi, ids[:2], [t.id for t in types[:2]], [0, 0], [0, part.id], back[:2]) < 0) # too few values
"""


@pytest.mark.skipif(not TAKES_CONNECTORS or not sys.platform.startswith("linux"), reason="no H5Dwrite_multi")
def test_calls_for_several_datasets(tmp_path):
    log, lossless = tmp_path / "log", [spec for spec in SPECS if not spec[1]]
    outputs = []
    for connector in (False, True):
        path = tmp_path / f"{connector}.h5"
        outputs.append(lines_of(start("-c", SEVERAL, path, json.dumps(lossless), connector=connector, log=log)))
        outputs[-1] += lines_of(start(PROGRAM, "dump", path, connector=False))
    assert outputs[1] == outputs[0] and outputs[0][0] == "0"
    assert log.read_text().count("on all cores") >= len(lossless)


# ---- two HDF5 libraries ----

TWO = """
import sys, numpy as np, h5py, netCDF4
netcdf, hdf, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
u = np.sin(np.arange(800 * 600).reshape(800, 600) * 1e-3).astype("f4")
with netCDF4.Dataset(netcdf, "w") as file, h5py.File(hdf, "w") as other:
    file.createDimension("x", 800); file.createDimension("y", 600)
    file.createVariable("u", "f4", ("x", "y"), chunksizes=(200, 200), compression=None)
    v = other.create_dataset("v", data=u, chunks=(200, 200), compression=number)
    file["u"][:] = u
    w = other.create_dataset("w", data=u + 1, chunks=(200, 200), compression=number)
with netCDF4.Dataset(netcdf) as file, h5py.File(hdf) as other:
    print((file["u"][:] == u).all(), (other["v"][()] == u).all(), (other["w"][()] == u + 1).all())
    if len(sys.argv) > 4:
        with netCDF4.Dataset(sys.argv[4]) as third:
            print((third["v"][:] == u).all(), netCDF4.__hdf5libversion__ != h5py.version.hdf5_version)
"""


@pytest.mark.skipif(not TAKES_CONNECTORS, reason="this HDF5 has no connectors")
def test_two_libraries_in_a_process(codec, tmp_path):
    """netCDF4 reads what h5py wrote, each with its own HDF5."""
    netcdf4 = pytest.importorskip("netCDF4")
    if netcdf4.__hdf5libversion__ == h5py.version.hdf5_version:
        pytest.skip("netCDF4 has the same HDF5 as h5py")
    log = tmp_path / "log"
    result = start("-c", TWO, tmp_path / "a.nc", tmp_path / "b.h5", FILTER_IDS[codec], tmp_path / "b.h5", connector=True, log=log)
    assert lines_of(result) == ["True True True", "True True"]
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    assert [line[1:4] for line in lines if line[1] == "/v"] == [["/v", "write", "on all cores"], ["/v", "read", "on all cores"],
                                                                ["/v", "read", "on all cores"]]
