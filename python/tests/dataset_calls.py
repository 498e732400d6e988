# SPDX-License-Identifier: BSD-3-Clause
"""A program of h5py's reads and writes, right ones and wrong ones, chosen by a seed: lines that say what each came to.

    dataset_calls.py FOLDER SEED     the same natively and with h5py changed; prints how many lines, and how many
                                     transfers the library did, or the lines that differ"""

import hashlib
import sys
import threading

import h5py
import numpy as np

import h5twin

PADDED = np.dtype({"names": ["a", "b"], "formats": ["<f4", "<f8"], "offsets": [0, 8], "itemsize": 24})
TYPES = ["<f4", "<f8", ">f4", ">f8", "<i4", ">i2", "u1", "?", "c8", "<f2", [("a", "<f4"), ("b", "<f8")], PADDED, ("<f4", (3,)),
         "S5", "V6", h5py.enum_dtype({"x": 1, "y": 2}, "i4"), h5py.string_dtype(), h5py.string_dtype("utf-8", 7),
         h5py.vlen_dtype("f4"), h5py.ref_dtype]
NUMBERS = 10  # the first so many of them
SPECS = [{}, dict(h5twin.Cascade()), dict(h5twin.Lattice()), dict(h5twin.Lattice(abs=1e-3)), dict(h5twin.Sleek(noa=1e-4)),
         {"compression": "gzip"}]


def shown(value):
    if isinstance(value, h5py.Empty):
        return f"Empty {value.dtype}"
    array = np.asarray(value)
    data = repr(array.tolist()) if array.dtype.hasobject else array.tobytes()
    return f"{type(value).__name__} {array.dtype} {array.shape} {array.flags.c_contiguous} " + \
        hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()[:12]


