# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest, `-p suite_bounds`: what a suite writes through h5py is read again at once, and compared with the suite's
own array. Floats may differ by H5TWIN_SUITE_BOUND, anything else by nothing; NaN stays NaN. H5TWIN_SUITE_WRITES is a file that
gets a line for each write: 1 and the largest difference, or 0 and what was wrong."""

import os

import h5py
import numpy as np

BOUND = float(os.environ["H5TWIN_SUITE_BOUND"])
WRITES = os.environ["H5TWIN_SUITE_WRITES"]


def note(right, what):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    with open(WRITES, "a") as file:
        print(int(right), what, test.split(" ")[0], sep="\t", file=file)


def compare(dataset, selection, values):
    """Of numbers only, which numpy alone converts as HDF5 does where they are of the dataset's type."""
    if dataset.dtype.kind not in "fiu" or not isinstance(values, np.ndarray) or values.dtype != dataset.dtype or values.size == 0:
        return
    now = dataset[selection]
    wanted = np.broadcast_to(values.reshape(values.shape[values.ndim - now.ndim:]) if values.ndim > now.ndim else values, now.shape)
    if dataset.dtype.kind != "f":
        note(np.array_equal(now, wanted), 0)
        return
    finite = np.isfinite(wanted)
    differences = np.abs(now[finite].astype(np.longdouble) - wanted[finite].astype(np.longdouble))
    most = differences.max(initial=0)
    note(most <= BOUND and np.array_equal(now[~finite], wanted[~finite], equal_nan=True), f"{most:.3g}")


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


h5py.Group.create_dataset = after(h5py.Group.create_dataset, created)
h5py.Dataset.__setitem__ = after(h5py.Dataset.__setitem__, written)
