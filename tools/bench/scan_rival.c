#include "scan_job.h"

#include "tools/terminal/tool.h"

#include <keyray/keyray_cuda.h>

#include <stdlib.h>
#include <string.h>

struct bench_rival {
    kr_device *device;
    uint32_t threads, n;
    int on_gpu;
    kr_type type;
    kr_index *indexes[BENCH_SCAN_COLUMNS];
    uint64_t n_rows, n_queries;
    void *bounds; /* lower and upper of each column of each query, both inclusive, where the library reads
                     them */
    uint32_t *rows;
    uint64_t *count; /* two offsets, as a lookup of one range writes them */
    uint32_t *bitmap, *scratch;
};

/* Of the kind that the spec names; 0: unknown, or best. */
static uint32_t capabilities_of(const char *spec)
{
    kr_kind_info info = {.struct_size = sizeof info};
    const size_t length = strcspn(spec, ":");
    for (uint32_t i = 0; kr_kind_query(i, &info, NULL) == KR_OK; ++i)
        if (strlen(info.name) == length && strncmp(spec, info.name, length) == 0)
            return info.capabilities;
    return 0;
}

int bench_rival_is(const char *spec)
{
    return (capabilities_of(spec) & (KR_CAN_RANGE | KR_CAN_SCAN)) == KR_CAN_RANGE;
}

int bench_rival_check(const char *spec)
{
    const uint32_t can = capabilities_of(spec);
    return can && !(can & (KR_CAN_RANGE | KR_CAN_SCAN))
               ? tool_fail(USAGE,
                           "%s answers no ranges, so it cannot be compared with scans; give a kind that "
                           "scans or answers "
                           "ranges, see keyray kinds",
                           spec)
               : DONE;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static uint64_t bitmap_nbytes(const bench_rival *rival)
{
    return (rival->n_rows + 31) / 32 * 4;
}

static uint64_t bounds_nbytes(const bench_rival *rival)
{
    return rival->n_queries * rival->n * 2 * kr_type_nbytes(rival->type);
}

static int allocate(bench_rival *rival, uint64_t nbytes, void **memory)
{
    kr_error err = {0};
    return tool_check(kr_memory_allocate(rival->device, nbytes, NULL, memory, &err), &err);
}

static void release(bench_rival *rival, void *memory, uint64_t nbytes)
{
    if (memory)
        kr_memory_release(rival->device, memory, nbytes, NULL);
}

void bench_rival_close(bench_rival *rival)
{
    if (!rival)
        return;
    for (uint32_t c = 0; c < rival->n; ++c)
        kr_index_destroy(rival->indexes[c]);
    release(rival, rival->scratch, bitmap_nbytes(rival));
    release(rival, rival->bitmap, bitmap_nbytes(rival));
    release(rival, rival->count, 2 * sizeof *rival->count);
    release(rival, rival->rows, rival->n_rows * sizeof *rival->rows);
    release(rival, rival->bounds, bounds_nbytes(rival));
    free(rival);
}

/* No value: 1 to 0. */
static void put_bounds(const bench_rival *rival, void *to, uint64_t i, kr_bounds bounds)
{
    const int none = bounds.lower >= bounds.upper;
    const uint64_t lower = none ? 1 : bounds.lower, upper = none ? 0 : bounds.upper - 1;
    if (kr_type_nbytes(rival->type) == 8) {
        ((uint64_t *)to)[2 * i] = lower;
        ((uint64_t *)to)[2 * i + 1] = upper;
    } else {
        ((uint32_t *)to)[2 * i] = (uint32_t)lower;
        ((uint32_t *)to)[2 * i + 1] = (uint32_t)upper;
    }
}

static int copy_bounds(bench_rival *rival, const kr_bounds *bounds)
{
    const uint64_t n = rival->n_queries * rival->n;
    kr_error err = {0};
    void *host = tool_alloc(n, 2 * kr_type_nbytes(rival->type), "bounds of ranges");
    int code = host ? allocate(rival, bounds_nbytes(rival), &rival->bounds) : FAILED;
    for (uint64_t i = 0; i < n && !code; ++i)
        put_bounds(rival, host, i, bounds[i]);
    if (!code)
        code = tool_check(
            kr_memory_copy(rival->device, rival->bounds, host, bounds_nbytes(rival), NULL, &err), &err);
    if (!code)
        code = tool_check(kr_device_sync(rival->device, NULL, &err), &err);
    free(host);
    return code;
}

static int allocate_all(bench_rival *rival, const kr_bounds *bounds)
{
    int code = copy_bounds(rival, bounds);
    if (!code)
        code = allocate(rival, rival->n_rows * sizeof *rival->rows, (void **)&rival->rows);
    if (!code)
        code = allocate(rival, 2 * sizeof *rival->count, (void **)&rival->count);
    if (!code)
        code = allocate(rival, bitmap_nbytes(rival), (void **)&rival->bitmap);
    if (!code)
        code = allocate(rival, bitmap_nbytes(rival), (void **)&rival->scratch);
    return code;
}

/* Adds the numbers of one index to those before it. */
static void add_facts(index_facts *sum, const index_facts *one)
{
    if (one->info.peak_nbytes + sum->info.footprint_nbytes > sum->info.peak_nbytes)
        sum->info.peak_nbytes = one->info.peak_nbytes + sum->info.footprint_nbytes;
    sum->info.footprint_nbytes += one->info.footprint_nbytes;
    facts_add(&sum->components, &one->components);
    facts_add(&sum->phases, &one->phases);
    facts_add(&sum->counters, &one->counters);
}

static int build(bench_rival *rival, const char *spec, const kr_column *columns, index_facts *taken)
{
    kr_error err = {0};
    int code = DONE;
    for (uint32_t c = 0; c < rival->n && !code; ++c) {
        index_facts one = {0};
        /* Dates of TPC-H are after 1970: their bits are in the same order as numbers without a sign. */
        const kr_column keys = {.type = rival->type, .count = columns[c].count, .data = columns[c].data};
        code = tool_check(kr_index_create(rival->device, spec, &keys, NULL, NULL, &rival->indexes[c], &err),
                          &err);
        if (!code)
            code = index_facts_take(rival->indexes[c], &one);
        if (c == 0)
            *taken = one;
        else
            add_facts(taken, &one);
    }
    return code;
}

int bench_rival_open(kr_device *device, uint32_t threads, const char *spec, const kr_column *columns,
                     uint32_t n_columns, const kr_bounds *bounds, uint64_t n_queries, bench_rival **rival,
                     index_facts *taken)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    int code = tool_check(kr_device_query(device, &info, &err), &err);
    bench_rival *made = code ? NULL : tool_alloc(1, sizeof *made, "indexes");
    if (!made)
        return FAILED;
    *made = (bench_rival){.device = device,
                          .threads = threads,
                          .n = n_columns,
                          .on_gpu = strncmp(info.name, "cuda", 4) == 0,
                          .type = kr_type_nbytes(columns[0].type) == 8 ? KR_U64 : KR_U32,
                          .n_rows = columns[0].count,
                          .n_queries = n_queries};
    code = build(made, spec, columns, taken);
    if (!code)
        code = allocate_all(made, bounds);
    if (code)
        bench_rival_close(made);
    else
        *rival = made;
    return code;
}

