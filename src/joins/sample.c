#include "joins/sample.h"
#include "joins/sample_body.h"

#include <stdlib.h>

/* Rows of both sides from which on a join takes much longer than the sample, on a GPU and on a CPU. */
enum { FROM = 1 << 20, FROM_ON_HOST = 1 << 16 };

/* Keys, lower bounds, upper bounds. */
enum { SIDES = 3 };

static sample_params params_of(const kr_column *column, uint64_t *codes, uint64_t none)
{
    return (sample_params){.data = column->data,
                           .validity = column->validity,
                           .validity_offset = column->validity_offset,
                           .count = column->count,
                           .codes = codes,
                           .none = none,
                           .type = column->type};
}

/* What the device does not reach, the host reads. */
static kr_status take(kr_device *device, const kr_column *column, uint64_t none, const kr_buffer *room,
                      uint64_t *codes, kr_error *err)
{
    const int here = !device->ops->is_host && kr_column_is_reached(device, column);
    const sample_params params = params_of(column, here ? room->data : codes, none);
    for (uint64_t i = 0; !here && i < SAMPLE_ROWS; ++i)
        sample_one(&params, i);
    if (!here)
        return KR_OK;
    const kr_status status = kr_device_run(device, &sample_rows, &params, SAMPLE_ROWS, NULL, err);
    return status == KR_OK ? kr_counters_read(device, NULL, room, codes, SAMPLE_ROWS, err) : status;
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Sorted keys below the code. */
static uint32_t below(const uint64_t *keys, uint64_t code)
{
    uint32_t low = 0, high = SAMPLE_ROWS;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The key of NULL is the highest code, so a few such keys count as values; ranges with a NULL are empty. */
static double pairs_of(uint64_t codes[SIDES][SAMPLE_ROWS])
{
    uint64_t pairs = 0;
    qsort(codes[0], SAMPLE_ROWS, sizeof codes[0][0], compare);
    for (uint32_t i = 0; i < SAMPLE_ROWS; ++i) {
        const uint64_t lower = codes[1][i], upper = codes[2][i];
        if (lower <= upper)
            pairs +=
                (upper == UINT64_MAX ? SAMPLE_ROWS : below(codes[0], upper + 1)) - below(codes[0], lower);
    }
    return (double)pairs;
}

kr_status kr_join_sample(const kr_join_job *job, double *pairs, kr_error *err)
{
    const kr_column *const sides[SIDES] = {job->left, job->right, job->right_upper};
    static const uint64_t none[SIDES] = {UINT64_MAX, UINT64_MAX, 0};
    uint64_t codes[SIDES][SAMPLE_ROWS];
    kr_buffer room = {0};
    if (!job->left->count || !job->right->count ||
        job->left->count + job->right->count < (job->device->ops->is_host ? FROM_ON_HOST : FROM))
        return KR_OK;
    kr_status status = job->device->ops->is_host ? KR_OK
                                                 : kr_buffer_allocate(job->device, sizeof codes[0], NULL,
                                                                      "a sample of a side", NULL, &room, err);
    for (int i = 0; i < SIDES && status == KR_OK; ++i)
        status = take(job->device, sides[i], none[i], &room, codes[i], err);
    kr_buffer_release(job->device, &room, NULL);
    if (status == KR_OK)
        *pairs = pairs_of(codes) / SAMPLE_ROWS * (double)job->left->count / SAMPLE_ROWS *
                 (double)job->right->count;
    return status;
}
