# SPDX-License-Identifier: BSD-3-Clause
"""`h5twin verify` and `h5twin explain`: bounds decided as rational numbers decide them, bits that must
be equal, every kind of dataset, and what is refused."""

import re
import subprocess
from fractions import Fraction

import h5py
import numpy as np
import pytest

from command_line import refused, run, text_of
from conftest import COMMAND, FILTER_IDS, LOSSY_CODECS, absolute, bound_words, create, smooth

pytestmark = pytest.mark.without_h5py

TYPES = {"f32": "<f4", "f64": "<f8", "f32be": ">f4", "f64be": ">f8"}


def verify(*arguments):
    """(whether the exit code says that all is well, what was printed)"""
    result = subprocess.run([COMMAND, "verify", *map(str, arguments)], capture_output=True, timeout=120,
                            check=False)
    if b"built without HDF5" in result.stderr:
        pytest.skip("this h5twin was built without HDF5")
    assert result.returncode in (0, 1) and not result.stderr, result.stderr
    return result.returncode == 0, result.stdout.decode()


@pytest.fixture
def pair(tmp_path):
    """Two arrays of one type as raw files -> what verify says."""

    def compare(first, second, kind, *options):
        paths = tmp_path / "A", tmp_path / "B"
        for path, values in zip(paths, (first, second)):
            path.write_bytes(np.asarray(values).astype(TYPES.get(kind, kind)).tobytes())
        return verify("--type", kind, *options, *paths)

    return compare


def exceeded(text):
    found = re.search(r"EXCEEDED by (\d+)", text)
    return int(found.group(1)) if found else 0


# ---- bounds, as rational numbers decide them ----


def exact_violations(x, y, limit):
    return sum(abs(Fraction(float(a)) - Fraction(float(b))) > limit(Fraction(float(a)))
               for a, b in zip(x, y))


