#!/usr/bin/env bash
# build.sh [FOLDER]: the documentation as a site, build-docs/index.html or in FOLDER. A link that leads nowhere
# is an error, and nothing on it comes from another host. The pictures are drawn by docs/draw.py, which needs the installed package, and are kept in the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

site=$(realpath -m "${1-build-docs}")
h5twin_venv .venv-docs docs/requirements.txt
NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs --quiet build --strict --config-file docs/mkdocs.yml --site-dir "$site"
echo "$site/index.html"
