/* Searches of kind `eytzinger` that stop at a node with the key: where they end and after how many nodes, by
 * the bodies; and that an index searches so only while no key is there twice. Those that go on are as long as
 * the tree is deep, or one node shorter. */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA

#include "index/families/eytzinger/eytzinger_search.h"

#include <keyray/keyray.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400 };

static const kr_group alone = {0, 1};

/* Entries 10, 20, ... by rank, in their places. */
static eytzinger_params tree_of(uint32_t k, uint32_t n, uint32_t *keys)
{
    const eytzinger_params p = {
        .batch = {.lower_type = KR_U32, .upper_type = KR_U32},
        .put = {.what = KR_PUT_COUNT},
        .entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, NULL, n),
        .tree = eytzinger_tree_of(k, n),
    };
    for (uint32_t rank = 0; rank < n; ++rank)
        keys[eytzinger_slot_of_rank(&p.tree, rank)] = 10 * (rank + 1);
    return p;
}

/* Nodes that a search for a key looks at; `how` is 0 (goes on), 1 (stops), 2 (stops, as a group does). */
static uint32_t nodes_of(const eytzinger_params *p, kr_pin pin, uint32_t key, int how, eytzinger_state *s)
{
    uint32_t nodes = 1;
    eytzinger_params copy = *p;
    copy.batch.lower = &key;
    if (!eytzinger_begin(&copy, 0, key, s))
        return 0;
    while (how == 2 ? eytzinger_step_group(&copy, pin, alone, p->tree.k, 1, s)
                    : eytzinger_step(&copy, pin, 0, how, s))
        ++nodes;
    return nodes;
}

static uint32_t level_of(uint32_t k, uint32_t entry)
{
    uint32_t level = 1;
    for (uint32_t node = entry / (k - 1); node; node = (node - 1) / k)
        ++level;
    return level;
}

/* A key that is there: its node is the last that is looked at. Another: the search ends where one that goes
 * on does. Either way the match is the same. */
static void check(uint32_t k, uint32_t n, uint32_t n_pins)
{
    uint32_t keys[MOST + 1] = {0};
    const eytzinger_params p = tree_of(k, n, keys);
    const kr_pin pin = {keys + eytzinger_first(k), n_pins, 0};
    for (uint32_t key = 5; key <= 10 * n + 5; key += 5)
        for (int how = 1; how <= 2; ++how) {
            const uint32_t rank = (key + 9) / 10 - 1, hits = key % 10 == 0;
            eytzinger_state s;
            const uint32_t nodes = nodes_of(&p, pin, key, how, &s);
            assert_int_equal(s.first, rank);
            assert_int_equal(s.at - s.first, hits);
            if (hits)
                assert_int_equal(nodes, level_of(k, eytzinger_entry(&p.tree, rank)));
            else
                assert_int_equal(nodes, nodes_of(&p, pin, key, 0, &s));
        }
}

static void ends_at_the_key(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 33; ++k)
        for (uint32_t n = 1; n <= MOST; n = n < 70 ? n + 1 : n + 37)
            for (uint32_t n_pins = 0; n_pins <= n; n_pins += n_pins < 5 ? 1 : 31)
                check(k, n, n_pins);
}

/* Paths that go on differ by one node at most, and do where the last level is not full. */
static void paths_differ_by_one(void **state)
{
    const kr_pin none = {NULL, 0, 0};
    uint32_t differ = 0;
    (void)state;
    for (uint32_t k = 2; k <= 33; ++k)
        for (uint32_t n = 1; n < MOST; n += 1 + n / 20) {
            uint32_t keys[MOST + 40] = {0}, least = UINT32_MAX, most = 0;
            eytzinger_params p = tree_of(k, n, keys);
            p.put.what = KR_PUT_ROW; /* a count needs a second path */
            for (uint32_t key = 5; key <= 10 * n + 5; key += 5) {
                eytzinger_state s;
                const uint32_t nodes = nodes_of(&p, none, key, 0, &s);
                least = nodes < least ? nodes : least;
                most = nodes > most ? nodes : most;
            }
            assert_in_range(most - least, 0, 1);
            differ += most > least;
        }
    assert_true(differ > 0);
}

static uint64_t counter_of(const kr_index *index)
{
    assert_int_equal(kr_index_counter_count(index), 1);
    assert_string_equal(kr_index_counter_name(index, 0), "stops at keys");
    return kr_index_counter_value(index, 0);
}

static void expect_count(kr_index *index, uint32_t key, uint64_t want)
{
    uint64_t count = 77;
    kr_error err = {0};
    const kr_column probe = {.type = KR_U32, .count = 1, .data = &key};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = &count};
    assert_int_equal(kr_index_lookup(index, &probe, &sink, NULL, &err), KR_OK);
    assert_int_equal(count, want);
}

static kr_index *index_of(kr_device *device, const char *spec, const uint32_t *keys, uint64_t n)
{
    const kr_column column = {.type = KR_U32, .count = n, .data = keys};
    kr_index *index = NULL;
    kr_error err = {0};
    assert_int_equal(kr_index_create(device, spec, &column, NULL, NULL, &index, &err), KR_OK);
    return index;
}

static void goes_on_where_keys_repeat(void **state)
{
    static const uint32_t again = 24, distinct[] = {40, 16, 24, 8, 32}, twice[] = {3, 1, 3};
    const kr_column inserted = {.type = KR_U32, .count = 1, .data = &again};
    kr_device *device = NULL;
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, &err), KR_OK);
    kr_index *index = index_of(device, "eytzinger:k=2,stop=hit", distinct, 5);
    assert_int_equal(counter_of(index), 1);
    expect_count(index, 24, 1);
    assert_int_equal(kr_index_update(index, &inserted, NULL, NULL, NULL, &err), KR_OK);
    assert_int_equal(counter_of(index), 0);
    expect_count(index, 24, 2);
    assert_int_equal(kr_index_update(index, NULL, NULL, &inserted, NULL, &err), KR_OK);
    assert_int_equal(counter_of(index), 1);
    expect_count(index, 24, 0);
    expect_count(index, 8, 1);
    kr_index_destroy(index);
    index = index_of(device, "eytzinger:stop=hit", twice, 3);
    assert_int_equal(counter_of(index), 0);
    expect_count(index, 3, 2);
    kr_index_destroy(index);
    index = index_of(device, "eytzinger", distinct, 5);
    assert_int_equal(kr_index_counter_count(index), 0);
    kr_index_destroy(index);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_at_the_key),
        cmocka_unit_test(paths_differ_by_one),
        cmocka_unit_test(goes_on_where_keys_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
