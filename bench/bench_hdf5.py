# SPDX-License-Identifier: BSD-3-Clause
"""bench_hdf5.py: h5twin's filters and others through H5Dwrite and H5Dread, as CSV.

Every filter codes the same chunks, one H5Dwrite or H5Dread each, into an own file on tmpfs, with
HDF5's chunk cache off so that each call runs the filter. The first pass allocates the file, later
ones overwrite it. Bare compressors code the same chunks from memory to memory. All take turns; medians
of processor time, one thread. README.md of this folder has the columns.

    bench_hdf5.py --plugins build/plugins --library build/lib/libh5twin.so --csv OUT.csv
                  [--repetitions N] [--quick]
"""

import argparse
import csv
import os
import pathlib
import sys
import tempfile
import time

for variable in ("H5TWIN_NUM_THREADS", "OMP_NUM_THREADS", "BLOSC_NTHREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

SLOT_SECONDS = 0.02
SLOW_SECONDS = 0.25
LARGE_SPREAD = 0.10
DATASET_BYTES = 16 << 20
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


def count_marks(array):
    return int(np.count_nonzero(np.isfinite(array) & (np.abs(array) >= FILL_MAGNITUDE)))


def max_error(array, decoded):
    finite = np.isfinite(array)
    error = np.abs(decoded[finite].astype(np.float64) - array[finite].astype(np.float64))
    return float("inf") if np.isnan(error).any() else float(error.max(initial=0.0))


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
    marks = count_marks(chunks[0])
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
                "x".join(map(str, chunks[0].shape)), contender.path, contender.name,
                f"{contender.relative_bound:g}", f"{timings.ratio:.4f}", f"{encode:.4f}",
                f"{decode:.4f}", f"{encode / memcpy:.4f}", f"{decode / memcpy:.4f}",
                f"{max(spread(timings.encode), spread(timings.decode)):.3f}", len(timings.encode),
                f"{timings.bound:.6g}", f"{timings.error:.6g}", marks])
            contender.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugins", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--csv", required=True)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="lossless only")
    arguments = parser.parse_args()

    os.environ["HDF5_PLUGIN_PATH"] = os.path.abspath(arguments.plugins)
    os.environ["H5TWIN_LIBRARY"] = os.path.abspath(arguments.library)
    import hdf5_contenders  # loads HDF5, which reads the first of these

    directory = os.environ.get("H5TWIN_DATA")
    arrays = load_arrays(directory) if directory else generate_arrays()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder, \
            open(arguments.csv, "w", newline="") as output:
        writer = csv.writer(output)
        writer.writerow(["array", "type", "bytes", "dims", "path", "contender", "relative_bound", "ratio",
                         "encode_gbps", "decode_gbps", "encode_to_memcpy", "decode_to_memcpy",
                         "spread", "repetitions", "bound", "max_error", "marks"])
        for number, (name, chunks) in enumerate(arrays):
            print(f"  {name} f{8 * chunks[0].itemsize}", file=sys.stderr)
            contenders = hdf5_contenders.bare_contenders() + hdf5_contenders.lossless_contenders() + (
                [] if arguments.quick else hdf5_contenders.lossy_contenders())
            run_array(name, chunks, contenders, arguments.repetitions,
                      os.path.join(folder, str(number)), writer)
            output.flush()


if __name__ == "__main__":
    main()
