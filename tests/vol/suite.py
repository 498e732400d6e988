#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""suite.py COMMAND PYTHON [PYTEST ARGUMENT]...: another project's tests without the connector and under `COMMAND run`.
suite.py --auto PYTHON [PYTEST ARGUMENT]...: without, and with h5py changed by h5twin.auto as where there are no connectors.

What each test comes to must be the same: a failure that only one of the two runs has is one of ours. Both have the same
HDF5_PLUGIN_PATH, which some tests look at. H5TWIN_SUITE_FILES is a folder to copy and to run in.

H5TWIN_SUITE_POLICY is a policy for the second run. Then those tests may differ that look at what a policy changes, or that
want floats to the last bit: H5TWIN_SUITE_DIFFER is a table of patterns of their names and why. With H5TWIN_SUITE_BOUND what
the suite writes through h5py is compared at once with its own arrays: see suite_bounds.py."""

import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def outcomes(before, python, arguments, folder, environment):
    """Test -> passed, failed, skipped or error."""
    report = folder / "report.xml"
    if "H5TWIN_SUITE_FILES" in os.environ:
        shutil.copytree(os.environ["H5TWIN_SUITE_FILES"], folder, dirs_exist_ok=True)
    shown = subprocess.run([*before, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments],
                           cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    if not report.exists():
        sys.exit(f"no tests were run:\n{shown.stdout[-3000:]}{shown.stderr[-3000:]}")
    results = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        results[f"{case.get('classname')}::{case.get('name')}"] = min(kinds, default="passed")
    return results


def arguments_of_auto(python):
    """What the second run has more, for h5py that is changed."""
    path = subprocess.run([python, "-c", "import h5twin; print(h5twin.PLUGIN_PATH)"], check=True, capture_output=True, text=True)
    os.environ["HDF5_PLUGIN_PATH"] = path.stdout.strip()
    os.environ["H5TWIN_AUTO"] = "patches"
    shown = subprocess.run([python, "-c", "import h5twin.auto; print(h5twin.auto.status())"], check=True, capture_output=True, text=True)
    print(shown.stdout, end="", flush=True)
    return ["-p", "h5twin.auto"]


def environment_of_run(command, python):
    # What `run` would set, but for the connector.
    path = subprocess.run([command, "run", python, "-c", "import os; print(os.environ['HDF5_PLUGIN_PATH'])"], check=True,
                          capture_output=True, text=True).stdout.strip()
    asked = subprocess.run([command, "run", "--check", python], capture_output=True, text=True)
    print(asked.stdout, end="", flush=True)
    os.environ["HDF5_PLUGIN_PATH"] = path


def reasons():
    """Pattern -> why tests with such names may differ."""
    path = os.environ.get("H5TWIN_SUITE_DIFFER")
    rows = [] if not path else [line.rstrip("\n").split("\t") for line in open(path) if line[0] not in "#\n"]
    return {pattern: why for pattern, why in rows}


def set_bound(environment, writes):
    """The environment and the arguments with which writes are compared."""
    here = str(pathlib.Path(__file__).resolve().parent)
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment.update(PYTHONPATH=os.pathsep.join(paths), H5TWIN_SUITE_BOUND=os.environ["H5TWIN_SUITE_BOUND"],
                       H5TWIN_SUITE_WRITES=str(writes))
    return ["-p", "suite_bounds"]


def are_within(writes):
    """Whether what was written was read within the bound."""
    rows = [line.rstrip("\n").split("\t") for line in open(writes)] if writes.exists() else []
    wrong = [row for row in rows if row[0] != "1"]
    for _, _, difference, test in wrong:
        print(f"{test}: what was written is read with a difference of {difference}")
    coded = sum(row[1] == "1" for row in rows)
    lossy = sum(float(row[2]) > 0 for row in rows)
    print(f"{len(rows)} writes were read again, {coded} of them coded, {lossy} with differences; {len(wrong)} beyond the bound")
    return coded > 0 and not wrong


def main(command, python, *arguments):
    before, more = [], []
    if command == "--auto":
        more = arguments_of_auto(python)
    else:
        environment_of_run(command, python)
        before = [command, "run"]
    found = []
    policy = {"H5TWIN_POLICY": os.environ["H5TWIN_SUITE_POLICY"]} if os.environ.get("H5TWIN_SUITE_POLICY") else {}
    with tempfile.TemporaryDirectory() as counts:
        writes = pathlib.Path(counts) / "writes.tsv"
        if policy and os.environ.get("H5TWIN_SUITE_BOUND"):
            more = [*more, *set_bound(policy, writes)]
        for start, options, environment in (([], [], {}), (before, more, policy)):
            with tempfile.TemporaryDirectory() as folder:
                found.append(outcomes(start, python, [*options, *arguments], pathlib.Path(folder), environment))
        within = are_within(writes) if "H5TWIN_SUITE_WRITES" in policy else True
    native, ours = found
    allowed, differing, unexplained = reasons() if policy else {}, 0, 0
    for name in sorted(native.keys() | ours.keys()):
        if native.get(name) == ours.get(name):
            continue
        why = next((why for pattern, why in allowed.items() if fnmatch.fnmatchcase(name, pattern)), None)
        differing, unexplained = differing + 1, unexplained + (why is None)
        print(f"{name}: {native.get(name, 'absent')} without the connector, {ours.get(name, 'absent')} with it"
              + ("" if why is None else f": {why}"))
    passed = sum(result == "passed" for result in ours.values())
    print(f"{len(ours)} tests, {passed} pass; {differing} differ" + (f", {unexplained} of them unexplained" if allowed else ""))
    return 1 if unexplained or passed < 50 or not within else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
