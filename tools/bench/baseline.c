/* Rivals of the library, in the same run and on the same data. */
#include "bench/bench.h"
#include "job.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct rivals {
    const bench_options *options;
    const bench_data *data;
    uint64_t first, count; /* probes from the middle of the batch, which keep its order and density */
    uint32_t *positions;   /* of these: the first key not below */
    uint32_t *answers;     /* a rival's answers for them */
    double seconds[BENCH_REPEAT_MOST + 1];
} rivals;

/* By the namespace of a rival. */
static const char *version_of(const char *name)
{
    if (strncmp(name, "std::", 5) == 0)
        return kr_baseline_std_version();
#if defined(KR_WITH_ABSL)
    if (strncmp(name, "absl::", 6) == 0)
        return "Abseil " KR_ABSL_VERSION;
#endif
#if defined(KR_WITH_PEERS)
    if (strncmp(name, "cuco::", 6) == 0)
        return "cuCollections, " KR_PEERS_VERSION;
#endif
    return "";
}

/* The first run warms up. */
static void add(bench_row *row, const char *name, const char *setting, uint64_t n, uint64_t footprint_nbytes,
                rivals *r)
{
    bench_baseline *to = &row->baselines[row->n_baselines++];
    snprintf(to->name, sizeof to->name, "%s%s%s", name, setting[0] ? ", " : "", setting);
    to->version = version_of(name);
    to->footprint_nbytes = footprint_nbytes;
    to->n = n;
    to->times = bench_summarize(r->seconds + 1, r->options->repeat);
}

static void std_lower_bound(rivals *r, bench_row *row)
{
    const bench_data *data = r->data;
    const uint32_t bits = data->type == KR_U64 ? 64 : 32;
    const char *probes = (const char *)data->host[COLUMN_LOWER] + r->first * (bits / 8);
    for (uint64_t i = 0; i <= r->options->repeat; ++i)
        r->seconds[i] =
            kr_baseline_lower_bound(bits, data->sorted, data->n_keys, probes, r->count, r->positions);
    add(row, "std::lower_bound", "one thread", r->count, data->n_keys * (bits / 8), r);
}

