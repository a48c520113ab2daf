/* Joins: the probes with the keys, the build inside the time. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_AT_A_TIME = 1 << 24 };

const option_row bench_join_rows[] = {
    {"type", 0, 0, OPTION_CHOICE, offsetof(bench_options, join_type), "inner|semi|anti|left",
     "inner: pairs; semi: left rows with a partner; anti: left rows without one; left: pairs, and "
     "left rows without a partner [inner]",
     0, 0},
    {"inverse", 0, 0, OPTION_CHOICE, offsetof(bench_options, inverse), "auto|on|off",
     "which side is indexed. on: the left one; off: the right one; auto: the cheaper one, and on a "
     "CPU neither of two sides that ascend, which are merged [auto]",
     0, 0},
    {"unordered", 0, 0, OPTION_FLAG, offsetof(bench_options, unordered), NULL, "leave the pairs in any order",
     0, 0},
    {"asof", 0, 0, OPTION_CHOICE, offsetof(bench_options, asof), "no|backward|forward|nearest",
     "pair each probe with the key at or before it, at or after it, or the nearer of both [no]", 0, 0},
    {"groups", 0, 0, OPTION_NUMBER, offsetof(bench_options, groups), "N",
     "with --asof: keys and probes belong to N groups, as quotes and trades to symbols [none]", 1,
     UINT32_MAX},
    {"overlap", 0, 0, OPTION_NUMBER, offsetof(bench_options, overlap), "N",
     "join intervals that begin at the keys and the probes; each probe overlaps N of them on average", 1,
     UINT32_MAX},
    {"points", 0, 0, OPTION_FLAG, offsetof(bench_options, points), NULL,
     "with --overlap: the left intervals are points, so that this is a join of values with ranges", 0, 0},
    {"cover", 0, 0, OPTION_FLAG, offsetof(bench_options, cover), NULL,
     "with --overlap: one right interval covers all others", 0, 0},
    {"counted", 0, 0, OPTION_FLAG, offsetof(bench_options, counted), NULL,
     "with --overlap or --left-end: only count the pairs", 0, 0},
    {"chunk", 0, 0, OPTION_NUMBER, offsetof(bench_options, chunk), "BYTES",
     "with --overlap, --left-end or --streamed: copy the pairs to the host in chunks of at most so many "
     "bytes "
     "[they stay on the device]",
     8, (uint64_t)1 << 40},
    {"streamed", 0, 0, OPTION_FLAG, offsetof(bench_options, streamed), NULL,
     "the probes are in pinned host memory, and the time that the bus alone takes is printed, too; "
     "without --chunk, the time does not include the build of the index",
     0, 0},
    {"sums", 0, 0, OPTION_FLAG, offsetof(bench_options, sums), NULL,
     "for each probe add up the rows with its key (kr_join_sums), instead of making pairs. With "
     "--inverse on this is Algorithm 6 of the thesis on joins (4.3)",
     0, 0},
    {0},
};

static kr_join_type type_of(const bench_options *options)
{
    static const kr_join_type types[] = {KR_JOIN_INNER, KR_JOIN_SEMI, KR_JOIN_ANTI, KR_JOIN_LEFT};
    return types[options->join_type];
}

static int make(const bench_run *run, const char *spec, kr_join **join, double *seconds)
{
    const bench_data *data = run->data;
    const kr_column right = bench_data_column(data, COLUMN_KEYS, 0, data->n_keys);
    const kr_column left = bench_data_column(data, COLUMN_LOWER, 0, data->n_probes);
    const kr_join_options options = {.struct_size = sizeof options,
                                     .type = type_of(run->options),
                                     .inverse = (kr_join_inverse)run->options->inverse,
                                     .unordered = run->options->unordered};
    kr_error err = {0};
    int code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    if (!code && run->options->streamed)
        code = tool_check(bench_streamed_create(run, spec, &options, join, &err), &err);
    else if (!code && bench_overlaps(run->options))
        code = tool_check(bench_overlap_create(run, spec, &options, join, &err), &err);
    else if (!code && run->options->asof)
        code = tool_check(bench_asof_create(run, spec, &left, &right, &options, join, &err), &err);
    else if (!code)
        code = tool_check(kr_join_create(run->device, spec, &left, &right, &options, join, &err), &err);
    *seconds = tool_now() - begin;
    return code;
}

/* ---- Checking ------------------------------------------------------------------------------ */

