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
    values: int  # that were compared: those that both arrays mask are not
    max_error: float
    mean_error: float
    psnr: float  # dB, 20 log10((max - min) / root mean square error); inf if there is no error
    bound: float | None  # absolute bound of a value that was asked for; None: none, or relative to each value
    violations: int  # values beyond it, in exact arithmetic; without a bound, values that differ at all
    non_finite_equal: bool  # NaN and infinities are in the same places, with the same bits
    identical: bool  # all bits are the same
    relative_bound: float | None = None  # the rel= that was asked for
    became_fill: int = 0  # of the violations: other values that became the fill value, within the bound or not
    left_limits: int = 0  # of the violations: others that were within min and max and are no more

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
        if self.became_fill:
            bound += f", of which {self.became_fill} became the fill value"
        if self.left_limits:
            bound += f", of which {self.left_limits} left the limits"
        return (f"{self.values} values, max error {self.max_error:.6g}, mean error {self.mean_error:.6g}, "
                f"PSNR {self.psnr:.1f} dB{bound}, non-finite values "
                f"{'equal' if self.non_finite_equal else 'DIFFER'}")


def _pieces(values: np.ndarray, mask: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """An array in native byte order, and its mask, as flat ones of plain values: of a structured type one
    for each field, without what lies between them; of complex numbers their parts."""
    if values.dtype.names is not None:
        return [piece for name in values.dtype.names for piece in _pieces(values[name], mask[name])]
    values, mask = np.ascontiguousarray(values).reshape(-1), mask.reshape(-1)
    if values.dtype.kind == "c":
        return [(values.view(values.real.dtype), np.repeat(mask, 2))]
    return [(values, mask)]


def _differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which values have other bits; long doubles, which have spare ones, another value or sign."""
    if a.dtype.kind == "f" and a.itemsize > 8:
        return ~((a == b) | (np.isnan(a) & np.isnan(b))) | (np.signbit(a) != np.signbit(b))
    if a.dtype.kind in "OT":
        return np.fromiter((_text(x) != _text(y) for x, y in zip(a, b)), bool, a.size)
    if a.itemsize == 0:
        return np.zeros(a.shape, bool)
    if a.itemsize in (1, 2, 4, 8):
        return a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}")
    return (a.view("u1").reshape(a.size, -1) != b.view("u1").reshape(b.size, -1)).any(axis=1)


def _text(what: Any) -> Any:
    """Strings of any length are the only objects that numpy knows to be equal or not."""
    if not isinstance(what, (str, bytes)):
        raise TypeError(f"{what!r} is an object of Python's: give arrays of numbers or strings.")
    return what


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


def _rounded(exact: Fraction) -> float:
    return float(exact) if exact < Fraction(np.finfo(np.float64).max) else math.inf


def _exceeding(a: np.ndarray, b: np.ndarray, error: np.ndarray, limit: np.ndarray | float,
               exact_limit: Any) -> np.ndarray:
    """Where |a - b| > limit. Floating point decides where it is clear, rational numbers where an error is
    within a rounding of its limit."""
    slack = 1e-9
    clear = error > limit * (1 + slack)
    for i in np.flatnonzero(~clear & (error > 0) & ~(error < limit * (1 - slack))):
        clear[i] = _exceeds(a[i], b[i], exact_limit(i))
    return clear


def _beyond_bound(x: np.ndarray, y: np.ndarray, error: np.ndarray, spread: Fraction, abs: float | None,
                  noa: float | None, rel: float | None) -> tuple[np.ndarray, float | None]:
    """Which values are beyond the one bound that is given, and that bound if it is the same for all."""
    if rel is not None:
        share = Fraction(rel)
        return _exceeding(x, y, error, _rounded(share) * np.abs(x.astype(error.dtype)),
                          lambda i: share * builtin_abs(Fraction(float(x[i])))), None
    exact = Fraction(abs) if abs is not None else Fraction(noa) * spread
    return _exceeding(x, y, error, _rounded(exact), lambda i: exact), _rounded(exact)


def _marks(a: np.ndarray, fill: float | None) -> np.ndarray:
    """Which values are the fill value, rounded to their type, bit by bit: -0 is not 0."""
    if fill is None:
        return np.zeros(a.shape, bool)
    if not isinstance(fill, (int, float, np.integer, np.floating)):
        raise TypeError(f"fill={fill!r} is not a number: give one, for example fill=-9999.")
    with np.errstate(over="ignore"):
        return ~_differ(a, np.full(1, fill, a.dtype))


def _left(x: np.ndarray, y: np.ndarray, limits: tuple[float | None, float | None]) -> np.ndarray:
    """Which values are within the limits in x but not in y. As long as doubles: limits are not rounded."""
    low, high = (-math.inf if limits[0] is None else limits[0]), (math.inf if limits[1] is None else limits[1])
    x, y = (values.astype(np.float64) if values.itemsize < 8 else values for values in (x, y))
    return (x >= low) & (x <= high) & ~((y >= low) & (y <= high))


def _compare_floats(a: np.ndarray, b: np.ndarray, hidden: int, abs: float | None, noa: float | None,
                    rel: float | None, fill: float | None,
                    limits: tuple[float | None, float | None]) -> Verification:
    """Of two flat arrays; hidden: values that only one of the arrays masks."""
    has_bound = abs is not None or noa is not None or rel is not None
    if has_bound and a.itemsize > 8:
        raise TypeError(f"{a.dtype} has more digits than a bound is decided with: compare float64, or without a "
                        f"bound.")
    bits, marks = _differ(a, b), _marks(a, fill)
    became = _marks(b, fill) & ~marks
    finite = np.isfinite(a) & np.isfinite(b)
    plain = finite & ~marks
    x, y = a[plain], b[plain]
    ranged = a[np.isfinite(a) & ~marks]
    wide = np.float64 if a.itemsize <= 8 else a.dtype.type
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(x.astype(wide) - y.astype(wide))
        spread = float(x.max()) - float(x.min()) if x.size else 0.0
        if has_bound:
            exact = Fraction(float(ranged.max())) - Fraction(float(ranged.min())) if ranged.size else Fraction(0)
            beyond, bound = _beyond_bound(x, y, error, exact, abs, noa, rel)
        else:
            beyond, bound = bits[plain], None
        mean_square = float(np.mean(error * error)) if error.size else 0.0
    left = _left(x, y, limits) & ~became[plain]
    violations = int((beyond | became[plain] | left).sum()) + int(bits[marks].sum()) + hidden
    psnr = math.inf if mean_square == 0 else (
        20 * math.log10(spread / math.sqrt(mean_square)) if spread > 0 else -math.inf)
    return Verification(a.size + hidden, float(error.max(initial=0.0)), float(error.mean()) if error.size else 0.0,
                        psnr, bound, violations, not bits[~finite].any(), not bits.any() and hidden == 0,
                        None if rel is None else _rounded(Fraction(rel)), int(became[plain].sum()), int(left.sum()))


def _compare_others(pieces: list[tuple[np.ndarray, ...]], size: int) -> Verification:
    """What is equal or not. Each element counts once, whatever it consists of."""
    differ, seen = np.zeros(size, bool), np.zeros(size, bool)
    for a, a_mask, b, b_mask in pieces if size else []:
        differ |= ((_differ(a, b) & ~a_mask & ~b_mask) | (a_mask != b_mask)).reshape(size, -1).any(axis=1)
        seen |= (~a_mask | ~b_mask).reshape(size, -1).any(axis=1)
    violations = int(differ.sum())
    error = math.nan if violations else 0.0
    return Verification(int(seen.sum()), error, error, math.nan if violations else math.inf, None, violations, True,
                        violations == 0)


def verify(original: Any, decoded: Any, *, abs: float | None = None, noa: float | None = None,
           rel: float | None = None, fill: float | None = None, min: float | None = None,
           max: float | None = None) -> Verification:
    """Compare two arrays of one shape: errors, and which values exceed a bound.

    abs: |x - x'| <= abs. noa: |x - x'| <= noa * (max - min) of the whole array. rel: |x - x'| <= rel * |x|.
    fill: values of `original` that are this one must come back exactly and do not count in the range, and no
    other value may become it, however near.
    min, max: values of `original` within these limits must be so in `decoded`.

    A bound is for floats, complex numbers, and structured types of floats of one size; anything else, compared
    field by field, is equal or not. Both arrays must mask the same places, which are not compared."""
    for what in (original, decoded):
        refuse_file_name(what, "verify A.h5 B.h5")
    first, second = np.asanyarray(original), np.asanyarray(decoded)
    types = tuple(what.dtype.newbyteorder("=") for what in (first, second))
    if first.shape != second.shape or types[0] != types[1]:
        raise ValueError(f"The arrays differ in kind: {first.dtype} {first.shape} and {second.dtype} "
                         f"{second.shape}: give two of one type and shape.")
    if sum(bound is not None for bound in (abs, noa, rel)) > 1:
        raise ValueError("abs, noa and rel exclude each other: give one.")
    abs, noa, rel = (_checked(key, bound) for key, bound in (("abs", abs), ("noa", noa), ("rel", rel)))
    both = [_pieces(np.ma.getdata(what).astype(kind, copy=False), np.ma.getmaskarray(what))
            for what, kind in zip((first, second), types)]
    pieces = [(*left, *right) for left, right in zip(*both)]
    kinds = {a.dtype for a, *_ in pieces}
    if {kind.kind for kind in kinds} != {"f"} or len(kinds) > 1 or sum(a.nbytes for a, *_ in pieces) != first.nbytes:
        return _compare_others(pieces, first.size)
    a, a_mask, b, b_mask = (parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*pieces))
    seen = slice(None) if not a_mask.any() and not b_mask.any() else ~a_mask & ~b_mask
    return _compare_floats(a[seen], b[seen], int((a_mask != b_mask).sum()), abs, noa, rel, fill,
                           (min, max))
