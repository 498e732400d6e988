# SPDX-License-Identifier: BSD-3-Clause
"""build_conda.py [FOLDER]: render both outputs of conda/recipe.yaml, and build libh5twin from it with rattler-build
(py-rattler-build of PyPI) into FOLDER (build-packages/conda), and run its tests. Where no conda channel can be reached, the
requirements are taken out for that, and this machine's compiler, CMake and HDF5 stand for them."""

import pathlib
import sys

import rattler_build
import yaml

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "build-packages/conda").resolve()
VARIANTS = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "python": ["3.12"]}

text = (HERE / "conda/recipe.yaml").read_text()
rendered = rattler_build.Stage0Recipe.from_yaml(text).render(rattler_build.VariantConfig(VARIANTS))
print("rendered:", *(variant.recipe.package.name for variant in rendered))

recipe = yaml.safe_load(text)
library = recipe["outputs"][0]
assert library["package"]["name"] == "libh5twin"
library["requirements"] = {}
recipe["outputs"] = [library]
folder = OUT / "recipe"
folder.mkdir(parents=True, exist_ok=True)
recipe["source"] = {"path": str(HERE.parent), "use_gitignore": True}
(folder / "recipe.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False))
(folder / "build_lib.sh").write_text((HERE / "conda/build_lib.sh").read_text())
rattler_build.build_recipes([folder / "recipe.yaml"], output_dir=OUT, channel=[], test="native")
packages = sorted(OUT.rglob("libh5twin-*.conda"))
assert packages, "no package"
print(*packages)
