/* Validation finds what is wrong with a hash table. */
#include "index/families/hash/hash_table.h"
#include "tables.h"

static kr_hashed *hash_of(const kr_index *index)
{
    return index->self;
}

/* The index is wrong while *at has another value. */
static void expect_damage(kr_index *index, uint32_t *at, uint32_t value, const char *text)
{
    const uint32_t right = *at;
    kr_error err = {0};
    assert_true(right != value);
    *at = value;
    assert_int_equal(kr_index_validate(index, &err), KR_ERR_INVARIANT);
    if (!strstr(err.text, text))
        fail_msg("'%s', not '%s'", err.text, text);
    *at = right;
    if (kr_index_validate(index, &err) != KR_OK)
        fail_msg("%s", err.text);
}

static void expect_wrong_count(kr_index *index, uint64_t *at, const char *text)
{
    kr_error err = {0};
    ++*at;
    assert_int_equal(kr_index_validate(index, &err), KR_ERR_INVARIANT);
    if (!strstr(err.text, text))
        fail_msg("'%s', not '%s'", err.text, text);
    --*at;
}

/* 3000 keys, every third with three rows. */
static kr_index *make_mixed(const char *spec)
{
    model.n = 0;
    for (uint32_t i = 0; i < 3000; ++i)
        for (uint32_t r = 0; r < (i % 3 ? 1 : 3); ++r)
            add(&model, i * 7919u);
    return make(spec, 0);
}

/* Words of a node: those of its first slot with one row, or with several. */
typedef struct words {
    uint32_t *meta, *code, *row;
    uint32_t slot;
} words;

static words slot_of(const kr_index *index, uint32_t first, int several)
{
    const kr_hashed *table = hash_of(index);
    const uint32_t slots = table->design.slots, nbytes = hash_node_nbytes(4, slots, table->design.linked);
    for (uint32_t b = first; b < table->n_heads; ++b) {
        uint32_t *node = (uint32_t *)((char *)table->heads.data + b * nbytes);
        const uint32_t many = node[0] >> (table->design.linked ? 16 : 7);
        for (uint32_t j = 0; j < slots; ++j)
            if (node[0] >> j & 1 && (many >> j & 1) == (uint32_t)several)
                return (words){node, node + 1 + j, node + 1 + slots + j, j};
    }
    fail_msg("no such slot");
    return (words){0};
}

static void damage_nodes(kr_index *index)
{
    const uint32_t several = hash_of(index)->design.linked ? 16 : 7;
    const words one = slot_of(index, 5, 0), many = slot_of(index, 5, 1), other = slot_of(index, 50, 1);
    expect_damage(index, one.meta, *one.meta & ~(1u << one.slot), "keys, but the table counts 3000");
    expect_damage(index, many.meta, *many.meta & ~(1u << many.slot), "are free and have several rows");
    expect_damage(index, one.code, ~*one.code, "that lookups do not find");
    expect_damage(index, one.meta, *one.meta | 1u << (several + one.slot), "belongs to no key, or to two");
    expect_damage(index, many.meta, *many.meta & ~(1u << (several + many.slot)),
                  "belongs to no key, or to two");
    expect_damage(index, many.row, *other.row, "belongs to no key, or to two");
    expect_damage(index, many.row, 1000000, "belongs to no key, or to two");
    expect_damage(index, many.row, (uint32_t)hash_of(index)->n_spans, "belongs to no key, or to two");
    expect_damage(index, one.row, *slot_of(index, 60, 0).row, "row id");
}

static void damage_spans(kr_index *index)
{
    kr_hashed *table = hash_of(index);
    kr_match *spans = table->spans.data;
    uint32_t *aside = table->aside.data;
    expect_damage(index, &spans[3].count, 2, "is in no span of rows, or in two");
    expect_damage(index, &spans[3].count, 1, "missing or not in ascending order");
    expect_damage(index, &spans[3].count, 1u << 31, "missing or not in ascending order");
    expect_damage(index, &spans[4].where, spans[5].where, "is in no span of rows, or in two");
    expect_damage(index, aside + spans[6].where, UINT32_MAX, "missing or not in ascending order");
    expect_damage(index, aside + spans[6].where + 1, aside[spans[6].where + 2] + 1,
                  "missing or not in ascending order");
    expect_damage(index, aside + spans[6].where, aside[spans[6].where + 1], "row id");
    expect_wrong_count(index, &table->n_keys, "keys, but");
    expect_wrong_count(index, &table->n_rows, "rows, but");
    expect_wrong_count(index, &table->n_several, "rows aside, but");
    expect_wrong_count(index, &table->n_steps, "steps to keys, but");
}

