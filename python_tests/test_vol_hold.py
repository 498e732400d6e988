# SPDX-License-Identifier: BSD-3-Clause
"""append=hold: rows that are held until their chunks are full. What is read is what was written, at any time and by any way; chunks are
written once; what fails says so, and is lost only with the process."""

import json
import os
import signal
import sys

import h5py
import numpy as np
import pytest

from conftest import CODECS, FILTER_IDS, HERE, LOSSY_CODECS, PLUGINS, absolute
from test_vol import MANY, SEEDS, TAKES_CONNECTORS, by_h5dump, lines_of, start

pytestmark = [pytest.mark.skipif(not (PLUGINS / "vol").is_dir(), reason=f"no connector below {PLUGINS}"),
              pytest.mark.skipif(not TAKES_CONNECTORS, reason="this HDF5 has no connectors"),
              pytest.mark.skipif(sys.platform == "win32", reason="signals, limits, forks")]

ROUNDS = 16 * int(os.environ.get("H5TWIN_TEST_ROUNDS", "1"))
SPECS = ([[FILTER_IDS[name], [], 0] for name in CODECS] + [[FILTER_IDS[name], list(absolute(1e-2)), 1e-2] for name in LOSSY_CODECS])
FILTER = FILTER_IDS.get("cascade") or next(iter(FILTER_IDS.values()))
PRELUDE = """
import os, sys, io, signal, h5py, numpy as np
path, number, words = sys.argv[1], int(sys.argv[2]), tuple(map(int, sys.argv[3:]))
u = np.cumsum(np.random.default_rng(3).normal(size=(45, 64, 128)), 0).astype("f4")
def open_file(mode="w", where=path, **more): return h5py.File(where, mode, rdcc_nbytes=0, **more)
def make(file, name="g/u", chunk=(10, 64, 128), **more):
    return file.create_dataset(name, (0, 64, 128), "f4", chunks=chunk, maxshape=(None, 64, 128), compression=number,
                               compression_opts=words or None, **more)
def append(data, rows):
    for i in rows:
        data.resize(i + 1, axis=0)
        data[i] = u[i]
"""


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "rules.policy"
    path.write_text("** any >=1B -> none append=hold\n")
    return path


def script(text, path, policy, *words, log=None, **more):
    if policy is not None:
        more["H5TWIN_POLICY"] = str(policy)
    return start("-c", PRELUDE + text, path, FILTER, *words, connector=True, log=log, **more)


def columns(log):
    return [line.split("\t")[1:] for line in log.read_text().splitlines()]


def all_rows():
    return np.cumsum(np.random.default_rng(3).normal(size=(45, 64, 128)), 0).astype("f4")


def rows_of(path):
    with h5py.File(path) as file:
        return file["g/u"][...], all_rows()


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_programs(seed, tmp_path, policy):
    log, path = tmp_path / "log", tmp_path / "x.h5"
    done = start(HERE / "hold_program.py", path, seed, json.dumps(SPECS), connector=True, log=log, H5TWIN_POLICY=str(policy))
    assert lines_of(done)[-1] == "wrong: 0", done.stdout
    assert seed % 4 == 3 or sum(line[2] == "held" for line in columns(log)) > 3  # else HDF5 caches small chunks
    assert by_h5dump(path) is None or "DATASET" in by_h5dump(path)


@pytest.mark.skipif(not SEEDS, reason="needs H5TWIN_TEST_SEEDS")
@pytest.mark.parametrize("first", SEEDS[::MANY])
def test_many_random_programs(first, tmp_path, policy):
    """The same for many, one after the other in a process."""
    log, path, last = tmp_path / "log", tmp_path / "x.h5", min(first + MANY, SEEDS.stop)
    done = start(HERE / "hold_program.py", path, f"{first}:{last}", json.dumps(SPECS), connector=True, log=log, H5TWIN_POLICY=str(policy))
    ends = [line for line in lines_of(done) if line.startswith("wrong:")]
    assert ends == ["wrong: 0"] * (last - first), done.stdout
    assert sum(line[2] == "held" for line in columns(log)) > 3 * (last - first)


def test_random_programs_are_right_without_it(tmp_path):
    """Else the test above would tell nothing."""
    assert lines_of(start(HERE / "hold_program.py", tmp_path / "x.h5", 5, json.dumps(SPECS), connector=False))[-1] == "wrong: 0"


