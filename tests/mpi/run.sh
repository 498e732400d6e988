#!/usr/bin/env bash
# run.sh BUILD openmpi|mpich [PREFIX]: collective writes of all codecs through that parallel HDF5, by three
# processes, one of which has nothing to write, against what the serial HDF5 writes; the same by one to four
# processes with chunks coded ahead; arrays of a GPU. Then checkpoints by one, two and four processes, restarted by other
# numbers of them; and the example, which must come to the state of one process.
#
# HDF5 is Debian's (1.10), or the one installed in PREFIX. If that has VOL connectors (1.14 and later), chunks
# are coded ahead under the connector, too, and several datasets are written in one call. `build_hdf5.sh` makes such a
# one.
set -euo pipefail
build=$(realpath "$1") mpi=$2 prefix=${3-}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export HDF5_PLUGIN_PATH=$build/plugins OMP_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
if [ -n "$prefix" ]; then
    flags=("-I$prefix/include" "-L$prefix/lib" -lhdf5 "-Wl,-rpath,$prefix/lib")
else
    read -ra flags < <(pkg-config --cflags --libs "hdf5-$mpi")
fi
"mpicc.$mpi" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -I"$here/../../include" -I"$build/include" \
    -o "$work/write_collectively" "$here/write_collectively.c" \
    "${flags[@]}" -L"$build/lib" -lh5twin -lm -Wl,-rpath,"$build/lib"
mapfile -t specs < <(cut -f 1 "$here"/../../codec/*/specs.txt)
timeout 120 "mpirun.$mpi" -n 3 "$work/write_collectively" "$work/collective.h5" "${specs[@]}"
echo "$mpi: $(/usr/bin/python3 "$here/compare.py" "$work/collective.h5" "$work/serial.h5")"

"mpicc.$mpi" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -I"$here/../../include" -I"$build/include" \
    -o "$work/write_ahead" "$here/write_ahead.c" "${flags[@]}" -L"$build/lib" -lh5twin -lm -Wl,-rpath,"$build/lib"

# write_ahead PROCESSES HOW: the bytes of serial writes, and each chunk that belongs to one process was coded ahead.
write_ahead() {
    local expected found
    expected=$(H5TWIN_VERBOSE=1 H5TWIN_NUM_THREADS=3 timeout 120 "mpirun.$mpi" -n "$1" "$work/write_ahead" "$2" \
        "$work/ahead.h5" "${specs[@]}" 2>"$work/ahead.log")
    found=$(awk '/ coded ahead$/ {sum += $3} END {print sum + 0}' "$work/ahead.log")
    if [ "$found" != "$expected" ] || [ "$found" = 0 ]; then
        cat "$work/ahead.log"
        echo "$mpi: $1 processes, $2: $found of $expected chunks were coded ahead"
        return 1
    fi
    echo "$mpi: $1 processes, $2: $found chunks coded ahead: $(/usr/bin/python3 "$here/compare.py" "$work/ahead.h5" "$work/serial.h5")"
}

mapfile -t specs < <(head -q -n 1 "$here"/../../codec/*/specs.txt | cut -f 1)
for processes in 1 2 3 4; do
    write_ahead $processes h5twin_write
    if grep -q H5VLregister "$prefix/include/H5VLconnector.h" 2>/dev/null; then
        HDF5_VOL_CONNECTOR=h5twin HDF5_PLUGIN_PATH=$build/plugins:$build/plugins/vol write_ahead $processes H5Dwrite
    fi
done

# write_several PROCESSES: several datasets in one call, and rows that a policy would hold, natively and under the
# connector: the values and chunks of serial writes. A dataset without a filter gets one only by `collective`.
write_several() {
    local way
    for way in native alone collective; do
        rm -f "$work"/several.{log,policy_log}
        if [ $way != native ]; then
            printf 'plain any >=1B -> e2mc%s\n** any >=1B -> none append=hold\n' \
                "$([ $way = collective ] && echo " collective")" >"$work/rules.policy"
            export H5TWIN_POLICY=$work/rules.policy H5TWIN_POLICY_LOG=$work/several.policy_log
            export H5TWIN_VOL_LOG=$work/several.log HDF5_VOL_CONNECTOR=h5twin
            export HDF5_PLUGIN_PATH=$build/plugins:$build/plugins/vol
        fi
        timeout 120 "mpirun.$mpi" -n "$1" "$work/write_several" "$work/several.h5" cascade e2mc lattice:abs=1e-3
        if [ $way != native ] && { ! [ -s "$work/several.log" ] || cut -f 4 "$work/several.log" | grep -qx held; }; then
            echo "$mpi: rows were held in a file of MPI programs, or nothing was asked"
            return 1
        fi
        if [ $way != native ] && [ "$(cut -f 2,4 "$work/several.policy_log" | grep ^/plain | sort -u)" != \
            "$(printf '/plain\t%s' "$([ $way = alone ] && echo "left alone" || echo e2mc)")" ]; then
            cat "$work/several.policy_log"
            return 1
        fi
        echo "$mpi: $1 processes, several datasets in a call, $way: $(HDF5_VOL_CONNECTOR='' \
            /usr/bin/python3 "$here/compare.py" "$work/several.h5" "$work/serial.h5")"
    done
}

