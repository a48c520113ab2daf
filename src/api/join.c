/* kr_join_*: check the arguments, decide which side is indexed. */
#include "joins/join.h"
#include "joins/columns.h"
#include "util/structs.h"

#include <stdlib.h>

static kr_status check_options(const kr_join_options *options, kr_error *err)
{
    if (options->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_options.reserved is %u: it must be 0",
                       options->reserved);
    if ((unsigned)options->type > KR_JOIN_FULL || (unsigned)options->inverse > KR_INVERSE_OFF)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_join_options: type %d or inverse %d is unknown; use kr_join_type and "
                       "kr_join_inverse",
                       (int)options->type, (int)options->inverse);
    if (options->unordered > 1)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_options.unordered is %u: it must be 0 or 1",
                       options->unordered);
    return KR_OK;
}

static kr_status check_sides(kr_device *device, const kr_column *left, const kr_column *right,
                             const char *name, kr_error *err)
{
    kr_status status = kr_column_check(device, left, "the left side", NULL, err);
    if (status == KR_OK)
        status = kr_column_check(device, right, name, NULL, err);
    if (status == KR_OK && left->type != right->type)
        return kr_fail(err, KR_ERR_TYPE,
                       "the left side is %s and %s is %s: convert one to the type of the other",
                       kr_type_name(left->type), name, kr_type_name(right->type));
    return status == KR_OK
               ? kr_column_check_texts("the left side", left->dictionary, name, right->dictionary, err)
               : status;
}