WRITES = """
target = Counting()
with open_file(where=target) as file: append(make(file, chunk=(10, 32, 128)), range(40))
print(len(Counting.sizes))
with open(path, "wb") as file: file.write(target.getvalue())
"""


LIBRARY = """
import ctypes
hdf5 = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line and "_hl" not in line))
def reopen(file):
    hdf5.H5Freopen.restype = ctypes.c_int64
    return ctypes.c_int64(hdf5.H5Freopen(file))
def number_of(handle): return ctypes.c_int64(getattr(handle.id, "id", handle.id))  # of h5py's low level, too
"""
COUNTING = """
class Counting(io.BytesIO):
    sizes = []
    def write(self, data):
        if len(data) > 20000: self.sizes.append(len(data))
        return super().write(data)
"""
# Calls that would see a difference, and those that would not.
SEEING = ["file.flush()", "data.flush()", "hdf5.H5Oflush(number_of(data))", "hdf5.H5Oflush(number_of(group))",
          "hdf5.H5Gflush(number_of(group))", "hdf5.H5Drefresh(number_of(data))", "hdf5.H5Orefresh(number_of(data))",
          "hdf5.H5Fclose(reopen(number_of(file)))", "data.id.get_space_status()", "data.id.get_storage_size()", "data.id.get_num_chunks()",
          "file.copy('g/u', 'v')", "file.id.get_filesize()",
          "hdf5.H5Oget_native_info(number_of(data), ctypes.create_string_buffer(500), 24)", "data[0, 0, 0]"]
BLIND = ["data.shape", "data.attrs['a']", "'x' in group", "hdf5.H5Oexists_by_name(number_of(file), b'g/u', 0)", "data.id.get_create_plist()",
         "data.resize(50, axis=0)", "file.keys()", "file.id.get_access_plist()", "hdf5.H5Fis_accessible(b'none', 0)"]
SEE = """
for call in calls:
    target = Counting()
    with open_file(where=target) as file:
        data = make(file, chunk=(100, 64, 128))
        group, data.attrs["a"] = file["g"], 1
        append(data, range(3))
        Counting.sizes.clear()
        result = repr(eval(call))
        print(len(Counting.sizes), call, result)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_calls_that_see_what_is_held_write_it_first(tmp_path, policy):
    """Counted by the file itself; other calls leave the rows where they are."""
    calls = f"calls = {SEEING + BLIND}\n"
    lines = lines_of(script(LIBRARY + COUNTING + calls + SEE, tmp_path / "x.h5", policy))
    assert [line.split()[0] != "0" for line in lines] == [True] * len(SEEING) + [False] * len(BLIND), lines
    status = next(line for line in lines if "get_space_status" in line).split()[-1]
    assert status == str(h5py.h5d.SPACE_STATUS_ALLOCATED)


def test_memory_is_shared_by_all_datasets(tmp_path, policy):
    """One has room for rows; it is the next one's when the first holds nothing, or is closed."""
    log = tmp_path / "log"
    text = """
with open_file() as file:
    one, two = make(file), make(file, "two")
    append(one, range(15))
    append(two, range(5))
    file.flush()
    append(two, range(5, 12))
    one.id.close(), two.id.close()
    for i in range(3): append(make(file, f"closed{i}"), range(12))
"""
    assert lines_of(script(text, tmp_path / "x.h5", policy, log=log, H5TWIN_HELD_BYTES="400000")) == []
    by_whom = [(line[0], line[2]) for line in columns(log) if line[1] == "write"]
    assert by_whom == ([("/g/u", "held")] * 15 + [("/two", "by HDF5")] * 5 + [("/two", "held")] * 7 +
                       [(f"/closed{i}", "held") for i in range(3) for _ in range(12)])
    u = all_rows()
    with h5py.File(tmp_path / "x.h5") as file:
        assert all((file[name][...] == u[:n]).all() for name, n in [("g/u", 15), ("two", 12), ("closed0", 12), ("closed2", 12)])


