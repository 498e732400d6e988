# SPDX-License-Identifier: BSD-3-Clause
"""The shared objects themselves."""

import ctypes
import os
import re
import subprocess
import sys

import h5py

from conftest import FILTER_IDS, PLUGINS, create, filter_of, plugin_of, run_tool


def test_plugin_exists_and_hdf5_loads_it(codec):
    assert plugin_of(codec).is_file()
    assert h5py.h5z.filter_avail(FILTER_IDS[codec])
    info = h5py.h5z.get_filter_info(FILTER_IDS[codec])
    assert info & h5py.h5z.FILTER_CONFIG_ENCODE_ENABLED
    assert info & h5py.h5z.FILTER_CONFIG_DECODE_ENABLED


def test_no_plugin_without_a_test():
    built = {p.name for p in PLUGINS.glob("lib*.so*")}
    assert built <= {f"libh5twin_{name}.so" for name in FILTER_IDS}


def test_plugin_needs_no_hdf5_and_no_cuda(codec):
    needed = run_tool("ldd", plugin_of(codec)).stdout.lower()
    assert "libc.so" in needed
    for name in ("hdf5", "cuda", "gomp", "stdc++", "not found"):
        assert name not in needed


def test_plugin_exports_two_symbols(codec):
    text = run_tool("nm", "-D", "--defined-only", plugin_of(codec)).stdout
    symbols = {line.split()[-1] for line in text.splitlines()}
    assert symbols == {"H5PLget_plugin_type", "H5PLget_plugin_info"}


def test_plugin_refers_to_no_hdf5_symbol(codec):
    text = run_tool("nm", "-D", "--undefined-only", plugin_of(codec)).stdout
    assert not re.search(r"\bH5", text)


def test_plugin_stays_loaded(codec):
    assert "NODELETE" in run_tool("readelf", "-d", plugin_of(codec)).stdout


def test_filter_name_in_the_file_says_what_and_where(codec, path):
    with h5py.File(path, "w") as file:
        name = filter_of(create(file, "x", [1.0, 2.0], codec, chunks=(2,)))[3].decode()
    assert re.fullmatch(rf"h5twin-{codec} \d+\.\d+\.\d+: .*Python package h5twin.* HDF5_PLUGIN_PATH .*", name)


def test_a_reader_without_the_plugin_is_told_what_to_do_and_can_do_it(codec, path, tmp_path_factory):
    with h5py.File(path, "w") as file:
        create(file, "x", [1.0, 2.0], codec, chunks=(2,))
    program = "import h5py, sys; print(*h5py.File(sys.argv[1])['x'][:])"
    results = [subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True,
                              text=True, check=False,
                              env={**os.environ, "HDF5_PLUGIN_PATH": str(folder)})
               for folder in (tmp_path_factory.mktemp("empty"), PLUGINS)]
    assert results[0].returncode != 0
    if h5py.version.hdf5_version_tuple < (1, 12):  # later ones tell of folders instead
        assert f"h5twin-{codec}" in results[0].stderr and "HDF5_PLUGIN_PATH" in results[0].stderr
    assert results[1].stdout.split() == ["1.0", "2.0"], results[1].stderr


def test_loading_starts_no_thread(codec):
    before = set(os.listdir("/proc/self/task"))
    library = ctypes.CDLL(str(plugin_of(codec)))
    assert library.H5PLget_plugin_type() == 0
    assert set(os.listdir("/proc/self/task")) <= before  # one of another test's may end meanwhile
