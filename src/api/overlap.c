/* kr_join_create_overlap, kr_join_overlap_chunks: check the arguments. */
#include "api/join.h"

static void check_column(kr_work *w, const kr_overlap_job *job, const kr_column *column, const char *what)
{
    const kr_column *first = job->left[0];
    kr_call_join_check_column(w, column, what);
    if (kr_work_goes_on(w) && !kr_call_join_are_alike(first, column))
        KR_STEP(w, kr_fail(w->err, KR_ERR_TYPE, "the left starts are %s and %s are %s: %s",
                           kr_type_name(first->type), what, kr_type_name(column->type),
                           kr_call_join_advice(first, column)));
    KR_STEP(w, kr_column_check_texts("the left starts", first->dictionary, what, column->dictionary, w->err));
}

static void check_side(kr_work *w, const kr_overlap_job *job, const kr_column *const side[2],
                       const char *starts, const char *ends)
{
    check_column(w, job, side[0], starts);
    check_column(w, job, side[1], ends);
    if (kr_work_goes_on(w) && side[0]->count != side[1]->count)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "%s have %llu rows, %s %llu: give one of each per interval", starts,
                           (unsigned long long)side[0]->count, ends, (unsigned long long)side[1]->count));
}

static void check_job(kr_work *w, kr_overlap_job *job, kr_interval_ends ends)
{
    if ((unsigned)ends > KR_ENDS_OPEN)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_ARGUMENT, "%d says nothing of ends; use kr_interval_ends", (int)ends));
    job->open = ends == KR_ENDS_OPEN;
    kr_call_join_check_column(w, job->left[0], "the left starts");
    check_side(w, job, job->left, "the left starts", "the left ends");
    check_side(w, job, job->right, "the right starts", "the right ends");
}

static void read_options(kr_work *w, const kr_join_options *options, kr_join_groups *groups,
                         kr_overlap_job *job)
{
    const kr_join_options given = kr_call_join_read_few_options(w, options, groups);
    if (kr_join_keeps_right(given.type))
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "a join of intervals has no right or full type: exchange the sides for a left "
                           "join, or take an anti join of the exchanged sides"));
    if (given.inverse != KR_INVERSE_AUTO)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "a join of intervals indexes both sides; leave inverse at auto"));
    job->type = given.type;
    job->unordered = (int)given.unordered;
}

kr_status kr_join_create_overlap(kr_device *device, const char *spec, const kr_column *left_start,
                                 const kr_column *left_end, const kr_column *right_start,
                                 const kr_column *right_end, kr_interval_ends ends,
                                 const kr_join_options *options, kr_join **join, kr_error *err)
{
    kr_overlap_job job = {.spec = spec, .left = {left_start, left_end}, .right = {right_start, right_end}};
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_overlap: device or join is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    kr_join_groups groups = {.n = 0};
    check_job(&w, &job, ends);
    read_options(&w, options, &groups, &job);
    if (kr_work_goes_on(&w))
        kr_call_join_check_groups(&w, &groups, left_start->count, right_start->count);
    kr_join *made = kr_call_join_begin(&w);
    if (made)
        kr_join_texts_overlap(&w, &job, &groups, made);
    return kr_call_join_end(&w, made, join);
}

kr_status kr_join_overlap_chunks(kr_device *device, const char *spec, const kr_column *left_start,
                                 const kr_column *left_end, const kr_column *right_start,
                                 const kr_column *right_end, kr_interval_ends ends, uint64_t cap_nbytes,
                                 kr_pairs_chunk chunk, void *ctx, uint64_t *pairs, kr_error *err)
{
    kr_overlap_job job = {.spec = spec,
                          .left = {left_start, left_end},
                          .right = {right_start, right_end},
                          .type = KR_JOIN_INNER,
                          .unordered = 1};
    if (!device || (!chunk && !pairs))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_overlap_chunks: %s",
                       device ? "chunk and pairs are NULL; give one of them" : "device is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    check_job(&w, &job, ends);
    if (chunk && cap_nbytes < 8)
        KR_STEP(&w, kr_fail(err, KR_ERR_LIMIT, "a pair takes 8 bytes, but the cap is %llu; raise it",
                            (unsigned long long)cap_nbytes));
    kr_column codes[4];
    if (kr_work_goes_on(&w))
        kr_join_texts_encode_intervals(&w, &job, codes);
    if (!kr_work_goes_on(&w))
        return kr_work_end(&w);
    const uint64_t found = kr_overlap_chunks(&w, &job, cap_nbytes, chunk, ctx);
    if (pairs && kr_work_goes_on(&w))
        *pairs = found;
    return kr_work_end(&w);
}