def test_rows_beyond_a_smaller_shape_are_gone(tmp_path, policy):
    """The shape before it became smaller is the one at the last write, whatever grew it."""
    done = script("""
with open_file() as file:
    data = make(file)
    append(data, [0, 1])
    file.flush()
    data.resize(30, axis=0)  # nothing is held just now
    data[29] = u[29]
    data.resize(29, axis=0)
    data.resize(30, axis=0)
    print((data[29] == 0).all(), (data[1] == u[1]).all())
""", tmp_path / "x.h5", policy)
    assert lines_of(done) == ["True True"]


CONVERTING = """
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.POINTER(ctypes.c_float),
                        ctypes.c_void_p)
@call
def put_seven(kind, source_type, type, source, target, context):
    target[0] = 7
    return 1  # H5T_CONV_HANDLED
transform, callback = h5py.h5p.create(h5py.h5p.DATASET_XFER), h5py.h5p.create(h5py.h5p.DATASET_XFER)
assert hdf5.H5Pset_data_transform(number_of(transform), b"2*x") >= 0
assert hdf5.H5Pset_type_conv_cb(number_of(callback), put_seven, None) >= 0
memory, huge = h5py.h5s.create_simple((1, 64, 128)), np.full((64, 128), 1e300)
with open_file() as file:
    data = make(file)
    for row, array, list in (0, u[0], None), (1, u[1], transform), (2, huge, callback), (3, u[3], h5py.h5p.create(h5py.h5p.DATASET_XFER)):
        data.resize(row + 1, axis=0)
        place = data.id.get_space()
        place.select_hyperslab((row, 0, 0), (1, 64, 128))
        data.id.write(memory, place, array, dxpl=list)
    print((data[0] == u[0]).all(), (data[1] == 2 * u[1]).all(), (data[2] == 7).all(), (data[3] == u[3]).all())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_lists_of_a_transfer_that_change_values(tmp_path, policy):
    log = tmp_path / "log"
    done = script(LIBRARY + CONVERTING, tmp_path / "x.h5", policy, log=log)
    assert lines_of(done) == ["True True True True"]
    assert [line[2] for line in columns(log) if line[1] == "write"] == ["held", "by HDF5", "by HDF5", "held"]


def test_swmr_begins_while_rows_are_held(tmp_path, policy):
    """What was held is written, and nothing is held any more."""
    log = tmp_path / "log"
    done = script("""
file = open_file(libver="latest"); data = make(file); append(data, range(5))
file.swmr_mode = True
append(data, range(5, 8)); data.flush()
os.kill(os.getpid(), signal.SIGKILL)
""", tmp_path / "x.h5", policy, log=log)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [line[2] for line in columns(log) if line[1] == "write"] == ["held"] * 5 + ["by HDF5"] * 3
    with h5py.File(tmp_path / "x.h5", swmr=True) as file:
        assert (file["g/u"][...] == all_rows()[:8]).all()


@pytest.mark.parametrize("words", [(), absolute(1e-6)])
def test_each_chunk_is_written_once(words, tmp_path, policy):
    """Counted by the file itself, which h5py keeps in a Python object; 4 x 2 chunks of 40 rows."""
    codec = "lattice" if "lattice" in LOSSY_CODECS else None
    if codec is None and words:
        pytest.skip("no lossy codec")
    number = FILTER_IDS[codec] if words else FILTER
    counts = []
    for rules in (policy, None):
        more = {} if rules is None else {"H5TWIN_POLICY": str(rules)}
        counts.append(int(lines_of(start("-c", PRELUDE + COUNTING + WRITES, tmp_path / f"{rules is None}.h5", number, *words, connector=True,
                                         **more))[0]))
    assert counts[0] == 8 and counts[1] > 40
    # As those of an array that is written as a whole: one quantization.
    whole = tmp_path / "whole.h5"
    _, u = rows_of(tmp_path / "False.h5")
    with h5py.File(whole, "w") as file:
        file.create_dataset("g/u", data=u[:40], chunks=(10, 32, 128), maxshape=(None, 64, 128), compression=number,
                            compression_opts=words or None)
    with h5py.File(whole) as one, h5py.File(tmp_path / "False.h5") as other:
        assert one["g/u"].id.get_num_chunks() == 8
        for i in range(8):
            at = one["g/u"].id.get_chunk_info(i).chunk_offset
            assert one["g/u"].id.read_direct_chunk(at) == other["g/u"].id.read_direct_chunk(at)


def test_a_policy_that_codes_and_holds(codec, tmp_path):
    rules, log = tmp_path / "rules", tmp_path / "log"
    rules.write_text(f"u float >=64KiB -> {codec} append=hold\n** any -> {codec}\n")
    text = """
