# SPDX-License-Identifier: BSD-3-Clause
"""Every code block of README and of the documentation runs. snippets.py has the rules."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import pytest

import snippets

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("H5TWIN_BUILD", ROOT / "build-gcc")).resolve()
FILES = [ROOT / "README.md", *sorted((ROOT / "docs/pages").rglob("*.md"))]
SECTIONS = [section for path in FILES for section in snippets.sections(path)]
TIME_LIMIT = 120  # seconds, on a machine that does other things too


def environment():
    """What a reader has who has built, installed the package, and set the plugin path."""
    path = [str(BUILD / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(path), "HDF5_PLUGIN_PATH": str(BUILD / "plugins"),
            "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "2"}


def run(section, folder):
    folder.mkdir()
    for name, target in {"build": BUILD, "source": ROOT, "examples": ROOT / "examples"}.items():
        (folder / name).symlink_to(target)
    return subprocess.run([sys.executable, snippets.__file__, section.path, section.title], cwd=folder,
                          env=environment(), capture_output=True, text=True, timeout=TIME_LIMIT)


def lacks(section):
    return next(filter(None, map(snippets.missing, section.needs)), None)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """All sections at once: most of the time is that of starting programs."""
    base = tmp_path_factory.mktemp("snippets")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {str(section): pool.submit(run, section, base / str(index))
                for index, section in enumerate(SECTIONS) if not lacks(section)}


@pytest.mark.parametrize("section", SECTIONS, ids=str)
def test_blocks_run(section, runs):
    if lacks(section):
        pytest.skip(lacks(section))
    done = runs[str(section)].result()
    assert done.returncode == 0, done.stderr
    if any(block.language in snippets.RUN and not block.not_run and not block.save for block in section.blocks):
        assert f"{section.path}:" in done.stdout  # something has run


def test_titles_are_unique():
    assert len({str(section) for section in SECTIONS}) == len(SECTIONS)


@pytest.mark.parametrize("text, says", [
    ("```sh\nfalse\n```", "failed"),
    ("```python\nraise ValueError('no')\n```", "ValueError"),
    ("<!-- prints: two -->\n```sh\necho one\n```", "does not print 'two'"),
    ("<!-- fails -->\n```sh\ntrue\n```", "no error"),
    ("```c\n#include <hdf5.h>\nthere_is_no_such_call(dcpl);\n```", "there_is_no_such_call"),
])
def test_a_wrong_block_is_noticed(text, says, tmp_path):
    path = tmp_path / "wrong.md"
    path.write_text(f"# Title\n{text}\n")
    done = run(snippets.sections(path)[0], tmp_path / "run")
    assert done.returncode == 1 and says in done.stderr


@pytest.mark.parametrize("text", ["```java\nclass X {}\n```", "```\nno language\n```", "```sh\nno end",
                                  "<!-- prints: x -->\nNo block.\n"])
def test_a_block_that_nothing_runs_is_an_error(text, tmp_path):
    path = tmp_path / "wrong.md"
    path.write_text(text)
    with pytest.raises(snippets.SnippetError):
        snippets.sections(path)


def test_names_files_and_exports_last_for_a_section(tmp_path):
    path = tmp_path / "right.md"
    path.write_text("# A\n<!-- setup python\nx = 6\n-->\n<!-- save: n.txt -->\n```text\n7\n```\n```sh\nexport N=$(cat n.txt)\n"
                    "```\n<!-- prints: 42 -->\n```python\nimport os\nprint(x * int(os.environ['N']))\n```\n")
    assert run(snippets.sections(path)[0], tmp_path / "run").returncode == 0
