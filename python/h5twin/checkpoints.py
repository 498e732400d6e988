# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of a simulation, of which the newest complete one is never lost.

    with h5twin.Checkpoints("out", keep=3, every_steps=100) as checkpoints:
        with checkpoints.newest() as found:
            if found is not None:
                step, u = found.step, found["flow/u"]
        while step < last:
            ...
            if checkpoints.is_due(step):
                with checkpoints.begin(step, time) as draft:
                    draft["flow/u"] = u
                    draft.attributes["dt"] = dt

include/h5twin_checkpoint.h says what is promised, and does it: this module calls it, with the HDF5 of h5py. Files are
plain HDF5, FOLDER/NAME-00000001.h5, that h5py opens after `import h5twin`. With comm=MPI.COMM_WORLD of mpi4py all
calls are collective but those that read fields and attributes, and each process writes its part of a field."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import pathlib
import sys
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from . import _hdf5, _library

_void, _size, _text, _int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int
_u64, _double = ctypes.c_uint64, ctypes.c_double
_MAX_RANK = 8
_NAME_BYTES = 1024
_TYPES = {"f4": 1, "f8": 2, "i1": 3, "i2": 4, "i4": 5, "i8": 6, "u1": 7, "u2": 8, "u4": 9, "u8": 10}
_DTYPES = {number: np.dtype(name) for name, number in _TYPES.items()}
_NONE = 1  # enum h5twin_checkpoint_status

_MAXIMUM = ctypes.CFUNCTYPE(_int, _void, ctypes.POINTER(_u64), _int)
_BROADCAST = ctypes.CFUNCTYPE(_int, _void, _void, _int, _int)
_GATHER = ctypes.CFUNCTYPE(_int, _void, _void, _int, _void)
_RELEASE = ctypes.CFUNCTYPE(None, _void)


class _Team(ctypes.Structure):
    _fields_ = [("rank", _int), ("size", _int), ("context", _void), ("maximum", _MAXIMUM), ("broadcast", _BROADCAST),
                ("gather", _GATHER), ("release", _RELEASE), ("reserved", _u64 * 4)]


class _Options(ctypes.Structure):
    _fields_ = [("size", _size), ("name", _text), ("keep", ctypes.c_uint), ("every_steps", _u64),
                ("every_seconds", _double), ("spec", _text), ("background", ctypes.c_bool), ("verify", ctypes.c_bool),
                ("xdmf", ctypes.c_bool), ("read_only", ctypes.c_bool), ("team", ctypes.POINTER(_Team)),
                ("policy", _text)]


class _Field(ctypes.Structure):
    _fields_ = [("name", _text), ("type", _int), ("rank", ctypes.c_uint32), ("dims", ctypes.POINTER(_u64)),
                ("offset", ctypes.POINTER(_u64)), ("count", ctypes.POINTER(_u64)),
                ("memory_dims", ctypes.POINTER(_u64)), ("memory_offset", ctypes.POINTER(_u64)), ("values", _void),
                ("spec", _text), ("may_lose", ctypes.c_bool), ("origin", ctypes.POINTER(_double)),
                ("spacing", ctypes.POINTER(_double)), ("reserved", _u64 * 4)]


class _Info(ctypes.Structure):
    _fields_ = [("serial", _u64), ("step", _u64), ("time", _double), ("size", _u64), ("reserved", _u64 * 4)]


class CheckpointError(OSError):
    """A checkpoint could not be written or read; the newest complete one is still there. In the library's sentence:
    cause and cure."""


class CheckpointInfo(NamedTuple):
    """One complete checkpoint of a folder."""
    serial: int
    step: int
    time: float
    size: int  # bytes of its files


