/* Updates of trees: after every batch the tree is valid and holds the rows that a plain list would; leaves
 * are changed in place, cut, freed and taken again, or all made anew; a batch that fails changes nothing. */
#include "tree.h"

static const char *const specs[] = {"btree:node=8",           "btree:node=8,fill=1",
                                    "btree:node=16,fill=0.5", "btree:node=32",
                                    "btree:node=64,fill=0.9", "btree:fill=0.5,inner=half,group=16"};
enum { SPECS = sizeof specs / sizeof *specs };

static entries model, deletes, inserts;

static void fill_model(uint32_t n, uint64_t range)
{
    model.n = 0;
    while (model.n < n)
        add(&model, next_random() % range);
}

static void apply(kr_index *index, uint32_t wide)
{
    kr_error err = {0};
    if (change(index, wide, &deletes, &inserts, &err) != KR_OK)
        fail_msg("%s", err.text);
    model_update(&model, &deletes, &inserts);
    check(index, wide, &model);
    deletes.n = inserts.n = 0;
}

/* ---- Sequences ------------------------------------------------------------------------------- */

enum { SCATTERED, AT_ONE_PLACE, BEHIND_ALL, BEFORE_ALL, ONE_KEY, TAKEN_AND_GIVEN, SHAPES };

static void draft(int shape, uint32_t size, uint64_t range)
{
    const uint64_t place = model.n ? model.at[next_random() % model.n].key : 0;
    const uint64_t last = model.n ? model.at[model.n - 1].key : 0;
    for (uint32_t i = 0; i < size; ++i) {
        const uint64_t key = shape == AT_ONE_PLACE || shape == TAKEN_AND_GIVEN ? place + next_random() % 64
                             : shape == BEHIND_ALL                             ? last + i
                             : shape == BEFORE_ALL                             ? next_random() % 4
                             : shape == ONE_KEY                                ? place
                                                                               : next_random() % range;
        add(&inserts, key & UINT32_MAX);
        if (shape == TAKEN_AND_GIVEN || i % 3 == 0)
            add(&deletes, model.n && i % 2 ? model.at[next_random() % model.n].key : next_random() % range);
    }
}

/* Many small batches: most change leaves in place. Returns how many did. */
static uint32_t run_sequence(const char *spec, uint32_t wide, uint64_t range, uint32_t rounds)
{
    uint32_t in_place = 0;
    fill_model(6000, range);
    kr_index *index = make(spec, wide, &model);
    check(index, wide, &model);
    for (uint32_t round = 0; round < rounds; ++round) {
        const void *before = tree_of(index)->keys.data;
        draft((int)(next_random() % SHAPES), 1 + (uint32_t)next_random() % (round % 5 ? 40 : 600), range);
        apply(index, wide);
        in_place += before == tree_of(index)->keys.data;
    }
    kr_index_destroy(index);
    return in_place;
}

static void sequences_follow_the_model(void **state)
{
    static const uint64_t ranges[] = {300, 1u << 20, UINT32_MAX};
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t r = 0; r < 3; ++r)
            for (uint32_t wide = 0; wide < 2; ++wide) {
                const uint32_t in_place = run_sequence(specs[s], wide, ranges[r], 30);
                assert_true(in_place > 3);
            }
}

/* ---- Single batches -------------------------------------------------------------------------- */

/* A leaf overflows: its pieces go to free leaves, and the leaf is free afterwards. */
static void a_full_leaf_is_cut(void **state)
{
    (void)state;
    model.n = 0;
    for (uint64_t i = 0; i < 800; ++i)
        add(&model, i * 100);
    kr_index *index = make("btree:node=8", 0, &model);
    const btree_tree before = tree_of(index)->tree;
    for (uint64_t i = 0; i < 20; ++i)
        add(&inserts, 40001 + i);
    apply(index, 0);
    const btree_tree *after = &tree_of(index)->tree;
    assert_true(before.keys == after->keys && before.in_order && !after->in_order);
    assert_int_equal(after->n_leaves, before.n_leaves + 3); /* 6 or 7 entries and 20: four leaves */
    for (uint32_t i = 0; i < 10; ++i)
        add(&deletes, 200 + 100 * i);
    apply(index, 0);
    assert_true(tree_of(index)->tree.n_leaves < before.n_leaves + 3);
    kr_index_destroy(index);
}

/* Rows of one key fill several leaves: deletes find all, inserts go among them by row id. */
static void duplicates_lie_in_several_leaves(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        model.n = 0;
        for (uint64_t i = 0; i < 2000; ++i)
            add(&model, i / 50);
        kr_index *index = make("btree:node=8,fill=0.6", wide, &model);
        const void *leaves = tree_of(index)->keys.data;
        for (uint32_t i = 0; i < 30; ++i)
            add(&inserts, 7 + i % 2);
        apply(index, wide);
        add(&deletes, 8);
        add(&deletes, 8);
        add(&deletes, 20);
        for (uint32_t i = 0; i < 3; ++i)
            add(&inserts, 20);
        apply(index, wide);
        assert_ptr_equal(leaves, tree_of(index)->keys.data);
        kr_index_destroy(index);
    }
}

/* The smallest and the largest code are keys like others. */
static void end_codes_are_keys(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        const uint64_t most = wide ? UINT64_MAX : UINT32_MAX;
        model.n = 0;
        for (uint64_t i = 0; i < 1500; ++i)
            add(&model, i % 3 == 0 ? most : i % 3 == 1 ? 0 : i);
        kr_index *index = make("btree:node=16", wide, &model);
        for (uint32_t round = 0; round < 4; ++round) {
            for (uint32_t i = 0; i < 20; ++i)
                add(&inserts, i % 2 ? most : 0);
            add(&deletes, round == 1 ? most : round == 2 ? 0 : 5);
            apply(index, wide);
        }
        kr_index_destroy(index);
    }
}

