# SPDX-License-Identifier: BSD-3-Clause
"""snippets.py: run the fenced code blocks of a Markdown file, section by section.

A section begins at a heading of level 1 or 2. Its blocks run in order, in an empty folder of their own that
has links to the build (build) and the examples. Languages:

  python        all blocks of a section share one interpreter and its names
  sh            bash; what a block exports holds for the later ones
  c             a fragment: lines that begin with # stand before main(), the rest in it, with a `dcpl`
  text, output  never run

An HTML comment before a block says what readers need not see:

  <!-- setup python CODE -->      run first (or setup sh); the comment ends where the code ends
  <!-- save: NAME -->             the block is a file, as NAME, not a program
  <!-- prints: TEXT -->           the output must contain TEXT; may stand several times
  <!-- fails -->                  it must end with an error
  <!-- needs: NAME ... -->        else the section is skipped: programs, python:MODULE, mpi, /a/file
  <!-- not run: REASON -->
"""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback

RUN = ("python", "sh", "c")
QUIET = ("text", "output")
_HEADING = re.compile(r"##? +(.+)")
_FENCE = re.compile(r"( *)(```+|~~~+) *(\w*)")
_DIRECTIVE = re.compile(r"<!-- (setup (?P<setup>python|sh)$|(?P<key>save|prints|fails|needs|not run)(: (?P<value>.*?))? -->)")


@dataclasses.dataclass
class Block:
    language: str
    code: str
    line: int  # of its first line of code, from 1 on
    save: str | None = None
    prints: list[str] = dataclasses.field(default_factory=list)
    fails: bool = False
    not_run: str | None = None


@dataclasses.dataclass
class Section:
    path: pathlib.Path
    title: str
    blocks: list[Block] = dataclasses.field(default_factory=list)
    needs: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.path.name}:{re.sub(r'[^A-Za-z0-9]+', '-', self.title).strip('-')}"


class SnippetError(Exception):
    """What is wrong with a block, with its place."""


def _until(lines: list[str], start: int, end: str) -> int:
    for number in range(start, len(lines)):
        if lines[number].strip() == end:
            return number
    raise SnippetError(f"line {start}: no {end!r} follows")


def sections(path: pathlib.Path) -> list[Section]:
    """All sections of a file that have blocks, with their directives resolved."""
    lines = path.read_text().split("\n")
    found, pending, number = [Section(path, "top")], {}, 0
    while number < len(lines):
        line = lines[number]
        directive, fence, heading = _DIRECTIVE.match(line.strip()), _FENCE.match(line), _HEADING.match(line)
        if directive and directive["setup"]:
            end = _until(lines, number + 1, "-->")
            found[-1].blocks.append(Block(directive["setup"], "\n".join(lines[number + 1:end]), number + 2))
            number = end
        elif directive and directive["key"] == "needs":
            found[-1].needs += directive["value"].split()
        elif directive and directive["key"] == "prints":
            pending.setdefault("prints", []).append(directive["value"])
        elif directive:
            pending[directive["key"].replace(" ", "_")] = directive["value"] or True
        elif fence:
            end = _until(lines, number + 1, fence[2])
            indent = len(fence[1])
            code = "\n".join(text[indent:] for text in lines[number + 1:end])
            block = Block(fence[3], code, number + 2, **pending)
            if block.language not in RUN + QUIET and not block.save and not block.not_run:
                raise SnippetError(f"{path}:{number + 1}: nothing runs a block of {block.language!r}")
            found[-1].blocks.append(block)
            pending, number = {}, end
        elif heading:
            found.append(Section(path, heading[1]))
        elif line.strip() and pending:
            raise SnippetError(f"{path}:{number + 1}: no block follows {pending}")
        number += 1
    return [section for section in found if section.blocks]


def missing(need: str) -> str | None:
    """Why this machine lacks it, or None."""
    if need.startswith("python:"):
        return None if importlib.util.find_spec(need[7:]) else f"no Python module {need[7:]}"
    if need.startswith("/"):
        return None if glob.glob(need) else f"no {need}"
    return None if shutil.which(need) else f"no {need} here"


_C_PROGRAM = """{includes}
int main(void)
{{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 1, (hsize_t[]){{64}});
{statements}
    return H5Pget_nfilters(dcpl) == 1 ? 0 : 1;
}}
"""


def _c_command(code: str) -> str:
    """A fragment as a program that compiles itself."""
    includes = "\n".join(line for line in code.split("\n") if line.startswith("#"))
    statements = "\n".join("    " + line for line in code.split("\n") if not line.startswith("#"))
    pathlib.Path("fragment.c").write_text(_C_PROGRAM.format(includes=includes, statements=statements))
    return "h5cc -shlib -std=c11 -Wall -Werror -Ibuild/include -Isource/include fragment.c -o fragment\n./fragment"


def _run_shell(code: str) -> tuple[bool, str]:
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code + "\nenv -0 >.environment"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode == 0:
        text = pathlib.Path(".environment").read_text()
        os.environ.update(pair.split("=", 1) for pair in text.split("\0") if "=" in pair)
    return done.returncode == 0, done.stdout


def _run_python(block: Block, path: pathlib.Path, names: dict) -> tuple[bool, str]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(compile("\n" * (block.line - 1) + block.code, str(path), "exec"), names)
        except Exception:
            output.write(traceback.format_exc())
            return False, output.getvalue()
    return True, output.getvalue()


def run(section: Section) -> None:
    """Run a section in the working folder. Changes the environment of the process."""
    names = {"__name__": "__main__"}
    for block in section.blocks:
        if block.not_run or (block.language in QUIET and not block.save):
            continue
        if block.save:
            pathlib.Path(block.save).write_text(block.code + "\n")
            continue
        if block.language == "python":
            good, output = _run_python(block, section.path, names)
        else:
            good, output = _run_shell(_c_command(block.code) if block.language == "c" else block.code)
        where = f"{section.path}:{block.line}"
        if good == block.fails:
            raise SnippetError(f"{where}: {'no error' if good else 'failed'}\n{output}")
        for text in block.prints:
            if text not in output:
                raise SnippetError(f"{where}: does not print {text!r}\n{output}")
        print(f"{where}: {block.language}\n{output}", end="")


def main(arguments: list[str]) -> int:
    """snippets.py FILE TITLE: one section, in this process."""
    path, title = pathlib.Path(arguments[0]), arguments[1]
    chosen = [section for section in sections(path) if section.title == title]
    try:
        run(chosen[0])
    except SnippetError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