def _hdf5_of_h5py() -> int | None:
    """A handle that leads to the HDF5 that h5py uses: of one of its modules, as not all are linked with it."""
    import h5py
    for module in (getattr(h5py, name, None) for name in ("h5d", "defs", "h5", "_errors")):
        path = getattr(module, "__file__", None)
        if path:
            library = ctypes.CDLL(path)
            if hasattr(library, "H5open"):
                return library._handle
    return _hdf5.find()


@functools.lru_cache(maxsize=1)
def _library_of_checkpoints() -> ctypes.CDLL:
    """The C library, for the HDF5 that h5py uses."""
    try:
        import h5py  # noqa: F401
    except ImportError:
        raise ImportError("h5twin: checkpoints are written with the HDF5 of h5py: pip install h5py.") from None
    name = {"darwin": "libh5twin_checkpoint.0.dylib"}.get(sys.platform, "libh5twin_checkpoint.so.0")
    path = pathlib.Path(_library.path).parent / name
    if not path.exists():
        raise ImportError(f"h5twin: there is no {path}: checkpoints are not part of this build (on Windows they are of "
                          "none); install the package anew (pip install --force-reinstall h5twin).")
    library = ctypes.CDLL(str(path))
    library.h5twin_checkpoint_use_hdf5.restype = _text
    library.h5twin_checkpoint_use_hdf5.argtypes = [_void]
    missing = library.h5twin_checkpoint_use_hdf5(_hdf5_of_h5py())
    if missing is not None:
        raise ImportError(f"h5twin: the HDF5 of h5py lacks {missing.decode()}: install a newer h5py.")
    handle, number = _void, ctypes.POINTER(_size)
    for function, result, arguments in (
            ("options_init", None, [ctypes.POINTER(_Options)]),
            ("open", _int, [ctypes.POINTER(_void), _text, ctypes.POINTER(_Options)]),
            ("close", _int, [handle]), ("message", _text, [handle]),
            ("is_due", ctypes.c_bool, [handle, _u64]), ("begin", _int, [handle, _u64, _double]),
            ("write", _int, [handle, ctypes.POINTER(_Field)]),
            ("write_attribute", _int, [handle, _text, _int, _size, _void]),
            ("write_text", _int, [handle, _text, _text]),
            ("commit", _int, [handle]), ("abort", None, [handle]), ("wait", _int, [handle]),
            ("restart", _int, [handle, _u64, ctypes.POINTER(_Info)]),
            ("select", _int, [handle, _u64, ctypes.POINTER(_Info)]),
            ("read", _int, [handle, ctypes.POINTER(_Field)]),
            ("inquire", _int, [handle, _text, ctypes.POINTER(_int), ctypes.POINTER(ctypes.c_uint32),
                               ctypes.POINTER(_u64)]),
            ("field_name", _int, [handle, _size, _text, _size]),
            ("attribute_name", _int, [handle, _size, _text, _size]),
            ("inquire_attribute", _int, [handle, _text, ctypes.POINTER(_int), number]),
            ("read_attribute", _int, [handle, _text, _int, _size, _void]),
            ("read_text", _int, [handle, _text, _text, _size]), ("restart_end", None, [handle]),
            ("list", _int, [handle, ctypes.POINTER(_Info), _size, number]),
            ("prune", _int, [handle, ctypes.c_uint])):
        call = getattr(library, f"h5twin_checkpoint_{function}")
        call.restype, call.argtypes = result, arguments
    return library


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a team; an exception of Python is a failure there."""
    def call(*arguments: Any) -> int:
        try:
            function(*arguments)
            return 0
        except BaseException:  # pylint: disable=broad-except  # it cannot pass through C
            return 1
    return call


def _team(comm: Any) -> _Team:
    """Of an mpi4py communicator, which is copied."""
    from mpi4py import MPI
    own = comm.Dup()

    def room(address: int, size: int) -> Any:
        return (ctypes.c_char * size).from_address(address)

    def maximum(_context: Any, values: Any, count: int) -> None:
        own.Allreduce(MPI.IN_PLACE, [np.ctypeslib.as_array(values, (count,)), MPI.UINT64_T], MPI.MAX)

    def broadcast(_context: Any, address: int, size: int, root: int) -> None:
        own.Bcast([room(address, size), MPI.BYTE], root)

    def gather(_context: Any, address: int, size: int, everything: int) -> None:
        target = [room(everything, size * own.size), MPI.BYTE] if own.rank == 0 else None
        own.Gather([room(address, size), MPI.BYTE], target, 0)

    return _Team(own.rank, own.size, None, _MAXIMUM(_guarded(maximum)), _BROADCAST(_guarded(broadcast)),
                 _GATHER(_guarded(gather)), _RELEASE(lambda _context: own.Free()))


def _extents(numbers: Sequence[int] | None, rank: int, what: str) -> Any:
    if numbers is None:
        return None
    values = [int(number) for number in (numbers if np.ndim(numbers) else [numbers])]
    if len(values) != rank or any(value < 0 for value in values):
        raise ValueError(f"{what}={tuple(values)}: give {rank} whole numbers from 0, one for each axis.")
    return (_u64 * max(rank, 1))(*values)


def _numbers(values: Sequence[float] | None, rank: int, what: str) -> Any:
    if values is None:
        return None
    numbers = [float(value) for value in (values if np.ndim(values) else [values])]
    if len(numbers) != rank:
        raise ValueError(f"{what}={tuple(numbers)}: give {rank} numbers, one for each axis.")
    return (_double * max(rank, 1))(*numbers)


def _type(dtype: np.dtype, what: str) -> int:
    if dtype.newbyteorder("=").str[1:] not in _TYPES:
        raise TypeError(f"{what} has the type {dtype}: checkpoints hold float32, float64 and integers of 8 to 64 bits.")
    return _TYPES[dtype.newbyteorder("=").str[1:]]


class _Attributes:
    """Assigning writes an attribute of the draft: a text, or numbers of one type."""

    def __init__(self, draft: Draft):
        self._draft = draft

    def __setitem__(self, name: str, value: Any) -> None:
        with self._draft._failing_together():
            self._write(name, value)

    def _write(self, name: str, value: Any) -> None:
        call = self._draft._checkpoints._call
        if isinstance(value, str):
            if "\0" in value:
                raise ValueError(f"The text {name} has a zero byte in it: take it out.")
            call("write_text", name.encode(), value.encode())
            return
        array = np.array(value)
        array = np.ascontiguousarray(array.astype(np.int64) if array.dtype == bool else array)
        array = array.astype(array.dtype.newbyteorder("="))
        kind = _type(array.dtype, f"The attribute {name}")
        if array.ndim > 1:
            raise ValueError(f"The attribute {name} has {array.ndim} axes: write it as a field, or flatten it.")
        call("write_attribute", name.encode(), kind, array.size, array.ctypes.data)

    def update(self, values: dict[str, Any]) -> None:
        """Write several."""
        for name, value in values.items():
            self[name] = value


class Draft:
    """A checkpoint that has begun. Leaving its `with` commits it, or drops it after an exception.

    Of a team, a field or attribute that cannot be written raises at the end of the `with`, in all processes: they all
    have to come there. An exception of the program's own must be one of all processes."""

    def __init__(self, checkpoints: Checkpoints):
        self._checkpoints = checkpoints
        self._error: Exception | None = None  # this process's first one
        self.attributes = _Attributes(self)

    @contextlib.contextmanager
    def _failing_together(self) -> Iterator[None]:
        try:
            yield
        except (CheckpointError, TypeError, ValueError) as error:
            if self._checkpoints._team is None:
                raise
            self._error = self._error or error

    def write(self, name: str, values: Any, *, spec: Any = None, may_lose: bool = False,
              dims: Sequence[int] | None = None, offset: Sequence[int] | None = None,
              origin: Sequence[float] | None = None, spacing: Sequence[float] | None = None) -> None:
        """Compress an array, which may change afterwards.

        spec is a codec, as h5twin.Lattice(abs=1e-6) or "lattice:abs=1e-6"; one with a bound is refused unless
        may_lose is set. Of a team, dims are those of the whole field and offset is where this process's part begins.
        origin and spacing place values in pictures."""
        field = _Field(name=name.encode())  # which is refused, in all processes
        array = None
        with self._failing_together():
            array, field = self._field(name, values, spec, may_lose, dims, offset, origin, spacing)
        with self._failing_together():
            self._checkpoints._call("write", ctypes.byref(field))
        del array

    @staticmethod
    def _field(name: str, values: Any, spec: Any, may_lose: bool, dims: Any, offset: Any, origin: Any,
               spacing: Any) -> tuple[np.ndarray, _Field]:
        """The array that the field points to is to be kept."""
        given = np.asarray(values)
        kind = _type(given.dtype, f"The field {name}")
        array = np.ascontiguousarray(given, given.dtype.newbyteorder("=")).reshape(given.shape)
        rank = array.ndim
        field = _Field(name=name.encode(), type=kind, rank=rank, values=array.ctypes.data, may_lose=may_lose,
                       dims=_extents(array.shape if dims is None else dims, rank, "dims"),
                       offset=_extents(offset, rank, "offset"), count=_extents(array.shape, rank, "count"),
                       spec=None if spec is None else str(getattr(spec, "spec", spec)).encode(),
                       origin=_numbers(origin, rank, "origin"), spacing=_numbers(spacing, rank, "spacing"))
        return array, field

    __setitem__ = write

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            try:
                self._checkpoints.commit()
            except CheckpointError:
                if self._error is not None:
                    raise self._error from None
                raise
            if self._error is not None:  # an attribute of a process whose attributes do not count
                raise self._error
        else:
            self._checkpoints.abort()


