# SPDX-License-Identifier: BSD-3-Clause
"""The filter classes: what they mean, what they refuse, and that they know every codec of the library."""

import inspect
import pickle
import struct

import h5py
import numpy as np
import pytest

import h5twin
from h5twin import _library

BOUND = struct.unpack("<2I", struct.pack("<d", 1e-3))
CODECS = list(_library.codecs())


@pytest.fixture(params=CODECS, ids=lambda codec: codec.name)
def codec(request):
    return request.param


def test_every_codec_of_the_library_has_a_class_with_all_its_options(codec):
    cls = h5twin.FILTERS[codec.filter_id]
    assert cls.name == codec.name and getattr(h5twin, cls.__name__) is cls
    parameters = inspect.signature(cls.__init__).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        assert set(codec.options) <= set(parameters)
    assert ("abs" in parameters) == codec.lossy


def test_words_are_those_of_the_c_library():
    assert h5twin.Sleek(abs=1e-3).filter_options == (1, *BOUND)
    assert h5twin.Sleek(noa=1e-3).filter_options == (2, *BOUND)
    assert h5twin.Ndzip().filter_options == ()
    assert h5twin.Fpcompress(mode="speed").filter_options == (0, 0, 0, 1)


@pytest.mark.parametrize("made", [
    h5twin.Sleek(), h5twin.Sleek(abs=1e-3), h5twin.Sleek(noa=1e-3, fill=-9999.9), h5twin.Cascade(effort="max"),
    h5twin.Cascade(effort="quick"),
    h5twin.Lattice(abs=1e-3), h5twin.Lattice(rel=1e-3, fill=1e35, effort="fast", stable="yes"), h5twin.Sleek(noa=0.1), h5twin.Ndzip(layout="reference"),
    h5twin.Gfc(dimensionality=3), h5twin.Fpcompress(mode="ratio"),
    h5twin.E2mc(symbol_bits=8, ways=2), h5twin.E2mc(profile="paper")], ids=repr)
def test_a_filter_survives_repr_spec_cd_values_and_pickle(made):
    assert eval(repr(made), vars(h5twin)) == made
    assert h5twin.from_spec(made.spec) == made
    assert h5twin.from_cd_values(made.filter_id, made.filter_options) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(h5twin.from_spec(made.spec)) == hash(made)
    assert type(made)(**made.get_config()) == made


def test_different_filters_are_not_equal():
    assert h5twin.Sleek() != h5twin.Ndzip() and h5twin.Sleek(abs=1) != h5twin.Sleek(abs=2)


@pytest.mark.parametrize("bound", [1e-3, 1 / 3, 2.0 ** -1022, 1.7e308, np.float32(0.1), 1, np.int64(2)])
def test_bounds_keep_every_bit(bound):
    words = h5twin.Sleek(abs=bound).filter_options
    assert struct.unpack("<d", struct.pack("<2I", *words[1:3]))[0] == float(bound)


