#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make.py BUILD: what this version writes, kept for ever in tests/forever/VERSION.

    tests/forever/make.py build-gcc

To be run once for each released version, and for a new codec, option or way of writing before it is
released (into VERSION-NAME: make.py BUILD NAME). A folder that exists is never written again.
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
         "e2mc:symbol_bits=8,ways=8,sampling=1", "e2mc:symbol_bits=32,ways=1,block_log2=12,seg_log2=14"]
FILTERS = {"sleek": 480, "gfc": 481, "e2mc": 482, "ndzip": 483, "fpcompress": 484}
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


def arrays_of(name, spec):
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



def make_chunks(command, folder, env):
    """chunks.bin: one behind the other; chunks.tsv: where, of what, and what they decode to."""
    lines, offset = ["offset\tsize\tspec\ttype\tdims\tsha256"], 0
    with open(folder / "chunks.bin", "wb") as out:
        for spec in SPECS:
            for name in TYPES:
                for array in arrays_of(name, spec):
                    dims = "x".join(map(str, array.shape))
                    run = [command, "encode", "--spec", spec, "--type", name, "--dims", dims, "-", "-"]
                    chunk = subprocess.run(run, input=array.tobytes(), stdout=subprocess.PIPE, env=env,
                                           check=True).stdout
                    back = subprocess.run([command, "decode", "-", "-"], input=chunk, env=env,
                                          stdout=subprocess.PIPE, check=True).stdout
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


def add_bounds(file):
    for dtype in ("<f4", ">f8"):
        data = waves((20, 11), dtype)
        marked = data.copy()
        marked.flat[::5] = -9999
        for mode in (1, 2):
            words = (mode, *words_of(1e-3))
            add(file, f"bound {mode}/{dtype}", data, "sleek", words, chunks=(8, 10))
            add(file, f"bound {mode}/{dtype} filled", marked, "sleek", words, chunks=(8, 10),
                fillvalue=-9999.0)


def make_file(path, libver):
    """Datasets as users write them; each says in an attribute what it must read as."""
    import h5py
    with h5py.File(path, "w", libver=libver) as file:
        for codec in FILTERS if libver == "latest" else ("sleek",):
            add_codec(file, codec)
        if libver == "latest":
            add_bounds(file)
            for codec, option in (("ndzip", 1), ("ndzip", 2), ("fpcompress", 1), ("fpcompress", 2), ("gfc", 3)):
                add(file, f"options/{codec} {option}", waves((20, 11), "<f8"), codec, (0, 0, 0, option, 0),
                    chunks=(8, 10))
    # Once more from the file: what was just written is still as it was before the filter.
    with h5py.File(path, "a", libver=libver) as file:
        datasets = []
        file.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
        for dataset in datasets:
            dataset.attrs["sha256"] = hashlib.sha256(dataset[()].tobytes()).hexdigest()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    command = build / "bin" / "h5twin"
    # The reference code writes; that the others write the same is for other tests.
    env = {**os.environ, "H5TWIN_CPU": "scalar", "HDF5_PLUGIN_PATH": str(build / "plugins")}
    os.environ.update(env)
    version = subprocess.run([command, "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.split()[1]
    folder = pathlib.Path(__file__).resolve().parent / "-".join([version, *sys.argv[2:]])
    folder.mkdir()
    make_chunks(command, folder, env)
    make_file(folder / "earliest.h5", "earliest")
    make_file(folder / "latest.h5", "latest")


if __name__ == "__main__":
    main()
