#!/usr/bin/env bash
# suites.sh: the test suites of h5py, h5netcdf, netCDF4 and PyTables, natively and under `h5twin run`: no
# test may fail that does not fail natively.
#
#   tests/suites.sh BUILD              all of them, with HDF5 1.14, 2.0 and 2.2
#   tests/suites.sh BUILD NAME...      some, by their names below
#   tests/suites.sh list
#
# BUILD is a build folder (build-gcc). Versions are those of tests/suites/*.txt. Those named -2 have what the wheels hold: HDF5 2.0 in
# h5py, 2.2 in netCDF4; in those named -2.2 h5py has netCDF4's HDF5. PyTables' wheels end with HDF5 1.14. Environments, and the tests of
# netCDF4, which only its source archive has, are fetched from the package index to a temporary folder, and removed at
# the end. H5TWIN_SUITES=FOLDER keeps them there for the next time.
# H5TWIN_SUITE_POLICY=FILE gives the second run a policy: then tests that look at filters or chunks differ. With a bound:
#   H5TWIN_SUITE_POLICY=$PWD/tests/suites/lossy.policy H5TWIN_SUITE_BOUND=1e-3 H5TWIN_SUITE_DIFFER=$PWD/tests/suites/policy.tsv \
#       tests/suites.sh BUILD h5py-2 h5netcdf-2
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
here=$PWD
names=(h5py-1.14 h5py-2 h5py-2.2 h5netcdf-1.14 h5netcdf-2 h5netcdf-2.2 netcdf4-1.14 netcdf4-2 tables-1.14)

if [ $# = 0 ] || [ "$1" = list ]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tests/suites.sh
    printf '%s\n' "${names[@]}"
    exit 0
fi
build=$(realpath "$1")
shift
[ -x "$build/bin/h5twin" ] || { echo "$build/bin/h5twin is not there: build it first" >&2; exit 2; }
if [ $# != 0 ]; then
    names=("$@")
fi
work=${H5TWIN_SUITES:-}
if [ -z "$work" ]; then
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" && work=$(realpath "$work")

environment() { # VERSION: a virtual environment in $work/VERSION
    local folder=$work/$1 wanted=$here/tests/suites/hdf5-$1.txt
    if [ "$1" = 2.2 ]; then
        wanted=$here/tests/suites/hdf5-2.txt
    fi
    if cmp -s "$wanted" "$folder/requirements.txt"; then
        return 0
    fi
    /usr/bin/python3 -m venv "$folder" &&
        "$folder/bin/pip" install -q --disable-pip-version-check --only-binary=:all: -r "$wanted" || return
    if [ "$1" = 2.2 ]; then
        exchange_hdf5 "$folder"/lib/python3*/site-packages || return
    fi
    cp "$wanted" "$folder/requirements.txt"
}

# No wheel of h5py holds HDF5 2.2. It takes that of netCDF4 by the name of its own: both have the same binary interface (320).
exchange_hdf5() { # SITE-PACKAGES
    cp "$1"/netcdf4.libs/lib{sz,aec}-* "$1/h5py.libs/" &&
        cp "$1"/netcdf4.libs/libhdf5-*.so.320.* "$1"/h5py.libs/libhdf5-*.so.320.* &&
        cp "$1"/netcdf4.libs/libhdf5_hl-*.so.320.* "$1"/h5py.libs/libhdf5_hl-*.so.320.*
}

netcdf4_tests() { # VERSION: prints the folder with them
    local version folder=$work/netcdf4-tests-$1
    version=$(sed -n 's/^netCDF4==//p' "tests/suites/hdf5-$1.txt")
    if [ ! -d "$folder" ]; then
        # pip asks a source archive what it needs, and that of netCDF4 asks for netCDF.
        mkdir -p "$folder.archive" && (cd "$folder.archive" &&
            "$work/$1/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary netCDF4 "netCDF4==$version" &&
            tar xzf ./*.tar.gz && mv ./*/test "$folder") >&2 || return
    fi
    echo "$folder"
}

run_suite() { # NAME: project-version
    local project=${1%%-*} version=${1#*-} python files
    environment "$version" || return
    python=$work/$version/bin/python
    local suite=(python3 "$here/tests/vol/suite.py" "$build/bin/h5twin" "$python" "-n$(nproc)")
    case $project in
    h5py) "${suite[@]}" --pyargs h5py -o addopts= ;;
    h5netcdf) "${suite[@]}" --pyargs h5netcdf -o addopts= ;;
    tables) PYTHONPATH=$here/tests/vol "${suite[@]}" -p suite_tables --pyargs tables ;;
    netcdf4)
        files=$(netcdf4_tests "$version") || return
        # One process: its tests share names of files. test_dap reads from the network.
        NO_NET=1 H5TWIN_SUITE_FILES=$files "${suite[@]}" -n0 --ignore=test_dap.py .
        ;;
    *) echo "no suite $1; tests/suites.sh list shows them" && return 1 ;;
    esac
}

status=0
for name in "${names[@]}"; do
    echo "== $name"
    run_suite "$name" || { status=1 && echo "FAIL $name"; }
done
exit $status