/* `columns` NULL: the sides are those of the job. */
static kr_status create(const kr_join_job *job, const kr_columns_job *columns, kr_join **join, kr_error *err)
{
    kr_join *made = kr_host_calloc(1, sizeof *made, "a join", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->device = job->device;
    const kr_status status = columns ? kr_columns_run(columns, made, err) : kr_join_run(job, made, err);
    if (status == KR_OK)
        *join = made;
    else
        kr_join_destroy(made);
    return status;
}

/* What the options say of the join. */
static kr_status read_options(const kr_join_options *options, kr_join_job *job, kr_error *err)
{
    kr_join_options given = {.struct_size = sizeof given};
    kr_status status = options ? kr_struct_read(&kr_struct_join_options, options, &given, err) : KR_OK;
    if (status == KR_OK)
        status = check_options(&given, err);
    if (status != KR_OK)
        return status;
    job->type = given.type ? given.type : KR_JOIN_INNER;
    job->index_side = given.inverse;
    job->may_merge = given.inverse == KR_INVERSE_AUTO;
    job->unordered = (int)given.unordered;
    return KR_OK;
}

/* The common end of both calls, once the sides are checked. `job` holds device, spec and sides. */
static kr_status create_with(kr_join_job *job, const kr_join_options *options, kr_join **join, kr_error *err)
{
    const kr_status status = read_options(options, job, err);
    return status == KR_OK ? create(job, NULL, join, err) : status;
}

kr_status kr_join_create(kr_device *device, const char *spec, const kr_column *left, const kr_column *right,
                         const kr_join_options *options, kr_join **join, kr_error *err)
{
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create: device or join is NULL");
    const kr_status status = check_sides(device, left, right, "the right side", err);
    kr_join_job job = {.device = device, .spec = spec, .left = left, .right = right};
    return status == KR_OK ? create_with(&job, options, join, err) : status;
}

static kr_status check_ranges(const kr_join_job *job, kr_error *err)
{
    kr_status status = check_sides(job->device, job->left, job->right, "the lower bound", err);
    if (status == KR_OK)
        status = check_sides(job->device, job->left, job->right_upper, "the upper bound", err);
    if (status == KR_OK && job->right->count != job->right_upper->count)
        status = kr_fail(err, KR_ERR_ARGUMENT,
                         "%llu lower bounds and %llu upper bounds: give one of each per range",
                         (unsigned long long)job->right->count, (unsigned long long)job->right_upper->count);
    return status;
}

kr_status kr_join_create_range(kr_device *device, const char *spec, const kr_column *left,
                               const kr_column *right_lower, const kr_column *right_upper,
                               const kr_join_options *options, kr_join **join, kr_error *err)
{
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_range: device or join is NULL");
    kr_join_job job = {
        .device = device, .spec = spec, .left = left, .right = right_lower, .right_upper = right_upper};
    const kr_status status = check_ranges(&job, err);
    return status == KR_OK ? create_with(&job, options, join, err) : status;
}

static kr_status check_columns(kr_device *device, const kr_column *left, const kr_column *right, uint32_t n,
                               kr_error *err)
{
    kr_status status = KR_OK;
    if (!n || n > KR_BY_MOST)
        return kr_fail(err, KR_ERR_LIMIT, "%u columns, but a join takes 1 to %d of each side", n, KR_BY_MOST);
    if (!left || !right)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_columns: %s is NULL", left ? "right" : "left");
    for (uint32_t j = 0; j < n && status == KR_OK; ++j) {
        status = check_sides(device, &left[j], &right[j], "the right side", err);
        if (status == KR_OK && (left[j].count != left[0].count || right[j].count != right[0].count))
            status =
                kr_fail(err, KR_ERR_ARGUMENT,
                        "column %u has %llu and %llu rows, but column 0 has %llu and %llu: give columns of "
                        "one table for each side",
                        j, (unsigned long long)left[j].count, (unsigned long long)right[j].count,
                        (unsigned long long)left[0].count, (unsigned long long)right[0].count);
    }
    return status;
}

kr_status kr_join_create_columns(kr_device *device, const char *spec, const kr_column *left,
                                 const kr_column *right, uint32_t n_columns, const kr_join_options *options,
                                 kr_join **join, kr_error *err)
{
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_columns: device or join is NULL");
    kr_columns_job job = {.how = {.device = device, .spec = spec, .left = left, .right = right},
                          .left = left,
                          .right = right,
                          .n = n_columns};
    kr_status status = check_columns(device, left, right, n_columns, err);
    if (status == KR_OK)
        status = read_options(options, &job.how, err);
    return status == KR_OK ? create(&job.how, n_columns > 1 ? &job : NULL, join, err) : status;
}

kr_status kr_join_chunks(kr_device *device, const char *spec, const kr_column *left, const kr_column *right,
                         const kr_column *right_upper, const kr_join_options *options, uint64_t cap_nbytes,
                         kr_pairs_chunk chunk, void *ctx, uint64_t *pairs, kr_error *err)
{
    if (!device || (!chunk && !pairs))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_chunks: %s NULL",
                       device ? "chunk and pairs are both" : "device is");
    kr_join_job job = {
        .device = device, .spec = spec, .left = left, .right = right, .right_upper = right_upper};
    kr_status status =
        right_upper ? check_ranges(&job, err) : check_sides(device, left, right, "the right side", err);
    if (status == KR_OK)
        status = read_options(options, &job, err);
    if (status == KR_OK && right_upper && job.index_side == KR_INVERSE_OFF)
        status = kr_fail(err, KR_ERR_UNSUPPORTED,
                         "a range join in chunks indexes its left side; leave inverse at auto");
    if (status == KR_OK && chunk && cap_nbytes < 2 * sizeof(uint32_t))
        status = kr_fail(err, KR_ERR_LIMIT, "a cap of %llu bytes holds no pair, which takes 8; raise it",
                         (unsigned long long)cap_nbytes);
    return status == KR_OK ? kr_join_chunks_run(&job, cap_nbytes, chunk, ctx, pairs, err) : status;
}

/* What an index that exists cannot do. */
static kr_status check_right_index(const kr_index *right, const kr_column *left, const kr_join_job *job,
                                   kr_error *err)
{
    if (left->type != right->info.type)
        return kr_fail(err, KR_ERR_TYPE,
                       "the left side is %s, but the index holds %s: convert one to the type of the other",
                       kr_type_name(left->type), kr_type_name(right->info.type));
    const kr_status status =
        kr_column_check_texts("the left side", left->dictionary, "the index", right->dictionary, err);
    if (status != KR_OK)
        return status;
    if (job->index_side == KR_INVERSE_ON)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "the right side is an index already: leave inverse at auto, or use kr_join_create");
    if (job->type == KR_JOIN_RIGHT || job->type == KR_JOIN_FULL)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "an index does not list the rows that no probe finds: use kr_join_create for right and "
            "full joins");
    return KR_OK;
}

