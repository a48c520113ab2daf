/* kr_join_*: check the arguments, read the result. */
#include "api/join.h"
#include "api/call.h"
#include "base/util/structs.h"
#include "join/side.h"

#include <stdlib.h>

/* ---- What calls share ------------------------------------------------------------------------- */

static kr_join_options read_any_options(kr_work *w, const kr_join_options *options, kr_join_groups *groups)
{
    kr_join_options given = {.struct_size = sizeof given};
    if (options)
        KR_STEP(w, kr_struct_read(&kr_struct_join_options, options, &given, w->err));
    if (kr_work_goes_on(w) && given.reserved_by)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "kr_join_options.reserved_by is %u: it must be 0",
                           given.reserved_by));
    if (groups)
        *groups = (kr_join_groups){given.left_by, given.right_by, given.n_by};
    else if (kr_work_goes_on(w) && (given.n_by || given.left_by || given.right_by))
        KR_STEP(
            w,
            kr_fail(w->err, KR_ERR_UNSUPPORTED,
                    "kr_join_options.n_by is for kr_join_create_range and kr_join_create_overlap; this call "
                    "takes none: kr_join_create_columns and kr_join_create_asof have arguments for such "
                    "columns"));
    return given;
}

void kr_call_join_check_column(kr_work *w, const kr_column *column, const char *what)
{
    KR_STEP(w, column && kr_strings_are(column->type)
                   ? kr_strings_check(w->device, column, what, NULL, w->err)
                   : kr_column_check(w->device, column, what, NULL, w->err));
}

const char *kr_call_join_advice(const kr_column *left, const kr_column *right)
{
    return kr_strings_are(left->type) || kr_strings_are(right->type)
               ? "give texts on both sides, or their codes in one dictionary (kr_texts_encode)"
               : "convert one to the type of the other";
}

/* A group column of each side. */
static void check_group(kr_work *w, const kr_join_groups *groups, uint32_t j, const uint64_t rows[2])
{
    const kr_column *left = &groups->left[j], *right = &groups->right[j];
    kr_call_join_check_column(w, left, "the left group");
    kr_call_join_check_column(w, right, "the right group");
    if (kr_work_goes_on(w) && !kr_call_join_are_alike(left, right))
        KR_STEP(w, kr_fail(w->err, KR_ERR_TYPE, "group %u is %s on the left and %s on the right: %s", j,
                           kr_type_name(left->type), kr_type_name(right->type),
                           kr_call_join_advice(left, right)));
    KR_STEP(w, kr_column_check_texts("the left group", left->dictionary, "the right group", right->dictionary,
                                     w->err));
    if (kr_work_goes_on(w) && (left->count != rows[0] || right->count != rows[1]))
        KR_STEP(
            w,
            kr_fail(w->err, KR_ERR_ARGUMENT,
                    "group %u has %llu values for %llu left rows, and %llu for %llu right ones: give one for "
                    "each row",
                    j, (unsigned long long)left->count, (unsigned long long)rows[0],
                    (unsigned long long)right->count, (unsigned long long)rows[1]));
}

void kr_call_join_check_groups(kr_work *w, const kr_join_groups *groups, uint64_t left_rows,
                               uint64_t right_rows)
{
    const uint64_t rows[2] = {left_rows, right_rows};
    if (groups->n > KR_GROUPS_MOST)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "%u group columns, but a join takes at most %d; make one of several", groups->n,
                           KR_GROUPS_MOST));
    if (groups->n && (!groups->left || !groups->right))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "n_by is %u, but %s is NULL", groups->n,
                           groups->left ? "right_by" : "left_by"));
    for (uint32_t j = 0; j < groups->n && kr_work_goes_on(w); ++j)
        check_group(w, groups, j, rows);
}

static int is_known(const kr_join_options *options)
{
    return (unsigned)options->type <= KR_JOIN_FULL && (unsigned)options->inverse <= KR_INVERSE_OFF;
}

kr_join_options kr_call_join_read_few_options(kr_work *w, const kr_join_options *options,
                                              kr_join_groups *groups)
{
    kr_join_options given = read_any_options(w, options, groups);
    if (!is_known(&given) || given.unordered > 1 || given.reserved)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_ARGUMENT,
                        "kr_join_options: type %d, inverse %d, unordered %u or reserved %u is unknown; use "
                        "kr_join_type and kr_join_inverse",
                        (int)given.type, (int)given.inverse, given.unordered, given.reserved));
    given.type = given.type ? given.type : KR_JOIN_INNER;
    return given;
}

kr_join *kr_call_join_begin(kr_work *w)
{
    kr_join *made = kr_work_object(w, sizeof *made, "a join");
    if (made)
        made->device = w->device;
    return made;
}

kr_status kr_call_join_end(kr_work *w, kr_join *made, kr_join **join)
{
    const kr_status status = kr_work_end(w);
    if (status == KR_OK)
        *join = made;
    else
        kr_join_destroy(made);
    return status;
}

/* ---- Checks ------------------------------------------------------------------------------------ */