with open_file() as file:
    for name in "u", "v": file.create_dataset("g/" + name, (0, 64, 128), "f4", chunks=(10, 64, 128), maxshape=(None, 64, 128))
    for i in range(45):
        for name in "u", "v":
            file["g/" + name].resize(i + 1, axis=0)
            file["g/" + name][i] = u[i]
"""
    assert lines_of(script(text, tmp_path / "x.h5", rules, log=log)) == []
    held = [line[0] for line in columns(log) if line[2] == "held"]
    assert held == ["/g/u"] * 45
    read, wrote = rows_of(tmp_path / "x.h5")
    assert (read == wrote).all()


@pytest.mark.parametrize("end", ["", "file.close()", "sys.exit(3)", "raise SystemExit", "del data, file"])
def test_at_the_end_of_a_program(end, tmp_path, policy):
    """HDF5 closes what is open, and so what is held is written."""
    done = script("file = open_file(); data = make(file); append(data, range(45))\n" + end, tmp_path / "x.h5", policy)
    assert done.returncode in (0, 3) and done.stderr == ""
    read, wrote = rows_of(tmp_path / "x.h5")
    assert (read == wrote).all()


def test_a_killed_program_loses_what_is_held(tmp_path, policy):
    done = script("""
file = open_file(); data = make(file); append(data, range(27)); file.flush(); append(data, range(27, 29))
os.kill(os.getpid(), signal.SIGKILL)
""", tmp_path / "x.h5", policy)
    assert done.returncode == -signal.SIGKILL
    read, wrote = rows_of(tmp_path / "x.h5")
    assert (read[:27] == wrote[:27]).all() and len(read) >= 27


@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)", "data.file.close()"])
def test_a_forked_child_writes_nothing(end, tmp_path, policy):
    log = tmp_path / "log"
    done = script(f"""
file = open_file(); data = make(file); append(data, range(25))
size = os.path.getsize(path)
child = os.fork()
if child == 0:
    {end if end != "data.file.close()" else "data.id.close(); os._exit(0)"}
print(os.waitpid(child, 0)[1], os.path.getsize(path) == size or {"_exit" not in end!r})
append(data, range(25, 45)); file.close()
""", tmp_path / "x.h5", policy, log=log)
    assert lines_of(done) == ["0 True"]
    assert sum(line[1] == "write held" for line in columns(log)) == 5  # the parent's alone
    read, wrote = rows_of(tmp_path / "x.h5")
    assert (read == wrote).all()


@pytest.mark.parametrize("call", ["data.flush()", "file.flush()", "data.id.get_storage_size()", "data[0, 0, 0]", "append(data, [30])",
                                  "file.copy('g/u', 'v')", "data.resize(20, axis=0)"])
def test_a_full_disk(call, tmp_path, policy):
    """The error comes with the call that writes, and tells which rows; when there is room again, nothing is lost."""
    done = script(f"""
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
u[:] = np.random.default_rng(1).integers(0, 1 << 32, u.shape, "u4").view("f4")
u[~np.isfinite(u)] = 0
file = open_file(); data = make(file); append(data, range(10)); file.flush(); append(data, range(10, 29))
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) // 2 + 4096, resource.RLIM_INFINITY))
failed = 0
for _ in range(2):
    try:
        {call if "append" not in call else "data.resize(31, axis=0); data[30] = u[30]"}
    except Exception as error: failed += 1
