/* Tables as they are built, of both kinds and widths: all keys are found near their buckets, whatever the
 * load, how many rows they have, and whether they were made to collide. */
#define KR_KEY_BITS 64 /* for the way of a key */
#include "index/families/hash/hash_nodes.h"

#include "index/families/hash/hash_table.h"
#include "tables.h"

static const char *const specs[] = {"hash",
                                    "hash:load=0.5",
                                    "hash:load=0.95",
                                    "hash:load=0.95,probing=double",
                                    "hash:build=insert",
                                    "hash:load=0.95,probing=double,build=insert",
                                    "hash:filter=off",
                                    "hash:load=0.95,probing=double,filter=off,build=insert",
                                    "chain",
                                    "chain:occupancy=0.5",
                                    "chain:occupancy=2",
                                    "chain:occupancy=1.5,group=32"};
enum { SPECS = sizeof specs / sizeof *specs };

static void every_size_and_load(void **state)
{
    static const uint32_t sizes[] = {0, 1, 7, 8, 1000, 200000};
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide)
            for (uint32_t z = 0; z < 6; ++z) {
                const uint32_t n = sizes[z];
                fill_model(wide, n);
                kr_index *index = make(specs[s], wide);
                check(index, wide);
                assert_int_equal(counter(index, "seeds given up"), 0);
                assert_int_equal(counter(index, "rows aside"), 0);
                assert_true(counter(index, "nodes read to find all keys") >= n);
                if (strcmp(specs[s], "hash") == 0)
                    assert_true(counter(index, "nodes read to find all keys") * 10 <= n * UINT64_C(13));
                if (strstr(specs[s], "insert"))
                    assert_int_equal(counter(index, "built by inserting"), 1);
                kr_index_destroy(index);
            }
}

/* Most buckets have room, but only one of them is meant. */
static void keys_that_collide_get_another_seed(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            const uint64_t first = wide ? UINT64_C(0x89ABCDEF) << 32 : 0x89ABCDEF;
            model.n = 0;
            for (uint64_t i = 0; i < 20000; ++i)
                add(&model, key_behind(wide, first + i));
            kr_index *index = make(specs[s], wide);
            if (!strstr(specs[s], "insert")) /* row by row, each goes on its own way */
                assert_true(counter(index, "seeds given up") >= 1);
            check(index, wide);
            kr_index_destroy(index);
        }
}

static void updates_with_keys_that_collide(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            const uint64_t first = wide ? UINT64_C(0x89ABCDEF) << 32 : 0x89ABCDEF;
            fill_model(wide, 20000);
            kr_index *index = make(specs[s], wide);
            for (uint64_t i = 0; i < 20000; ++i)
                add(&inserts, key_behind(wide, first + i));
            apply(index, wide);
            assert_true(counter(index, "seeds given up") >= 1);
            kr_index_destroy(index);
        }
}

/* Fills the bucket and all others on the way of a key by keys of their own. Further keys with that way find
 * no slot: what the batch has claimed is taken back, and the table made anew by another seed. */
static void a_way_without_free_slots(void **state)
{
    static const char *const of[] = {"hash:load=0.5", "hash:load=0.5,probing=double",
                                     "hash:load=0.5,filter=off"};
    enum { KEYS = 20000, FULL = 40 };
    (void)state;
    for (uint32_t s = 0; s < 3; ++s) {
        const uint64_t mixed = UINT64_C(0x89ABCDEF12345678);
        fill_model(1, KEYS);
        kr_index *index = make(of[s], 1);
        const hash_view table = hash_view_of(index->self);
        kr_index_destroy(index);
        model.n = 0;
        for (uint32_t k = 0; k <= TABLE_REACH_MOST; ++k) {
            const uint64_t bucket = k ? hash_way(&table, mixed, k) : hash_home(&table, mixed);
            const uint64_t hash = ((bucket << 32) + table.n_heads - 1) / table.n_heads + 2000;
            for (uint32_t j = 0; j < 5; ++j)
                add(&model, key_behind(1, hash << 32 | (k * 8 + j)));
        }
        for (uint32_t i = 0; model.n < KEYS; ++i)
            add(&model, key_of(1, i));
        index = make(of[s], 1);
        assert_int_equal(counter(index, "buckets"), table.n_heads);
        assert_int_equal(counter(index, "seeds given up"), 0);
        for (uint32_t i = 0; i < FULL; ++i) {
            add(&inserts, key_of(1, KEYS + i));
            add(&inserts, key_behind(1, mixed + ((uint64_t)i << 32)));
            add(&deletes, model.at[i * 100].key);
        }
        apply(index, 1);
        assert_int_equal(counter(index, "seeds given up"), 1);
        kr_index_destroy(index);
    }
}

