#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make.py BUILD: what this version writes, kept for ever in tests/forever/VERSION.

    tests/forever/make.py build-gcc [NAME [CODEC ...]]

To be run once for each released version, and for a new codec, option or way of writing before it is
released (into VERSION-NAME, of these codecs alone). A folder that exists is never written again.
tests/codec/test_forever.c and python_tests/test_forever.py read all folders.
"""

import hashlib
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np

SPECS = ["sleek", "sleek:abs=1e-3", "sleek:abs=0.5", "sleek:noa=1e-4", "sleek:noa=0.01",
         "fpcompress", "fpcompress:mode=speed", "fpcompress:mode=ratio",
         "ndzip", "ndzip:layout=reference", "ndzip:layout=extended",
         "gfc", "gfc:dimensionality=1", "gfc:dimensionality=3", "gfc:dimensionality=32",
         "e2mc", "e2mc:profile=paper", "e2mc:symbol_bits=4,ways=2,pre=1",
         "e2mc:symbol_bits=8,ways=8,sampling=1", "e2mc:symbol_bits=32,ways=1,block_log2=12,seg_log2=14",
         "cascade", "cascade:effort=fast", "cascade:effort=max", "lattice",
         *(f"lattice:{bound},effort={effort},stable={stable}" for bound in ("abs=1e-3", "noa=1e-4", "rel=1e-3")
           for effort in ("fast", "balanced", "max") for stable in ("no", "yes", "auto")),
         "lattice:abs=0.5,fill=-9999.9", "lattice:noa=0.01,fill=1e20", "lattice:rel=0.1,fill=0"]
FILTERS = {"sleek": 480, "gfc": 481, "e2mc": 482, "ndzip": 483, "fpcompress": 484, "cascade": 485, "lattice": 486}
# Those in whose chunks more depends on what the array is like: these get more kinds of arrays.
MANY_STREAMS = ("cascade", "lattice")
TYPES = {"f32": "<f4", "f64": "<f8", "f32be": ">f4", "f64be": ">f8",
         "i8": "i1", "i16": "<i2", "i32be": ">i4", "i64": "<i8"}


def words_of(bound):
    return struct.unpack("<2I", struct.pack("<d", bound))


def waves(shape, dtype, step=0.07):
    """Values that shrink a little; whole numbers for integers."""
    places = np.indices(shape).astype("f8")
    field = sum(np.sin(step * (axis + 1) * place) for axis, place in enumerate(places)) * 10
    return (np.round(field) if np.dtype(dtype).kind == "i" else field).astype(dtype)


def special(dtype):
    """NaNs with payload, infinities, zeros of both signs, subnormal and extreme values, among waves."""
    array = waves((90,), dtype)
    if array.dtype.kind == "f":
        info = np.finfo(array.dtype)
        array[::7] = np.resize(np.array([np.inf, -np.inf, 0.0, -0.0, info.tiny / 8, info.max,
                                         -info.max, info.tiny], dtype), array[::7].shape)
        bits = array.view(f"{array.dtype.byteorder}u{array.dtype.itemsize}")
        bits[::31] = (0x7FC12345 if array.dtype.itemsize == 4 else 0x7FF8123456789ABC)
    return array


def mostly_zero(dtype):
    """Large enough for several blocks of any codec."""
    array = np.zeros((17, 18, 19), dtype)
    array[7, 3:9] = waves((6, 19), dtype)
    return array


def random_bits(dtype):
    size = np.dtype(dtype).itemsize
    return np.random.default_rng(5).integers(0, 256, 20 * size, "u1").view(dtype)


def marked(dtype):
    """Mostly values of a field, and a number in patches that stands for none."""
    array = waves((30, 40), dtype)
    array[np.indices(array.shape).sum(axis=0) % 30 < 9] = -9999
    return array


def plume(dtype):
    """A constant, but for one place; large enough for several tiles of any codec."""
    array = np.full((40, 50), 278, dtype)
    array[10:20, 25:45] += waves((10, 20), dtype)
    return array


def noisy(dtype):
    """A rough field with a trend, on a grid, and its few distinct values."""
    rough = waves((4, 13, 20), "<f8") + np.random.default_rng(7).normal(size=(4, 13, 20))
    return rough.astype(dtype)


def steps(dtype):
    """Few distinct values in runs, in no order."""
    return np.repeat(np.random.default_rng(3).choice([0, 1, 7, 90, -5], 300), 9).astype(dtype)


def half_written(dtype):
    """As HDF5 hands over a chunk of which some rows have been written."""
    array = np.zeros((32, 40), dtype)
    array[:13] = waves((13, 40), dtype)
    return array


def more_arrays_of(name, spec):
    dtype = TYPES[name]
    if spec in FILTERS or name in ("f32", "f64"):
        for make in (marked, plume, noisy, steps, half_written):
            if dtype != "i1":  # too narrow for -9999
                yield make(dtype)
        yield np.full((700,), 1, dtype)


def arrays_of(name, spec):
    if spec.partition(":")[0] in MANY_STREAMS:
        yield from more_arrays_of(name, spec)
    if spec not in FILTERS and name not in ("f32", "f64", "i32be"):
        return
    dtype = TYPES[name]
    yield waves((100,), dtype)
    if name in ("f32", "f64"):
        yield waves((4, 5, 6), dtype)
        yield special(dtype)
    if name == "f32" or (name == "f64" and spec in FILTERS):
        yield mostly_zero(dtype)
    if spec in FILTERS:
        yield random_bits(dtype)
        yield waves((1,), dtype)



def make_chunks(command, folder, env, codecs):
    """chunks.bin: one behind the other; chunks.tsv: where, of what, and what they decode to."""
    lines, offset = ["offset\tsize\tspec\ttype\tdims\tsha256"], 0
    with open(folder / "chunks.bin", "wb") as out:
        for spec in (spec for spec in SPECS if spec.partition(":")[0] in codecs):
            for name in TYPES:
                for array in arrays_of(name, spec):
                    dims = "x".join(map(str, array.shape))
                    run = [command, "encode", "--spec", spec, "--type", name, "--dims", dims, "-", "-"]
                    chunk = subprocess.run(run, input=array.tobytes(), stdout=subprocess.PIPE, env=env,
                                           check=True).stdout
                    back = subprocess.run([command, "decode", "-", "-"], input=chunk, env=env,
                                          stdout=subprocess.PIPE, check=True).stdout
                    if ":" not in spec or array.dtype.kind == "i":
                        assert back == array.tobytes()
                    out.write(chunk)
                    lines.append("\t".join([str(offset), str(len(chunk)), spec, name, dims,
                                            hashlib.sha256(back).hexdigest()]))
                    offset += len(chunk)
    (folder / "chunks.tsv").write_text("\n".join(lines) + "\n")


def add(file, name, data, codec, words=(), **more):
    file.create_dataset(name, data=data, compression=FILTERS[codec],
                        compression_opts=tuple(words) or None, **more)


def add_codec(file, codec):
    for dtype in ("<f4", ">f8", "<i2"):
        add(file, f"{codec}/{dtype}", waves((20, 11), dtype), codec, chunks=(8, 10))
    add(file, f"{codec}/complex", waves((24,), "<f8").view("<c16"), codec, chunks=(7,))
    add(file, f"{codec}/shuffle", waves((60,), "<f8"), codec, chunks=(60,), shuffle=True)
    add(file, f"{codec}/fletcher32", waves((60,), "<f4"), codec, chunks=(60,), fletcher32=True)
    add(file, f"{codec}/five dims", waves((3, 1, 4, 2, 5), "<f4"), codec, chunks=(3, 1, 3, 2, 5))


def add_bounds(file, codec, modes):
    for dtype in ("<f4", ">f8"):
        data = waves((20, 11), dtype)
        marked = data.copy()
        marked.flat[::5] = -9999
        for mode in modes:
            words, name = (mode, *words_of(1e-3)), f"{codec} bound {mode}/{dtype}"
            add(file, name, data, codec, words, chunks=(8, 10))
            add(file, f"{name} filled", marked, codec, words, chunks=(8, 10), fillvalue=-9999.0)


OPTIONS = (("ndzip", 1), ("ndzip", 2), ("fpcompress", 1), ("fpcompress", 2), ("gfc", 3),
           ("cascade", 1), ("cascade", 2), ("cascade", 3), ("lattice", 1), ("lattice", 7), ("lattice", 10))


def make_file(path, libver, codecs):
    """Datasets as users write them; each says in an attribute what it must read as."""
    import h5py
    with h5py.File(path, "w", libver=libver) as file:
        for codec in codecs if libver == "latest" else codecs[:1]:
            add_codec(file, codec)
        if libver == "latest":
            for codec, modes in (("sleek", (1, 2)), ("lattice", (1, 2, 3))):
                if codec in codecs:
                    add_bounds(file, codec, modes)
            for codec, option in OPTIONS:
                if codec in codecs:
                    add(file, f"options/{codec} {option}", waves((20, 11), "<f8"), codec, (0, 0, 0, option, 0),
                        chunks=(8, 10))
    # Once more from the file: what was just written is still as it was before the filter.
    with h5py.File(path, "a", libver=libver) as file:
        datasets = []
        file.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
        for dataset in datasets:
            dataset.attrs["sha256"] = hashlib.sha256(dataset[()].tobytes()).hexdigest()


def main():
    if len(sys.argv) < 2 or not set(sys.argv[3:]) <= set(FILTERS):
        sys.exit(__doc__)
    build, codecs = pathlib.Path(sys.argv[1]).resolve(), sys.argv[3:] or list(FILTERS)
    command = build / "bin" / "h5twin"
    # The reference code writes; that the others write the same is for other tests.
    env = {**os.environ, "H5TWIN_CPU": "scalar", "HDF5_PLUGIN_PATH": str(build / "plugins")}
    os.environ.update(env)
    version = subprocess.run([command, "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.split()[1]
    folder = pathlib.Path(__file__).resolve().parent / "-".join([version, *sys.argv[2:3]])
    folder.mkdir()
    make_chunks(command, folder, env, codecs)
    make_file(folder / "earliest.h5", "earliest", codecs)
    make_file(folder / "latest.h5", "latest", codecs)


if __name__ == "__main__":
    main()
