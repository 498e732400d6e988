# SPDX-License-Identifier: BSD-3-Clause
"""A program that knows nothing of a connector, for the tests of it: random datasets, written and read in random ways.

    vol_program.py random FILE SEED CODECS     what it reads and which errors it gets, a line each
    vol_program.py dump FILE...                what is stored: shapes, properties, chunks, values

SEED may be FIRST:END, for many programs in one process; what each stores is in FILE.SEED.
CODECS is JSON: a list of [filter id, [cd_values]]. Those with a bound are only taken where HDF5 caches no chunks: what
it keeps there it gives back as it was written, until it has to encode it. The same seed does the same, so that the lines of two runs can be
compared, and so can what they leave in their files."""

import hashlib
import json
import sys

import h5py
import numpy as np

TYPES = ["<f4", "<f4", "<f8", ">f4", ">f8", "<i2", "<i4", ">i4", "<u8", "|i1",
         [("a", "<f4"), ("b", "<f4")], [("a", "<f8"), ("b", "<i4")]]
CACHES = [0, 1 << 12, 1 << 16, 1 << 20, 1 << 24]  # bytes


def digest(data):
    data = np.ascontiguousarray(data)
    return f"{data.dtype.str} {data.shape} {hashlib.sha256(data.tobytes()).hexdigest()[:16]}"


def say(*words):
    print(*words, flush=True)


def values(rng, shape, dtype):
    """A smooth field with some noise, and here and there what is no number."""
    dtype = np.dtype(dtype)
    if dtype.names:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            out[name] = values(rng, shape, dtype[name])
        return out
    axes = [np.arange(size).reshape([-1 if i == axis else 1 for i in range(len(shape))]) for axis, size in enumerate(shape)]
    field = sum(np.sin(axis * rng.uniform(0.01, 0.2)) for axis in axes) * 40 + rng.normal(size=shape) * 1e-3
    if dtype.kind in "iu":
        return np.rint(np.abs(field)).astype(dtype)
    field = field.astype(dtype)
    if field.size and rng.random() < 0.2:
        field.reshape(-1)[rng.integers(field.size, size=3)] = [np.nan, np.inf, -0.0]
    return field


