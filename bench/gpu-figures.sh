#!/bin/sh
# Measures the GPU figures of docs/performance.md. Usage: bench/gpu-figures.sh BUILD_DIR [OUT_DIR]
# Reports go to standard output, and as JSON into OUT_DIR when it is given. About 3 minutes on an H200.
set -eu
keyray=$1/bin/keyray
out=${2:-}
[ -z "$out" ] || mkdir -p "$out"

bench() { # NAME ARGUMENT...: one report
    name=$1
    shift
    printf '\n--- %s: keyray bench %s\n' "$name" "$*"
    "$keyray" bench "$@" --device cuda ${out:+--json "$out/$name.json"}
}

"$keyray" info
bench build-2^28 build --count 2^28 --uniformity 100 --index array --index array:layout=aos --baseline
for log2 in 20 24 26 28; do
    bench "point-2^$log2" point --count "2^$log2" --uniformity 100 --probes 2^27 \
        --index array --index array:probes=as-is --index array:probes=sorted --index array:layout=aos
    bench "presorted-2^$log2" point --count "2^$log2" --uniformity 100 --probes 2^27 --presorted-probes \
        --index array:probes=as-is
done
bench point-u64 point --count 2^26 --bits 64 --uniformity 100 --probes 2^27 --index array --index array:probes=as-is
bench point-dense point --count 2^26 --probes 2^27 --index array --index array:probes=as-is
bench point-misses point --count 2^26 --uniformity 100 --probes 2^27 --hit-rate 50 --index array
bench point-zipf point --count 2^26 --uniformity 100 --probes 2^27 --zipf 1 --index array
bench point-host point --count 2^26 --uniformity 100 --probes 2^27 --host --index array
bench point-sum point --count 2^26 --uniformity 100 --probes 2^27 --result sum --index array
for hits in 1 64 1024 16384; do
    bench "range-$hits" range --count 2^26 --probes "$((1048576 * 64 / (hits > 64 ? hits : 64)))" --hits "$hits" \
        --result sum --index array --index array:layout=aos
done
