# SPDX-License-Identifier: BSD-3-Clause
"""Forks, threads, and several HDF5 libraries in one process."""

import concurrent.futures
import ctypes
import glob
import multiprocessing
import os
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import pytest

from conftest import CODECS, FILTER_IDS, HERE, PLUGINS, absolute, create, same_bits, smooth

LARGE = (128, 256, 64)  # 8 MiB of f4 per chunk: several threads


def child_writes_and_reads(path, codec, queue):
    data = smooth(LARGE, "f4", 3)
    with h5py.File(path, "w") as file:
        create(file, "x", data, codec, chunks=LARGE)
    with h5py.File(path) as file:
        queue.put(same_bits(file["x"][()], data))


def test_forked_children_work_after_the_parent_used_threads(codec, path, tmp_path, monkeypatch):
    monkeypatch.setenv("H5TWIN_NUM_THREADS", "4")
    data = smooth(LARGE, "f4")
    with h5py.File(path, "w") as file:
        create(file, "x", data, codec, chunks=LARGE)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=child_writes_and_reads,
                                args=(tmp_path / f"child{i}.h5", codec, queue)) for i in range(3)]
    for child in children:
        child.start()
    try:
        assert [queue.get(timeout=60) for _ in children] == [True] * 3
    finally:
        for child in children:
            child.join(timeout=10)
            if child.is_alive():
                child.kill()
    with h5py.File(path) as file:
        assert same_bits(file["x"][()], data)


def test_bytes_do_not_depend_on_threads(codec, path, monkeypatch):
    data = smooth(LARGE, "f4")

    def chunk(threads):
        monkeypatch.setenv("H5TWIN_NUM_THREADS", threads)
        with h5py.File(path, "w") as file:
            return create(file, "x", data, codec, chunks=LARGE).id.read_direct_chunk((0, 0, 0))[1]

    expected = chunk("1")
    assert chunk("2") == expected
    assert chunk("7") == expected


def test_threads_of_a_program(codec, tmp_path):
    def work(number):
        data = smooth((64, 64, 16), "f8", number)
        path = tmp_path / f"{number}.h5"
        for _ in range(3):
            with h5py.File(path, "w") as file:
                create(file, "x", data, codec, chunks=(16, 64, 16))
            with h5py.File(path) as file:
                assert same_bits(file["x"][()], data)
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


# ---- two HDF5 libraries ----

H5F_ACC_TRUNC, H5F_ACC_RDONLY, H5S_ALL = 2, 0, 0


