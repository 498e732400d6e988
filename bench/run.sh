#!/usr/bin/env bash
# run.sh: set up what is missing, build, measure every codec and its peers, draw and tabulate.
#
#   bench/run.sh                   all steps, about a quarter of an hour
#   bench/run.sh STEP...           some: codecs peers threads hdf5 cost whole planes layouts stages report
#   bench/run.sh checkpoint        checkpoints of 1 GiB beside plain HDF5 and ADIOS2, in memory and on the disk: two
#                                  minutes on two quiet cores, no part of "all"
#
# H5TWIN_DATA=DIRECTORY             measure its files NAME.AxBxC.f32|f64 (raw, little-endian) instead
#                                   of generated fields
# H5TWIN_PEER=LIBRARY[:LIBRARY]     compressors of yours that take part, see bench/peer.h
# H5TWIN_BENCH_REPETITIONS=N        rounds at least (default 7; 3 is quick)
# H5TWIN_BENCH_RESULTS=DIRECTORY    default bench/results/<processor>
# H5TWIN_BENCH_MIB=N                of a checkpoint (default 1024)
# H5TWIN_BENCH_DISK=DIRECTORY       for the disk (default the build folder)
# H5TWIN_BENCH_NOTE="..."           a line for the results, such as what else ran on the machine
#
# bench/README.md says what is measured. Steps can be repeated alone: each replaces its own CSV file;
# machine.txt describes the last run that had the step codecs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

build="build-bench"
python=.venv-bench/bin/python
repetitions=${H5TWIN_BENCH_REPETITIONS:-7}

processor_slug() { # "AMD EPYC", 25, 17 -> amd-epyc-family25-model17
    LC_ALL=C lscpu | awk -F': *' '
        /^Model name/ && !name { name = tolower($2) }
        /^CPU family/ { family = $2 }
        /^Model:/ { model = $2 }
        END {
            gsub(/\(r\)|\(tm\)|cpu|processor|@.*/, "", name)
            gsub(/[^a-z0-9]+/, "-", name); gsub(/^-|-$/, "", name)
            printf "%s%s%s\n", name, family ? "-family" family : "", model ? "-model" model : ""
        }'
}

results=${H5TWIN_BENCH_RESULTS:-bench/results/$(processor_slug)}