print(failed)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
data.resize(29, axis=0) if "append" in {call!r} else None
print((file["g/u"][:20] == u[:20]).all() and (file["g/u"][20:29] == u[20:29]).all())
file.close()
print((h5py.File(path)["g/u"][:29] == u[:29]).all())
""", tmp_path / "x.h5", policy, H5TWIN_VERBOSE="1")
    assert lines_of(done) == ["2", "True", "True"]
    assert 'dataset "/g/u"' in done.stderr and "to the chunk at 20,0,0" in done.stderr and "still held" in done.stderr


def test_a_full_disk_at_a_close(tmp_path, policy):
    """The handle is gone, as with HDF5 alone; the rows are not."""
    done = script("""
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = open_file(); data = make(file); append(data, range(10)); file.flush(); append(data, range(10, 29))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
import ctypes
hdf5 = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line and "_hl" not in line))
print(hdf5.H5Dclose(ctypes.c_int64(data.id.id)))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
file.flush()
print((file["g/u"][...] == u[:29]).all(), flush=True)
os._exit(0)
""", tmp_path / "x.h5", policy, H5TWIN_VERBOSE="1")
    assert lines_of(done) == ["-1", "True"]
    assert "to the chunk at 20,0,0" in done.stderr
    read, wrote = rows_of(tmp_path / "x.h5")
    assert (read == wrote[:29]).all()


def test_swmr_and_memory(tmp_path, policy):
    log = tmp_path / "log"
    text = """
file = open_file(libver="latest"); data = make(file); file.swmr_mode = True
append(data, range(25)); data.flush()
"""
    assert lines_of(script(text, tmp_path / "swmr.h5", policy, log=log)) == []
    assert "held" not in {line[2] for line in columns(log)}
    for limit, held in (("0", False), ("300000", False), ("400000", True), ("no number", True)):
        log.unlink()
        text = "with open_file() as file: append(make(file), range(45))"
        assert lines_of(script(text, tmp_path / "x.h5", policy, log=log, H5TWIN_HELD_BYTES=limit)) == []
        assert ("held" in {line[2] for line in columns(log)}) is held
        assert held or "more than H5TWIN_HELD_BYTES" in log.read_text()
        read, wrote = rows_of(tmp_path / "x.h5")
        assert (read == wrote).all()


def test_chunks_that_hdf5_caches_are_not_held(tmp_path, policy):
    log = tmp_path / "log"
    text = 'with h5py.File(path, "w", rdcc_nbytes=1 << 20) as file: append(make(file), range(45))'
    assert lines_of(script(text, tmp_path / "x.h5", policy, log=log)) == []
    assert {tuple(line[2:]) for line in columns(log)} == {("by HDF5", "HDF5's cache has room for its chunks")}


def test_threads_and_files(tmp_path, policy):
    done = script("""
import concurrent.futures
def work(i):
    with open_file(where=f"{path}{i // 2}", mode="a") as file:
        data = make(file, f"u{i}")
        append(data, range(45))
        return bool((data[...] == u).all())
with concurrent.futures.ThreadPoolExecutor(6) as pool: print(all(pool.map(work, range(12))))
""", tmp_path / "x.h5", policy)
    assert lines_of(done) == ["True"]
    for i in range(12):
        with h5py.File(f"{tmp_path / 'x.h5'}{i // 2}") as file:
            assert (file[f"u{i}"][...] == all_rows()).all()


def test_reading_another_file_does_not_write_what_is_held(tmp_path, policy):
    log = tmp_path / "log"
    done = script("""
with h5py.File(path + "other", "w") as file: file["x"] = u[0]
with open_file() as file:
    data = make(file)
    for i in range(40):
        append(data, [i])
        with h5py.File(path + "other") as other: assert (other["x"][...] == u[0]).all()
""", tmp_path / "x.h5", policy, log=log)
    assert lines_of(done) == []
    assert sum(line[1] == "write held" for line in columns(log)) == 4


SEVERAL = """
import ctypes, random
hdf5 = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line and "_hl" not in line))
def call(function, rows):  # [(dataset, row, array)]
    n, ids = len(rows), ctypes.c_int64 * len(rows)
    memory = h5py.h5s.create_simple((1, 64, 128))
    places = [data.id.get_space() for data, _, _ in rows]
    for place, (_, row, _) in zip(places, rows): place.select_hyperslab((row, 0, 0), (1, 64, 128))
    return function(ctypes.c_size_t(n), ids(*(data.id.id for data, _, _ in rows)), ids(*[h5py.h5t.NATIVE_FLOAT.id] * n),
                    ids(*[memory.id] * n), ids(*(place.id for place in places)), ctypes.c_int64(0),
                    (ctypes.c_void_p * n)(*(array.ctypes.data for _, _, array in rows)))
