#include "join/sample.h"
#include "join/sample_body.h"

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

/* What the device does not reach, the host reads. `room` NULL: the device is the host. */
static void take(kr_work *w, const kr_column *column, uint64_t none, uint64_t *room, uint64_t *codes)
{
    const int here = room && kr_column_is_reached(w->device, column);
    const sample_params params = params_of(column, here ? room : codes, none);
    for (uint64_t i = 0; !here && i < SAMPLE_ROWS; ++i)
        sample_one(&params, i);
    if (!here)
        return;
    kr_work_run(w, &sample_rows, &params, SAMPLE_ROWS);
    kr_work_read(w, codes, room, SAMPLE_ROWS * sizeof *codes);
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

void kr_join_sample(kr_work *w, const kr_join_job *job, double *pairs)
{
    const kr_column *const sides[SIDES] = {job->left, job->right, job->right_upper};
    static const uint64_t none[SIDES] = {UINT64_MAX, UINT64_MAX, 0};
    const int is_host = w->device->ops->is_host;
    uint64_t codes[SIDES][SAMPLE_ROWS];
    if (!job->left->count || !job->right->count ||
        job->left->count + job->right->count < (is_host ? FROM_ON_HOST : FROM))
        return;
    uint64_t *room = is_host ? NULL : kr_work_take(w, sizeof codes[0], "a sample of a side");
    for (int i = 0; i < SIDES && kr_work_goes_on(w); ++i)
        take(w, sides[i], none[i], room, codes[i]);
    kr_work_give(w, room);
    if (kr_work_goes_on(w))
        *pairs = pairs_of(codes) / SAMPLE_ROWS * (double)job->left->count / SAMPLE_ROWS *
                 (double)job->right->count;
}