void kr_call_join_check_sides(kr_work *w, const kr_column *left, const kr_column *right, const char *name)
{
    kr_call_join_check_column(w, left, "the left side");
    kr_call_join_check_column(w, right, name);
    if (kr_work_goes_on(w) && !kr_call_join_are_alike(left, right))
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_TYPE, "the left side is %s and %s is %s: %s", kr_type_name(left->type),
                        name, kr_type_name(right->type), kr_call_join_advice(left, right)));
    KR_STEP(w, kr_column_check_texts("the left side", left->dictionary, name, right->dictionary, w->err));
}

/* Bounds of ranges, of which there is one of each. */
static void check_counts(kr_work *w, const kr_column *lower, const kr_column *upper)
{
    if (kr_work_goes_on(w) && lower->count != upper->count)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "%llu lower bounds and %llu upper bounds: give one of each per range",
                           (unsigned long long)lower->count, (unsigned long long)upper->count));
}

static void check_ranges(kr_work *w, const kr_join_job *job)
{
    kr_call_join_check_sides(w, job->left, job->right, "the lower bound");
    kr_call_join_check_sides(w, job->left, job->right_upper, "the upper bound");
    check_counts(w, job->right, job->right_upper);
}

/* What the options say of the join. */
static void read_options(kr_work *w, const kr_join_options *options, kr_join_groups *groups, kr_join_job *job)
{
    const kr_join_options given = read_any_options(w, options, groups);
    if (given.reserved)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "kr_join_options.reserved is %u: it must be 0",
                           given.reserved));
    if (!is_known(&given))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "kr_join_options: type %d or inverse %d is unknown; use kr_join_type and "
                           "kr_join_inverse",
                           (int)given.type, (int)given.inverse));
    if (given.unordered > 1)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "kr_join_options.unordered is %u: it must be 0 or 1",
                           given.unordered));
    job->type = given.type ? given.type : KR_JOIN_INNER;
    job->index_side = given.inverse;
    job->may_merge = given.inverse == KR_INVERSE_AUTO;
    job->unordered = (int)given.unordered;
}

/* ---- Calls that make a join -------------------------------------------------------------------- */

/* The common end of these calls, once the job is checked, unless a step has failed. */
static kr_status create(kr_work *w, const kr_join_job *job, const kr_join_groups *groups, kr_join **join)
{
    kr_join *made = kr_call_join_begin(w);
    if (made)
        kr_join_texts_run(w, job, groups, made);
    return kr_call_join_end(w, made, join);
}

static const kr_join_groups no_groups = {.n = 0};

kr_status kr_join_create(kr_device *device, const char *spec, const kr_column *left, const kr_column *right,
                         const kr_join_options *options, kr_join **join, kr_error *err)
{
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create: device or join is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    kr_join_job job = {.spec = spec, .left = left, .right = right};
    kr_call_join_check_sides(&w, left, right, "the right side");
    read_options(&w, options, NULL, &job);
    return create(&w, &job, &no_groups, join);
}

kr_status kr_join_create_range(kr_device *device, const char *spec, const kr_column *left,
                               const kr_column *right_lower, const kr_column *right_upper,
                               const kr_join_options *options, kr_join **join, kr_error *err)
{
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_range: device or join is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    kr_join_job job = {.spec = spec, .left = left, .right = right_lower, .right_upper = right_upper};
    kr_join_groups groups = {.n = 0};
    check_ranges(&w, &job);
    read_options(&w, options, &groups, &job);
    if (kr_work_goes_on(&w))
        kr_call_join_check_groups(&w, &groups, left->count, right_lower->count);
    return create(&w, &job, &groups, join);
}

static void check_columns(kr_work *w, const kr_column *left, const kr_column *right, uint32_t n)
{
    if (!n || n > KR_BY_MOST)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT, "%u columns, but a join takes 1 to %d of each side", n,
                           KR_BY_MOST));
    if (!left || !right)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "kr_join_create_columns: %s is NULL",
                           left ? "right" : "left"));
    for (uint32_t j = 0; j < n && kr_work_goes_on(w); ++j) {
        kr_call_join_check_sides(w, &left[j], &right[j], "the right side");
        if (left[j].count != left[0].count || right[j].count != right[0].count)
            KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                               "column %u has %llu and %llu rows, but column 0 has %llu and %llu: give "
                               "columns of one table for each side",
                               j, (unsigned long long)left[j].count, (unsigned long long)right[j].count,
                               (unsigned long long)left[0].count, (unsigned long long)right[0].count));
    }
}

kr_status kr_join_create_columns(kr_device *device, const char *spec, const kr_column *left,
                                 const kr_column *right, uint32_t n_columns, const kr_join_options *options,
                                 kr_join **join, kr_error *err)
{
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_columns: device or join is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    kr_columns_job job = {
        .how = {.spec = spec, .left = left, .right = right}, .left = left, .right = right, .n = n_columns};
    check_columns(&w, left, right, n_columns);
    read_options(&w, options, NULL, &job.how);
    if (n_columns == 1)
        return create(&w, &job.how, &no_groups, join);
    kr_join *made = kr_call_join_begin(&w);
    if (made)
        kr_join_texts_columns(&w, &job, made);
    return kr_call_join_end(&w, made, join);
}

