# SPDX-License-Identifier: BSD-3-Clause
"""The site is built without a warning, and has what it should."""

import pathlib
import re
import shutil
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
        for target in re.findall(r'(?:href|src)="([^"#:?]+)', page.read_text()):
            assert (page.parent / target).exists(), (page, target)


def test_nothing_comes_from_another_host(site):
    for page in site.rglob("*.html"):
        assert not re.findall(r"""<(?:script|link|img|iframe)[^>]*(?:href|src)=["'](?:https?:)?//[^"']*""", page.read_text()), page


def test_the_apis_are_there(site):
    python, c = ((site / f"api/{name}.html").read_text() for name in ("python", "c"))
    for name in re.search(r"__all__ = \[(.*?)\]", (ROOT / "python/h5twin/__init__.py").read_text(), re.S)[1].split(","):
        name = name.strip().strip('"')
        assert not name or name in ("FILTERS", "PLUGIN_PATH") or f".{name}" in python, f"add {name} to docs/pages/api/python.md"
    for header in (ROOT / "include").glob("*.h"):
        for name in re.findall(r"^(?:H5TWIN_API [^;{]*?|)(h5twin_\w+|H5Pset_h5twin\w*)\(", header.read_text(), re.M):
            assert name in c, name


def chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def rendered(page, width, query=""):
    """The page as a browser shows it: its text, and how wide it is."""
    done = subprocess.run([chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
                           "--virtual-time-budget=20000", "--dump-dom", f"{page.as_uri()}{query}"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(not chromium(), reason="no Chromium here")
def test_search_works_without_a_server(site):
    page = rendered(site / "index.html", 1300, "?q=lattice")
    assert re.search(r"\d+ matching documents", page) and "<mark" in page


@pytest.mark.skipif(not chromium(), reason="no Chromium here")
@pytest.mark.parametrize("width", [500, 1300])
def test_no_code_is_cut(site, width, tmp_path):
    """Of every block of a page with long lines, the text is no wider than its box."""
    source = site / "recipes/python.html"
    probe = source.with_name("probe.html")
    probe.write_text(source.read_text().replace("</body>", """<script>addEventListener("load", () => {
        const cut = [...document.querySelectorAll("pre > code")].filter((code) => code.scrollWidth > code.clientWidth + 1);
        document.body.dataset.cut = `${cut.length} of ${document.querySelectorAll("pre > code").length}`;
    });</script></body>"""))
    found = re.search(r'data-cut="(\d+) of (\d+)"', rendered(probe, width))
    probe.unlink()
    assert found and int(found[1]) == 0 and int(found[2]) > 5
