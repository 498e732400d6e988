#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hdf5_metadata.py COMMAND PYTHON: what work on metadata costs under `COMMAND run`, beside HDF5 alone: instructions by callgrind (needs
valgrind), which do not depend on what else the machine does.

Each object: a group, a dataset that is created with an attribute and closed, opened again, asked for its space and its
attribute, and closed. Instructions of PYTHON (with h5py) for 100 objects are taken from those for 600."""

import os
import re
import subprocess
import sys
import tempfile

CASCADE = "485"  # the filter's number

PROGRAM = """
import sys, h5py, numpy as np
from h5py import h5a, h5d, h5f, h5g, h5s, h5t
count, chunked = int(sys.argv[2]), sys.argv[3] == "chunked"
file = h5f.create(sys.argv[1].encode())
space, scalar, value = h5s.create_simple((64, 64)), h5s.create(h5s.SCALAR), np.array(1.5)
dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
if chunked:
    dcpl.set_chunk((16, 64))
    dcpl.set_filter(int(sys.argv[4]), 0, ())
for i in range(count):
    name = b"g%d" % i
    group = h5g.create(file, name)
    data = h5d.create(group, b"u", h5t.IEEE_F32LE, space, dcpl)
    attribute = h5a.create(data, b"a", h5t.IEEE_F64LE, scalar)
    attribute.write(value)
    del attribute, data, group
    group = h5g.open(file, name)
    data = h5d.open(group, b"u")
    data.get_space().get_simple_extent_dims()
    attribute = h5a.open(data, b"a")
    attribute.read(value)
    del attribute, data, group
file.close()
"""


def instructions(before, python, count, kind, folder):
    path = os.path.join(folder, "x.h5")
    shown = subprocess.run([*before, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", python, "-c", PROGRAM, path,
                            str(count), kind, CASCADE], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"})
    found = re.search(r"Collected : (\d+)", shown.stderr)
    if shown.returncode != 0 or found is None:
        sys.exit(shown.stderr[-2000:])
    return int(found[1])


def main(command, python):
    # Both have the filters.
    path = subprocess.run([command, "run", "printenv", "HDF5_PLUGIN_PATH"], check=True, capture_output=True, text=True).stdout.strip()
    os.environ["HDF5_PLUGIN_PATH"] = path
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("contiguous", "chunked"):
            counts = [(instructions(before, python, 600, kind, folder) - instructions(before, python, 100, kind, folder)) / 500
                      for before in ([], [command, "run"])]
            print(f"{kind}: {counts[0]:.0f} instructions for an object, {counts[1]:.0f} with the connector: {counts[1] / counts[0]:.3f}",
                  flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
