# SPDX-License-Identifier: BSD-3-Clause
"""h5twin policy: what it checks, explains and drafts; its matcher against one that is slow and plain."""

import random
import re

import h5py
import numpy as np
import pytest

from command_line import needs_hdf5, refused, run, smooth, text_of
from conftest import CODECS, run_tool


# ---- an oracle: patterns by their definition, without a thought for time ----

def name_fits(pattern, name):
    """* is any characters, ? one, [...] one of a class, a backslash takes the next one as it is."""
    if pattern == "":
        return name == ""
    first, rest = pattern[0], pattern[1:]
    if first == "*":
        return any(name_fits(rest, name[skip:]) for skip in range(len(name) + 1))
    if name == "":
        return False
    if first == "?":
        return name_fits(rest, name[1:])
    if first == "\\":
        return name[0] == rest[0] and name_fits(rest[1:], name[1:])
    if first == "[":
        match = re.match(r"\[([!^]?)(\]?[^\]]*)\](.*)$", pattern, re.S)
        others, members, rest = match.groups()
        found = any(low <= name[0] <= (high or low)
                    for low, high in re.findall(r"(.)(?:-(.))?", members, re.S))
        return found != bool(others) and name_fits(rest, name[1:])
    return name[0] == first and name_fits(rest, name[1:])


def names_fit(patterns, names):
    """** is any number of names, at the end one or more."""
    if not patterns:
        return not names
    if patterns == ["**"]:
        return len(names) >= 1
    if patterns[0] == "**":
        return any(names_fit(patterns[1:], names[skip:]) for skip in range(len(names) + 1))
    return bool(names) and name_fits(patterns[0], names[0]) and names_fit(patterns[1:], names[1:])


def fits(pattern, path):
    names = path.strip("/").split("/")
    if "/" not in pattern:
        return name_fits(pattern, names[-1])
    return names_fit([part for part in pattern.split("/") if part], names)


def random_name(rng):
    return "".join(rng.choice("aab-ä") for _ in range(rng.randint(1, 3)))


def random_part(rng):
    pieces = ["a", "b", "ä", "*", "?", "[ab]", "[!a]", "[a-b]", "[]a]", "\\*", "-"]
    return "**" if rng.random() < 0.3 else "".join(rng.choice(pieces) for _ in range(rng.randint(1, 3)))


