# SPDX-License-Identifier: BSD-3-Clause
"""The codecs for numcodecs, and so for Zarr (format 2): the chunk bytes are those of the HDF5 filter.

    import numcodecs, h5twin.codecs
    codec = h5twin.codecs.H5twin("sleek:abs=1e-3")
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy
from numcodecs.registry import register_codec

from . import arrays
from .filters import from_spec


class H5twin(Codec):
    """spec: a codec with its options, such as "ndzip" or "sleek:abs=1e-3"."""

    codec_id = "h5twin"

    def __init__(self, spec: str):
        self.spec = from_spec(spec).spec

    def encode(self, buf: Any) -> bytes:
        values = np.asarray(buf)
        return arrays.encode(values, self.spec)

    def decode(self, buf: Any, out: Any = None) -> Any:
        values = arrays.decode(ensure_contiguous_ndarray(buf).view("u1").tobytes())
        return values if out is None else ndarray_copy(values, out)

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "spec": self.spec}

    def __repr__(self) -> str:
        return f"H5twin({self.spec!r})"


register_codec(H5twin)