static int has_partner(const bench_run *run, uint64_t left)
{
    return run->options->asof ? bench_asof_has_partner(run, left) : run->data->known[left] != KR_NO_ROW;
}

/* The rows of the right result: a key that is there is there `multiplicity` times. */
static uint64_t rows_wanted(const bench_run *run, kr_join_type type)
{
    const bench_data *data = run->data;
    uint64_t hits = 0;
    if (bench_overlaps(run->options))
        return bench_overlap_pairs();
    for (uint64_t i = 0; i < data->n_probes; ++i)
        hits += has_partner(run, i) != 0;
    const uint64_t misses = data->n_probes - hits, pairs = run->options->asof ? hits
                                                           : data->files      ? bench_files_pairs(data)
                                                                              : hits * data->multiplicity;
    return type == KR_JOIN_INNER  ? pairs
           : type == KR_JOIN_SEMI ? hits
           : type == KR_JOIN_ANTI ? misses
                                  : pairs + misses;
}

static int same_key(const bench_data *data, uint32_t left, uint32_t right)
{
    if (left >= data->n_probes || right >= data->n_keys || bench_files_is_null(data, COLUMN_LOWER, left) ||
        bench_files_is_null(data, COLUMN_KEYS, right))
        return 0;
    if (data->type == KR_U64)
        return ((const uint64_t *)data->host[COLUMN_LOWER])[left] ==
               ((const uint64_t *)data->host[COLUMN_KEYS])[right];
    return ((const uint32_t *)data->host[COLUMN_LOWER])[left] ==
           ((const uint32_t *)data->host[COLUMN_KEYS])[right];
}

/* Whether a row of the result may be there. */
static int is_right(const bench_run *run, kr_join_type type, uint32_t left, uint32_t right)
{
    if (left >= run->data->n_probes)
        return 0;
    if (bench_overlaps(run->options))
        return bench_overlap_is_right(run, left, right);
    if (type == KR_JOIN_SEMI || type == KR_JOIN_ANTI)
        return has_partner(run, left) == (type == KR_JOIN_SEMI);
    if (right == KR_NO_ROW)
        return type == KR_JOIN_LEFT && !has_partner(run, left);
    return run->options->asof ? bench_asof_is_right(run, left, right) : same_key(run->data, left, right);
}

int bench_join_take(void *taken, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    bench_taken *t = taken;
    t->pairs += n;
    for (uint64_t i = 0; i < n && t->checks; ++i)
        t->wrong |= !is_right(t->run, KR_JOIN_INNER, left[i], right[i]);
    return 0;
}

static int check_rows(const bench_run *run, kr_join *join, uint64_t n, uint32_t *left, uint32_t *right)
{
    const kr_join_type type = type_of(run->options);
    const int pairs = type == KR_JOIN_INNER || type == KR_JOIN_LEFT;
    uint64_t last = 0;
    kr_error err = {0};
    memset(right, 0, PAIRS_AT_A_TIME * sizeof *right);
    for (uint64_t first = 0; first < n; first += PAIRS_AT_A_TIME) {
        const uint64_t count = n - first < PAIRS_AT_A_TIME ? n - first : PAIRS_AT_A_TIME;
        const int code = tool_check(kr_join_read(join, first, count, left, pairs ? right : NULL, &err), &err);
        if (code)
            return code;
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t pair = (uint64_t)left[i] << 32 | right[i];
            const int falls = !run->options->unordered && (first || i) && pair <= last;
            if (falls || !is_right(run, type, left[i], right[i]))
                return tool_fail(FAILED, "row %llu of the join, (%u, %u), is %s; nothing was timed",
                                 (unsigned long long)(first + i), left[i], right[i],
                                 falls ? "out of order" : "wrong");
            last = pair;
        }
    }
    return DONE;
}