static void an_empty_tree_takes_rows(void **state)
{
    (void)state;
    model.n = 0;
    kr_index *index = make("btree", 0, &model);
    check(index, 0, &model);
    add(&deletes, 5);
    apply(index, 0);
    for (uint32_t i = 0; i < 500; ++i)
        add(&inserts, i / 3);
    apply(index, 0);
    for (uint32_t i = 0; i < 500; ++i)
        add(&deletes, i / 3);
    apply(index, 0);
    assert_int_equal(tree_of(index)->tree.n_leaves, 0);
    assert_int_equal(tree_of(index)->keys.nbytes, 0);
    kr_index_destroy(index);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void expect_damage(kr_index *index, uint32_t *at, uint32_t value, const char *text)
{
    const uint32_t right = *at;
    kr_error err = {0};
    *at = value;
    assert_int_equal(kr_index_validate(index, &err), KR_ERR_INVARIANT);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
    *at = right;
    assert_int_equal(kr_index_validate(index, &err), KR_OK);
}

static void validation_finds_damage(void **state)
{
    (void)state;
    fill_model(3000, 1u << 20);
    kr_index *index = make("btree:node=16", 0, &model);
    const btree_tree *tree = &tree_of(index)->tree;
    uint32_t *keys = tree->keys, *separators = tree->separators;
    expect_damage(index, tree->order + 5, 6, "order");
    expect_damage(index, tree->order + 5, tree->room, "order");
    expect_damage(index, tree->order + tree->room - 1, 0, "order");
    expect_damage(index, tree->starts, 1, "leaf 0");
    expect_damage(index, tree->starts + 3, tree->starts[2], "leaf 3");
    expect_damage(index, tree->starts + tree->n_leaves, tree->n + 1, "leaf");
    expect_damage(index, tree->rows + 15, 3, "slot 15 in key order");
    expect_damage(index, tree->rows + 3, KR_NO_ROW, "slot 3 in key order");
    expect_damage(index, keys + 14, 0, "slot 14 in key order");
    expect_damage(index, separators + 7, separators[7] - 1, "slot 7 of the separators");
    expect_damage(index, separators + tree->n_slots - 1, 0, "of the separators");
    expect_damage(index, separators + tree->levels[1] + 1, 0, "of the separators");
    expect_damage(index, keys + 33, keys[35] + 1, "not ascending");
    kr_index_destroy(index);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint64_t footprint(const kr_index *index)
{
    kr_index_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_index_query(index, &info, NULL), KR_OK);
    return info.footprint_nbytes;
}

/* Waves of deletes and inserts leave the footprint near that of a fresh build; deletes give memory back. */
static void the_footprint_follows_the_rows(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s) {
        fill_model(20000, UINT32_MAX);
        kr_index *index = make(specs[s], 0, &model);
        const uint64_t fresh = footprint(index);
        for (uint32_t wave = 0; wave < 64; ++wave) {
            for (uint32_t i = 0; i < 300; ++i) {
                add(&inserts, next_random() & UINT32_MAX);
                add(&deletes, model.at[next_random() % model.n].key);
            }
            apply(index, 0);
            assert_true(footprint(index) <= fresh + fresh / 10);
        }
        for (uint32_t i = 0; i < model.n; ++i)
            if (i % 10)
                add(&deletes, model.at[i].key);
        apply(index, 0);
        assert_true(footprint(index) <= fresh * 3 / 20);
        kr_index_destroy(index);
    }
}

/* Every allocation of a batch fails in turn. */
static void fail_batch(kr_index *index, uint32_t least)
{
    kr_error err = {0};
    uint32_t failed = 0;
    kr_status status = KR_ERR_DEVICE_MEMORY;
    while (status != KR_OK) {
        const uint64_t in_use = atomic_load(&device->in_use_nbytes);
        fail_at = ++failed;
        status = change(index, 0, &deletes, &inserts, &err);
        fail_at = 0;
        if (status != KR_OK) {
            assert_int_equal(status, KR_ERR_DEVICE_MEMORY);
            assert_int_equal(atomic_load(&device->in_use_nbytes), in_use);
        } else {
            model_update(&model, &deletes, &inserts);
        }
        check(index, 0, &model);
    }
    assert_true(failed > least);
    deletes.n = inserts.n = 0;
}

static void failures_change_nothing(void **state)
{
    (void)state;
    fill_model(6000, 1u << 24);
    kr_index *index = make("btree:node=8", 0, &model);
    const void *leaves = tree_of(index)->keys.data;
    add(&inserts, 77); /* in place */
    fail_batch(index, 8);
    draft(AT_ONE_PLACE, 40, 1u << 24); /* leaves are taken */
    fail_batch(index, 12);
    assert_ptr_equal(leaves, tree_of(index)->keys.data);
    draft(AT_ONE_PLACE, 1500, 1u << 24); /* after the plan there are too few leaves */
    fail_batch(index, 16);
    assert_ptr_not_equal(leaves, tree_of(index)->keys.data);
    draft(SCATTERED, 5000, 1u << 24); /* all leaves anew at once */
    fail_batch(index, 12);
    kr_index_destroy(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_follow_the_model),       cmocka_unit_test(a_full_leaf_is_cut),
        cmocka_unit_test(duplicates_lie_in_several_leaves), cmocka_unit_test(end_codes_are_keys),
        cmocka_unit_test(an_empty_tree_takes_rows),         cmocka_unit_test(validation_finds_damage),
        cmocka_unit_test(the_footprint_follows_the_rows),   cmocka_unit_test(failures_change_nothing),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
