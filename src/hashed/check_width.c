/* kr_index_validate of a table, at one key width. */
#include "hashed/check_body.h"
#include "hashed/table.h"

enum { STRIPES = TABLE_STRIPES * TABLE_CHECKS };

typedef struct check {
    kr_device *device;
    const kr_hashed *table;
    kr_buffer counts;
    table_check_params params;
    uint64_t found[TABLE_CHECKS];
} check;

static kr_status run(check *c, const kr_program *program, uint64_t n, kr_error *err)
{
    return kr_device_run(c->device, program, &c->params, n, NULL, err);
}

static kr_status read_counts(check *c, kr_error *err)
{
    uint64_t stripes[STRIPES];
    const kr_status status = kr_counters_read(c->device, NULL, &c->counts, stripes, STRIPES, err);
    if (status == KR_OK)
        table_tally_sum(stripes, TABLE_CHECKS, c->found);
    return status;
}

static kr_status check_links(check *c, kr_error *err)
{
    const uint64_t nodes = c->table->n_heads + c->table->n_more;
    kr_status status = KR_OK;
    if (!c->table->design.linked)
        return KR_OK;
    status = run(c, &KR_W(table_check_links), nodes, err);
    if (status == KR_OK)
        status = read_counts(c, err);
    if (status == KR_OK && c->found[TABLE_CHECK_LINKS])
        return kr_fail(err, KR_ERR_INVARIANT, "%llu links lead back, or to nodes that are not there",
                       (unsigned long long)c->found[TABLE_CHECK_LINKS]);
    return status;
}

static kr_status count(check *c, kr_error *err)
{
    const uint64_t nodes = c->table->n_heads + c->table->n_more;
    kr_status status = run(c, &KR_W(table_check_nodes), nodes, err);
    if (status == KR_OK)
        status = run(c, &KR_W(table_check_spans), c->table->n_spans, err);
    if (status == KR_OK)
        status = run(c, &KR_W(table_check_places), c->table->n_aside, err);
    return status == KR_OK ? read_counts(c, err) : status;
}

static kr_status expect(uint64_t found, uint64_t counted, const char *what, kr_error *err)
{
    if (found == counted)
        return KR_OK;
    return kr_fail(err, KR_ERR_INVARIANT, "there are %llu %s, but the table counts %llu",
                   (unsigned long long)found, what, (unsigned long long)counted);
}

static kr_status judge(const check *c, kr_error *err)
{
    const uint64_t *found = c->found;
    kr_status status = KR_OK;
    if (found[TABLE_CHECK_LOST])
        return kr_fail(err, KR_ERR_INVARIANT,
                       "%llu slots have keys that lookups do not find, or are free and have several rows",
                       (unsigned long long)found[TABLE_CHECK_LOST]);
    if (found[TABLE_CHECK_ORDER])
        return kr_fail(err, KR_ERR_INVARIANT, "%llu rows aside are missing or not in ascending order",
                       (unsigned long long)found[TABLE_CHECK_ORDER]);
    if ((uint32_t)found[TABLE_CHECK_SPANS])
        return kr_fail(err, KR_ERR_INVARIANT, "a span of rows aside belongs to no key, or to two");
    if ((uint32_t)found[TABLE_CHECK_PLACES])
        return kr_fail(err, KR_ERR_INVARIANT, "a place aside is in no span of rows, or in two");
    status = expect(found[TABLE_CHECK_KEYS], c->table->n_keys, "keys", err);
    if (status == KR_OK)
        status = expect(found[TABLE_CHECK_ONES] + found[TABLE_CHECK_HELD], c->table->n_rows, "rows", err);
    if (status == KR_OK)
        status = expect(found[TABLE_CHECK_HELD], c->table->n_several, "rows aside", err);
    return status == KR_OK ? expect(found[TABLE_CHECK_STEPS], c->table->n_steps, "steps to keys", err)
                           : status;
}

kr_status KR_W(kr_hashed_validate)(kr_device *device, const void *self, kr_error *err)
{
    check c = {.device = device, .table = self};
    kr_status status = kr_counters_make(device, NULL, STRIPES, &c.counts, err);
    c.params = (table_check_params){.table = kr_hashed_view_of(self),
                                    .counts = c.counts.data,
                                    .n_more = c.table->n_more,
                                    .n_spans = c.table->n_spans,
                                    .n_aside = c.table->n_aside};
    if (status == KR_OK)
        status = check_links(&c, err);
    if (status == KR_OK)
        status = count(&c, err);
    kr_buffer_release(device, &c.counts, NULL);
    return status == KR_OK ? judge(&c, err) : status;
}
