#!/usr/bin/env bash
# quickstart.sh: from a bare Debian or Ubuntu machine to a simulation that checkpoints through
# h5twin: installs what is missing, builds, runs, restarts, looks at the files, draws a picture.
# Everything is left in build/ and .venv/; running it again is quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

folder=build/quickstart
picture=$folder/gray_scott.png

heading() {
    printf '\n== %s\n' "$*"
}

last_state() { # of a log
    tail -n 1 "$1" | sed 's/.*state //'
}

heading "Set-up"
h5twin_apt build-essential cmake pkg-config libhdf5-dev hdf5-tools
h5twin_venv .venv python_tests/requirements.txt

heading "Build"
cmake -B build -DH5TWIN_EXAMPLES=ON >build-quickstart.log
cmake --build build -j "$(nproc)" >>build-quickstart.log || { cat build-quickstart.log >&2; exit 1; }
rm build-quickstart.log
ls build/plugins
export HDF5_PLUGIN_PATH=$PWD/build/plugins
export OMP_WAIT_POLICY=passive # threads that wait leave the cores to others

heading "A simulation with a checkpoint every 300 steps"
mkdir -p $folder
rm -rf $folder/checkpoint-* $folder/.checkpoint.lock $folder/gzip.h5
build/bin/gray_scott --folder $folder --steps 1200 --every 300 --compare | tee $folder/run.log

heading "The same from its checkpoint at step 600"
build/bin/gray_scott --folder $folder --restart 2 --steps 1200 \
    --every 1000000 | tee $folder/restart.log
if [ "$(last_state $folder/run.log)" != "$(last_state $folder/restart.log)" ]; then
    echo "the restarted run came to another state" >&2
    exit 1
fi
echo "Both runs end in the same state, to the last bit."

heading "What was gained"
build/bin/h5twin report $folder/checkpoint-00000004.h5
# The exact state by what HDF5 has of its own, shuffle and gzip.
h5repack -f SHUF -f GZIP=6 $folder/checkpoint-00000004.h5 $folder/gzip.h5
build/bin/h5twin report --json $folder/checkpoint-00000004.h5 >$folder/report.json
build/bin/h5twin report --json $folder/gzip.h5 >$folder/gzip.json
.venv/bin/python - $folder/report.json $folder/gzip.json <<'PYTHON'
import json, sys
ours, gzip = (json.load(open(path))["datasets"] for path in sys.argv[1:])
print(f"\n{'':42}{'MiB':>8}{'stored':>9}{'ratio':>8}")
for what, words in (("the state, exactly (cascade)", ["restart/", ""]),
                    ("copies within a bound (lattice)", ["analysis/", "lattice"]),
                    ("a copy within a bound (sleek)", ["analysis/", "sleek"])):
    rows = [row for row in ours if all(word in json.dumps(row) for word in words)]
    names = [row["name"] for row in rows]
    raw, stored = (sum(row[key] for row in rows) for key in ("raw_size", "stored_size"))
    print(f"{what:42}{raw / 2**20:8.1f}{stored / 2**20:9.2f}{raw / stored:8.2f}")
    if "exactly" in what:
        other = sum(row["stored_size"] for row in gzip if row["name"] in names)
        print(f"{'  beside it, by shuffle and gzip':42}{raw / 2**20:8.1f}{other / 2**20:9.2f}{raw / other:8.2f}")
PYTHON

heading "What h5dump sees"
h5dump -pH -d /analysis/V $folder/checkpoint-00000004.h5
h5dump -d /analysis/V -s 48,48,0 -c 1,1,8 $folder/checkpoint-00000004.h5 | grep '(48'

heading "The smallest programs, in C and in Python"
(cd $folder && ../bin/minimal && "$h5twin_root/.venv/bin/python" "$h5twin_root/examples/minimal.py")

if [ -x build/bin/wave ]; then # a Fortran compiler was there
    heading "Checkpoints from Fortran: a run that is stopped at step 100, and goes on"
    rm -rf $folder/wave $folder/wave-whole
    build/bin/wave $folder/wave 100
    build/bin/wave $folder/wave 200 | tee $folder/wave.log
    build/bin/wave $folder/wave-whole 200 | cmp - <(tail -n 1 $folder/wave.log)
    echo "The same as a run without a stop, to the last bit."
fi

heading "A picture of the last checkpoint, through h5py"
.venv/bin/python examples/plot.py $folder "$picture" >/dev/null
echo "$PWD/$picture"