@pytest.mark.parametrize("make, says", [
    (lambda: h5twin.Sleek(abs=0), "positive"),
    (lambda: h5twin.Sleek(abs=float("nan")), "positive"),
    (lambda: h5twin.Sleek(abs=-1.0), "positive"),
    (lambda: h5twin.Sleek(abs=1, noa=1), "exclude"),
    (lambda: h5twin.Ndzip(layout="fast"), "layout=fast"),
    (lambda: h5twin.Gfc(dimensionality=33), "dimensionality=33"),
    (lambda: h5twin.E2mc(strid=1), "strid=1"),
    (lambda: h5twin.Fpcompress(mode="best"), r"mode is speed\|ratio"),
    (lambda: h5twin.from_spec("sleek: abs=1"), "sleek takes abs, noa, fill"),
    (lambda: h5twin.from_spec("sleek:abs=1,noa=2"), "one error bound"),
    (lambda: h5twin.from_spec("sleak"), "codec"),
    (lambda: h5twin.from_cd_values(480, (1,)), "bound"),
    (lambda: h5twin.from_cd_values(480, (9, 0, 0)), "first value must be"),
])
def test_nonsense_is_refused_with_a_sentence(make, says):
    with pytest.raises(h5twin.H5twinError, match=says) as caught:
        make()
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("make, says", [
    (lambda: h5twin.Sleek(abs=[1]), "abs=.* is not a number"),
    (lambda: h5twin.Sleek(abs=np.ones(2)), "abs=.* is not a number"),
    (lambda: h5twin.Sleek(1e-3), "by name only: give abs=, noa=, fill="),
    (lambda: h5twin.Sleek(rel=1e-3), "no parameter 'rel': give abs="),
    (lambda: h5twin.Ndzip(abs=1e-3), "no parameter 'abs': give layout="),
    (lambda: h5twin.from_spec(None), "None describes no filter"),
    (lambda: h5twin.from_spec(480), "480 describes no filter"),
    (lambda: h5twin.encode(np.ones(3), h5twin.Sleek), r"give Sleek\(\)"),
])
def test_wrong_types_are_refused_with_a_sentence(make, says):
    with pytest.raises(TypeError, match=says) as caught:
        make()
    assert str(caught.value).endswith(".")


def test_other_filters_are_named_as_such():
    with pytest.raises(KeyError, match="32015"):
        h5twin.from_cd_values(32015)


def test_h5py_takes_the_object_and_the_mapping(tmp_path, codec):
    cls = h5twin.FILTERS[codec.filter_id]
    data = np.linspace(0, 1, 5000, dtype="f4").reshape(50, 100)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("a", data=data, chunks=(25, 100), compression=cls())
        file.create_dataset("b", data=data, chunks=(25, 100), **cls())
    with h5py.File(tmp_path / "x.h5") as file:
        for name in "ab":
            assert np.array_equal(file[name][()], data)
            assert h5twin.explain(file[name]).filter == cls()


def test_explain_says_what_a_dataset_is_stored_with(tmp_path):
    data = np.sin(np.arange(60000, dtype="f8").reshape(200, 300) * 0.01)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("u", data=data, chunks=(100, 300), **h5twin.Sleek(abs=1e-3))
        file.create_dataset("never", (4,), "f4", chunks=(4,), **h5twin.Ndzip())
        file.create_dataset("other", data=data, compression="gzip", shuffle=True)
    with h5py.File(tmp_path / "x.h5") as file:
        said = h5twin.explain(file["u"])
        assert said.filter == h5twin.Sleek(abs=1e-3) and "0.001" in said.bound
        assert said.raw_bytes == data.nbytes and said.ratio > 1
        assert "200 x 300" in str(said) and "480" in str(said)
        assert "nothing is stored" in str(h5twin.explain(file["never"]))
        with pytest.raises(ValueError, match="shuffle.*deflate"):
            h5twin.explain(file["other"])
    with h5py.File(tmp_path / "y.h5", "w") as file:
        for dtype, exact in ("f4", False), ("c16", False), ("i4", True), ("f2", True):
            file.create_dataset(dtype, (8,), dtype, chunks=(8,), **h5twin.Sleek(abs=1e-3))
            assert h5twin.explain(file[dtype]).bound.startswith("lossless") == exact
    assert h5twin.explain(480, (2, *BOUND)).filter == h5twin.Sleek(noa=1e-3)
    signed = [word - (word >> 31 << 32) for word in BOUND] # as h5dump prints them
    assert min(signed) < 0 and h5twin.explain(480, (2, *signed)).filter == h5twin.Sleek(noa=1e-3)


def test_explain_refuses_what_is_no_dataset(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for what in (file, file.create_group("g"), str(tmp_path / "x.h5"), None):
            with pytest.raises(TypeError, match="takes an h5py dataset"):
                h5twin.explain(what)


def test_config_names_what_exists():
    config = h5twin.config()
    assert config["codecs"] == {codec.name: codec.filter_id for codec in CODECS}
    assert any("hdf5" in path for path in config["hdf5"])
    assert config["version"] == h5twin.__version__
