/* kr_join_create_asof: checks the arguments. */
#include "joins/asof.h"
#include "lookup/nearest.h"
#include "util/structs.h"

static kr_status check_options(const kr_join_options *options, kr_error *err)
{
    if ((unsigned)options->type > KR_JOIN_FULL || (unsigned)options->inverse > KR_INVERSE_OFF ||
        options->unordered > 1 || options->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_join_options: type %d, inverse %d, unordered %u or reserved %u is unknown; use "
                       "kr_join_type and kr_join_inverse",
                       (int)options->type, (int)options->inverse, options->unordered, options->reserved);
    if (options->type == KR_JOIN_RIGHT || options->type == KR_JOIN_FULL)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "an as-of join has no right or full type: it answers each left row with one right row at "
            "most; take inner, left, semi or anti");
    if (options->inverse == KR_INVERSE_ON)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "an as-of join always indexes its right side: leave inverse at auto");
    return KR_OK;
}

/* A column of each side. */
static kr_status check_pair(kr_device *device, const kr_column *left, const kr_column *right,
                            const char *const names[2], const uint64_t counts[2], kr_error *err)
{
    kr_status status = kr_column_check(device, left, names[0], NULL, err);
    if (status == KR_OK)
        status = kr_column_check(device, right, names[1], NULL, err);
    if (status == KR_OK && left->type != right->type)
        return kr_fail(err, KR_ERR_TYPE, "%s is %s and %s is %s: convert one to the type of the other",
                       names[0], kr_type_name(left->type), names[1], kr_type_name(right->type));
    if (status == KR_OK)
        status = kr_column_check_texts(names[0], left->dictionary, names[1], right->dictionary, err);
    if (status == KR_OK && counts && (left->count != counts[0] || right->count != counts[1]))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%s has %llu rows for %llu times, %s %llu for %llu: give one for each time", names[0],
                       (unsigned long long)left->count, (unsigned long long)counts[0], names[1],
                       (unsigned long long)right->count, (unsigned long long)counts[1]);
    return status;
}

static kr_status check_columns(const kr_asof_job *job, kr_error *err)
{
    static const char *const times[2] = {"the left time", "the right time"};
    static const char *const groups[2] = {"the left group", "the right group"};
    kr_status status = check_pair(job->device, job->left, job->right, times, NULL, err);
    if (status == KR_OK && job->n_by > KR_BY_MOST)
        return kr_fail(err, KR_ERR_LIMIT,
                       "%u group columns, but an as-of join takes at most %d; join them to one", job->n_by,
                       KR_BY_MOST);
    if (status == KR_OK && job->n_by && (!job->left_by || !job->right_by))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_asof: n_by is %u, but %s is NULL", job->n_by,
                       job->left_by ? "right_by" : "left_by");
    for (uint32_t j = 0; j < job->n_by && status == KR_OK; ++j) {
        const uint64_t counts[2] = {job->left->count, job->right->count};
        status = check_pair(job->device, &job->left_by[j], &job->right_by[j], groups, counts, err);
    }
    return status;
}

kr_status kr_join_create_asof(kr_device *device, const char *spec, const kr_column *left,
                              const kr_column *right, const kr_column *left_by, const kr_column *right_by,
                              uint32_t n_by, const kr_nearest_options *nearest,
                              const kr_join_options *options, kr_join **join, kr_error *err)
{
    kr_join_options given = {.struct_size = sizeof given};
    kr_asof_job job = {.device = device,
                       .spec = spec,
                       .left = left,
                       .right = right,
                       .left_by = left_by,
                       .right_by = right_by,
                       .n_by = n_by};
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_asof: device or join is NULL");
    kr_status status = check_columns(&job, err);
    if (status == KR_OK && options)
        status = kr_struct_read(&kr_struct_join_options, options, &given, err);
    if (status == KR_OK)
        status = check_options(&given, err);
    if (status == KR_OK)
        status = kr_nearby_make(left->type, nearest, &job.near, err);
    if (status != KR_OK)
        return status;
    kr_join *made = kr_host_calloc(1, sizeof *made, "a join", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->device = device;
    job.type = given.type ? given.type : KR_JOIN_INNER;
    status = kr_asof_run(&job, made, err);
    if (status == KR_OK)
        *join = made;
    else
        kr_join_destroy(made);
    return status;
}