static void damage_is_found(void **state)
{
    static const char *const specs[] = {"hash", "hash:probing=double,load=0.95", "hash:filter=off", "chain"};
    (void)state;
    for (uint32_t s = 0; s < 4; ++s) {
        kr_index *index = make_mixed(specs[s]);
        check(index, 0);
        damage_nodes(index);
        damage_spans(index);
        kr_index_destroy(index);
    }
}

/* A bucket that forgets its keys in others. */
static void a_lost_mark_is_found(void **state)
{
    (void)state;
    kr_index *index = make_mixed("hash:load=0.9");
    uint32_t *heads = hash_of(index)->heads.data, b = 0;
    while (!(heads[16 * b] >> 14))
        ++b;
    expect_damage(index, heads + 16 * b, heads[16 * b] & 0x3FFF, "that lookups do not find");
    expect_damage(index, heads + 16 * b, heads[16 * b] & 0xFFFFFFF, "that lookups do not find");
    kr_index_destroy(index);
}

/* Of filter=off: a full bucket in front of a key seems to have a slot that never held one. */
static void a_slot_that_never_held_a_key_is_found(void **state)
{
    (void)state;
    kr_index *index = make_mixed("hash:load=0.9,filter=off");
    uint32_t *heads = hash_of(index)->heads.data, b = 0;
    while ((heads[16 * b] & 0x7F) != 0x7F)
        ++b;
    for (uint32_t j = 0; j < 7; ++j)
        expect_damage(index, heads + 16 * b, heads[16 * b] & ~(1u << (14 + j)), "that lookups do not find");
    kr_index_destroy(index);
}

/* Links to nowhere, back, and round in circles. */
static void bad_links_are_found(void **state)
{
    (void)state;
    kr_index *index = make_mixed("chain:occupancy=2");
    const uint64_t more = hash_of(index)->n_more;
    uint32_t *heads = hash_of(index)->heads.data, *nodes = hash_of(index)->more.data, b = 0, m = 0;
    while (!heads[32 * b + 31])
        ++b;
    while (!nodes[32 * m + 31])
        ++m;
    assert_true(more > 2);
    expect_damage(index, heads + 32 * b + 31, 0, "that lookups do not find");
    expect_damage(index, heads + 32 * b + 31, (uint32_t)more + 1, "links lead back");
    expect_damage(index, heads + 32 * b + 31, UINT32_MAX, "links lead back");
    expect_damage(index, nodes + 32 * m + 31, m + 1, "links lead back");
    expect_damage(index, nodes + 32 * m + 31, 1, "links lead back");
    for (uint32_t c = b + 1; c < hash_of(index)->n_heads; ++c)
        if (heads[32 * c + 31])
            expect_damage(index, heads + 32 * b + 31, heads[32 * c + 31], "where others lead");
    kr_index_destroy(index);
}

/* One bucket with all nodes: searches would take as long as there are nodes. */
static void a_long_chain_is_found(void **state)
{
    (void)state;
    kr_index *index = make_mixed("chain:occupancy=2");
    kr_hashed *table = hash_of(index);
    uint32_t *heads = table->heads.data, *nodes = table->more.data;
    kr_error err = {0};
    assert_true(table->n_more > 40);
    for (uint32_t b = 0; b < table->n_heads; ++b)
        heads[32 * b + 31] = b == 3;
    for (uint32_t m = 0; m < table->n_more; ++m)
        nodes[32 * m + 31] = m + 1 < table->n_more ? m + 2 : 0;
    assert_int_equal(kr_index_validate(index, &err), KR_ERR_INVARIANT);
    assert_non_null(strstr(err.text, "1 buckets have more nodes"));
    kr_index_destroy(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_lost_mark_is_found),
        cmocka_unit_test(a_slot_that_never_held_a_key_is_found),
        cmocka_unit_test(bad_links_are_found),
        cmocka_unit_test(a_long_chain_is_found),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
