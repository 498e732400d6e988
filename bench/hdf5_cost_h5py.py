# SPDX-License-Identifier: BSD-3-Clause
"""hdf5_cost_h5py.py: hdf5_cost from Python: what slices of a filtered dataset cost beyond codec and file.

As users have it: h5py's own calls, HDF5's default chunk cache, the default malloc. Chunks of one size go
through the bare codec, to an unfiltered chunked dataset and to a filtered one, in turn; medians of the
processor time for one chunk, in microseconds. Every combination runs in a process of its own, because
what the heap has seen before changes when it returns memory to the system.

    HDF5_PLUGIN_PATH=build/plugins H5TWIN_LIBRARY=build/lib/libh5twin.so \\
        python3 bench/hdf5_cost_h5py.py FOLDER [SPEC]... >OUT.csv
"""

import ctypes
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import h5py
import numpy as np

plugin_path = os.environ["HDF5_PLUGIN_PATH"]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from h5twin import _library as library  # noqa: E402

h5py.h5pl.prepend(plugin_path.encode())  # the package looks into a folder of its own first

TOTAL_BYTES = 32 << 20
ROUNDS = 8  # the first is not counted
SPECS = ("sleek", "sleek:abs=1e-3", "fpcompress:mode=speed", "fpcompress:mode=ratio", "ndzip", "gfc")
CHUNK_BYTES = (64 << 10, 256 << 10, 1 << 20, 4 << 20)
COLUMNS = ("contender", "type", "direction", "chunk_bytes", "codec_us", "unfiltered_us", "filtered_us", "cost",
           "unfiltered_faults", "filtered_faults")


class Bare:
    """The codec alone, in buffers that stay; not by the package, which makes new ones."""

    def __init__(self, spec, data, count):
        self.params, self.data, self.step = library.Params.from_spec(spec), data, len(data) // count
        self.params.set_array(library.FLOAT, data.itemsize, (self.step,))
        self.size = self.step * data.itemsize
        self.chunks = np.zeros((count, library._c.h5twin_bound(self.params._buffer, self.size)), "u1")
        self.chunk_sizes = [ctypes.c_size_t() for _ in range(count)]
        self.into = np.zeros_like(data)
        self.exec = library._Exec(0, 1)

    def write(self, index):
        chunk = self.chunks[index]
        assert library._c.h5twin_encode(
            self.params._buffer, ctypes.byref(self.exec), chunk.ctypes.data, chunk.nbytes,
            self.data.ctypes.data + index * self.size, self.size, ctypes.byref(self.chunk_sizes[index])) == 0

    def read(self, index):
        written = ctypes.c_size_t()
        assert library._c.h5twin_decode(
            ctypes.byref(self.exec), self.into.ctypes.data + index * self.size, self.size,
            self.chunks[index].ctypes.data, self.chunk_sizes[index], ctypes.byref(written)) == 0

    def flush(self):
        pass


class Dataset:
    def __init__(self, path, spec, data, count):
        self.data, self.step, filters = data, len(data) // count, {}
        if spec is not None:
            params = library.Params.from_spec(spec)
            codec = next(codec for codec in library.codecs() if spec.partition(":")[0] == codec.name)
            filters = {"compression": codec.filter_id, "compression_opts": params.cd_values()}
        self.file = h5py.File(path, "w")
        self.dataset = self.file.create_dataset("data", data.shape, data.dtype, chunks=(self.step,),
                                                fillvalue=None, **filters)
        self.into = np.zeros_like(data)

    def write(self, index):
        at = slice(index * self.step, (index + 1) * self.step)
        self.dataset[at] = self.data[at]

    def read(self, index):
        at = slice(index * self.step, (index + 1) * self.step)
        self.dataset.read_direct(self.into, at, at)

    def flush(self):
        self.file.flush()


def field(size, word_size):
    """Smooth, with weak small scales."""
    at = np.arange(size // word_size)
    waves = np.sin(at * 1e-3) + 0.5 * np.sin(at * 7.1e-3) + 1e-4 * np.sin(at * 1.7)
    return waves.astype(f"f{word_size}")


def measure(ways, direction, count):
    """Medians of microseconds and page faults for one chunk, for each way."""
    times, faults = [[] for _ in ways], [[] for _ in ways]
    for turn in range(ROUNDS):
        for way, seconds, pages in zip(ways, times, faults):
            step = getattr(way, direction)
            pages_before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            start = time.process_time()
            for index in range(count):
                step(index)
            way.flush()
            took = time.process_time() - start
            if turn > 0:
                seconds.append(took * 1e6 / count)
                pages.append((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - pages_before) / count)
    return [statistics.median(values) for values in times + faults]


def run(folder, spec, word_size, chunk_bytes):
    count, data = TOTAL_BYTES // chunk_bytes, field(TOTAL_BYTES, word_size)
    paths = [os.path.join(folder, f"hdf5_cost_{name}.h5") for name in ("plain", "filtered")]
    ways = [Bare(spec, data, count), Dataset(paths[0], None, data, count), Dataset(paths[1], spec, data, count)]
    for direction in ("write", "read"):
        codec, unfiltered, filtered, _, plain_faults, filtered_faults = measure(ways, direction, count)
        print(f'"{spec}",f{8 * word_size},{direction},{chunk_bytes},{codec:.1f},{unfiltered:.1f},{filtered:.1f},'
              f"{filtered / (codec + unfiltered):.3f},{plain_faults:.1f},{filtered_faults:.1f}")
    assert "abs" in spec or np.array_equal(ways[2].into, data)
    for path in paths:
        os.unlink(path)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--one":
        run(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return 0
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    print(",".join(COLUMNS), flush=True)
    status, environment = 0, {**os.environ, "HDF5_PLUGIN_PATH": plugin_path, "H5TWIN_NUM_THREADS": "1"}
    for chunk_bytes in CHUNK_BYTES:
        for spec in sys.argv[2:] or SPECS:
            for word_size in (4, 8):
                status |= subprocess.run([sys.executable, __file__, "--one", sys.argv[1], spec, str(word_size),
                                          str(chunk_bytes)], env=environment).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
