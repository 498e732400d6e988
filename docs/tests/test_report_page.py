# SPDX-License-Identifier: BSD-3-Clause
"""The page of `h5twin report --html` as a browser shows it: nothing is cut on a desktop or on a phone."""

import re
import subprocess

import pytest

from test_site import chromium, rendered
from test_tables import COMMAND

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")

PROBE = """<script>addEventListener("load", () => {
    const root = document.documentElement;
    document.body.dataset.widths = `${root.scrollWidth} of ${root.clientWidth}`;
});</script></html>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    wave = np.sin(np.indices((20, 30, 40)).sum(axis=0) * 0.05).astype("f4")
    with h5py.File(folder / "in.h5", "w") as file:
        file["fields/temperature"] = wave
        file["fields/a_rather_long_name_of_a_variable_that_somebody_gave_to_it"] = wave
        file["time"] = np.arange(4000.0)
    for arguments in (["repack", "--codec", "lattice:abs=1e-3", "--quiet", "in.h5", "out.h5"],
                      ["report", "--against", "in.h5", "--html", "page.html", "out.h5"]):
        done = subprocess.run([COMMAND, *arguments], cwd=folder, capture_output=True, text=True)
        if "without HDF5" in done.stderr:
            pytest.skip("the command was built without HDF5")
        assert done.returncode == 0, done.stderr
    probe = folder / "probe.html"
    probe.write_text((folder / "page.html").read_text().replace("</html>", PROBE))
    return probe


@pytest.mark.skipif(not chromium(), reason="no Chromium here")
@pytest.mark.parametrize("width", [500, 800, 1000, 1300])
def test_nothing_of_a_report_is_cut(page, width):
    found = re.search(r'data-widths="(\d+) of (\d+)"', rendered(page, width))
    assert found and int(found[1]) <= int(found[2]), found and found[0]
