/* kr_index_validate of a table, at one key width. */
#include "hashed/check_body.h"
#include "hashed/table.h"

kr_status KR_W(kr_table_validate)(kr_device *device, const void *self, kr_error *err)
{
    const kr_table *table = self;
    const uint64_t nodes = table->n_heads + table->n_more;
    uint64_t found[TABLE_CHECKS] = {0}, stripes[TABLE_STRIPES * TABLE_CHECKS];
    kr_buffer counts = {0};
    kr_status status = kr_counters_make(device, NULL, TABLE_STRIPES * TABLE_CHECKS, &counts, err);
    const table_check_params params = {.table = kr_table_view_of(table),
                                       .counts = counts.data,
                                       .n_spans = table->n_spans,
                                       .n_aside = table->n_aside};
    if (status == KR_OK)
        status = kr_device_run(device, &KR_W(table_validate), &params, nodes, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counts, stripes, TABLE_STRIPES * TABLE_CHECKS, err);
    kr_buffer_release(device, &counts, NULL);
    if (status != KR_OK)
        return status;
    table_tally_sum(stripes, TABLE_CHECKS, found);
    if (found[TABLE_CHECK_LOST])
        return kr_fail(err, KR_ERR_INVARIANT, "%llu keys are in slots where lookups do not find them",
                       (unsigned long long)found[TABLE_CHECK_LOST]);
    if (found[TABLE_CHECK_SPANS])
        return kr_fail(err, KR_ERR_INVARIANT, "the rows of %llu keys are not aside in ascending order",
                       (unsigned long long)found[TABLE_CHECK_SPANS]);
    if (found[TABLE_CHECK_KEYS] != table->n_keys)
        return kr_fail(err, KR_ERR_INVARIANT, "slots hold %llu keys, but the table counts %llu",
                       (unsigned long long)found[TABLE_CHECK_KEYS], (unsigned long long)table->n_keys);
    if (found[TABLE_CHECK_ROWS] != table->n_rows)
        return kr_fail(err, KR_ERR_INVARIANT, "keys have %llu rows, but the table counts %llu",
                       (unsigned long long)found[TABLE_CHECK_ROWS], (unsigned long long)table->n_rows);
    if (found[TABLE_CHECK_STEPS] != table->n_steps)
        return kr_fail(err, KR_ERR_INVARIANT,
                       "keys lie %llu nodes from their buckets, but the table counts %llu",
                       (unsigned long long)found[TABLE_CHECK_STEPS], (unsigned long long)table->n_steps);
    return KR_OK;
}
