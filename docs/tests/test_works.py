# SPDX-License-Identifier: BSD-3-Clause
"""The table of tools says what is so here."""

import re

import pytest

import works


@pytest.mark.parametrize("name", works.ROWS)
def test_row_is_true(name):
    try:
        _, *said = works.tried(name)
    except works.NotHere as missing:
        pytest.skip(f"not here: {missing or name}")
    assert name in works.stored(), "docs/tests/works.py --write adds it"
    assert [works.word(text) for text in said] == works.stored()[name][1:], said
    for text in said:
        if works.word(text) == "no":
            assert re.search(works.REFUSALS[name], text), text