/* In order, rows of the result are distinct. So if there are as many as wanted and all are right, none is
 * missing. */
static int check(const bench_run *run, kr_join *join, uint64_t n, char checked[192])
{
    const uint64_t wanted = rows_wanted(run, type_of(run->options));
    if (n != wanted)
        return tool_fail(FAILED, "the join has %llu rows, but should have %llu; nothing was timed",
                         (unsigned long long)n, (unsigned long long)wanted);
    uint32_t *left = tool_alloc(PAIRS_AT_A_TIME, sizeof *left, "rows of the join");
    uint32_t *right = left ? tool_alloc(PAIRS_AT_A_TIME, sizeof *right, "rows of the join") : NULL;
    const int code = right ? check_rows(run, join, n, left, right) : FAILED;
    free(right);
    free(left);
    snprintf(checked, 192, "all %llu rows of the join %s, and there are as many as %s%s",
             (unsigned long long)n,
             bench_overlaps(run->options) ? "overlap"
             : run->options->asof         ? "are in one group and in order, many are searched for"
                                          : "have the same key",
             bench_overlaps(run->options) ? "sorted starts and ends say"
             : run->options->asof         ? "the ends of groups say"
             : run->data->files           ? "sorted arrays say"
                                          : "the generator says",
             run->options->unordered ? "" : ", in order");
    return code;
}

/* ---- Measuring ----------------------------------------------------------------------------- */

static int look_at(const bench_run *run, kr_join *join, uint64_t round, bench_row *row)
{
    kr_join_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    int code = tool_check(kr_join_query(join, &info, &err), &err);
    if (!code && round == 0)
        code = check(run, join, info.pairs, row->checked);
    memcpy(row->index.info.spec, info.spec, sizeof info.spec);
    memcpy(row->index.info.tracer, info.tracer, sizeof info.tracer);
    row->index.info.footprint_nbytes = info.footprint_nbytes;
    row->index.info.peak_nbytes = info.peak_nbytes;
    snprintf(row->step, sizeof row->step, "%llu rows of the result, %s side indexed",
             (unsigned long long)info.pairs, info.indexed);
    if (run->options->streamed)
        bench_streamed_step(run, info.pairs, row->step, sizeof row->step);
    join_phases_take(join, &row->lookups.phases);
    return code;
}

/* Pairs in chunks, or counted: no join is there afterwards. */
static int time_chunks(const bench_run *run, const char *spec, double *seconds, bench_row *row)
{
    const kr_column keys = bench_data_column(run->data, COLUMN_KEYS, 0, run->data->n_keys);
    const int streamed = run->options->streamed != 0;
    const unsigned long long pairs = streamed ? rows_wanted(run, KR_JOIN_INNER) : bench_overlap_pairs();
    kr_explanation what = {.struct_size = sizeof what};
    kr_error err = {0};
    int code = tool_check(
        kr_index_explain(run->device, KR_OP_RANGE, spec, &keys, run->data->n_probes, &what, &err), &err);
    for (uint64_t i = 0; i <= run->options->repeat && !code; ++i) {
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
        const double begin = tool_now();
        if (!code)
            code = streamed ? bench_streamed_chunks(run, spec, i == 0, pairs)
                            : bench_overlap_chunks(run, spec, i == 0);
        seconds[i] = tool_now() - begin;
    }
    memcpy(row->index.info.spec, what.spec, sizeof row->index.info.spec);
    memcpy(row->index.info.tracer, what.tracer, sizeof row->index.info.tracer);
    snprintf(row->checked, sizeof row->checked, "all %llu pairs%s, as many as %s", pairs,
             streamed              ? " have the same key"
             : run->options->chunk ? " overlap"
                                   : "",
             streamed ? "the generator says" : "sorted starts and ends say");
    snprintf(row->step, sizeof row->step, "%llu pairs %s", pairs,
             run->options->chunk ? "handed over in chunks" : "counted");
    if (streamed)
        bench_streamed_step(run, pairs, row->step, sizeof row->step);
    return code;
}

