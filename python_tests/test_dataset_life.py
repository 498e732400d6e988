# SPDX-License-Identifier: BSD-3-Clause
"""Random lives of datasets: written in parts through this HDF5, extended, closed and opened with chunk
caches of any size, repacked, copied, read by another HDF5.

After each step everything is compared with what was written there last. A batch is one file whose
datasets have one filter in common, so that tools which take a file are not started for each of them.

H5TWIN_DATASET_LIVES=N      so many, instead of those of every run
H5TWIN_DATASET_BATCH=SEED   this batch alone
"""

import collections
import math
import os
import pathlib
import shutil
import subprocess
import sys
from fractions import Fraction

import h5py
import numpy as np
import pytest

from conftest import COMMAND, FILTER_IDS, FLOATS, LOSSY_CODECS, PLUGINS, bound_words, run_tool

LIVES = int(os.environ.get("H5TWIN_DATASET_LIVES", 720))
ONE_BATCH = os.environ.get("H5TWIN_DATASET_BATCH")
PARTS = 2  # of the batches, for as many processors
BATCH = 24
FOUND = [957, 2346, 2913, 3122, 100594, 200323, 500667]  # batches that have found something, for every run
STEPS = 4
RELATIVE = ("lattice",)
LOSSLESS = sorted(set(FILTER_IDS) - set(LOSSY_CODECS))
# Bits of words 3 and 4, lattice: effort, and stable.
EFFORTS = {"": 0, "effort=fast": 1, "effort=balanced": 2}
STABLE = {"": 0, "stable=no": 4, "stable=yes": 8, "stable=auto": 12}
MARKS = [-9999.0, -9999.9, 1e20, 9.969209968386869e36, 0.0, -1.0, 280.0]
MODES = {"abs": 1, "noa": 2, "rel": 3}


class Spec:
    """A codec, its mode and options, and a fill value that is named to it."""

    def __init__(self, rng):
        self.is_lossy = rng.random() < 0.9
        self.codec = str(rng.choice(LOSSY_CODECS if self.is_lossy else LOSSLESS))
        modes = list(MODES) if self.codec in RELATIVE else ["abs", "noa"]
        self.mode = str(rng.choice(modes)) if self.is_lossy else "exact"
        self.scale = float(10.0 ** rng.integers(-2, 4))
        bound = float(10 ** rng.uniform(-7, -0.31))
        if rng.random() < 0.5:
            bound = float(f"{bound:.0e}")
        self.bound = bound * self.scale if self.mode == "abs" else min(bound, 0.5)
        self.named = float(rng.choice(MARKS)) if self.is_lossy and rng.random() < 0.4 else None
        self.effort = self.stable = ""
        if self.codec == "lattice" and self.is_lossy:
            self.effort, self.stable = str(rng.choice(list(EFFORTS))), str(rng.choice(list(STABLE)))
        if not self.is_lossy:
            self.named = None

    def cd_values(self):
        if not self.is_lossy:
            return None
        words = (MODES[self.mode], *bound_words(self.bound), EFFORTS[self.effort] | STABLE[self.stable], 0)
        return words if self.named is None else (*words, *bound_words(self.named))

    def __str__(self):
        if not self.is_lossy:
            return self.codec
        parts = [f"{self.mode}={self.bound!r}", self.effort, self.stable]
        parts.append("" if self.named is None else f"fill={self.named!r}")
        return f"{self.codec}:" + ",".join(filter(None, parts))

    def lasts_for_life(self):
        """Whether the bound holds however often a chunk is coded."""
        return self.mode == "exact" or self.mode != "noa" and self.stable != "stable=no"