class Program:
    def __init__(self, path, seed, codecs):
        self.rng = np.random.default_rng(seed)
        self.path, self.count = path, 0
        self.libver = self.pick(["earliest", "latest", ("v110", "v110")])
        self.caches = self.pick([[0], [None, *CACHES], [None, *CACHES]])
        self.cache = self.pick(self.caches)
        self.codecs = [codec for codec in codecs if not codec[1] or self.caches == [0]]
        self.file = self.open("w")

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def open(self, mode):
        more = {} if self.cache is None else {"rdcc_nbytes": self.cache, "rdcc_nslots": int(self.pick([1, 7, 521])),
                                              "rdcc_w0": float(self.pick([0, 0.75, 1]))}
        return h5py.File(self.path, mode, libver=self.libver, **more)

    def attempt(self, what, action):
        """What HDF5 refuses is an answer, too."""
        try:
            say(what, action())
        except (OSError, RuntimeError, ValueError, TypeError, ArithmeticError) as error:  # the last is an older h5py's
            say(what, type(error).__name__, str(error).replace(str(self.path), "FILE"))
            return error
        return None

    def attempt_write(self, what, data, action):
        """Which chunks a write has reached that fails is not promised: such a dataset is not read any more."""
        name = data.name
        error = self.attempt(what, action)
        if isinstance(error, (OSError, RuntimeError)):
            del self.file[name]
        return error

    # ---- datasets ----

    def create(self):
        rng, rank = self.rng, int(self.pick([1, 1, 2, 2, 3, 4]))
        most = {1: 3000, 2: 90, 3: 24, 4: 11}[rank]
        shape = tuple(int(size) for size in rng.integers(1, most, rank))
        chunk = tuple(int(rng.integers(1, size + 1)) if rng.random() < 0.4 else max(1, size // int(self.pick([2, 3, 4])))
                      for size in shape)
        dtype = np.dtype(self.pick(TYPES))
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(chunk)
        kind = rng.random()
        if kind < 0.85:
            number, words = self.pick(self.codecs)
            if kind < 0.08:
                dcpl.set_shuffle()
            dcpl.set_filter(number, 0, tuple(words))
            if kind > 0.82:
                dcpl.set_fletcher32()
        elif kind < 0.92:
            dcpl.set_deflate(1)
        if rng.random() < 0.4 and not dtype.names:
            dcpl.set_fill_value(np.array(rng.integers(1, 90), dtype))
        grows = tuple(None if rng.random() < 0.5 else size + int(rng.integers(0, 9)) for size in shape)
        name = self.pick(["", "g/", "g/h/"]) + f"d{self.count}"
        if rng.random() < 0.1:  # nothing is ever filled: all of it has to be written, then
            chunk = tuple(size // max(1, size // step) for size, step in zip(shape, chunk))
            shape = grows = tuple(size // step * step for size, step in zip(shape, chunk))
            dcpl.set_chunk(chunk)
            dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            name += "never"
        else:
            dcpl.set_fill_time(int(self.pick([h5py.h5d.FILL_TIME_IFSET, h5py.h5d.FILL_TIME_ALLOC])))
        dcpl.set_alloc_time(int(self.pick([h5py.h5d.ALLOC_TIME_INCR, h5py.h5d.ALLOC_TIME_DEFAULT,
                                           h5py.h5d.ALLOC_TIME_EARLY, h5py.h5d.ALLOC_TIME_LATE])))
        space = h5py.h5s.create_simple(shape, tuple(h5py.h5s.UNLIMITED if size is None else size for size in grows))
        lcpl = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        lcpl.set_create_intermediate_group(True)
        self.count += 1

        def make():
            return bool(h5py.h5d.create(self.file.id, name.encode(), h5py.h5t.py_create(dtype, logical=True), space, dcpl, lcpl))

        self.attempt(f"create {name} {dtype} {shape} {chunk}", make)
        if name.endswith("never") and name in self.file:
            self.write_whole(self.file[name])

    def some(self):
        names = []
        self.file.visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) else None)
        return self.file[self.pick(names)] if names else None

    def box(self, shape, chunk):
        """Often along the chunks."""
        start, stop = [], []
        for size, step in zip(shape, chunk):
            a, b = sorted(int(i) for i in self.rng.integers(0, size + 1, 2))
            if self.rng.random() < 0.6:
                a, b = a // step * step, min(size, -(-b // step) * step)
            start.append(a)
            stop.append(b)
        return tuple(slice(a, b) for a, b in zip(start, stop))

    def selection(self, data):
        kind = self.rng.random()
        if kind < 0.25:
            return ...
        if kind < 0.65:
            return self.box(data.shape, data.chunks)
        if kind < 0.8:
            return tuple(slice(int(self.rng.integers(size + 1)), None, int(self.rng.integers(1, 4))) for size in data.shape)
        axis = int(self.rng.integers(data.ndim))
        rows = sorted({int(i) for i in self.rng.integers(0, data.shape[axis], 5)}) if data.shape[axis] else []
        return tuple(rows if i == axis else slice(None) for i in range(data.ndim))

    # ---- what programs do ----

    def write_whole(self, data):
        self.attempt_write(f"write {data.name}", data, lambda: data.write_direct(values(self.rng, data.shape, data.dtype)))

    def write(self, data):
        where = self.selection(data)
        shape = np.empty(data.shape, "b")[where].shape  # as numpy has it
        dtype = data.dtype
        if self.rng.random() < 0.15 and not dtype.names:
            dtype = np.dtype(self.pick(["<f8", "<f4", "<i4"]))  # to be converted
        new = values(self.rng, shape, dtype)
        if self.rng.random() < 0.2 and new.ndim:
            new = np.asfortranarray(new)
        self.attempt_write(f"write {data.name} {where}", data, lambda: data.__setitem__(where, new))

    def write_from_box(self, data):
        """A box of a larger array in memory."""
        where = self.box(data.shape, data.chunks)
        count = [s.stop - s.start for s in where]
        margin = [int(i) for i in self.rng.integers(0, 4, data.ndim)]
        source = values(self.rng, tuple(n + 2 * m for n, m in zip(count, margin)), data.dtype)
        inner = tuple(slice(m, m + n) for m, n in zip(margin, count))
        self.attempt_write(f"write box {data.name} {where}", data, lambda: data.write_direct(source, inner, where))

    def read(self, data):
        where = self.selection(data)
        self.attempt(f"read {data.name} {where}", lambda: digest(data[where]))

    def read_into_box(self, data):
        where = self.box(data.shape, data.chunks)
        count = [s.stop - s.start for s in where]
        margin = [int(i) for i in self.rng.integers(0, 4, data.ndim)]
        target = np.full(tuple(n + 2 * m for n, m in zip(count, margin)), 7, data.dtype if not data.dtype.names else "b")
        if data.dtype.names:
            target = np.zeros(target.shape, data.dtype)
        inner = tuple(slice(m, m + n) for m, n in zip(margin, count))
        self.attempt(f"read box {data.name} {where}", lambda: data.read_direct(target, where, inner) or digest(target))

    def read_as(self, data):
        if not data.dtype.names:
            dtype = self.pick(["<f8", "<f4", "<i8"])
            self.attempt(f"read {data.name} as {dtype}", lambda: digest(data.astype(dtype)[...]))

    def resize(self, data):
        dcpl = data.id.get_create_plist()
        if dcpl.get_fill_time() == h5py.h5d.FILL_TIME_NEVER:
            return
        # HDF5 (1.14.6 to 2.2.0) shows what was in the file before, where the edge of an unfiltered chunk that it did not cache grows.
        if dcpl.get_nfilters() == 0 and dcpl.get_alloc_time() == h5py.h5d.ALLOC_TIME_LATE:
            return
        shape = tuple(int(min(size + self.rng.integers(-3, 9), grows if grows is not None else 1 << 20))
                      for size, grows in zip(data.shape, data.maxshape))
        self.attempt(f"resize {data.name} {shape}", lambda: data.resize(tuple(max(0, size) for size in shape)))

    def append(self, data):
        """Rows, as models write their time steps."""
        if data.maxshape[0] is None:
            rows = int(self.pick([1, 1, data.chunks[0], 2 * data.chunks[0]]))
            for _ in range(int(self.rng.integers(1, 6))):
                at = data.shape[0]
                data.resize(at + rows, axis=0)
                new = values(self.rng, (rows, *data.shape[1:]), data.dtype)
                if self.attempt_write(f"append {data.name} {rows}", data, lambda: data.__setitem__(slice(at, at + rows), new)):
                    return

    def damage(self, data):
        """A chunk that no filter has made: reading it fails."""
        if data.shape[0] and data.size and data.id.get_num_chunks():
            info = data.id.get_chunk_info(int(self.rng.integers(data.id.get_num_chunks())))
            self.attempt(f"damage {data.name}", lambda: data.id.write_direct_chunk(info.chunk_offset, b"no chunk" * 9))
            self.attempt(f"read {data.name}", lambda: digest(data[...]))
            where = tuple(slice(at, at + step) for at, step in zip(info.chunk_offset, data.chunks))
            new = values(self.rng, np.empty(data.shape, "b")[where].shape, data.dtype)
            self.attempt_write(f"write over {data.name}", data, lambda: data.__setitem__(where, new))

    def direct(self, data):
        """Chunks as they are, past the filters."""
        def read():
            mask, chunk = data.id.read_direct_chunk(where)
            return mask, hashlib.sha256(chunk).hexdigest()[:16]

        if data.id.get_num_chunks():
            where = data.id.get_chunk_info(int(self.rng.integers(data.id.get_num_chunks()))).chunk_offset
            self.attempt(f"chunk {data.name}", read)
            if self.rng.random() < 0.3:
                raw = values(self.rng, data.chunks, data.dtype).tobytes()
                mask = (1 << data.id.get_create_plist().get_nfilters()) - 1
                self.attempt(f"raw chunk {data.name}", lambda: data.id.write_direct_chunk(where, raw, mask))
                self.reopen(data)  # HDF5 (1.14.6 to 2.2.0) takes the chunk's former mask until it looks up another chunk

    def reopen(self, _):
        self.file.close()
        self.cache = self.pick(self.caches)
        self.file = self.open("r+")

    def copy(self, data):
        name = f"copy{self.count}"
        self.count += 1
        # HDF5 (1.14.6 to 2.2.0) copies what its cache holds of a dataset wrongly: with Fletcher32 behind a compressor into a
        # buffer that is too small, and in its newer formats as other chunks if the only dim without a limit is not the first.
        if data.fletcher32 and len(data._filters) > 1:
            return
        if self.cache != 0 and data.maxshape.count(None) == 1 and data.maxshape[0] is not None:
            return
        self.file.copy(data, name)

    def flush(self, data):
        data.flush()
        self.file.flush()

    def rename(self, data):
        self.file.move(data.name, f"moved{self.count}")
        self.count += 1

    def run(self):
        steps = [(self.write, 5), (self.write_from_box, 2), (self.write_whole, 3), (self.read, 5), (self.read_into_box, 2),
                 (self.read_as, 1), (self.resize, 2), (self.append, 2), (self.damage, 0.3), (self.direct, 1), (self.reopen, 1),
                 (self.copy, 0.5), (self.flush, 1), (self.rename, 0.5)]
        weights = np.array([weight for _, weight in steps], float)
        for _ in range(3):
            self.create()
        for _ in range(40):
            if self.rng.random() < 0.08:
                self.create()
            step = steps[self.rng.choice(len(steps), p=weights / weights.sum())][0]
            data = self.some()
            if data is not None:
                step(data)
        self.file.close()


def dump(path):
    with h5py.File(path) as file:
        def visit(name, data):
            if not isinstance(data, h5py.Dataset):
                return
            dcpl = data.id.get_create_plist()
            say(name, data.dtype, data.shape, data.maxshape, data.chunks,
                [dcpl.get_filter(i) for i in range(dcpl.get_nfilters())], data.id.get_storage_size())
            chunks = [data.id.get_chunk_info(i) for i in range(data.id.get_num_chunks())] if data.chunks else []
            for info in sorted(chunks):
                if not dcpl.get_nfilters() and any(at + step > size for at, step, size in
                                                   zip(info.chunk_offset, data.chunks, data.shape)):
                    continue  # beyond the edge HDF5 leaves what was in memory
                try:
                    mask, chunk = data.id.read_direct_chunk(info.chunk_offset)
                    say("  ", info.chunk_offset, mask, info.size, hashlib.sha256(chunk).hexdigest()[:16])
                except (RuntimeError, OSError) as error:  # HDF5 lists chunks that a smaller extent has removed
                    say("  ", info.chunk_offset, error)
            try:
                say("  ", digest(data[...]))
            except OSError as error:
                say("  ", error)
        file.visititems(visit)


if __name__ == "__main__":
    if sys.argv[1] == "dump":
        for path in sys.argv[2:]:
            dump(path)
    elif ":" not in sys.argv[3]:
        Program(sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])).run()
    else:
        for number in range(*map(int, sys.argv[3].split(":"))):
            say("program", number)
            Program(f"{sys.argv[2]}.{number}", number, json.loads(sys.argv[4])).run()
