# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin verify` and `h5twin report --against` of HDF5 files that are easily taken for equal: names,
links, references, types, and values that turn into the fill value."""

import re
import subprocess

import h5py
import numpy as np
import pytest
from h5py import h5r, h5s, h5t

from command_line import refused
from conftest import COMMAND
from object_headers import FILL, address_of, messages
from test_report import report, report_json
from test_verify import lines_of, verify

pytestmark = pytest.mark.without_h5py


@pytest.fixture
def paths(tmp_path):
    return tmp_path / "A.h5", tmp_path / "B.h5"


def write(path, fill):
    with h5py.File(path, "w") as file:
        fill(file)


def both(paths, *fills):
    """Two files -> (whether verify finds all well, its lines)"""
    for path, fill in zip(paths, fills):
        write(path, fill)
    good, text = verify(*paths)
    assert not good or verify(paths[0], paths[0])[0]
    return good, lines_of(text)


# ---- names ----


def two_names(same, group):
    def fill(file):
        inner = file.create_group("g") if group else file
        inner["x"] = 1.0
        if same:
            file["other" if group else "y"] = inner if group else inner["x"]
        elif group:
            file["other/x"] = 2.0
        else:
            file["y"] = 2.0
    return fill


@pytest.mark.parametrize("group", [False, True], ids=["dataset", "group"])
@pytest.mark.parametrize("first", [False, True])
def test_each_name_of_an_object_is_followed(first, group, paths):
    good, found = both(paths, two_names(first, group), two_names(not first, group))
    second = "/other/x" if group else "/y"
    assert not good and found["/g/x" if group else "/x"].endswith("identical")
    assert found[second].endswith("1 DIFFER")
    one, all_ = re.match(r"(\d) of (\d)", verify(*paths)[1].splitlines()[-1]).groups()
    assert (one, all_) == (("0", "1") if first else ("1", "2"))
    assert both(paths, two_names(True, group), two_names(True, group))[0]
    datasets = report_json("--against", *paths)[1]
    assert all(dataset["comparison"]["identical"] for dataset in datasets.values())


def test_a_report_tells_of_the_name_that_differs(paths):
    write(paths[0], two_names(False, False))
    write(paths[1], two_names(True, False))
    found, datasets = report_json("--against", *paths)
    assert datasets["/x"]["comparison"]["different"] == 1 and datasets["/x"]["comparison"]["with"] == "/y"
    assert found["totals"]["original_datasets"] == 2 and found["totals"]["kept"] == 1
    assert "against /y of the original: 1 value" in report("--against", *paths)


def test_cycles_of_groups_end(paths):
    def fill(value):
        def cycle(file):
            file["a/b/x"] = value
            file["a/b/up"] = file["a"]
            file["a/b/self"] = file["a/b"]
            file["root"] = file["/"]
        return cycle
    assert both(paths, fill(1.0), fill(1.0)) == (True, {"/a/b/x": "1 value, identical"})
    assert not both(paths, fill(1.0), fill(2.0))[0]


def test_a_cycle_that_was_cut_open_is_walked_through(paths):
    def closed(file):
        file["a/x"] = 1.0
        file["a/a"] = file["a"]

    def opened(value):
        def fill(file):
            file["a/x"], file["a/a/x"] = 1.0, value
            file["a/a/a"] = file["a/a"]
        return fill
    assert both(paths, closed, opened(1.0))[0]
    good, found = both(paths, closed, opened(2.0))
    assert not good and set(found) == {"/a/x", "/a/a/x"}


def test_soft_links_and_links_to_files_lead_to_what_they_name(paths, tmp_path):
    write(tmp_path / "C.h5", lambda file: file.__setitem__("z", 3.0))

    def fill(soft, external):
        def links(file):
            file["x"], file["y"] = 1.0, 2.0
            file["soft"] = h5py.SoftLink(soft)
            file["gone"] = h5py.SoftLink("/nowhere")
            file["external"] = external
        return links
    original = fill("/x", h5py.ExternalLink("C.h5", "/z"))
    assert set(both(paths, original, fill("/x", h5py.ExternalLink("C.h5", "/z")))[1]) == {"/x", "/y"}
    assert both(paths, original, fill("x", 3.0)) == (
        True, {"/x": "1 value, identical", "/y": "1 value, identical", "/external": "1 value, identical"})
    good, found = both(paths, original, fill("/y", 4.0))
    assert not good and {name for name in found if "DIFFER" in found[name]} == {"/soft", "/external"}
    good, found = both(paths, original, fill("/nothing", h5py.ExternalLink("none.h5", "/z")))
    assert not good and {name for name in found if "there is no" in found[name]} == {"/soft", "/external"}


def test_names_of_any_length_lead_to_their_own_dataset(paths):
    """Cut to 1023 bytes, the name of the first would be that of the second."""
    short = "/".join(["g" * 100] * 10) + "/" + "n" * 12
    assert len(short) == 1022
    long, longest = short + "n" * 5000, "/".join(["w" * 2000] * 40) + "/x"

    def fill(value):
        def names(file):
            file[short] = file[longest + "y"] = 1.0
            file[long], file[longest] = value, value
        return names
    good, found = both(paths, fill(1.0), fill(1.0))
    assert good and set(found) == {f"/{name}" for name in (short, long, longest, longest + "y")}
    good, found = both(paths, fill(2.0), fill(1.0))
    assert not good and {name for name in found if "DIFFER" in found[name]} == {f"/{long}", f"/{longest}"}
    datasets = report_json("--against", *paths)[1]
    assert {name for name in datasets if not datasets[name]["comparison"]["identical"]} == \
        {f"/{long}", f"/{longest}"}


# ---- what is missing ----


def test_nothing_in_common_is_a_failure(paths):
    write(paths[0], lambda file: file.__setitem__("x", 1.0))
    write(paths[1], lambda file: file.__setitem__("y", 1.0))
    for command in ("verify",), ("report", "--against"), ("report", "--json", "--against"):
        result = subprocess.run([COMMAND, *command, *map(str, paths)], capture_output=True, text=True,
                                check=False)
        assert result.returncode == 1
        assert result.stderr == f"h5twin: nothing was compared: no dataset of {paths[0]} is in {paths[1]}.\n"
    result = subprocess.run([COMMAND, "verify", *map(str, paths)], capture_output=True, text=True, check=False)
    assert result.stdout == (f"/x: there is no dataset /x in {paths[1]}\n"
                             f"/y: there is no dataset /y in {paths[0]}\n0 of 1 dataset kept\n")
    write(paths[0], lambda file: file.create_group("x"))
    for command in ("verify",), ("report", "--against"):
        result = subprocess.run([COMMAND, *command, *map(str, paths)], capture_output=True, text=True,
                                check=False)
        assert result.returncode == 1
        assert result.stderr == f"h5twin: nothing was compared: there is no dataset in {paths[0]}.\n"


def test_what_only_one_file_has_is_listed(paths):
    def first(file):
        file["g/x"], file["g/y"], file["z"] = 1.0, 2.0, 3.0

    def second(file):
        file["z"], file["g"], file["new"] = 3.0, 4.0, 5.0
    good, found = both(paths, first, second)
    assert not good and found == {
        "/g/x": f"there is no dataset /g/x in {paths[1]}", "/g/y": f"there is no dataset /g/y in {paths[1]}",
        "/z": "1 value, identical", "/g": f"there is no dataset /g in {paths[0]}",
        "/new": f"there is no dataset /new in {paths[0]}"}
    assert verify(*paths)[1].endswith("\n1 of 3 datasets kept\n")
    totals = report_json("--against", *paths)[0]["totals"]
    assert (totals["original_datasets"], totals["kept"], totals["missing"]) == (3, 1, ["/g/x", "/g/y"])
    assert "/g/y: not here" in report("--against", *paths)


# ---- types ----


def number(base, order="<", **what):
    made = (h5t.IEEE_F32LE if base == "f" else h5t.STD_I32LE).copy()
    made.set_order(h5t.ORDER_BE if order == ">" else h5t.ORDER_LE)
    for key, value in what.items():
        getattr(made, f"set_{key}")(*(value if isinstance(value, tuple) else (value,)))
    return made


NUMBERS = {
    "float": number("f"), "bias": number("f", ebias=120), "fields": number("f", fields=(31, 20, 11, 0, 20)),
    "narrow float": number("f", fields=(23, 16, 7, 0, 16), precision=24, ebias=63),
    "integer": number("i"), "unsigned": number("i", sign=h5t.SGN_NONE), "precision": number("i", precision=20),
    "offset": number("i", precision=20, offset=4),
}


def store(made, values=(1, 2, 3)):
    def fill(file):
        dataset = h5py.h5d.create(file.id, b"x", made, h5s.create_simple((len(values),)))
        dataset.write(h5s.ALL, h5s.ALL, np.array(values, "<u4"), mtype=made)
    return fill


@pytest.mark.parametrize("first", NUMBERS)
def test_numbers_of_another_form_are_another_type(first, paths):
    """The same bytes in each."""
    for second in NUMBERS:
        good, found = both(paths, store(NUMBERS[first]), store(NUMBERS[second]))
        assert good == (first == second), second
        assert found["/x"] == ("3 values, identical" if good else "they hold different types")


@pytest.mark.parametrize("what", [{}, {"precision": 20}, {"precision": 20, "offset": 4}], ids=str)
def test_byte_order_alone_is_no_difference(what, paths):
    values = np.array([16, 1024, 16 * 77], "<u4")
    little, big = number("i", **what), number("i", ">", **what)
    assert both(paths, store(little, values), store(big, values.byteswap()))[0]
    assert both(paths, store(little, values), store(big, values))[1]["/x"] == "3 values, 3 DIFFER"


def test_half_floats_may_be_of_another_byte_order(paths):
    values = np.array([1, -2.5, np.inf])
    orders = [lambda file, kind=kind: file.__setitem__("x", values.astype(kind)) for kind in ("<f2", ">f2")]
    assert both(paths, *orders)[1]["/x"] == "3 values, identical"
    values = np.array([1, -2.5, 7])
    write(paths[0], orders[0])
    assert not verify("--abs", "100", *paths)[0]


def test_no_bound_is_applied_to_floats_of_another_form(paths):
    for name in ("bias", "fields"):
        write(paths[0], store(NUMBERS[name], [0x3F800000, 0]))
        write(paths[1], store(NUMBERS[name], [0x3F800001, 0]))
        good, text = verify("--abs", "1", *paths)
        assert not good and lines_of(text)["/x"] == "2 values, 1 DIFFER"


# ---- the fill value ----


def filled(value, data, dtype="f4"):
    return lambda file: file.create_dataset("x", data=np.array(data, dtype), fillvalue=value)


def filled_like(fill, data, dtype):
    dtype = np.dtype(dtype)
    data = np.array(data, dtype)
    if dtype.kind == "c":
        data.imag = 6
    return lambda file: file.create_dataset(
        "x", data=data, fillvalue=None if fill is None else dtype.type(fill + (fill * 1j if dtype.kind == "c" else 0)))


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<c8"])
def test_a_value_that_turns_into_the_fill_value_is_lost(dtype, paths):
    for fill, options in ((5.0, ()), (None, ("--fill", "5"))):
        write(paths[0], filled_like(fill, [4.99, 5, 6], dtype))
        write(paths[1], filled_like(fill, [5, 5, 6], dtype))
        good, text = verify("--abs", "0.1", *options, *paths)
        assert not good and "bound 0.1 kept, 1 other values BECAME the fill value" in lines_of(text)["/x"]
        write(paths[1], filled_like(fill, [5, 5.01, 6], dtype))
        good, text = verify("--abs", "0.1", *options, *paths)
        assert not good and "1 non-finite or fill values CHANGED" in lines_of(text)["/x"]
        write(paths[1], filled_like(fill, [4.98, 5, 6], dtype))
        assert verify("--abs", "0.1", *options, *paths)[0]


def test_what_any_of_the_files_declares_stands_for_missing_data(paths):
    for fills in ((5, None), (None, 5), (5, 5)):
        write(paths[0], filled(fills[0], [4.99, 6]))
        write(paths[1], filled(fills[1], [5, 6]))
        assert not verify("--abs", "0.1", *paths)[0]
    write(paths[0], filled(None, [4.99, 6]))
    write(paths[1], filled(None, [5, 6]))
    assert verify("--abs", "0.1", *paths)[0]


def test_declared_fill_values_count_for_no_range(paths):
    write(paths[0], filled(1e20, [0, 1, 1e20]))
    write(paths[1], filled(1e20, [0.5, 1, 1e20]))
    good, text = verify("--noa", "0.1", *paths)
    assert not good and "EXCEEDED by 1" in text
    assert verify("--noa", "0.5", *paths)[0]


def test_raw_values_that_turn_into_the_fill_value_are_lost(paths):
    for path, data in zip(paths, ([4.99, 5], [5, 5])):
        path.write_bytes(np.array(data, "<f4").tobytes())
    good, text = verify("--type", "f32", "--abs", "0.1", "--fill", "5", *paths)
    assert not good and "1 other values BECAME the fill value" in text


# ---- references ----


def regions(select, before=0, name="x"):
    def fill(file):
        for i in range(before):
            file[f"before{i}"] = i
        file["x"], file["y"] = np.zeros((10, 10)), np.zeros((10, 10))
        space = h5s.create_simple((10, 10))
        select(space)
        file.create_dataset("regions", (1,), h5py.regionref_dtype)
        data = np.array([h5r.create(file.id, name.encode(), h5r.DATASET_REGION, space)],
                        dtype=h5py.regionref_dtype)
        file["regions"].id.write(h5s.ALL, h5s.ALL, data)
    return fill


def boxes(*corners):
    def select(space):
        space.select_none()
        for row, column, height, width in corners:
            space.select_hyperslab((row, column), (1, 1), block=(height, width), op=h5s.SELECT_OR)
    return select


def points(*places):
    return lambda space: space.select_elements(np.array(places, "u8"))


SAME_PLACES = [
    [boxes((2, 3, 4, 2)), boxes((2, 3, 2, 2), (4, 3, 2, 2)), boxes((2, 3, 4, 1), (2, 4, 4, 1)),
     boxes((5, 3, 1, 2), (2, 3, 3, 2), (3, 4, 1, 1)),
     points(*[(row, column) for row in range(2, 6) for column in (3, 4)])],
    [lambda space: space.select_all(), boxes((0, 0, 10, 10)), boxes((0, 0, 10, 5), (0, 5, 10, 5))],
    [lambda space: space.select_hyperslab((1, 1), (3, 2), stride=(3, 4)),
     boxes(*[(row, column, 1, 1) for row in (1, 4, 7) for column in (1, 5)])],
    [boxes((2, 3, 4, 3))], [points((1, 1), (5, 5))], [points((5, 5), (1, 1))], [boxes((0, 0, 1, 1))],
]


@pytest.mark.parametrize("which", range(len(SAME_PLACES)))
def test_regions_are_the_places_that_they_select(which, paths):
    for group, selections in enumerate(SAME_PLACES):
        for i, select in enumerate(selections[: None if group == which else 1]):
            good, found = both(paths, regions(SAME_PLACES[which][0]), regions(select, before=3))
            assert good == (group == which), (group, i, found)


def test_regions_of_another_dataset_are_others(paths):
    assert not both(paths, regions(boxes((0, 0, 2, 2))), regions(boxes((0, 0, 2, 2)), name="y"))[0]


def references(target, before, hard="first"):
    def fill(file):
        for i in range(before):
            file[f"before{i}"] = i
        names = ("a", "z") if hard == "first" else ("z", "a")
        file[names[0]] = 1.0
        file[names[1]] = file[names[0]]
        file["b"] = 1.0
        kind = np.dtype([("n", "i4"), ("r", h5py.ref_dtype)])
        for name, dtype in (("compound", kind), ("array", np.dtype((h5py.ref_dtype, (2,)))),
                            ("plain", h5py.ref_dtype)):
            dataset = file.create_dataset(name, (2,), dtype)
            data = np.zeros((2, 2) if name == "array" else 2, h5py.ref_dtype if name == "array" else dtype)
            (data["r"] if name == "compound" else data)[...] = file[target].ref
            dataset[...] = data
    return fill


def test_references_mean_an_object_whatever_its_name_and_place(paths):
    for target in ("a", "z"):
        for before in (0, 5):
            assert both(paths, references("a", 0), references(target, before, "second"))[0]
    good, found = both(paths, references("a", 0), references("b", 0))
    assert not good and {name for name in found if "DIFFER" in found[name]} == {"/plain", "/compound", "/array"}


def test_the_same_bytes_may_lead_to_another_object(paths):
    """The first dataset lies at the same address in both files, under another name."""
    def fill(names):
        def swapped(file):
            for name in names:
                file.create_dataset(name, data=1.0, track_times=False)
            file.create_dataset("links", data=np.array([(file[names[0]].ref,)], [("r", h5py.ref_dtype)]))
            addresses.append(h5py.h5o.get_info(file[names[0]].id).addr)
        return swapped
    addresses = []
    good, found = both(paths, fill("xy"), fill("yx"))
    assert addresses[0] == addresses[1]
    assert not good and found["/links"] == "1 value, 1 DIFFER"


def test_references_to_nothing_and_to_what_has_no_name(paths):
    def fill(value, keep):
        def nameless(file):
            file["x"] = value
            file.create_dataset("links", data=[file["x"].ref], dtype=h5py.ref_dtype)
            hold = file["x"] if keep else None
            if not keep:
                file["y"] = 1.0
            del file["x"]
            file["rest"] = 0.0
            assert hold is None or hold.id.valid
        return nameless
    assert both(paths, fill(1.0, False), fill(1.0, False))[0]


def test_references_of_one_dataset_are_followed_by_name(paths):
    write(paths[0], references("a", 0))
    write(paths[1], references("z", 4, "second"))
    for name in "plain", "compound":
        assert verify(f"{paths[0]}:{name}", f"{paths[1]}:{name}")[0]
    write(paths[1], references("b", 0))
    assert not verify(f"{paths[0]}:plain", f"{paths[1]}:plain")[0]


def test_a_file_that_cannot_be_read_is_named(paths):
    write(paths[0], lambda file: file.__setitem__("x", 1.0))
    write(paths[1], lambda file: file.__setitem__("x", 1.0))
    assert "/y cannot be opened" in refused("verify", f"{paths[0]}:/y", paths[1], code=1)


# ---- values that were never written ----


def undefined(path):
    """The first dataset's fill value is undefined now: version 2 of its message says so in its fourth byte."""
    content = bytearray(path.read_bytes())
    message = messages(content, address_of(path, "x"))[FILL]
    content[message[3]] = 0
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["never", "never, declared", "undefined"])
def test_what_hdf5_leaves_unread_is_the_fill_value(kind, paths, tmp_path, monkeypatch):
    """HDF5 leaves the buffer as it is there; glibc fills new memory with other bytes here."""
    fill = -5.0 if "declared" in kind else 0.0
    data = np.arange(1.0, 7)[:, None] * np.ones(1024)
    data[[1, 3, 4]] = fill
    for path, rows in zip(paths, ((0, 2, 5), range(6))):
        with h5py.File(path, "w") as file:
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk((1, 1024))
            if "never" in kind:
                dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            if "declared" in kind:
                dcpl.set_fill_value(np.array(fill, "f8"))
            h5py.h5d.create(file.id, b"x", h5t.IEEE_F64LE, h5s.create_simple(data.shape), dcpl)
            for row in rows:
                file["x"][row] = data[row]
    if kind == "undefined":
        undefined(paths[0])
    monkeypatch.setenv("MALLOC_PERTURB_", "85")
    for pair in (paths, paths[::-1]):
        good, text = verify(*pair)
        assert good and "identical" in text, text
    out = tmp_path / "out.h5"
    subprocess.run([COMMAND, "repack", "--codec", "ndzip", "--chunks", "2x1024", paths[0], out], check=True,
                   capture_output=True)
    with h5py.File(out) as file:
        assert np.array_equal(file["x"][()], data)
    ratios = set()
    for perturb in ("0", "85", "170"):
        monkeypatch.setenv("MALLOC_PERTURB_", perturb)
        text = subprocess.run([COMMAND, "suggest", "--codec", "gfc", f"{paths[0]}:x"], check=True, capture_output=True,
                              text=True).stdout
        ratios.add(re.search(r"^gfc +(\d+\.\d+)", text, re.M)[1])
    assert len(ratios) == 1
