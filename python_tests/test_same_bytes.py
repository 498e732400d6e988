# SPDX-License-Identifier: BSD-3-Clause
"""The command and the filter make the same chunk of the same array, whatever its shape.

A chunk is what `h5twin encode` writes and what the file holds (h5py's read_direct_chunk). Shapes have
unit dims and 1 to 8 axes: which of them a codec uses must be decided in one place.
"""

import ast
import re

import h5py
import pytest

from command_line import run, text_of
from conftest import FILTER_IDS, SPECS, smooth

SHAPES = [
    # one to three axes, blocks full, clipped and missing
    (1,), (5,), (4096,), (9000,), (64, 64), (65, 200), (3, 5000), (16, 16, 16), (17, 33, 40),
    (10, 100, 100), (37, 40, 45), (2, 3, 4), (1000, 2, 2), (3000, 3), (3000, 3, 1), (3000, 1, 3),
    # unit dims, anywhere
    (1, 1), (1, 5000), (5000, 1), (1, 1, 5000), (1, 64, 65), (64, 1, 65), (64, 65, 1), (1, 5000, 1),
    (1, 1, 1, 1), (1, 20, 1, 30), (1, 17, 18, 19), (17, 1, 18, 1, 19), (1, 1, 1, 1, 1, 1, 1, 4097),
    (4097, 1, 1, 1, 1, 1, 1, 1), (1, 2, 1, 40, 1, 50, 1, 3),
    # more axes than any codec uses
    (2, 3, 20, 17), (10, 2, 50, 50), (2, 2, 16, 32, 48), (2, 1, 3, 20, 17), (2, 3, 2, 3, 20, 20),
    (2, 2, 2, 2, 2, 20, 20), (2, 2, 2, 2, 2, 2, 16, 16), (3, 2, 1, 2, 3, 2, 30, 17),
]
TYPES = ["f32", "f64", "f64be", "i32"]  # one after the other
NUMPY_TYPES = {"f32": "<f4", "f64": "<f8", "f64be": ">f8", "i32": "<i4"}


def cd_values_of(spec):
    """What `h5twin args` says to give h5py."""
    text = re.search(r"compression_opts=(\(.*?\))\)", text_of("args", spec)).group(1)
    return ast.literal_eval(text)


def chunk_of_filter(tmp_path, data, codec, cd_values):
    with h5py.File(tmp_path / "chunk.h5", "w") as file:
        dataset = file.create_dataset("x", data=data, chunks=data.shape,
                                      compression=FILTER_IDS[codec], compression_opts=cd_values)
        file.flush()
        return dataset.id.read_direct_chunk((0,) * data.ndim)[1]


def chunk_of_command(data, spec, type_name, shape):
    return run("encode", "--spec", spec, "--type", type_name, "--dims", "x".join(map(str, shape)),
               "-", "-", input=data.tobytes()).stdout


def test_command_and_filter_make_the_same_chunk(tmp_path, codec):
    different = []
    for at, spec in enumerate(SPECS[codec]):
        cd_values = cd_values_of(spec)
        # Options beyond the first two specs see every fifth shape, so that it takes no longer with more of them.
        for number, shape in list(enumerate(SHAPES))[at % 5 if at > 1 else 0::5 if at > 1 else 1]:
            for type_name in [TYPES[number % 4], TYPES[(number + 1) % 4]][:2 if codec == "ndzip" else 1]:
                data = (smooth(shape, "f8") * 1000 + 20000).astype(NUMPY_TYPES[type_name])
                if chunk_of_command(data, spec, type_name, shape) != chunk_of_filter(
                        tmp_path, data, codec, cd_values):
                    different.append((spec, type_name, shape))
    assert different == []


@pytest.mark.parametrize("spec", SPECS.get("ndzip", []))  # none where it is not tested
def test_elements_of_several_floats_are_an_axis_of_floats(tmp_path, spec):
    for shape in [(500,), (1, 500), (40, 50), (3, 40, 50), (2, 2, 2, 2, 2, 2, 10, 9)]:
        real = smooth((*shape, 2), "<f8") + 3
        data = real.view("<c16").reshape(shape)
        # Eight dims are all that the command takes: the last two as one, which are one to ndzip.
        dims = (*shape, 2) if len(shape) < 8 else (shape[0] * shape[1], *shape[2:], 2)
        assert chunk_of_filter(tmp_path, data, "ndzip", cd_values_of(spec)) == chunk_of_command(
            data, spec, "f64", dims)


def test_reference_layout_avoids_borders_everywhere():
    """10 x 500 x 500 has no full block of 16 x 16 x 16, but as 5000 x 500 it has."""
    data = smooth((10, 500, 500), "<f4")
    chunk = chunk_of_command(data, "ndzip:layout=reference", "f32", data.shape)
    assert len(chunk) < 0.9 * data.nbytes
    assert run("decode", "-", "-", input=chunk).stdout == data.tobytes()
