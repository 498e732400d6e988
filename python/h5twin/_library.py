# SPDX-License-Identifier: BSD-3-Clause
"""libh5twin through ctypes: the C calls with Python's types, and errors as exceptions.

Parameters travel as text ("sleek:abs=1e-3") or as cd_values, never as C structures, but for the
two that describe codecs and chunks (include/h5twin.h: struct h5twin_codec_info, h5twin_info)."""

from __future__ import annotations

import ctypes
import operator
import os
import pathlib
import sys
from typing import Any, Callable, Iterator, NamedTuple, Sequence

FOLDER = pathlib.Path(__file__).resolve().parent
PLUGIN_PATH = FOLDER / "plugins"

_PARAMS_BYTES = 1024  # more than struct h5twin_params has, which is only passed through
_CD_VALUES_MAX = 16
_TEXT_BYTES = 1024
_MAX_RANK = 8
SIZE_MAX = (1 << 8 * ctypes.sizeof(ctypes.c_size_t)) - 1
_FUNCTIONS_MAX = 256  # more than struct h5twin_hdf5_functions has words, the first of which is its size
FLOAT, INTEGER, OTHER = 0, 1, 2  # enum h5twin_kind


class H5twinError(ValueError):
    """What the library refuses, in its own sentence: cause and cure."""


class _OptionInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("values", ctypes.c_char_p), ("help", ctypes.c_char_p),
                ("names", ctypes.POINTER(ctypes.c_char_p)), ("shift", ctypes.c_uint32),
                ("width_bits", ctypes.c_uint32), ("minimum", ctypes.c_uint32),
                ("maximum", ctypes.c_uint32), ("default_value", ctypes.c_uint32), ("is_decimal", ctypes.c_bool),
                ("reserved", ctypes.c_uint64 * 4)]


class _CodecInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("id", ctypes.c_int), ("filter_id", ctypes.c_uint32),
                ("lossy", ctypes.c_bool), ("relative", ctypes.c_bool), ("summary", ctypes.c_char_p),
                ("option_count", ctypes.c_uint32), ("options", ctypes.POINTER(_OptionInfo))]


class _Info(ctypes.Structure):
    _fields_ = [("codec", ctypes.c_int), ("stored_raw", ctypes.c_bool), ("kind", ctypes.c_int),
                ("word_size", ctypes.c_uint32), ("big_endian", ctypes.c_bool),
                ("raw_size", ctypes.c_uint64), ("frame_size", ctypes.c_uint32),
                ("parameter", ctypes.c_uint32), ("extents", ctypes.c_uint32 * 3),
                ("reserved", ctypes.c_uint64 * 4)]


class _Exec(ctypes.Structure):
    _fields_ = [("device", ctypes.c_int), ("threads", ctypes.c_uint32), ("reserved", ctypes.c_uint64 * 3)]


class _Trial(ctypes.Structure):  # tools/package.h: struct h5twin_package_trial
    _fields_ = [("raw_size", ctypes.c_uint64), ("stored_size", ctypes.c_uint64),
                ("encode_time", ctypes.c_double), ("decode_time", ctypes.c_double),
                ("max_error", ctypes.c_double), ("psnr", ctypes.c_double)]


class Codec(NamedTuple):
    """One codec of the library."""
    name: str
    id: int
    filter_id: int
    lossy: bool
    relative: bool  # a lossy one that takes rel=
    summary: str
    options: dict[str, str]  # name -> values, for people

    def parameters(self) -> tuple[str, ...]:
        """The names of all that it takes."""
        bounds = ("abs", "noa") + ("rel",) * self.relative + ("fill",) if self.lossy else ()
        return bounds + tuple(self.options)


class ChunkInfo(NamedTuple):
    """What a chunk says of itself."""
    codec: str
    stored_raw: bool
    kind: int
    word_size: int  # bytes
    big_endian: bool
    raw_size: int  # bytes
    description: str


def _find() -> str:
    name = {"darwin": "libh5twin.0.dylib", "win32": "h5twin.dll"}.get(sys.platform, "libh5twin.so.0")
    path = os.environ.get("H5TWIN_LIBRARY") or str(FOLDER / "lib" / name)
    if not os.path.exists(path):
        raise ImportError(f"h5twin: there is no library {path}: install the package anew (pip install "
                          "--force-reinstall h5twin), or set H5TWIN_LIBRARY to a libh5twin.")
    return path


