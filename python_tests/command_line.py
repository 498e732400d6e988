# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of the h5twin command: to run it, and to read what it prints.

H5TWIN_COMMAND is the command to test, default ../build/bin/h5twin. What writes HDF5 files through
the filters needs their plugins, in H5TWIN_PLUGIN_PATH, default ../build/plugins.
"""

import re
import subprocess

import numpy as np
import pytest

from conftest import COMMAND, PLUGINS

TYPES = {
    "f32": "<f4", "f64": "<f8", "f32be": ">f4", "f64be": ">f8", "f32le": "<f4",
    "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "i16be": ">i2",
    "u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "u32be": ">u4", "u64be": ">u8",
    "bytes": "<u1",
}
FRAME = 24
ARRAY = ["--type", "f32", "--dims", "8x16x40"]  # what conftest's array_file holds


def run(*arguments, code=0, **more):
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, timeout=120,
                            check=False, **more)
    assert result.returncode == code, (result.args, result.stderr.decode())
    return result


def text_of(*arguments, **more):
    return run(*arguments, **more).stdout.decode()


def refused(*arguments, code=2, **more):
    """The one sentence on stderr of a command line that must fail."""
    result = run(*arguments, code=code, **more)
    message = result.stderr.decode()
    assert message.startswith("h5twin: ") and message.endswith(".\n") and message.count("\n") == 1
    return message


def smooth(shape, dtype):
    grid = np.indices(shape).sum(axis=0)
    return (np.sin(grid * 0.05) * 100 + grid * 0.01).astype(dtype)


def fields(text):
    return dict(re.findall(r"^  (\w[\w ]*?)  +(.*)$", text, re.M))


def needs_plugin(codec):
    if not (PLUGINS / f"libh5twin_{codec}.so").exists():
        pytest.skip(f"no plugin for {codec} in {PLUGINS}")


def needs_hdf5(path):
    result = subprocess.run([COMMAND, "info", str(path)], capture_output=True, check=False)
    if b"built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")