class OtherHdf5:
    """A second HDF5, through ctypes, that h5py knows nothing of."""

    def __init__(self, library_path):
        # What a wheel's library needs lies beside it, and some name no folder to look for it in.
        for needed in ("libaec-*.so*", "libsz-*.so*"):
            for path in pathlib.Path(library_path).parent.glob(needed):
                ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_NOW)
        self.lib = ctypes.CDLL(library_path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        self.lib.H5open()
        for name in ("H5Fcreate", "H5Fopen", "H5Pcreate", "H5Screate_simple", "H5Dcreate2", "H5Dopen2",
                     "H5Dget_create_plist"):
            getattr(self.lib, name).restype = ctypes.c_int64
        version = (ctypes.c_uint * 3)()
        self.lib.H5get_libversion(*[ctypes.byref(ctypes.c_uint.from_buffer(version, 4 * i))
                                    for i in range(3)])
        self.version = tuple(version)

    def identifier(self, variable):
        return ctypes.c_int64(ctypes.c_int64.in_dll(self.lib, variable).value)

    def write(self, path, data, filter_id, cd_values):
        lib, i64 = self.lib, ctypes.c_int64
        dims = (ctypes.c_uint64 * data.ndim)(*data.shape)
        words = (ctypes.c_uint * max(1, len(cd_values)))(*cd_values)
        file = i64(lib.H5Fcreate(str(path).encode(), H5F_ACC_TRUNC, i64(0), i64(0)))
        dcpl = i64(lib.H5Pcreate(self.identifier("H5P_CLS_DATASET_CREATE_ID_g")))
        assert lib.H5Pset_chunk(dcpl, data.ndim, dims) >= 0
        assert lib.H5Pset_filter(dcpl, filter_id, 0, ctypes.c_size_t(len(cd_values)), words) >= 0
        space = i64(lib.H5Screate_simple(data.ndim, dims, None))
        kind = self.identifier("H5T_IEEE_F64LE_g")
        dataset = i64(lib.H5Dcreate2(file, b"x", kind, space, i64(0), dcpl, i64(0)))
        assert dataset.value > 0
        assert lib.H5Dwrite(dataset, kind, i64(0), i64(0), i64(0), data.ctypes.data_as(ctypes.c_void_p)) >= 0
        assert lib.H5Dclose(dataset) >= 0
        assert lib.H5Fclose(file) >= 0

    def read(self, path, shape):
        lib, i64 = self.lib, ctypes.c_int64
        data = np.empty(shape)
        file = i64(lib.H5Fopen(str(path).encode(), H5F_ACC_RDONLY, i64(0)))
        dataset = i64(lib.H5Dopen2(file, b"x", i64(0)))
        assert lib.H5Dread(dataset, self.identifier("H5T_IEEE_F64LE_g"), i64(0), i64(0), i64(0),
                           data.ctypes.data_as(ctypes.c_void_p)) >= 0
        lib.H5Dclose(dataset)
        lib.H5Fclose(file)
        return data


def other_libraries():
    """Files of libhdf5 that are not the one h5py uses."""
    with open("/proc/self/maps") as maps:
        own = {os.path.realpath(line.split()[-1]) for line in maps if "libhdf5" in line}
    found = set()
    for pattern in ("/usr/lib/*/libhdf5_serial.so.*", "/usr/lib/*/libhdf5.so.*",
                    f"{HERE.parent}/.venv*/lib/python*/site-packages/*.libs/libhdf5-*.so*"):
        found |= {os.path.realpath(p) for p in glob.glob(pattern)}
    return sorted(found - own)


def check_two(other, codec, tmp_path):
    data = smooth((50, 60), "<f8")
    for cd_values in [()] + ([absolute(1e-3)] if codec == "sleek" else []):
        for attempt in range(3):  # the caller changes at each call
            with h5py.File(tmp_path / "h5py.h5", "w") as file:
                create(file, "x", data, codec, cd_values, chunks=(20, 30))
            other.write(tmp_path / "other.h5", data, FILTER_IDS[codec], ()
                        if not cd_values else cd_values)
            with h5py.File(tmp_path / "h5py.h5") as a, h5py.File(tmp_path / "other.h5") as b:
                x, y = a["x"], b["x"]
                assert x.chunks == (20, 30) and y.chunks == (50, 60)
                assert np.array_equal(x[()], y[()])
                read = x[()]
                with pytest.raises((ValueError, RuntimeError), match="h5twin"):
                    with h5py.File(tmp_path / "bad.h5", "w") as bad:
                        create(bad, "x", data, codec, (9,))
            assert np.array_equal(other.read(tmp_path / "h5py.h5", data.shape), read)
            assert np.array_equal(other.read(tmp_path / "other.h5", data.shape), read)


TWO = """
import sys, pathlib
sys.path.insert(0, {here!r})
import test_process
other = test_process.OtherHdf5({library!r})
for codec in {codecs!r}:
    test_process.check_two(other, codec, pathlib.Path({folder!r}))
    print(codec, "is fine")
"""


def run_two(library, folder):
    """All codecs in a process of its own, so that the second library touches no other test."""
    here = os.path.dirname(os.path.abspath(__file__))
    script = TWO.format(here=here, library=library, codecs=CODECS, folder=str(folder))
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120,
                            env={**os.environ, "H5TWIN_PLUGIN_PATH": str(PLUGINS)})
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.split("\n")[:-1] == [f"{codec} is fine" for codec in CODECS]


def test_two_hdf5_libraries_in_one_process(tmp_path):
    libraries = other_libraries()
    if not libraries:
        pytest.skip("no other libhdf5 is installed")
    for library in libraries:
        run_two(library, tmp_path)


def test_renamed_private_copy_beside_h5pys_own(tmp_path):
    """The same library under another name, as wheels carry it."""
    with open("/proc/self/maps") as maps:
        own = [line.split()[-1] for line in maps if "libhdf5" in line and "_hl" not in line]
    # Other wheels bring theirs; h5py's finds what it needs among what h5py has loaded.
    own = [path for path in own if "h5py" in path] or own
    if not own:
        pytest.skip("h5py has HDF5 inside itself")
    copy = tmp_path / "libhdf5-private-0123abcd.so"
    copy.write_bytes(open(own[0], "rb").read())
    run_two(str(copy), tmp_path)
