#!/usr/bin/env bash
# test_peer.sh BENCH_CODECS PEER: a shared object takes part beside our codecs, on the arrays that it
# takes and with the bound that it asks for; one that is none is an error.
set -euo pipefail
rows=$(H5TWIN_DATA='' H5TWIN_PEER=$2 "$1" --size 1 --working-set 0 --repetitions 1 sleek)

count_rows() { # PATTERN
    grep -c "$1" <<<"$rows" || true
}

expect() { # COUNT PATTERN
    [ "$(count_rows "$2")" = "$1" ] || { echo "not $1 rows like $2 in:"; echo "$rows"; exit 1; }
}

expect 1 '^smooth,f32,.*"copy f32",-,1,1\.0000,.*,"sleek"$'
expect 0 '^smooth,f64,.*"copy f32"'
expect 2 '^smooth,f[36][24],.*"copy within 1e-3",.*,0\.00[0-9]*,0,"sleek:range=1e-3"$' # bound, error
expect 2 '^smooth,.*"sleek",.*,""$'
expect 2 '^smooth,.*"streaming copy"'
if H5TWIN_DATA='' H5TWIN_PEER=/dev/null "$1" --size 1 --working-set 0 --repetitions 1 sleek >/dev/null 2>&1; then
    echo "a peer that cannot be loaded was passed over"
    exit 1
fi