rng = random.Random(number)
with open_file() as file:
    sets = [make(file, "g/u"), make(file, "v", (7, 64, 100)), make(file, "kept", (1, 64, 128))]
    sets.append(file.create_dataset("plain", (45, 64, 128), "f4"))
    for i in range(45):
        for data in sets[:3]: data.resize(i + 1, axis=0)
        rows = [(data, i, u[i]) for data in rng.sample(sets, 4)]
        assert call(hdf5.H5Dwrite_multi, rows[:rng.randrange(2, 5)]) == 0
        for data, row, array in rows: data[i] = array  # again, or for the first time
        if i % 9 == 4:
            back = [(data, i - 1, np.zeros_like(u[0])) for data in sets]
            assert call(hdf5.H5Dread_multi, back) == 0
            print([bool((array == u[i - 1]).all()) for _, _, array in back])
        if i % 16 == 5: print(call(hdf5.H5Dwrite_multi, [(sets[0], i, u[i]), (sets[3], i, u[i]), (sets[0], i - 1, u[i - 1])]) in (0, -1))
        if i == 20: print(call(hdf5.H5Dwrite_multi, [(sets[0], 20, u[20]), (sets[1], 60, u[0])])) # row 60 does not exist
    print([bool((data[...] == u).all()) for data in sets])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_rows_of_several_datasets_in_one_call(tmp_path, policy):
    outputs, log = [], tmp_path / "log"
    for rules in (None, policy):
        outputs.append(lines_of(script(SEVERAL, tmp_path / f"{rules is None}.h5", rules, log=log if rules else None)))
    assert outputs[1] == outputs[0] and outputs[0][-1] == "[True, True, True, True]" and "-1" in outputs[0]
    with h5py.File(tmp_path / "True.h5") as one, h5py.File(tmp_path / "False.h5") as other:
        for name in "g/u", "v", "kept":
            assert one[name].id.get_num_chunks() == other[name].id.get_num_chunks()
            for i in range(one[name].id.get_num_chunks()):
                at = one[name].id.get_chunk_info(i).chunk_offset
                assert one[name].id.read_direct_chunk(at) == other[name].id.read_direct_chunk(at)
    held = [line[0] for line in columns(log) if line[2] == "held"]
    assert held.count("/g/u") > 60 and held.count("/v") > 60  # each row once at least in such a call, and once by itself


NETCDF = """
import netCDF4, numpy as np, sys
netCDF4.set_chunk_cache(1000)  # else the library's caches hold the chunks
u = np.cumsum(np.random.default_rng(3).normal(size=(45, 64, 128)), 0).astype("f4")
with netCDF4.Dataset(sys.argv[1], "w") as file:
    file.createDimension("time", None); file.createDimension("y", 64); file.createDimension("x", 128)
    data = file.createVariable("u", "f4", ("time", "y", "x"), chunksizes=(10, 64, 128))
    for i in range(45):
        data[i] = u[i]
        if i == 27: file.sync()
        if i == 32: assert (data[31] == u[31]).all()
print(netCDF4.__hdf5libversion__)
"""


def test_netcdf_with_an_hdf5_of_its_own(codec, tmp_path):
    """The wheel's is 2.2 where h5py's is 2.0."""
    netcdf4 = pytest.importorskip("netCDF4")
    if tuple(map(int, netcdf4.__hdf5libversion__.split(".")[:2])) < (1, 14):
        pytest.skip("netCDF4's HDF5 has no connectors")
    rules, log = tmp_path / "rules", tmp_path / "log"
    rules.write_text(f"u float -> {codec} append=hold chunks=keep\n")
    done = start("-c", NETCDF, tmp_path / "x.nc", connector=True, log=log, H5TWIN_POLICY=str(rules))
    assert lines_of(done) == [netcdf4.__hdf5libversion__]
    held = [line[2] for line in columns(log) if line[0] == "/u" and line[1] == "write"]
    assert held == ["held"] * 45
    assert sum(line[1] == "write held" for line in columns(log)) == 7  # five chunks, two of them once more for sync and read
    with h5py.File(tmp_path / "x.nc") as file:
        assert (file["u"][...] == all_rows()).all() and file["u"].chunks == (10, 64, 128)
