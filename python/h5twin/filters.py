# SPDX-License-Identifier: BSD-3-Clause
"""The filters as Python objects: what to pass to h5py, h5netcdf and xarray."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Iterator, Mapping, Sequence

import numpy as np

from . import _library

try:
    import h5py

    _Base = h5py.filters.FilterRefBase
except (ImportError, AttributeError):  # no h5py, or one that is too old for this class

    class _Base(Mapping):  # type: ignore[no-redef]
        """What h5py's class is to create_dataset(**filter)."""

        filter_id: int
        filter_options: tuple = ()

        @property
        def _kwargs(self) -> dict[str, Any]:
            return {"compression": self.filter_id, "compression_opts": self.filter_options}

        def __getitem__(self, key: str) -> Any:
            return self._kwargs[key]

        def __iter__(self) -> Iterator[str]:
            return iter(self._kwargs)

        def __len__(self) -> int:
            return len(self._kwargs)


_CODECS = {codec.name: codec for codec in _library.codecs()}
FILTERS: dict[int, type[Filter]] = {}


def _text(key: str, value: Any) -> str:
    """A value as the library reads it, with every digit that it needs."""
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{key}={value!r} is not a number: give one, for example {key}=1e-3.") from None
    if key in ("abs", "noa", "rel") and not (0 < number < math.inf):
        raise _library.H5twinError(f"{key}={value!r}: the error bound must be positive and finite: give for "
                                   f"example {key}=1e-3, or none for lossless.")
    return repr(number)


