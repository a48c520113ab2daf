#include "joins/columns.h"
#include "joins/join.h"
#include "joins/numbers.h"
#include "kinds/choose.h"

#define HELP "join parts of the sides"

/* Joins the keys of both sides. */
static kr_status join_keys(keyed *k, const kr_columns_job *job, const kr_column *left, const kr_column *right,
                           uint32_t used_bits, kr_join *join, kr_error *err)
{
    kr_join_job keys = job->how;
    keys.left = left;
    keys.right = right;
    keys.used_bits = used_bits;
    kr_stopwatch_stop(&k->watch);
    kr_phases_add(&join->phases, &k->watch.phases);
    return kr_join_run(&keys, join, err);
}

/* Columns that take more than 64 bits together: a number for all but the last, and one for the last. */
static kr_status join_numbers(keyed *k, const kr_columns_job *job, kr_join *join, kr_error *err)
{
    numbers ids = {{0}, {0}}, last = {{0}, {0}}, keys = {{0}, {0}};
    kr_status status = numbers_make(k, k->n - 1, &ids, err);
    if (status == KR_OK)
        status = numbers_of(k, k->n - 1, &last, err);
    if (status == KR_OK)
        status = numbers_allocate(k, sizeof(uint64_t), "pairs of numbers", &keys, err);
    if (status == KR_OK) /* row ids end at 0xFFFFFFFD */
        status = numbers_pair_sides(k, &ids, &last, 32, 0xFFFFFFFEu, &keys, err);
    numbers_release(k, &last);
    numbers_release(k, &ids);
    kr_stopwatch_lap(&k->watch, "fold");
    const kr_column left = numbers_column(&keys.left, k->left.n);
    const kr_column right = numbers_column(&keys.right, k->right.n);
    if (status == KR_OK)
        status = join_keys(k, job, &left, &right, 0, join, err);
    numbers_release(k, &keys);
    return status;
}

static kr_status join_columns(keyed *k, const kr_columns_job *job, kr_join *join, kr_error *err)
{
    keys_folded folded = {.bits = 0};
    kr_status status = keyed_bring(k, &k->left, job->left, 0, k->n, "a copy of the left columns", err);
    if (status == KR_OK)
        status = keyed_bring(k, &k->right, job->right, 0, k->n, "a copy of the right columns", err);
    kr_stopwatch_lap(&k->watch, "copy");
    if (status == KR_OK)
        status = keys_fold_sides(k, &folded, err);
    if (status == KR_OK)
        status = folded.bits ? join_keys(k, job, &folded.left, &folded.right, folded.bits, join, err)
                             : join_numbers(k, job, join, err);
    keys_folded_release(k, &folded);
    return status;
}

/* Before any time is spent. */
static kr_status check(keyed *k, const kr_columns_job *job, kr_error *err)
{
    kr_status status = kr_choose(k->device, job->how.spec, &k->spec, NULL, err);
    if (status == KR_OK)
        status = kr_join_check_rows(job->left, job->right, "join parts of it", err);
    return status == KR_OK ? kr_kind_check(k->spec.kind, KR_CAN_POINT, err) : status;
}

kr_status kr_columns_run(const kr_columns_job *job, kr_join *join, kr_error *err)
{
    kr_device *device = job->how.device;
    keyed k = {.device = device, .n = job->n, .n_equal = job->n, .help = HELP, .tracer = "none"};
    kr_peak peak;
    kr_status status = check(&k, job, err);
    if (status != KR_OK)
        return status;
    kr_peak_begin(&peak, device);
    kr_stopwatch_start(&k.watch, device, NULL);
    status = join_columns(&k, job, join, err);
    kr_stopwatch_stop(&k.watch);
    keyed_release(&k);
    join->info.peak_nbytes = kr_peak_end(&peak);
    return status;
}
