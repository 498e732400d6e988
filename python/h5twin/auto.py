# SPDX-License-Identifier: BSD-3-Clause
"""`import h5twin.auto`: programs that know nothing of h5twin use it, without changing a line more.

    H5TWIN_POLICY=rules.policy python -c "import h5twin.auto, model; model.run()"

Datasets that h5py creates without any filter get the codec that the policy says (`h5twin policy`
drafts one; docs: Policies). Where HDF5 takes VOL connectors (1.14 and later) and the package has that of
h5twin, h5py's files are opened with it, as under `h5twin run`; else h5py itself is changed. Either way arrays
of many chunks are coded on all cores. HDF5 libraries that are loaded later (netCDF4, PyTables) find the connector in
the environment.

    h5twin.auto.status()            what is on
    h5twin.auto.off()               h5py as it was; files that are open stay as they are
    h5twin.auto.on("rules.policy")  on again, maybe with another policy

H5TWIN_AUTO=patches before Python starts, or on(connector=False), changes h5py where it could have the connector.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import importlib
import os
import sys
import threading
from typing import Any, Callable

from . import _dataset_ids, _hdf5, _library

_OUTCOME_BYTES, _ERROR_BYTES = 4096, 512  # tools/package.h
_LEAVE = -1
_CONNECTOR, _CONNECTOR_FILE = "h5twin", _library.PLUGIN_PATH / "vol" / "libh5twin_vol.so"

_id = ctypes.c_int64
_read_policy = _library._package_function("h5twin_package_policy_read", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_free_policy = _library._package_function("h5twin_package_policy_free", None, ctypes.c_void_p)
_apply_policy = _library._package_function("h5twin_package_policy_apply", _id, ctypes.c_void_p, ctypes.c_void_p,
                                           ctypes.c_char_p, ctypes.c_bool, _id, _id, _id, ctypes.c_char_p)
_pause_policy = _library._package_function("h5twin_package_policy_pause", None, ctypes.c_bool)
_log_policy = _library._package_function("h5twin_package_policy_log", None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool)


@dataclasses.dataclass(frozen=True)
class Status:
    """What h5twin.auto does in this process."""
    is_on: bool
    way: str  # "connector": h5py's files are opened with it; "patches": h5py is changed; "off", "environment"
    hdf5: str  # version of h5py's; "" without h5py
    policy: str  # its file; "" for none
    details: tuple[str, ...]  # sentences: why this way, and what is not done

    def __str__(self) -> str:
        head = {"connector": f"h5twin's connector serves h5py (HDF5 {self.hdf5})",
                "patches": f"h5py (HDF5 {self.hdf5}) is changed: its datasets are coded on all cores, and the policy is "
                           "asked for new ones",
                "environment": "h5py is not here; HDF5 libraries to come find the connector in the environment",
                "off": "h5twin.auto is off"}[self.way]
        return " ".join([f"{head}; policy: {self.policy or 'none'}.", *self.details])


class _Undo:
    """What was changed, to be put back in the opposite order."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] = []

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        before = getattr(owner, name)
        setattr(owner, name, value)
        # Where another package has put its own around ours, that one must stay.
        self._steps.append(lambda: setattr(owner, name, before) if getattr(owner, name) is value else None)

    def variable(self, name: str, value: str) -> None:
        before = os.environ.get(name)
        os.environ[name] = value

        def put_back() -> None:
            if os.environ.get(name) == value:
                os.environ.pop(name)
                if before is not None:
                    os.environ[name] = before
        self._steps.append(put_back)

    def call(self, step: Callable[[], None]) -> None:
        self._steps.append(step)

    def run(self) -> None:
        while self._steps:
            self._steps.pop()()


_undo = _Undo()
_status = Status(False, "off", "", "", ())


# ---- the policy on what h5py creates ----

class _Policy:
    """A policy, applied by the functions of h5py's HDF5."""

    def __init__(self, h5py: Any, handle: int) -> None:
        self.h5py, self.handle = h5py, handle
        self.library = (_hdf5.of_h5py(h5py) or _hdf5._open(_hdf5.loaded()[0]))._handle

    def apply(self, loc: Any, name: Any, type_id: Any, space: Any, dcpl: Any) -> tuple[Any, Any]:
        """The changed list, or None, and the outcome for the log."""
        h5py, outcome = self.h5py, ctypes.create_string_buffer(_OUTCOME_BYTES)
        changed = _apply_policy(self.library, self.handle, _path(h5py, loc, name), _is_parallel(h5py, loc),
                                dcpl.id, type_id.id, space.id, outcome)
        return (None if changed == _LEAVE else h5py.h5p.PropDCID(changed)), outcome