def field(rng, shape, scale, marks, dtype):
    """Numbers as people have them, with marks of missing data."""
    kind = rng.integers(9)
    base = float(rng.choice([0, 0, 1, 280, 0.1, scale]))
    at = np.indices(shape).astype("f8")
    slopes = rng.uniform(0, 0.9, len(shape))
    wave = np.sin(sum(s * a for s, a in zip(slopes, at)) + rng.uniform(0, 6))
    noise = rng.uniform(-1, 1, shape)
    if kind == 0:  # a plume
        distance = sum(((a - rng.uniform(0, n)) / 3) ** 2 for a, n in zip(at, shape))
        values = base + scale * np.maximum(0, 1 - distance) ** 2
    elif kind == 1:
        values = base + scale * np.floor(2 * wave)
    elif kind == 2:
        values = np.where(rng.random(shape) < 0.08, base + scale * noise, base)
    elif kind == 3:
        values = base * (1 + 1e-7 * noise)
    elif kind == 4:
        values = base + scale * noise
    elif kind == 5:
        values = base + scale * (wave + 0.01 * noise)
    elif kind == 6:
        values = base + 1e-4 * scale * wave
    elif kind == 7:
        values = np.round(100 * (base + wave)) / 100
    else:
        values = 280 + scale * 1e-2 * wave
    if rng.random() < 0.4 and marks:
        mark = float(rng.choice(marks))
        where = rng.random(shape) < rng.choice([0.02, 0.3])
        values = np.where(where, mark, values)
    return values.astype(dtype)


def bits(values):
    values = np.ascontiguousarray(values)
    return values.astype(values.dtype.newbyteorder("=")).view(f"u{values.dtype.itemsize}")


def all_within(errors, bounds, a, b, exact_bound):
    """errors <= bounds, which are rounded: where that may matter, in fractions."""
    with np.errstate(invalid="ignore", over="ignore"):
        clear = errors < bounds * (1 - 2.0**-40)
        beyond = errors > bounds * (1 + 2.0**-40)
    if beyond.any():
        return False
    return all(abs(Fraction(float(a[i])) - Fraction(float(b[i]))) <= exact_bound(i) for i in np.flatnonzero(~clear))