/* ---- A query --------------------------------------------------------------------------------- */

/* The rows of one predicate go to rival->rows. */
static int look_up(const bench_rival *rival, uint64_t query, uint32_t c, kr_report *report)
{
    const size_t each = kr_type_nbytes(rival->type);
    const char *bounds = (const char *)rival->bounds + (query * rival->n + c) * 2 * each;
    const kr_column lower = {.type = rival->type, .count = 1, .data = bounds};
    const kr_column upper = {.type = rival->type, .count = 1, .data = bounds + each};
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_ROWS,
                          .order = KR_ORDER_KEY,
                          .out = rival->count,
                          .rows = rival->rows,
                          .rows_capacity = rival->n_rows,
                          .report = report,
                          .count_work = report != NULL};
    kr_error err = {0};
    return tool_check(kr_index_range(rival->indexes[c], &lower, &upper, &sink, NULL, &err), &err);
}

/* Marks them, and merges. */
static int merge(const bench_rival *rival, uint32_t c, uint32_t *bitmap)
{
    const kr_baseline_marks marks = {.rows = rival->rows,
                                     .count = rival->count + 1,
                                     .n_rows = rival->n_rows,
                                     .bitmap = bitmap,
                                     .scratch = c ? rival->scratch : NULL};
#if defined(KR_WITH_CUDA)
    if (rival->on_gpu) {
        struct CUstream_st *stream = NULL;
        char text[256];
        kr_error err = {0};
        const int code = tool_check(kr_stream_get_cuda(rival->device, NULL, &stream, &err), &err);
        if (code)
            return code;
        return kr_baseline_marks_cuda(&marks, stream, text, sizeof text) ? tool_fail(FAILED, "%s", text)
                                                                         : DONE;
    }
#endif
    kr_baseline_marks_cpu(&marks, rival->threads);
    return DONE;
}

int bench_rival_ask(bench_rival *rival, uint64_t query, uint32_t *bitmap, int in_host, report_facts *report)
{
    kr_report *filled = NULL;
    report_facts one;
    kr_error err = {0};
    int code = report ? tool_check(kr_report_create(&filled, &err), &err) : DONE;
    uint32_t *merged = in_host ? rival->bitmap : bitmap;
    for (uint32_t c = 0; c < rival->n && !code; ++c) {
        code = look_up(rival, query, c, filled);
        if (!code)
            code = merge(rival, c, merged);
        if (!code && report) {
            report_facts_take(filled, &one);
            facts_add(&report->phases, &one.phases);
            facts_add(&report->counters, &one.counters);
        }
    }
    if (!code && in_host)
        code =
            tool_check(kr_memory_copy(rival->device, bitmap, merged, bitmap_nbytes(rival), NULL, &err), &err);
    kr_report_destroy(filled);
    return code;
}
