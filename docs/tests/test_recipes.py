# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of packaging/ say what CMakeLists.txt knows. Spack's is run with stand-ins for spack's own modules."""

import pathlib
import re
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACK = ROOT / "packaging/spack/spack_repo/h5twin/packages/h5twin/package.py"
RECIPES = [SPACK, *(ROOT / "packaging" / name for name in ("conda/build_lib.sh", "debian/rules", "homebrew/h5twin.rb"))]


def options():
    """Those that a build takes."""
    text = (ROOT / "CMakeLists.txt").read_text()
    return {*re.findall(r"^ *option\((H5TWIN_\w+) ", text, re.M), *re.findall(r"^ *set\((H5TWIN_\w+) .*CACHE", text, re.M)}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_a_recipe_sets_options_that_there_are(recipe):
    named = set(re.findall(r"\bD?(H5TWIN_[A-Z_]+)\b", recipe.read_text()))
    assert {"H5TWIN_EXAMPLES", "H5TWIN_BENCH"} <= named <= options()


class Package:
    """What spack's CMakePackage has of what the recipe uses."""

    prefix = types.SimpleNamespace(lib="/prefix/lib")

    def __init__(self, **variants):
        self.variants = variants

    def define(self, name, value):
        return f"-D{name}={value}" if isinstance(value, str) else f"-D{name}:BOOL={'ON' if value else 'OFF'}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.variants[variant])


@pytest.fixture
def spack(monkeypatch):
    """The recipe's names, and what its directives were called with."""
    calls = []
    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on"):
        setattr(package, name, lambda *given, _name=name, **more: calls.append((_name, given, more)))
    package.join_path = lambda *parts: "/".join(parts)
    package.run_after = package.on_package_attributes = lambda *_, **__: lambda function: function
    package.Executable = None
    cmake = types.ModuleType("cmake")
    cmake.CMakePackage = Package
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", package)
    monkeypatch.setitem(sys.modules, "spack_repo.builtin.build_systems.cmake", cmake)
    names = {}
    exec(compile(SPACK.read_text(), SPACK, "exec"), names)
    return types.SimpleNamespace(recipe=names["H5twin"], calls=calls)


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("cuda", [True, False])
def test_the_spack_recipe_gives_cmake_arguments(spack, tools, cuda):
    arguments = spack.recipe(tools=tools, cuda=cuda).cmake_args()
    assert all(re.fullmatch(r"-D\w+(:BOOL=(ON|OFF)|=\w+)", argument) for argument in arguments)
    assert f"-DH5TWIN_TOOLS:BOOL={'ON' if tools else 'OFF'}" in arguments
    assert f"-DH5TWIN_CUDA:BOOL={'ON' if cuda else 'OFF'}" in arguments


def test_the_spack_recipe_names_the_folder_of_the_filters(spack):
    """CMakeLists.txt puts them into LIBDIR/hdf5/plugin, and LIBDIR is lib64 on some systems."""
    paths = []
    recipe = spack.recipe(tools=True, cuda=False)
    assert "-DCMAKE_INSTALL_LIBDIR=lib" in recipe.cmake_args()
    recipe.setup_run_environment(types.SimpleNamespace(prepend_path=lambda *given: paths.append(given)))
    assert paths == [("HDF5_PLUGIN_PATH", "/prefix/lib/hdf5/plugin")]
    assert "set(H5TWIN_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/hdf5/plugin CACHE" in (ROOT / "CMakeLists.txt").read_text()


def test_the_spack_recipe_asks_for_what_cmake_asks_for(spack):
    wanted = {given[0] for name, given, _ in spack.calls if name == "depends_on"}
    least = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f"cmake@{least}:" in wanted and {"c", "zlib-api"} <= wanted