def hard_cases(dtype, seed):
    """Pairs all over the range of the type, and bounds that are differences of some, or next to them."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    word = f"u{info.dtype.itemsize}"
    x = rng.integers(0, np.iinfo(word).max, 400, word).view(dtype)
    x = np.concatenate([x[np.isfinite(x)], [0.0, -0.0, info.max, -info.max, info.smallest_subnormal,
                                            info.tiny, 1.0, -1.0]]).astype(dtype)
    steps = rng.integers(-3, 4, x.size).astype(word)
    y = (x.view(word) + steps).view(dtype)
    y = np.where(rng.random(x.size) < 0.2, np.roll(x, 1), np.where(np.isfinite(y), y, x)).astype(dtype)
    wide_x, wide_y = x.astype("f8"), y.astype("f8")
    with np.errstate(over="ignore"):
        errors = np.abs(wide_x - wide_y)
    errors = errors[np.isfinite(errors) & (errors > 0)]
    chosen = rng.choice(errors, 4)
    bounds = np.concatenate([chosen, np.nextafter(chosen, np.inf), np.nextafter(chosen, 0)])
    return x, y, bounds[(bounds > 0) & np.isfinite(bounds)]


@pytest.mark.parametrize("kind", TYPES)
def test_absolute_bounds_are_decided_exactly(kind, pair):
    for seed in range(1 if "be" in kind else 2):
        x, y, bounds = hard_cases(TYPES[kind].replace(">", "<"), seed)
        for bound in bounds:
            expected = exact_violations(x, y, lambda _: Fraction(bound))
            good, text = pair(x, y, kind, "--abs", float(bound).hex())
            assert exceeded(text) == expected and good == (expected == 0), (seed, bound)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_bounds_relative_to_a_value_are_decided_exactly(kind, pair):
    for seed in range(2):
        x, y, _ = hard_cases(TYPES[kind], seed)
        nonzero = x != 0
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            shares = np.abs((x[nonzero].astype("f8") - y[nonzero]) / x[nonzero].astype("f8"))
        shares = shares[np.isfinite(shares) & (shares > 0)][:3]
        for share in [*shares, *np.nextafter(shares, 0), *np.nextafter(shares, 9), 2.0 ** -52, 1e300]:
            expected = exact_violations(x, y, lambda value: Fraction(share) * abs(value))
            good, text = pair(x, y, kind, "--rel", float(share).hex())
            assert exceeded(text) == expected and good == (expected == 0), (seed, share)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_bounds_relative_to_the_range_are_decided_exactly(kind, pair):
    for seed, scale in enumerate((1, 1e-36, 1e36, 1e-306 if kind == "f64" else 1, "all")):
        if scale == "all":
            x, y, _ = hard_cases(TYPES[kind], seed)
        else:
            rng = np.random.default_rng(seed)
            x = (rng.normal(size=300) * scale).astype(TYPES[kind])
            y = (x + rng.choice([0.125, 0.1, 1e-9], 300) * scale).astype(TYPES[kind])
        span = Fraction(float(x.max())) - Fraction(float(x.min()))
        error = max(abs(Fraction(float(a)) - Fraction(float(b))) for a, b in zip(x, y))
        share = float(error / span)
        for bound in (share, np.nextafter(share, 0), np.nextafter(share, 9), share / 2):
            expected = exact_violations(x, y, lambda _: Fraction(float(bound)) * span)
            good, text = pair(x, y, kind, "--noa", float(bound).hex())
            assert exceeded(text) == expected and good == (expected == 0), (scale, bound)


def test_a_difference_that_no_double_holds_is_judged_with_all_its_bits(pair):
    """1 + 2^-60 rounds to 1, the bound; twice the largest double rounds to infinity."""
    assert not pair([1.0], [-(2.0 ** -60)], "f64", "--abs", 1)[0]
    assert pair([1.0], [2.0 ** -60], "f64", "--abs", 1)[0]
    largest = np.finfo("f8").max
    good, text = pair([largest], [-largest], "f64", "--abs", largest.hex())
    assert not good and "max error inf" in text
    assert pair([largest], [-largest], "f64", "--rel", 2)[0]
    assert not pair([largest], [-largest], "f64", "--rel", np.nextafter(2.0, 0).hex())[0]
    assert pair([largest, -largest], [-largest, -largest], "f64", "--noa", 1)[0]
    assert not pair([largest, -largest], [-largest, -largest], "f64", "--noa",
                    np.nextafter(1.0, 0).hex())[0]
    assert not pair([0.0], [5e-324], "f64", "--rel", 1e300)[0]


def test_errors_are_measured(pair):
    x = np.array([0, 1, 2, -2, 4.0])
    good, text = pair(x, x + [0, 0.5, 0, 0, -0.25], "f64", "--abs", 0.5)
    assert good and "5 values, max error 0.5, mean error 0.15, PSNR 27.6042 dB, bound 0.5 kept" in text
    assert pair(x, x, "f32", "--abs", 1)[1].endswith("B: 5 values, identical\n")
    assert pair(x, x, "f32")[0]
    good, text = pair(x, x + [0, 0.5, 0, 0, -0.25], "f64")
    assert not good and text.endswith(", 2 DIFFER\n")


# ---- bits ----


def from_bits(bits, kind):
    word = {"f32": "u4", "f64": "u8"}[kind]
    return np.array(bits, word).view(TYPES[kind])


@pytest.mark.parametrize("kind, nan, other_nan, infinity", [
    ("f32", 0x7FC00000, 0x7FC00001, 0x7F800000),
    ("f64", 0x7FF8 << 48, (0x7FF8 << 48) + 1, 0x7FF0 << 48)])
def test_what_is_not_finite_must_keep_its_bits(kind, nan, other_nan, infinity, tmp_path):
    one = int(np.ones(1, TYPES[kind]).view(f"u{TYPES[kind][2]}")[0])
    sign = 1 << (31 if kind == "f32" else 63)
    cases = [(nan, nan, True), (nan, other_nan, False), (nan, nan | sign, False), (nan, one, False),
             (one, nan, False), (infinity, infinity, True), (infinity, infinity | sign, False),
             (infinity, one, False), (one, infinity, False)]
    for first, second, good in cases:
        for path, bits in (("A", first), ("B", second)):
            (tmp_path / path).write_bytes(from_bits([one, bits], kind).tobytes())
        for options in ([], ["--abs", "1e300"], ["--rel", "1e300"]):
            found, text = verify("--type", kind, *options, tmp_path / "A", tmp_path / "B")
            assert found == good and ("CHANGED" in text) == (not good), (first, second, text)


def test_fill_values_must_keep_their_bits_and_count_for_no_range(pair):
    fill = np.float32(-9999.9)
    x = np.array([1, 2, fill, 3], "f4")
    assert pair(x, x + np.array([0.2, 0, 0, 0], "f4"), "f32", "--noa", 0.1, "--fill", -9999.9)[0] is False
    assert pair(x, x + np.array([0.2, 0, 0, 0], "f4"), "f32", "--noa", 0.1)[0]
    moved = np.array([1, 2, np.nextafter(fill, np.float32(0)), 3], "f4")
    assert pair(x, moved, "f32", "--abs", 1)[0]
    good, text = pair(x, moved, "f32", "--abs", 1, "--fill", -9999.9)
    assert not good and "bound 1 kept, 1 non-finite or fill values CHANGED" in text
    assert pair([-0.0, 1], [0.0, 1], "f64", "--abs", 1)[0], "-0 may become +0"
    assert not pair([-0.0, 1], [0.0, 1], "f64")[0]


def test_values_within_limits_must_stay_so(pair):
    x, y = [0.0, 0.5, 1.01, -3], [-0.001, 0.5, 1.011, -3]
    assert pair(x, y, "f64", "--abs", 0.01)[0] and pair(x, y, "f64", "--abs", 0.01, "--max", 1)[0]
    good, text = pair(x, y, "f64", "--abs", 0.01, "--min", 0, "--max", 1)
    assert not good and "bound 0.01 kept, 1 values LEFT the limits" in text
    assert not pair(x, y, "f64", "--abs", 0.01, "--max", 1.0105)[0]
    assert pair(y, x, "f64", "--abs", 0.01, "--min", 0)[0], "it was beyond already"
    assert not pair(x, y, "f64", "--min", -1)[0], "without a bound all bits are to be equal"


@pytest.mark.parametrize("kind", ["u8", "i16be", "i32", "u64", "bytes"])
def test_integers_are_equal_or_not(kind, tmp_path):
    data = np.random.default_rng(4).bytes(400000)
    for path, values in (("A", data), ("B", data), ("C", data[:-1] + bytes([data[-1] ^ 1]))):
        (tmp_path / path).write_bytes(values)
    assert verify("--type", kind, tmp_path / "A", tmp_path / "B")[0]
    good, text = verify("--type", kind, tmp_path / "A", tmp_path / "C")
    assert not good and text.endswith(", 1 DIFFER\n")


def test_long_files_pipes_and_files_of_other_lengths(tmp_path):
    data = smooth((300, 1000), "<f4")
    (tmp_path / "A").write_bytes(data.tobytes())
    (tmp_path / "B").write_bytes(data.tobytes()[:-4])
    found = run("verify", "--type", "f32", "--noa", "1e-9", "--dims", "300x1000", tmp_path / "A", "-",
                input=data.tobytes())
    assert found.stdout == b"-: 300000 values, identical\n"
    for first, second in ("AB", "BA"):
        message = refused("verify", "--type", "f32", tmp_path / first, tmp_path / second, code=1)
        assert re.search(r"/B is shorter than .*/A", message)


# ---- HDF5 ----


def write_everything(path, codec=None, shift=0.0):
    """A file with every kind of dataset, the floats through a lossy filter if a codec is named."""
    field = smooth((60, 70), "<f4") + np.float32(shift)
    points = np.array([(1, 2.5), (3, 4.5)], [("a", "<i2"), ("b", "<f8")])
    with h5py.File(path, "w") as file:
        def array(name, data):
            if codec is None:
                file.create_dataset(name, data=data, chunks=(16, 32))
            else:
                create(file, name, data, codec, absolute(1e-3), chunks=(16, 32))
        array("group/inner/field", field)
        array("big", field.astype(">f8"))
        array("whole", np.arange(4200, dtype=">i4").reshape(60, 70))
        array("complex", (field + 1j * field).astype("c8"))
        file["group/text"] = "wörds"
        file["texts"] = np.array(["one", "", "three"], h5py.string_dtype())
        file["fixed"] = np.array([b"a", b"bc"])
        file["points"] = points
        file["scalar"] = 3.5
        file["empty"] = h5py.Empty("f4")
        file.create_dataset("none", (0, 5), "f8", maxshape=(None, 5), chunks=(4, 5))
        file.create_dataset("never", (10 ** 6, 10 ** 6), "f8", chunks=(100, 100), fillvalue=7)
        file.create_dataset("some", (200, 200), "f8", chunks=(50, 50))[50:60] = 1.0
        rows = file.create_dataset("rows", (2,), h5py.vlen_dtype("i4"))
        rows[0], rows[1] = [1, 2, 3], []
        file.create_dataset("links", data=[file["group"].ref, file["big"].ref], dtype=h5py.ref_dtype)
        file["soft"] = h5py.SoftLink("/big")


NAMES = {"/big", "/complex", "/empty", "/fixed", "/group/inner/field", "/group/text", "/links", "/never",
         "/none", "/points", "/rows", "/scalar", "/some", "/texts", "/whole"}


def lines_of(text):
    *lines, end = text.splitlines()
    assert re.fullmatch(r"\d+ of \d+ datasets? kept", end)
    return dict(line.split(": ", 1) for line in lines)


def test_every_dataset_of_equal_files_is_identical(tmp_path):
    write_everything(tmp_path / "A.h5")
    with h5py.File(tmp_path / "B.h5", "w") as file:
        file["first"] = 1  # so that addresses differ
    with h5py.File(tmp_path / "A.h5") as source, h5py.File(tmp_path / "B.h5", "a") as target:
        for name in source:
            source.copy(name, target, expand_refs=False)
        del target["links"]
        target.create_dataset("links", data=[target["group"].ref, target["big"].ref],
                              dtype=h5py.ref_dtype)
    good, text = verify(tmp_path / "A.h5", tmp_path / "B.h5")
    found = lines_of(text)
    assert found.pop("/first") == f"there is no dataset /first in {tmp_path / 'A.h5'}"
    assert good and set(found) == {*NAMES, "/soft"}  # which was copied as a dataset
    assert all(line.endswith(", identical") for line in found.values()), found
    assert found["/never"].startswith("1000000000000 values")
    assert found["/complex"].startswith("8400 values") and found["/empty"].startswith("0 values")


@pytest.mark.parametrize("codec", LOSSY_CODECS)
def test_a_filter_is_within_the_bound_it_was_given(codec, tmp_path):
    write_everything(tmp_path / "A.h5")
    write_everything(tmp_path / "B.h5", codec)
    good, text = verify("--abs", "1e-3", tmp_path / "A.h5", tmp_path / "B.h5")
    found = lines_of(text)
    assert good and set(found) == NAMES
    for name in ("/big", "/group/inner/field", "/complex"):
        assert "bound 0.001 kept" in found[name]
    assert found["/whole"].endswith("identical")
    with h5py.File(tmp_path / "A.h5") as a, h5py.File(tmp_path / "B.h5") as b:
        errors = np.abs(a["big"][()] - b["big"][()])
    assert float(re.search("max error (.*?),", found["/big"]).group(1)) == errors.max()
    assert float(re.search("mean error (.*?),", found["/big"]).group(1)) == \
        pytest.approx(errors.mean(), rel=1e-5)
    assert not verify("--abs", float(np.nextafter(errors.max(), 0)).hex(), f"{tmp_path / 'A.h5'}:big",
                      f"{tmp_path / 'B.h5'}:/big")[0]
    assert verify("--abs", float(errors.max()).hex(), f"{tmp_path / 'A.h5'}:big", tmp_path / "B.h5")[0]
    assert not verify(tmp_path / "A.h5", tmp_path / "B.h5")[0]


def replace(file, name, **what):
    attributes = file[name]
    what = {"dtype": attributes.dtype, "shape": attributes.shape, **what}
    del file[name]
    file.create_dataset(name, **what)


@pytest.mark.parametrize("name, change, words", [
    ("points", lambda file: file["points"].__setitem__(1, (3, 4.25)), "1 DIFFER"),
    ("texts", lambda file: file["texts"].__setitem__(2, "threE"), "1 DIFFER"),
    ("group/text", lambda file: file["group/text"].__setitem__((), "words"), "1 DIFFER"),
    ("fixed", lambda file: file["fixed"].__setitem__(0, b"b"), "1 DIFFER"),
    ("rows", lambda file: file["rows"].__setitem__(0, [1, 2, 4]), "1 DIFFER"),
    ("rows", lambda file: file["rows"].__setitem__(0, [1, 2, 3, 4]), "1 DIFFER"),
    ("rows", lambda file: file["rows"].__setitem__(0, [1, 2]), "1 DIFFER"),
    ("scalar", lambda file: file["scalar"].__setitem__((), 9.0), "EXCEEDED by 1"),
    ("some", lambda file: file["some"].__setitem__((199, 199), np.nan), "1 non-finite or fill"),
    ("whole", lambda file: file["whole"].__setitem__((59, 69), 0), "1 DIFFER"),
    ("links", lambda file: file["links"].__setitem__(0, file["big"].ref), "1 DIFFER"),
    ("links", lambda file: file["links"].__setitem__(0, h5py.Reference()), "1 DIFFER"),
    ("never", lambda file: replace(file, "never", fillvalue=9, chunks=(100, 100)),
     "1000000000000 non-finite or fill values CHANGED"),
    ("none", lambda file: replace(file, "none", shape=(0, 6)), "their shapes differ"),
    ("whole", lambda file: replace(file, "whole", dtype=">u4"), "different types"),
    ("empty", lambda file: replace(file, "empty", shape=()), "their shapes differ"),
    ("group/inner/field", lambda file: file.__delitem__("group/inner/field"),
     "there is no dataset /group/inner/field"),
])
def test_what_differs_is_named(name, change, words, tmp_path):
    for path in ("A.h5", "B.h5"):
        write_everything(tmp_path / path)
    with h5py.File(tmp_path / "B.h5", "a") as file:
        change(file)
    good, text = verify("--abs", "1", tmp_path / "A.h5", tmp_path / "B.h5")
    found = lines_of(text)
    assert not good and words in found[f"/{name}"]
    assert [line for line in found.values() if "identical" not in line] == [found[f"/{name}"]]


def test_references_mean_names_and_places(tmp_path):
    for path, first in (("A.h5", slice(2, 5)), ("B.h5", slice(2, 5)), ("C.h5", slice(2, 6))):
        with h5py.File(tmp_path / path, "w") as file:
            if path == "B.h5":
                file["before"] = 1  # so that addresses differ
            file["x"] = np.zeros((10, 10))
            regions = file.create_dataset("regions", (3,), h5py.regionref_dtype)
            regions[1] = file["x"].regionref[first, 3]
            file.create_dataset("objects", (2,), h5py.ref_dtype)[1] = file["x"].ref
    assert verify(tmp_path / "A.h5", tmp_path / "B.h5")[0]
    good, text = verify(tmp_path / "A.h5", tmp_path / "C.h5")
    assert not good and lines_of(text)["/regions"] == "3 values, 1 DIFFER"
    assert lines_of(text)["/objects"] == "2 values, identical"


def test_byte_orders_may_differ(tmp_path):
    data = smooth((40, 50), "<f4")
    for path, order in (("A.h5", "<"), ("B.h5", ">")):
        with h5py.File(tmp_path / path, "w") as file:
            file["x"] = data.astype(f"{order}f4")
            file["n"] = np.arange(99, dtype=f"{order}i8")
    good, text = verify(tmp_path / "A.h5", tmp_path / "B.h5")
    assert good and text.count("identical") == 2


# ---- refusals ----


@pytest.mark.parametrize("arguments, words", [
    (["verify"], "A and B"),
    (["verify", "A"], "got 1"),
    (["verify", "A", "B"], "--type is missing"),
    (["verify", "--dims", "10", "A", "B"], "--type is missing"),
    (["verify", "--type", "f32", "--abs", "0", "A", "B"], "positive"),
    (["verify", "--type", "f32", "--noa", "1e-3x", "A", "B"], "1e-3x"),
    (["verify", "--type", "f32", "--rel", "inf", "A", "B"], "positive"),
    (["verify", "--type", "f32", "--abs", "1", "--rel", "1", "A", "B"], "exclude"),
    (["verify", "--type", "f32", "--fill", "none", "A", "B"], "--fill none"),
    (["verify", "--type", "f32", "--min", "none", "A", "B"], "--min none"),
    (["verify", "--type", "f32", "--abs", "1", "--max", "inf", "A", "B"], "--max inf"),
    (["verify", "--type", "i32", "--abs", "1", "A", "B"], "floating-point"),
    (["verify", "--type", "i32", "--min", "0", "A", "B"], "floating-point"),
    (["verify", "--type", "f16", "A", "B"], "no type f16"),
    (["verify", "--type", "f64", "--dims", "3x5", "A", "B"], "3x5 elements"),
    (["verify", "--type", "f64", "ODD", "B"], "403 bytes"),
    (["verify", "--type", "f32", "H.h5", "B"], "knows its --type"),
    (["verify", "H.h5", "B"], "B is not an HDF5 file"),
    (["verify", "H.h5", "H.h5:x"], "A.h5:DATASET is missing"),
    (["verify", "--colour", "red", "A", "B"], "no option --colour"),
    (["explain"], "ID is missing"),
    (["explain", "32004"], "no filter of h5twin"),
    (["explain", "sleeky"], "no filter of h5twin"),
    (["explain", "480", "one"], "one is not made of numbers"),
    (["explain", "480", "4294967296"], "numbers from -2147483648 to 4294967295"),
    (["explain", "480", "-2147483649"], "-2147483649 is not"),
    (["explain", "480", "1,-,2"], "1,-,2 is not"),
    (["explain", "-480"], "no filter of h5twin"),
    (["explain", "480", *(["0"] * 65)], "more than 64"),
    (["explain", "--words"], "no option --words"),
    (["help", "explode"], "no command explode"),
    (["help", "info", "args"], "one COMMAND"),
])
def test_a_wrong_command_line_gives_a_reason_and_2(arguments, words, tmp_path):
    (tmp_path / "A").write_bytes(bytes(400))
    (tmp_path / "B").write_bytes(bytes(400))
    (tmp_path / "ODD").write_bytes(bytes(403))
    with h5py.File(tmp_path / "H.h5", "w") as file:
        file["x"] = [1.0]
    assert re.search(words, refused(*arguments, cwd=tmp_path))


def test_files_that_are_not_there_give_a_reason_and_1(tmp_path):
    (tmp_path / "A").write_bytes(bytes(400))
    assert "No such file" in refused("verify", "--type", "f32", tmp_path / "A", tmp_path / "B", code=1)
    assert "No such file" in refused("verify", tmp_path / "C.h5", tmp_path / "A", code=1)


# ---- help, explain ----


def test_help_is_what_each_command_says_itself():
    commands = re.findall(r"^  (\w+) +\w", text_of("--help").partition("\n\n`")[0], re.M)
    assert {"verify", "report", "explain", "info"} <= set(commands)
    for command in commands:
        assert text_of("help", command) == text_of(command, "--help")
        assert text_of(command, "--help").startswith(f"Usage: h5twin {command}")
        assert all(len(line) <= 100 for line in text_of(command, "--help").splitlines())
    assert text_of("help") == text_of("--help") == text_of("help", "help")


def explained(*words):
    text = text_of("explain", *words)
    return text.splitlines()[0], dict(re.findall(r"^  (\w[\w ]*?)  +(.*)$", text, re.M))


def test_explain_says_what_users_give():
    words = absolute(1e-3)
    head, found = explained("sleek", *words)
    assert head.startswith("sleek:abs=0.001: HDF5 filter 480, ")
    assert found["form"] == "as users give it" and found["mode"] == "absolute error bound, 0.001"
    assert explained(480, ",".join(map(str, words))) == (head, found)
    assert explained("480", *map(hex, words)) == (head, found)
    signed = [str(word - (word >> 31 << 32)) for word in words] # as h5dump prints them
    assert any(word.startswith("-") for word in signed) and explained("480", *signed) == (head, found)
    for name, number in FILTER_IDS.items():
        head, found = explained(number)
        assert head.startswith(f"{name}: HDF5 filter {number}, ") and found["mode"] == "lossless"
    assert explained("ndzip", 0, 0, 0, 1)[1]["options"] == "layout=reference"
    fill = bound_words(-9999.9)
    assert explained("sleek", *words, 0, 0, *fill)[1]["fill value"].startswith("-9999.9, ")


def test_explain_says_what_files_hold(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        create(file, "x", smooth((3, 64, 128), ">f8"), "sleek", absolute(1e-3), chunks=(1, 64, 128),
               fillvalue=-1.0)
        words = file["x"].id.get_create_plist().get_filter(0)[2]
    head, found = explained(480, *words)
    assert head.startswith("sleek:abs=0.001: ")
    assert found["form"] == "as stored in a file"
    assert found["element"] == "floats of 8 bytes, big-endian"
    assert found["chunk"] == "64x128, 65536 bytes" and found["pipeline"] == "the first filter"
    assert found["fill value"] == "-1, which comes back bit for bit; the dataset's own"
    assert explained(480, *words[:6], 0, *words[7:])[1]["array"].startswith("cannot be read")


@pytest.mark.parametrize("words, sentence", [
    ([9], "The first value must be 0"), ([1], "needs an error bound"),
    ([1, 0, 0], "not a positive finite number"), ([1, *reversed(bound_words(0.01))], "in the other order as 0.01"),
    ([0, 0, 0, 0, 0, 5, 0, 0], "more than 5 values")])
def test_explain_says_why_words_are_refused(words, sentence):
    assert sentence in refused("explain", "sleek", *words)
