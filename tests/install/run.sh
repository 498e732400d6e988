#!/usr/bin/env bash
# run.sh BUILD: install BUILD below a temporary prefix, move it, and build and run a small program
# against it by find_package(h5twin) and by pkg-config. Then configure a project that contains h5twin
# as a folder: it gets the library and the plugins, none of the tests, benchmarks and examples, and
# keeps its own output folders. Plugins beside an installed shared library use it.
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
find "$work/prefix" -type f -o -type l | sort | sed "s|$work/||"
plugins=$(find "$work/prefix" -name '*.so' -path '*hdf5/plugin*' | wc -l)
[ "$plugins" -ge 1 ] || { echo "no plugins installed"; exit 1; }
"$work"/prefix/bin/h5twin --version
library=$(find "$work/prefix" -name 'libh5twin.so*' -type f)

# The files of CMake and of pkg-config name paths relative to themselves: a moved copy works.
mv "$work/prefix" "$work/moved"
cmake -S "$here/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/consumer"

# The Fortran module of this compiler, where one was found.
module=$(find "$work/moved" -name h5twin_checkpoint.mod)
if [ -n "$module" ] && command -v gfortran >/dev/null; then
    libraries=$(dirname "$(find "$work/moved" -name 'libh5twin_checkpoint_fortran.*')")
    read -ra of_hdf5 < <(pkg-config --libs hdf5)
    gfortran -I"$(dirname "$module")" -o "$work/wave" "$here/../../examples/wave.f90" -L"$libraries" \
        -lh5twin_checkpoint_fortran -lh5twin_checkpoint -lh5twin "${of_hdf5[@]}" -lpthread -lm -ldl -Wl,-rpath,"$libraries"
    "$work/wave" "$work/waves" 40
else
    echo "SKIP: no Fortran module installed, or no gfortran"
fi

# Plugins that lie beside a shared library use it, and find it wherever both are moved to; those of
# the build folder work alone.
loads() { # PLUGIN...: and says which filter it is
    python3 - "$@" <<'END'
import ctypes, os, sys
for path in sys.argv[1:]:
    plugin = ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_LOCAL)
    plugin.H5PLget_plugin_info.restype = ctypes.POINTER(ctypes.c_int)
    assert plugin.H5PLget_plugin_info()[1] >= 256, path
END
}
small=$(find "$work/moved" -name 'libh5twin_*.so' -path '*hdf5/plugin*' ! -path '*/vol/*')
connector=$(find "$work/moved" -name libh5twin_vol.so -path '*hdf5/plugin*/vol/*')
[ -f "$connector" ] || { echo "no connector installed"; exit 1; }
found=$("$work/moved/bin/h5twin" run printenv HDF5_PLUGIN_PATH)
case $found in
"$(dirname "$connector"):"*) ;;
*) echo "h5twin run finds $found, not $connector"; exit 1 ;;
esac
# shellcheck disable=SC2086 # no blanks in these names
loads $small
if [ -n "$library" ]; then
    for plugin in $small $connector; do
        [ "$(stat -c %s "$plugin")" -lt 100000 ] || { echo "$plugin does not share the library"; exit 1; }
    done
fi
mkdir "$work/alone"
for plugin in "$build"/plugins/*.so; do
    cp "$plugin" "$work/alone/"
    loads "$work/alone/$(basename "$plugin")"
done

pc=$(find "$work/moved" -name h5twin.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags=$(pkg-config --cflags --libs --static h5twin)
# shellcheck disable=SC2086 # the flags are words
${CC:-cc} -std=c11 -Wall -Wextra -Werror -o "$work/by_pkg_config" "$here/consumer/consumer.c" $flags \
    -Wl,-rpath,"$libdir"
"$work/by_pkg_config"

# A program with checkpoints brings its own HDF5.
if [ -f "$libdir/libh5twin_checkpoint.a" ]; then
    hdf5=$(for name in hdf5 hdf5-serial; do pkg-config --cflags --libs $name 2>/dev/null && break; done)
    flags=$(pkg-config --cflags --libs --static h5twin-checkpoint)
    # shellcheck disable=SC2086 # the flags are words
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o "$work/checkpoint" "$here/consumer/checkpoint.c" $flags $hdf5 \
        -Wl,-rpath,"$libdir"
    "$work/checkpoint" "$work/checkpoints"
    "$work/cmake/checkpoint" "$work/checkpoints"
fi

cmake -S "$here/parent" -B "$work/parent" -DH5TWIN_SOURCE_DIR="$here/../.." >/dev/null
targets=$(cmake --build "$work/parent" --target help)
for target in h5twin consumer h5twin_plugin_sleek; do
    grep -qE "\b$target\b" <<<"$targets" || { echo "a parent project has no target $target"; exit 1; }
done
if grep -E '\b(test_|fuzz_|bench_|gray_scott|h5twin_command)' <<<"$targets"; then
    echo "a parent project gets these targets"
    exit 1
fi
if grep -E '^CMAKE_(RUNTIME|LIBRARY|ARCHIVE)_OUTPUT_DIRECTORY' "$work/parent/CMakeCache.txt" ||
    [ -d "$work/parent/bin" ]; then
    echo "a parent project gets output folders"
    exit 1
fi
