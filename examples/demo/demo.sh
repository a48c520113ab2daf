#!/bin/sh
# Five jobs with the keyray command on TPC-H tables, each checked against SQLite on the same files; DuckDB is timed
# beside them.
#
# Usage: demo.sh KEYRAY
# Environment: KEYRAY_DEMO_SCALE  TPC-H scale factor, default 1 (6 million rows of lineitem)
#              KEYRAY_DEMO_DATA   tpch: fail if the generator is not available
#                                 generated: columns of `keyray gen`, no network
set -eu

fail() {
    echo "demo.sh: $1" >&2
    exit 2
}

[ $# -eq 1 ] || fail 'give the keyray command: demo.sh KEYRAY'
command -v "$1" >/dev/null || fail "there is no command '$1'; build keyray first"
keyray=$1
scale=${KEYRAY_DEMO_SCALE:-1}
source=${KEYRAY_DEMO_DATA:-auto}
case $scale in *[!0-9.]* | *.*.* | .) number=0 ;; *) number=$scale ;; esac
awk "BEGIN { exit !($number > 0 && $number <= 100) }" ||
    fail "KEYRAY_DEMO_SCALE is a number above 0 and at most 100, not '$scale'"
case $source in
auto | tpch | generated) ;;
*) fail "KEYRAY_DEMO_DATA is tpch or generated, or not set, not '$source'" ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
work=$here/../../build/demo
generator=tpchgen-cli==4.0.0
rival=duckdb==2.0.0
mkdir -p "$work"
work=$(cd "$work" && pwd)

# Installs the generator into a virtual environment of its own. Wheels only: nothing is compiled.
get_generator() {
    [ ! -x "$work/venv/bin/tpchgen-cli" ] || return 0
    echo "installing $generator into a virtual environment in build/demo"
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" >"$work/venv.log" 2>&1 &&
        "$work/venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 15 \
            --only-binary :all: "$generator" >>"$work/venv.log" 2>&1 || return 1
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 15 \
        --only-binary :all: "$rival" >>"$work/venv.log" 2>&1 || echo "DuckDB, the rival, cannot be had here"
}

# Both write into a temporary folder, renamed when it is complete.
make_tpch() {
    get_generator || return 1
    echo "generating orders and lineitem at scale factor $scale"
    "$work/venv/bin/tpchgen-cli" -s "$scale" -T orders,lineitem -o "$data.part" >"$work/generator.log" 2>&1
}

make_columns() {
    python3 -B "$here/generated.py" "$keyray" "$scale" "$data.part"
}

made=''
for kind in tpch generated; do
    [ "$source" = auto ] || [ "$source" = "$kind" ] || continue
    data=$work/$kind-$scale
    if [ -d "$data" ]; then
        echo "using the files of an earlier run in build/demo/$kind-$scale"
        made=$kind
        break
    fi
    rm -rf "$data.part"
    mkdir -p "$data.part"
    if [ "$kind" = tpch ] && make_tpch || { [ "$kind" = generated ] && make_columns; }; then
        mv "$data.part" "$data"
        made=$kind
        break
    fi
    rm -rf "$data.part"
    [ "$kind $source" != 'tpch auto' ] ||
        echo "the TPC-H generator cannot be had here (see build/demo/venv.log): columns of 'keyray gen' instead"
done
if [ -z "$made" ]; then
    echo "no data could be made; the logs are in build/demo" >&2
    exit 1
fi

python=python3
"$work/venv/bin/python" -c 'import duckdb' 2>/dev/null && python=$work/venv/bin/python
exec "$python" -B "$here/jobs.py" "$keyray" "$data" "$made scale $scale"
