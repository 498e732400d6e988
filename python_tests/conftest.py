# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share: the plugins, the tools, the data, and how a codec is asked for.

The tests run under any h5py. H5TWIN_PLUGIN_PATH is the folder of the plugins to test, default
../build/plugins; H5TWIN_COMMAND is the command of the same build, default ../build/bin/h5twin, which
is asked for the codecs; H5TWIN_CODECS names the codecs, comma-separated, default all of them.
"""

import gc
import os
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
PLUGINS = pathlib.Path(os.environ.get("H5TWIN_PLUGIN_PATH", HERE.parent / "build" / "plugins"))
# Before HDF5 is loaded, and for every tool that the tests start.
os.environ["HDF5_PLUGIN_PATH"] = str(PLUGINS)

import h5py  # noqa: E402

COMMAND = os.environ.get("H5TWIN_COMMAND", str(HERE.parent / "build" / "bin" / "h5twin"))
# What the build says it has, not what the folder of plugins holds: one that is missing must fail.
_ROWS = [line.split("\t") for line in subprocess.run(
    [COMMAND, "codecs", "--machine"], capture_output=True, text=True, check=True).stdout.splitlines()]
FILTER_IDS = {name: int(filter_id) for name, _, filter_id, _ in _ROWS}
FRAME_NUMBERS = {name: int(number) for name, number, _, _ in _ROWS}
CODECS = os.environ.get("H5TWIN_CODECS", ",".join(FILTER_IDS)).split(",")
LOSSY_CODECS = [name for name, _, _, kind in _ROWS if kind == "lossy" and name in CODECS]
# Beside its FORMAT.md each codec of ours lists specs that are worth a test; one from elsewhere has its name.
SPECS = {name: [line.split("\t")[0] for line in (folder / "specs.txt").read_text().splitlines()] if folder.is_dir() else [name]
         for name, folder in ((name, HERE.parent / "codec" / name) for name in CODECS)}
# Options other than the default: the values of words 3 and 4.
OPTIONS = {
    **{name: [] for name in CODECS},
    "fpcompress": [(1, 0), (2, 0)],
    "ndzip": [(1, 0), (2, 0)],
    "gfc": [(3, 0)],
}
FLOATS = ["<f4", ">f4", "<f8", ">f8"]

OPTIONAL = 1
FIRST = 1 << 11  # in word 7 of cd_values: no filter comes before


@pytest.fixture(autouse=True)
def no_garbage_collection():
    """h5py makes its message of HDF5's error stack; a handle that is collected meanwhile clears it."""
    gc.disable()
    yield
    gc.enable()


def bound_words(bound):
    """A double as its low and high word."""
    return struct.unpack("<II", struct.pack("<d", bound))


def absolute(bound):
    return (1, *bound_words(bound))


def relative(bound):
    return (2, *bound_words(bound))


def create(file, name, data, codec, cd_values=(), **more):
    """As users do; h5py itself sets the filter as optional."""
    return file.create_dataset(name, data=data, compression=FILTER_IDS[codec],
                               compression_opts=tuple(cd_values) or None, **more)


def filter_of(dataset, index=0):
    """(id, flags, cd_values, name) as stored in the file."""
    return dataset.id.get_create_plist().get_filter(index)


def smooth(shape, dtype, seed=0):
    """A field that compresses, in any byte order."""
    rng = np.random.default_rng(seed)
    grid = np.indices(shape).sum(axis=0) if len(shape) else np.array(0.0)
    field = np.sin(grid * 0.05) * 10 + rng.normal(size=shape) * 1e-4
    return field.astype(dtype)


@pytest.fixture
def array_file(tmp_path):
    """For the command: 8x16x40 little-endian floats."""
    path = tmp_path / "array"
    path.write_bytes(smooth((8, 16, 40), "<f4").tobytes())
    return path


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def run_tool(*arguments, check=True, env=None):
    """A command line tool; SKIP if the machine has none of that name."""
    if shutil.which(arguments[0]) is None:
        pytest.skip(f"{arguments[0]} is not installed")
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True,
                            timeout=120, env={**os.environ, **(env or {})})
    if check:
        assert result.returncode == 0, result.stderr
    return result


def plugin_of(codec):
    return PLUGINS / f"libh5twin_{codec}.so"


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.fixture(params=FLOATS)
def dtype(request):
    return np.dtype(request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "test.h5"


@pytest.fixture
def write(path):
    """write(data, codec, cd_values, **create_dataset) -> the array read back in a new file."""

    def write_and_read(data, codec, cd_values=(), **more):
        with h5py.File(path, "w") as file:
            create(file, "x", data, codec, cd_values, **more)
        with h5py.File(path) as file:
            return file["x"][()]

    return write_and_read


def pytest_report_header(config):
    return f"HDF5 {h5py.version.hdf5_version}, h5py {h5py.__version__}, plugins of {PLUGINS}"
