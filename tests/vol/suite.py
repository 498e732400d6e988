#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""suite.py COMMAND PYTHON [PYTEST ARGUMENT]...: another project's tests without the connector and under `COMMAND run`.
suite.py --auto PYTHON [PYTEST ARGUMENT]...: without, and with h5py changed by h5twin.auto as where there are no connectors.

What each test comes to must be the same: a failure that only one of the two runs has is one of ours. Both have the same
HDF5_PLUGIN_PATH, which some tests look at. H5TWIN_SUITE_FILES is a folder to copy and to run in,
H5TWIN_SUITE_POLICY a policy for the second run."""

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


def main(command, python, *arguments):
    before, more = [], []
    if command == "--auto":
        more = arguments_of_auto(python)
    else:
        environment_of_run(command, python)
        before = [command, "run"]
    found = []
    policy = {"H5TWIN_POLICY": os.environ["H5TWIN_SUITE_POLICY"]} if os.environ.get("H5TWIN_SUITE_POLICY") else {}
    for start, options, environment in (([], [], {}), (before, more, policy)):
        with tempfile.TemporaryDirectory() as folder:
            found.append(outcomes(start, python, [*options, *arguments], pathlib.Path(folder), environment))
    native, ours = found
    differing = [name for name in sorted(native.keys() | ours.keys()) if native.get(name) != ours.get(name)]
    for name in differing:
        print(f"{name}: {native.get(name, 'absent')} without the connector, {ours.get(name, 'absent')} with it")
    passed = sum(result == "passed" for result in ours.values())
    print(f"{len(ours)} tests, {passed} pass; {len(differing)} differ")
    return 1 if differing or passed < 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
