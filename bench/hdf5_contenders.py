# SPDX-License-Identifier: BSD-3-Clause
"""hdf5_contenders.py: what takes part in bench_hdf5.py: filters through HDF5, and compressors that
code the same chunks bare, in memory. Import it when HDF5_PLUGIN_PATH and H5TWIN_LIBRARY are set."""

import os
import pathlib
import struct
import sys

import h5py
import hdf5plugin
import numpy as np

try:
    import blosc2
except ImportError:
    blosc2 = None
try:
    import fpzip
except ImportError:
    fpzip = None
try:
    import pcodec
    import pcodec.standalone
except ImportError:
    pcodec = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from h5twin import _library as library  # noqa: E402

RELATIVE_BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)


class Hdf5Contender:
    """One filter (or none) and its file. filters: list of (id, cd_values), or a function from the
    bound to one. The chunks lie one behind the other along the slowest axis."""

    path = "hdf5"

    def __init__(self, name, filters, relative_bound=0.0):
        self.name, self.filters, self.relative_bound = name, filters, relative_bound

    def open(self, folder, chunks, bound):
        filters = self.filters(bound) if callable(self.filters) else self.filters
        chunk = chunks[0]
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(chunk.shape)
        dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        for filter_id, cd_values in filters:
            dcpl.set_filter(filter_id, h5py.h5z.FLAG_MANDATORY, tuple(cd_values))
        dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        dapl.set_chunk_cache(0, 0, 0.0)
        self.name_of_file = os.path.join(folder, "file.h5")
        self.file = h5py.File(self.name_of_file, "w", libver="latest")
        shape = (len(chunks) * chunk.shape[0],) + chunk.shape[1:]
        self.memory_space = h5py.h5s.create_simple(chunk.shape)
        self.file_space = h5py.h5s.create_simple(shape)
        self.type = h5py.h5t.py_create(chunk.dtype)
        self.dataset = h5py.h5d.create(self.file.id, b"data", self.type, self.file_space,
                                       dcpl=dcpl, dapl=dapl)
        self.count = chunk.shape

    def _select(self, index):
        self.file_space.select_hyperslab(
            (index * self.count[0],) + (0,) * (len(self.count) - 1), self.count)

    def encode(self, index, chunk):
        self._select(index)
        self.dataset.write(self.memory_space, self.file_space, chunk, self.type)

    def decode(self, index, into):
        self._select(index)
        self.dataset.read(self.memory_space, self.file_space, into, self.type)

    def stored_size(self, index):
        return self.dataset.get_chunk_info(index).size

    def close(self):
        self.file.close()
        os.unlink(self.name_of_file)


class BareContender:
    """A function from array to bytes and one back."""

    path = "bare"

    def __init__(self, name, encode, decode):
        self.name, self._encode, self._decode, self.relative_bound = name, encode, decode, 0.0

    def open(self, folder, chunks, bound):
        self.packed = [None] * len(chunks)

    def encode(self, index, chunk):
        self.packed[index] = self._encode(chunk)

    def decode(self, index, into):
        self._decode(self.packed[index], into)

    def stored_size(self, index):
        return len(self.packed[index])

    def close(self):
        self.packed = None


def plugin_filter(filter_object):
    return [(filter_object.filter_id, filter_object.filter_options)]


def ours_bare(name, spec):
    """A codec without HDF5: the same chunks as through it."""
    def encode(chunk):
        params = library.Params.from_spec(spec)
        params.set_array(library.FLOAT, chunk.itemsize, chunk.shape)
        return params.encode(chunk.ctypes.data, chunk.nbytes, 1)

    return BareContender(name, encode, lambda packed, into: library.decode_into(
        packed, into.ctypes.data, into.nbytes, 1))


def blosc2_bare(name, codec, level, shuffle):
    def encode(chunk):
        return blosc2.compress2(chunk, cparams=blosc2.CParams(
            codec=codec, clevel=level, typesize=chunk.itemsize, nthreads=1, filters=[shuffle]))
    decode_params = blosc2.DParams(nthreads=1)
    return BareContender(name, encode,
                         lambda packed, into: blosc2.decompress2(packed, dst=into, dparams=decode_params))