def _path(h5py: Any, loc: Any, name: Any) -> bytes | None:
    if name is None:
        return None
    text = name if isinstance(name, bytes) else str(name).encode("utf-8", "surrogateescape")
    if text.startswith(b"/"):
        return text
    return (h5py.h5i.get_name(loc) or b"").rstrip(b"/") + b"/" + text


def _is_parallel(h5py: Any, loc: Any) -> bool:
    if not h5py.get_config().mpi:
        return False
    return h5py.h5i.get_file_id(loc).get_access_plist().get_driver() == h5py.h5fd.MPIO


def _file_name(h5py: Any, loc: Any) -> bytes:
    name = h5py.h5f.get_name(loc)
    return name if isinstance(name, bytes) else os.fsencode(name)


def _creating(policy: _Policy, original: Callable[..., Any]) -> Callable[..., Any]:
    """h5py.h5d.create, through which all datasets of h5py go."""
    h5py = policy.h5py

    @functools.wraps(original)
    def create(loc: Any, name: Any, tid: Any, space: Any, dcpl: Any = None, *rest: Any, **more: Any) -> Any:
        with h5py._objects.phil:
            known = getattr(_assigned, "name", None) if name is None else name
            asked = h5py.h5p.create(h5py.h5p.DATASET_CREATE) if dcpl is None else dcpl
            changed, outcome = policy.apply(loc, known, tid, space, asked)
            refused = False
            _pause_policy(True)  # of the connector, which would ask again
            try:
                if changed is not None:
                    try:
                        made = original(loc, name, tid, space, changed, *rest, **more)
                    except Exception:  # whatever HDF5 says of our list, it must say of the program's
                        changed, refused = None, True
                if changed is None:
                    made = original(loc, name, tid, space, dcpl, *rest, **more)
            finally:
                _pause_policy(False)
            _log_policy(_file_name(h5py, loc), outcome, refused)
            return made
    return create


_assigned = threading.local()  # .name: what file["u"] = array will be called