class Checkpoint:
    """A complete checkpoint that is open to be read; it is not removed meanwhile. One at a time."""

    def __init__(self, checkpoints: Checkpoints, info: CheckpointInfo):
        self._checkpoints = checkpoints
        self.info = info
        self.serial, self.step, self.time, self.size = info
        checkpoints._open = self

    def _ask(self, function: str, *arguments: Any) -> bool:
        """False if there is no such thing."""
        if self._checkpoints._open is not self:
            raise CheckpointError("This checkpoint is closed: another one was opened after it.")
        return self._checkpoints._call(function, *arguments)

    def _names(self, function: str) -> list[str]:
        names, text = [], ctypes.create_string_buffer(_NAME_BYTES)
        while self._ask(function, len(names), text, _NAME_BYTES):
            names.append(text.value.decode())
        return names

    def keys(self) -> list[str]:
        """The names of all fields."""
        return self._names("field_name")

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: str) -> bool:
        return name in self.keys()

    def _inquire(self, name: str) -> tuple[np.dtype, tuple[int, ...]]:
        kind, rank, dims = _int(), ctypes.c_uint32(), (_u64 * _MAX_RANK)()
        if not self._ask("inquire", name.encode(), ctypes.byref(kind), ctypes.byref(rank), dims):
            raise KeyError(f"Checkpoint {self.serial} has no field {name!r}; it has {', '.join(self.keys()) or 'none'}.")
        return _DTYPES[kind.value], tuple(dims[:rank.value])

    def shape(self, name: str) -> tuple[int, ...]:
        """The dims of a field."""
        return self._inquire(name)[1]

    def dtype(self, name: str) -> np.dtype:
        """The type of its values."""
        return self._inquire(name)[0]

    def read(self, name: str, offset: Sequence[int] | None = None, count: Sequence[int] | None = None,
             out: np.ndarray | None = None) -> np.ndarray:
        """A field, or the box of it that begins at offset. out, if given, gets the values: C-contiguous, of the field's
        type."""
        dtype, dims = self._inquire(name)
        rank = len(dims)
        begin = [0] * rank if offset is None else list(np.atleast_1d(offset))
        shape = tuple(int(extent) for extent in (
            np.atleast_1d(count) if count is not None else
            (dim - first for dim, first in zip(dims, begin))))
        array = np.empty(shape, dtype) if out is None else out
        if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous or not array.flags.writeable:
            raise ValueError(f"out for {name} must be a C-contiguous array of {dtype} with the shape {shape}.")
        field = _Field(name=name.encode(), type=_type(dtype, name), rank=rank, values=array.ctypes.data,
                       dims=_extents(dims, rank, "dims"), offset=_extents(begin, rank, "offset"),
                       count=_extents(shape, rank, "count"))
        self._ask("read", ctypes.byref(field))
        return array

    def __getitem__(self, name: str) -> np.ndarray:
        return self.read(name)

    @property
    def attributes(self) -> dict[str, Any]:
        """What the program wrote: texts, numbers and arrays of one axis."""
        return {name: self._attribute(name) for name in self._names("attribute_name")}

    def _attribute(self, name: str) -> Any:
        kind, count = _int(), _size()
        self._ask("inquire_attribute", name.encode(), ctypes.byref(kind), ctypes.byref(count))
        if kind.value == 0:
            text = ctypes.create_string_buffer(count.value + 1)
            self._ask("read_text", name.encode(), text, count.value + 1)
            return text.value.decode()
        array = np.empty(count.value, _DTYPES[kind.value])
        self._ask("read_attribute", name.encode(), kind.value, array.size, array.ctypes.data)
        return array[0] if array.size == 1 else array

    def close(self) -> None:
        """It may be removed again."""
        if self._checkpoints._open is self:
            self._checkpoints._end_reading()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Nothing:
    """What newest() gives where there is no checkpoint: `with` makes None of it."""

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: Any) -> None:
        pass


