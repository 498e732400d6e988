# SPDX-License-Identifier: BSD-3-Clause
"""Reading and writing h5py datasets with all cores: as dataset[sel] and dataset[sel] = array do it, faster where
whole chunks of a filter of h5twin are at stake."""

from __future__ import annotations

import ctypes
import functools
import operator
from typing import Any

import numpy as np

from . import _hdf5, _library


@functools.lru_cache(maxsize=1)
def _functions() -> Any:
    """Those of the HDF5 that h5py uses, of which a process may have others as well; None: not found."""
    import h5py
    hdf5 = _hdf5.of_h5py(h5py)
    return None if hdf5 is None else _library.hdf5_functions(ctypes.cast(hdf5.H5Dread, ctypes.c_void_p).value)


def _box(shape: tuple[int, ...], sel: Any) -> tuple[list[int], list[int], list[int]] | None:
    """Start and count of a selection along each axis, and the shape of what is read; None unless it is made of whole
    numbers, slices without gaps and one ellipsis, and selects anything."""
    parts = list(sel) if isinstance(sel, tuple) else [sel]
    is_ellipsis = [part is Ellipsis for part in parts]
    if sum(is_ellipsis) > 1 or len(parts) - sum(is_ellipsis) > len(shape):
        return None
    at = is_ellipsis.index(True) if any(is_ellipsis) else len(parts)
    missing = [slice(None)] * (len(shape) - len(parts) + sum(is_ellipsis))
    parts[at:at + 1] = missing
    start, count, result = [], [], []
    for part, extent in zip(parts, shape):
        if isinstance(part, slice):
            try:
                first, last, step = part.indices(extent)
            except TypeError:
                return None
            if step != 1 or last <= first:
                return None
            start.append(first)
            count.append(last - first)
            result.append(last - first)
            continue
        if isinstance(part, (bool, np.bool_)):
            return None
        try:
            number = operator.index(part)
        except TypeError:
            return None
        if not -extent <= number < extent:
            return None  # h5py's error
        start.append(number % extent)
        count.append(1)
    return (start, count, result) if shape else None


def _transfer(dataset: Any, is_write: bool, box: Any, array: np.ndarray) -> bool:
    """Whether it is done."""
    import h5py
    from h5py._objects import phil  # HDF5 is called by one thread at a time
    functions = _functions()
    if functions is None:
        return False
    start, count, _ = box
    with phil:
        stored, memory = dataset.id.get_type(), h5py.h5t.py_create(array.dtype)
        if not stored.equal(memory):
            return False
        file_space, memory_space = dataset.id.get_space(), h5py.h5s.create_simple(tuple(count))
        file_space.select_hyperslab(tuple(start), tuple(count))
        identifiers = (dataset.id.id, memory.id, memory_space.id, file_space.id, 0)
        done, _why = _library.transfer(functions, is_write, identifiers, array.ctypes.data)
    return done > 0  # where HDF5 has failed, it will say so again


def _check_dataset(dataset: Any, function: str) -> None:
    if not all(hasattr(dataset, name) for name in ("id", "shape", "dtype", "chunks")):
        raise TypeError(f"{function} takes an h5py dataset, such as file[\"u\"], not a {type(dataset).__name__}.")


def read(dataset: Any, sel: Any = ()) -> Any:
    """dataset[sel], decoded by all cores straight into the array that is returned.

    Any selection of h5py may be given. Those that are no box (whole numbers, slices without a step, ...), and
    datasets that are not stored through one filter of h5twin alone, are read by h5py."""
    _check_dataset(dataset, "read")
    box = _box(dataset.shape, sel) if dataset.shape and dataset.chunks else None
    if box is not None and box[2] and not dataset.dtype.hasobject:
        array = np.empty(box[2], dataset.dtype)
        if _transfer(dataset, False, box, array):
            return array
    return dataset[sel]


def write(dataset: Any, array: Any, sel: Any = ()) -> None:
    """dataset[sel] = array, encoded by all cores; the chunks are those that h5py would store.

    Arrays of another type than the dataset's, or to be broadcast, and selections that are no box are written by
    h5py."""
    _check_dataset(dataset, "write")
    box = _box(dataset.shape, sel) if dataset.shape and dataset.chunks else None
    if box is not None and isinstance(array, np.ndarray) and array.dtype == dataset.dtype and \
            not array.dtype.hasobject and tuple(array.shape) in (tuple(box[1]), tuple(box[2])):
        values = np.ascontiguousarray(array)
        if _transfer(dataset, True, box, values):
            return
    dataset[sel] = array


def keep_chunks(size: int) -> None:
    """How many bytes of decoded chunks this process keeps for the next read of a part of one; at first 256 MiB, or what
    H5TWIN_KEPT_BYTES says. 0 keeps none, and gives back the memory of those that are kept."""
    size = operator.index(size)
    if not 0 <= size <= _library.SIZE_MAX:
        raise ValueError(f"keep_chunks takes a number of bytes from 0 on, not {size}.")
    _library.keep_chunks(size)


__all__ = ["keep_chunks", "read", "write"]
