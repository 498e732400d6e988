#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""suite.py COMMAND PYTHON [PYTEST ARGUMENT]...: another project's tests without the connector and under `COMMAND run`.

What each test comes to must be the same: a failure that only one of the two runs has is one of ours. Both have the same
HDF5_PLUGIN_PATH, which some tests look at."""

import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def outcomes(before, python, arguments, folder):
    """Test -> passed, failed, skipped or error."""
    report = folder / "report.xml"
    shown = subprocess.run([*before, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments],
                           cwd=folder, capture_output=True, text=True)
    if not report.exists():
        sys.exit(f"no tests were run:\n{shown.stdout[-3000:]}{shown.stderr[-3000:]}")
    results = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        results[f"{case.get('classname')}::{case.get('name')}"] = min(kinds, default="passed")
    return results


def main(command, python, *arguments):
    # What `run` would set, but for the connector.
    path = subprocess.run([command, "run", python, "-c", "import os; print(os.environ['HDF5_PLUGIN_PATH'])"], check=True,
                          capture_output=True, text=True).stdout.strip()
    asked = subprocess.run([command, "run", "--check", python], capture_output=True, text=True)
    print(asked.stdout, end="", flush=True)
    os.environ["HDF5_PLUGIN_PATH"] = path
    found = []
    for before in ([], [command, "run"]):
        with tempfile.TemporaryDirectory() as folder:
            found.append(outcomes(before, python, arguments, pathlib.Path(folder)))
    native, ours = found
    differing = [name for name in sorted(native.keys() | ours.keys()) if native.get(name) != ours.get(name)]
    for name in differing:
        print(f"{name}: {native.get(name, 'absent')} without the connector, {ours.get(name, 'absent')} with it")
    passed = sum(result == "passed" for result in ours.values())
    print(f"{len(ours)} tests, {passed} pass; {len(differing)} differ")
    return 1 if differing or passed < 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
