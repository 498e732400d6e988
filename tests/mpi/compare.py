#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare.py COLLECTIVE.h5 SERIAL.h5: write the same values serially into SERIAL.h5, with the filter
parameters that COLLECTIVE.h5 has: every chunk must be the same bytes, and read as the same values."""

import itertools
import struct
import sys

import h5py
import numpy as np


def chunks_of(dataset):
    steps = [range(0, size, step) for size, step in zip(dataset.shape, dataset.chunks)]
    return {place: dataset.id.read_direct_chunk(place) for place in itertools.product(*steps)}


def compare(collective, serial):
    # The user's part of the words; set_local adds the same rest.
    filter_id, _, words, _ = collective.id.get_create_plist().get_filter(0)
    rows, columns = collective.shape
    at = np.arange(rows * columns)  # as in write_collectively.c and write_ahead.c
    data = (at % 509 * 0.0371 + at // 64).reshape(rows, columns)
    dataset = serial.create_dataset(collective.name, data=data, chunks=collective.chunks,
                                    compression=filter_id, compression_opts=words[:5])
    serial.flush()
    ours, theirs = chunks_of(collective), chunks_of(dataset)
    assert len(ours) >= 15 and ours == theirs, f"{collective.name}: chunks differ"
    bound = struct.unpack("<d", struct.pack("<2I", *words[1:3]))[0]
    allowed = bound * {0: 0, 1: 1, 2: data.max() - data.min(), 3: np.abs(data)}[words[0]]
    error = np.abs(collective[()] - data)
    assert (error <= allowed).all() and error.any() == (bound > 0), f"{collective.name}: error {error.max()}"


def main():
    with h5py.File(sys.argv[1]) as collective, h5py.File(sys.argv[2], "w") as serial:
        for name in collective:
            compare(collective[name], serial)
        assert len(collective) >= 5
        print(f"{len(collective)} datasets of {len(chunks_of(collective[name]))} chunks: the same bytes")


if __name__ == "__main__":
    main()