kr_status kr_join_create_prepared(kr_index *right, const kr_column *left, const kr_column *left_upper,
                                  const kr_join_options *options, kr_join **join, kr_error *err)
{
    if (!right || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_prepared: right or join is NULL");
    kr_join_job job = {.device = right->device, .left = left, .left_upper = left_upper, .right_index = right};
    kr_status status = kr_column_check(job.device, left, "the left side", NULL, err);
    if (status == KR_OK && left_upper)
        status = check_sides(job.device, left, left_upper, "the upper bound", err);
    if (status == KR_OK && left_upper && left->count != left_upper->count)
        status = kr_fail(err, KR_ERR_ARGUMENT,
                         "%llu lower bounds and %llu upper bounds: give one of each per range",
                         (unsigned long long)left->count, (unsigned long long)left_upper->count);
    if (status == KR_OK)
        status = read_options(options, &job, err);
    if (status == KR_OK)
        status = check_right_index(right, left, &job, err);
    return status == KR_OK ? create(&job, NULL, join, err) : status;
}

kr_status kr_join_explain(kr_device *device, const char *spec, uint64_t left_rows, uint64_t right_rows,
                          const kr_join_options *options, kr_join_info *info, kr_error *err)
{
    const kr_column left = {.count = left_rows}, right = {.count = right_rows};
    kr_join_job job = {.device = device, .spec = spec, .left = &left, .right = &right};
    kr_join_info found = {.struct_size = sizeof found};
    kr_spec chosen;
    int indexes_left;
    if (!device || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_explain: device or info is NULL");
    kr_status status = kr_struct_check(&kr_struct_join_info, info, err);
    if (status == KR_OK)
        status = read_options(options, &job, err);
    if (status == KR_OK)
        status = kr_join_decide(&job, &chosen, &indexes_left, &found, err);
    if (status == KR_OK)
        kr_struct_write(&kr_struct_join_info, &found, info);
    return status;
}

kr_status kr_join_query(const kr_join *join, kr_join_info *info, kr_error *err)
{
    if (!join || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_query: join or info is NULL");
    const kr_status status = kr_struct_check(&kr_struct_join_info, info, err);
    if (status == KR_OK)
        kr_struct_write(&kr_struct_join_info, &join->info, info);
    return status;
}

kr_status kr_join_read(kr_join *join, uint64_t first, uint64_t count, uint32_t *left_rows,
                       uint32_t *right_rows, kr_error *err)
{
    if (!join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_read: join is NULL");
    if (first > join->info.pairs || count > join->info.pairs - first)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_join_read: rows %llu .. %llu, but the join has %llu; see kr_join_query",
                       (unsigned long long)first, (unsigned long long)(first + count),
                       (unsigned long long)join->info.pairs);
    if (count && (!left_rows || (join->right.data && !right_rows)))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_read: %s is NULL",
                       left_rows ? "right_rows" : "left_rows");
    if ((uintptr_t)left_rows % sizeof(uint32_t) || (uintptr_t)right_rows % sizeof(uint32_t))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_read: %s is not aligned to 4 bytes",
                       (uintptr_t)left_rows % sizeof(uint32_t) ? "left_rows" : "right_rows");
    const uint64_t nbytes = count * sizeof(uint32_t);
    kr_status status =
        kr_device_copy(join->device, left_rows, (uint32_t *)join->left.data + first, nbytes, NULL, err);
    if (status == KR_OK && join->right.data)
        status =
            kr_device_copy(join->device, right_rows, (uint32_t *)join->right.data + first, nbytes, NULL, err);
    return status == KR_OK ? kr_device_sync(join->device, NULL, err) : status;
}

void kr_join_destroy(kr_join *join)
{
    if (!join)
        return;
    kr_buffer_release(join->device, &join->right, NULL);
    kr_buffer_release(join->device, &join->left, NULL);
    free(join);
}