/* The buckets on the way of a key before one with a free slot. */
static uint32_t full_buckets(const hash_view *table, uint64_t mixed)
{
    uint32_t steps = 0;
    for (; steps < TABLE_REACH_MOST; ++steps) {
        const uint32_t at = steps ? hash_way(table, mixed, steps) : hash_home(table, mixed);
        if (~*hash_meta(hash_node(table, at), table->slots) & hash_all(table))
            break;
    }
    return steps;
}

/* Without deletes, a miss of filter=off reads the full buckets of its way and one more. The filter ends most
 * misses at once. */
static void misses_without_a_filter(void **state)
{
    static const char *const of[] = {"hash:filter=off", "hash:probing=double,filter=off,build=insert",
                                     "hash"};
    enum { KEYS = 50000 };
    (void)state;
    for (uint32_t s = 0; s < 3; ++s) {
        fill_model(1, KEYS);
        kr_index *index = make(of[s], 1);
        const hash_view table = hash_view_of(index->self);
        uint64_t steps = 0, full = 0;
        for (uint32_t i = KEYS; i < 2 * KEYS; ++i) {
            const uint64_t mixed = kr_mix64(key_of(1, i), table.seed);
            const hash_place place = hash_find(&table, mixed);
            assert_false(place.found);
            if (table.plain)
                assert_int_equal(place.steps, full_buckets(&table, mixed));
            steps += place.steps;
            full += full_buckets(&table, mixed);
        }
        assert_true(full > KEYS / 4 && (table.plain ? steps == full : steps < KEYS / 8));
        kr_index_destroy(index);
    }
}

/* Rows of one key: more than a thread takes alone, and more than a tile of the build. */
static void one_key_with_many_rows(void **state)
{
    enum { ROWS = 200000 };
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            const uint64_t key = key_of(wide, 3);
            model.n = 0;
            for (uint32_t i = 0; i < ROWS; ++i)
                add_row(&model, key, 1000000 + (i * 7919 + 5) % ROWS * 2);
            for (uint32_t i = 4; i < 40; ++i)
                add_row(&model, key_of(wide, i), i);
            kr_index *index = make(specs[s], wide);
            check(index, wide);
            assert_int_equal(counter(index, "rows aside"), ROWS);
            for (uint32_t i = 0; i < 300; ++i) /* before, behind and between those that are there */
                add_row(&inserts, key, i % 3 == 0 ? 500 + i : i % 3 == 1 ? 2000000 - i : 1000001 + 2 * i);
            apply(index, wide);
            add_row(&inserts, key, 499);
            apply(index, wide);
            add_row(&deletes, key, 0);
            add_row(&inserts, key_of(wide, 5), 77);
            apply(index, wide);
            assert_int_equal(counter(index, "rows aside"), 2);
            kr_index_destroy(index);
        }
}

/* Every key has some rows. */
static void keys_with_a_few_rows(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            model.n = 0;
            for (uint32_t i = 0; i < 100000; ++i)
                add(&model, key_of(wide, i % 30000 * (i % 7)));
            kr_index *index = make(specs[s], wide);
            check(index, wide);
            kr_index_destroy(index);
        }
}

/* The smallest and the largest code are keys like others; so are those that are mixed to them, as an empty
 * slot holds such a code. */
static void end_codes_are_keys(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            const uint64_t most = wide ? UINT64_MAX : UINT32_MAX;
            const uint64_t ends[] = {0, most, key_behind(wide, 0), key_behind(wide, most)};
            fill_model(wide, 100);
            kr_index *index = make(specs[s], wide);
            for (uint32_t round = 0; round < 3; ++round) {
                for (uint32_t i = 0; i < 4; ++i)
                    add(&inserts, ends[i]);
                apply(index, wide);
            }
            kr_index *fresh = make(specs[s], wide);
            check(fresh, wide);
            kr_index_destroy(fresh);
            for (uint32_t i = 0; i < 4; ++i) {
                add(&deletes, ends[i]);
                apply(index, wide);
            }
            const kr_column probes = {
                .type = wide ? KR_U64 : KR_U32,
                .count = 4,
                .data = wide ? (const void *)ends
                             : (const uint32_t[]){0, UINT32_MAX, (uint32_t)ends[2], (uint32_t)ends[3]}};
            uint64_t counts[4];
            const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
            assert_int_equal(kr_index_lookup(index, &probes, &sink, NULL, NULL), KR_OK);
            for (uint32_t i = 0; i < 4; ++i)
                assert_int_equal(counts[i], 0);
            kr_index_destroy(index);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_load),
        cmocka_unit_test(keys_that_collide_get_another_seed),
        cmocka_unit_test(updates_with_keys_that_collide),
        cmocka_unit_test(a_way_without_free_slots),
        cmocka_unit_test(misses_without_a_filter),
        cmocka_unit_test(one_key_with_many_rows),
        cmocka_unit_test(keys_with_a_few_rows),
        cmocka_unit_test(end_codes_are_keys),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
