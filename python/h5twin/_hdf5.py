# SPDX-License-Identifier: BSD-3-Clause
"""Make the filters known to every HDF5 library of this process, loaded or to come.

A process can hold several: h5py, netCDF4 and PyTables bring their own. Each is told where the
plugins are by H5PLprepend, those to come (and child processes) by HDF5_PLUGIN_PATH."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from typing import Any, Iterable

from ._library import PLUGIN_PATH

_TEXT_BYTES = 4096
_NAME = re.compile(r"(lib)?hdf5(_serial|_openmpi|_mpich|_parallel)?[-.]")
_MODULES = ("h5py", "tables", "netCDF4")  # that bring an HDF5


def _objects() -> Iterable[str]:
    """Files of all shared objects of this process."""
    if sys.platform.startswith("linux"):
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            yield from {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/" in line}
    elif sys.platform == "darwin":
        system = ctypes.CDLL(None)
        system._dyld_get_image_name.restype = ctypes.c_char_p
        yield from (os.fsdecode(system._dyld_get_image_name(index)) for index in range(system._dyld_image_count()))
    elif sys.platform == "win32":
        yield from _windows_objects()


def _windows_objects() -> Iterable[str]:
    system = ctypes.WinDLL("kernel32", use_last_error=True)
    handles, size = (ctypes.c_void_p * 1024)(), ctypes.c_uint32()
    system.GetCurrentProcess.restype = ctypes.c_void_p
    system.K32EnumProcessModules.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
    system.GetModuleFileNameW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32]
    if system.K32EnumProcessModules(system.GetCurrentProcess(), handles, ctypes.sizeof(handles), ctypes.byref(size)):
        for handle in handles[:size.value // ctypes.sizeof(ctypes.c_void_p)]:
            name = ctypes.create_unicode_buffer(_TEXT_BYTES)
            if system.GetModuleFileNameW(handle, name, _TEXT_BYTES):
                yield name.value


def loaded() -> list[str]:
    """Files of the HDF5 libraries that this process has loaded."""
    return sorted(file for file in _objects() if _NAME.match(os.path.basename(file)))


def _open(file: str) -> ctypes.CDLL:
    """A library that is loaded already."""
    return ctypes.CDLL(file, mode=getattr(os, "RTLD_NOLOAD", 0) | getattr(os, "RTLD_LAZY", 0))


def of_h5py(h5py: Any) -> ctypes.CDLL | None:
    """What leads to the HDF5 that h5py is linked with, whichever others are loaded; None if nothing does."""
    package = h5py.h5d.__name__.rpartition(".")[0]
    for name in ("h5d", "defs"):  # where a linker drops what a module does not call itself, only the last
        module = sys.modules.get(f"{package}.{name}")
        if module is not None and getattr(module, "__file__", None):
            library = _open(module.__file__)
            if hasattr(library, "H5Dread"):
                return library
    return None


def find() -> int | None:
    """The handle of an HDF5 of this process, after loading that of h5py or another module; None if
    there is none."""
    for name in _MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        files = loaded()
        if files:
            return _open(files[0])._handle
    return None


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
        library = _open(file)
        if not _knows(library, os.fsencode(folder)):
            library.H5PLprepend(os.fsencode(folder))
    return found
