#include "join/sums.h"
#include "index/results/reduce.h"
#include "index/sorted/sorted.h"
#include "join/side.h"

#include <string.h>

/* The values that are added up; none for COUNT and SUM_ROWS. */
static kr_column bring_values(kr_work *w, const kr_sums_job *job)
{
    return job->sink->values ? kr_column_bring(w, job->sink->values, "a copy of the values")
                             : (kr_column){.count = 0};
}

/* The right side is indexed: left rows are looked up. */
static void sum_by_lookups(kr_work *w, const kr_sums_job *job, const kr_index *index)
{
    const kr_column *left = job->how.left, values = bring_values(w, job);
    const kr_column *given = job->sink->values ? &values : NULL;
    kr_query query = {.n = 0};
    kr_query_make(w, index, left, NULL, &query);
    if (!query.n)
        return;
    if (job->reaches && kr_column_is_reached(w->device, left))
        kr_query_answer(w, &query, job->sink, given);
    else
        kr_staged_answer(w, &query, left, NULL, job->sink, given);
}

/* The matches of all entries, which are probes in the order of their codes. */
static kr_matches find_matches(kr_work *w, const kr_index *index, const kr_sorted *right)
{
    const int wide = kr_type_key_bits(index->info.type) == 64;
    const kr_column codes = {.type = wide ? KR_U64 : KR_U32, .count = right->n, .data = right->keys.data};
    kr_query query = {.n = 0};
    kr_query_make(w, index, &codes, NULL, &query);
    query.plan = kr_order_plan_in_order();
    const kr_matches matches = kr_matches_read(w, &query);
    kr_work_lap(w, "search");
    return matches;
}

/* Each distinct right key is looked up, and its total goes to the left rows that match. */
static void add_runs(kr_work *w, const kr_sums_job *job, const kr_index *index, const kr_sorted *right,
                     const kr_column *values, uint64_t *out)
{
    const kr_matches matches = find_matches(w, index, right);
    const int counts = job->sink->result == KR_RESULT_COUNT;
    if (!kr_work_goes_on(w))
        return;
    runs_params params = {
        .of = kr_reduce_of(&matches.rows, counts ? KR_RESULT_SUM_ROWS : job->sink->result,
                           job->sink->values ? values : NULL)
                  .params,
        .keys = right->keys.data,
        .rows = right->rows.data,
        .n = right->n,
        .key_bits = kr_type_key_bits(index->info.type),
        .counts = (uint32_t)counts,
    };
    params.of.matches = matches.matches;
    params.of.out = out;
    kr_work_run(w, matches.rows.walk->sum_runs, &params, right->n);
}

/* The left side is indexed (Wu, "Fast Database Join on Ray-tracing Core Equipped GPU", 4.3 and Algorithm 6).
 */
static void sum_by_runs(kr_work *w, const kr_sums_job *job, const kr_index *index)
{
    const uint64_t nbytes = job->how.left->count * sizeof(uint64_t);
    const kr_column values = bring_values(w, job),
                    right = kr_column_bring(w, job->how.right, "a copy of the right side");
    const kr_build build = {.spec = &index->spec, .keys = right};
    const kr_sorted sorted = kr_sorted_build(w, &build);
    kr_work_lap(w, "sort");
    uint64_t *out = job->reaches ? job->sink->out : kr_work_take(w, nbytes, "sums of left rows");
    kr_work_fill(w, out, 0, nbytes);
    if (sorted.n)
        add_runs(w, job, index, &sorted, &values, out);
    if (!job->reaches)
        kr_work_copy(w, job->sink->out, out, nbytes);
    kr_work_lap(w, "sums");
}

static void run_indexed(kr_work *w, const kr_sums_job *job, const kr_join_side *side, kr_join_info *info)
{
    kr_join_check_rows(w, job->how.left, job->how.right, "join parts of it");
    kr_index *index = kr_join_build(w, &job->how, side, info);
    kr_work_lap(w, "build");
    if (kr_work_goes_on(w)) {
        if (side->is_left)
            sum_by_runs(w, job, index);
        else
            sum_by_lookups(w, job, index);
        kr_work_finish(w);
        memcpy(info->tracer, index->info.tracer, sizeof info->tracer);
        info->footprint_nbytes = index->info.footprint_nbytes;
    }
    kr_index_release(index, w->stream);
}

void kr_join_sums_run(kr_work *w, const kr_sums_job *job, kr_join_info *info)
{
    kr_peak peak;
    kr_join_side side = kr_join_decide(w, &job->how, info);
    if (!kr_work_goes_on(w))
        return;
    kr_work_peak_begin(w, &peak);
    kr_join_look(w, &job->how, 0, &side, info);
    run_indexed(w, job, &side, info);
    info->peak_nbytes = kr_work_peak_end(w, &peak);
}
