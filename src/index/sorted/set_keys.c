/* Changes keys of rows in a sorted column. */
#include "index/sorted/rows.h"
#include "index/sorted/set_keys_body.h"
#include "index/sorted/sorted.h"

/* The entries of the column in the order of their row ids. */
typedef struct by_row {
    void *keys;
    uint32_t *rows;
} by_row;

static by_row order_by_row(kr_work *w, const kr_sorted *old, uint32_t key_bits)
{
    const uint64_t n = old->n;
    uint32_t *rows = kr_work_take(w, n * sizeof *rows, "ordered row ids");
    uint32_t *positions = kr_work_take(w, n * sizeof *positions, "their positions");
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = n,
                          .keys_in = old->rows.data,
                          .keys_out = rows,
                          .rows_out = positions};
    kr_work_sort(w, &sort);
    void *keys = kr_work_take(w, n * (key_bits / 8), "keys in the order of rows");
    const reorder_params reorder = {old->keys.data, positions, keys, key_bits};
    kr_work_run(w, &sorted_reorder, &reorder, n);
    kr_work_give(w, positions);
    return (by_row){keys, rows};
}

static void replace_keys(kr_work *w, const kr_set_keys *job, const by_row *entries, uint64_t n)
{
    const uint64_t given_nbytes = job->keys.count * sizeof(uint32_t);
    uint32_t *given = kr_work_take(w, given_nbytes, "the row ids given");
    uint32_t *order = kr_work_take(w, given_nbytes, "their order");
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = job->keys.count,
                          .keys_in = job->row_ids,
                          .keys_out = given,
                          .rows_out = order};
    kr_work_sort(w, &sort);
    uint64_t *counters = kr_work_counters(w, 2), found[2] = {0};
    const replace_params replace = {
        .rows = entries->rows,
        .keys = entries->keys,
        .given = given,
        .index = order,
        .values = job->keys.data,
        .found = counters,
        .n = n,
        .type = (uint32_t)job->keys.type,
    };
    kr_work_run(w, &sorted_set_keys, &replace, job->keys.count);
    kr_work_read(w, found, counters, sizeof found);
    if (found[1])
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_ARGUMENT, "row id %llu is not in the index; give ids of indexed rows",
                        (unsigned long long)found[1] - 1));
    if (found[0])
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "row id %llu is given twice; give each row one key",
                           (unsigned long long)found[0] - 1));
    kr_work_give(w, order);
    kr_work_give(w, given);
}

/* Rows ascend, and the sort is stable: (key, row id) order. */
static kr_sorted order_by_key(kr_work *w, const by_row *entries, uint64_t n, kr_type type)
{
    const uint32_t key_bits = kr_type_key_bits(type);
    kr_sorted made = kr_sorted_take(w, n, key_bits);
    const kr_sort sort = {.key_bits = key_bits,
                          .end_bit = kr_type_significant_bits(type),
                          .n = n,
                          .keys_in = entries->keys,
                          .keys_out = made.keys.data,
                          .rows_in = entries->rows,
                          .rows_out = made.rows.data};
    kr_work_sort(w, &sort);
    kr_sorted_read_ends(w, key_bits, &made);
    return made;
}

kr_sorted kr_sorted_set_keys(kr_work *w, const kr_sorted *sorted, const kr_set_keys *job)
{
    const by_row entries = order_by_row(w, sorted, kr_type_key_bits(job->keys.type));
    replace_keys(w, job, &entries, sorted->n);
    const kr_sorted made = order_by_key(w, &entries, sorted->n, job->keys.type);
    kr_work_give(w, entries.keys);
    kr_work_give(w, entries.rows);
    kr_work_lap(w, "sort");
    return made;
}
