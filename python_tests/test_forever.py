# SPDX-License-Identifier: BSD-3-Clause
"""Files of all versions so far, tests/forever/VERSION/*.h5, read as what was written into them."""

import os
import subprocess
import sys

import h5py
import pytest

from conftest import CODECS, FILTER_IDS, HERE, PLUGINS

FILES = sorted((HERE.parent / "tests" / "forever").glob("[0-9]*/*.h5"))

READ = """
import hashlib, sys, h5py
counts = [0, 0]
def check(name, item):
    if isinstance(item, h5py.Dataset):
        right = hashlib.sha256(item[()].tobytes()).hexdigest() == item.attrs["sha256"]
        counts[right] += 1
        if not right:
            print("changed:", name)
with h5py.File(sys.argv[1]) as file:
    file.visititems(check)
print(counts[0], "changed", counts[1], "right")
"""


@pytest.mark.parametrize("variant", ["scalar", "sse4.2", "avx2", "avx512"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_of_every_version_are_read(path, variant):
    """In a process of its own: the instruction set is chosen once (H5TWIN_CPU, in builds with tests)."""
    result = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True,
                            env={**os.environ, "H5TWIN_CPU": variant, "HDF5_PLUGIN_PATH": str(PLUGINS)}, timeout=120)
    assert result.returncode == 0, result.stderr
    changed, right = (int(word) for word in result.stdout.split()[-4::2])
    assert changed == 0, result.stdout
    assert right >= 7


def test_every_kind_of_file_is_kept():
    assert {path.name for path in FILES} == {"earliest.h5", "latest.h5"}


def test_a_changed_value_is_found(tmp_path):
    """The check itself, on a file whose attribute does not fit."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["x"] = [1.0, 2.0]
        file["x"].attrs["sha256"] = "0" * 64
    result = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True)
    assert "1 changed 0 right" in result.stdout


def test_every_codec_is_kept():
    """Those of this build: tests/forever/make.py adds what is missing."""
    kept = set()
    for path in FILES:
        with h5py.File(path) as file:
            file.visititems(lambda _, item: kept.update(
                item.id.get_create_plist().get_filter(at)[0] for at in range(item.id.get_create_plist().get_nfilters())
            ) if isinstance(item, h5py.Dataset) else None)
    assert {name for name in CODECS if name != "toy" and FILTER_IDS[name] not in kept} == set()
