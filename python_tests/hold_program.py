# SPDX-License-Identifier: BSD-3-Clause
"""A program that appends to datasets and does other things in between, for the tests of append=hold.

    hold_program.py FILE SEED CODECS    what it reads and which errors it gets, a line each

SEED may be FIRST:END, for many programs in one process.
CODECS is JSON: a list of [filter id, [cd_values], bound], bound 0: lossless. What it reads is compared with what it wrote in the program
itself: equal, or within the bound."""

import json
import sys

import h5py
import numpy as np


class Twin:
    """A dataset, its handles, and an array of what was written."""

    def __init__(self, program, name):
        rng = program.rng
        self.program, self.name, self.links = program, name, [name]
        number, words, self.bound = program.codecs[rng.integers(len(program.codecs))]
        self.dtype = np.dtype(["<f4", "<f8", ">f4"][rng.integers(3)])
        rank = int(rng.integers(1, 5))
        rest = tuple(int(n) for n in rng.integers(1, (2000, 60, 12, 6)[rank - 1], rank - 1))
        self.axis = int(rng.integers(rank)) if rank > 1 and rng.random() < 0.2 else 0
        self.chunk = [max(1, int(n * rng.choice([1, 0.5, 0.4]))) for n in rest]
        self.steps = int(rng.integers(1, 12)) * (30 if rank == 1 else 1)
        self.chunk.insert(self.axis, self.steps)
        shape = list(rest)
        shape.insert(self.axis, 0)
        grows = list(rest if rng.random() < 0.7 else [None] * len(rest))
        grows.insert(self.axis, None)
        self.fill = float(rng.integers(0, 3)) * 7
        self.values = np.zeros(shape)
        program.file.create_dataset(name, shape, self.dtype, chunks=tuple(self.chunk), maxshape=tuple(grows), compression=number,
                                    compression_opts=tuple(words) or None, fillvalue=self.fill)

    def handle(self):
        """Any of its handles, through any of its links."""
        rng = self.program.rng
        if rng.random() < 0.8 and self.name in self.program.handles:
            return self.program.handles[self.name]
        data = self.program.file[self.links[rng.integers(len(self.links))]]
        if rng.random() < 0.5:
            self.program.handles[self.name] = data
        return data

    def resize(self, size):
        shape = list(self.values.shape)
        new = list(shape)
        new[self.axis] = size
        self.handle().resize(tuple(new))
        values = np.full(new, self.fill)
        common = tuple(slice(0, min(a, b)) for a, b in zip(shape, new))
        values[common] = self.values[common]
        self.values = values

    def write(self, where):
        rng = self.program.rng
        shape = self.values[where].shape
        new = np.cumsum(rng.normal(size=shape).reshape(-1)).reshape(shape)
        new = new.astype(self.dtype if rng.random() < 0.8 else ["<f8", "<f4"][rng.integers(2)])
        self.handle()[where] = new
        self.values[where] = new.astype(self.dtype)

    def append(self):
        rng = self.program.rng
        rows = int(rng.choice([1, 1, 1, 2, 3, self.steps]))
        for _ in range(int(rng.integers(1, 2 * self.steps + 2)) if rows == 1 and self.steps < 30 else 3):
            at = self.values.shape[self.axis]
            self.resize(at + rows)
            where = [slice(None)] * self.values.ndim
            where[self.axis] = slice(at, at + rows)
            if self.values.ndim > 1 and rng.random() < 0.2:  # a row in two parts
                other = 1 if self.axis == 0 else 0
                half = self.values.shape[other] // 2
                for part in (slice(0, half), slice(half, None)):
                    where[other] = part
                    self.write(tuple(where))
            else:
                self.write(tuple(where))

    def box(self):
        rng = self.program.rng
        where = []
        for size in self.values.shape:
            a, b = sorted(int(i) for i in rng.integers(0, size + 1, 2))
            where.append(slice(a, b))
        return tuple(where)

    def check(self, data, where=...):
        read, wrote = np.asarray(data[where], "f8"), self.values[where]
        difference = np.abs(read - wrote).max(initial=0)
        if difference > self.bound:
            print(f"{self.name} {where}: {difference} off, bound {self.bound}", flush=True)
            self.program.wrong += 1

    def check_whole_link(self, data):
        if data.shape == self.values.shape:
            self.check(data)


