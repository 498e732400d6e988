# SPDX-License-Identifier: BSD-3-Clause
"""h5py's identifiers of datasets, with reads and writes on all cores.

All that h5py reads and writes of a dataset goes through two methods of its identifier, which get the spaces and
types that HDF5 gets; only simple selections have a reader of their own, which calls HDF5 itself. An identifier of a
derived class asks the library first, so selections, conversions, broadcasting and errors stay h5py's."""

from __future__ import annotations

import functools
import math
import os
from typing import Any, Callable

from . import _library, filters, transfers

_ALL = 0  # H5S_ALL


def takes_over() -> bool:
    """False where H5TWIN_VOL says that nothing is to be taken over."""
    return os.environ.get("H5TWIN_VOL", "") not in ("off", "0")


def identifier(h5py: Any, given: Any) -> Any:
    """The one to take instead: `given` itself if the dataset is not stored through one of our filters alone."""
    if type(given) is not h5py.h5d.DatasetID:
        return given
    with h5py._objects.phil:
        dcpl = given.get_create_plist()
        if dcpl.get_layout() != h5py.h5d.CHUNKED or dcpl.get_nfilters() != 1 or \
                dcpl.get_filter(0)[0] not in filters.FILTERS:
            return given
        h5py.h5i.inc_ref(given)  # each of the two gives one back
        made = _derived(h5py)(given.id)
        made.chunk_elements = math.prod(dcpl.get_chunk())
        made.is_cached = made.chunk_elements * given.get_type().get_size() <= given.get_access_plist().get_chunk_cache()[1]
        return made


@functools.lru_cache(maxsize=1)
def _derived(h5py: Any) -> type:
    class DatasetID(h5py.h5d.DatasetID):
        __doc__ = h5py.h5d.DatasetID.__doc__
        chunk_elements = _library.SIZE_MAX  # of a copy: nothing is worth it
        is_cached = True  # HDF5's cache has room for a chunk

        def is_worth_it(self, is_write: bool, count: int) -> bool:
            """Whether so many elements are more than HDF5 does as well."""
            return count > self.chunk_elements or not (is_write or self.is_cached)

        def _is_done(self, is_write: bool, mspace: Any, fspace: Any, array: Any, mtype: Any, dxpl: Any) -> bool:
            """False: h5py must do it, with an error if need be."""
            try:
                with h5py._objects.phil:
                    functions = transfers._functions()
                    if functions is None or not takes_over() or array.dtype.hasobject or \
                            not array.flags.c_contiguous or not (is_write or array.flags.writeable):
                        return False
                    if fspace.id != _ALL and not self.is_worth_it(is_write, fspace.get_select_npoints()):
                        return False
                    memory = h5py.h5t.py_create(array.dtype) if mtype is None else mtype
                    done, _why = _library.transfer(functions, is_write, (
                        self.id, memory.id, mspace.id, fspace.id, 0 if dxpl is None else dxpl.id), array.ctypes.data)
                    return done > 0  # where HDF5 has failed, it will say so again
            except (AttributeError, TypeError, ValueError, RuntimeError):
                return False

        def read(self, mspace: Any, fspace: Any, arr_obj: Any, mtype: Any = None, dxpl: Any = None) -> None:
            if not self._is_done(False, mspace, fspace, arr_obj, mtype, dxpl):
                super().read(mspace, fspace, arr_obj, mtype, dxpl)

        def write(self, mspace: Any, fspace: Any, arr_obj: Any, mtype: Any = None, dxpl: Any = None) -> None:
            if not self._is_done(True, mspace, fspace, arr_obj, mtype, dxpl):
                super().write(mspace, fspace, arr_obj, mtype, dxpl)

        read.__doc__, write.__doc__ = h5py.h5d.DatasetID.read.__doc__, h5py.h5d.DatasetID.write.__doc__

    return DatasetID


class _Reader:
    """h5py's reader of simple selections. It refuses, as it refuses other selections, what is worth our while: then h5py
    asks the identifier."""
    __slots__ = ("_dataset", "_reader")

    def __init__(self, dataset: Any, reader: Any) -> None:
        self._dataset, self._reader = dataset, reader

    def read(self, args: Any) -> Any:
        box = transfers._box(self._dataset.shape, args)
        if box is not None and takes_over() and self._dataset.id.is_worth_it(False, math.prod(box[1])):
            raise TypeError("the library reads it")
        return self._reader.read(args)


def creating(h5py: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """h5py.h5d.create, whose identifier gets the array of create_dataset(data=...)."""
    @functools.wraps(original)
    def create(*arguments: Any, **more: Any) -> Any:
        return identifier(h5py, original(*arguments, **more))
    return create


def initializing(h5py: Any, original: Callable[..., None]) -> Callable[..., None]:
    """h5py.Dataset.__init__."""
    @functools.wraps(original)
    def __init__(dataset: Any, *arguments: Any, **more: Any) -> None:
        original(dataset, *arguments, **more)
        dataset._id = identifier(h5py, dataset._id)
    return __init__


def reading(h5py: Any, original: property) -> property:
    """h5py.Dataset._fast_reader."""
    def fast_reader(dataset: Any) -> Any:
        reader = original.fget(dataset)
        return _Reader(dataset, reader) if isinstance(dataset.id, _derived(h5py)) else reader
    return property(fast_reader, doc=original.__doc__)


def closing(h5py: Any, original: Callable[..., None]) -> Callable[..., None]:
    """h5py.File.close. With the last file, the decoded chunks that are kept go."""
    @functools.wraps(original)
    def close(file: Any) -> None:
        original(file)
        with h5py._objects.phil:
            if h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE) == 0:
                _library.keep_chunks(None)
    return close
