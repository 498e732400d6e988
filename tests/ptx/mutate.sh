#!/usr/bin/env bash
# mutate.sh BUILD [NAME...]: makes each fault of mutations.tsv, or those of that name, in the PTX of a
# build with -DH5TWIN_PTX=ON, and fails unless a test notices. A fault whose text is not in the PTX,
# as another nvcc may make other PTX, fails too: it is no fault.
set -uo pipefail
build=$1
shift
table=$(dirname "${BASH_SOURCE[0]}")/mutations.tsv
log=$(mktemp)
trap 'rm -f "$log"' EXIT
seconds=120 # for one test
failures=0 noticed=0
declare -A passes

run() { # SETTINGS PROGRAM-AND-ARGUMENTS
    local command
    read -ra command <<<"$1 $build/bin/$2"
    timeout "$seconds" env "${command[@]}" >"$log" 2>&1
}

while IFS=$'\t' read -r name kernel from to number environment program; do
    [[ $name == \#* ]] && continue
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    [ "$environment" = - ] && environment=
    [ "$to" = - ] && to=
    if [ -z "${passes["$environment $program"]-}" ]; then
        passes["$environment $program"]=1
        if ! run "$environment" "$program"; then
            echo "$program fails without a fault:"
            head -n 20 "$log"
            failures=$((failures + 1))
        fi
    fi
    H5TWIN_PTX_REPLACE="$kernel|$from|$to|$number" run "$environment" "$program"
    status=$?
    if ! grep -q '^ptxsim: replaced' "$log"; then
        echo "$name: no such text in the PTX"
        failures=$((failures + 1))
    elif [ $status = 0 ]; then
        echo "$name: not noticed"
        failures=$((failures + 1))
    else
        noticed=$((noticed + 1))
        printf '%s: %s\n' "$name" "$(grep -m 1 -oE '(race: [^,]*|error [0-9]+: [^,]*|: another .*|: wrong .*|\[ +FAILED +\].*)' "$log")"
    fi
done <"$table"
echo "$noticed faults noticed, $failures failures"
[ $failures = 0 ] && [ $noticed -gt 0 ]
