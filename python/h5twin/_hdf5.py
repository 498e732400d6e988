# SPDX-License-Identifier: BSD-3-Clause
"""Make the filters known to every HDF5 library of this process, loaded or to come.

A process can hold several: h5py, netCDF4 and PyTables bring their own. Each is told where the
plugins are by H5PLprepend, those to come (and child processes) by HDF5_PLUGIN_PATH."""

from __future__ import annotations

import ctypes
import os
import re
import sys

from ._library import PLUGIN_PATH

_TEXT_BYTES = 4096
_NAME = re.compile(r"libhdf5(_serial|_openmpi|_mpich|_parallel)?[-.]")


def loaded() -> list[str]:
    """Files of the HDF5 libraries that this process has loaded; on Linux only."""
    if not sys.platform.startswith("linux"):
        return []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        files = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "libhdf5" in line}
    return sorted(file for file in files if _NAME.match(os.path.basename(file)))


def _knows(library: ctypes.CDLL, folder: bytes) -> bool:
    count, text = ctypes.c_uint(), ctypes.create_string_buffer(_TEXT_BYTES)
    library.H5PLget.restype = ctypes.c_ssize_t
    library.H5PLsize(ctypes.byref(count))
    return any(library.H5PLget(index, text, ctypes.c_size_t(_TEXT_BYTES)) > 0 and text.value == folder
               for index in range(count.value))


def activate() -> list[str]:
    """Let all HDF5 libraries find the plugins; `import h5twin` calls it. To be called again after
    another HDF5 was loaded by something that had cleared HDF5_PLUGIN_PATH.

    Returns the files of the libraries that are loaded already."""
    folder = str(PLUGIN_PATH)
    path = os.environ.get("HDF5_PLUGIN_PATH", "")
    if folder not in path.split(os.pathsep):
        os.environ["HDF5_PLUGIN_PATH"] = os.pathsep.join(filter(None, (folder, path)))
    found = loaded()
    for file in found:
        library = ctypes.CDLL(file, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        if not _knows(library, os.fsencode(folder)):
            library.H5PLprepend(os.fsencode(folder))
    return found
