#!/bin/sh
# Measures the GPU figures of docs/performance.md (array) and docs/performance-rx.md (rx), or of one of them.
# Usage: bench/gpu-figures.sh BUILD_DIR [OUT_DIR [array|rx]]
# Reports go to standard output, and as JSON into OUT_DIR when it is given. About 5 minutes on an H200.
set -eu
keyray=$1/bin/keyray
out=${2:-}
which=${3:-array rx}
[ -z "$out" ] || mkdir -p "$out"

bench() { # NAME ARGUMENT...: one report
    name=$1
    shift
    printf '\n--- %s: keyray bench %s\n' "$name" "$*"
    "$keyray" bench "$@" --device cuda ${out:+--json "$out/$name.json"}
}

"$keyray" info

figures_array() {
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
}

rx_point() { # NAME ARGUMENT...
    name=$1
    shift
    bench "rx-$name" point --count 2^26 --uniformity 100 --probes 2^27 --result sum "$@"
}

# Kind rx. An H200 has no RT cores: there OptiX traverses in software.
figures_rx() {
    rx_point point --index rx --index rx:probes=as-is --index rx:probes=sorted \
        --index rx:prim=aabb --index rx:scale=0:0:0,bvh=balanced,parts=1,range=anyhit,dedupe=off,probes=as-is --index array
    rx_point presorted --presorted-probes --index rx:probes=as-is --index array:probes=as-is
    rx_point misses --hit-rate 50 --outside --index rx:probes=as-is --index array:probes=as-is
    for log2 in 0 2 4 6 8 10; do
        bench "rx-range-2^$log2" range --count 2^26 --probes "2^$((26 - log2))" --hits "2^$log2" --result sum \
            --index rx:range=scan --index rx:range=anyhit,dedupe=off --index array
    done
    bench rx-build build --count 2^26 --uniformity 100 --repeat 3 --index rx \
        --index rx:parts=1 --index rx:parts=64 --index rx:parts=1,compact=off --index rx:prim=aabb
    bench rx-duplicates point --count 2^26 --uniformity 100 --multiplicity 2^10 --probes 2^20 --result sum \
        --index rx:dedupe=on --index rx:dedupe=off --index rx:dedupe=off,range=anyhit
    for pattern in positions ranks; do
        bench "rx-update-$pattern" update --count 2^24 --uniformity 100 --probes 2^24 --changes 2^6 --pattern "$pattern" \
            --repeat 3 --index rx:update=refit --index rx:update=refit,order=row,scale=0:0:0 --index rx
    done
}

for kind in $which; do
    "figures_$kind"
done