static int check_options(const bench_options *o)
{
    if (o->groups && !o->asof)
        return tool_fail(USAGE, "--groups needs --asof backward, forward or nearest");
    if ((o->cover || o->counted || o->points || (o->chunk && !o->streamed)) && !bench_overlaps(o))
        return tool_fail(USAGE, "--%s needs --overlap N",
                         o->cover     ? "cover"
                         : o->counted ? "counted"
                         : o->points  ? "points"
                                      : "chunk");
    if (o->streamed && (o->overlap || o->asof || o->join_type || o->inverse))
        return tool_fail(USAGE, "--streamed makes inner joins on equal keys that are indexed; leave out --%s",
                         o->overlap     ? "overlap"
                         : o->asof      ? "asof"
                         : o->join_type ? "type"
                                        : "inverse");
    if (o->points && (o->counted || o->chunk))
        return tool_fail(USAGE, "--points keeps all its pairs; leave out --%s",
                         o->counted ? "counted" : "chunk");
    if (bench_overlaps(o) && (o->asof || o->join_type))
        return tool_fail(USAGE, "--%s makes inner joins; leave out --%s", o->overlap ? "overlap" : "left-end",
                         o->asof ? "asof" : "type");
    if (o->left_end && (o->cover || o->points))
        return tool_fail(USAGE, "--%s goes with generated intervals, but --left-end reads them; leave it out",
                         o->cover ? "cover" : "points");
    if (o->counted && o->chunk)
        return tool_fail(USAGE, "--counted counts pairs, --chunk hands them over; give one of them");
    return DONE;
}

static int check_sums(const bench_options *o)
{
    const char *other = o->overlap     ? "overlap"
                        : o->left_end  ? "left-end and --right-end"
                        : o->asof      ? "asof"
                        : o->streamed  ? "streamed"
                        : o->join_type ? "type"
                        : o->unordered ? "unordered"
                                       : NULL;
    return o->sums && other
               ? tool_fail(USAGE, "--sums adds up rows with equal keys, and makes no pairs; leave out --%s",
                           other)
               : DONE;
}

static int time_joins(const bench_run *run, const char *spec, double *seconds, bench_row *row)
{
    int code = DONE;
    for (uint64_t i = 0; i <= run->options->repeat && !code; ++i) {
        kr_join *join = NULL;
        code = make(run, spec, &join, seconds + i);
        if (!code)
            code = look_at(run, join, i, row);
        kr_join_destroy(join);
    }
    return code;
}

int bench_join(const bench_options *options, const bench_data *data, kr_device *device, const char *spec,
               bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const bench_run run = {.options = options, .data = data, .device = device};
    int code = check_options(options);
    if (!code)
        code = check_sums(options);
    if (code)
        return code;
    row->index.info.struct_size = sizeof row->index.info;
    code = bench_overlaps(options) ? bench_overlap_open(options, data)
           : options->streamed     ? bench_streamed_open(data)
           : options->asof         ? bench_asof_open(options, data)
                                   : DONE;
    if (!code)
        code = options->sums                        ? bench_sums(&run, spec, seconds, row)
               : options->counted || options->chunk ? time_chunks(&run, spec, seconds, row)
                                                    : time_joins(&run, spec, seconds, row);
    if (!code)
        row->times = bench_summarize(seconds + 1, options->repeat);
    bench_streamed_close(data);
    bench_overlap_close(data);
    bench_asof_close();
    row->per_run = data->n_probes;
    return code;
}