def random_pattern(rng):
    parts = [random_part(rng) for _ in range(rng.randint(1, 4))]
    return rng.choice(["", "/"]) + "/".join(parts)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A file of many paths."""
    path, rng = tmp_path_factory.mktemp("tree") / "tree.h5", random.Random(5)
    paths = set()
    with h5py.File(path, "w") as file:
        for _ in range(400):
            name = "/" + "/".join(random_name(rng) for _ in range(rng.randint(1, 4)))
            parents = {name[:i] for i, c in enumerate(name) if c == "/" and i > 0}
            if name in file or parents & paths:
                continue
            file.create_dataset(name, shape=(512,), dtype="f4")
            paths.add(name)
    needs_hdf5(path)
    return path, sorted(paths)


@pytest.mark.parametrize("seed", range(30))
def test_patterns_fit_what_the_oracle_says(tree, tmp_path, seed):
    path, paths = tree
    rng, fitting = random.Random(seed), 0
    patterns = [random_pattern(rng) for _ in range(6)]
    policy = tmp_path / "policy"
    policy.write_text("".join(f"{pattern} >=0B -> cascade\n" for pattern in patterns), encoding="utf-8")
    for line in text_of("policy", "--explain", policy, path).splitlines():
        name, array, result, detail = line.split("\t")
        expected = next((i for i, pattern in enumerate(patterns, 1) if fits(pattern, name)), 0)
        found = int((re.match(r"line (\d+), ", detail) or [0, 0])[1])
        assert found == expected, (name, patterns, line)
        assert (result == "cascade") == (expected > 0) and array == "float32 512"
        paths = [other for other in paths if other != name]
        fitting += expected > 0
    assert paths == []


def test_the_oracle_knows_what_patterns_mean():
    assert fits("u", "/a/u") and not fits("/u", "/a/u") and fits("/a/**", "/a/b/c") and not fits("/a/**", "/a")
    assert fits("/a/**/b", "/a/b") and fits("[!a]*", "/b") and not fits("[!a]*", "/a") and fits("\\*", "/*")


# ---- check ----

def test_check_says_where_a_policy_is_wrong(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("/fields/**  float >=64KiB -> lattice:abs=1e-3\n** -> none\n")
    bad.write_text("/fields/**  float -> lattice:abs=1e-3\nu  flaot -> cascade\n")
    assert run("policy", "--check", good).stdout == b""
    message = refused("policy", "--check", good, bad, code=1)
    assert f"{bad}:2:4: " in message and '"flaot" is no condition' in message and ">=64KiB" in message
    assert "No such file" in refused("policy", "--check", tmp_path / "none", code=1)
    assert f"{bad}:2:4: " in refused("policy", "--explain", bad, tmp_path / "x.h5", code=1)


@pytest.mark.parametrize("arguments, words", [
    ([], "expected one FILE.h5"),
    (["--check"], "POLICY is missing"),
    (["--check", "--explain", "p", "x.h5"], "no other option"),
    (["--check", "--abs", "1", "p"], "no other option"),
    (["--abs", "1", "--noa", "1", "x.h5"], "more than one bound"),
    (["--abs", "-1", "x.h5"], "bound"),
    (["--best", "price", "x.h5"], "none of ratio, speed, balance"),
    (["--codec", "gzip", "x.h5"], "no codec gzip"),
    (["--sample", "much", "x.h5"], "not a size"),
    (["--nonsense", "x.h5"], "nonsense"),
])
def test_wrong_command_lines(arguments, words):
    assert words in refused("policy", *arguments)


def test_only_hdf5_files_are_drafted_from(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"no HDF5")
    assert "not an HDF5 file" in refused("policy", path, code=1)


# ---- explain and draft ----

def explained(policy, path):
    """name -> (array, result, detail)"""
    lines = text_of("policy", "--explain", policy, path).splitlines()
    return {line.split("\t")[0]: tuple(line.split("\t")[1:]) for line in lines}


def test_explain_says_why(tmp_path):
    path, policy = tmp_path / "x.h5", tmp_path / "policy"
    with h5py.File(path, "w") as file:
        big = smooth((64, 128), "<f4")
        file["u"] = big
        file.create_dataset("filtered", data=big, compression="gzip")
        file.create_dataset("series", shape=(0, 64, 64), maxshape=(None, 64, 64), dtype=">f8", chunks=(1, 64, 64))
        file["text"], file["small"], file["time"] = "x", big[0], np.arange(9000.)
        layout = h5py.VirtualLayout((64, 128), "<f4")
        layout[:] = h5py.VirtualSource(file["u"])
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("odd\tname\n", data=big)
        file["pairs"] = np.zeros(9000, "c8")
    needs_hdf5(path)
    policy.write_text("# rules\n*  float -> cascade\n")
    found = explained(policy, path)
    assert found["/u"] == ("float32 64x128", "cascade", "line 2, new chunks 64x128")
    assert found["/filtered"][1] == "cascade" and "its own chunks" in found["/filtered"][2]
    assert found["/series"] == ("float64 0..unlimitedx64x64", "cascade", "line 2, its own chunks 1x64x64")
    assert found["/text"][1:] == ("left alone", "it does not hold numbers that codecs know")
    assert found["/small"][1:] == ("left alone", "no rule fits: that of line 2 asks for a larger size")
    assert found["/time"][1] == "left alone" and "coordinate" in found["/time"][2]
    assert found["/virtual"][1:] == ("left alone", "it is compact or virtual")
    assert found["/pairs"][:2] == ("complex64 9000", "left alone") and "another type" in found["/pairs"][2]
    assert found["/odd\\x09name\\x0a"][1] == "cascade"
    assert len(found) == 9


def mixed_file(path):
    """Fields whose best codecs differ, names that a policy has to quote, what is left alone."""
    rng = np.random.default_rng(1)
    wave = (np.sin(np.arange(200_000) * 1e-3) * 100).astype("<f4")
    noise = rng.integers(0, 1 << 32, 50_000, dtype="u4")
    with h5py.File(path, "w") as file:
        for name in "fields/u", "fields/v", "fields/deep/er/w", 'a b#c*[]\\"', "solo/ä":
            file[name] = wave
        for step in range(5):
            file[f"steps/noise_{step:03}"] = noise.view("<u4") + np.uint32(step)
            file[f"steps/wave_{step:03}"] = (wave * 100).astype("<i4")
        file["new\nline"] = noise
        file["time"] = np.arange(50_000.)
        file["when"] = np.arange(50_000.)
        file["when"].attrs["units"] = "days since 2000-01-01"
        file["short"], file["word"] = np.arange(9.), "x"
        file.create_dataset("unwritten", shape=(100_000,), dtype="<f4")
    needs_hdf5(path)


@pytest.mark.without_h5py
@pytest.mark.parametrize("options", [[], ["--abs", "1e-2"], ["--noa", "1e-4", "--best", "balance"],
                                     ["--codec", "cascade"], ["--best", "speed"]])
def test_a_draft_is_a_policy_for_its_file(tmp_path, options):
    path, policy = tmp_path / "x.h5", tmp_path / "policy"
    mixed_file(path)
    if "--best" not in options:
        options = [*options, "--best", "ratio"]
    text = text_of("policy", *options, path)
    policy.write_text(text)
    run("policy", "--check", policy)
    found = explained(policy, path)
    assert found["/time"][1] == found["/short"][1] == found["/word"][1] == "left alone"
    assert found["/when"][1:] == ("left alone", found["/when"][2]) and "says none" in found["/when"][2]
    assert all("says none" in found[f"/steps/noise_{step:03}"][2] for step in range(5))
    assert "says none" in found["/new\\x0aline"][2]
    for name in "/fields/u", "/fields/v", "/fields/deep/er/w", '/a b#c*[]\\"', "/solo/ä":
        result = found[name][1]
        assert result.partition(":")[0] in CODECS
        assert ("--abs" in options) == ("abs=0.01" in result) and ("--noa" in options) == ("noa=0.0001" in result)
    assert found["/steps/wave_003"][1].partition(":")[0] in CODECS
    if "ratio" in options:  # alike, and certain
        assert len({found[name][1] for name in ("/fields/u", "/fields/v", "/solo/ä")}) == 1
        assert len({found[f"/steps/wave_{step:03}"][1] for step in range(5)}) == 1
        assert text == text_of("policy", *options, path)
    assert "stable=no" not in text  # a smaller chunk, but no bound for what is written in parts
    ratios = [float(ratio) for ratio in re.findall(r"ratio ([\d.]+)", text)]
    assert ratios and min(ratios) > 1


def test_a_draft_of_nothing_has_no_rules(tmp_path):
    path, policy = tmp_path / "x.h5", tmp_path / "policy"
    with h5py.File(path, "w") as file:
        file["short"] = np.arange(9.)
    needs_hdf5(path)
    text = text_of("policy", path)
    assert "->" not in text and "No rule touches 1 dataset:" in text
    policy.write_text(text)
    run("policy", "--check", policy)


def test_missing_data_that_nobody_declared_are_named(tmp_path):
    path = tmp_path / "x.h5"
    data = np.where(np.arange(100_000) % 3 == 0, 1e35, np.sin(np.arange(100_000) * 1e-3)).astype("<f4")
    with h5py.File(path, "w") as file:
        file["u"] = data
    needs_hdf5(path)
    assert "fill=1e+35" in text_of("policy", "--noa", "1e-3", path)


def test_the_help_is_true(tmp_path):
    rules = re.search(r"(?s)  # pattern.*?none\n", text_of("policy", "--help"))[0]
    policy = tmp_path / "policy"
    policy.write_text(rules)
    run("policy", "--check", policy)
    assert "\n  policy " in text_of("help")


CDL = """netcdf x {
dimensions: n = 20000; m = 200; step = unlimited;
variables: float u(n); float n(m, m); double step(step); double field(step, m, m); float lat(m, m);
  double hours(n); hours:units = "hours since 2000-01-01";
data: step = 1, 2, 3; hours = 1, 2, 3;
}
"""


def test_files_of_netcdf(tmp_path):
    """Dimensions without variables, variables that only share a dimension's name, series, coordinates."""
    path, policy = tmp_path / "x.nc", tmp_path / "policy"
    (tmp_path / "x.cdl").write_text(CDL)
    run_tool("ncgen", "-4", "-o", path, tmp_path / "x.cdl")
    needs_hdf5(path)
    with h5py.File(path) as file:
        assert "_nc4_non_coord_n" in file and file["m"].attrs["NAME"].startswith(b"This is a netCDF dimension")
    policy.write_text("/n -> cascade\n** float >=0B -> lattice:abs=1e-2\n")
    found = explained(policy, path)
    assert found["/u"][1] == "lattice:abs=0.01" and found["/field"][1] == "lattice:abs=0.01"
    assert found["/field"][0] == "float64 0..unlimitedx200x200" and "its own chunks 1x200x200" in found["/field"][2]
    assert found["/_nc4_non_coord_n"][1] == "cascade" and found["/_nc4_non_coord_n"][2].startswith("line 1, ")
    assert "placeholder" in found["/m"][2] and "placeholder" in found["/n"][2]
    assert "coordinate" in found["/lat"][2] and found["/hours"][1] == "lattice:abs=0.01"
    # The attributes of a file that is there tell more than names do.
    policy.write_text(text_of("policy", "--abs", "1e-2", "--best", "ratio", path))
    assert "says none" in explained(policy, path)["/hours"][2]
