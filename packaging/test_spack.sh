#!/usr/bin/env bash
# test_spack.sh: install h5twin from this tree with the spack (1.0 or later) in PATH or SPACK_ROOT, in an environment of its
# own below build-packages/spack: compiler, CMake, HDF5 and zlib are this machine's. Then load it, write a file through the
# filters, and check it. Needs nothing of the user's own configuration of spack, and changes none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

if [ -n "${SPACK_ROOT-}" ]; then
    export PATH=$SPACK_ROOT/bin:$PATH
fi
if ! command -v spack >/dev/null; then
    echo "spack is not here: clone https://github.com/spack/spack, and name its folder in SPACK_ROOT" >&2
    exit 77
fi
h5twin_apt gcc libc6-dev cmake pkg-config libhdf5-dev zlib1g-dev python3-h5py
work=$PWD/build-packages/spack
rm -rf "$work"
mkdir -p "$work/config" "$work/source"
git archive HEAD | tar -C "$work/source" -xf -
export SPACK_USER_CONFIG_PATH=$work/config SPACK_USER_CACHE_PATH=$work/cache SPACK_DISABLE_LOCAL_CONFIG=1
version=$(sed -n 's/^project(h5twin VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

spack repo add packaging/spack/spack_repo/h5twin
spack compiler find
hdf5=$(pkg-config --modversion hdf5)
zlib=$(pkg-config --modversion zlib)
cmake=$(cmake --version | sed -n 's/^cmake version //p')
cat >"$work/config/packages.yaml" <<END
packages:
  cmake: {buildable: false, externals: [{spec: "cmake@$cmake", prefix: /usr}]}
  hdf5: {buildable: false, externals: [{spec: "hdf5@$hdf5~mpi", prefix: /usr}]}
  zlib-api: {require: zlib}
  zlib: {buildable: false, externals: [{spec: "zlib@$zlib", prefix: /usr}]}
END
mkdir -p "$work/environment"
cat >"$work/environment/spack.yaml" <<END
spack:
  specs: [h5twin@$version]
  develop:
    h5twin: {spec: h5twin@$version, path: $work/source}
  view: false
  config:
    install_tree: {root: $work/installed}
END
spack -e "$work/environment" install
eval "$(spack -e "$work/environment" load --sh h5twin)"
h5twin codecs
cd "$work"
# The filters are found by the variable that spack sets, in an HDF5 that knows nothing of them.
/usr/bin/python3 - <<'END'
import h5py, numpy as np
with h5py.File("in.h5", "w") as file:
    file["u"] = np.sin(np.indices((20, 40, 60)).sum(axis=0) * 0.05) * 20
END
h5twin repack --codec lattice:abs=1e-3 --seal --force in.h5 out.h5
h5twin verify --abs 1e-3 in.h5 out.h5
h5twin check out.h5
/usr/bin/python3 -c 'import h5py; print("read by h5py:", h5py.File("out.h5")["u"][0, 0, 0])'
