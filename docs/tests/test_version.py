# SPDX-License-Identifier: BSD-3-Clause
"""The version stands in CMakeLists.txt; recipes that cannot read it there say the same."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(h5twin VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


@pytest.mark.parametrize("name, pattern", [
    ("packaging/conda/recipe.yaml", r'^  version: "(.+)"$'),
    ("packaging/spack/spack_repo/h5twin/packages/h5twin/package.py", r'^    version\("(.+)"\)$'),
])
def test_recipes_name_the_version(name, pattern):
    assert re.findall(pattern, (ROOT / name).read_text(), re.M) == [VERSION]


def test_no_header_has_a_version_of_its_own():
    for header in (ROOT / "include").iterdir():
        assert VERSION not in header.read_text()
