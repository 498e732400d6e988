# SPDX-License-Identifier: BSD-3-Clause
"""c_api.py: the page of the C API, made of the headers in include/: of each its comment at the head, then its declarations,
each below the comment that stands before it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ["h5twin.h", "h5twin_codecs.h.in", "h5twin_hdf5.h", "h5twin_io.h", "h5twin_checkpoint.h", "h5twin_checkpoint_mpi.h",
           "h5twin_policy.h", "h5twin_vol.h", "h5twin_cuda.h"]
assert {*HEADERS} == {path.name for path in (ROOT / "include").iterdir() if ".h" in path.name}
_SECTION = re.compile(r"-{2,} (.*?) -{2,}$", re.S)
_INTERNAL = re.compile(r"#\s*define +(H5TWIN_API|H5TWIN_TAKE|\w+_H$)")
_HIDDEN = re.compile(r"#\s*(ifn?def|if|endif|else|elif|include|undef|pragma)\b|extern \"C\"|\}$")


def _text(comment):
    """What a comment says, without its stars; its indented lines stay as they are."""
    body = re.sub(r"^/\*|\*/$", "", comment).strip("\n ")
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in body.split("\n")]
    return "\n".join(lines).strip()


def _pieces(source):
    """Comments at the left margin, and what stands between them, in order."""
    at = 0
    for found in re.finditer(r"^/\*.*?\*/", source, re.S | re.M):
        yield "code", source[at:found.start()]
        yield "comment", found[0]
        at = found.end()
    yield "code", source[at:]


def declarations(code):
    """The declarations in a piece of code: without directives, and of an inline function only its head."""
    blocks, block, depth, inline = [], [], 0, False
    for line in code.split("\n"):
        if depth == 0 and (not line.strip() or _HIDDEN.match(line)):
            if not inline and block:
                blocks.append("\n".join(block))
                block = []
            continue
        if depth == 0 and line.startswith("static inline"):
            inline = True
        opened = line.count("{") - line.count("}")
        if inline and line == "{":
            blocks.append("\n".join(block).replace("static inline ", "") + ";")
            block = []
        elif not inline or depth == 0 and line != "}":
            block.append(line)
        depth += opened
        if inline and depth == 0 and line == "}":
            inline, block = False, []
    if block:
        blocks.append("\n".join(block))
    return [text.replace("H5TWIN_API ", "") for text in blocks if not _INTERNAL.match(text)]


def _header(name):
    yield f"## {name.removesuffix('.in')}"
    source = (ROOT / "include" / name).read_text()
    is_first = True
    for kind, text in _pieces(source):
        if kind == "comment":
            said = _text(text)
            section = _SECTION.match(said)
            if is_first:
                said = said.split("\n", 1)[1]  # the licence's line
                said = re.sub(r"^h5twin\w*\.h(\.in)?: (.)", lambda found: found[2].upper(), said)
                is_first = False
            yield f"### {section[1].strip()}" if section else _markdown(said)
        else:
            for block in declarations(text):
                yield f"```c\n{block}\n```"


def _markdown(said):
    """Lines indented by four after an empty one are code. "Units   ..." and the like begin a paragraph."""
    lines, is_code = [], False
    for line, before in zip(said.split("\n"), ["", *said.split("\n")]):
        if is_code:
            is_code = not line or line.startswith("    ")
        else:
            is_code = not before and bool(re.match(r" {4}\S", line))
        if is_code:
            lines.append(line)
            continue
        starts = re.match(r"(Units|Errors|Threads|Stack|Source) +(.*)", line)
        line = f"\n**{starts[1]}**: {starts[2]}" if starts else line.strip()
        lines.append(re.sub(r"(?<![`\w])(\w+\(\)|(?:struct |enum )?h5twin_\w+|H5TWIN_\w+)(?![`\w])", r"`\1`", line))
    return "\n".join(lines)


def page():
    intro = ("# C API\n\nMade of the headers in `include/`, which are the authority. `h5twin.h` and `h5twin_cuda.h` need no HDF5; "
             "the others need its headers. [C, C++, Fortran](../recipes/c.md) has programs to begin with.\n")
    return "\n\n".join([intro, *(text for name in HEADERS for text in _header(name))]) + "\n"


if __name__ == "__main__":
    print(page())
