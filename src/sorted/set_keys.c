/* Changes keys of rows in a sorted column. */
#include "sorted/rows.h"
#include "sorted/set_keys_body.h"
#include "sorted/sorted.h"

/* Scratch arrays, released together. */
enum { BY_ROW_KEYS, BY_ROW_IDS, POSITIONS, GIVEN, INDEX, SCRATCHES };

typedef struct change {
    kr_device *device;
    const kr_set_keys *job;
    const kr_sorted *old;
    uint32_t key_bits;
    kr_buffer scratch[SCRATCHES];
    kr_buffer counters;
} change;

static kr_status allocate(change *c, int which, uint64_t nbytes, const char *what, kr_error *err)
{
    return kr_buffer_allocate(c->device, nbytes, c->job->stream, what, NULL, &c->scratch[which], err);
}

static void give_back(change *c, int which)
{
    kr_buffer_release(c->device, &c->scratch[which], c->job->stream);
}

static void release(change *c)
{
    kr_buffer_release(c->device, &c->counters, c->job->stream);
    for (int i = SCRATCHES; i-- > 0;)
        give_back(c, i);
}

/* The entries of the column in the order of their row ids. */
static kr_status order_by_row(change *c, kr_error *err)
{
    const uint64_t n = c->old->n, ids = n * sizeof(uint32_t);
    kr_status status = allocate(c, BY_ROW_IDS, ids, "ordered row ids", err);
    if (status == KR_OK)
        status = allocate(c, POSITIONS, ids, "their positions", err);
    if (status == KR_OK) {
        const kr_sort sort = {.key_bits = 32,
                              .end_bit = 32,
                              .n = n,
                              .keys_in = c->old->rows.data,
                              .keys_out = c->scratch[BY_ROW_IDS].data,
                              .rows_out = c->scratch[POSITIONS].data};
        status = kr_device_sort(c->device, &sort, c->job->stream, err);
    }
    if (status == KR_OK)
        status = allocate(c, BY_ROW_KEYS, n * (c->key_bits / 8), "keys in the order of rows", err);
    if (status == KR_OK) {
        const reorder_params params = {c->old->keys.data, c->scratch[POSITIONS].data,
                                       c->scratch[BY_ROW_KEYS].data, c->key_bits};
        status = kr_device_run(c->device, &sorted_reorder, &params, n, c->job->stream, err);
    }
    give_back(c, POSITIONS);
    return status;
}

static kr_status order_given(change *c, kr_error *err)
{
    const uint64_t n = c->job->keys.count, ids = n * sizeof(uint32_t);
    kr_status status = allocate(c, GIVEN, ids, "the row ids given", err);
    if (status == KR_OK)
        status = allocate(c, INDEX, ids, "their order", err);
    if (status != KR_OK)
        return status;
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = n,
                          .keys_in = c->job->row_ids,
                          .keys_out = c->scratch[GIVEN].data,
                          .rows_out = c->scratch[INDEX].data};
    return kr_device_sort(c->device, &sort, c->job->stream, err);
}

static kr_status replace_keys(change *c, kr_error *err)
{
    uint64_t found[2] = {0};
    kr_status status = kr_counters_make(c->device, c->job->stream, 2, &c->counters, err);
    const replace_params params = {
        .rows = c->scratch[BY_ROW_IDS].data,
        .keys = c->scratch[BY_ROW_KEYS].data,
        .given = c->scratch[GIVEN].data,
        .index = c->scratch[INDEX].data,
        .values = c->job->keys.data,
        .found = c->counters.data,
        .n = c->old->n,
        .type = (uint32_t)c->job->keys.type,
    };
    if (status == KR_OK)
        status = kr_device_run(c->device, &sorted_set_keys, &params, c->job->keys.count, c->job->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(c->device, c->job->stream, &c->counters, found, 2, err);
    if (status == KR_OK && found[1])
        return kr_fail(err, KR_ERR_ARGUMENT, "row id %llu is not in the index; give ids of indexed rows",
                       (unsigned long long)found[1] - 1);
    if (status == KR_OK && found[0])
        return kr_fail(err, KR_ERR_ARGUMENT, "row id %llu is given twice; give each row one key",
                       (unsigned long long)found[0] - 1);
    return status;
}

/* Rows ascend, and the sort is stable: (key, row id) order. */
static kr_status order_by_key(change *c, kr_sorted *made, kr_error *err)
{
    const uint64_t n = c->old->n;
    made->n = n;
    kr_status status = kr_buffer_allocate(c->device, n * (c->key_bits / 8), c->job->stream, "sorted keys",
                                          NULL, &made->keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(c->device, n * sizeof(uint32_t), c->job->stream, "sorted row ids", NULL,
                                    &made->rows, err);
    if (status != KR_OK)
        return status;
    const kr_sort sort = {.key_bits = c->key_bits,
                          .end_bit = kr_type_significant_bits((uint32_t)c->job->keys.type),
                          .n = n,
                          .keys_in = c->scratch[BY_ROW_KEYS].data,
                          .keys_out = made->keys.data,
                          .rows_in = c->scratch[BY_ROW_IDS].data,
                          .rows_out = made->rows.data};
    return kr_device_sort(c->device, &sort, c->job->stream, err);
}

kr_status kr_sorted_set_keys(kr_device *device, const kr_sorted *sorted, const kr_set_keys *job,
                             kr_sorted *changed, kr_error *err)
{
    change c = {
        .device = device, .job = job, .old = sorted, .key_bits = kr_type_key_bits((uint32_t)job->keys.type)};
    kr_sorted made = {0};
    kr_status status = order_given(&c, err);
    if (status == KR_OK)
        status = order_by_row(&c, err);
    if (status == KR_OK)
        status = replace_keys(&c, err);
    give_back(&c, INDEX);
    give_back(&c, GIVEN);
    if (status == KR_OK)
        status = order_by_key(&c, &made, err);
    if (status == KR_OK)
        status = kr_sorted_read_ends(device, job->stream, c.key_bits, &made, err);
    release(&c);
    kr_stopwatch_lap(job->watch, "sort");
    if (status == KR_OK)
        *changed = made;
    else
        kr_sorted_release(device, &made, job->stream);
    return status;
}
