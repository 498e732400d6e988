#!/usr/bin/env bash
# mutate.sh: put small faults into kernels and SIMD files, one at a time, and see that tests notice.
#
#   tests/mutate.sh              all of tests/mutants.tsv; takes an hour on two cores
#   tests/mutate.sh PATTERN...   the lines that match one of these extended regular expressions
#   tests/mutate.sh --check      build nothing: is each line of the table still true to its file?
#
# The table's columns, separated by tabs: file; text, found in it exactly once; replacement; tests
# that must notice; and nothing, or "equivalent: " and why no test can. Tests are names of ctest;
# asan:NAME where only AddressSanitizer sees it in C; python:FILE or python:FILE::TEST of python_tests,
# with the packages of its requirements.txt. Works in a copy of the tree, build-mutate/tree, never in the
# tree itself. First the named tests must pass without any fault. Prints a line for each fault; exit
# status 0 only if all were found but the equivalent.
#
# H5TWIN_MUTATE_SECONDS  for the tests of one fault, default 300: a fault may make a loop endless,
#                        which is not told from a slow machine and does not count as found
# H5TWIN_MUTATE_JOBS     compilers at once, default the number of cores
# H5TWIN_MUTATE_TABLE    another table, default tests/mutants.tsv
# H5TWIN_MUTATE_FOLDER   another folder than build-mutate: two runs at once need two
set -uo pipefail
# shellcheck source=cmake/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
cd "$h5twin_root" || exit 1

table=${H5TWIN_MUTATE_TABLE:-tests/mutants.tsv}
work=${H5TWIN_MUTATE_FOLDER:-build-mutate}
tree=$work/tree
build=$work/build
build_asan=$work/build-asan
seconds=${H5TWIN_MUTATE_SECONDS:-300}
jobs=${H5TWIN_MUTATE_JOBS:-$(nproc)}

# ---- the table ----

