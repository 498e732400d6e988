# SPDX-License-Identifier: BSD-3-Clause
"""h5twin.read and h5twin.write beside dataset[sel] and dataset[sel] = array: the same arrays, chunks and errors."""

import threading

import h5py
import numpy as np
import pytest

import h5twin
from h5twin import transfers

SHAPE, CHUNKS = (70, 50, 41), (16, 25, 41)
SELECTIONS = [(), ..., slice(None), slice(16, 48), (slice(3, 66), ..., slice(1, 40)), (5, ...), (slice(None), -1),
              (1, 2, 3), (slice(0, 70, 2),), (slice(10, 10),), ([1, 5, 9],), (slice(None), [0, 3]),
              (Ellipsis, 7), (np.int64(4), slice(-20, None)), slice(-1000, 1000)]


@pytest.fixture
def calls(monkeypatch):
    """What became of each call of the library: 1 where it did it."""
    done, transfer = [], transfers._library.transfer

    def noting(*arguments):
        result = transfer(*arguments)
        done.append(result[0])
        return result
    monkeypatch.setattr(transfers._library, "transfer", noting)
    return done


def field(dtype="f4", shape=SHAPE):
    axes = np.meshgrid(*(np.linspace(0, 4, extent) for extent in shape), indexing="ij")
    return np.asarray(sum(np.sin(axis) for axis in axes) * 100).astype(dtype)


def stored_chunks(dataset):
    dataset.file.flush()
    infos = [dataset.id.get_chunk_info(index) for index in range(dataset.id.get_num_chunks())]
    return {info.chunk_offset: dataset.id.read_direct_chunk(info.chunk_offset) for info in infos}


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "transfers.h5", "w") as opened:
        yield opened


def pair(file, dtype="f4", **more):
    kwargs = {"shape": SHAPE, "dtype": dtype, "chunks": CHUNKS, **h5twin.Cascade(), **more}
    return file.create_dataset("native", **kwargs), file.create_dataset("ours", **kwargs)


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", "i2", "c8", "?", [("x", "f4"), ("y", "f4")]])
def test_a_whole_array_is_written_and_read_by_the_library(file, calls, dtype):
    native, ours = pair(file, dtype)
    values = np.zeros(SHAPE, dtype)
    if values.dtype.names:
        values["x"] = field()
    else:
        values = field().astype(dtype)
    native[...] = values
    h5twin.write(ours, values)
    assert calls == [1]
    assert stored_chunks(native) == stored_chunks(ours)
    found = h5twin.read(ours)
    assert found.dtype == values.dtype and found.flags.writeable
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("sel", SELECTIONS, ids=str)
def test_selections_are_read_as_by_h5py(file, sel):
    _, ours = pair(file)
    ours[...] = field()
    wanted, found = ours[sel], h5twin.read(ours, sel)
    assert type(found) is type(wanted) and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    assert np.shape(found) == np.shape(wanted)


@pytest.mark.parametrize("sel", SELECTIONS, ids=str)
@pytest.mark.parametrize("order", "CF")
def test_selections_are_written_as_by_h5py(file, sel, order):
    native, ours = pair(file, fillvalue=-7)
    values = np.asarray(field()[sel], order=order)
    native[sel] = values
    h5twin.write(ours, values, sel)
    np.testing.assert_array_equal(native[...], ours[...])
    assert stored_chunks(native) == stored_chunks(ours)


def test_boxes_larger_than_the_cache_are_read_by_the_library(file, calls):
    _, ours = pair(file, rdcc_nbytes=1024)
    values = field()
    ours[...] = values
    np.testing.assert_array_equal(h5twin.read(ours, (slice(3, 66), slice(10, 40))), values[3:66, 10:40])
    np.testing.assert_array_equal(h5twin.read(ours, (slice(None), 7)), values[:, 7])
    assert calls == [1, 1]


def test_planes_are_read_out_of_what_is_kept(file, calls):
    """All planes of each axis, with room for what is kept, with little, and with none."""
    _, ours = pair(file, rdcc_nbytes=1024)
    values = field()
    ours[...] = values
    for limit in (1 << 28, 1 << 16, 0, 1 << 28):
        h5twin.keep_chunks(limit)
        for axis, extent in enumerate(SHAPE):
            for index in range(extent):
                sel = (slice(None),) * axis + (index,)
                np.testing.assert_array_equal(h5twin.read(ours, sel), values[sel])
    assert calls == [1] * 4 * sum(SHAPE)


def test_how_much_is_kept_is_a_number():
    for wrong in (-1, 1 << 64, 1.5, "1"):
        with pytest.raises((TypeError, ValueError)):
            h5twin.keep_chunks(wrong)


@pytest.mark.parametrize("value", [3, 2.5, [1.0] * 41, np.arange(41), field("f8"), field()[:1]], ids=repr)
def test_other_types_and_broadcasts_are_h5pys(file, calls, value):
    native, ours = pair(file)
    native[...] = value
    h5twin.write(ours, value)
    np.testing.assert_array_equal(native[...], ours[...])
    assert calls == []


def test_other_datasets_are_h5pys(file):
    values = field()
    for name, kwargs in {"plain": {}, "gzip": {"compression": "gzip"}, "two": {"shuffle": True, **h5twin.Sleek()},
                         "strings": None}.items():
        if kwargs is None:
            dataset = file.create_dataset(name, (9,), h5py.string_dtype(), chunks=(2,))
            dataset[...] = "a"
            np.testing.assert_array_equal(h5twin.read(dataset), dataset[...])
            continue
        dataset = file.create_dataset(name, SHAPE, "f4", **kwargs)
        h5twin.write(dataset, values)
        np.testing.assert_array_equal(h5twin.read(dataset), values)
    scalar = file.create_dataset("scalar", (), "f4")
    h5twin.write(scalar, 3)
    assert h5twin.read(scalar) == 3


@pytest.mark.parametrize("wrong", [(1, 2, 3, 4), (100,), "u", (..., ...)])
def test_errors_are_h5pys(file, wrong):
    _, ours = pair(file)
    with pytest.raises(Exception) as native:
        ours[wrong]
    with pytest.raises(type(native.value)):
        h5twin.read(ours, wrong)


def test_what_is_no_dataset_is_refused():
    for call in (lambda: h5twin.read([1, 2]), lambda: h5twin.write({}, 1)):
        with pytest.raises(TypeError, match="h5py dataset"):
            call()


def test_a_damaged_chunk_is_an_error(file):
    _, ours = pair(file, rdcc_nbytes=1024)
    h5twin.write(ours, field())
    mask, chunk = ours.id.read_direct_chunk((16, 0, 0))
    damaged = bytearray(chunk)
    damaged[len(damaged) // 2] ^= 1
    ours.id.write_direct_chunk((16, 0, 0), bytes(damaged), mask)
    with pytest.raises(OSError):
        h5twin.read(ours)


def test_other_threads_run_while_chunks_are_coded(file):
    """Python code of another thread makes progress during one call."""
    big = file.create_dataset("big", (64, 256, 256), "f8", chunks=(8, 128, 128), **h5twin.Cascade(effort="max"))
    values, beats, stop = field("f8", (64, 256, 256)), [], threading.Event()

    def beat():
        while not stop.wait(0.001):
            beats.append(is_writing)
    is_writing = False
    thread = threading.Thread(target=beat)
    thread.start()
    is_writing = True
    h5twin.write(big, values)
    is_writing = False
    stop.set()
    thread.join()
    assert sum(beats) > 3
