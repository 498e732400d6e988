# SPDX-License-Identifier: BSD-3-Clause
"""bench_hdf5.py: h5twin's filters and others through H5Dwrite and H5Dread, as CSV.

Every filter codes the same chunks, one H5Dwrite or H5Dread each, into an own file on tmpfs, with
HDF5's chunk cache off so that each call runs the filter. The first pass allocates the file, later
ones overwrite it. The filters take turns; medians of processor time, one thread. fpzip and pcodec
have no filter: they code the same chunks bare. README.md of this folder has the columns.

    bench_hdf5.py --plugins build/plugins --csv OUT.csv [--repetitions N] [--quick]
"""

import argparse
import csv
import os
import pathlib
import struct
import sys
import tempfile
import time

for variable in ("H5TWIN_NUM_THREADS", "OMP_NUM_THREADS", "BLOSC_NTHREADS"):
    os.environ[variable] = "1"

SLOT_SECONDS = 0.02
SLOW_SECONDS = 0.25
LARGE_SPREAD = 0.10
DATASET_BYTES = 16 << 20
RELATIVE_BOUNDS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FILL_MAGNITUDE = 1e30  # values beyond are marks for missing data, not part of the range


# ---- arrays ----

def load_arrays(directory):
    """Yield (name, [chunk, ...]) of NAME.AxBxC.f32|f64: one array is one chunk, repeated."""
    for path in sorted(pathlib.Path(directory).iterdir()):
        parts = path.name.split(".")
        if len(parts) == 3 and parts[2] in ("f32", "f64"):
            dims = [int(extent) for extent in parts[1].split("x")]
            array = np.fromfile(path, dtype="<f4" if parts[2] == "f32" else "<f8").reshape(dims)
            copies = max(2, -(-DATASET_BYTES // array.nbytes))
            yield parts[0], [array.copy() for _ in range(copies)]


def generate_arrays():
    """Yield a smooth field in chunks of 4 MiB, in both precisions."""
    rng = np.random.default_rng(1)
    for dtype in ("<f4", "<f8"):
        field = np.zeros((256, 128, 128))
        for periods, amplitude in ((1, 2.0), (2, 1.0), (5, 0.3), (13, 0.05), (40, 0.002)):
            phases = rng.uniform(0, 2 * np.pi, 3)
            waves = [np.sin(2 * np.pi * periods * np.arange(count) / count + phase)
                     for count, phase in zip(field.shape, phases)]
            field += amplitude * waves[0][:, None, None] * waves[1][None, :, None] * waves[2]
        depth = (4 << 20) // (128 * 128 * np.dtype(dtype).itemsize)
        field = field.astype(dtype)
        yield "smooth", [field[at:at + depth].copy() for at in range(0, 256, depth)]


def value_range(array):
    values = array[np.isfinite(array) & (np.abs(array) < FILL_MAGNITUDE)]
    return float(values.max()) - float(values.min()) if values.size else 0.0


def max_error(array, decoded):
    finite = np.isfinite(array)
    error = np.abs(decoded[finite].astype(np.float64) - array[finite].astype(np.float64))
    return float("inf") if np.isnan(error).any() else float(error.max(initial=0.0))


# ---- contenders ----

class Hdf5Contender:
    """One filter (or none) and its file. filters: list of (id, cd_values)."""

    def __init__(self, name, filters, relative_bound=0.0):
        self.name, self.filters, self.relative_bound = name, filters, relative_bound

    def open(self, folder, chunks, bound):
        filters = self.filters(bound) if callable(self.filters) else self.filters
        chunk = chunks[0]
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((1,) + chunk.shape)
        dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        for filter_id, cd_values in filters:
            dcpl.set_filter(filter_id, h5py.h5z.FLAG_MANDATORY, tuple(cd_values))
        dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        dapl.set_chunk_cache(0, 0, 0.0)
        self.path = os.path.join(folder, "file.h5")
        self.file = h5py.File(self.path, "w", libver="latest")
        shape = (len(chunks),) + chunk.shape
        self.memory_space = h5py.h5s.create_simple((1,) + chunk.shape)
        self.file_space = h5py.h5s.create_simple(shape)
        self.type = h5py.h5t.py_create(chunk.dtype)
        self.dataset = h5py.h5d.create(self.file.id, b"data", self.type, self.file_space,
                                       dcpl=dcpl, dapl=dapl)
        self.count = (1,) + chunk.shape

    def _select(self, index):
        self.file_space.select_hyperslab((index,) + (0,) * (len(self.count) - 1), self.count)

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
        os.unlink(self.path)


class BareContender:
    """A function from array to bytes and one back."""

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


def lossless_contenders():
    deflate, shuffle, szip = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_SZIP
    made = [
        BareContender("memcpy", lambda chunk: chunk.tobytes(),
                      lambda packed, into: np.copyto(
                          into, np.frombuffer(packed, into.dtype).reshape(into.shape))),
        Hdf5Contender("unfiltered", []),
        Hdf5Contender("h5twin sleek", [(480, ())]),
        Hdf5Contender("h5twin fpcompress speed", [(484, (0, 0, 0, 1))]),
        Hdf5Contender("h5twin fpcompress ratio", [(484, (0, 0, 0, 2))]),
        Hdf5Contender("h5twin ndzip", [(483, ())]),
        Hdf5Contender("h5twin gfc", [(481, ())]),
        Hdf5Contender("h5twin e2mc", [(482, ())]),
        Hdf5Contender("h5twin cascade", [(485, ())]),
        Hdf5Contender("gzip -6", [(deflate, (6,))]),
        Hdf5Contender("shuffle + gzip -6", [(shuffle, ()), (deflate, (6,))]),
        Hdf5Contender("Blosc2 lz4", plugin_filter(hdf5plugin.Blosc2(
            cname="lz4", clevel=5, filters=hdf5plugin.Blosc2.SHUFFLE))),
        Hdf5Contender("Blosc2 zstd", plugin_filter(hdf5plugin.Blosc2(
            cname="zstd", clevel=5, filters=hdf5plugin.Blosc2.SHUFFLE))),
        Hdf5Contender("Bitshuffle lz4", plugin_filter(hdf5plugin.Bitshuffle(cname="lz4"))),
        Hdf5Contender("Bitshuffle zstd", plugin_filter(hdf5plugin.Bitshuffle(cname="zstd"))),
        Hdf5Contender("Zfp reversible", plugin_filter(hdf5plugin.Zfp(reversible=True))),
    ]
    if h5py.h5z.filter_avail(szip):
        nearest_neighbour, pixels = 32, 32
        made.append(Hdf5Contender("szip", [(szip, (nearest_neighbour, pixels))]))
    if fpzip is not None:
        made.append(BareContender(
            "fpzip (bare)", lambda chunk: fpzip.compress(merge_axes(chunk, 4), order="C"),
            lambda packed, into: np.copyto(
                into, fpzip.decompress(packed, order="C").reshape(into.shape))))
    if pcodec is not None:
        config = pcodec.ChunkConfig()
        made.append(BareContender(
            "pcodec (bare)", lambda chunk: pcodec.standalone.simple_compress(chunk.ravel(), config),
            lambda packed, into: pcodec.standalone.simple_decompress_into(packed, into.ravel())))
    return made


def merge_axes(chunk, rank):
    return chunk.reshape((-1,) + chunk.shape[-(rank - 1):]) if chunk.ndim > rank else chunk


def lossy_contenders():
    def sleek(bound):
        return [(480, (1,) + struct.unpack("<2I", struct.pack("<d", bound)))]
    makers = {"h5twin sleek": sleek,
              "Zfp": lambda bound: plugin_filter(hdf5plugin.Zfp(accuracy=bound)),
              "SZ3": lambda bound: plugin_filter(hdf5plugin.SZ3(absolute=bound)),
              "Sperr": lambda bound: plugin_filter(hdf5plugin.Sperr(absolute=bound))}
    return [Hdf5Contender(name, maker, relative)
            for name, maker in makers.items() for relative in RELATIVE_BOUNDS]


# ---- measuring ----

class Timings:
    def __init__(self):
        self.encode, self.decode, self.next, self.failure = [], [], 0, None
        self.error = 0.0

    def wants_more(self, repetitions):
        count = len(self.encode)
        if self.failure is not None:
            return False
        if count < 3:
            return True
        if self.encode[0] > SLOW_SECONDS or self.decode[0] > SLOW_SECONDS:
            return False
        return count < repetitions or (
            count < 3 * repetitions and max(spread(self.encode), spread(self.decode)) > LARGE_SPREAD)


def spread(seconds):
    first, median, third = np.quantile(seconds, (0.25, 0.5, 0.75))
    return (third - first) / median


def time_once(contender, chunks, decoded, timings):
    """Encode chunks until the slot is over, then decode the same."""
    first, done = timings.next, 0
    start = now = time.process_time()
    while done < len(chunks) and now - start < SLOT_SECONDS:
        index = (first + done) % len(chunks)
        contender.encode(index, chunks[index])
        done += 1
        now = time.process_time()
    timings.encode.append((now - start) / done)
    start = time.process_time()
    for i in range(done):
        contender.decode((first + i) % len(chunks), decoded)
    timings.decode.append((time.process_time() - start) / done)
    timings.next = (first + done) % len(chunks)


def warm_up(contender, chunks, decoded, timings, folder):
    """Open, write all chunks once, read and check the first. What fails takes no further part."""
    bound = contender.relative_bound * value_range(chunks[0])
    os.makedirs(folder)
    try:
        contender.open(folder, chunks, bound)
        for index, chunk in enumerate(chunks):
            contender.encode(index, chunk)
        contender.decode(0, decoded)
        timings.ratio = sum(chunk.nbytes for chunk in chunks) / sum(
            contender.stored_size(index) for index in range(len(chunks)))
        timings.bound, timings.error = bound, max_error(chunks[0], decoded)
        if not contender.relative_bound and decoded.tobytes() != chunks[0].tobytes():
            raise ValueError("not lossless")
    except Exception as failure:  # a peer may refuse a shape; that is a result too
        lines = str(failure).splitlines()
        timings.failure = lines[0] if lines else type(failure).__name__
        print(f"    {contender.name} {contender.relative_bound or ''} left out: {timings.failure}",
              file=sys.stderr)


def survives(contender, chunks, folder):
    """Whether a warm-up in a process of its own ends without a signal: some peers crash."""
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            warm_up(contender, chunks, np.empty_like(chunks[0]), Timings(), folder + "-trial")
        finally:
            os._exit(0)
    return not os.WIFSIGNALED(os.waitpid(child, 0)[1])


def run_array(name, chunks, contenders, repetitions, folder, writer):
    decoded = np.empty_like(chunks[0])
    all_timings = [Timings() for _ in contenders]
    for number, (contender, timings) in enumerate(zip(contenders, all_timings)):
        own_folder = os.path.join(folder, str(number))
        if survives(contender, chunks[:2], own_folder):
            warm_up(contender, chunks, decoded, timings, own_folder)
        else:
            timings.failure = "crashes"
            print(f"    {contender.name} {contender.relative_bound or ''} left out: it crashes",
                  file=sys.stderr)
    more = True
    while more:
        more = False
        for contender, timings in zip(contenders, all_timings):
            if timings.wants_more(repetitions):
                more = True
                time_once(contender, chunks, decoded, timings)
    gigabytes = chunks[0].nbytes * 1e-9
    memcpy = gigabytes / np.median(all_timings[0].decode)
    for contender, timings in zip(contenders, all_timings):
        if timings.failure is None:
            encode, decode = (gigabytes / np.median(t) for t in (timings.encode, timings.decode))
            writer.writerow([
                name, f"f{8 * chunks[0].itemsize}", chunks[0].nbytes,
                "x".join(map(str, chunks[0].shape)), contender.name,
                f"{contender.relative_bound:g}", f"{timings.ratio:.4f}", f"{encode:.4f}",
                f"{decode:.4f}", f"{encode / memcpy:.4f}", f"{decode / memcpy:.4f}",
                f"{max(spread(timings.encode), spread(timings.decode)):.3f}", len(timings.encode),
                f"{timings.bound:.6g}", f"{timings.error:.6g}"])
            contender.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugins", required=True)
    parser.add_argument("--csv", required=True)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="lossless only")
    arguments = parser.parse_args()

    global np, h5py, hdf5plugin, fpzip, pcodec
    os.environ["HDF5_PLUGIN_PATH"] = os.path.abspath(arguments.plugins)
    import numpy as np
    import h5py
    import hdf5plugin
    try:
        import fpzip
    except ImportError:
        fpzip = None
    try:
        import pcodec
        import pcodec.standalone
    except ImportError:
        pcodec = None

    directory = os.environ.get("H5TWIN_DATA")
    arrays = load_arrays(directory) if directory else generate_arrays()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder, \
            open(arguments.csv, "w", newline="") as output:
        writer = csv.writer(output)
        writer.writerow(["array", "type", "bytes", "dims", "contender", "relative_bound", "ratio",
                         "encode_gbps", "decode_gbps", "encode_to_memcpy", "decode_to_memcpy",
                         "spread", "repetitions", "bound", "max_error"])
        for number, (name, chunks) in enumerate(arrays):
            print(f"  {name} f{8 * chunks[0].itemsize}", file=sys.stderr)
            contenders = lossless_contenders() + ([] if arguments.quick else lossy_contenders())
            run_array(name, chunks, contenders, arguments.repetitions,
                      os.path.join(folder, str(number)), writer)
            output.flush()


if __name__ == "__main__":
    main()
