#!/usr/bin/env bash
# tsan.sh BUILD PYTHON: the connector of a build by gcc with -fsanitize=thread, with held rows, in threads of PYTHON,
# whose HDF5 has connectors. Python and HDF5 are not built for it, but their locks are seen. (With clang's runtime, of
# version 14, Python does not start.)
set -euo pipefail
build=$(realpath "$1") python=$2
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runtime=$(gcc -print-file-name=libtsan.so)
[ -e "$runtime" ] || { echo "tsan.sh: gcc has no runtime to preload"; exit 1; }
printf '** any >=1B -> cascade append=hold\n' >"$work/rules.policy"
filter=$(sed -n 's/.*H5TWIN_FILTER_CASCADE[^0-9]*\([0-9][0-9]*\).*/\1/p' "$build/include/h5twin_codecs.h" | head -n 1)
export HDF5_VOL_CONNECTOR=h5twin HDF5_PLUGIN_PATH=$build/plugins/vol:$build/plugins H5TWIN_POLICY=$work/rules.policy
export H5TWIN_VOL_LOG=$work/log H5TWIN_NUM_THREADS=4 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
# At fixed addresses, where the sanitizer wants them.
timeout 900 setarch -R env TSAN_OPTIONS="exitcode=66 report_signal_unsafe=0" LD_PRELOAD="$runtime" "$python" \
    "$here/race_program.py" "$work" "$filter"
count=$(cut -f 4 "$work/log" | grep -cx held)
[ "$count" -ge 100 ] || { echo "tsan.sh: $count rows were held"; exit 1; }
echo "$count rows were held, no race"
