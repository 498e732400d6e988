# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and chunks without a file: encode, decode, suggest, chunks."""

from __future__ import annotations

import dataclasses
import math
import operator
import os
from typing import Any, Sequence

import numpy as np

from . import _library
from .files import ChunkParams
from .filters import Filter, from_spec
from .verification import refuse_file_name

_KINDS = {"f": _library.FLOAT, "i": _library.INTEGER, "u": _library.INTEGER}


def _filter(what: Filter | str) -> Filter:
    if isinstance(what, type) and issubclass(what, Filter):
        raise TypeError(f"{what.__name__} is a class: give {what.__name__}(), with its parameters.")
    return what if isinstance(what, Filter) else from_spec(what)


def _without_objects(dtype: np.dtype) -> None:
    if dtype.hasobject:
        raise TypeError(f"Arrays of {dtype} hold Python objects, which have no bytes to code: give numbers.")


def _describe(array: np.ndarray) -> tuple[int, int, tuple[int, ...]]:
    """Kind, bytes per element and shape as the codecs see them: complex numbers as pairs of floats."""
    dtype, shape = array.dtype, array.shape
    if dtype.kind == "c" and dtype.itemsize in (8, 16):
        return _library.FLOAT, dtype.itemsize // 2, (*shape, 2)
    kind = _KINDS.get(dtype.kind, _library.OTHER)
    if kind == _library.FLOAT and dtype.itemsize not in (4, 8):
        kind = _library.OTHER
    return kind, dtype.itemsize, shape


def encode(array: Any, filter: Filter | str | ChunkParams, *, declared_fill: float | None = None,
           threads: int = 0) -> bytes:
    """array, in C order, as one chunk: what the filter stores for it in a file.

    filter: with params() of a dataset, the array is a whole chunk of it, and the bytes are those that its
    filter would store. Else the array is coded little-endian.
    declared_fill: as fill=, another value that comes back bit for bit and counts for no range: what CF's
    _FillValue is beside missing_value. A dataset's own is in its params().
    threads: 0 takes H5TWIN_NUM_THREADS, else OMP_NUM_THREADS, else the cores; it never changes the
    bytes. Raises H5twinError with the library's sentence. Other Python threads run meanwhile."""
    if isinstance(filter, ChunkParams):
        if declared_fill is not None:
            raise TypeError("The params of a dataset have its fill value: give no declared_fill.")
        values = filter.take(_values_of(array))
        return bytes(filter.params.encode(values.ctypes.data, values.nbytes, threads))
    return encode_chunk(array, _filter(filter).spec, threads, math.nan if declared_fill is None else declared_fill)


def _values_of(array: Any) -> np.ndarray:
    if isinstance(array, (str, os.PathLike)):
        raise TypeError(f"{array!r} is not an array: give the numbers themselves.")
    if np.ma.is_masked(array):
        raise TypeError("A chunk keeps no mask: give array.filled(value), and with a bound fill=value.")
    values = np.ascontiguousarray(array)
    _without_objects(values.dtype)
    return values


def encode_chunk(array: Any, spec: str, threads: int, declared_fill: float, pads_zeros: bool = False) -> bytes:
    """As encode(), where nan is no fill value; pads_zeros: zeros count for no range."""
    values = _values_of(array)
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    params = _library.Params.from_spec(spec)
    kind, size, shape = _describe(values)
    if values.size:
        params.set_array(kind, max(size, 1), shape)
    params.declare(declared_fill, pads_zeros)
    return bytes(params.encode(values.ctypes.data, values.nbytes, threads))


