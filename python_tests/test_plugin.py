# SPDX-License-Identifier: BSD-3-Clause
"""The shared objects themselves."""

import ctypes
import os
import re

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
    assert re.fullmatch(rf"h5twin {codec} \d+\.\d+\.\d+ \(.*https://.*\)", name)


def test_loading_starts_no_thread(codec):
    before = len(os.listdir("/proc/self/task"))
    library = ctypes.CDLL(str(plugin_of(codec)))
    assert library.H5PLget_plugin_type() == 0
    assert len(os.listdir("/proc/self/task")) == before
