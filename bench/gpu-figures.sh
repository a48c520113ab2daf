#!/bin/sh
# Measures the GPU figures of docs/performance.md (array), docs/performance-rx.md (rx), of kind cgrx, and of the kinds
# that cast no rays (array, eytzinger and pivot: light), or some of them.
# Usage: bench/gpu-figures.sh BUILD_DIR [OUT_DIR [array|rx|cgrx|cgrx-PART|light|light-range|light-build|calls|tables|tables-updates]...]
# Parts of cgrx: point, range, build, design, miss, update. Reports go to standard output, and as JSON into OUT_DIR when
# it is given ("" for none). About 9 minutes on an H200 without the last three.
set -eu
keyray=$1/bin/keyray
out=${2:-}
[ $# -lt 2 ] && shift || shift 2
[ $# -gt 0 ] || set -- array rx cgrx light light-range light-build
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
        --index rx:prim=aabb --index rx:preset=paper --index array
    rx_point presorted --presorted-probes --index rx:probes=as-is --index array:probes=as-is
    rx_point misses --hit-rate 50 --outside --index rx:probes=as-is --index array:probes=as-is
    for log2 in 0 2 4 6 8 10; do
        bench "rx-range-2^$log2" range --count 2^26 --probes "2^$((26 - log2))" --hits "2^$log2" --result sum \
            --index rx:range=scan --index rx:preset=paper --index array
    done
    bench rx-build build --count 2^26 --uniformity 100 --repeat 3 --index rx \
        --index rx:parts=1 --index rx:parts=64 --index rx:parts=1,compact=off --index rx:prim=aabb
    bench rx-duplicates point --count 2^26 --uniformity 100 --multiplicity 2^10 --probes 2^20 --result sum \
        --index rx:dedupe=on --index rx:dedupe=off --index rx:preset=paper
    for pattern in positions ranks; do
        bench "rx-update-$pattern" update --count 2^24 --uniformity 100 --probes 2^24 --changes 2^6 --pattern "$pattern" \
            --repeat 3 --index rx:update=refit --index rx:preset=paper,update=refit --index rx
    done
}

# Kind cgrx, as its paper measures: sums of rows, no value column, unsorted probes.
paper_rx=rx:preset=paper

cgrx_point() { # NAME ARGUMENT...
    name=$1
    shift
    bench "cgrx-$name" point --count 2^26 --probes 2^27 --result sum-rows --repeat 3 "$@"
}

figures_cgrx_point() {
    for bits in 32 64; do
        for uniformity in 0 50 100; do
            cgrx_point "point-u$bits-$uniformity" --bits $bits --uniformity $uniformity --index "$paper_rx" --index rx \
                --index array:probes=as-is --index cgrx:probes=as-is --index cgrx:bucket=64,probes=as-is --index cgrx
        done
    done
}

figures_cgrx_range() {
    for log2 in 2 6 10; do
        bench "cgrx-range-2^$log2" range --count 2^26 --probes "2^$((26 - log2))" --hits "2^$log2" --repeat 3 \
            --index "$paper_rx" --index rx --index array --index cgrx --index cgrx:updates=on
    done
}

figures_cgrx_build() {
    for bits in 32 64; do
        bench "cgrx-build-u$bits" build --count 2^26 --bits $bits --uniformity 100 --repeat 3 --index "$paper_rx" \
            --index rx --index cgrx:bucket=4 --index cgrx --index cgrx:bucket=256 --index cgrx:updates=on
    done
}

# Layouts, searches, scenes, rays and the scale of y and z. Unscaled scenes may take seconds, so they are smaller.
figures_cgrx_design() {
    set --
    for layout in soa padded aos; do
        set -- "$@" --index cgrx:layout=$layout,probes=as-is --index cgrx:layout=$layout,search=linear,probes=as-is
    done
    bench cgrx-layout point --count 2^25 --probes 2^26 --bits 64 --uniformity 100 --result sum-rows --repeat 3 "$@"
    set --
    for scene in naive optimized; do
        set -- "$@" --index cgrx:scene=$scene,rays=paper,probes=as-is --index cgrx:scene=$scene,rays=short,probes=as-is \
            --index cgrx:scene=$scene,bucket=4,probes=as-is
    done
    set -- "$@" --index cgrx:rays=column,probes=as-is
    for uniformity in 50 100; do
        bench "cgrx-scene-$uniformity" point --count 2^24 --probes 2^24 --bits 64 --uniformity $uniformity \
            --result sum-rows --repeat 3 "$@"
    done
    bench cgrx-rays point --count 2^18 --probes 2^22 --bits 64 --uniformity 100 --result sum-rows --repeat 3 "$@"
    bench cgrx-scale point --count 2^24 --probes 2^22 --bits 64 --uniformity 100 --result sum-rows --repeat 3 \
        --index cgrx:probes=as-is --index cgrx:scale=off,probes=as-is --index cgrx:scene=naive,probes=as-is \
        --index cgrx:scene=naive,scale=off,probes=as-is
}

figures_cgrx_miss() {
    cgrx_point misses --uniformity 100 --hit-rate 50 --index "$paper_rx" --index array:probes=as-is \
        --index cgrx:probes=as-is --index cgrx:filter=8,probes=as-is
    cgrx_point outside --uniformity 100 --hit-rate 50 --outside --index "$paper_rx" --index array:probes=as-is \
        --index cgrx:probes=as-is --index cgrx:filter=8,probes=as-is
}

figures_cgrx_update() {
    bench cgrx-update update --count 2^26 --bits 64 --uniformity 100 --probes 2^26 --waves 8 --growth 2.2 \
        --result sum-rows --repeat 2 --index cgrx:updates=on,probes=as-is --rebuild cgrx:probes=as-is
}

figures_cgrx() {
    for part in point range build design miss update; do
        "figures_cgrx_$part"
    done
}

# Kinds that cast no rays: point lookups by number and width of keys and by kind of probes, and loads without an index.
light_point() { # NAME ARGUMENT...
    name=$1
    shift
    bench "light-$name" point --uniformity 100 --probes 2^27 --repeat 3 "$@" --index array --index eytzinger \
        --index pivot --index array:probes=as-is --index eytzinger:probes=as-is --index eytzinger:k=2,probes=as-is \
        --index pivot:probes=as-is
}

figures_light() {
    for log2 in 20 24 26 28; do
        light_point "point-2^$log2" --count "2^$log2"
    done
    for log2 in 20 24 26 27; do
        light_point "u64-2^$log2" --count "2^$log2" --bits 64
    done
    light_point misses --count 2^26 --hit-rate 50
    light_point zipf --count 2^26 --zipf 1
    light_point presorted --count 2^26 --presorted-probes
    bench light-loads loads
    bench light-loads-aligned loads --aligned
}

figures_light_range() {
    for result in sum sum-rows count; do
        for log2 in 0 2 4 6 10 14; do
            bench "light-range-$result-2^$log2" range --count 2^26 --probes "2^$((26 - log2))" --hits "2^$log2" \
                --result $result --repeat 3 --index array --index array:layout=aos --index eytzinger \
                --index eytzinger:layout=aos --index pivot --index pivot:layout=aos
        done
    done
}

figures_light_build() {
    for keys in 2^28:32 2^27:64; do
        bench "light-build-u${keys#*:}" build --count "${keys%:*}" --bits "${keys#*:}" --uniformity 100 --repeat 3 \
            --baseline --index array --index array:layout=aos --index eytzinger --index eytzinger:layout=aos \
            --index eytzinger:k=2 --index pivot --index pivot:layout=aos --index pivot:k=2
    done
}

# Every size of a batch, calls back to back, each kind in turn: by default, and between 2^18 and 2^23 probes, where
# probes=auto changes its way, both ways; then prepared once.
figures_calls() {
    kinds='' ways=''
    for kind in best array eytzinger btree hash; do
        kinds="$kinds --index $kind"
        [ $kind = best ] && link=pivot:k=9, || link=$kind:
        ways="$ways --index ${link}probes=as-is --index ${link}probes=partitioned"
    done
    for log2 in 26 20 28 24 16; do
        # shellcheck disable=SC2086
        {
            calls "$log2-small" $kinds --calls 64 --repeat 15 \
                --sweep "probes=1,2^1,2^2,2^3,2^4,2^5,2^6,2^7,2^8,2^9,2^10,2^11,2^12,2^13,2^14,2^15,2^16,2^17"
            calls "$log2-middle" $ways --calls 16 --repeat 9 --sweep "probes=2^18,2^19,2^20,2^21,2^22,2^23"
            calls "$log2-large" $kinds --calls 2 --repeat 5 --sweep "probes=2^24,2^25,2^26,2^27"
            calls "$log2-prepared" $kinds --calls 64 --repeat 15 --prepared --sweep "probes=1,2^8,2^12,2^16,2^18,2^20,2^22"
        }
    done
}

calls() { # LOG2-NAME ARGUMENT...
    name=$1
    shift
    bench "calls-2^$name" point --count "2^${name%%-*}" --uniformity 100 --in-turn "$@"
}

# Hash tables, the tree, and updates by merging: docs/performance-tables.md.
figures_tables() {
    for log2 in 20 24 26 28; do
        bench "tables-2^$log2" point --count "2^$log2" --uniformity 100 --probes 2^27 --repeat 3 \
            --index hash --index chain --index btree --index btree:node=64 --index array --index hash:load=0.5
    done
    for log2 in 20 24 26; do
        bench "tables-u64-2^$log2" point --count "2^$log2" --bits 64 --uniformity 100 --probes 2^27 --repeat 3 \
            --index hash --index chain --index btree --index array
    done
    bench tables-misses point --count 2^26 --uniformity 100 --probes 2^27 --repeat 3 --hit-rate 50 \
        --index hash --index chain --index btree
    bench tables-papers point --count 2^26 --uniformity 100 --probes 2^27 --repeat 3 --result sum \
        --index hash:probing=double,group=8,load=0.8,build=insert --index hash:probing=double,group=8,load=0.5,build=insert \
        --index chain:occupancy=1.0 --index chain:occupancy=1.5 --index btree:node=16,fill=1.0 --index btree:node=16,fill=0.5 \
        --index array:probes=as-is
    bench tables-published point --count 2^26 --uniformity 100 --probes 2^27 --repeat 3 --result sum \
        --index hash:preset=paper --index hash:preset=paper,load=0.5 --index chain:occupancy=1.0,group=32 \
        --index chain:occupancy=1.5,group=32 --index btree:preset=paper --index btree:preset=paper,fill=1,inner=full
    for times in 8 2^10; do
        bench "tables-duplicates-$times" point --count 2^26 --uniformity 100 --multiplicity $times --probes 2^24 --repeat 3 \
            --result sum-rows --index hash --index btree --index array
    done
    bench tables-build build --count 2^28 --uniformity 100 --repeat 3 --index hash --index chain --index btree --index array
    figures_tables_updates
    for log2 in 0 2 4 6 10 14; do
        bench "tables-range-2^$log2" range --count 2^26 --probes "2^$((26 - log2))" --hits "2^$log2" --result sum \
            --repeat 3 --index btree --index array
    done
    for log2 in 4 20; do
        bench "tables-count-2^$log2" range --count 2^26 --probes 2^20 --hits "2^$log2" --result count --repeat 3 \
            --index btree --index array
    done
}

# Half of each: a batch deletes as many rows as it inserts.
figures_tables_updates() {
    for log2 in 15 19 24; do
        bench "waves-2^$log2" update --count 2^26 --probes 2^20 --waves 4 --wave-form churn --wave-rows "2^$log2" \
            --index array --index pivot --index eytzinger --index btree --index hash --index chain
    done
    for log2 in 16 20; do
        bench "waves-alternate-2^$log2" update --count 2^26 --probes 2^20 --waves 4 --wave-form alternate \
            --wave-rows "2^$log2" --index array --index btree --index hash
    done
    bench waves-u64 update --count 2^26 --bits 64 --uniformity 100 --probes 2^20 --waves 4 --wave-form churn \
        --wave-rows 2^19 --index array --index btree --index hash
    bench waves-64 update --count 2^26 --probes 2^26 --waves 64 --wave-form churn --wave-rows 2^20 --index btree --index hash
}

for part in "$@"; do
    "figures_$(echo "$part" | tr - _)"
done