def decode(chunk: Any, dtype: Any = None, shape: Sequence[int] | int | None = None, *, threads: int = 0) -> np.ndarray:
    """The array in a chunk (bytes, or what exposes them). A chunk knows its words but neither shape nor
    type names: give dtype and shape as they were, or get one row of floats, integers or bytes.

    Raises H5twinError if the chunk is damaged, or is not of the size that dtype and shape give."""
    info = _library.inspect(chunk)
    if dtype is None:
        letter = {_library.FLOAT: "f", _library.INTEGER: "i"}.get(info.kind, "u")
        known = letter != "f" or info.word_size in (4, 8)
        dtype = f"{'>' if info.big_endian else '<'}{letter}{info.word_size}" if known else "u1"
        if info.raw_size % np.dtype(dtype).itemsize:
            dtype = "u1"
    dtype, shape = np.dtype(dtype), (shape,) if isinstance(shape, (int, np.integer)) else shape
    _without_objects(dtype)
    wanted = math.prod(shape) * dtype.itemsize if shape is not None else info.raw_size
    if wanted != info.raw_size or info.raw_size % max(dtype.itemsize, 1):
        raise _library.H5twinError(f"The chunk decodes to {info.raw_size} bytes, not to {wanted} of {dtype} "
                                   f"{tuple(shape) if shape is not None else ''}: give the type and shape that "
                                   "were encoded.")
    values = np.empty(info.raw_size // dtype.itemsize, dtype)
    _library.decode_into(chunk, values.ctypes.data, values.nbytes, threads)
    return values if shape is None else values.reshape(shape)


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """One filter tried on a sample. Speeds are GB of raw data per second, on one thread of this machine,
    now; nan if the sample is too small to measure one."""
    filter: Filter
    ratio: float
    encode_speed: float
    decode_speed: float
    max_error: float
    psnr: float  # dB; inf without an error

    def __str__(self) -> str:
        return (f"{self.filter.spec:28} ratio {self.ratio:8.3f}  encode {self.encode_speed:6.2f} GB/s  "
                f"decode {self.decode_speed:6.2f} GB/s  max error {self.max_error:.3g}")


def _with_bound(bound: str) -> list[Filter]:
    """Every lossy codec that takes it; raises the refusal if none does."""
    if not isinstance(bound, str) or "=" not in bound:
        raise _library.H5twinError(f"{bound!r} says not which bound: give for example 'abs=1e-3'.")
    filters, refusal = [], None
    for codec in _library.codecs():
        try:
            filters += [from_spec(f"{codec.name}:{bound}")] if codec.lossy else []
        except _library.H5twinError as error:
            refusal = error
    if refusal is not None and not filters:
        raise refusal
    return filters


def suggest(array: Any, *bounds: str, specs: Sequence[Filter | str] | None = None,
            sample_bytes: int = 4 << 20) -> list[Suggestion]:
    """Try every codec on a sample of the array; the best ratio comes first. Sample and trial are those of
    `h5twin suggest`: speeds and errors of small pieces spread over the array, of which codecs that take
    long get fewer; ratios of the array, or, where it is large, of chunks that suit it.

    bounds: texts such as "abs=1e-3", tried with the lossy codecs. specs: what to try instead of all.
    Raises ValueError for an empty array, and H5twinError with the library's sentence."""
    refuse_file_name(array, "suggest FILE.h5")
    values = np.ascontiguousarray(array)
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    _without_objects(values.dtype)
    if values.size == 0 or values.dtype.itemsize == 0:
        raise ValueError("The array is empty: there is nothing to try.")
    if operator.index(sample_bytes) <= 0:
        raise ValueError(f"sample_bytes={sample_bytes}: give how many bytes to try, 1 at least.")
    if specs is None:
        chosen = [from_spec(codec.name) for codec in _library.codecs()]
        chosen += [filter for bound in bounds for filter in _with_bound(bound)] if values.dtype.kind in "fc" else []
    else:
        chosen = [_filter(spec) for spec in ([specs] if isinstance(specs, (str, Filter)) else specs)]
    params = _library.Params()
    params.set_array(*_describe(values))
    trials = _library.suggest([filter.spec for filter in chosen], params, values.ctypes.data, sample_bytes)
    rows = [Suggestion(filter, trial.raw_size / trial.stored_size, _speed(trial.raw_size, trial.encode_time),
                       _speed(trial.raw_size, trial.decode_time), trial.max_error, trial.psnr)
            for filter, trial in zip(chosen, trials) if trial is not None]
    return sorted(rows, key=lambda row: -row.ratio)


def _speed(size: int, time: float) -> float:
    return size / time / 1e9 if time > 0 else math.nan


def chunks(shape: Sequence[int] | int, dtype: Any) -> tuple[int, ...]:
    """A chunk shape for an array: at most 1 MiB, along the array's shape. An axis that is cut is divided
    evenly, in multiples of the block sides that codecs work on (16, 64 in two dimensions, 4096 in one)
    where that leaves little of the last chunk empty. It is what `h5twin repack --chunks auto` takes.

    `chunks=True` of h5py cuts all axes into many small pieces, which costs ratio and speed."""
    try:
        extents = [operator.index(extent) for extent in (shape if np.iterable(shape) else [shape])]
    except TypeError:
        extents = [-1]
    if any(not 0 <= extent < 1 << 63 for extent in extents):
        raise ValueError(f"shape={shape!r} is not a shape: give whole numbers from 0 on, such as array.shape.")
    return _library.chunk_shape(extents, np.dtype(dtype).itemsize)


__all__ = ["Suggestion", "chunks", "decode", "encode", "suggest"]