path = _find()
_c = ctypes.CDLL(path)
_void, _size, _text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
for _name, _result, _arguments in (
        ("h5twin_version", _text, []),
        ("h5twin_status_message", _text, [ctypes.c_int]),
        ("h5twin_codec_count", ctypes.c_uint32, []),
        ("h5twin_codec_at", ctypes.POINTER(_CodecInfo), [ctypes.c_uint32]),
        ("h5twin_codec_by_id", ctypes.POINTER(_CodecInfo), [ctypes.c_int]),
        ("h5twin_params_init", None, [_void, ctypes.c_int]),
        ("h5twin_params_parse", ctypes.c_int, [_void, _text, ctypes.POINTER(_text)]),
        ("h5twin_params_check", ctypes.c_int, [_void]),
        ("h5twin_params_format", _size, [_void, _text, _size]),
        ("h5twin_params_set_array", None,
         [_void, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint64)]),
        ("h5twin_params_to_cd_values", ctypes.c_uint, [_void, ctypes.POINTER(ctypes.c_uint)]),
        ("h5twin_params_from_cd_values", ctypes.c_int,
         [_void, ctypes.c_int, ctypes.POINTER(ctypes.c_uint), _size]),
        ("h5twin_chunk_shape", None, [ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint64), _size,
                                      ctypes.POINTER(ctypes.c_uint64)]),
        ("h5twin_bound", _size, [_void, _size]),
        ("h5twin_encode", ctypes.c_int, [_void, _void, _void, _size, _void, _size,
                                         ctypes.POINTER(_size)]),
        ("h5twin_decode", ctypes.c_int, [_void, _void, _size, _void, _size, ctypes.POINTER(_size)]),
        ("h5twin_inspect", ctypes.c_int, [_void, _size, ctypes.POINTER(_Info)]),
        ("h5twin_describe", _size, [_void, _size, _text, _size]),
        ("h5twin_hdf5_find", ctypes.c_int, [_void, _void])):
    _function = getattr(_c, _name)
    _function.restype, _function.argtypes = _result, _arguments


def _package_function(name: str, result: Any, *arguments: Any) -> Any:
    """A function that the package's own library has, beside those of every libh5twin."""
    try:
        function = getattr(_c, name)
    except AttributeError:
        raise H5twinError(f"{path} has no {name}, as the package's own library has: do not set H5TWIN_LIBRARY, or "
                          "install the package anew.") from None
    function.restype, function.argtypes = result, arguments
    return function


def _check(status: int, what: str) -> None:
    if status != 0:
        raise H5twinError(f"{what}: {_c.h5twin_status_message(status).decode()}")


def _codec(info: _CodecInfo) -> Codec:
    options = {info.options[i].name.decode(): info.options[i].values.decode()
               for i in range(info.option_count)}
    return Codec(info.name.decode(), info.id, info.filter_id, info.lossy, info.relative,
                 info.summary.decode(), options)


def version() -> str:
    """The library's version, such as "0.1.0"."""
    return _c.h5twin_version().decode()


def codecs() -> Iterator[Codec]:
    """All codecs, in the library's order."""
    for index in range(_c.h5twin_codec_count()):
        yield _codec(_c.h5twin_codec_at(index).contents)


def _hint(spec: str, where: str) -> str:
    """What the codec of a spec that was refused takes there, in brackets."""
    codec = next((codec for codec in codecs() if codec.name == spec.partition(":")[0]), None)
    if codec is None:
        return ""
    key = where.partition("=")[0].partition(",")[0]
    if key in codec.options:
        return f" ({key} is {codec.options[key]})"
    return "" if key in codec.parameters() else f" ({codec.name} takes {', '.join(codec.parameters())})"


def chunk_shape(shape: Sequence[int], element_size: int) -> tuple[int, ...]:
    extents = ctypes.c_uint64 * max(len(shape), 1)
    chunk = extents()
    _c.h5twin_chunk_shape(len(shape), extents(*shape), element_size, chunk)
    return tuple(chunk[:len(shape)])


def _refusal(codec: Codec, values: Any, count: int) -> str:
    """Why the filter takes no such cd_values, in the sentence of `h5twin explain`."""
    refusal = _package_function("h5twin_package_refusal", _size, ctypes.c_int, ctypes.POINTER(ctypes.c_uint),
                                _size, _text, _size)
    text = ctypes.create_string_buffer(_TEXT_BYTES)
    refusal(codec.id, values, count, text, _TEXT_BYTES)
    return text.value.decode()


