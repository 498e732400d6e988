# SPDX-License-Identifier: BSD-3-Clause
"""typed.py FILE TITLE...: a shell script of all blocks of these sections of a Markdown file, in one shell as a reader types
them, those that tests/run.sh leaves out as well. What a block must print is compared. Written to the standard output."""

import pathlib
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "docs/tests"))
import snippets  # noqa: E402

path, titles = pathlib.Path(sys.argv[1]), sys.argv[2:]
chosen = [section for section in snippets.sections(path) if section.title in titles]
assert len(chosen) == len(titles), f"{path} has no such section: {titles}"
print("set -euo pipefail")
for block in (block for section in chosen for block in section.blocks):
    assert block.language in ("python", "sh"), block.language
    print(f"printf '%s\\n' {shlex.quote(f'== {path.name}:{block.line}')}")
    code = block.code if block.language == "sh" else f"python3 - <<'END_OF_BLOCK'\n{block.code}\nEND_OF_BLOCK"
    print(f"exec 3>&1 >typed.log 2>&1\n{code}\nexec 1>&3 2>&1 3>&-\ntail -n 12 typed.log")
    for text in block.prints:
        print(f"grep -qF -- {shlex.quote(text)} typed.log || {{ echo {shlex.quote(f'not printed: {text}')}; exit 1; }}")