class Program:
    def __init__(self, path, seed, codecs):
        self.rng, self.path, self.codecs = np.random.default_rng(seed), path, codecs
        self.wrong, self.handles, self.twins, self.copies = 0, {}, [], 0
        self.more = {"rdcc_nbytes": 2000 if seed % 4 == 3 else 0}
        self.libver = ["earliest", "latest"][self.rng.integers(2)]
        self.file = h5py.File(path, "w", libver=self.libver, **self.more)
        self.twins = [Twin(self, f"d{i}") for i in range(3)]

    # ---- what programs do in between ----

    def read(self, twin):
        twin.check(twin.handle(), twin.box())

    def read_twice(self, twin):
        twin.check(twin.handle())
        twin.check(self.file[twin.name])

    def write_elsewhere(self, twin):
        if twin.values.size:
            twin.write(twin.box())

    def rewrite_last(self, twin):
        at = twin.values.shape[twin.axis]
        if at:
            where = [slice(None)] * twin.values.ndim
            where[twin.axis] = slice(at - 1, at)
            twin.write(tuple(where))

    def strided(self, twin):
        if twin.values.shape[0] > 2:
            twin.write((slice(0, None, 2),))

    def shrink(self, twin):
        twin.resize(int(twin.values.shape[twin.axis] * self.rng.random()))

    def flush(self, twin):
        [self.file.flush, twin.handle().flush][self.rng.integers(2)]()

    def sizes(self, twin):
        data = twin.handle()
        data.id.get_storage_size()
        for i in range(data.id.get_num_chunks() if 0 not in data.shape else 0):
            data.id.get_chunk_info(i)

    def chunk(self, twin):
        """What is there, stored once more past the filters."""
        data = twin.handle()
        if 0 not in data.shape and data.id.get_num_chunks():
            at = data.id.get_chunk_info(int(self.rng.integers(data.id.get_num_chunks()))).chunk_offset
            try:
                mask, stored = data.id.read_direct_chunk(at)
            except (RuntimeError, OSError):  # HDF5 lists chunks that a smaller extent has removed
                return
            data.id.write_direct_chunk(at, stored, mask)

    def copy(self, twin):
        # HDF5 (1.14.6 to 2.2.0) copies what its own cache has of such a dataset wrongly: see vol_program.py.
        grows = self.file[twin.name].maxshape
        if self.more["rdcc_nbytes"] and grows.count(None) == 1 and grows[0] is not None:
            return
        name = f"copy{self.copies}"
        self.copies += 1
        self.file.copy(twin.name, name)
        twin.check_whole_link(self.file[name])
        del self.file[name]

    def link(self, twin):
        if len(twin.links) < 3:
            twin.links.append(f"{twin.name}link{len(twin.links)}")
            self.file[twin.links[-1]] = self.file[twin.name]

    def rename(self, twin):
        name = f"moved{self.copies}"
        self.copies += 1
        self.file.move(twin.links[0], name)
        twin.links[0] = name
        if twin.name in self.handles:
            del self.handles[twin.name]
        twin.name = name

    def delete(self, twin):
        """While rows are held of it."""
        twin.append()
        for name in twin.links:
            del self.file[name]
        self.handles.pop(twin.name, None)
        self.twins.remove(twin)
        self.twins.append(Twin(self, f"new{self.copies}"))
        self.copies += 1

    def close_handle(self, twin):
        self.handles.pop(twin.name, None)

    def virtual(self, twin):
        if 0 in twin.values.shape:
            return
        name = f"virtual{self.copies}"
        self.copies += 1
        layout = h5py.VirtualLayout(twin.values.shape, twin.dtype)
        layout[...] = h5py.VirtualSource(self.file[twin.name])
        data = self.file.create_virtual_dataset(name, layout)
        twin.check(self.file[name])
        self.rewrite_last(twin)
        twin.check(self.file[name])
        where = tuple(slice(0, 1) for _ in twin.values.shape)
        self.file[name][where] = 3
        twin.values[where] = 3
        del data, self.file[name]

    def second_handle_of_file(self, twin):
        with h5py.File(self.path, "r+", libver=self.libver, **self.more) as other:
            twin.check(other[twin.name])
            self.rewrite_last(twin)
            twin.check(other[twin.name])

    def reopen(self, _):
        self.file.close()
        self.handles.clear()
        self.check_all()
        self.file = h5py.File(self.path, "r+", libver=self.libver, **self.more)

    def check_all(self):
        with h5py.File(self.path) as file:
            for twin in self.twins:
                for name in twin.links:
                    twin.check(file[name])

    def run(self):
        steps = [self.read, self.read_twice, self.write_elsewhere, self.rewrite_last, self.strided, self.shrink, self.flush, self.sizes,
                 self.chunk, self.copy, self.link, self.rename, self.delete, self.close_handle, self.virtual,
                 self.second_handle_of_file, self.reopen]
        for _ in range(40):
            for twin in list(self.twins):  # side by side, as models do
                if self.rng.random() < 0.5:
                    twin.append()
            steps[self.rng.integers(len(steps))](self.twins[self.rng.integers(len(self.twins))])
            for twin in self.twins:  # not endless
                if twin.values.size > 60000:
                    twin.resize(0)
        self.file.close()
        self.check_all()
        for twin in self.twins:
            for name in twin.links:
                print(name, twin.values.shape, twin.bound, flush=True)
        print("wrong:", self.wrong)


if __name__ == "__main__":
    seeds = sys.argv[2].split(":")
    for number in range(int(seeds[0]), int(seeds[1]) if len(seeds) > 1 else int(seeds[0]) + 1):
        Program(sys.argv[1], number, json.loads(sys.argv[3])).run()