class Params:
    """What to code how: a codec with its options, and the array if it is known."""

    def __init__(self, codec_id: int = 1):
        self._buffer = ctypes.create_string_buffer(_PARAMS_BYTES)
        _c.h5twin_params_init(self._buffer, codec_id)

    @classmethod
    def from_spec(cls, spec: str) -> Params:
        if not isinstance(spec, str):
            raise TypeError(f"{spec!r} describes no filter: give one, such as h5twin.Sleek(abs=1e-3), or a text such "
                            "as 'sleek:abs=1e-3'.")
        params, text, where = cls(), spec.encode(), ctypes.c_char_p()
        status = _c.h5twin_params_parse(params._buffer, text, ctypes.byref(where))
        rest = f", at {where.value.decode()!r}{_hint(spec, where.value.decode())}" if status and where.value else ""
        _check(status, spec + rest)
        _check(_c.h5twin_params_check(params._buffer), spec)
        return params

    @classmethod
    def from_cd_values(cls, codec: Codec, words: Sequence[int]) -> Params:
        params = cls(codec.id)
        values = (ctypes.c_uint * max(len(words), 1))(*(int(word) & 0xFFFFFFFF for word in words))
        if _c.h5twin_params_from_cd_values(params._buffer, codec.id, values, len(words)) != 0:
            raise H5twinError(f"{codec.name} refuses these words: {_refusal(codec, values, len(words))}")
        return params

    def set_array(self, kind: int, element_size: int, dims: Sequence[int]) -> None:
        """A little-endian array; more than eight dims are merged from the slowest."""
        shape = list(dims)
        while len(shape) > _MAX_RANK:
            shape[:2] = [shape[0] * shape[1]]
        _c.h5twin_params_set_array(self._buffer, kind, element_size, len(shape),
                                   (ctypes.c_uint64 * max(len(shape), 1))(*shape))

    def declare(self, fill: float, pads_zeros: bool) -> None:
        """The fill value of the array, nan for none, and whether zeros at its edges are but padding."""
        _package_function("h5twin_package_declare", None, _void, ctypes.c_double, ctypes.c_bool)(
            self._buffer, fill, pads_zeros)

    def spec(self) -> str:
        text = ctypes.create_string_buffer(_TEXT_BYTES)
        _c.h5twin_params_format(self._buffer, text, _TEXT_BYTES)
        return text.value.decode()

    def cd_values(self) -> tuple[int, ...]:
        words = (ctypes.c_uint * _CD_VALUES_MAX)()
        count = _c.h5twin_params_to_cd_values(self._buffer, words)
        return tuple(words[:count])

    def encode(self, address: int, size: int, threads: int) -> bytearray:
        """size bytes from address on as one chunk. Runs without the interpreter's lock."""
        capacity = _c.h5twin_bound(self._buffer, size)
        if capacity == 0:
            _check(_c.h5twin_params_check(self._buffer), self.spec())
            raise H5twinError(f"{self.spec()}: {size} bytes are too many for one chunk of this codec.")
        chunk = bytearray(capacity)
        written = ctypes.c_size_t()
        status = _c.h5twin_encode(self._buffer, ctypes.byref(_execution(threads)),
                                  (ctypes.c_char * capacity).from_buffer(chunk), capacity,
                                  address, size, ctypes.byref(written))
        _check(status, self.spec())
        del chunk[written.value:]
        return chunk


def _buffer_of(chunk: Any) -> tuple[Any, int]:
    """Something ctypes passes as a pointer to the bytes of chunk, and their number."""
    try:
        data = memoryview(chunk).tobytes()
    except TypeError:
        raise TypeError(f"A {type(chunk).__name__} is no chunk: give its bytes, as encode() or h5py's read_direct_chunk() "
                        "returns them.") from None
    return data, len(data)


def _execution(threads: int) -> _Exec:
    if not 0 <= operator.index(threads) < 1 << 32:
        raise ValueError(f"threads={threads} is not a number of threads: give 1 or more, or 0 for the default.")
    return _Exec(0, threads)


