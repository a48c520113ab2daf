/* kr_index_validate of a table, at one key width. */
#include "index/families/hash/hash_check_width_body.h"
#include "index/families/hash/hash_table.h"

enum { STRIPES = TABLE_STRIPES * TABLE_CHECKS };

typedef struct check {
    kr_work *work;
    const kr_hashed *table;
    hash_check_params params;
    uint64_t found[TABLE_CHECKS];
} check;

static void run(check *c, const kr_program *program, uint64_t n)
{
    kr_work_run(c->work, program, &c->params, n);
}

static void read_counts(check *c)
{
    uint64_t stripes[STRIPES] = {0};
    kr_work_read(c->work, stripes, c->params.counts, sizeof stripes);
    hash_tally_sum(stripes, TABLE_CHECKS, c->found);
}

static void refuse_links(check *c, const char *which)
{
    read_counts(c);
    if (c->found[TABLE_CHECK_LINKS])
        KR_STEP(c->work, kr_fail(c->work->err, KR_ERR_INVARIANT, "%llu %s",
                                 (unsigned long long)c->found[TABLE_CHECK_LINKS], which));
}

static void check_links(check *c)
{
    run(c, &KR_W(hash_check_links), c->table->n_heads + c->table->n_more);
    refuse_links(c, "links lead back, to nodes that are not there, or where others lead");
    run(c, &KR_W(hash_check_chains), c->table->n_heads);
    refuse_links(c, "buckets have more nodes than a batch can have left");
}

static void count(check *c)
{
    run(c, &KR_W(hash_check_nodes), c->table->n_heads + c->table->n_more);
    run(c, &KR_W(hash_check_spans), c->table->n_spans);
    run(c, &KR_W(hash_check_places), c->table->n_aside);
    read_counts(c);
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
    if (found[TABLE_CHECK_SPANS])
        return kr_fail(err, KR_ERR_INVARIANT, "a span of rows aside belongs to no key, or to two");
    if (found[TABLE_CHECK_PLACES])
        return kr_fail(err, KR_ERR_INVARIANT, "a place aside is in no span of rows, or in two");
    status = expect(found[TABLE_CHECK_KEYS], c->table->n_keys, "keys", err);
    if (status == KR_OK)
        status = expect(found[TABLE_CHECK_ONES] + found[TABLE_CHECK_HELD], c->table->n_rows, "rows", err);
    if (status == KR_OK)
        status = expect(found[TABLE_CHECK_HELD], c->table->n_several, "rows aside", err);
    return status == KR_OK ? expect(found[TABLE_CHECK_STEPS], c->table->n_steps, "steps to keys", err)
                           : status;
}

static uint64_t words_of(uint64_t bits)
{
    return (bits + 31) / 32;
}

static void begin(check *c)
{
    kr_work *w = c->work;
    const kr_hashed *table = c->table;
    const uint64_t linked = words_of(table->n_more), owned = words_of(table->n_spans);
    const uint64_t nbytes = (linked + owned + words_of(table->n_aside)) * sizeof(uint32_t);
    uint32_t *bits = kr_work_take(w, nbytes, "bitmaps of nodes and rows aside");
    kr_work_fill(w, bits, 0, nbytes);
    c->params = (hash_check_params){.table = hash_view_of(table),
                                    .counts = kr_work_counters(w, STRIPES),
                                    .linked = bits,
                                    .owned = KR_PLACE_IN(bits, linked),
                                    .used = KR_PLACE_IN(bits, linked + owned),
                                    .n_more = table->n_more,
                                    .n_spans = table->n_spans,
                                    .n_aside = table->n_aside};
}

int KR_W(hash_validate)(kr_work *w, const void *self)
{
    check c = {.work = w, .table = self};
    begin(&c);
    if (c.table->design.linked)
        check_links(&c);
    count(&c);
    KR_STEP(w, judge(&c, w->err));
    return c.table->n_keys == c.table->n_rows;
}
