/* Random loads by groups of lanes on a CPU, where a thread plays all lanes of a group. */
#include "bench/baselines/loads_body.h"
#include "bench/workload/workload.h"

#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

typedef struct loads {
    const kr_loads_spec *spec;
    uint32_t *entries, *sums;
} loads;

static void fill(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const loads *l = ctx;
    (void)part;
    for (uint64_t i = first; i < end; ++i)
        l->entries[i] = loads_entry((uint32_t)i);
}

static void load_groups(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const loads *l = ctx;
    const kr_loads_spec *spec = l->spec;
    (void)part;
    for (uint64_t group = first; group < end; ++group) {
        uint32_t random = loads_begin(spec, (uint32_t)group), *sums = l->sums + group * spec->group;
        memset(sums, 0, spec->group * sizeof *sums);
        for (uint32_t step = 0; step < spec->steps; ++step) {
            random = loads_next(random);
            const uint64_t position = loads_position(spec, random);
            for (uint32_t lane = 0; lane < spec->group; ++lane)
                sums[lane] += l->entries[loads_neighbour(spec, position, lane)];
        }
    }
}

void kr_baseline_loads_cpu(const kr_loads_spec *spec, uint32_t threads, uint32_t *entries, uint32_t runs,
                           double *seconds, uint32_t *sums)
{
    loads l = {spec, entries, sums};
    const uint32_t parts = kr_workload_parts(threads, (uint64_t)spec->lanes * spec->steps);
    kr_workload_run(kr_workload_parts(threads, spec->entries), spec->entries, fill, &l);
    for (uint32_t run = 0; run < runs; ++run) {
        const double begin = now();
        kr_workload_run(parts, spec->lanes / spec->group, load_groups, &l);
        seconds[run] = now() - begin;
    }
}

uint32_t kr_baseline_loads_sum(const kr_loads_spec *spec, uint32_t lane)
{
    const uint32_t group = lane / spec->group;
    uint32_t random = loads_begin(spec, group), sum = 0;
    for (uint32_t step = 0; step < spec->steps; ++step) {
        random = loads_next(random);
        sum += loads_entry(
            (uint32_t)loads_neighbour(spec, loads_position(spec, random), lane - group * spec->group));
    }
    return sum;
}
