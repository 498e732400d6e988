# SPDX-License-Identifier: BSD-3-Clause
"""How far two arrays are apart, and whether within a bound, in exact arithmetic."""

from __future__ import annotations

import dataclasses
import math
import os
from fractions import Fraction
from typing import Any

import numpy as np


def refuse_file_name(what: Any, command: str) -> None:
    """Raises TypeError for a name where an array belongs."""
    if isinstance(what, (str, bytes, os.PathLike)):
        raise TypeError(f"{what!r} is not an array: open the file and give its data, or run "
                        f"`python -m h5twin {command}`.")


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


def _checked(key: str, bound: Any) -> Any:
    """A bound as a number of Python's."""
    if bound is None:
        return None
    if not isinstance(bound, (int, float, Fraction, np.integer, np.floating)):
        raise TypeError(f"{key}={bound!r} is not a number: give one, for example {key}=1e-3.")
    if not 0 <= bound < math.inf:
        raise ValueError(f"{key}={bound!r}: a bound is finite and not negative: give for example {key}=1e-3.")
    return bound.item() if isinstance(bound, np.generic) else bound


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


def _beyond_bound(x: np.ndarray, y: np.ndarray, error: np.ndarray, abs: float | None, noa: float | None,
                  rel: float | None) -> tuple[int, float | None]:
    """How many values are beyond the one bound that is given, and that bound if it is the same for all."""
    if rel is not None:
        share = Fraction(rel)
        return _count_violations(x, y, error, rel * np.abs(x.astype(error.dtype)),
                                 lambda i: share * builtin_abs(Fraction(float(x[i])))), None
    if abs is not None:
        exact = Fraction(abs)
    else:
        exact = Fraction(noa) * (Fraction(float(x.max())) - Fraction(float(x.min()))) if x.size else Fraction(0)
    limit = float(exact) if exact < Fraction(np.finfo(np.float64).max) else math.inf
    return _count_violations(x, y, error, limit, lambda i: exact), limit


def verify(original: Any, decoded: Any, *, abs: float | None = None, noa: float | None = None,
           rel: float | None = None, fill: float | None = None) -> Verification:
    """Compare two arrays of one shape: errors, and which values exceed a bound.

    abs: |x - x'| <= abs. noa: |x - x'| <= noa * (max - min) of the whole array. rel: |x - x'| <= rel * |x|.
    fill: values of `original` that are this one must come back exactly and do not count in the range."""
    for what in (original, decoded):
        refuse_file_name(what, "verify A.h5 B.h5")
    first, second = np.asarray(original), np.asarray(decoded)
    if first.shape != second.shape or first.dtype.newbyteorder("=") != second.dtype.newbyteorder("="):
        raise ValueError(f"The arrays differ in kind: {first.dtype} {first.shape} and {second.dtype} "
                         f"{second.shape}: give two of one type and shape.")
    if sum(bound is not None for bound in (abs, noa, rel)) > 1:
        raise ValueError("abs, noa and rel exclude each other: give one.")
    abs, noa, rel = (_checked(key, bound) for key, bound in (("abs", abs), ("noa", noa), ("rel", rel)))
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
    if abs is not None or noa is not None or rel is not None:
        violations, bound = _beyond_bound(x, y, error, abs, noa, rel)
    else:
        violations, bound = int((bits & finite & ~marks).sum()), None
    violations += int(bits[marks].sum())
    mean_square = float(np.mean(error * error)) if error.size else 0.0
    psnr = math.inf if mean_square == 0 else (
        20 * math.log10(spread / math.sqrt(mean_square)) if spread > 0 else -math.inf)
    return Verification(a.size, float(error.max(initial=0.0)), float(error.mean()) if error.size else 0.0,
                        psnr, bound, violations, non_finite_equal, identical, None if rel is None else float(rel))
