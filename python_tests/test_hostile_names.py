# SPDX-License-Identifier: BSD-3-Clause
"""Names in a file are bytes of a stranger: what the command prints of them neither steers a terminal nor forges a
line."""

import json
import subprocess

import h5py
import numpy as np
import pytest

from conftest import COMMAND, smooth
from test_repack import ENV

pytestmark = pytest.mark.without_h5py

FORGED = "good\n              5               1     5.000  forged: lattice"
NAMES = [b"\x1b[2Jgone", FORGED.encode(), b"bell\x07 back\x08 del\x7f return\rx", "C1 \u009b31m \u0085".encode(),
         "turned \u202egpj.exe\u202c \u2066x\u2069 \u200e \u2028 \ufeff".encode(), b"not UTF-8 \xff\xc3( \xed\xa0\x80 \xc0\xaf",
         "grüße 漢字 <b>&".encode()]
HIDDEN = [chr(c) for c in (*range(0x20), *range(0x7F, 0xA0), 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F),
                           *range(0x2060, 0x2070), 0xFEFF) if chr(c) != "\n"]


@pytest.fixture(scope="module", name="hostile")
def hostile_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "in.h5"
    with h5py.File(path, "w") as file:
        for name in NAMES:
            space, plist = h5py.h5s.create_simple((40, 50)), h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((20, 50))
            plist.set_deflate(1)
            data = np.round(smooth((40, 50), "<f4"), 2).astype("<f4")
            h5py.h5d.create(file.id, name, h5py.h5t.IEEE_F32LE, space, plist).write(space, space, data)
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:  # with a filter whose name the file tells
        file["x"] = np.arange(3000.0)
    return path


@pytest.mark.parametrize("arguments", [
    ("repack", "--codec", "ndzip", "--force", "IN", "OUT"), ("info", "IN"), ("info", "--quick", "IN"), ("report", "IN"),
    ("report", "--against", "IN", "IN"), ("report", "--against", "OTHER", "IN"), ("verify", "IN", "IN"), ("verify", "IN", "OTHER"),
    ("report", "--json", "IN"), ("report", "--html", "PAGE", "IN"), ("repack", "--codec", "x\x1b[1m", "IN", "OUT"),
    ("suggest", "--abs", "1e-3", "IN:\x1b[2Jgone"), ("suggest", "--abs", "1e-3", "IN:no\x1b[2J"),
    ("repack", "--codec", "ndzip", "--chunks", "5x5x5", "--force", "IN", "OUT")])
def test_what_a_terminal_gets(arguments, hostile, tmp_path):
    names = {"IN": str(hostile), "OUT": str(tmp_path / "out.h5"), "OTHER": str(hostile.with_name("other.h5")),
             "PAGE": str(tmp_path / "page")}
    words = [names.get(word, word.replace("IN:", f"{hostile}:")) for word in arguments]
    result = subprocess.run([COMMAND, *words], capture_output=True, timeout=60, check=False, env=ENV)
    page = tmp_path / "page"
    text = (result.stdout + result.stderr + (page.read_bytes() if page.exists() else b"")).decode()  # and is UTF-8
    assert [c for c in HIDDEN if c in text] == [], text
    assert not any(line.startswith(" " * 14 + "5  ") for line in text.splitlines()), text
    if arguments[:2] in (("info", "IN"), ("report", "IN")) or arguments[:3] == ("repack", "--codec", "ndzip") and \
            "--chunks" not in arguments:
        assert "grüße 漢字 <b>&" in text and "\\x1b[2Jgone" in text and "\\u202egpj.exe" in text and "\\xff\\xc3(" in text
        assert "/good\\x0a   " in text
    if "--json" in arguments:
        assert len(json.loads(result.stdout)["datasets"]) == len(NAMES)
        assert "\x1b[2Jgone" in result.stdout.decode() or "\\u001b[2Jgone" in result.stdout.decode()
    if "--html" in arguments:
        assert "&lt;b&gt;&amp;" in text and "<b>" not in text