class Program:
    def __init__(self, path, seed):
        self.path, self.rng, self.lines = path, np.random.default_rng(seed), []
        self.file = h5py.File(path, "w", libver=self.pick([None, "latest"]), rdcc_nbytes=self.pick([0, 1 << 10, 1 << 20]))

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def attempt(self, what, action):
        try:
            result = shown(action())
        except Exception as error:  # whatever it is, it must be the same
            result = f"{type(error).__name__} {error}".replace(str(self.path), "FILE")
        self.lines.append(f"{what}: {result}")

    def values(self, shape, dtype):
        dtype = np.dtype(dtype)
        count = int(np.prod(shape, dtype="i8"))
        if dtype == h5py.ref_dtype:
            return np.full(shape, self.file.ref, dtype)
        if h5py.check_vlen_dtype(dtype) is not None:
            out = np.empty(count, object)
            out[:] = [np.arange(i % 4, dtype="f4") for i in range(count)]
            return out.reshape(shape)
        if h5py.check_string_dtype(dtype) is not None and dtype.hasobject:
            return np.array([f"s{i % 7}" for i in range(count)], object).reshape(shape)
        if dtype.names:
            out = np.zeros(shape, dtype)
            for name in dtype.names:
                out[name] = self.values(shape, dtype[name])
            return out
        if dtype.subdtype:
            return self.values((*shape, *dtype.shape), dtype.base)
        field = np.cumsum(self.rng.normal(size=shape), axis=-1) if shape else self.rng.normal(size=())
        with np.errstate(all="ignore"):
            if dtype.kind in "SV":
                return np.frombuffer(self.rng.bytes(count * dtype.itemsize), dtype).reshape(shape) if dtype.kind == "V" else \
                    np.abs(field * 10).astype("i4").astype(dtype)
            return (field * 10).astype(dtype)

    def make(self, name):
        rank = self.pick([0, 1, 1, 2, 2, 3])
        most = {0: 0, 1: 5000, 2: 90, 3: 24}[rank]
        shape = tuple(int(i) for i in self.rng.integers(0 if self.rng.random() < 0.1 else 1, most, rank)) if rank else ()
        dtype = np.dtype(self.pick(TYPES[:NUMBERS] if self.rng.random() < 0.8 else TYPES))
        more = {}
        spec = self.pick(SPECS)
        if spec and shape and min(shape):
            more = dict(spec, chunks=tuple(int(self.rng.integers(1, size + 1)) for size in shape))
            if self.rng.random() < 0.2:
                more["fillvalue"] = np.zeros((), dtype)[()] if dtype.kind not in "fiu" else 3
            if self.rng.random() < 0.3:
                more["maxshape"] = (None,) * rank
            if self.rng.random() < 0.1:
                more["shuffle"] = True
        if self.rng.random() < 0.5 and dtype.subdtype is None:
            self.attempt(f"create {name} {dtype} {shape} {more}",
                         lambda: bool(self.file.create_dataset(name, data=self.values(shape, dtype), dtype=dtype, **more)))
        else:
            self.attempt(f"create {name} {dtype} {shape} {more}",
                         lambda: bool(self.file.create_dataset(name, shape, dtype, **more)))

    def selection(self, shape):
        kind = self.rng.random()
        if kind < 0.2:
            return self.pick([..., (), slice(None), (..., slice(None))])
        if kind < 0.7:
            parts = [self.pick([slice(*sorted(int(i) for i in self.rng.integers(-2, size + 2, 2))), slice(None),
                                slice(int(self.rng.integers(-size - 1, size + 1)), None), int(self.rng.integers(-size - 1, size + 1))])
                     for size in shape]
            if parts and self.rng.random() < 0.3:
                parts[int(self.rng.integers(len(parts)))] = ...
            return tuple(parts[:int(self.rng.integers(1, len(parts) + 1))]) if parts else ()
        if kind < 0.8:
            return tuple(slice(int(self.rng.integers(size + 1)), None, int(self.rng.integers(1, 4))) for size in shape)
        if kind < 0.95 and shape:
            axis = int(self.rng.integers(len(shape)))
            rows = sorted({int(i) for i in self.rng.integers(0, shape[axis] + 1, 4)})
            return tuple(self.pick([rows, np.array(rows)]) if i == axis else slice(None) for i in range(len(shape)))
        if kind < 0.97:
            return self.rng.random(shape) < 0.5
        return self.pick([(0,) * 9, (..., ...), 1.5, "a", ("a", 0), "nothing", ([3, 1],), np.int64(0), True, slice(None, None, -1), None])

    def like(self, data, where):
        """An array for a selection, of a shape that is right, to be broadcast, or wrong."""
        try:
            shape = np.empty(data.shape or (), "b")[where].shape
        except Exception:
            shape = (3,)
        dtype = data.dtype
        if dtype.hasobject:  # of wrong ones h5py itself may crash
            return self.values(shape, dtype)
        chance = self.rng.random()
        if chance < 0.1:
            return self.pick([0, 1.5, "x", b"x", [1, 2], None, np.zeros(()), np.zeros((2, 2)), (1, 2)])
        if chance < 0.15:
            shape = shape[1:]
        elif chance < 0.2:
            shape = (1, *shape)
        elif chance < 0.25 and shape:
            shape = (shape[0] + 1, *shape[1:])
        if self.rng.random() < 0.2 and dtype.kind in "iuf":
            dtype = np.dtype(self.pick(["<f8", ">f4", "<i4", "f2"]))
        array = self.values(shape, dtype)
        form = self.rng.random()
        if form < 0.15:
            return np.asfortranarray(array)
        if form < 0.25 and array.ndim:
            return np.repeat(array, 2, axis=0)[::2]
        if form < 0.3:
            return array[::-1] if array.ndim else array
        if form < 0.35 and array.dtype.kind in "iuf":
            return np.ma.masked_array(array)
        if form < 0.4 and not array.dtype.hasobject:
            return array.tolist()
        return array

    def step(self, data):
        name, shape, pick = data.name, data.shape or (), self.pick
        where = self.selection(shape)
        kind = int(self.rng.integers(15))
        if kind < 4:
            self.attempt(f"read {name} {where}", lambda: data[where])
        elif kind < 7:
            array = self.like(data, where)
            self.attempt(f"write {name} {where} {type(array)}", lambda: data.__setitem__(where, array))
        elif kind == 7:
            def read():
                out = np.zeros(tuple(size + pick([0, 0, 0, 1]) for size in shape), pick([data.dtype, "f4"]), order=pick("CCCF"))
                out.flags.writeable = pick([True, True, True, False])
                data.read_direct(out, pick([None, None, np.s_[...], where]), pick([None, None, np.s_[...], where]))
                return out
            self.attempt(f"read_direct {name}", read)
        elif kind == 8:
            array = self.like(data, ...)
            self.attempt(f"write_direct {name}", lambda: data.write_direct(array, pick([None, None, where]), pick([None, None, where])))
        elif kind == 9:
            self.attempt(f"astype {name}", lambda: data.astype(pick(["f4", "<f8", "i8", ">i4", "S3"]))[where])
        elif kind == 10:
            names = pick([["a"], "a", ["b", "a"], ["z"]])
            self.attempt(f"fields {name}", lambda: data.fields(names)[where])
            if self.rng.random() < 0.3:
                self.attempt(f"write field {name}", lambda: data.__setitem__(("a", where) if not isinstance(where, tuple) else ("a", *where), 3))
        elif kind == 11:
            self.attempt(f"array {name}", lambda: np.asarray(data))
            self.attempt(f"iterate {name}", lambda: np.array([shown(row) for row in data]))
            self.attempt(f"len {name}", lambda: len(data))
        elif kind == 12:
            self.attempt(f"region {name}", lambda: data[data.regionref[where]])
            self.attempt(f"strings {name}", lambda: data.asstr()[where])
        elif kind == 13:
            new = tuple(int(i) for i in self.rng.integers(0, 30, len(shape)))
            self.attempt(f"resize {name} {new}", lambda: data.resize(new))
        else:
            self.low_level(data, where)

    def low_level(self, data, where):
        """As libraries do that go below h5py.Dataset."""
        def read(identifier=data.id):
            out = np.zeros(data.shape or (), data.dtype)
            identifier.read(h5py.h5s.ALL, h5py.h5s.ALL, out, self.pick([None, h5py.h5t.py_create(data.dtype)]))
            return out
        self.attempt(f"low {data.name}", read)
        self.attempt(f"other low {data.name}", lambda: read(h5py.h5d.open(self.file.id, data.name.encode())))
        self.attempt(f"no array {data.name}", lambda: data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, [1]))
        self.attempt(f"no space {data.name}", lambda: data.id.write(None, h5py.h5s.ALL, np.zeros(1)))
        self.attempt(f"equal {data.name}", lambda: (data.id == self.file[data.name].id, data == self.file[data.name],
                                                    hash(data.id) == hash(self.file[data.name].id), bool(data.id)))

    def others(self):
        """Layouts that have no chunks of ours, and sources that have."""
        file = self.file
        file.create_dataset("empty", data=h5py.Empty("f4"))
        file.create_dataset("scalar", data=2.5)
        file.create_dataset("external", (100,), "f4", external=[(str(self.path) + ".raw", 0, 400)])
        layout = h5py.VirtualLayout((5000,), "f4")
        if "d0" in file:
            layout[:10] = h5py.VirtualSource(".", "d0", (10,))
        file.create_virtual_dataset("virtual", layout)
        return ["empty", "scalar", "external", "virtual"]

    def steps(self, count, names):
        for _ in range(count):
            data = self.file[self.pick(names)]
            if data.name != "/external" or self.file.mode == "r+":
                self.step(data)

    def threads(self):
        def work(index):
            data = self.file[f"t{index}"]
            for value in range(3):
                data[...] = value + index
                lines[index] += shown(data[...]) + shown(data[5:300])
        lines = [""] * 4
        for index in range(4):
            self.file.create_dataset(f"t{index}", (20000,), "f4", chunks=(3000,), **h5twin.Cascade())
        workers = [threading.Thread(target=work, args=(index,)) for index in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.lines += lines

    def run(self):
        for index in range(4):
            self.make(f"d{index}")
        names = [name for name in self.file] + self.others()
        self.steps(60, names)
        self.threads()
        self.file.close()
        self.attempt("closed", lambda: self.file["d0"])
        self.file = h5py.File(self.path, "r")  # nothing can be written now
        self.steps(30, names)
        closed = self.file[names[0]]
        self.file.close()
        self.attempt("closed dataset", lambda: closed[...])
        self.swmr()
        return self.lines

    def swmr(self):
        with h5py.File(f"{self.path}.swmr", "w", libver="latest") as file:
            data = file.create_dataset("x", (0, 500), "f4", maxshape=(None, 500), chunks=(4, 100), **h5twin.Cascade())
            file.swmr_mode = True
            for rows in range(0, 30, 10):
                data.resize(rows + 10, axis=0)
                data[rows:] = self.values((10, 500), "f4")
                data.flush()
                self.attempt("swmr", lambda: data[...])
        with h5py.File(f"{self.path}.swmr", "r", swmr=True) as file:
            self.attempt("swmr reader", lambda: file["x"][...])
            file["x"].refresh()
            self.attempt("swmr reader", lambda: file["x"][:, 3])


def stored(path):
    lines = []
    with h5py.File(path) as file:
        def visit(name, data):
            if isinstance(data, h5py.Dataset) and data.chunks and not data.dtype.hasobject:
                infos = sorted((data.id.get_chunk_info(i) for i in range(data.id.get_num_chunks())), key=lambda info: info.chunk_offset)
                lines.extend(f"{name} {info.chunk_offset} {hashlib.sha256(data.id.read_direct_chunk(info.chunk_offset)[1]).hexdigest()}"
                             for info in infos)
        file.visititems(visit)
    return lines


def main(folder, seed):
    import h5twin.auto
    from h5twin import _dataset_ids
    done, transfer = [], _dataset_ids._library.transfer

    def noting(*arguments):
        result = transfer(*arguments)
        done.append(result[0])
        return result
    _dataset_ids._library.transfer = noting
    h5twin.auto.off()
    native = Program(f"{folder}/native.h5", seed).run() + stored(f"{folder}/native.h5")
    h5twin.auto.on(connector=False)
    assert not done
    ours = Program(f"{folder}/ours.h5", seed).run()
    h5twin.auto.off()
    ours += stored(f"{folder}/ours.h5")
    for one, other in zip(native, ours):
        if one.replace("native.h5", "ours.h5") != other:
            print(f"natively {one}\nwith us  {other}")
    print(len(native), len(ours), done.count(1))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
