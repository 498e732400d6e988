# SPDX-License-Identifier: BSD-3-Clause
"""Tables of codecs in documents say what codec/codecs.def and the command of the build say.

Each is read as a stranger would read it: a codec that is missing, one too many, or a wrong number fails."""

import ast
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ROOT / os.environ.get("H5TWIN_BUILD", "build") / "bin" / "h5twin"


def listed():
    """name -> (number in the frame, filter id), by codec/codecs.def."""
    lines = (ROOT / "codec/codecs.def").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: (int(number), int(filter_id)) for name, _, number, filter_id in rows}


def command(*arguments, **more):
    return subprocess.run([COMMAND, *arguments], capture_output=True, check=True, **more).stdout


def tables(path):
    """Of a document: each table as rows of cells, the head first."""
    found, rows = [], []
    for line in [*(ROOT / path).read_text().splitlines(), ""]:
        line = line.strip()
        if line.startswith("|"):
            # A bar within a cell is written with a backslash.
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                rows.append(cells)
        elif rows:
            found.append(rows)
            rows = []
    return found


def table(path, *head):
    """The rows of the one table of a document whose head begins so."""
    right = [rows[1:] for rows in tables(path) if tuple(rows[0][:len(head)]) == head]
    assert len(right) == 1, f"{path} has {len(right)} tables that begin with {head}"
    return right[0]


def test_the_command_has_what_is_listed():
    rows = [line.split("\t") for line in command("codecs", "--machine").decode().splitlines()]
    assert {name: (int(number), int(filter_id)) for name, number, filter_id, _ in rows} == listed()


def test_numbers_in_frames():
    rows = table("codec/FORMAT.md", "number", "codec", "smallest word, bytes", "extents", "payload")
    assert {name: int(number) for number, name, *_ in rows} == {name: number for name, (number, _) in listed().items()}
    assert len(rows) == len(listed())
    for _, name, _, _, payload in rows:
        assert payload == f"`codec/{name}/FORMAT.md`" and (ROOT / payload.strip("`")).is_file()


@pytest.mark.parametrize("name", listed())
def test_words_and_extents_in_frames(name):
    """Of chunks that the command makes of bytes and of floats; codec/FORMAT.md says which bytes these are."""
    (smallest, extents), = [(int(row[2]), row[3]) for row in
                            table("codec/FORMAT.md", "number", "codec", "smallest word, bytes", "extents") if row[1] == name]
    zeros = bytes(16384)
    chunk = command("encode", "--spec", name, "--type", "i8", "--dims", "16384", "-", "-", input=zeros)
    assert chunk[:4] == b"H5TW" and chunk[5] == listed()[name][0] and chunk[6] == 0
    assert 1 << (chunk[7] & 15) == smallest
    chunk = command("encode", "--spec", name, "--type", "f32", "--dims", "64x64", "-", "-", input=zeros)
    # Two extents of 64, the slowest first, an unused one, and 4 bytes of 0.
    as_extents = b"".join(value.to_bytes(4, "little") for value in (64, 64, 1, 0))
    assert (sorted(chunk[24:40]) == sorted(as_extents)) == (extents == "yes")


def test_request_for_filter_ids():
    path = "docs/REGISTRATION.md"
    rows = table(path, "proposed name", "testing id")
    assert {name.strip("`"): int(number) for name, number, *_ in rows} == {
        f"h5twin-{name}": filter_id for name, (_, filter_id) in listed().items()}
    text = (ROOT / path).read_text()
    subject = re.search(r"\*\*Subject:\*\* .*: h5twin (.*)", text).group(1)
    assert set(subject.split(", ")) == set(listed())
    first, last = (int(number) for number in re.search(r"ids in use, (\d+) to (\d+), lie", text).groups())
    assert set(range(first, last + 1)) == {filter_id for _, filter_id in listed().values()}


def test_readme():
    rows = table("README.md", "filter", "id")
    assert {name.strip("`"): int(number) for name, number, *_ in rows} == {
        name: filter_id for name, (_, filter_id) in listed().items()}


@pytest.mark.parametrize("path, head", [("docs/pages/codecs.md", ("", "choose it for")),
                                        ("filter/CD_VALUES.md", ("codec", "bits", "values"))])
def test_every_codec_has_a_row(path, head):
    names = [row[0].strip("`") for row in table(path, *head)]
    assert {name for name in names if name} == set(listed())


