# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest, `-p suite_bounds`: what a suite writes through h5py is read again at once, and compared with the suite's
own array. Floats may differ by H5TWIN_SUITE_BOUND, anything else by nothing; NaN stays NaN. H5TWIN_SUITE_WRITES is a file that
gets a line for each write: 1 if it is right, else 0; 1 if a filter of ours coded it, else 0; the largest difference; the test."""

import os

import h5py
import numpy as np

BOUND = float(os.environ["H5TWIN_SUITE_BOUND"])
WRITES = os.environ["H5TWIN_SUITE_WRITES"]


def filters_of(dataset):
    dcpl = dataset.id.get_create_plist()
    return [dcpl.get_filter(i) for i in range(dcpl.get_nfilters())]


def note(right, filters, difference):
    coded = any(name.startswith(b"h5twin") for *_, name in filters)
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    with open(WRITES, "a") as file:
        print(int(right), int(coded), difference, test.split(" ")[0], sep="\t", file=file)


def compare(dataset, selection, values):
    """Of numbers only, which numpy alone converts as HDF5 does where they are of the dataset's type."""
    if dataset.dtype.kind not in "fiu" or not isinstance(values, np.ndarray) or values.dtype != dataset.dtype or values.size == 0:
        return
    filters = filters_of(dataset)
    if any(number == h5py.h5z.FILTER_SCALEOFFSET for number, *_ in filters):  # loses what the test wants it to lose
        return
    now = dataset[selection]
    wanted = np.broadcast_to(values.reshape(values.shape[values.ndim - now.ndim:]) if values.ndim > now.ndim else values, now.shape)
    if dataset.dtype.kind != "f":
        note(np.array_equal(now, wanted), filters, 0)
        return
    finite = np.isfinite(wanted)
    differences = np.abs(now[finite].astype(np.longdouble) - wanted[finite].astype(np.longdouble))
    most = differences.max(initial=0)
    note(most <= BOUND and np.array_equal(now[~finite], wanted[~finite], equal_nan=True), filters, f"{most:.3g}")


def after(original, select):
    def wrapped(*args, **kwargs):
        result = original(*args, **kwargs)
        try:
            compare(*select(result, *args, **kwargs))
        except (ValueError, TypeError, OSError, RuntimeError, KeyError, IndexError):
            pass  # what cannot be read like that: files opened for writing only, selections that are counted once
        return result
    return wrapped


def created(result, group, name, shape=None, dtype=None, data=None, **_):
    return result, (), data


def written(result, dataset, selection, values):
    return dataset, selection, values


def uncached(original):
    """HDF5's cache would give back what was written, not what is stored."""
    default = h5py.h5p.create(h5py.h5p.DATASET_ACCESS).get_chunk_cache()

    def create(*args, dapl=None, **kwargs):
        dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS) if dapl is None else dapl.copy()
        if dapl.get_chunk_cache() == default:
            dapl.set_chunk_cache(default[0], 0, default[2])
        return original(*args, dapl=dapl, **kwargs)
    return create


h5py.h5d.create = uncached(h5py.h5d.create)
h5py.Group.create_dataset = after(h5py.Group.create_dataset, created)
h5py.Dataset.__setitem__ = after(h5py.Dataset.__setitem__, written)
