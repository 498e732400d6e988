# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin verify` against a slow oracle: random pairs of HDF5 files, one of which is the other with a
few changes, judged name by name and value by value with h5py and rational numbers.

The oracle follows the words of `h5twin verify --help` and docs/pages/bounds.md, and nothing of ours.
H5TWIN_ORACLE_PAIRS is how many pairs are made, H5TWIN_ORACLE_SEED where the random numbers start.
"""

import math
import os
import re
import struct
import subprocess
from fractions import Fraction

import h5py
import numpy as np
import pytest
from h5py import h5d, h5g, h5l, h5o, h5r, h5s, h5t

from conftest import COMMAND, LOSSY_CODECS, FILTER_IDS, absolute

PAIRS = int(os.environ.get("H5TWIN_ORACLE_PAIRS", "160"))
SEED = int(os.environ.get("H5TWIN_ORACLE_SEED", "0"))
IEEE = {"<f4": h5t.IEEE_F32LE, ">f4": h5t.IEEE_F32BE, "<f8": h5t.IEEE_F64LE, ">f8": h5t.IEEE_F64BE}


# ---- what HDF5 can hold ----


def odd_number(rng):
    """A number that is no usual one: other precision, place, fields or bias."""
    size = int(rng.choice([1, 2, 4, 8]))
    if rng.random() < 0.5 or size < 4:
        made = {1: h5t.STD_I8LE, 2: h5t.STD_I16LE, 4: h5t.STD_I32LE, 8: h5t.STD_U64LE}[size].copy()
        precision = int(rng.integers(1, 8 * size))
        made.set_precision(precision)
        made.set_offset(int(rng.integers(0, 8 * size - precision + 1)))
    else:
        made = (h5t.IEEE_F32LE if size == 4 else h5t.IEEE_F64LE).copy()
        if rng.random() < 0.5:
            made.set_ebias(int(rng.integers(5, 120)))
        else:
            exponent = int(rng.integers(3, 8 * size - 3))
            made.set_fields(8 * size - 1, 8 * size - 1 - exponent, exponent, 0, 8 * size - 1 - exponent)
    made.set_order(h5t.ORDER_BE if rng.random() < 0.3 else h5t.ORDER_LE)
    return made


def compound(rng, depth=0):
    kinds = ["i1", ">i4", "<f4", "<f4", "<f8", "S3", "<c8", ("<f4", (2,)), h5py.enum_dtype({"A": 0, "B": 1}, "u1")]
    fields = [(f"f{i}", compound(rng, 1) if depth == 0 and rng.random() < 0.2 else kinds[rng.integers(len(kinds))])
              for i in range(rng.integers(1, 4))]
    if rng.random() < 0.3:
        fields = [(name, "<f4") for name, _ in fields]
    return np.dtype(fields, align=rng.random() < 0.3)


def random_type(rng):
    """(kind, numpy dtype or identifier of HDF5's)"""
    fixed = [*("i1 u1 <i2 >i2 <u4 >i8 <u8 <f2 >f2".split()), "S5", "V7", "?", h5py.enum_dtype({"A": 1, "B": 2}, "<i2"),
             h5py.string_dtype("utf-8", 6), ("<i2", (3,)), (">f4", (2, 2)), "<c8", ">c16"]
    draw = rng.random()
    if draw < 0.4:
        return "fixed", np.dtype(str(rng.choice(list(IEEE))))
    if draw < 0.6:
        return "fixed", np.dtype(fixed[rng.integers(len(fixed))])
    if draw < 0.7:
        return "fixed", compound(rng)
    if draw < 0.78:
        return "odd", odd_number(rng)
    others = {"text": h5py.string_dtype(), "bytes": h5py.string_dtype("ascii"), "rows": h5py.vlen_dtype("<i4"),
              "floats": h5py.vlen_dtype("<f8"), "object": h5py.ref_dtype, "region": h5py.regionref_dtype,
              "record": np.dtype([("n", "<i4"), ("r", h5py.ref_dtype)])}
    kind = list(others)[rng.integers(len(others))]
    return kind, others[kind]


def size_of(kind, made):
    return made.get_size() if kind == "odd" else made.itemsize


def float_leaf(dtype):
    """The one float that all of a type consists of, as numpy's, or None."""
    if dtype.subdtype is not None:
        return float_leaf(dtype.subdtype[0])
    if dtype.names is not None:
        leaves = [float_leaf(dtype[name]) for name in dtype.names]
        return leaves[0] if len(set(leaves)) == 1 and sum(dtype[name].itemsize for name in dtype.names) == \
            dtype.itemsize else None
    if dtype.kind == "c":
        return np.dtype(f"{dtype.byteorder}f{dtype.itemsize // 2}".replace("=", "<"))
    return dtype if dtype.kind == "f" and dtype.itemsize in (4, 8) else None


VALUES = [0.0, -0.0, 1.0, -1.5, 2.25, 5.0, 5.0, 100.0, -3.0, 1e-30, 5e-40, math.inf, math.nan]


def random_bytes(rng, kind, made, count):
    """Raw elements."""
    leaf = float_leaf(made) if kind == "fixed" else None
    if leaf is not None:
        values = rng.choice(VALUES if rng.random() < 0.5 else VALUES[:9], count * made.itemsize // leaf.itemsize)
        return bytearray((values + rng.choice([0, 0.125, 0.3], values.size)).astype(leaf).tobytes())
    raw = bytearray(rng.bytes(count * size_of(kind, made)))
    if kind == "fixed" and made.kind in "bSU" or kind == "fixed" and h5py.check_enum_dtype(made):
        values = np.frombuffer(raw, made).copy()
        values[...] = rng.choice([b"", b"a", b"xyz"], count) if made.kind == "S" else rng.integers(0, 2, count)
        raw = bytearray(values.tobytes())
    if kind == "fixed" and made.names is not None:
        values = np.zeros(count, made)  # nothing between the fields yet
        for leaf in leaves(values):
            leaf[...] = rng.integers(0, 2, leaf.shape) if leaf.dtype.kind != "S" else b"ab"
        raw = bytearray(values.tobytes())
    return raw


def leaves(values):
    if values.dtype.names is None:
        return [values]
    return [leaf for name in values.dtype.names for leaf in leaves(values[name])]


SHAPES = [(), None, (0, 3), (1,), (3,), (7,), (2, 3), (4, 1, 2)]


class Dataset:
    def __init__(self, rng):
        self.kind, self.type = random_type(rng)
        self.shape = SHAPES[rng.integers(len(SHAPES))] if rng.random() < 0.5 else (int(rng.integers(1, 9)),)
        if self.kind not in ("fixed", "odd") and (self.shape is None or 0 in self.shape):
            self.shape = (3,)
        self.count = 0 if self.shape is None else int(np.prod(self.shape))
        self.chunked = bool(self.shape) and self.count > 0 and rng.random() < 0.4
        self.filter = str(rng.choice(["none", "gzip", *LOSSY_CODECS])) if self.chunked else "none"
        self.fill = float(rng.choice([5.0, 0.0, 1e20, -1.5])) if rng.random() < 0.3 else None
        if self.kind in ("fixed", "odd"):
            self.raw = random_bytes(rng, self.kind, self.type, self.count)
        elif self.kind in ("text", "bytes"):
            self.items = [str(rng.choice(["a", "bc", "wörds" if self.kind == "text" else "words", "x" * 300]))
                          for _ in range(self.count)]
        elif self.kind in ("rows", "floats"):
            self.items = [rng.integers(0, 3, rng.integers(0, 4)) for _ in range(self.count)]
        else:
            self.items = [(rng.random(), rng.integers(4)) for _ in range(self.count)]

    def copy(self):
        other = object.__new__(Dataset)
        other.__dict__.update(self.__dict__)
        for key in ("raw", "items"):
            if hasattr(self, key):
                setattr(other, key, getattr(self, key)[:])
        return other

    def leaf(self):
        return float_leaf(self.type) if self.kind == "fixed" else None

    def write(self, file, name, targets):
        if self.kind in ("fixed", "odd"):
            made = self.type if self.kind == "odd" else h5t.py_create(self.type, logical=True)
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_obj_track_times(False)
            if self.chunked:
                plist.set_chunk(tuple(max(1, extent - extent // 3) for extent in self.shape))
            if self.filter == "gzip":
                plist.set_deflate(1)
            elif self.filter in LOSSY_CODECS:
                plist.set_filter(FILTER_IDS[self.filter], h5py.h5z.FLAG_OPTIONAL, tuple(map(int, absolute(0.1))))
            leaf = self.leaf()
            if self.fill is not None and leaf is not None and self.type.subdtype is None:
                parts = np.full(self.type.itemsize // leaf.itemsize, self.fill, leaf)
                plist.set_fill_value(parts.view(self.type).reshape(()))
            space = h5s.create(h5s.NULL) if self.shape is None else h5s.create(h5s.SCALAR) if self.shape == () \
                else h5s.create_simple(self.shape)
            links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
            links.set_create_intermediate_group(True)
            dataset = h5d.create(file.id, name.encode(), made, space, plist, lcpl=links)
            if self.count:
                dataset.write(h5s.ALL, h5s.ALL, np.frombuffer(bytes(self.raw), "u1").reshape(1, -1), mtype=made)
            return
        dataset = file.create_dataset(name, self.shape, self.type)
        values = np.zeros(self.count, self.type if self.kind == "record" else object)
        for i, item in enumerate(self.items):
            if self.kind in ("text", "bytes"):
                values[i] = item
            elif self.kind in ("rows", "floats"):
                values[i] = np.array(item, h5py.check_vlen_dtype(self.type))
            else:
                reference = self.reference(file, item, targets)
                if self.kind == "record":
                    values[i] = (i, reference)
                else:
                    values[i] = reference
        if self.kind in ("rows", "floats"):
            for at, value in zip(np.ndindex(*self.shape), values):
                dataset[at] = value
        elif self.count:
            dataset[...] = values.reshape(self.shape)

    def reference(self, file, item, targets):
        draw, way = item
        target = targets[int(draw * len(targets))] if targets and draw < 0.97 else None
        if target is None or target not in file:
            return h5py.RegionReference() if self.kind == "region" else h5py.Reference()
        if self.kind != "region":
            return file[target].ref
        if not isinstance(file[target], h5py.Dataset) or not file[target].shape:
            return h5py.RegionReference()
        space = file[target].id.get_space()
        first = (0,) * len(space.shape)
        if way == 1:
            space.select_elements(np.array([first], "u8"))
        elif way == 2 and 0 not in space.shape:
            space.select_none()
            for row in range(space.shape[0]):
                space.select_hyperslab((row,) + first[1:], (1,) * len(first), block=(1,) + space.shape[1:],
                                       op=h5s.SELECT_OR)
        elif way == 3 and 0 not in space.shape:
            space.select_hyperslab(first, (1,) * len(first), block=first[1:] + (1,))
        return h5r.create(file.id, target.encode(), h5r.DATASET_REGION, space)


# ---- files ----


def word(rng):
    draw = rng.random()
    text = "".join(rng.choice(list("abcxyz"), rng.integers(1, 3)))
    if draw < 0.02:
        return text * int(rng.integers(400, 1200))
    return text + ("ü数" if draw < 0.1 else "")


def random_file(rng):
    """Names to what they are: a Dataset, or (kind of link, target), in the order of making."""
    groups, plan = [""], {}
    for _ in range(rng.integers(0, 4)):
        groups.append(groups[rng.integers(len(groups))] + "/" + word(rng))
    if rng.random() < 0.01:
        groups.append("/" + "/".join([word(rng)[:2] * 1500] * 25))
    groups = list(dict.fromkeys(groups))
    for group in groups[1:]:
        plan[group] = ("group", None)
    for _ in range(rng.integers(1, 6)):
        name = groups[rng.integers(len(groups))] + "/" + word(rng)
        if name not in plan:
            plan[name] = Dataset(rng)
    for _ in range(rng.integers(0, 3)):
        name = groups[rng.integers(len(groups))] + "/" + word(rng)
        if name not in plan:
            plan[name] = random_link(rng, list(plan) + ["/"])
    return plan


def random_link(rng, names):
    target = names[rng.integers(len(names))]
    draw = rng.random()
    if draw < 0.6:
        return ("hard", target)
    return ("soft", target if draw < 0.8 else "/nowhere") if draw < 0.85 else ("external", "/seven")


PATHS = KeyError, OSError, RuntimeError, TypeError, ValueError  # what h5py makes of names that lead nowhere


def explain(error):
    """A change may have left a name without its group, or taken it; HDF5 2 makes few odd numbers."""
    if not re.search("not found|exist|too many links|unable to create|no location|open|unusual datatype", str(error), re.I):
        raise error


def opens(file, name):
    try:
        return file[name].file == file
    except PATHS:
        return False


def write_file(path, plan, before):
    with h5py.File(path, "w") as file:
        for i in range(before):
            file.create_group(f"before{i}")  # so that addresses differ, and never a dataset
        late = []
        for name, what in plan.items():
            try:
                if isinstance(what, Dataset):
                    if what.kind in ("object", "region", "record"):
                        late.append((name, what))
                    else:
                        what.write(file, name, [])
                elif what[0] == "group":
                    file.require_group(name)
                elif what[0] == "hard" and what[1] in file:
                    file[name] = file[what[1]]
                elif what[0] == "soft":
                    file[name] = h5py.SoftLink(what[1])
                elif what[0] == "external":
                    file[name] = h5py.ExternalLink("other.h5", what[1])
            except PATHS as error:
                explain(error)
        targets = [name for name in plan if opens(file, name)]
        for name, what in late:
            try:
                what.write(file, name, targets)
            except PATHS as error:
                explain(error)


# ---- changes ----


def near(rng, x, bound, kind, span):
    """A value at the bound from x, or just beyond, or within."""
    limit = {"abs": bound, "noa": bound * span, "rel": bound * abs(x)}.get(kind, 0.1)
    return x + rng.choice([-1, 1]) * limit * rng.choice([1, 1, 0.5, 1 + 1e-7, 1 - 1e-7, 2])


def change_value(rng, data, options):
    leaf = data.leaf()
    if not data.count:
        return
    if leaf is None:
        if data.kind in ("fixed", "odd"):
            at = int(rng.integers(len(data.raw)))
            if data.type == np.dtype("?") if data.kind == "fixed" else False:
                data.raw[at] ^= 1
            else:
                data.raw[at] ^= 1 << int(rng.integers(8))
        else:
            i = int(rng.integers(data.count))
            if data.kind in ("text", "bytes"):
                data.items[i] += "!"
            elif data.kind in ("rows", "floats"):
                data.items[i] = np.append(data.items[i], 7) if rng.random() < 0.5 else data.items[i] * -1.0
            else:
                data.items[i] = (rng.random(), data.items[i][1]) if rng.random() < 0.5 else (data.items[i][0],
                                                                                             rng.integers(4))
        return
    values = np.frombuffer(data.raw, leaf).copy()
    at = int(rng.integers(values.size))
    finite = values[np.isfinite(values)].astype("f8")
    span = float(finite.max() - finite.min()) if finite.size else 0.0
    draw = rng.random()
    if draw < 0.6 and np.isfinite(values[at]):
        changed = np.array(near(rng, float(values[at]), options["bound"], options["kind"], span)).astype(leaf)
        step = int(rng.integers(-1, 2))
        values[at] = changed if step == 0 else np.nextafter(changed, leaf.type(step * math.inf))
    elif draw < 0.8:
        values[at] = rng.choice([options["fill"] or 5.0, data.fill or 0.0, 5.0, -0.0, math.inf, -math.inf])
    else:
        bits = values.view(f"{leaf.byteorder}u{leaf.itemsize}".replace("=", "<"))
        bits[at] ^= bits.dtype.type(1 << int(rng.integers(8 * leaf.itemsize)))
    data.raw = bytearray(values.tobytes())


def change(rng, plan, options):
    """One change; the plan's datasets are copies."""
    names = list(plan)
    name = names[rng.integers(len(names))]
    what, draw = plan[name], rng.random()
    if isinstance(what, Dataset) and draw < 0.65:
        change_value(rng, what, options)
    elif draw < 0.72:
        del plan[name]
    elif draw < 0.77:
        plan[name + word(rng)] = plan.pop(name)
    elif draw < 0.87 and isinstance(what, Dataset):
        choice = rng.integers(4)
        if choice == 0:
            what.fill = rng.choice([None, 5.0, 0.0])
        elif choice == 1:
            plan[name] = Dataset(rng)
        elif choice == 2 and what.kind in ("fixed", "odd") and what.shape:
            what.shape = what.shape + (1,) if rng.random() < 0.5 else what.shape[::-1]
            what.chunked, what.filter = False, "none"
        elif what.kind == "odd":
            what.type = odd_number(rng) if rng.random() < 0.3 else what.type.copy()
            what.type.set_order(h5t.ORDER_BE)
            what.raw = what.raw[: what.count * what.type.get_size()].ljust(what.count * what.type.get_size(), b"\0")
        elif what.kind == "fixed" and what.type.names is None and what.type.subdtype is None:
            values = np.frombuffer(what.raw, what.type)
            what.type = what.type.newbyteorder()
            what.raw = bytearray(values.astype(what.type).tobytes())
    elif draw < 0.93:  # what several names lead to
        plan[name] = random_link(rng, names + ["/"]) if rng.random() < 0.5 or not isinstance(what, tuple) \
            else Dataset(rng)
    else:
        plan[names[0] + "/" + word(rng) if rng.random() < 0.2 else "/" + word(rng)] = Dataset(rng)


def random_pair(rng, folder):
    options = {"kind": str(rng.choice(["none", "abs", "noa", "rel"])),
               "bound": float(rng.choice([0.125, 0.1, 1e-3, 0.3, 2.0 ** -40])),
               "fill": float(rng.choice([5.0, 0.0, 1e20, 0.3])) if rng.random() < 0.3 else None}
    plan = random_file(rng)
    other = {name: what.copy() if isinstance(what, Dataset) else what for name, what in plan.items()}
    for _ in range(int(rng.choice([0, 1, 1, 1, 2, 4]))):
        if other:
            change(rng, other, options)
    for name in other:
        if isinstance(other[name], Dataset) and rng.random() < 0.1 and other[name].chunked:
            other[name].filter = str(rng.choice(["none", "gzip", *LOSSY_CODECS]))
    write_file(folder / "A.h5", plan, 0)
    write_file(folder / "B.h5", other, int(rng.integers(0, 4)))
    return options


# ---- the oracle ----


def key(thing):
    info = h5o.get_info(thing.id)
    return info.fileno, h5py.h5o.get_info(thing.id).addr


class Oracle:
    """What must be said of two open files."""

    def __init__(self, files, options):
        self.files, self.options = files, options
        self.pairs = set()  # of objects that have a name in common
        self.held = []  # so that files that links lead to stay open, and keep their numbers
        datasets = {}
        for pair, objects in self.walk():
            self.pairs.add(pair)
            self.held.append(objects)
            if isinstance(objects[0], h5py.Dataset):
                datasets[pair] = objects
        self.verdicts = {pair: self.judge(*objects) for pair, objects in datasets.items()}  # None: missing
        second = {pair[1] for pair in datasets}
        self.new = set()
        files[1].visititems(lambda name, thing: self.new.add("/" + name) if isinstance(thing, h5py.Dataset) and
                            key(thing) not in second else None)

    def walk(self):
        """(keys, objects) of all names of the original; twice around each cycle."""
        groups = [(self.files[0]["/"], self.files[1]["/"])]
        yield tuple(map(key, groups[0])), groups[0]
        seen = {}
        while groups:
            group, other = groups.pop()
            for name in group:
                found = self.follow(group, other, name)
                if found is not None:
                    first, second = found
                    pair = key(first), None if second is None else key(second)
                    yield pair, found
                    seen[pair] = seen.get(pair, 0) + 1
                    if isinstance(first, h5py.Group) and seen[pair] < 3:
                        groups.append(found)

    def pair_of(self, name):
        """What a name leads to."""
        first, second = self.files[0][name], None
        try:
            second = self.files[1][name]
        except PATHS:
            pass
        return key(first), None if type(second) is not type(first) else key(second)

    def follow(self, group, other, name):
        links = [None if where is None else self.link(where, name) for where in (group, other)]
        hard = links[0][0] == h5l.TYPE_HARD
        inside = group.file == self.files[0] and other is not None and other.file == self.files[1]
        if not hard and inside and links[0] == links[1]:
            return None
        try:
            first = group[name]
        except PATHS:
            return None
        second = None
        if links[1] is not None:
            try:
                second = other[name]
            except PATHS:
                second = None
        return first, second if type(second) is type(first) else None

    @staticmethod
    def link(group, name):
        raw = name.encode("utf-8", "surrogateescape")
        if not group.id.links.exists(raw):
            return None
        kind = group.id.links.get_info(raw).type
        return (kind,) if kind == h5l.TYPE_HARD else (kind, group.id.links.get_val(raw))

    # ---- datasets ----

    def judge(self, a, b):
        """'identical', 'kept', 'differ', 'type', 'shape' or 'missing'."""
        if b is None:
            return "missing"
        types = a.id.get_type(), b.id.get_type()
        if not self.same_types(*types):
            return "type"
        if a.shape != b.shape:
            return "shape"
        if a.shape is None or a.size == 0:
            return "identical"
        leaf = self.floats(types[0])
        if leaf is not None:
            return self.judge_floats(a, b, leaf, self.floats(types[1]))
        if types[0].get_class() in (h5t.INTEGER, h5t.FLOAT):
            raw = [self.raw(which).reshape(a.size, -1) for which in (a, b)]
            if types[0].get_order() != types[1].get_order():
                raw[1] = raw[1][:, ::-1]
            return "identical" if (raw[0] == raw[1]).all() else "differ"
        values = [which[()].reshape(-1) if which.shape else [which[()]] for which in (a, b)]
        return "identical" if all(self.same(x, y) for x, y in zip(*values)) else "differ"

    @staticmethod
    def same_types(first, second):
        if first.get_class() == second.get_class() and first.get_class() in (h5t.INTEGER, h5t.FLOAT):
            first = first.copy()
            if second.get_order() in (h5t.ORDER_LE, h5t.ORDER_BE):
                first.set_order(second.get_order())
        return first == second

    @staticmethod
    def floats(made):
        """numpy's type of one float, if there is nothing else."""
        if made.get_class() == h5t.FLOAT:
            return next((np.dtype(name) for name, known in IEEE.items() if made == known), None)
        if made.get_class() in (h5t.COMPOUND, h5t.ARRAY):
            return float_leaf(made.dtype)
        return None

    @staticmethod
    def raw(dataset):
        made = dataset.id.get_type()
        raw = np.zeros((1, dataset.size * made.get_size()), "u1")
        dataset.id.read(h5s.ALL, h5s.ALL, raw, mtype=made)
        return raw

    def judge_floats(self, a, b, leaf, other_leaf):
        kind, size = self.options["kind"], leaf.itemsize
        format_ = "f" if size == 4 else "d"
        order = [">" if each.byteorder == ">" else "<" for each in (leaf, other_leaf)]
        raw = [self.raw(which).tobytes() for which in (a, b)]
        bits = [struct.unpack(f"{sign}{len(text) // size}{'I' if size == 4 else 'Q'}", text)
                for sign, text in zip(order, raw)]
        values = [struct.unpack(f"{sign}{len(text) // size}{format_}", text) for sign, text in zip(order, raw)]
        if bits[0] == bits[1]:
            return "identical"
        if kind == "none":
            return "differ"
        marks = {mark for which in (a, b) for mark in self.declared(which, size)}
        if self.options["fill"] is not None:
            with np.errstate(over="ignore"):
                marks.add(int(np.array(self.options["fill"]).astype(f"f{size}").view(f"u{size}")))
        ranged = [Fraction(x) for x, word in zip(values[0], bits[0]) if math.isfinite(x) and word not in marks]
        bound = Fraction(self.options["bound"])
        span = max(ranged) - min(ranged) if ranged else 0
        for x, y, word, other_word in zip(*values, *bits):
            if word == other_word:
                continue
            if not (math.isfinite(x) and math.isfinite(y)) or word in marks or other_word in marks:
                return "differ"
            limit = {"abs": bound, "noa": bound * span, "rel": bound * abs(Fraction(x))}[kind]
            if abs(Fraction(x) - Fraction(y)) > limit:
                return "differ"
        return "kept"

    @staticmethod
    def declared(dataset, size):
        plist = dataset.id.get_create_plist()
        if plist.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED:
            return []
        value = np.array(dataset.fillvalue, dataset.dtype)
        little = value.astype(value.dtype.newbyteorder("<")).tobytes()
        words = {int.from_bytes(little[i:i + size], "little") for i in range(0, len(little), size)}
        return words if len(words) == 1 else []

    # ---- other values ----

    def same(self, x, y):
        if isinstance(x, h5py.RegionReference):
            return self.same_regions(x, y)
        if isinstance(x, h5py.Reference):
            return self.same_objects(x, y)
        if isinstance(x, (str, bytes)):
            return x == y
        if isinstance(x, np.void) and x.dtype.names is not None:
            return all(self.same(x[name], y[name]) for name in x.dtype.names)
        if isinstance(x, np.ndarray) and x.dtype.kind == "O" or isinstance(x, np.ndarray) and x.dtype.names:
            return x.shape == y.shape and all(self.same(p, q) for p, q in zip(x.flat, y.flat))
        x, y = np.asarray(x), np.asarray(y)
        return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()

    def same_objects(self, x, y):
        if not x or not y:
            return bool(x) == bool(y)
        return (key(self.files[0][x]), key(self.files[1][y])) in self.pairs

    def same_regions(self, x, y):
        return self.same_objects(x, y) and (not x or self.places(self.files[0], x) == self.places(self.files[1], y))

    @staticmethod
    def places(file, reference):
        """Where a region is, in the order of reading, and in what shape."""
        space = h5r.get_region(reference, file.id)
        kind, shape = space.get_select_type(), space.shape
        if kind == h5s.SEL_NONE or space.get_select_npoints() == 0:
            return shape, []
        if kind == h5s.SEL_POINTS:
            return shape, [tuple(map(int, place)) for place in space.get_select_elem_pointlist()]
        if kind == h5s.SEL_ALL:
            return shape, list(np.ndindex(*shape))
        places = set()
        for first, last in space.get_select_hyper_blocklist():
            extents = [int(z) - int(a) + 1 for a, z in zip(first, last)]
            places |= {tuple(int(a) + i for a, i in zip(first, at)) for at in np.ndindex(*extents)}
        return shape, sorted(places)


# ---- the test ----


def verdict_of(line):
    if "there is no dataset" in line:
        return "missing"
    if "different types" in line:
        return "type"
    if "shapes differ" in line:
        return "shape"
    if line.endswith(", identical"):
        return "identical"
    return "differ" if re.search("EXCEEDED|CHANGED|BECAME|DIFFER", line) else "kept"


def check(folder, options):
    arguments = [COMMAND, "verify"]
    if options["kind"] != "none":
        arguments += [f"--{options['kind']}", repr(options["bound"])]
    if options["fill"] is not None:
        arguments += ["--fill", repr(options["fill"])]
    result = subprocess.run([*arguments, "A.h5", "B.h5"], capture_output=True, text=True, check=False, cwd=folder,
                            timeout=60)
    if "built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")
    with h5py.File(folder / "A.h5") as a, h5py.File(folder / "B.h5") as b:
        oracle, lines = Oracle((a, b), options), result.stdout.splitlines()
        said = [line.split(": ", 1) for line in lines[:-1]]
        new = [name for name, rest in said if rest.endswith(" in A.h5")]
        assert sorted(new) == sorted(oracle.new), result.stdout
        found = [(oracle.pair_of(name), verdict_of(rest)) for name, rest in said if not rest.endswith(" in A.h5")]
    assert sorted(found, key=repr) == sorted(oracle.verdicts.items(), key=repr), result.stdout
    datasets = {pair[0] for pair in oracle.verdicts}
    failed = {pair[0] for pair, verdict in oracle.verdicts.items() if verdict not in ("identical", "kept")}
    plural = "" if len(datasets) == 1 else "s"
    assert lines[-1] == f"{len(datasets) - len(failed)} of {len(datasets)} dataset{plural} kept"
    nothing = all(verdict == "missing" for verdict in oracle.verdicts.values())
    assert ("nothing was compared" in result.stderr) == nothing
    assert result.returncode == (1 if failed or nothing else 0), result.stderr
    return set(oracle.verdicts.values())


@pytest.mark.parametrize("part", range(8))
def test_the_command_agrees_with_the_oracle(part, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["seven"] = 7.0
    seen = set()
    for number in range(part, PAIRS, 8):
        rng = np.random.default_rng([SEED, number])
        try:
            seen |= check(tmp_path, random_pair(rng, tmp_path))
        except Exception as error:
            raise AssertionError(f"pair {number} of seed {SEED}") from error
    assert {"identical", "differ"} <= seen