class Filter(_Base):
    """One of the filters with its parameters.

    Use it as `create_dataset(..., **h5twin.Sleek(abs=1e-3))`, as the value of h5py's `compression`,
    or `dict(...)` of it as xarray's encoding of a variable. Equal parameters compare equal."""

    name: ClassVar[str]
    filter_id: ClassVar[int]
    filter_options: tuple[int, ...]
    _has_aliases: ClassVar[bool] = False  # names that only the library knows

    def __init_subclass__(cls) -> None:
        cls.filter_id = _CODECS[cls.name].filter_id
        FILTERS[cls.filter_id] = cls

    def __new__(cls, *misplaced: Any, **options: Any) -> Filter:
        codec = _CODECS[cls.name]
        unknown = [key for key in options if key not in codec.parameters() and not cls._has_aliases]
        if misplaced or unknown:
            what = f"no parameter {unknown[0]!r}" if unknown else "parameters by name only"
            raise TypeError(f"{cls.__name__} takes {what}: give {', '.join(f'{key}=' for key in codec.parameters())}, or "
                            f"none{' for lossless' if codec.lossy else ''}.")
        return super().__new__(cls)

    def __init__(self, **options: Any):
        given = {key: value for key, value in options.items() if value is not None}
        bounds = [key for key in ("abs", "noa", "rel") if key in given]
        if len(bounds) > 1:
            raise _library.H5twinError(f"{self.name}: {' and '.join(bounds)} exclude each other: give one.")
        pairs = ",".join(f"{key}={_text(key, value)}" for key, value in given.items())
        self._params = _library.Params.from_spec(f"{self.name}:{pairs}" if pairs else self.name)
        self.filter_options = self._params.cd_values()

    @property
    def spec(self) -> str:
        """The parameters as text, as the command and the C library take them."""
        return self._params.spec()

    def get_config(self) -> dict[str, Any]:
        """The parameters that differ from the defaults, as the constructor takes them."""
        _, _, pairs = self.spec.partition(":")
        return {key: _value(text) for key, text in (pair.split("=", 1) for pair in pairs.split(",") if pair)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_config().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple:
        return from_spec, (self.spec,)

    def _key(self) -> tuple:
        return self.filter_id, self.filter_options


def _value(text: str) -> Any:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return text


class Sleek(Filter):
    """Fast; lossless, or with a guaranteed bound on the error of each value.

    abs: |x - x'| <= abs, in the data's units.
    noa: |x - x'| <= noa * (max - min) of each chunk's finite values.
    fill: with a bound: the value that stands for missing data. It comes back bit for bit and counts for
        no range. The dataset's own fill value does so anyway."""

    name = "sleek"

    def __init__(self, *, abs: float | None = None, noa: float | None = None, fill: float | None = None):
        super().__init__(abs=abs, noa=noa, fill=fill)


class Fpcompress(Filter):
    """Lossless. mode: "ratio" (default) finds repeats, "speed" packs bits of differences."""

    name = "fpcompress"

    def __init__(self, *, mode: str | None = None):
        super().__init__(mode=mode)


class Ndzip(Filter):
    """Lossless; fields on grids of one to three dimensions.

    layout: "extended" (default) or "reference", the stream of its authors' program."""

    name = "ndzip"

    def __init__(self, *, layout: str | None = None):
        super().__init__(layout=layout)


class Gfc(Filter):
    """Lossless, fast. dimensionality: how many components take turns (3 for x y z x y z ...), 1 to 32."""

    name = "gfc"

    def __init__(self, *, dimensionality: int | None = None):
        super().__init__(dimensionality=dimensionality)


class E2mc(Filter):
    """Lossless; few distinct or slowly changing values. Its options are those that `python -m h5twin
    codecs` lists, such as symbol_bits=16, ways=4, profile="paper"."""

    name = "e2mc"
    _has_aliases = True

    def __init__(self, **options: int | str):
        super().__init__(**options)


class Cascade(Filter):
    """Lossless; floats and integers of any size, on grids of any rank.

    effort: "fast", "quick", "balanced" (default) or "max", what the encoder takes its time for."""

    name = "cascade"

    def __init__(self, *, effort: str | None = None):
        super().__init__(effort=effort)


class Lattice(Filter):
    """The smallest chunks within a guaranteed bound on the error of each value.

    abs: |x - x'| <= abs, in the data's units.
    noa: |x - x'| <= noa * (max - min) of each chunk's finite values.
    rel: |x - x'| <= rel * |x|; zeros, subnormal numbers and all signs stay as they are.
    fill: as for Sleek.
    min, max: limits, of at most six digits: a value within them decodes within them (a fraction stays in 0 to 1, a depth
        at least 0), one that is beyond them stays as it is.
    effort: "balanced" (default), "fast" or "max".
    stable: "yes": values stay within the bound however often their chunks are written in parts or in other shapes; with noa, within
        that of the largest range. "auto" (default): the same for abs and rel. "no": smaller chunks, to be written once and whole."""

    name = "lattice"

    def __init__(self, *, abs: float | None = None, noa: float | None = None, rel: float | None = None,
                 fill: float | None = None, min: float | None = None, max: float | None = None,
                 effort: str | None = None, stable: str | None = None):
        super().__init__(abs=abs, noa=noa, rel=rel, fill=fill, min=min, max=max, effort=effort, stable=stable)


def from_spec(spec: str) -> Filter:
    """The filter of a text such as "sleek:abs=1e-3"."""
    params = _library.Params.from_spec(spec)
    name, _, pairs = params.spec().partition(":")
    cls = FILTERS[_CODECS[name].filter_id]
    return cls(**dict(pair.split("=", 1) for pair in pairs.split(",") if pair))


def codec_of(filter_id: int) -> _library.Codec:
    codec = next((codec for codec in _CODECS.values() if codec.filter_id == filter_id), None)
    if codec is None:
        own = ", ".join(f"{codec.filter_id} {codec.name}" for codec in _CODECS.values())
        raise KeyError(f"{filter_id} is not a filter of h5twin ({own})")
    return codec


def from_cd_values(filter_id: int, cd_values: Sequence[int] = ()) -> Filter:
    """The filter that an id and cd_values describe, as given by a user or as stored in a file.

    Raises KeyError for the id of somebody else's filter, H5twinError for values that make no sense."""
    return from_spec(_library.Params.from_cd_values(codec_of(filter_id), cd_values).spec())
