/* kr_join_create_overlap, kr_join_overlap_chunks: check the arguments. */
#include "joins/overlap.h"
#include "util/structs.h"

static kr_status check_column(const kr_overlap_job *job, const kr_column *column, const char *what,
                              kr_error *err)
{
    const kr_column *first = job->left[0];
    const kr_status status = kr_column_check(job->device, column, what, NULL, err);
    if (status == KR_OK && column->type != first->type)
        return kr_fail(err, KR_ERR_TYPE,
                       "the left starts are %s and %s are %s: convert one to the type of the other",
                       kr_type_name(first->type), what, kr_type_name(column->type));
    return status == KR_OK
               ? kr_column_check_texts("the left starts", first->dictionary, what, column->dictionary, err)
               : status;
}

static kr_status check_side(const kr_overlap_job *job, const kr_column *const side[2], const char *starts,
                            const char *ends, kr_error *err)
{
    kr_status status = check_column(job, side[0], starts, err);
    if (status == KR_OK)
        status = check_column(job, side[1], ends, err);
    if (status == KR_OK && side[0]->count != side[1]->count)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s have %llu rows, %s %llu: give one of each per interval",
                       starts, (unsigned long long)side[0]->count, ends, (unsigned long long)side[1]->count);
    return status;
}

static kr_status check_job(kr_overlap_job *job, kr_interval_ends ends, kr_error *err)
{
    if ((unsigned)ends > KR_ENDS_OPEN)
        return kr_fail(err, KR_ERR_ARGUMENT, "%d says nothing of ends; use kr_interval_ends", (int)ends);
    job->open = ends == KR_ENDS_OPEN;
    kr_status status = kr_column_check(job->device, job->left[0], "the left starts", NULL, err);
    if (status == KR_OK)
        status = check_side(job, job->left, "the left starts", "the left ends", err);
    return status == KR_OK ? check_side(job, job->right, "the right starts", "the right ends", err) : status;
}

static kr_status check_options(const kr_join_options *options, kr_error *err)
{
    if ((unsigned)options->type > KR_JOIN_FULL || (unsigned)options->inverse > KR_INVERSE_OFF ||
        options->unordered > 1 || options->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_join_options: type %d, inverse %d, unordered %u or reserved %u is unknown; use "
                       "kr_join_type and kr_join_inverse",
                       (int)options->type, (int)options->inverse, options->unordered, options->reserved);
    if (options->type == KR_JOIN_RIGHT || options->type == KR_JOIN_FULL)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "a join of intervals has no right or full type: exchange the sides for a left join, "
                       "or take an anti join "
                       "of the exchanged sides");
    if (options->inverse != KR_INVERSE_AUTO)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "a join of intervals indexes both sides; leave inverse at auto");
    return KR_OK;
}

kr_status kr_join_create_overlap(kr_device *device, const char *spec, const kr_column *left_start,
                                 const kr_column *left_end, const kr_column *right_start,
                                 const kr_column *right_end, kr_interval_ends ends,
                                 const kr_join_options *options, kr_join **join, kr_error *err)
{
    kr_overlap_job job = {device,        spec, {left_start, left_end}, {right_start, right_end}, 0,
                          KR_JOIN_INNER, 0};
    kr_join_options given = {.struct_size = sizeof given};
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_overlap: device or join is NULL");
    kr_status status = check_job(&job, ends, err);
    if (status == KR_OK && options)
        status = kr_struct_read(&kr_struct_join_options, options, &given, err);
    if (status == KR_OK)
        status = check_options(&given, err);
    if (status != KR_OK)
        return status;
    kr_join *made = kr_host_calloc(1, sizeof *made, "a join", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->device = device;
    job.type = given.type ? given.type : KR_JOIN_INNER;
    job.unordered = (int)given.unordered;
    status = kr_overlap_run(&job, made, err);
    if (status == KR_OK)
        *join = made;
    else
        kr_join_destroy(made);
    return status;
}

kr_status kr_join_overlap_chunks(kr_device *device, const char *spec, const kr_column *left_start,
                                 const kr_column *left_end, const kr_column *right_start,
                                 const kr_column *right_end, kr_interval_ends ends, uint64_t cap_nbytes,
                                 kr_pairs_chunk chunk, void *ctx, uint64_t *pairs, kr_error *err)
{
    kr_overlap_job job = {device,        spec, {left_start, left_end}, {right_start, right_end}, 0,
                          KR_JOIN_INNER, 1};
    uint64_t found = 0;
    if (!device || (!chunk && !pairs))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_overlap_chunks: %s",
                       device ? "chunk and pairs are NULL; give one of them" : "device is NULL");
    kr_status status = check_job(&job, ends, err);
    if (status == KR_OK && chunk && cap_nbytes < 8)
        return kr_fail(err, KR_ERR_LIMIT, "a pair takes 8 bytes, but the cap is %llu; raise it",
                       (unsigned long long)cap_nbytes);
    if (status == KR_OK)
        status = kr_overlap_chunks(&job, cap_nbytes, chunk, ctx, &found, err);
    if (status == KR_OK && pairs)
        *pairs = found;
    return status;
}
