# SPDX-License-Identifier: BSD-3-Clause
"""Zarr format 3: arrays come back as they must, and chunks are those that HDF5 stores."""

import json
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import pytest

import h5twin

zarr = pytest.importorskip("zarr", minversion="3.0.8")
from h5twin.zarr import H5twin  # noqa: E402

SPECS = [*(cls.name for cls in h5twin.FILTERS.values()), "lattice:abs=1e-3", "lattice:rel=1e-3", "sleek:noa=1e-3"]


def field(shape=(50, 70), dtype="f4"):
    rng = np.random.default_rng(5)
    return (np.sin(np.indices(shape).sum(axis=0) * 0.05) + rng.normal(size=shape) * 1e-4).astype(dtype)


def create(path, data, spec, **more):
    array = zarr.create_array(path, shape=data.shape, dtype=data.dtype, chunks=(20, 35), zarr_format=3,
                              serializer=H5twin(spec), compressors=None, **more)
    array[:] = data
    return array


def chunk_file(path, *index):
    return path.joinpath("c", *map(str, index)).read_bytes()


@pytest.mark.parametrize("spec", SPECS)
def test_chunks_are_those_of_hdf5(tmp_path, spec):
    data = field()
    create(tmp_path / "x.zarr", data, spec)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=data, chunks=(20, 35), **h5twin.from_spec(spec))
        for row in range(3):
            for column in range(2):
                assert chunk_file(tmp_path / "x.zarr", row, column) == \
                    dataset.id.read_direct_chunk((20 * row, 35 * column))[1]
        assert np.array_equal(zarr.open(tmp_path / "x.zarr", mode="r")[:], dataset[()])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u8", "i1", "c16", "bool"])
def test_any_type_comes_back(tmp_path, dtype):
    data = (field(dtype="f8") * 100).astype(dtype)
    create(tmp_path / "x.zarr", data, "cascade")
    back = zarr.open(tmp_path / "x.zarr", mode="r")[:]
    assert back.dtype == data.dtype and back.tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("fill", [0, -9999.9, 1e20, float("nan")])
@pytest.mark.parametrize("spec", ["lattice:abs=1e-3", "sleek:noa=1e-3", "lattice:noa=1e-3", "lattice:noa=1e-3,fill=5",
                                  "lattice:rel=1e-3", "ndzip"])
def test_fill_values_are_what_they_are_in_hdf5(tmp_path, spec, fill, dtype):
    data = field(dtype=dtype) + 300
    data[3:6, 60:] = fill
    data[40:42] = 5
    array = create(tmp_path / "x.zarr", data, spec, fill_value=fill)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(20, 35), **({"fillvalue": fill} if fill else {}),
                            **h5twin.from_spec(spec))
    with h5py.File(tmp_path / "x.h5") as file:
        dataset = file["x"]
        assert chunk_file(tmp_path / "x.zarr", 2, 1) == dataset.id.read_direct_chunk((40, 35))[1]
        assert np.array_equal(array[:], dataset[()], equal_nan=True)
    assert (array[3:6, 60:] == np.asarray(fill, dtype)).all() or fill != fill or fill == 0
    if spec.endswith("fill=5"):  # neither counts for the range of about 2
        real = (data != fill) & (data != 5) & np.isfinite(data)
        assert (array[40:42] == 5).all() and np.abs(array[:] - data)[real].max() <= 2.2e-3


def test_numcodecs_makes_the_same_chunk():
    codecs = pytest.importorskip("h5twin.codecs")
    data = field((20, 35))
    assert codecs.H5twin("lattice:abs=1e-3").encode(data) == h5twin.encode(data, "lattice:abs=1e-3")


def test_a_bound_holds_and_a_filter_class_will_do(tmp_path):
    data = field()
    array = create(tmp_path / "x.zarr", data, h5twin.Lattice(abs=1e-3))
    result = h5twin.verify(data, array[:], abs=1e-3)
    assert result and not result.identical


def test_big_endian_chunks_of_hdf5_are_read(tmp_path):
    data = field((20, 35))
    create(tmp_path / "x.zarr", data, "ndzip")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=data.astype(">f4"), dtype=">f4", chunks=(20, 35), **h5twin.Ndzip())
        chunk = dataset.id.read_direct_chunk((0, 0))[1]
    assert h5twin.inspect(chunk).big_endian
    (tmp_path / "x.zarr" / "c" / "0" / "0").write_bytes(chunk)
    assert np.array_equal(zarr.open(tmp_path / "x.zarr", mode="r")[:20], data)


def test_shards_and_edges(tmp_path):
    data = field((45, 71))
    array = zarr.create_array(tmp_path / "x.zarr", shape=data.shape, dtype="f4", chunks=(10, 35), shards=(20, 70),
                              serializer=H5twin("ndzip"), compressors=None)
    array[:] = data
    assert np.array_equal(zarr.open(tmp_path / "x.zarr", mode="r")[:], data)


def test_readers_need_not_import_h5twin(tmp_path):
    data = field()
    create(tmp_path / "x.zarr", data, "cascade")
    code = f"import zarr; print(float(zarr.open({str(tmp_path / 'x.zarr')!r}, mode='r')[:].sum(dtype='f8')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == float(data.sum(dtype="f8"))


def test_the_store_says_which_codec(tmp_path):
    create(tmp_path / "x.zarr", field(), "lattice:abs=0.001,effort=fast")
    codecs = json.loads((tmp_path / "x.zarr" / "zarr.json").read_text())["codecs"]
    assert codecs == [{"name": "h5twin", "configuration": {"spec": "lattice:abs=0.001,effort=fast"}}]
    assert H5twin.from_dict(codecs[0]) == H5twin(h5twin.Lattice(abs=1e-3, effort="fast"))


@pytest.mark.parametrize("data", [
    {"name": "h5twin"}, {"name": "h5twin", "configuration": {"spec": "ndzip", "level": 3}},
    {"name": "zstd", "configuration": {"spec": "ndzip"}}, {"name": "h5twin", "configuration": {"spec": "sleak"}}])
def test_another_configuration_is_refused_with_a_sentence(data):
    with pytest.raises(ValueError) as caught:
        H5twin.from_dict(data)
    assert str(caught.value).endswith(".")


def test_damage_is_noticed(tmp_path):
    create(tmp_path / "x.zarr", field(), "cascade")
    file = tmp_path / "x.zarr" / "c" / "1" / "0"
    damaged = bytearray(file.read_bytes())
    damaged[-7] ^= 4
    file.write_bytes(damaged)
    with pytest.raises(h5twin.H5twinError, match="checksum"):
        zarr.open(tmp_path / "x.zarr", mode="r")[:]


def test_the_errors_of_codecs_in_the_wrong_place_are_those_of_the_page():
    """docs/pages/mistakes.md is found by what Zarr says, so it has to say that."""
    numcodecs_codec = pytest.importorskip("h5twin.codecs").H5twin("cascade")
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/pages/mistakes.md").read_text()
    for codec, message in (H5twin("cascade"), "Expected a BytesBytesCodec"), (numcodecs_codec, "'H5twin' object is not iterable"):
        with pytest.raises(TypeError, match=message):
            zarr.create_array(store={}, data=field(), chunks=(20, 35), compressors=codec)
        assert f'"{message}"' in page
