# SPDX-License-Identifier: BSD-3-Clause
"""Each rule that a FORMAT.md names has its forgery in the C tests, and each forgery its rule.

The rules are the tables "What a decoder refuses"; the forgeries are marked by RULE("name") of tests/support/rules.h, exactly
one of each, and by ALSO("name") where there are more. That they are refused is what those tests show."""

import pathlib
import re

import pytest

from test_tables import listed, table

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Document -> the tests with its forgeries.
TESTS = {
    "codec/residuals/RESIDUALS.md": ["tests/unit/test_residuals_reject.c"],
    "codec/FORMAT.md": ["tests/forgeries/frame.c"],
    "codec/cascade/FORMAT.md": ["tests/codec/test_cascade_reject.c"],
    "codec/e2mc/FORMAT.md": ["tests/forgeries/e2mc.c"],
    "codec/fpcompress/FORMAT.md": ["tests/forgeries/fpcompress.c", "tests/codec/test_fpcompress_reject.c"],
    "codec/gfc/FORMAT.md": ["tests/forgeries/gfc.c", "tests/codec/test_gfc_reject.c"],
    "codec/lattice/FORMAT.md": ["tests/forgeries/lattice.c"],
    "codec/ndzip/FORMAT.md": ["tests/forgeries/ndzip.c", "tests/codec/test_ndzip_reject.c"],
    "codec/sleek/FORMAT.md": ["tests/forgeries/sleek.c"],
}


def marked(path, macro):
    return re.findall(macro + r'\("([^"]*)"\)', (ROOT / path).read_text())


def all_marked(document, macro):
    return [name for path in TESTS[document] for name in marked(path, macro)]


@pytest.mark.parametrize("document", TESTS)
def test_every_rule_has_its_forgery(document):
    rows = table(document, "rule", "what is refused")
    rules = [name.strip("`") for name, _ in rows]
    assert all(re.fullmatch(r"`[a-z0-9]+(-[a-z0-9]+)*`", name) and what for name, what in rows)
    assert len(set(rules)) == len(rules), "a name is there twice"
    forgeries = all_marked(document, "RULE")
    assert sorted(forgeries) == sorted(rules), (
        f"without a forgery: {set(rules) - set(forgeries)}; in no table: {set(forgeries) - set(rules)}; "
        f"more than once: {[name for name in set(forgeries) if forgeries.count(name) > 1]}")
    assert set(all_marked(document, "ALSO")) <= set(rules)


def test_every_document_is_looked_at():
    """Whatever has such a table, and every test with such marks."""
    have_tables = {str(path.relative_to(ROOT)) for path in (ROOT / "codec").rglob("*.md")
                   if re.search(r"^\| rule \| what is refused \|$", path.read_text(), re.MULTILINE)}
    assert have_tables == set(TESTS)
    assert {f"codec/{name}/FORMAT.md" for name in listed()} <= have_tables
    have_marks = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.c")
                  if marked(path.relative_to(ROOT), "(?:RULE|ALSO)")}
    assert have_marks == {path for paths in TESTS.values() for path in paths}