def inspect(chunk: Any) -> ChunkInfo:
    """What a chunk (bytes, or what exposes them) says of itself, without decoding it. Raises H5twinError if it is
    not a chunk of this library."""
    data, size = _buffer_of(chunk)
    info, text = _Info(), ctypes.create_string_buffer(_TEXT_BYTES)
    _check(_c.h5twin_inspect(data, size, ctypes.byref(info)), f"chunk of {size} bytes")
    _c.h5twin_describe(data, size, text, _TEXT_BYTES)
    return ChunkInfo(_c.h5twin_codec_by_id(info.codec).contents.name.decode(), info.stored_raw, info.kind,
                     info.word_size, info.big_endian, info.raw_size, text.value.decode())


def decode_into(chunk: Any, address: int, capacity: int, threads: int) -> int:
    """Decode to address, where capacity bytes are; returns how many were written."""
    data, size = _buffer_of(chunk)
    written = ctypes.c_size_t()
    _check(_c.h5twin_decode(ctypes.byref(_execution(threads)), address, capacity, data, size,
                            ctypes.byref(written)), f"chunk of {size} bytes")
    return written.value


def hdf5_functions(address: int) -> Any:
    """The functions of the HDF5 that has this address, for transfer(); None if it has not all."""
    table = (ctypes.c_size_t * _FUNCTIONS_MAX)()
    table[0] = ctypes.sizeof(table)
    return table if _c.h5twin_hdf5_find(table, address) == 0 else None


def transfer(functions: Any, is_write: bool, identifiers: Sequence[int], address: int) -> tuple[int, str]:
    """H5Dwrite or H5Dread of a box, on all cores, without the interpreter's lock. 1: done, -1: HDF5 has failed, 0: HDF5
    must do it, and why. identifiers: of dataset, memory type, memory space, file space, transfer properties."""
    call = _c.h5twin_io_write if is_write else _c.h5twin_io_read
    call.restype, call.argtypes = ctypes.c_int, [_void, *[ctypes.c_int64] * 5, _void, ctypes.POINTER(_text)]
    why = ctypes.c_char_p()
    done = call(functions, *identifiers, address, ctypes.byref(why))
    return done, (why.value or b"").decode()


def keep_chunks(size: int | None) -> None:
    """How many bytes of decoded chunks are kept; None gives back those that are, and changes nothing."""
    if size is None:
        _package_function("h5twin_io_forget_chunks", None)()
    else:
        _package_function("h5twin_io_keep_chunks", None, _size)(size)


class Trial(NamedTuple):
    """What one spec did with a sample. Times in seconds for raw_size bytes; 0: too short to measure."""
    raw_size: int
    stored_size: int
    encode_time: float
    decode_time: float
    max_error: float
    psnr: float


def suggest(specs: Sequence[str], params: Params, address: int, sample_bytes: int) -> list[Trial | None]:
    """Each spec on the sample that `h5twin suggest` would take of the array at address, which params
    describe; None: a piece is too large for the codec."""
    run = _package_function("h5twin_package_suggest", ctypes.c_int, ctypes.POINTER(_Trial),
                            ctypes.POINTER(ctypes.c_int), ctypes.POINTER(_text), _size, _void, _void, _size)
    count = max(len(specs), 1)
    trials, statuses = (_Trial * count)(), (ctypes.c_int * count)()
    texts = (_text * count)(*(spec.encode() for spec in specs))
    _check(run(trials, statuses, texts, len(specs), params._buffer, address, sample_bytes), "the sample")
    for spec, status in zip(specs, statuses):
        _check(status, spec)
    return [Trial(*(getattr(trial, name) for name, _ in _Trial._fields_)) if trial.raw_size else None
            for trial in trials[:len(specs)]]


_Finder = ctypes.CFUNCTYPE(ctypes.c_void_p)
_finder: Any = None  # the library keeps its address


def command(arguments: Sequence[str], find_hdf5: Callable[[], int | None] | None = None) -> int:
    """The h5twin command with these arguments, in this process; returns its exit code. find_hdf5 is
    called if an HDF5 file is to be opened: it returns the handle of a loaded HDF5, or None."""
    global _finder
    _finder = _Finder(find_hdf5 or (lambda: None))
    _package_function("h5twin_command_use_hdf5", None, _Finder)(_finder)
    words = [ctypes.create_string_buffer(os.fsencode(word)) for word in ("h5twin", *arguments)]
    pointers = (ctypes.c_void_p * (len(words) + 1))(*(ctypes.addressof(word) for word in words), None)
    return _package_function("h5twin_command_main", ctypes.c_int, ctypes.c_int, _void)(len(words), pointers)