def _assigning(h5py: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """h5py.Group.__setitem__, which creates a dataset without a name and links it afterwards."""
    @functools.wraps(original)
    def set_item(self: Any, name: Any, value: Any) -> None:
        before, _assigned.name = getattr(_assigned, "name", None), name
        try:
            original(self, name, value)
        finally:
            _assigned.name = before
    return set_item


# ---- the connector for h5py's files ----

def _connector_id(h5py: Any) -> int | str:
    """The connector in h5py's HDF5, or why there is none."""
    if h5py.version.hdf5_version_tuple < (1, 14):
        return "This HDF5 is older than 1.14, which is the first to take the connector."
    if not hasattr(_library._c, "h5twin_vol_class"):
        return "This package has no connector."
    hdf5 = _hdf5.of_h5py(h5py)
    if hdf5 is None:
        return "h5py's HDF5 is not found."
    vol_class = _library._package_function("h5twin_vol_class", ctypes.c_void_p, ctypes.c_void_p)
    try:
        found = vol_class(ctypes.cast(hdf5.H5open, ctypes.c_void_p))
        hdf5.H5VLregister_connector.restype, hdf5.H5VLregister_connector.argtypes = _id, [ctypes.c_void_p, _id]
        connector = hdf5.H5VLregister_connector(found, 0) if found else -1
    except AttributeError:
        connector = -1
    return connector if connector >= 0 else "This HDF5 does not take the connector."


def _opening(h5py: Any, connector: int, original: Callable[..., Any]) -> Callable[..., Any]:
    """h5py's make_fapl: the list that its files are opened with."""
    hdf5 = _hdf5.of_h5py(h5py)
    hdf5.H5Pset_vol.argtypes = [_id, _id, ctypes.c_void_p]

    @functools.wraps(original)
    def make_fapl(*arguments: Any, **more: Any) -> Any:
        fapl = original(*arguments, **more)
        with h5py._objects.phil:
            hdf5.H5Pset_vol(fapl.id, connector, None)
        return fapl
    return make_fapl


# ---- on and off ----

def _set_environment(policy: str, connector: bool) -> None:
    """For HDF5 libraries that are not loaded yet, and for child processes."""
    if policy:
        _undo.variable("H5TWIN_POLICY", policy)
    if connector and _CONNECTOR_FILE.exists() and os.environ.get("HDF5_VOL_CONNECTOR", "native") in ("", "native"):
        folder, path = str(_CONNECTOR_FILE.parent), os.environ.get("HDF5_PLUGIN_PATH", "")
        if folder not in path.split(os.pathsep):
            _undo.variable("HDF5_PLUGIN_PATH", os.pathsep.join(filter(None, (folder, path))))
        _undo.variable("HDF5_VOL_CONNECTOR", _CONNECTOR)


def _policy_of(path: str) -> tuple[int | None, bool]:
    """A policy and whether it is ours to free; that of the environment if path is empty."""
    if not path:
        return _read_policy(None, None), False
    error = ctypes.create_string_buffer(_ERROR_BYTES)
    handle = _read_policy(os.fsencode(path), error)
    if not handle:
        raise _library.H5twinError(error.value.decode(errors="replace"))
    return handle, True


def _has_connector_already() -> bool:
    return os.environ.get("HDF5_VOL_CONNECTOR", "").split(" ")[0] == _CONNECTOR


def _change_datasets(h5py: Any) -> None:
    """What h5py reads and writes goes over all cores."""
    _undo.attribute(h5py.h5d, "create", _dataset_ids.creating(h5py, h5py.h5d.create))
    _undo.attribute(h5py.Dataset, "__init__", _dataset_ids.initializing(h5py, h5py.Dataset.__init__))
    _undo.attribute(h5py.File, "close", _dataset_ids.closing(h5py, h5py.File.close))
    if isinstance(getattr(h5py.Dataset, "_fast_reader", None), property):
        _undo.attribute(h5py.Dataset, "_fast_reader", _dataset_ids.reading(h5py, h5py.Dataset._fast_reader))


def on(policy: str | os.PathLike | None = None, *, connector: bool = True) -> Status:
    """Switch on; `import h5twin.auto` calls it. policy: a file; None takes H5TWIN_POLICY. connector: False changes h5py
    even where its HDF5 takes the connector.

    Raises H5twinError, with the place in the file, if `policy` cannot be used. One that H5TWIN_POLICY
    names and that cannot be used leaves the program as it is; status() says so. For what other
    libraries create the connector keeps the first policy that it has read in a process."""
    global _status
    off()
    was_there = _has_connector_already()
    given = os.path.abspath(os.fspath(policy)) if policy is not None else ""
    handle, is_ours = _policy_of(given)
    if is_ours:
        _undo.call(lambda: _free_policy(handle))
    named = given or (os.path.abspath(os.environ.get("H5TWIN_POLICY", "")) if handle else "")
    details = []
    if not handle and os.environ.get("H5TWIN_POLICY"):
        details.append("H5TWIN_POLICY cannot be used: `h5twin policy --check` says where it is wrong.")
    try:
        h5py = importlib.import_module("h5py")
    except ImportError:
        h5py = None
    _set_environment(given, connector)
    way, version = "environment", ""
    if h5py is not None:
        version = h5py.version.hdf5_version
        found: int | str = "The connector is not wanted."
        if was_there and h5py.version.hdf5_version_tuple >= (1, 14):
            found = 0
        elif connector:
            found = _connector_id(h5py)
        if isinstance(found, int):
            way = "connector"
            if not was_there:
                files = sys.modules[h5py.File.__module__]  # Debian has another name for it
                _undo.attribute(files, "make_fapl", _opening(h5py, found, files.make_fapl))
        else:
            way = "patches"
            details.append(found)
            if _dataset_ids.takes_over():
                _change_datasets(h5py)
        if handle:  # here, not in the connector: h5py knows the names of file["u"] = array
            _undo.attribute(h5py.h5d, "create", _creating(_Policy(h5py, handle), h5py.h5d.create))
            _undo.attribute(h5py.Group, "__setitem__", _assigning(h5py, h5py.Group.__setitem__))
    _status = Status(True, way, version, named, tuple(details))
    return _status


def off() -> Status:
    """Undo all of it. What is open stays as it was opened, and what was written as it was written."""
    global _status
    _undo.run()
    _status = Status(False, "off", _status.hdf5, "", ())
    return _status


def status() -> Status:
    """What is on, and why not more; print it to read it."""
    return _status


on(connector=os.environ.get("H5TWIN_AUTO") != "patches")

__all__ = ["Status", "off", "on", "status"]
