# SPDX-License-Identifier: BSD-3-Clause
"""cascade against an independent program: it decodes what we write, and we what it writes.

Runs when H5TWIN_CASCADE_REFERENCE names that program (enc|dec TYPE DIMS EFFORT IN OUT);
H5TWIN_CASCADE_ARRAYS says how many random arrays (default 200)."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = os.environ.get("H5TWIN_COMMAND", str(HERE.parent / "build" / "bin" / "h5twin"))

REFERENCE = os.environ.get("H5TWIN_CASCADE_REFERENCE")
ARRAYS = int(os.environ.get("H5TWIN_CASCADE_ARRAYS", "200"))
TYPES = {"f32": "<f4", "f64": "<f8", "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8"}

pytestmark = pytest.mark.skipif(not REFERENCE, reason="H5TWIN_CASCADE_REFERENCE is not set")


def random_array(random, kind):
    """Random type of contents, rank and extents; little-endian."""
    rank = random.integers(1, 6)
    most = [0, 5000, 60, 14, 7, 4][rank]
    dims = [int(x) for x in random.integers(1, most + 1, rank)]
    count = int(np.prod(dims))
    style = random.integers(6)
    if style == 0:
        words = random.integers(0, 256, count * 8, dtype=np.uint8).view("<u8")
        return words.astype(TYPES[kind].replace("f", "u").replace("i", "u")).view(TYPES[kind]), dims
    walk = np.cumsum(random.normal(size=count)) * 10.0 ** random.integers(-3, 4)
    if style == 1:
        walk = np.round(walk)
    elif style == 2:
        walk[random.random(count) < 0.3] = -99
    elif style == 3:
        walk = random.choice(walk[:20], count)
    elif style == 4:
        walk = np.resize(walk[:97], count)
    with np.errstate(all="ignore"):
        return walk.astype(TYPES[kind]), dims


@pytest.mark.parametrize("effort", ["fast", "quick", "balanced", "max"])
@pytest.mark.parametrize("kind", sorted(TYPES))
def test_each_reads_what_the_other_writes(kind, effort, tmp_path):
    random = np.random.default_rng([len(effort), *kind.encode()])
    raw, ours, theirs, back = (str(tmp_path / name) for name in ("raw", "ours", "theirs", "back"))
    for _ in range(max(1, ARRAYS // (len(TYPES) * 4))):
        array, dims = random_array(random, kind)
        array.tofile(raw)
        text = "x".join(map(str, dims))
        form = ["--bare", "--spec", f"cascade:effort={effort}", "--type", kind, "--dims", text]
        subprocess.run([COMMAND, "encode", *form, raw, ours], check=True, capture_output=True)
        subprocess.run([REFERENCE, "dec", kind, text, effort, ours, back], check=True)
        assert open(back, "rb").read() == array.tobytes()
        subprocess.run([REFERENCE, "enc", kind, text, effort, raw, theirs], check=True)
        subprocess.run([COMMAND, "decode", *form, theirs, back], check=True, capture_output=True)
        assert open(back, "rb").read() == array.tobytes()
