# SPDX-License-Identifier: BSD-3-Clause
"""The codecs for Zarr format 3, with zarr-python 3: the chunk bytes are those of the HDF5 filter.

    import h5twin.zarr, zarr
    zarr.create_array("u.zarr", data=u, serializer=h5twin.zarr.H5twin("lattice:abs=1e-3"), compressors=None)

It is the codec that turns an array into bytes ("serializer"): only that one sees numbers and their
shape. Readers need h5twin installed, not imported. For format 2: h5twin.codecs."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from typing import Any

import numpy as np
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

from . import _library, arrays
from .filters import from_spec

_NAME = "h5twin"


def _dtype(spec: Any) -> np.dtype:
    """Of a chunk; zarr 3.1 has types of its own."""
    return np.dtype(spec.dtype.to_native_dtype() if hasattr(spec.dtype, "to_native_dtype") else spec.dtype)


@dataclasses.dataclass(frozen=True)
class H5twin(ArrayBytesCodec):
    """spec: a codec with its options, such as "cascade" or "lattice:abs=1e-3"; a filter class is taken, too.

    Values are stored little-endian, whatever the array has in memory. The array's fill value, with which Zarr
    pads chunks at the edges, comes back bit for bit from a lossy codec and counts for no range; so does another one
    that is named as fill= in spec."""

    spec: str
    is_fixed_size = False

    def __init__(self, spec: Any):
        object.__setattr__(self, "spec", from_spec(getattr(spec, "spec", spec)).spec)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> H5twin:
        configuration = data.get("configuration") or {}
        if data.get("name") != _NAME or set(configuration) != {"spec"}:
            raise ValueError(f"{data!r} does not describe an h5twin codec: it has the name {_NAME!r} and in its "
                             "configuration a spec, such as 'lattice:abs=1e-3', and nothing else.")
        return cls(configuration["spec"])

    def to_dict(self) -> dict[str, Any]:
        return {"name": _NAME, "configuration": {"spec": self.spec}}

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        fill, pads_zeros = _declared_fill(self.spec, _dtype(chunk_spec), chunk_spec.fill_value)
        chunk = await asyncio.to_thread(arrays.encode_chunk, chunk_array.as_numpy_array(), self.spec, 1, fill, pads_zeros)
        return chunk_spec.prototype.buffer.from_bytes(chunk)

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        values = await asyncio.to_thread(_decode, chunk_bytes.to_bytes(), _dtype(chunk_spec), chunk_spec.shape)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(values)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("How large a chunk becomes depends on its values.")


def _declared_fill(spec: str, dtype: np.dtype, fill_value: Any) -> tuple[float, bool]:
    """The array's fill value as the HDF5 filter takes the dataset's, nan for none, and whether zeros are but padding."""
    keys = from_spec(spec).get_config()
    if dtype.kind not in "fc" or not {"abs", "noa", "rel"} & set(keys):
        return math.nan, False
    value = dtype.type(0 if fill_value is None else fill_value)
    parts = {float(value.real), float(value.imag)} if dtype.kind == "c" else {float(value)}
    if len(parts) > 1:
        raise _library.H5twinError("The members of the fill value differ, and a lossy codec can keep only one value as it "
                                   "is: use the lossless mode, or one fill value.")
    part = parts.pop()
    if part == 0 and math.copysign(1, part) > 0 and ("fill" in keys or "noa" not in keys):  # exact anyway
        return math.nan, "noa" in keys
    return part, False


def _decode(chunk: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    stored = dtype.newbyteorder(">" if _library.inspect(chunk).big_endian else "<")
    return arrays.decode(chunk, stored, shape, threads=1).astype(dtype, copy=False)


register_codec(_NAME, H5twin)
