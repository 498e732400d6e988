# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory that only CUDA can reach, through the connector: what is stored and read is what the same calls make of
the host's memory. Every access by anything but CUDA ends the program."""

import os
import pathlib
import subprocess
import sys

import h5py
import pytest

from conftest import COMMAND, FILTER_IDS, PLUGINS

RUNTIME = pathlib.Path(PLUGINS).parent / "tests" / "libfake_gpu_runtime.so"
pytestmark = [
    pytest.mark.skipif(not (pathlib.Path(PLUGINS) / "vol").is_dir(), reason=f"no connector below {PLUGINS}"),
    pytest.mark.skipif(not RUNTIME.is_file(), reason=f"no {RUNTIME}: it is built with -DH5TWIN_TESTS=ON"),
    pytest.mark.skipif(h5py.version.hdf5_version_tuple < (1, 14, 0), reason="HDF5 before 1.14 has no such connectors"),
]

PROGRAM = """
import ctypes, sys
import h5py, numpy as np
runtime = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
runtime.fake_malloc.restype = runtime.fake_bytes.restype = ctypes.c_void_p
runtime.fake_malloc.argtypes, runtime.fake_bytes.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
shape, filter_id = (96, 64, 65), int(sys.argv[3])
values = np.sin(np.arange(np.prod(shape), dtype="f4") * 1e-3).reshape(shape)

def at(address):
    return np.frombuffer((ctypes.c_char * values.nbytes).from_address(address), dtype="f4").reshape(shape)

place = runtime.fake_malloc(values.nbytes)
on_device, shadow = at(place), at(runtime.fake_bytes(place))
shadow.setflags(write=True)
everything = h5py.h5s.ALL
with h5py.File(sys.argv[2], "w") as file:
    for name, chunks in ("whole", (16, 64, 65)), ("edges", (50, 40, 33)), ("one", shape), ("plain", None):
        more = dict(chunks=chunks, compression=filter_id, compression_opts=()) if chunks else {}
        ours = file.create_dataset(name, shape, "f4", **more)
        theirs = file.create_dataset(name + " of the host", shape, "f4", **more)
        for turn in range(2):
            shadow[...] = values + turn
            ours.id.write(everything, everything, on_device)
            theirs.id.write(everything, everything, values + turn)
            if chunks:
                for i in range(ours.id.get_num_chunks()):
                    offset = ours.id.get_chunk_info(i).chunk_offset
                    assert ours.id.read_direct_chunk(offset) == theirs.id.read_direct_chunk(offset), (name, offset)
            shadow[...] = 7
            ours.id.read(everything, everything, on_device)
            assert np.array_equal(shadow, values + turn), name
print("copies", ctypes.c_size_t.in_dll(runtime, "fake_copies").value)
"""


def test_arrays_of_a_gpu(tmp_path):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "H5TWIN_NUM_THREADS": "2"}
    result = subprocess.run([COMMAND, "run", sys.executable, "-c", PROGRAM, RUNTIME, tmp_path / "file.h5",
                             str(FILTER_IDS["cascade"])], capture_output=True, text=True, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.split()[1]) >= 16
