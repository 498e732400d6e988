# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the documentation can be drawn. Their own assertions hold the bounds that they show."""

import pathlib

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["bounds", "errors", "restart"])  # the other one measures speed, which takes long
def test_picture_is_drawn(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(DOCS)
    import draw
    getattr(draw, f"draw_{name}")(tmp_path / f"{name}.png")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_every_picture_is_drawn_by_the_script():
    text = (DOCS / "draw.py").read_text()
    assert all(f'("{path.stem}", draw_{path.stem})' in text for path in (DOCS / "pages/pictures").glob("*"))
