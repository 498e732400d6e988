# SPDX-License-Identifier: BSD-3-Clause
"""Links of Markdown files lead somewhere in the tree, to a heading too; `code` that looks like a path exists."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [ROOT / name for name in
         subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                        capture_output=True, text=True, check=True).stdout.split() if (ROOT / name).exists()]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:bench|bin|cmake|codec|docs|examples|filter|include|python|python_tests|tests|tools)/[\w./-]+)`")
NOT_HERE = re.compile(r"bench/results|.*/[A-Z]+$")  # of other machines; NAMES to be filled in


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.S)


def anchors(path):
    titles = re.findall(r"^#+ +(.+)$", without_code(path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_local_links_lead_somewhere(path):
    text = without_code(path.read_text())
    wrong = []
    for target in LINK.findall(text):
        name, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (path.parent / name).resolve() if name else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            wrong.append(target)
    assert not wrong


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_in_the_text_exist(path):
    names = {name.rstrip(".") for name in PATH.findall(without_code(path.read_text()))}
    assert not {name for name in names if not NOT_HERE.match(name) and not (ROOT / name).exists()
                and not (path.parent / name).exists() and not list(ROOT.glob(name + ".*"))}