if grep -q H5Dwrite_multi "$prefix/include/H5Dpublic.h" 2>/dev/null; then
    "mpicc.$mpi" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -I"$here/../../include" -I"$build/include" \
        -o "$work/write_several" "$here/write_several.c" "${flags[@]}" -L"$build/lib" -lh5twin -lm -Wl,-rpath,"$build/lib"
    for processes in 1 3; do
        (write_several $processes)
    done
fi

"mpicc.$mpi" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -rdynamic -I"$here/../../include" -I"$build/include" \
    -o "$work/write_from_device" "$here/write_from_device.c" "$here"/../checkpoint/fake_{cuda,runtime}.c "${flags[@]}" \
    -L"$build/lib" -lh5twin -Wl,-rpath,"$build/lib"
for processes in 1 2 3; do
    echo "$mpi: $(timeout 120 "mpirun.$mpi" -n $processes "$work/write_from_device" "$work/device.h5")"
done

if [ -n "$prefix" ]; then
    exit 0 # what follows is compiled for Debian's
fi
echo "$mpi: no writes under the connector, which HDF5 1.10 does not have: see build_hdf5.sh"

"mpicc.$mpi" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -I"$here/../../include" -I"$build/include" \
    -o "$work/checkpoint" "$here/checkpoint.c" -L"$build/lib" -lh5twin_checkpoint \
    "${flags[@]}" -lh5twin -lm -lpthread -Wl,-rpath,"$build/lib"
for writers in 1 2 4; do
    folder=$work/checkpoints$writers
    timeout 60 "mpirun.$mpi" -n $writers "$work/checkpoint" write "$folder"
    timeout 60 "mpirun.$mpi" -n $writers "$work/checkpoint" fail "$folder"
    for readers in 1 3 4; do
        timeout 60 "mpirun.$mpi" -n $readers "$work/checkpoint" read "$folder"
    done
done
echo "$mpi: checkpoints of 1, 2 and 4 processes are restored by 1, 3 and 4"

"mpicc.$mpi" -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -DGRAY_SCOTT_MPI -Wall -Wextra -I"$here/../../include" \
    -I"$build/include" -o "$work/gray_scott" "$here"/../../examples/gray_scott{,_solver}.c -L"$build/lib" \
    -lh5twin_checkpoint "${flags[@]}" -lh5twin -lm -lpthread -Wl,-rpath,"$build/lib"
mkdir "$work/alone" "$work/together"
alone=$("$build/bin/gray_scott" --folder "$work/alone" --side 20 --steps 30 --every 10 | tail -n 1)
timeout 60 "mpirun.$mpi" -n 3 "$work/gray_scott" --folder "$work/together" --side 20 --steps 20 --every 10 --background
together=$(timeout 60 "mpirun.$mpi" -n 2 "$work/gray_scott" --folder "$work/together" --steps 30 --every 10 --continue |
    tail -n 1)
[ "$alone" = "$together" ] || { echo "$mpi: $together, and one process: $alone"; exit 1; }
echo "$mpi: $together, as with one process"

if [ -e "$build/lib/libh5twin_checkpoint_fortran.a" ] && command -v "mpifort.$mpi" >/dev/null; then
    modules=$here/../../checkpoint/fortran
    (cd "$work" && "mpifort.$mpi" -std=f2018 -Wall -o checkpoint_team "$modules/h5twin_checkpoint.f90" \
        "$modules/h5twin_checkpoint_mpi.f90" "$here/checkpoint_team.f90" -L"$build/lib" -lh5twin_checkpoint "${flags[@]}" \
        -lh5twin -lm -lpthread -Wl,-rpath,"$build/lib")
    timeout 60 "mpirun.$mpi" -n 3 "$work/checkpoint_team" write "$work/fortran"
    for readers in 1 2; do
        timeout 60 "mpirun.$mpi" -n $readers "$work/checkpoint_team" read "$work/fortran"
    done
    echo "$mpi: checkpoints of three Fortran processes are restored by 1 and 2"
else
    echo "$mpi: SKIP: no Fortran module, or no mpifort.$mpi"
fi