def options():
    """codec -> its options, by `h5twin codecs`, without the bounds, which are no bits of words 3 and 4."""
    found = {}
    for line in command("codecs").decode().splitlines():
        if line and line[0] != " ":
            of_codec = found.setdefault(line.split()[0], set())
        elif match := re.match(r"    (\w+)=", line):
            of_codec.add(match[1])
    return {name: names - {"abs", "noa", "rel"} for name, names in found.items()}


def word_of(spec):
    """Words 3 and 4 as one number, by what `h5twin args` prints for h5py."""
    words = ast.literal_eval(re.search(r"compression_opts=(\(.*?\))", command("args", spec).decode()).group(1))
    low, high = (*words, 0, 0, 0, 0, 0)[3:5]
    return low | high << 32


def test_bits_of_options():
    """Each row's values, asked for, give those bits and no others; and no option lacks a row."""
    named = {name: set() for name in listed()}
    for codec, bits, values in with_names(table("filter/CD_VALUES.md", "codec", "bits", "values")):
        if bits == "none":
            continue
        high, low, option = re.fullmatch(r"(\d+)\.\.(\d+) (\w+)", bits).groups()
        high, low = int(high), int(low)
        named[codec].add(option)
        if span := re.match(r"N( [-+] \d+)? for N (= 0 and )?from (\d+) to (\d+)", values):
            more = int((span[1] or "0").replace(" ", ""))
            pairs = [(int(value) + more, value) for value in [*(["0"] if span[2] else []), span[3], span[4]]]
        elif values == "a decimal number, below":
            pairs = [(digits | exponent + 32 << 20 | negative << 26 | 1 << 27, text)
                     for digits, exponent, negative, text in ((0, 0, 0, "0"), (27315, -2, 1, "-273.15"), (1, 5, 0, "1e5"),
                                                              (999999, 31, 0, "999999e31"), (1, -32, 0, "1e-32"))]
        else:
            pairs = [(int(part.split()[0]), part.split()[1]) for part in values.split(",")]
        for field, value in pairs:
            assert 0 < field < 1 << (high - low + 1)
            # The largest granules want the largest blocks.
            with_it = "block_log2=12," if option == "gran_log2" else ""
            without = word_of(f"{codec}:{with_it[:-1]}") if with_it else 0
            assert word_of(f"{codec}:{with_it}{option}={value}") == without | field << low, (codec, option, value)
    assert named == options()


def test_documents_and_typed_calls_name_every_option():
    """Its codec's FORMAT.md; and h5twin_hdf5.h in the codec's own part (e2mc's call takes the bits as they are)."""
    header = (ROOT / "include/h5twin_hdf5.h").read_text()
    for name, names in options().items():
        calls = " ".join(re.findall(rf"struct h5twin_{name}_options \{{.*?\}};|\bH5Pset_h5twin_{name}\w*\([^)]*\)", header, re.S))
        for option in names:
            assert re.search(rf"\b{option}\b", (ROOT / "codec" / name / "FORMAT.md").read_text()), (name, option)
            shown = {"min": "least", "max": "most"}.get(option, option)
            assert name == "e2mc" or re.search(rf"\b{shown}\b", calls), (name, option)


def test_specs_have_every_option():
    """Of each codec, in the file that tests of all codecs walk: its bounds, its options, and each value that has a name."""
    for name in listed():
        lines = (ROOT / "codec" / name / "specs.txt").read_text().splitlines()
        specs = [line.split("\t")[0] for line in lines]
        assert all(re.fullmatch(r"\S+\t\S.*", line) for line in lines) and specs[0] == name
        tried = {part for spec in specs for part in spec.partition(":")[2].split(",")}
        for spec in specs:
            command("args", spec)
        wanted = options()[name] | {"sleek": {"abs", "noa"}, "lattice": {"abs", "noa", "rel"}}.get(name, set())
        assert {part.partition("=")[0] for part in tried} - {""} == wanted
    for name, bits, values in with_names(table("filter/CD_VALUES.md", "codec", "bits", "values")):
        if bits != "none" and not values.startswith(("N", "a decimal")):
            specs = (ROOT / "codec" / name / "specs.txt").read_text()
            for part in values.split(","):
                assert re.search(rf"[:,]{bits.split()[1]}={part.split()[1]}[,\t]", specs), (name, bits, part)


def with_names(rows):
    """A row without a codec's name is of the one above."""
    name = None
    for cell, *more in rows:
        name = cell.strip("`") or name
        yield name, *more
