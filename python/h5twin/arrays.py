# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and chunks without a file: encode, decode, verify, suggest, chunks."""

from __future__ import annotations

import dataclasses
import math
import operator
import os
from fractions import Fraction
from typing import Any, Sequence

import numpy as np

from . import _library
from .filters import FILTERS, Filter, from_spec

_KINDS = {"f": _library.FLOAT, "i": _library.INTEGER, "u": _library.INTEGER}


def _no_file(what: Any, command: str) -> None:
    if isinstance(what, (str, bytes, os.PathLike)):
        raise TypeError(f"{what!r} is not an array: open the file and give its data, or run "
                        f"`python -m h5twin {command}`.")


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


def encode(array: Any, filter: Filter | str, *, threads: int = 0) -> bytes:
    """array, in C order and little-endian, as one chunk: what the filter stores for it in a file.

    threads: 0 takes H5TWIN_NUM_THREADS, else OMP_NUM_THREADS, else the cores; it never changes the
    bytes. Raises H5twinError with the library's sentence. Other Python threads run meanwhile."""
    return encode_chunk(array, _filter(filter).spec, threads)


def encode_chunk(array: Any, spec: str, threads: int, pads_zeros: bool = False) -> bytes:
    """As encode(); pads_zeros: zeros count for no range."""
    if isinstance(array, (str, os.PathLike)):
        raise TypeError(f"{array!r} is not an array: give the numbers themselves.")
    if np.ma.is_masked(array):
        raise TypeError("A chunk keeps no mask: give array.filled(value), and with a bound fill=value.")
    values = np.ascontiguousarray(array)
    _without_objects(values.dtype)
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    params = _library.Params.from_spec(spec)
    kind, size, shape = _describe(values)
    if values.size:
        params.set_array(kind, max(size, 1), shape)
    if pads_zeros:
        params.pad_zeros()
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
class Verification:
    """How far `decoded` is from `original`. Errors are in the data's units, over values finite in both."""
    values: int
    max_error: float
    mean_error: float
    psnr: float  # dB, 20 log10((max - min) / root mean square error); inf if there is no error
    bound: float | None  # absolute bound of a value that was asked for; None: none, or relative to each value
    violations: int  # values beyond it, in exact arithmetic; without a bound, values that differ at all
    non_finite_equal: bool  # NaN and infinities are in the same places, with the same bits
    identical: bool  # all bits are the same
    relative_bound: float | None = None  # the rel= that was asked for

    @property
    def ok(self) -> bool:
        return self.violations == 0 and self.non_finite_equal

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.identical:
            return f"{self.values} values, identical"
        if math.isnan(self.max_error):
            return f"{self.values} values, of which {self.violations} differ"
        bound = f", {self.violations} differ" if self.violations else ""
        for name, asked in ("bound", self.bound), ("relative bound", self.relative_bound):
            if asked is not None:
                bound = f", {name} {asked:.6g} " + (
                    f"exceeded by {self.violations} values" if self.violations else "kept")
        return (f"{self.values} values, max error {self.max_error:.6g}, mean error {self.mean_error:.6g}, "
                f"PSNR {self.psnr:.1f} dB{bound}, non-finite values "
                f"{'equal' if self.non_finite_equal else 'DIFFER'}")


def _floats(array: Any) -> np.ndarray:
    values = np.ascontiguousarray(array)
    if values.dtype.kind == "c":
        values = values.view(values.real.dtype)
    return values


