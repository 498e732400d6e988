# SPDX-License-Identifier: BSD-3-Clause
"""The site is built without a warning, and has what it should."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([ROOT / "docs/build.sh", folder], capture_output=True, text=True)
    if "cannot make" in done.stderr or "No matching distribution" in done.stderr:
        pytest.skip("cannot install mkdocs here")
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_navigation(site):
    nav = (ROOT / "docs/mkdocs.yml").read_text()
    for page in (ROOT / "docs/pages").rglob("*.md"):
        uri = str(page.relative_to(ROOT / "docs/pages"))
        assert f": {uri}\n" in nav and (site / uri).with_suffix(".html").exists()


def test_every_codec_has_its_format_on_the_site(site):
    for line in (ROOT / "codec/codecs.def").read_text().splitlines():
        if line and not line.startswith("#"):
            assert (site / "codec" / line.split()[0] / "FORMAT.html").exists()


def test_links_and_pictures_of_the_site_are_there(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        if page.name == "404.html":  # its links begin at the site's root
            continue
        for target in re.findall(r'(?:href|src)="([^"#:]+)"', page.read_text()):
            assert (page.parent / target).exists(), (page, target)