/* Of left values as numbers or codes. */
static void check_codes(kr_work *w, const kr_index *right, const kr_column *left)
{
    if (left->type != right->info.type)
        KR_STEP(w, kr_fail(w->err, KR_ERR_TYPE, "the left side is %s, but the index holds %s: %s",
                           kr_type_name(left->type), kr_type_name(kr_index_type(right)),
                           kr_strings_are(left->type) || right->texts
                               ? "give codes of its dictionary, or texts to an index of texts"
                               : "convert one to the type of the other"));
    KR_STEP(w,
            kr_column_check_texts("the left side", left->dictionary, "the index", right->dictionary, w->err));
}

/* What an index that exists cannot do. */
static void check_right_index(kr_work *w, const kr_index *right, const kr_column *left,
                              const kr_join_job *job)
{
    if (kr_work_goes_on(w) && !(right->texts && kr_strings_are(left->type)))
        check_codes(w, right, left);
    if (job->index_side == KR_INVERSE_ON)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "the right side is an index already: leave inverse at auto, or use "
                           "kr_join_create"));
    if (kr_join_keeps_right(job->type))
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "an index does not list the rows that no probe finds: use kr_join_create for "
                           "right and full joins"));
}

kr_status kr_join_create_prepared(kr_index *right, const kr_column *left, const kr_column *left_upper,
                                  const kr_join_options *options, kr_join **join, kr_error *err)
{
    if (!right || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_prepared: right or join is NULL");
    kr_work w = kr_work_on(right->device, NULL, err);
    kr_join_job job = {.left = left, .left_upper = left_upper, .right_index = right};
    KR_STEP(&w, kr_call_check_single(right, "kr_index_lookup_columns, or a join of columns", err));
    kr_call_join_check_column(&w, left, "the left side");
    if (left_upper) {
        kr_call_join_check_sides(&w, left, left_upper, "the upper bound");
        check_counts(&w, left, left_upper);
    }
    read_options(&w, options, NULL, &job);
    check_right_index(&w, right, left, &job);
    return create(&w, &job, &no_groups, join);
}

/* ---- Other calls ------------------------------------------------------------------------------- */

static void check_chunks(kr_work *w, const kr_join_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk)
{
    if (job->right_upper && job->index_side == KR_INVERSE_OFF)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "a range join in chunks indexes its left side; leave inverse at auto"));
    if (chunk && cap_nbytes < 2 * sizeof(uint32_t))
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT, "a cap of %llu bytes holds no pair, which takes 8; raise it",
                           (unsigned long long)cap_nbytes));
}

kr_status kr_join_chunks(kr_device *device, const char *spec, const kr_column *left, const kr_column *right,
                         const kr_column *right_upper, const kr_join_options *options, uint64_t cap_nbytes,
                         kr_pairs_chunk chunk, void *ctx, uint64_t *pairs, kr_error *err)
{
    if (!device || (!chunk && !pairs))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_chunks: %s NULL",
                       device ? "chunk and pairs are both" : "device is");
    kr_work w = kr_work_on(device, NULL, err);
    kr_join_job job = {.spec = spec, .left = left, .right = right, .right_upper = right_upper};
    if (right_upper)
        check_ranges(&w, &job);
    else
        kr_call_join_check_sides(&w, left, right, "the right side");
    read_options(&w, options, NULL, &job);
    check_chunks(&w, &job, cap_nbytes, chunk);
    kr_column codes[3];
    if (kr_work_goes_on(&w))
        kr_join_texts_encode(&w, &job, codes);
    const uint64_t found = kr_work_goes_on(&w) ? kr_join_chunks_run(&w, &job, cap_nbytes, chunk, ctx) : 0;
    if (pairs && kr_work_goes_on(&w))
        *pairs = found;
    return kr_work_end(&w);
}

kr_status kr_join_explain(kr_device *device, const char *spec, uint64_t left_rows, uint64_t right_rows,
                          const kr_join_options *options, kr_join_info *info, kr_error *err)
{
    const kr_column left = {.count = left_rows}, right = {.count = right_rows};
    kr_join_job job = {.spec = spec, .left = &left, .right = &right};
    kr_join_info found = {.struct_size = sizeof found};
    if (!device || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_explain: device or info is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    KR_STEP(&w, kr_struct_check(&kr_struct_join_info, info, err));
    read_options(&w, options, NULL, &job);
    kr_join_decide(&w, &job, &found);
    if (kr_work_goes_on(&w))
        kr_struct_write(&kr_struct_join_info, &found, info);
    return kr_work_end(&w);
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
    kr_work w = kr_work_on(join->device, NULL, err);
    kr_work_copy(&w, left_rows, (const uint32_t *)join->left.data + first, nbytes);
    if (join->right.data)
        kr_work_copy(&w, right_rows, (const uint32_t *)join->right.data + first, nbytes);
    kr_work_sync(&w);
    return kr_work_end(&w);
}

void kr_join_destroy(kr_join *join)
{
    if (!join)
        return;
    kr_buffer_release(join->device, &join->right, NULL);
    kr_buffer_release(join->device, &join->left, NULL);
    free(join);
}