static uint64_t key_at(const bench_data *data, const void *keys, uint64_t i)
{
    return data->type == KR_U64 ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

/* The smallest row that holds the probe, or none. */
static int is_row(const rivals *r, uint64_t i)
{
    const bench_data *data = r->data;
    const uint64_t probe = key_at(data, data->host[COLUMN_LOWER], r->first + i);
    const uint32_t at = r->positions[i];
    const int exists = at < data->n_keys && key_at(data, data->sorted, at) == probe;
    return r->answers[i] == (exists ? data->sorted_rows[at] : KR_NO_ROW);
}

/* A plain gather has a row for each value, so keys must be about as close together as where such tables are
 * made. */
enum { GATHER_VALUES_MOST = 64 };

static int gathers(const bench_data *data)
{
    const uint64_t span = key_at(data, data->sorted, data->n_keys - 1) - key_at(data, data->sorted, 0);
    return span / GATHER_VALUES_MOST < data->n_keys;
}

static int check(const rivals *r, const char *name, int (*is_right)(const rivals *, uint64_t))
{
    for (uint64_t i = 0; i < r->count; ++i)
        if (!is_right(r, i))
            return tool_fail(FAILED, "--baseline: %s answers probe %llu with %u", name,
                             (unsigned long long)(r->first + i), r->answers[i]);
    return DONE;
}

/* ---- On the CPU ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(kr_baseline_map *job, char *text, size_t text_nbytes);
} maps[] = {
    {"std::unordered_map", kr_baseline_unordered_map},
#if defined(KR_WITH_ABSL)
    {"absl::flat_hash_map", kr_baseline_flat_hash_map},
    {"absl::btree_map", kr_baseline_btree_map},
#endif
    {"a plain gather", kr_baseline_gather},
};

/* Maps are built and searched; the time of one or the other is compared. */
static int cpu_maps(rivals *r, bench_row *row)
{
    static double builds[BENCH_REPEAT_MOST + 1];
    const bench_data *data = r->data;
    const uint32_t bits = data->type == KR_U64 ? 64 : 32, runs = (uint32_t)r->options->repeat + 1;
    const int compares_builds = data->operation == BENCH_BUILD;
    int code = DONE;
    for (size_t m = 0; m < sizeof maps / sizeof maps[0] && !code; ++m) {
        char text[256];
        if (maps[m].run == kr_baseline_gather && !gathers(data))
            continue;
        kr_baseline_map job = {.keys = data->host[COLUMN_KEYS],
                               .probes = (const char *)data->host[COLUMN_LOWER] + r->first * (bits / 8),
                               .n = data->n_keys,
                               .n_probes = r->count,
                               .bits = bits,
                               .builds = compares_builds ? runs : 1,
                               .runs = compares_builds ? 1 : runs,
                               .build_seconds = compares_builds ? r->seconds : builds,
                               .seconds = compares_builds ? builds : r->seconds,
                               .answers = r->answers};
        if (maps[m].run(&job, text, sizeof text))
            return tool_fail(FAILED, "--baseline: %s", text);
        code = check(r, maps[m].name, is_row);
        if (!code)
            add(row, maps[m].name, "one thread", compares_builds ? data->n_keys : r->count,
                job.footprint_nbytes, r);
        if (!code && !compares_builds)
            row->baselines[row->n_baselines - 1].build_seconds = builds[0];
    }
    return code;
}

/* ---- On a GPU ------------------------------------------------------------------------------ */

#if defined(KR_WITH_CUDA)
static int on_gpu(rivals *r, const char *name, int (*run)(kr_baseline_batch *, char *, size_t),
                  int (*is_right)(const rivals *, uint64_t), bench_row *row)
{
    const bench_data *data = r->data;
    char text[256];
    kr_baseline_batch batch = {.keys = data->there[COLUMN_KEYS],
                               .sorted_keys = data->sorted,
                               .probes = data->there[COLUMN_LOWER],
                               .n = data->n_keys,
                               .n_probes = data->n_probes,
                               .first = r->first,
                               .count = r->count,
                               .bits = data->type == KR_U64 ? 64 : 32,
                               .runs = (uint32_t)r->options->repeat + 1,
                               .calls = (uint32_t)r->options->calls,
                               .seconds = r->seconds,
                               .answers = r->answers};
    if (run(&batch, text, sizeof text))
        return tool_fail(FAILED, "--baseline: %s", text);
    if (check(r, name, is_right))
        return FAILED;
    add(row, name, batch.setting, data->n_probes, batch.footprint_nbytes, r);
    return DONE;
}

#if defined(KR_WITH_PEERS)
static int is_position(const rivals *r, uint64_t i)
{
    return r->answers[i] == r->positions[i];
}

static int peer_lookups(rivals *r, bench_row *row)
{
    int code = on_gpu(r, "thrust::lower_bound", kr_baseline_thrust, is_position, row);
    if (!code && r->data->multiplicity != 1)
        return tool_fail(USAGE,
                         "--baseline: cuco::static_map holds one row per key; give distinct keys (without "
                         "--multiplicity)");
    if (!code)
        code = on_gpu(r, "cuco::static_map", kr_baseline_static_map_default, is_row, row);
    if (!code)
        code = on_gpu(r, "cuco::static_map at its best", kr_baseline_static_map_best, is_row, row);
    return code;
}
#else
static int peer_lookups(rivals *r, bench_row *row)
{
    (void)r;
    (void)row;
    return DONE;
}
#endif

static int gpu_lookups(rivals *r, bench_row *row)
{
    if (!r->data->device)
        return tool_fail(USAGE, "--baseline on a GPU reads columns in device memory; leave out --host");
    const int code = peer_lookups(r, row);
    return !code && r->data->multiplicity == 1 && gathers(r->data)
               ? on_gpu(r, "a plain gather", kr_baseline_gather_cuda, is_row, row)
               : code;
}

#else
static int gpu_lookups(rivals *r, bench_row *row)
{
    (void)r;
    (void)row;
    return DONE;
}
#endif

#if defined(KR_WITH_CUDA)
static int gpu_build(rivals *r, bench_row *row)
{
    const bench_data *data = r->data;
    const uint32_t bits = data->type == KR_U64 ? 64 : 32;
    char text[256];
    if (!data->device)
        return tool_fail(USAGE, "--baseline of a build sorts keys in device memory; leave out --host");
    if (kr_baseline_cub_sort(bits, data->there[COLUMN_KEYS], data->n_keys, (uint32_t)r->options->repeat + 1,
                             r->seconds, text, sizeof text))
        return tool_fail(FAILED, "--baseline: %s", text);
    add(row, "cub::DeviceRadixSort::SortPairs", "", data->n_keys, data->n_keys * (bits / 8 + 4), r);
    return DONE;
}
#else
static int gpu_build(rivals *r, bench_row *row)
{
    (void)r;
    (void)row;
    return tool_fail(FAILED, "--baseline of a build is CUB's sort, and this build of keyray has no CUDA");
}
#endif

/* ---- All ----------------------------------------------------------------------------------- */

/* The rivals that answer probes, and the maps that are built. */
static int answers(rivals *r, int on_cuda, bench_row *row)
{
    const bench_data *data = r->data;
    const uint64_t n_probes = data->n_probes;
    if (!on_cuda && data->multiplicity != 1 && data->operation == BENCH_POINT &&
        r->options->result != KR_RESULT_ROW)
        return tool_fail(
            USAGE,
            "--baseline: maps hold one row per key; give --result row, or keys that are distinct (without "
            "--multiplicity)");
    r->count = n_probes < BENCH_BASELINE_PROBES ? n_probes : BENCH_BASELINE_PROBES;
    r->first = (n_probes - r->count) / 2;
    r->positions = tool_alloc(r->count, sizeof *r->positions, "the baseline's answers");
    r->answers = tool_alloc(r->count, sizeof *r->answers, "the baseline's answers");
    int code = r->positions && r->answers ? DONE : FAILED;
    if (!code)
        std_lower_bound(r, row);
    if (!code && data->operation == BENCH_BUILD)
        row->n_baselines = 0; /* it only gave the positions */
    if (!code)
        code = on_cuda ? gpu_lookups(r, row) : cpu_maps(r, row);
    free(r->answers);
    free(r->positions);
    return code;
}

int bench_measure_baselines(const bench_options *options, const bench_data *data, kr_device *device,
                            bench_row *row)
{
    static rivals r;
    kr_error err = {0};
    kr_device_info info = {.struct_size = sizeof info};
    const int code = tool_check(kr_device_query(device, &info, &err), &err);
    if (code)
        return code;
    const int on_cuda = strncmp(info.name, "cuda", 4) == 0;
    r = (rivals){.options = options, .data = data};
    if (data->operation == BENCH_BUILD && on_cuda)
        return gpu_build(&r, row);
    if (data->operation == BENCH_POINT || data->operation == BENCH_BUILD)
        return answers(&r, on_cuda, row);
    return tool_fail(USAGE, "--baseline compares point lookups and builds");
}