def _differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which floats have other bits; long doubles, which have spare ones, another value or sign."""
    if a.itemsize <= 8:
        return a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}")
    return ~((a == b) | (np.isnan(a) & np.isnan(b))) | (np.signbit(a) != np.signbit(b))


def _check_bound(key: str, bound: Any) -> None:
    if bound is None:
        return
    if not isinstance(bound, (int, float, Fraction, np.integer, np.floating)):
        raise TypeError(f"{key}={bound!r} is not a number: give one, for example {key}=1e-3.")
    if not 0 <= bound < math.inf:
        raise ValueError(f"{key}={bound!r}: a bound is finite and not negative: give for example {key}=1e-3.")


def _exceeds(x: float, y: float, limit: Fraction) -> bool:
    return builtin_abs(Fraction(float(x)) - Fraction(float(y))) > limit


builtin_abs = abs  # the name is taken by the keyword below


def _count_violations(a: np.ndarray, b: np.ndarray, error: np.ndarray, limit: np.ndarray | float,
                      exact_limit: Any) -> int:
    """Values with |a - b| > limit. Floating point decides where it is clear, rational numbers where an
    error is within a rounding of its limit."""
    slack = 1e-9
    clear = error > limit * (1 + slack)
    doubtful = np.flatnonzero(~clear & (error >= limit * (1 - slack)) & (error > 0))
    return int(clear.sum()) + sum(_exceeds(a[i], b[i], exact_limit(i)) for i in doubtful)


def verify(original: Any, decoded: Any, *, abs: float | None = None, noa: float | None = None,
           rel: float | None = None, fill: float | None = None) -> Verification:
    """Compare two arrays of one shape: errors, and which values exceed a bound.

    abs: |x - x'| <= abs. noa: |x - x'| <= noa * (max - min) of the whole array. rel: |x - x'| <= rel * |x|.
    fill: values of `original` that are this one must come back exactly and do not count in the range."""
    for what in (original, decoded):
        _no_file(what, "verify A.h5 B.h5")
    first, second = np.asarray(original), np.asarray(decoded)
    if first.shape != second.shape or first.dtype.newbyteorder("=") != second.dtype.newbyteorder("="):
        raise ValueError(f"The arrays differ in kind: {first.dtype} {first.shape} and {second.dtype} "
                         f"{second.shape}: give two of one type and shape.")
    if sum(bound is not None for bound in (abs, noa, rel)) > 1:
        raise ValueError("abs, noa and rel exclude each other: give one.")
    for key, bound in ("abs", abs), ("noa", noa), ("rel", rel):
        _check_bound(key, bound)
    a = _floats(first.astype(first.dtype.newbyteorder("="), copy=False)).reshape(-1)
    b = _floats(second.astype(second.dtype.newbyteorder("="), copy=False)).reshape(-1)
    identical = a.tobytes() == b.tobytes()
    if a.dtype.kind != "f":
        differ = int((a != b).sum()) if not identical else 0
        return Verification(a.size, math.nan if differ else 0.0, math.nan if differ else 0.0,
                            math.nan if differ else math.inf, None, differ, True, identical)
    finite = np.isfinite(a) & np.isfinite(b)
    bits = _differ(a, b)
    non_finite_equal = not bits[~finite].any()
    marks = np.zeros(a.shape, bool) if fill is None else a == a.dtype.type(fill)
    x, y = a[finite & ~marks], b[finite & ~marks]
    wide = np.float64 if a.itemsize <= 8 else a.dtype.type
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(x.astype(wide) - y.astype(wide))
        spread = float(x.max()) - float(x.min()) if x.size else 0.0
    if abs is not None or noa is not None:
        exact = Fraction(abs) if abs is not None else (
            Fraction(noa) * (Fraction(float(x.max())) - Fraction(float(x.min()))) if x.size else Fraction(0))
        limit = float(exact) if exact < Fraction(np.finfo(np.float64).max) else math.inf
        violations, bound = _count_violations(x, y, error, limit, lambda i: exact), limit
    elif rel is not None:
        share = Fraction(rel)
        violations = _count_violations(x, y, error, rel * np.abs(x.astype(wide)),
                                       lambda i: share * builtin_abs(Fraction(float(x[i]))))
        bound = None
    else:
        violations, bound = int((bits & finite & ~marks).sum()), None
    violations += int(bits[marks].sum())
    mean_square = float(np.mean(error * error)) if error.size else 0.0
    psnr = math.inf if mean_square == 0 else (
        20 * math.log10(spread / math.sqrt(mean_square)) if spread > 0 else -math.inf)
    return Verification(a.size, float(error.max(initial=0.0)), float(error.mean()) if error.size else 0.0,
                        psnr, bound, violations, non_finite_equal, identical, None if rel is None else float(rel))


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
    `h5twin suggest`: many small pieces spread over the array, codecs that take long get fewer of them.

    bounds: texts such as "abs=1e-3", tried with the lossy codecs. specs: what to try instead of all.
    Raises ValueError for an empty array, and H5twinError with the library's sentence."""
    _no_file(array, "suggest FILE.h5")
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
    """A chunk shape for an array: at most 1 MiB, along the array's shape, and in multiples of the block
    sides that codecs work on (16, 64 in two dimensions, 4096 in one) where an axis is cut. It is what
    `h5twin repack --chunks auto` takes.

    `chunks=True` of h5py cuts all axes into many small pieces, which costs ratio and speed."""
    try:
        extents = [operator.index(extent) for extent in (shape if np.iterable(shape) else [shape])]
    except TypeError:
        extents = [-1]
    if any(not 0 <= extent < 1 << 63 for extent in extents):
        raise ValueError(f"shape={shape!r} is not a shape: give whole numbers from 0 on, such as array.shape.")
    return _library.chunk_shape(extents, np.dtype(dtype).itemsize)


__all__ = ["FILTERS", "Suggestion", "Verification", "chunks", "decode", "encode", "suggest", "verify"]
