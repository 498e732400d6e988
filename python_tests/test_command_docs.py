# SPDX-License-Identifier: BSD-3-Clause
"""What the h5twin command says of itself: help, completion, the page for man."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from command_line import text_of
from conftest import CODECS, COMMAND, FILTER_IDS

pytestmark = pytest.mark.without_h5py

MAKE_DOCS = pathlib.Path(__file__).resolve().parent.parent / "tools" / "make_docs.sh"


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run(["sh", MAKE_DOCS, COMMAND, folder], check=True)
    return folder


def test_bash_completes_commands_options_and_values(docs):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")

    def complete(*words):
        script = (f"source {docs}/h5twin.bash; COMP_WORDS=({' '.join(map(repr, words))}); "
                  f"COMP_CWORD={len(words) - 1}; _h5twin; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return set(subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True,
                                  cwd=docs).stdout.split())

    assert complete("h5twin", "re") == {"report", "repack"}
    assert complete("h5twin", "help", "ver") == {"verify"}
    assert complete("h5twin", "repack", "--th") == {"--then", "--threads"}
    assert complete("h5twin", "verify", "--a") == {"--abs"}
    assert set(CODECS) <= complete("h5twin", "repack", "--codec", "")
    assert complete("h5twin", "report", "h5twin.b") == {"h5twin.bash"}


def test_zsh_takes_its_completion(docs):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    subprocess.run(["zsh", "-n", docs / "_h5twin"], check=True)


def test_the_page_for_man_says_what_the_command_says(docs):
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    shown = subprocess.run(["man", "--warnings", "-l", docs / "h5twin.1"], check=True, capture_output=True, text=True,
                           env={**os.environ, "MANWIDTH": "140", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
    assert shown.stderr == ""
    for command in ("encode", "repack", "explain"):
        for line in text_of(command, "--help").splitlines():
            assert line.strip() in shown.stdout.replace("\u2010", "-").replace("\u2212", "-"), line


# ---- help ----


def test_help_and_version_name_what_there_is():
    overview = text_of("--help")
    commands = re.findall(r"^  (\w+) +\w", overview, re.M)[:6]
    assert commands == ["encode", "decode", "info", "args", "suggest", "codecs"]
    for command in commands:
        assert text_of(command, "--help").startswith(f"Usage: h5twin {command}")
    assert re.fullmatch(r"h5twin \d+\.\d+\.\d+\n", text_of("--version"))
    assert all(len(line) <= 100 for command in commands
               for line in text_of(command, "--help").splitlines())


def test_codecs_lists_options_that_are_accepted():
    assert re.findall(r"^(\w+) \(HDF5 filter (\d+)\)$", text_of("codecs"), re.M) == \
        [(name, str(number)) for name, number in FILTER_IDS.items()]
    codec, accepted = None, 0
    for line in text_of("codecs").splitlines():
        head = re.match(r"(\w+) \(HDF5", line)
        pair = re.match(r"    (\w+)=(\S+)", line)
        codec = head.group(1) if head else codec
        if pair and pair.group(2) not in ("E", "number") and re.fullmatch(r"[\w|]+", pair.group(2)):
            for value in pair.group(2).split("|"):
                text_of("args", f"{codec}:{pair.group(1)}={value}")
                accepted += 1
    assert CODECS == ["sleek"] or accepted > 0