class Checkpoints:
    """A folder of checkpoints; see the module.

    name: of the files. keep: how many complete ones stay, 0: all. every_steps, every_seconds: when is_due() says yes.
    spec: the codec of fields that name none. policy: a file of rules that choose it (docs/pages/policy.md).
    background: a thread writes the file. verify: read back and compare before it counts. xdmf: a file for ParaView.
    read_only: another program may write meanwhile. comm: an mpi4py communicator."""

    def __init__(self, folder: Any, *, name: str = "checkpoint", keep: int = 3, every_steps: int = 0,
                 every_seconds: float = 0, spec: Any = None, policy: Any = None, background: bool = False,
                 verify: bool = False, xdmf: bool = True, read_only: bool = False, comm: Any = None):
        self._c = _library_of_checkpoints()
        self._handle, self._open = _void(), None
        options = _Options()
        self._c.h5twin_checkpoint_options_init(ctypes.byref(options))
        self._team = None if comm is None or comm.size == 1 else _team(comm)
        self.folder, self.name = pathlib.Path(folder), name
        options.name, options.keep, options.every_steps = name.encode(), keep, every_steps
        options.every_seconds, options.background, options.verify = every_seconds, background, verify
        options.xdmf, options.read_only = xdmf, read_only
        options.spec = None if spec is None else str(getattr(spec, "spec", spec)).encode()
        options.policy = None if policy is None else str(policy).encode()
        if self._team is not None:
            options.team = ctypes.pointer(self._team)
        with self._lock():
            status = self._c.h5twin_checkpoint_open(ctypes.byref(self._handle), str(folder).encode(),
                                                    ctypes.byref(options))
            message = self._c.h5twin_checkpoint_message(self._handle).decode()
            if status != 0:
                self._c.h5twin_checkpoint_close(self._handle)
                self._handle = _void()
        if status != 0:
            raise CheckpointError(message)

    @staticmethod
    def _lock() -> Any:
        """HDF5 is called by one thread at a time."""
        from h5py._objects import phil
        return phil

    def _call(self, function: str, *arguments: Any) -> bool:
        """False if there is no such thing; raises where the library fails."""
        if not self._handle:
            raise CheckpointError(f"The checkpoints of {self.folder} are closed.")
        with self._lock():
            status = getattr(self._c, f"h5twin_checkpoint_{function}")(self._handle, *arguments)
            message = self._c.h5twin_checkpoint_message(self._handle) if status not in (0, _NONE) else b""
        if status not in (0, _NONE):
            raise CheckpointError(message.decode())
        return status == 0

    # ---- write ----

    def is_due(self, step: int) -> bool:
        """Whether every_steps or every_seconds ask for a checkpoint now; yes if neither was given."""
        if not self._handle:
            raise CheckpointError(f"The checkpoints of {self.folder} are closed.")
        with self._lock():
            return bool(self._c.h5twin_checkpoint_is_due(self._handle, step))

    def begin(self, step: int, time: float = 0.0) -> Draft:
        """Begin a checkpoint; what was begun and not committed is dropped. Raises if the one before, written in the
        background, has failed: call it again then."""
        self._call("begin", step, time)
        return Draft(self)

    def commit(self) -> None:
        """Make what was begun complete; in the background: begin to."""
        self._call("commit")

    def abort(self) -> None:
        """Drop what was begun."""
        if self._handle:
            with self._lock():
                self._c.h5twin_checkpoint_abort(self._handle)

    def wait(self) -> None:
        """Until what was committed in the background is complete."""
        self._call("wait")

    def prune(self, keep: int) -> None:
        """Remove all but the newest keep ones; one stays at least."""
        self._call("prune", keep)

    # ---- read ----

    def newest(self, before: int = 0) -> Any:
        """The newest complete checkpoint, of those before a serial number if that is not 0; something false if there
        is none. Damaged ones are passed over."""
        info = _Info()
        self._open = None
        if not self._call("restart", before, ctypes.byref(info)):
            return _Nothing()
        return Checkpoint(self, CheckpointInfo(info.serial, info.step, info.time, info.size))

    def open(self, serial: int) -> Checkpoint:
        """One by its serial number."""
        info = _Info()
        self._open = None
        if not self._call("select", serial, ctypes.byref(info)):
            raise KeyError(f"There is no checkpoint {serial} in {self.folder}.")
        return Checkpoint(self, CheckpointInfo(info.serial, info.step, info.time, info.size))

    def _end_reading(self) -> None:
        self._open = None
        if self._handle:
            with self._lock():
                self._c.h5twin_checkpoint_restart_end(self._handle)

    def list(self) -> list[CheckpointInfo]:
        """The complete ones, newest first."""
        count, room = _size(), 0
        while True:
            infos = (_Info * max(room, 1))()
            self._call("list", infos, room, ctypes.byref(count))
            if count.value <= room:
                return [CheckpointInfo(one.serial, one.step, one.time, one.size) for one in infos[:count.value]]
            room = count.value

    def path(self, serial: int) -> pathlib.Path:
        """The HDF5 file of a checkpoint."""
        return self.folder / f"{self.name}-{serial:08}.h5"

    # ---- end ----

    def close(self) -> None:
        """Waits for what is being written; raises if that fails."""
        if not self._handle:
            return
        handle, self._handle, self._open = self._handle, _void(), None
        with self._lock():
            status = self._c.h5twin_checkpoint_wait(handle)
            message = self._c.h5twin_checkpoint_message(handle).decode()
            self._c.h5twin_checkpoint_close(handle)
        if status != 0:
            raise CheckpointError(message)

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            if self._team is None:  # the other processes would not come
                self.close()
        except Exception:  # pylint: disable=broad-except  # nobody is there to hear of it
            pass


__all__ = ["Checkpoint", "CheckpointError", "CheckpointInfo", "Checkpoints", "Draft"]
