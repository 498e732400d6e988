# SPDX-License-Identifier: BSD-3-Clause
"""What a dataset of an HDF5 file is stored with, in words."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Sequence

import numpy as np

from . import _library
from .filters import FILTERS, Filter, codec_of, from_cd_values

_MODES = {
    "abs": "|x - x'| <= {0:g} for every finite value",
    "noa": "|x - x'| <= {0:g} * (max - min) of each chunk",
    "rel": "|x - x'| <= {0:g} * |x| for every finite value",
}


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What a filter does to a dataset."""
    filter: Filter
    bound: str  # in words
    shape: tuple[int, ...] | None
    dtype: str | None
    chunks: tuple[int, ...] | None
    raw_bytes: int | None  # of the values
    stored_bytes: int | None  # in the file, chunks only

    @property
    def ratio(self) -> float | None:
        """Raw over stored bytes; None where nothing is stored or known."""
        return self.raw_bytes / self.stored_bytes if self.raw_bytes and self.stored_bytes else None

    def __str__(self) -> str:
        lines = [f"{self.filter.spec} (HDF5 filter {self.filter.filter_id}): {self.bound}"]
        if self.shape is not None:
            lines.append(f"{self.dtype}, {' x '.join(map(str, self.shape)) or 'one value'}, in chunks of "
                         f"{' x '.join(map(str, self.chunks or ()))}")
        if self.ratio is not None:
            lines.append(f"{self.raw_bytes} bytes are stored as {self.stored_bytes}: ratio {self.ratio:.3f}")
        elif self.stored_bytes == 0:
            lines.append("nothing is stored yet")
        return "\n".join(lines)


def _bound_of(chosen: Filter, dtype: Any) -> str:
    """The bound of a dataset's values: that of its filter, where it is for their type."""
    size = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    words = _bound_in_words(chosen)
    if words == "lossless" or (dtype.kind in "fc" and size in (4, 8)):
        return words
    return "lossless, as bounds are for float32 and float64"


def _named(what: Any) -> str:
    """An object in one line."""
    return repr(what) if isinstance(what, (str, type(None))) else f"a {type(what).__name__}"


def _bound_in_words(chosen: Filter) -> str:
    config = chosen.get_config()
    for key, words in _MODES.items():
        if key in config:
            return words.format(config[key])
    return "lossless"


@dataclasses.dataclass(frozen=True)
class ChunkParams:
    """How a dataset's filter codes its chunks, which encode() takes."""
    spec: str
    chunks: tuple[int, ...]
    dtype: np.dtype  # as stored
    params: _library.Params = dataclasses.field(repr=False, compare=False)

    def take(self, values: np.ndarray) -> np.ndarray:
        """A whole chunk as it lies in HDF5's memory."""
        if values.shape != self.chunks:
            raise ValueError(f"An array of {values.shape} is no chunk of {self.chunks}: give a whole one, at the "
                             "dataset's edges padded with its fill value.")
        return np.ascontiguousarray(values, self.dtype)


def params(dataset: Any) -> ChunkParams:
    """What the filter of an h5py dataset knows of it: codec, options, bound, fill values, type, shape.

    encode(chunk, params(dataset)) gives the bytes that the filter would store, for write_direct_chunk().
    Raises ValueError unless a filter of h5twin is the only one of the dataset, TypeError for anything else."""
    stages = _stages(dataset, "params")
    if len(stages) != 1 or stages[0][0] not in FILTERS:
        raise ValueError(f"{dataset.name} has other filters than one of h5twin, or none: {_names(stages)}. Chunks to be "
                         "written directly are the whole pipeline's: create the dataset with one filter alone.")
    filter_id, _flags, words, _name = stages[0]
    found = _library.Params.from_cd_values(codec_of(filter_id), words)
    return ChunkParams(found.spec(), tuple(dataset.chunks), dataset.dtype, found)


def _stages(what: Any, function: str) -> list[tuple]:
    """The filters of a dataset."""
    if not hasattr(getattr(what, "id", None), "get_create_plist") or not hasattr(what, "chunks"):
        more = ", or a filter's id with its cd_values," if function == "explain" else ","
        raise TypeError(f"{function} takes an h5py dataset, such as file[\"u\"]{more} not {_named(what)}.")
    plist = what.id.get_create_plist()
    return [plist.get_filter(index) for index in range(plist.get_nfilters())]


def _names(stages: list[tuple]) -> str:
    return ", ".join(f"{stage[0]} {stage[3].decode(errors='replace')}" for stage in stages) or "none"


def explain(what: Any, cd_values: Sequence[int] = ()) -> Explanation:
    """Explain an h5py dataset, or a filter id with its cd_values.

    Raises ValueError if no filter of h5twin is in the dataset's pipeline, TypeError for anything else."""
    if isinstance(what, int):
        chosen = from_cd_values(what, cd_values)
        return Explanation(chosen, _bound_in_words(chosen), None, None, None, None, None)
    stages = _stages(what, "explain")
    for filter_id, _flags, words, _name in stages:
        if filter_id in FILTERS:
            chosen = from_cd_values(filter_id, tuple(words))
            return Explanation(chosen, _bound_of(chosen, what.dtype), tuple(what.shape), str(what.dtype),
                               what.chunks, math.prod(what.shape) * what.dtype.itemsize,
                               what.id.get_storage_size())
    raise ValueError(f"{what.name} is not stored through a filter of h5twin; its filters: {_names(stages)}.")


def config() -> dict[str, Any]:
    """What this installation is: versions, where things lie, the codecs, HDF5 libraries of the process."""
    from . import _hdf5
    return {
        "version": _library.version(),
        "library": _library.path,
        "plugins": str(_library.PLUGIN_PATH),
        "codecs": {codec.name: codec.filter_id for codec in _library.codecs()},
        "hdf5": _hdf5.loaded(),
    }