# (name, spec, cd_values) of ours that store exactly
OURS = (
    ("sleek", "sleek", (480, ())),
    ("fpcompress speed", "fpcompress:mode=speed", (484, (0, 0, 0, 1))),
    ("fpcompress ratio", "fpcompress:mode=ratio", (484, (0, 0, 0, 2))),
    ("ndzip", "ndzip", (483, ())),
    ("gfc", "gfc", (481, ())),
    ("e2mc", "e2mc", (482, ())),
    ("cascade fast", "cascade:effort=fast", (485, (0, 0, 0, 1))),
    ("cascade", "cascade", (485, ())),
)
# (filter, name, codec of Blosc2, level); of the slowest only the better filter
BLOSC2 = (("shuffle", "lz4", "LZ4", 5), ("shuffle", "zstd-1", "ZSTD", 1),
          ("shuffle", "zstd-5", "ZSTD", 5), ("shuffle", "zstd-9", "ZSTD", 9),
          ("bitshuffle", "lz4", "LZ4", 5), ("bitshuffle", "zstd-1", "ZSTD", 1),
          ("bitshuffle", "zstd-5", "ZSTD", 5))


def bare_contenders():
    """In memory: ours beside those that come as Python packages."""
    made = [BareContender("memcpy", lambda chunk: chunk.tobytes(),
                          lambda packed, into: np.copyto(
                              into, np.frombuffer(packed, into.dtype).reshape(into.shape)))]
    made += [ours_bare(f"h5twin {name}", spec) for name, spec, _ in OURS]
    if blosc2 is not None:
        made += [blosc2_bare(f"Blosc2 {filter_} {name}", getattr(blosc2.Codec, codec), level,
                             getattr(blosc2.Filter, filter_.upper()))
                 for filter_, name, codec, level in BLOSC2]
    if fpzip is not None:
        made.append(BareContender(
            "fpzip", lambda chunk: fpzip.compress(merge_axes(chunk, 4), order="C"),
            lambda packed, into: np.copyto(
                into, fpzip.decompress(packed, order="C").reshape(into.shape))))
    if pcodec is not None:
        config = pcodec.ChunkConfig()
        made.append(BareContender(
            "pcodec", lambda chunk: pcodec.standalone.simple_compress(chunk.ravel(), config),
            lambda packed, into: pcodec.standalone.simple_decompress_into(packed, into.ravel())))
    return made


def lossless_contenders():
    """Through HDF5: ours beside HDF5's own and those of hdf5plugin."""
    deflate, shuffle, szip = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_SZIP
    made = [Hdf5Contender("unfiltered", [])]
    made += [Hdf5Contender(f"h5twin {name}", [filter_]) for name, _, filter_ in OURS]
    made += [
        Hdf5Contender("gzip -6", [(deflate, (6,))]),
        Hdf5Contender("shuffle + gzip -6", [(shuffle, ()), (deflate, (6,))]),
    ]
    made += [Hdf5Contender(f"Blosc2 {filter_} {name}", plugin_filter(hdf5plugin.Blosc2(
        cname=codec.lower(), clevel=level, filters=getattr(hdf5plugin.Blosc2, filter_.upper()))))
        for filter_, name, codec, level in BLOSC2]
    made += [
        Hdf5Contender("Bitshuffle lz4", plugin_filter(hdf5plugin.Bitshuffle(cname="lz4"))),
        Hdf5Contender("Bitshuffle zstd", plugin_filter(hdf5plugin.Bitshuffle(cname="zstd"))),
        Hdf5Contender("Zfp reversible", plugin_filter(hdf5plugin.Zfp(reversible=True))),
    ]
    if h5py.h5z.filter_avail(szip):
        nearest_neighbour, pixels = 32, 32
        made.append(Hdf5Contender("szip", [(szip, (nearest_neighbour, pixels))]))
    return made


def merge_axes(chunk, rank):
    return chunk.reshape((-1,) + chunk.shape[-(rank - 1):]) if chunk.ndim > rank else chunk


def lossy_contenders():
    def bound_words(bound):
        return struct.unpack("<2I", struct.pack("<d", bound))
    makers = {"h5twin sleek": lambda bound: [(480, (1, *bound_words(bound)))],
              "h5twin lattice": lambda bound: [(486, (1, *bound_words(bound)))],
              "h5twin lattice fast": lambda bound: [(486, (1, *bound_words(bound), 1))],
              "h5twin lattice stable=no": lambda bound: [(486, (1, *bound_words(bound), 4))],
              "Zfp": lambda bound: plugin_filter(hdf5plugin.Zfp(accuracy=bound)),
              "SZ3": lambda bound: plugin_filter(hdf5plugin.SZ3(absolute=bound)),
              "Sperr": lambda bound: plugin_filter(hdf5plugin.Sperr(absolute=bound))}
    return [Hdf5Contender(name, maker, relative)
            for name, maker in makers.items() for relative in RELATIVE_BOUNDS]
