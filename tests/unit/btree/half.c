/* Trees whose inner nodes have half as many children as slots, as bulk loading half full nodes makes them. */
#include "tree.h"

enum { KEYS = 50000 };

static uint64_t counter(const kr_index *index, const char *name)
{
    for (uint32_t i = 0; i < kr_index_counter_count(index); ++i)
        if (strcmp(kr_index_counter_name(index, i), name) == 0)
            return kr_index_counter_value(index, i);
    fail_msg("no counter '%s'", name);
    return 0;
}

/* Levels of separators above n leaves, with so many children each. */
static uint64_t levels_above(uint64_t n, uint64_t children)
{
    uint64_t levels = n != 0;
    for (; n > children; n = (n + children - 1) / children)
        ++levels;
    return levels;
}

static void levels_and_bytes(void **state)
{
    static entries model;
    static const struct {
        const char *spec;
        uint64_t children;
    } of[] = {{"btree:fill=0.5,inner=half,group=16", 8}, {"btree:node=16,fill=0.5", 16}};
    (void)state;
    for (uint32_t t = 0; t < 2; ++t) {
        model.n = 0;
        for (uint64_t i = 0; i < KEYS; ++i)
            add(&model, i * 7919);
        kr_index *index = make(of[t].spec, 0, &model);
        kr_index_info info = {.struct_size = sizeof info};
        check(index, 0, &model);
        assert_int_equal(kr_index_query(index, &info, NULL), KR_OK);
        assert_int_equal(counter(index, "leaves"), KEYS / 8);
        assert_int_equal(counter(index, "levels"), levels_above(KEYS / 8, of[t].children));
        assert_true(info.footprint_nbytes >= 18 * KEYS && info.footprint_nbytes < 19 * KEYS);
        kr_index_destroy(index);
    }
}

/* Node j of a level begins with the separator that leads to it, and the slots behind a level end every
 * search. */
static void nodes_begin_with_their_separators(void **state)
{
    static entries model;
    (void)state;
    for (uint32_t n = 1; n < 3000; n = n * 2 + 3) {
        model.n = 0;
        for (uint64_t i = 0; i < n; ++i)
            add(&model, 3 * i + 1);
        kr_index *index = make("btree:fill=0.5,inner=half", 1, &model);
        const btree_tree *tree = &tree_of(index)->tree;
        const uint64_t *keys = tree->separators;
        uint32_t below = tree->n_leaves;
        for (uint32_t l = 0; l < tree->n_levels; ++l) {
            const uint32_t end = l + 1 < tree->n_levels ? tree->levels[l + 1] : tree->n_slots;
            assert_true(end - tree->levels[l] >= (below - 1) / 8 * 8 + 16);
            for (uint32_t s = tree->levels[l] + below; s < end; ++s)
                assert_true(keys[s] == UINT64_MAX);
            for (uint32_t j = 0; l && j < below; ++j)
                assert_true(keys[tree->levels[l] + j] == keys[tree->levels[l - 1] + 8 * j]);
            below = (below + 7) / 8;
        }
        assert_int_equal(below, 1);
        kr_index_destroy(index);
    }
}

/* Some keys with one row, some with rows in many leaves, and the largest code. */
static void fill_uneven(entries *model)
{
    model->n = 0;
    for (uint64_t i = 0; i < 4000; ++i)
        for (uint32_t r = 0; r < (i % 50 ? 1 : i % 2000 ? 9 : 300); ++r)
            add(model, i == 3999 ? UINT32_MAX : i * 1000);
}

/* Points or ranges near keys, and some that match nothing. */
enum { PROBES = 20000 };
typedef struct probes {
    uint32_t lower[PROBES], upper[PROBES];
    kr_column from, to;
} probes;

static void draw(probes *p)
{
    for (uint32_t i = 0; i < PROBES; ++i) {
        const uint32_t key = (uint32_t)(next_random() % 4000) * 1000;
        p->lower[i] = i % 5 == 4 ? UINT32_MAX - i % 3 : key + i % 2;
        p->upper[i] =
            i % 7 == 6 ? UINT32_MAX : p->lower[i] + (uint32_t)(next_random() % (i % 9 ? 9000 : 3000000));
    }
    p->from = (kr_column){.type = KR_U32, .count = PROBES, .data = p->lower};
    p->to = (kr_column){.type = KR_U32, .count = PROBES, .data = p->upper};
}

static void expect_sums(kr_index *tree, kr_index *array, const probes *p)
{
    static uint64_t sums[2][PROBES];
    kr_error err = {0};
    for (int is_range = 0; is_range < 2; ++is_range) {
        for (int a = 0; a < 2; ++a) {
            kr_index *index = a ? array : tree;
            const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_SUM_ROWS, .out = sums[a]};
            const kr_status status = is_range ? kr_index_range(index, &p->from, &p->to, &sink, NULL, &err)
                                              : kr_index_lookup(index, &p->from, &sink, NULL, &err);
            if (status != KR_OK)
                fail_msg("%s", err.text);
        }
        assert_true(tree->ops->sums(tree->self, is_range));
        for (uint32_t i = 0; i < PROBES; ++i)
            if (sums[0][i] != sums[1][i])
                fail_msg("%u to %u: %llu, not %llu", p->lower[i], p->upper[i], (unsigned long long)sums[0][i],
                         (unsigned long long)sums[1][i]);
    }
}

/* Before and after leaves were cut. */
static void sums_are_those_of_an_array(void **state)
{
    static entries model, deletes, inserts;
    static probes drawn;
    (void)state;
    fill_uneven(&model);
    kr_index *tree = make("btree:preset=paper", 0, &model), *array = make("array", 0, &model);
    for (uint32_t round = 0; round < 3; ++round) {
        kr_error err = {0};
        draw(&drawn);
        expect_sums(tree, array, &drawn);
        deletes.n = inserts.n = 0;
        for (uint64_t i = 0; i < 200; ++i) {
            add(&inserts, 2000000 + i % 20 * 1000 + round);
            add(&deletes, i * 17000 + round);
        }
        assert_int_equal(change(tree, 0, &deletes, &inserts, &err), KR_OK);
        assert_int_equal(change(array, 0, &deletes, &inserts, &err), KR_OK);
        assert_false(tree_of(tree)->tree.in_order);
    }
    kr_index_destroy(array);
    kr_index_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_an_array),
        cmocka_unit_test(levels_and_bytes),
        cmocka_unit_test(nodes_begin_with_their_separators),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
