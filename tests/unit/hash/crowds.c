/* Keys that collide, but not so many that one bucket shows it: lookups read at most two nodes for each key,
 * and a chain that grows by every batch means another seed. */
#include "tables.h"

static const char *const specs[] = {"hash:load=0.5",
                                    "hash",
                                    "hash:load=0.95",
                                    "hash:load=0.95,probing=double",
                                    "hash:load=0.8,probing=double,build=insert",
                                    "hash:probing=double,filter=off",
                                    "chain:occupancy=0.5",
                                    "chain",
                                    "chain:occupancy=2"};
enum { SPECS = sizeof specs / sizeof *specs };

/* Key i of those whose hashes begin near this one. */
static uint64_t near_hash(uint32_t wide, uint32_t hash, uint32_t i)
{
    return key_behind(wide, wide ? (uint64_t)hash << 32 | i * 2654435761u : hash + i);
}

static void small_crowds_cost_little(void **state)
{
    static const uint32_t crowds[] = {10, 20, 50, 110, 200, 239};
    enum { KEYS = 50000 };
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t c = 0; c < sizeof crowds / sizeof *crowds; ++c)
            for (uint32_t wide = 0; wide < 2; ++wide) {
                const uint32_t gap = (uint32_t)((UINT64_C(1) << 32) * crowds[c] / KEYS);
                model.n = 0;
                for (uint32_t i = 0; i < KEYS; ++i)
                    add(&model, near_hash(wide, i / crowds[c] * gap, i % crowds[c]));
                kr_index *index = make(specs[s], wide);
                check(index, wide);
                assert_true(counter(index, "nodes read to find all keys") <= 2 * KEYS + 1000);
                kr_index_destroy(index);
            }
}

/* A few with every batch: no batch has too many. */
static void crowds_that_come_slowly(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            fill_model(wide, 20000);
            kr_index *index = make(specs[s], wide);
            for (uint32_t round = 0; round < 60; ++round) {
                for (uint32_t i = 0; i < 100; ++i) {
                    add(&inserts, near_hash(wide, 0x70000000, round * 100 + i));
                    add(&deletes, model.at[next_random() % model.n].key);
                }
                apply(index, wide);
            }
            assert_true(counter(index, "nodes read to find all keys") <= 2 * counter(index, "keys"));
            kr_index_destroy(index);
        }
}

/* Too many with one batch: that is seen before their bucket has taken long. */
static void a_crowd_in_one_batch(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            fill_model(wide, 20000);
            kr_index *index = make(specs[s], wide);
            for (uint32_t i = 0; i < 4000; ++i)
                add(&inserts, near_hash(wide, 0x70000000, i));
            for (uint32_t i = 0; i < 1000; ++i)
                add(&deletes, model.at[next_random() % model.n].key);
            apply(index, wide);
            assert_true(counter(index, "seeds given up") > 0);
            assert_true(counter(index, "nodes read to find all keys") <= 2 * counter(index, "keys"));
            kr_index_destroy(index);
        }
}

/* In a table so large that all keys together would hardly notice. */
static void a_long_chain_means_another_seed(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        fill_model(wide, 100000);
        kr_index *index = make("chain", wide);
        for (uint32_t round = 0; round < 3; ++round) {
            for (uint32_t i = 0; i < 200; ++i)
                add(&inserts, near_hash(wide, 0x70000000, round * 200 + i));
            apply(index, wide);
            assert_true((counter(index, "seeds given up") > 0) == (round == 2));
        }
        kr_index_destroy(index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_crowds_cost_little),
        cmocka_unit_test(crowds_that_come_slowly),
        cmocka_unit_test(a_crowd_in_one_batch),
        cmocka_unit_test(a_long_chain_means_another_seed),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
