# SPDX-License-Identifier: BSD-3-Clause
"""hooks.py: what mkdocs.yml calls: files of the tree outside of docs/pages become pages and pictures under their path
in the tree, and links to them are turned so; the page of the C API is made of the headers. Nothing is copied into docs/pages."""

import os
import pathlib
import re
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import c_api  # noqa: E402

MADE = {"api/c.md": c_api.page}
PAGES = ROOT / "docs/pages"
_PICTURE = re.compile(r"!\[[^]]*\]\(([^)#:\s]+)\)")
_LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)\s]*)?(\))")


def _named_in(nav):
    for entry in nav:
        for value in entry.values():
            yield from _named_in(value) if isinstance(value, list) else [value]


def _pictures_elsewhere():
    """Pictures that pages show from outside of docs/pages, as paths in the tree."""
    for page in PAGES.rglob("*.md"):
        for link in _PICTURE.findall(page.read_text()):
            target = (page.parent / link).resolve()
            if target.is_relative_to(ROOT) and not target.is_relative_to(PAGES):
                yield target.relative_to(ROOT).as_posix()


def on_files(files, config):
    for uri, page in MADE.items():
        files.append(File.generated(config, uri, content=page()))
    for uri in {*_named_in(config.nav), *_pictures_elsewhere()} - MADE.keys():
        if not (PAGES / uri).exists():
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / uri)))
    return files


def _site_path(path):
    """Where a file of the tree is on the site."""
    return path.relative_to(PAGES if path.is_relative_to(PAGES) else ROOT)


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri in MADE:
        return markdown
    source = pathlib.Path(page.file.abs_src_path)

    def turned(match):
        target = (source.parent / match[2]).resolve()
        if not target.is_relative_to(ROOT):
            return match[0]
        link = os.path.relpath(_site_path(target), _site_path(source).parent)
        return f"{match[1]}{link}{match[3] or ''}{match[4]}"

    return _LINK.sub(turned, markdown)


_FOREIGN_SCRIPT = "https://unpkg.com/iframe-worker/shim"  # for search without a server


def on_post_page(output, page, config):
    """The theme takes one script from another host: ours stands for it."""
    ours = os.path.relpath("search_worker.js", pathlib.Path(page.file.dest_uri).parent)
    return output.replace(_FOREIGN_SCRIPT, ours)


def on_post_template(output, template_name, config):
    return output.replace(_FOREIGN_SCRIPT, "search_worker.js")
