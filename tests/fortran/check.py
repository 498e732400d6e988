# SPDX-License-Identifier: BSD-3-Clause
"""check.py FILE STEPS: what the two Fortran programs have written, by h5py: Fortran's dims are reversed."""
import sys

import h5py
import numpy as np


def chunks(dataset):
    infos = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]
    return {info.chunk_offset: dataset.id.read_direct_chunk(info.chunk_offset) for info in infos}


def values(dims, function):
    return function(np.arange(1, np.prod(dims) + 1)).reshape(dims[::-1])


with h5py.File(sys.argv[1]) as file:
    for name in "abcd":
        assert chunks(file["ours"][name]) == chunks(file["native"][name]) != {}, name
        assert len(chunks(file["ours"][name])) == 3 ** file["ours"][name].ndim, name
    a, b = file["ours/a"][...], file["ours/b"][...]
    assert np.abs(a - values((30000,), lambda i: np.sin(0.001 * i))).max() <= 1e-2 + 1e-6
    wanted = values((60, 70), lambda i: np.cos(0.01 * i) * 100)
    assert np.abs(b - wanted).max() < 1e-12
    assert np.array_equal(file["ours/c"][...], values((13, 22, 31), lambda i: i * i % 1000))
    assert np.array_equal(file["ours/d"][...], values((9, 8, 7, 20), lambda i: i * 10 ** 10))
    assert np.array_equal(file["ours/converted"][...], b.astype("f4"))
with h5py.File(sys.argv[2]) as file:
    steps = file["temperature"][...]
    step, row, column = np.meshgrid(np.arange(1, 13), np.arange(1, 193), np.arange(1, 257), indexing="ij")
    assert steps.shape == step.shape
    assert np.abs(steps - np.sin(0.02 * column) * np.cos(0.03 * row + 0.1 * step)).max() <= 1e-3 + 1e-6
print("the files are right")