read_fault() { # LINE -> file, text, replacement, tests, note; columns may be empty
    local rest=$1$'\t\t\t\t'
    file=${rest%%$'\t'*} rest=${rest#*$'\t'}
    text=${rest%%$'\t'*} rest=${rest#*$'\t'}
    replacement=${rest%%$'\t'*} rest=${rest#*$'\t'}
    tests=${rest%%$'\t'*} rest=${rest#*$'\t'}
    note=${rest%%$'\t'*}
}

lines() { # of the table, those that match one of the patterns
    local pattern
    if [ $# = 0 ]; then
        grep -v '^#' "$table"
        return
    fi
    pattern=$(printf '|%s' "$@")
    grep -v '^#' "$table" | grep -E -- "${pattern#|}"
}

occurrences() { # TEXT FILE
    grep -oF -- "$1" "$2" 2>/dev/null | wc -l
}

# The program that ctest runs under a name: some are run several times.
target_of() { # NAME
    sed -E 's/_(scalar|sse4\.2|avx2|avx512)$//' <<<"$1"
}

plain_ones() { # NAME...: those of ctest without asan:
    printf '%s\n' "$@" | grep -vE '^(asan|python):'
}

asan_ones() { # NAME...: the others, without it
    printf '%s\n' "$@" | sed -n 's/^asan://p'
}

python_ones() { # NAME...: as pytest names them
    printf '%s\n' "$@" | sed -nE "s,^python:([a-z0-9_]+)(.*),$tree/python_tests/\1.py\2,p"
}

# NAME: it is added by a CMakeLists.txt of tests/ or what that includes, emulated ones in three variants;
# or in python_tests.
is_a_test() {
    local name
    if [[ $1 == python:* ]]; then
        name=${1#python:}
        [[ -f python_tests/${name%%::*}.py ]] &&
            { [[ $name != *::* ]] || grep -q "^def ${name#*::}(" "python_tests/${name%%::*}.py"; }
        return
    fi
    name=$(target_of "${1#asan:}" | sed -E 's/_(asan|tsan)$//')
    grep -qE "(h5twin_add_\w*test\(|add_test\(NAME )${name}[ )]" tests/CMakeLists.txt tests/simt/CMakeLists.txt \
        tests/*/*.cmake
}

check_fault() { # of read_fault; prints what is wrong
    local count name wrong=0
    count=$(occurrences "$text" "$file")
    if [ -z "$text" ] || [ "$count" != 1 ]; then
        echo "$file: \"$text\" is there $count times, not once"
        wrong=1
    fi
    if [ "$text" = "$replacement" ]; then
        echo "$file: \"$text\" is replaced by itself"
        wrong=1
    fi
    if [ -z "$tests" ]; then
        echo "$file: \"$text\" names no test"
        wrong=1
    fi
    for name in $tests; do
        if ! is_a_test "$name"; then
            echo "$file: \"$text\": there is no test $name"
            wrong=1
        fi
    done
    case $note in
    '' | 'equivalent: '?*) ;;
    *)
        echo "$file: \"$text\": the last column is neither empty nor \"equivalent: why\""
        wrong=1
        ;;
    esac
    return $wrong
}

check_table() {
    local line count=0 status=0
    while IFS= read -r line; do
        read_fault "$line"
        check_fault || status=1
        count=$((count + 1))
    done < <(lines "$@")
    if [ $count = 0 ]; then
        echo "$table: no such fault"
        status=1
    fi
    echo "$count faults"
    return $status
}

# ---- the copy ----

# Everything is new in it, so make looks at all of it again: an object may be a fault's.
copy_tree() {
    rm -rf "$tree" && mkdir "$tree" &&
        tar --exclude=./.git --exclude='./build*' --exclude=./.venv -cf - . | tar -C "$tree" -xmf -
}

configure() { # NAME...
    local launcher=()
    if command -v ccache >/dev/null; then
        launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    cmake -S "$tree" -B "$build" -DH5TWIN_TESTS=ON -DH5TWIN_TOOLS=ON -DH5TWIN_EXAMPLES=OFF \
        -DH5TWIN_BENCH=OFF -DH5TWIN_CUDA=OFF -DBUILD_SHARED_LIBS=ON "${launcher[@]}" || return
    if [ -n "$(asan_ones "$@")" ]; then # as in run.sh: clang sees what gcc folds into masks
        CC=clang cmake -S "$tree" -B "$build_asan" -DH5TWIN_TESTS=ON -DH5TWIN_TOOLS=OFF \
            -DH5TWIN_EXAMPLES=OFF -DH5TWIN_BENCH=OFF -DH5TWIN_CUDA=OFF -DH5TWIN_FILTERS=OFF \
            -DH5TWIN_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" \
            "${launcher[@]}"
    fi
}

build_in() { # FOLDER NAME...; nothing to do without names
    local folder=$1 name targets=()
    shift
    for name in "$@"; do
        targets+=("$(target_of "$name")")
    done
    [ $# = 0 ] || cmake --build "$folder" -j "$jobs" --target "${targets[@]}"
}

build_tests() { # NAME...
    # shellcheck disable=SC2046 # the names are words
    build_in "$build" $(plain_ones "$@") && build_in "$build_asan" $(asan_ones "$@") || return
    [ -z "$(python_ones "$@")" ] ||
        build_in "$build" h5twin_plugins h5twin_command checkpoint_run h5twin_fault_shim
}

run_in() { # FOLDER NAME...: until one fails
    local folder=$1 names
    shift
    names=$(printf '|%s' "$@")
    [ $# = 0 ] || timeout "$seconds" ctest --test-dir "$folder" -R "^(${names#|})\$" \
        --timeout "$seconds" --stop-on-failure --output-on-failure
}

run_python() { # PYTEST-NAME...: until one fails
    [ $# = 0 ] || H5TWIN_PLUGIN_PATH=$PWD/$build/plugins H5TWIN_COMMAND=$PWD/$build/bin/h5twin \
        PYTHONDONTWRITEBYTECODE=1 timeout "$seconds" .venv/bin/python -m pytest -q -x -p no:cacheprovider "$@"
}

run_tests() { # NAME...: until one fails
    # shellcheck disable=SC2046 # the names are words
    run_in "$build" $(plain_ones "$@") && run_in "$build_asan" $(asan_ones "$@") && run_python $(python_ones "$@")
}

who_failed() { # LOG: the ctest name and what it said
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*\*+([A-Za-z]+).*/\1 (\2)/p' "$1" | head -1
    sed -nE 's/^\[  FAILED  \] (test_\w+)$/\1/p' "$1" | head -1
    sed -nE 's/^(FAILED|ERROR) .*::(test_\w+).*/\2/p' "$1" | head -1
    sed -nE 's/.*SUMMARY: (\w+Sanitizer: [a-z-]+).*/\1/p' "$1" | head -1
}

# ---- faults ----

try_fault() { # of read_fault: prints and counts what became of it
    local log=$work/log started=$SECONDS content outcome by=''
    cp "$tree/$file" "$work/original"
    content=$(cat "$tree/$file" && echo .)
    content=${content%.}
    printf '%s' "${content/"$text"/"$replacement"}" >"$tree/$file"
    # shellcheck disable=SC2086 # the names are words
    if ! build_tests $tests >"$log" 2>&1; then
        outcome=broken
        by=$(grep -m 1 error "$log")
    elif run_tests $tests >"$log" 2>&1; then
        outcome=survived
    else
        outcome=killed
        by=$(who_failed "$log" | paste -sd ' ')
        case $by in
        '' | *'(Timeout)'*) outcome=unended ;;
        esac
    fi
    cp "$work/original" "$tree/$file"
    if [ -n "$note" ]; then
        case $outcome in
        survived) outcome=equivalent ;;
        killed) outcome=unequal ;; # the table is wrong
        esac
    fi
    counts[$outcome]=$((${counts[$outcome]} + 1))
    printf '%-10s %s: %s -> %s [%s] %s s\n' "$outcome" "$file" "$text" "$replacement" "$by" \
        $((SECONDS - started))
}

if [ "${1-}" = --check ]; then
    shift
    check_table "$@"
    exit
fi
check_table "$@" || exit 1
mapfile -t faults < <(lines "$@")
mapfile -t all_tests < <(printf '%s\n' "${faults[@]}" | cut -f4 | tr ' ' '\n' | sort -u)
echo "copying and building, then ${#all_tests[@]} tests without any fault"
mkdir -p "$work"
if [ -n "$(python_ones "${all_tests[@]}")" ] && ! h5twin_venv .venv python_tests/requirements.txt; then
    echo "cannot make .venv (needs Python 3.11 and the package index)"
    exit 1
fi
if ! { copy_tree && configure "${all_tests[@]}" && build_tests "${all_tests[@]}"; } >"$work/log" 2>&1; then
    tail -20 "$work/log"
    exit 1
fi
if ! seconds=1800 run_tests "${all_tests[@]}" >"$work/log" 2>&1; then
    echo "they do not pass without a fault:" "$(who_failed "$work/log" | paste -sd ' ')"
    exit 1
fi
declare -A counts=([killed]=0 [survived]=0 [equivalent]=0 [unended]=0 [broken]=0 [unequal]=0)
for line in "${faults[@]}"; do
    read_fault "$line"
    try_fault
done
echo "${#faults[@]} faults: ${counts[killed]} killed, ${counts[survived]} survived," \
    "${counts[equivalent]} equivalent, ${counts[unended]} reached the time limit," \
    "${counts[broken]} do not compile, ${counts[unequal]} called equivalent and are not"
[ $((counts[survived] + counts[unended] + counts[broken] + counts[unequal])) = 0 ]
