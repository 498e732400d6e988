# SPDX-License-Identifier: BSD-3-Clause
"""Filters for variables of netCDF4-python, whose createVariable() takes only the compressors that it
knows by name.

    import h5twin.netcdf4, netCDF4
    with netCDF4.Dataset("out.nc", "w") as file:
        file.createDimension("x", 1000)
        t = file.createVariable("t", "f4", ("x",))
        h5twin.netcdf4.define(t, h5twin.Lattice(abs=1e-3))
        t[:] = values

It calls nc_def_var_filter() of the libnetcdf that netCDF4-python has loaded. netCDF4 is not needed to
import this module.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Sequence

from . import _hdf5
from ._library import H5twinError
from .arrays import chunks as advised_chunks
from .filters import Filter, from_spec

_CHUNKED = 0
_LATE = (-39, -123)  # NC_EINDEFINE, NC_ELATEDEF
_NO_FILTER = -136  # NC_ENOFILTER


def _libraries() -> list[ctypes.CDLL]:
    """Each libnetcdf of this process."""
    found = []
    for name in sorted(set(_hdf5._objects())):
        if "netcdf" in os.path.basename(name).lower():
            try:
                library = _hdf5._open(name)
                library.nc_def_var_filter, library.nc_inq_varname, library.nc_strerror
            except (OSError, AttributeError):
                continue
            library.nc_strerror.restype = ctypes.c_char_p
            found.append(library)
    return found


def _library_of(variable: Any) -> ctypes.CDLL:
    """The libnetcdf that knows this variable by its name: a process may hold several."""
    for library in _libraries():
        name = ctypes.create_string_buffer(1025)
        if library.nc_inq_varname(variable._grpid, variable._varid, name) == 0 and \
                name.value == variable.name.encode():
            return library
    raise H5twinError("No libnetcdf of this process knows the variable: it must be one of an open netCDF4.Dataset, and "
                      "netCDF4-python must use a shared libnetcdf, as its wheels do.")


def define(variable: Any, filter: Filter | str, chunks: str | Sequence[int] | None = None) -> None:
    """Give a new variable of netCDF4-python, before anything is written to it, a filter of h5twin.

    filter: h5twin.Lattice(abs=1e-3), or a spec such as "lattice:abs=1e-3". chunks: "auto" for those that
    h5twin.chunks() advises, where an unlimited dimension counts as one; or extents; None leaves what
    createVariable() was told. A filter that the file cannot have is an H5twinError."""
    if not hasattr(variable, "_grpid") or not hasattr(variable, "_varid"):
        raise TypeError(f"{variable!r} is not a variable of netCDF4-python: give what createVariable() returned.")
    chosen = from_spec(filter) if isinstance(filter, str) else filter
    if not isinstance(chosen, Filter):
        raise TypeError(f"filter={filter!r} is not a filter of h5twin: give for example h5twin.Lattice(abs=1e-3).")
    library = _library_of(variable)
    if chunks is not None:
        extents = advised_chunks(variable.shape, variable.dtype) if isinstance(chunks, str) else tuple(chunks)
        if (isinstance(chunks, str) and chunks != "auto") or len(extents) != len(variable.shape):
            raise ValueError(f'chunks={chunks!r} is not "auto", or {len(variable.shape)} extents.')
        sizes = (ctypes.c_size_t * max(len(extents), 1))(*extents)
        _check(library, library.nc_def_var_chunking(variable._grpid, variable._varid, _CHUNKED, sizes), variable)
    words = tuple(chosen.filter_options)
    values = (ctypes.c_uint * max(len(words), 1))(*words)
    _check(library, library.nc_def_var_filter(variable._grpid, variable._varid, ctypes.c_uint(chosen.filter_id),
                                              ctypes.c_size_t(len(words)), values), variable)


def _check(library: ctypes.CDLL, status: int, variable: Any) -> None:
    if status == 0:
        return
    if status in _LATE:
        why = "it exists in the file already: call define() right after createVariable(), before anything is written."
    elif status == _NO_FILTER:
        why = "its HDF5 does not find the filter: import h5twin before the first file is opened, or set HDF5_PLUGIN_PATH."
    else:
        text = (library.nc_strerror(status) or b"").decode(errors="replace")
        why = f"{text}. The file must be of NETCDF4 format, and the variable an array."
    raise H5twinError(f"{variable.name} cannot be given the filter: {why}")


__all__ = ["define"]