class Life:
    def __init__(self, rng, spec, number):
        self.rng, self.spec, self.name = rng, spec, f"x{number}"
        self.dtype = np.dtype(str(rng.choice(FLOATS)))
        rank = int(rng.integers(1, 4))
        limit = {1: 120, 2: 24, 3: 9}[rank]
        self.shape = tuple(int(n) for n in rng.integers(1, limit, rank))
        self.chunks = tuple(int(n) for n in rng.integers(1, limit, rank))
        self.grows = [bool(g) for g in rng.random(rank) < 0.5]
        # A chunk may be larger than an axis only if that can grow.
        self.chunks = tuple(c if g else min(c, n) for c, n, g in zip(self.chunks, self.shape, self.grows))
        self.declared = None
        if rng.random() < 0.6:
            self.declared = self.dtype.type(rng.choice(MARKS + [np.nan, 1e30]))
        self.fill_time = str(rng.choice(["ifset", "alloc", "never"], p=[0.6, 0.3, 0.1]))
        self.empty = self.dtype.type(0) if self.declared is None else self.declared
        self.wanted = np.full(self.shape, self.empty, self.dtype)
        self.age = np.zeros(self.shape, "i4")  # codings that a value may have gone through; 0: none
        self.low, self.high = math.inf, -math.inf
        self.is_whole = False  # all was written at once, and nothing since
        self.writes, self.codec = 0, spec.codec
        self.has_junk = False  # where nothing was written
        self.bounds = 1  # how many more a change of codecs may cost

    def marks(self):
        """Values that must come back bit for bit."""
        return [self.dtype.type(m) for m in (self.declared, self.spec.named) if m is not None]

    def counting(self, values):
        """Which count for a range: -0 does, beside a mark of 0."""
        counts = np.isfinite(values)
        for mark in self.marks():
            counts &= bits(values) != bits(np.array([mark], self.dtype))[0]
        return counts

    def create(self, file):
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(self.chunks)
        if self.declared is not None:
            dcpl.set_fill_value(np.array(self.declared, self.dtype))
        dcpl.set_fill_time({"ifset": h5py.h5d.FILL_TIME_IFSET, "alloc": h5py.h5d.FILL_TIME_ALLOC,
                            "never": h5py.h5d.FILL_TIME_NEVER}[self.fill_time])
        dcpl.set_filter(FILTER_IDS[self.spec.codec], 0, self.spec.cd_values() or ())
        most = tuple(h5py.h5s.UNLIMITED if g else n for g, n in zip(self.grows, self.shape))
        space = h5py.h5s.create_simple(self.shape, most)
        h5py.h5d.create(file.id, self.name.encode(), h5py.h5t.py_create(self.dtype, logical=True), space, dcpl)

    def new_field(self):
        marks = MARKS[:4] + [np.nan, np.inf, -np.inf, -0.0] + [float(m) for m in self.marks()]
        values = field(self.rng, self.shape, self.spec.scale, marks, self.dtype)
        counted = values[self.counting(values)].astype("f8")
        if counted.size:
            self.low, self.high = min(self.low, counted.min()), max(self.high, counted.max())
        return values

    def part(self):
        """A box, rows, or every so many of an axis."""
        rng, where = self.rng, [slice(None)] * len(self.shape)
        way, axis = rng.integers(4), rng.integers(len(self.shape))
        for a, extent in enumerate(self.shape):
            begin = int(rng.integers(extent))
            if way == 0 or way == 1 and a == axis:
                where[a] = slice(begin, int(rng.integers(begin, extent)) + 1)
            elif way == 2:
                where[a] = slice(begin, begin + 1)
            elif way == 3 and a == axis:
                where[a] = slice(begin % 2, None, int(rng.integers(1, 4)))
        return tuple(where)

    def write(self, file):
        values, what = self.new_field(), self.rng.integers(10)
        self.writes += 1
        self.is_whole = what == 0
        if what == 0:
            file[self.name][...] = self.wanted = values
            where = ...
        elif what == 1:  # points
            where = self.rng.random(self.shape) < 0.1
            if where.any():
                file[self.name][where] = values[where]
        elif what == 2:  # as if never written
            where = self.part()
            values[...] = self.empty
            file[self.name][where] = values[where]
        else:
            where = self.part()
            file[self.name][where] = values[where]
        self.wanted[where] = values[where]
        self.age[self.age > 0] += 1
        self.age[where] = 1

    def append(self, file):
        if not any(self.grows):
            return
        more = tuple(int(self.rng.integers(1, 6)) if g else 0 for g in self.grows)
        shape = tuple(n + m for n, m in zip(self.shape, more))
        file[self.name].resize(shape)
        old, old_age = self.wanted, self.age
        self.wanted, self.age = np.full(shape, self.empty, self.dtype), np.zeros(shape, "i4")
        inside = tuple(slice(n) for n in self.shape)
        self.wanted[inside], self.age[inside] = old, old_age
        self.age[self.age > 0] += 1
        self.shape, self.is_whole = shape, False

    def live(self, file):
        if self.rng.random() < 0.25:
            self.append(file)
        self.write(file)

    def check(self, found):
        """What is wrong, or None."""
        if found.dtype != self.dtype or found.shape != self.shape:
            return "type or shape"
        a_bits, b_bits = bits(self.wanted).ravel(), bits(found).ravel()
        a, b, age = self.wanted.ravel().astype("f8"), found.ravel().astype("f8"), self.age.ravel()
        unwritten = age == 0
        if self.fill_time == "never":
            junk = b[unwritten & np.isfinite(b)]
            if self.has_junk and junk.size:
                self.low, self.high = min(self.low, junk.min()), max(self.high, junk.max())
        elif self.may_move_zeros():
            age, unwritten = np.where(unwritten, self.writes + 1, age), np.zeros(age.shape, bool)
        elif (a_bits != b_bits)[unwritten].any():
            return "never written"
        exact = ~np.isfinite(a)
        for mark in self.marks():
            exact |= a_bits == bits(np.array([mark], self.dtype))[0]
        if self.spec.mode == "rel":
            exact |= np.abs(a) < np.finfo(self.dtype).tiny
        if self.spec.mode == "exact":
            exact[:] = True
        exact &= ~unwritten
        if (a_bits != b_bits)[exact].any():
            return "exact values"
        rest = ~exact & ~unwritten & (a_bits != b_bits)
        if not np.isfinite(b[rest]).all():
            return "finite values"
        return None if self.is_within(a, b, age, rest) else "bound"

    def may_move_zeros(self):
        """lattice may take zeros that nobody declared for values of the data, but where they matter to a
        range or a bound of 0."""
        spec = self.spec
        return (spec.codec, spec.mode, spec.stable) == ("lattice", "abs", "stable=no") and self.declared is None

    def is_within(self, a, b, age, rest):
        spec, more = self.spec, self.bounds
        a_rest, b_rest, times = a[rest], b[rest], age[rest] * more
        errors = np.abs(a_rest - b_rest)
        if spec.mode == "noa" and self.is_whole and more == 1:
            ranges = self.chunk_ranges().ravel()[rest]
            return all_within(errors, spec.bound * ranges, a_rest, b_rest,
                              lambda i: Fraction(spec.bound) * Fraction(float(ranges[i])) * (1 + Fraction(1, 2**50)))
        if spec.lasts_for_life() and more == 1:
            if spec.mode == "abs":
                return all_within(errors, np.full(errors.shape, spec.bound), a_rest, b_rest,
                                  lambda i: Fraction(spec.bound))
            return all_within(errors, spec.bound * np.abs(a_rest), a_rest, b_rest,
                              lambda i: Fraction(spec.bound) * abs(Fraction(float(a_rest[i]))))
        if spec.lasts_for_life():
            times = np.full(errors.shape, more)
        elif spec.codec == "sleek" and more == 1:
            times = np.minimum(times, 2)  # powers of two: coarser grids at most double the error
        if spec.mode == "rel":
            return (errors <= ((1 + spec.bound) ** times - 1) * np.abs(a_rest) * (1 + 1e-9)).all()
        # Of noa: decoded values, too, count for the range of the next coding.
        unit = spec.bound if spec.mode == "abs" else spec.bound * max(0, self.high - self.low)
        growth = 1 if spec.mode == "abs" else 1 + 2 * (self.writes + 2) * spec.bound
        return (errors <= times * unit * growth * (1 + 1e-9)).all()

    def chunk_ranges(self):
        """The range of each value's chunk, of values that count; subtracted in floating point."""
        ranges = np.zeros(self.shape)
        counts = self.counting(self.wanted)
        for begin in np.ndindex(*(-(-n // c) for n, c in zip(self.shape, self.chunks))):
            where = tuple(slice(i * c, (i + 1) * c) for i, c in zip(begin, self.chunks))
            inside = self.wanted[where][counts[where]].astype("f8")
            ranges[where] = inside.max() - inside.min() if inside.size else 0
        return ranges


class Batch:
    def __init__(self, seed, folder):
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.spec = Spec(self.rng)
        self.path = folder / f"batch{seed}.h5"
        self.lives = [Life(self.rng, self.spec, i) for i in range(BATCH)]
        self.broken = []

    def report(self, life, step, what):
        spec = self.spec
        declared = "" if life.declared is None else " declared"
        named = "" if spec.named is None else " named"
        kind = f"{spec.codec} {spec.mode} {spec.stable}{declared}{named}: {what} after {step}"
        self.broken.append((kind, f"H5TWIN_DATASET_BATCH={self.seed}, {spec}, {life.name} {life.dtype.str} "
                                  f"{life.shape} in {life.chunks}, fill {life.declared}"))

    def check(self, path, step):
        with h5py.File(path) as file:
            for life in list(self.lives):
                what = life.check(file[life.name][()])
                if what is not None:
                    self.report(life, step, what)
                    self.lives.remove(life)

    def open(self, mode):
        cache = int(self.rng.choice([0, 0, 1000, 1 << 20]))
        return h5py.File(self.path, mode, rdcc_nbytes=cache)

    def live(self):
        with self.open("w") as file:
            for life in list(self.lives):
                try:
                    life.create(file)
                    life.live(file)
                except (ValueError, RuntimeError, OSError) as error:
                    self.report(life, "creation", str(error).splitlines()[0])
                    self.lives.remove(life)
        self.check(self.path, "creation")
        for _ in range(int(self.rng.integers(1, STEPS))):
            with self.open("a") as file:
                for life in self.lives:
                    for _ in range(int(self.rng.integers(1, 4))):
                        life.live(file)
                    if self.rng.random() < 0.3:
                        file.flush()
            self.check(self.path, "writing")

    def older(self):
        """All chunks were decoded and coded again."""
        for life in self.lives:
            life.age[life.age > 0] += 1

    def repack(self):
        """By HDF5's, into other chunks; by ours, the same, and with another codec."""
        chunks = {}
        for life in self.lives:
            chunks.setdefault(len(life.shape), []).append(life.name)
        layouts = [("-l", f"{','.join(names)}:CHUNK={'x'.join(str(self.rng.integers(2, 9)) for _ in range(rank))}")
                   for rank, names in chunks.items()]
        again = self.path.with_suffix(".again")
        for life in self.lives:
            life.is_whole = False
        way = int(self.rng.integers(3))
        if way == 0:
            for life in self.lives:  # h5repack writes what its memory held where nothing was filled in
                life.has_junk = life.fill_time == "never"
            run_tool("h5repack", *sum(layouts, ()), self.path, again)
        elif way == 1:
            run_tool(COMMAND, "repack", "--quiet", "--codec", str(self.spec),
                     "--chunks", str(self.rng.choice(["keep", "auto"])), self.path, again)
        else:
            with h5py.File(self.path) as old, h5py.File(again, "w") as new:
                for life in self.lives:
                    old.copy(life.name, new, name=life.name)
        self.older()
        self.check(again, ("h5repack", "h5twin repack", "H5Ocopy")[way])
        if way == 1 and self.spec.mode in ("abs", "noa") and self.rng.random() < 0.3:
            other = "sleek" if self.spec.codec == "lattice" else "lattice"
            self.recode(again, other)
        again.unlink()

    def recode(self, path, other):
        recoded = self.path.with_suffix(".recoded")
        named = "" if self.spec.named is None else f",fill={self.spec.named!r}"
        spec = f"{other}:{self.spec.mode}={self.spec.bound!r}{named}"
        run_tool(COMMAND, "repack", "--quiet", "--codec", spec, path, recoded)
        for life in self.lives:
            life.bounds, life.codec = 2, other
        self.older()
        self.check(recoded, "h5twin repack to another codec")
        recoded.unlink()


def run_batches(seeds, folder):
    kinds, examples, lives = collections.Counter(), {}, 0
    for seed in seeds:
        batch = Batch(seed, folder)
        batch.live()
        batch.repack()
        batch.path.unlink()
        lives += BATCH
        for kind, example in batch.broken:
            kinds[kind] += 1
            examples.setdefault(kind, example)
    return lives, [f"{count} times {kind}: {examples[kind]}" for kind, count in kinds.most_common()]


def fast_folder(tmp_path_factory):
    """In memory, where there is such a place."""
    return pathlib.Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path_factory.getbasetemp()


@pytest.fixture
def folder(tmp_path_factory):
    path = fast_folder(tmp_path_factory) / f"h5twin-life-{os.getpid()}"
    path.mkdir()
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_life_keeps_its_promises(part, folder):
    if not LOSSY_CODECS:
        pytest.skip("no lossy codec among those asked for")
    if shutil.which("h5repack") is None:
        pytest.skip("h5repack is not installed")
    seeds = [*range(-(-LIVES // BATCH)), *FOUND][part::PARTS] if ONE_BATCH is None else [int(ONE_BATCH)]
    lives, broken = run_batches(seeds, folder)
    print(f"{lives} lives of datasets, HDF5 {h5py.version.hdf5_version}")
    assert lives > 0 and not broken, "\n".join([f"{lives} lives", *broken])


READ = """
import h5py, sys
with h5py.File(sys.argv[1]) as file:
    for name in sorted(file):
        sys.stdout.buffer.write(file[name][()].tobytes())
print(h5py.version.hdf5_version, file=sys.stderr)
"""


def other_pythons():
    """Interpreters with another HDF5 in their h5py."""
    root = pathlib.Path(__file__).resolve().parent.parent
    candidates = ["/usr/bin/python3", root / ".venv/bin/python", root / ".venv-package/bin/python"]
    for python in map(str, candidates):
        if not os.path.exists(python):
            continue
        asked = subprocess.run([python, "-c", "import h5py; print(h5py.version.hdf5_version)"],
                               capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.strip() != h5py.version.hdf5_version:
            yield python


def test_another_hdf5_reads_the_same(folder):
    pythons = list(other_pythons())
    if not pythons:
        pytest.skip("no h5py with another HDF5 here")
    for seed in range(10**6, 10**6 + 3):
        batch = Batch(seed, folder)
        batch.live()
        with h5py.File(batch.path) as file:
            here = b"".join(file[name][()].tobytes() for name in sorted(file))
        for python in pythons:
            there = subprocess.run([python, "-c", READ, str(batch.path)], capture_output=True,
                                   env={**os.environ, "HDF5_PLUGIN_PATH": str(PLUGINS)})
            assert there.returncode == 0, there.stderr
            assert there.stdout == here, there.stderr