set_up() {
    h5twin_apt build-essential cmake pkg-config libhdf5-dev libzstd-dev liblz4-dev zlib1g-dev \
        libzfp-dev python3-venv
    # -DH5TWIN_TESTS=ON so that H5TWIN_CPU chooses the instruction set; only these targets are built.
    mkdir -p "$build"
    cmake -B "$build" -DH5TWIN_TESTS=ON -DH5TWIN_EXAMPLES=OFF -DBUILD_SHARED_LIBS=ON >"$build/run.log" 2>&1 ||
        { cat "$build/run.log" >&2; return 1; }
    local targets=(bench_codecs ndzip_layouts hdf5_cost hdf5_whole hdf5_planes cascade_stages lattice_stages h5twin
        h5twin_plugins)
    if [[ " ${steps[*]} " = *" checkpoint "* ]]; then
        h5twin_venv .venv-adios2 bench/requirements-adios2.txt || echo "No ADIOS2 here: it is left out" >&2
        targets+=(bench_checkpoint)
        if [ ${#steps[@]} = 1 ]; then
            targets=(bench_checkpoint)
        fi
    fi
    cmake --build "$build" -j "$(nproc)" --target "${targets[@]}" >"$build/run.log" 2>&1 ||
        { cat "$build/run.log" >&2; return 1; }
    mkdir -p "$results"
    if [ "${steps[*]}" = checkpoint ]; then
        return
    fi
    if ! cmp -s bench/requirements.txt .venv-bench/requirements.txt; then
        echo "Making .venv-bench" >&2
        /usr/bin/python3 -m venv .venv-bench
        .venv-bench/bin/pip install -q --disable-pip-version-check --only-binary=:all: \
            -r bench/requirements.txt >&2
        cp bench/requirements.txt .venv-bench/requirements.txt
    fi
}

describe_machine() {
    echo "processor: $(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -1)," \
        "$(LC_ALL=C lscpu | awk -F': *' '/^CPU family/{f=$2} /^Model:/{m=$2} END{print "family " f " model " m}')"
    echo "cores: $(nproc)"
    LC_ALL=C lscpu | awk -F': *' '/^(L1d|L2|L3)/ {print $1 ": " $2}'
    echo "memory: $(awk '/^MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo)"
    echo "system: $(. /etc/os-release && echo "$PRETTY_NAME"), $(uname -r)"
    echo "compiler: $(cc --version | head -1)"
    echo "date: $(date -u +%F)"
    echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
    echo "arrays: $([ -n "${H5TWIN_DATA:-}" ] && echo "real arrays" || echo "generated fields")"
    echo "repetitions: $repetitions at least, three for slow ones"
    echo "libraries: $("$build/bin/bench_codecs" --versions | paste -sd, | sed 's/,/, /g')"
    echo "python: $(tail -n +2 bench/requirements.txt | paste -sd' ')"
    echo "note: ${H5TWIN_BENCH_NOTE:-none}"
}

step_codecs() { # every codec and instruction set, and peers, in memory
    H5TWIN_PEER='' "$build/bin/bench_codecs" --variants --repetitions "$repetitions" --csv "$results/codecs.csv"
}

step_peers() { # ours beside compressors that the user brings, in one process
    if [ -n "${H5TWIN_PEER:-}" ]; then
        "$build/bin/bench_codecs" --bare --repetitions "$repetitions" --csv "$results/peers.csv" \
            sleek sleek:abs=1e-3 fpcompress:mode=speed fpcompress:mode=ratio ndzip:layout=reference
    fi
}

step_threads() { # 1, 2, ... threads on an array in memory, and on a chunk in a cache
    local counts=1 count size
    for ((count = 2; count <= $(nproc); count *= 2)); do
        counts+=,$count
    done
    for size in 64 4; do
        H5TWIN_DATA='' H5TWIN_PEER='' "$build/bin/bench_codecs" --size $size --working-set 0 --threads "$counts" \
            --repetitions $((4 * repetitions)) --csv "$results/threads-$size.csv" \
            sleek sleek:range=1e-4 fpcompress:mode=speed fpcompress:mode=ratio ndzip gfc e2mc cascade \
            lattice:range=1e-4
    done
    { cat "$results/threads-64.csv"; tail -n +2 "$results/threads-4.csv"; } >"$results/threads.csv"
    rm "$results/threads-64.csv" "$results/threads-4.csv"
}

step_hdf5() { # filters of h5twin and of others through H5Dwrite and H5Dread
    "$python" bench/bench_hdf5.py --plugins "$build/plugins" \
        --library "$build/lib/libh5twin.so" --repetitions "$repetitions" \
        --csv "$results/hdf5.csv" 2>"$results/hdf5.log"
}

step_cost() { # what the way through HDF5 adds to a codec
    local folder=/dev/shm
    [ -d $folder ] || folder=$(mktemp -d)
    "$build/bin/hdf5_cost" "$folder" >"$results/hdf5_cost.csv"
    HDF5_PLUGIN_PATH=$PWD/$build/plugins H5TWIN_LIBRARY=$PWD/$build/lib/libh5twin.so PYTHONDONTWRITEBYTECODE=1 \
        "$python" bench/hdf5_cost_h5py.py "$folder" >"$results/hdf5_cost_h5py.csv"
}

step_whole() { # whole datasets on all cores, beside HDF5's own calls
    local folder=/dev/shm
    [ -d $folder ] || folder=$(mktemp -d)
    "$build/bin/hdf5_whole" "$folder" 512 "$repetitions" >"$results/hdf5_whole.csv"
}

step_planes() { # one plane of two chunks of 32 MiB
    local folder=/dev/shm
    [ -d $folder ] || folder=$(mktemp -d)
    "$build/bin/hdf5_planes" "$folder" >"$results/hdf5_planes.csv"
}

step_layouts() { # ndzip's two layouts
    if [ -n "${H5TWIN_DATA:-}" ]; then
        "$build/bin/ndzip_layouts" >"$results/ndzip_layouts.md"
    fi
}

step_stages() { # what each stage of cascade and lattice takes
    "$build/bin/cascade_stages" >"$results/cascade_stages.md"
    "$build/bin/lattice_stages" >"$results/lattice_stages.md"
}

step_checkpoint() { # the state of a simulation: in memory and on the disk, beside plain HDF5 and ADIOS2
    local place folder fields before rounds=3 mib=${H5TWIN_BENCH_MIB:-1024}
    local -A folders=([tmpfs]=/dev/shm [disk]=${H5TWIN_BENCH_DISK:-$build})
    [ "$repetitions" -ge 3 ] || rounds=$repetitions
    before=$(cut -d' ' -f1 /proc/loadavg)
    : >"$results/checkpoint.new"
    for place in tmpfs disk; do
        folder=$(mktemp -d "${folders[$place]}/h5twin-checkpoint-XXXXXX")
        fields=$folder/fields # ADIOS2 gets the same ones
        mkdir "$folder/out" "$fields"
        "$build/bin/checkpoint" "$folder/out" "$mib" "$rounds" | sed "1!s/^/$place,/; 1s/^/place,/" >>"$results/checkpoint.new"
        if [ -x .venv-adios2/bin/python ]; then
            "$build/bin/checkpoint" dump "$fields" "$mib"
            H5TWIN_DATA=$fields .venv-adios2/bin/python bench/checkpoint_adios2.py "$folder/out" "$rounds" |
                sed "1d; s/^/$place,/" >>"$results/checkpoint.new"
        fi
        rm -rf "$folder"
    done
    awk 'NR == 1 || !/^place/' "$results/checkpoint.new" >"$results/checkpoint.csv"
    rm "$results/checkpoint.new"
    python3 bench/checkpoint_table.py "$results/checkpoint.csv" "$mib MiB of generated fields, $rounds rounds, $(nproc) cores, \
$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -1), $(date -u +%F), load before $before, after $(cut -d' ' -f1 /proc/loadavg)." \
        >"$results/checkpoint.md"
}

step_report() { # tables, plots, the table of docs/pages/speed.md
    PYTHONDONTWRITEBYTECODE=1 "$python" bench/report.py "$results"
    PYTHONDONTWRITEBYTECODE=1 "$python" bench/speed_table.py "$results" docs/pages/speed.md
}

if [ "${1-}" = --help ]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/run.sh
    exit 0
fi
steps=("$@")
[ $# != 0 ] || steps=(codecs peers threads hdf5 cost whole planes layouts stages report)
for step in "${steps[@]}"; do
    declare -F "step_$step" >/dev/null || { echo "no step $step; see bench/run.sh --help" >&2; exit 2; }
done
set_up
# It describes the run of the tables; a step repeated alone does not change what those are.
if [[ " ${steps[*]} " = *" codecs "* || (! -e "$results/machine.txt" && "${steps[*]}" != checkpoint) ]]; then
    describe_machine >"$results/machine.txt"
fi
for step in "${steps[@]}"; do
    echo "== $step" >&2
    start=$SECONDS
    "step_$step"
    echo "   $((SECONDS - start)) s" >&2
done
echo "Results are in $results" >&2
