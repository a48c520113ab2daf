/* Lists of nodes against an array of entries in order: builds, batches of deletes and inserts, damage,
 * failing allocations; on the CPU, and on the first GPU where there is one. */
#include "nodes.h"
#include "cancelling_device.h"
#include "random.h"

#include <stdio.h>

/* ---- Designs ------------------------------------------------------------------------------- */

/* Small rows and planes, so that many representatives lie at their ends. */
static cgrx_design design_of(uint32_t node, uint32_t bucket, uint32_t layout, uint32_t scene, uint32_t splits)
{
    return (cgrx_design){.map = {{1, 1, 1}, KR_POINT_3D, 4, 3},
                         .scene = scene,
                         .bucket = bucket,
                         .layout = layout,
                         .node = node,
                         .splits = splits};
}

static const struct {
    uint32_t node, bucket;
} sizes[] = {{2, 1}, {3, 3}, {8, 4}, {32, 16}, {33, 20}, {70, 35}};

enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

typedef void trial_test(const width *w, cgrx_design design, uint64_t seed);

/* Every width, size and way to apply a batch, over which layouts and scenes take turns. */
static void for_each(trial_test *test)
{
    static const width *const widths[] = {&u32, &u64};
    for (uint32_t w = 0; w < 2; ++w)
        for (uint32_t s = 0; s < N_SIZES; ++s)
            for (uint32_t i = 0; i < 6; ++i) {
                const uint32_t layout = KR_LAYOUT_SOA + i / 2, scene = (w + s + layout) % 2;
                test(widths[w], design_of(sizes[s].node, sizes[s].bucket, layout, scene, i % 2),
                     100 * w + 10 * s + layout);
            }
    assert_int_equal(blocks, 0);
}

static entries model, deletes, inserts;

static void clear(void)
{
    deletes.n = inserts.n = 0;
}

/* ---- Tests --------------------------------------------------------------------------------- */

static uint64_t random_key(kr_rng *rng, uint32_t bits, uint64_t range)
{
    const uint64_t key = kr_rng_below(rng, 8) ? kr_rng_below(rng, range) : kr_rng_next(rng);
    return bits == 32 ? (uint32_t)key : key;
}

static void random_batches_of(const width *w, cgrx_design design, uint64_t seed)
{
    kr_rng rng = {seed};
    const uint64_t ranges[] = {20, 3000, UINT64_C(1) << 31};
    for (uint32_t r = 0; r < 3; ++r) {
        model.n = 0;
        for (uint64_t n = 1 + kr_rng_below(&rng, 600); model.n < n;)
            add(&model, random_key(&rng, w->bits, ranges[r]));
        order(&model);
        trial t = build(w, design, &model);
        check(&t, &model);
        for (int batch = 0; batch < 8; ++batch) {
            clear();
            for (uint64_t n = kr_rng_below(&rng, 4) * kr_rng_below(&rng, 200); n--;)
                add(&inserts, random_key(&rng, w->bits, ranges[r]));
            for (uint64_t n = kr_rng_below(&rng, 3) * kr_rng_below(&rng, 150); n--;)
                add(&deletes, kr_rng_below(&rng, 3) && model.n ? model.at[kr_rng_below(&rng, model.n)].key
                                                               : random_key(&rng, w->bits, ranges[r]));
            update(&t, &model, &deletes, &inserts);
        }
        destroy(&t);
    }
}

static void random_batches(void **state)
{
    (void)state;
    for_each(random_batches_of);
}

/* n keys, `step` apart. */
static void fill(entries *e, uint32_t n, uint64_t step)
{
    e->n = 0;
    for (uint32_t i = 0; i < n; ++i)
        add(e, 1000 + i * step);
    order(e);
}

static void one_list_grows_of(const width *w, cgrx_design design, uint64_t seed)
{
    kr_rng rng = {seed};
    fill(&model, 300, 1000);
    trial t = build(w, design, &model);
    for (uint32_t round = 0; round < 3; ++round) {
        clear();
        for (uint32_t i = 0; i < 1500; ++i)
            add(&inserts, 100001 + kr_rng_below(&rng, 900));
        add(&deletes, 100001 + round);
        update(&t, &model, &deletes, &inserts);
    }
    assert_true(t.nodes.longest > 4000);
    /* And shrinks; its nodes are taken again before new ones. */
    clear();
    for (uint64_t key = 100001; key < 100901; ++key)
        add(&deletes, key);
    update(&t, &model, &deletes, &inserts);
    assert_true(t.nodes.n_spare > 0 && model.n == 300);
    const uint64_t used = t.nodes.n_used, spare = t.nodes.n_spare;
    clear();
    for (uint32_t i = 0; i < 1500; ++i)
        add(&inserts, 200001 + kr_rng_below(&rng, 900));
    update(&t, &model, &deletes, &inserts);
    assert_int_equal(t.nodes.n_used, used);
    assert_true(t.nodes.n_spare < spare);
    destroy(&t);
}

static void one_list_grows(void **state)
{
    (void)state;
    for_each(one_list_grows_of);
}

static void empties_and_fills_of(const width *w, cgrx_design design, uint64_t seed)
{
    (void)seed;
    fill(&model, 700, 3);
    trial t = build(w, design, &model);
    for (uint32_t round = 0; round < 2; ++round) {
        clear();
        for (uint32_t i = 0; i < model.n; ++i)
            add(&deletes, model.at[i].key);
        update(&t, &model, &deletes, &inserts);
        assert_int_equal(model.n, 0);
        assert_int_equal(t.nodes.longest, 0);
        clear();
        fill(&inserts, 900, 2);
        update(&t, &model, &deletes, &inserts);
        clear();
        fill(&inserts, 400, 7); /* some of them deleted at the same time */
        fill(&deletes, 300, 14);
        update(&t, &model, &deletes, &inserts);
    }
    destroy(&t);
}

static void empties_and_fills(void **state)
{
    (void)state;
    for_each(empties_and_fills_of);
}

static void below_and_above_of(const width *w, cgrx_design design, uint64_t seed)
{
    const uint64_t top = w->bits == 32 ? UINT32_MAX : UINT64_MAX;
    (void)seed;
    fill(&model, 100, 5);
    trial t = build(w, design, &model);
    for (uint32_t round = 0; round < 2; ++round) {
        clear();
        for (uint32_t i = 0; i < 150; ++i) {
            add(&inserts, i % 7);
            add(&inserts, top - i % 9);
            add(&inserts, 2000 + i);
        }
        for (uint32_t i = 0; round && i < 7; i += 2) {
            add(&deletes, i);
            add(&deletes, top - i);
        }
        update(&t, &model, &deletes, &inserts);
    }
    destroy(&t);
}

static void below_and_above(void **state)
{
    (void)state;
    for_each(below_and_above_of);
}

/* Runs over several lists, which are cut at row ids. */
static void runs_are_cut_of(const width *w, cgrx_design design, uint64_t seed)
{
    kr_rng rng = {seed};
    model.n = 0;
    for (uint32_t i = 0; i < 500; ++i)
        add(&model, i < 20 ? 15 : i < 480 ? 31 : 32 + i);
    order(&model);
    trial t = build(w, design, &model);
    check(&t, &model);
    for (uint32_t round = 0; round < 3; ++round) {
        clear();
        for (uint32_t i = 0; i < 200; ++i)
            add(&inserts, kr_rng_below(&rng, 4) ? 31 : 14 + kr_rng_below(&rng, 20));
        update(&t, &model, &deletes, &inserts);
    }
    clear();
    add(&deletes, 31);
    for (uint32_t i = 0; i < model.n; ++i) /* the same rows come again, at cuts too */
        if (model.at[i].key == 31)
            inserts.at[inserts.n++] = model.at[i];
    update(&t, &model, &deletes, &inserts);
    clear();
    for (uint32_t i = 0; i < 3; ++i) { /* a repeated key */
        add(&deletes, 31);
        add(&inserts, 31);
    }
    update(&t, &model, &deletes, &inserts);
    clear();
    add(&deletes, 15);
    add(&deletes, 31);
    update(&t, &model, &deletes, &inserts);
    clear();
    for (uint32_t i = 0; i < 300; ++i)
        add(&inserts, 31);
    update(&t, &model, &deletes, &inserts);
    destroy(&t);
}

static void runs_are_cut(void **state)
{
    (void)state;
    for_each(runs_are_cut_of);
}

static void rebuild_of(const width *w, cgrx_design design, uint64_t seed)
{
    kr_error err = {0};
    (void)seed;
    fill(&model, 400, 9);
    trial t = build(w, design, &model);
    for (uint32_t round = 0; round < 3; ++round) {
        static const uint32_t counts[] = {200, 400, 3000};
        const void *next = t.nodes.next.data, *keys = t.storage.keys.data;
        fill(&model, counts[round], 4);
        kr_sorted sorted = upload(w, &model, 0);
        const cgrx_nodes_source source = {&t.design, &sorted};
        kr_work work = kr_work_on(device, NULL, &err);
        w->rebuild(&work, &source, &t.storage, &t.nodes);
        assert_int_equal(kr_work_end(&work), KR_OK);
        kr_sorted_release(device, &sorted, NULL);
        check(&t, &model);
        if (counts[round] <= 400)
            assert_true(t.nodes.next.data == next && t.storage.keys.data == keys);
        clear();
        fill(&inserts, 100, 5);
        update(&t, &model, &deletes, &inserts);
    }
    destroy(&t);
}

static void rebuilds(void **state)
{
    (void)state;
    for_each(rebuild_of);
}

static void estimate_of(const width *w, cgrx_design design, uint64_t seed)
{
    const kr_shape shape = {.count = 960 + seed % 2, .type = w->bits == 32 ? KR_U32 : KR_U64};
    kr_need estimate;
    w->estimate(&shape, &design, &estimate);
    fill(&model, (uint32_t)shape.count, 3);
    trial t = build(w, design, &model);
    const uint64_t nbytes = cgrx_nodes_nbytes(&t.nodes) + t.storage.keys.nbytes + t.storage.rows.nbytes;
    assert_true(nbytes <= estimate.footprint_nbytes && nbytes * 3 >= estimate.footprint_nbytes * 2);
    assert_true(nbytes <= estimate.peak_nbytes && nbytes * 3 >= estimate.peak_nbytes * 2);
    destroy(&t);
}

static void estimates(void **state)
{
    (void)state;
    for_each(estimate_of);
}

/* A batch that needs more nodes, gives some back and has more hints: each allocation fails once. */
static void faults_of(const width *w, cgrx_design design, uint64_t seed)
{
    uint32_t n = 0;
    (void)seed;
    fill(&model, 300, 10);
    trial t = build(w, design, &model);
    for (uint32_t round = 0; round < 2; ++round) {
        kr_status status;
        clear();
        for (uint32_t i = 0; i < 600; ++i)
            add(&inserts, 1001 + round * 1200 + i);
        for (uint32_t i = 0; round && i < 700; ++i)
            add(&deletes, 1000 + i);
        n = 0;
        do {
            kr_error err = {0};
            const int64_t held = blocks;
            fail_at = ++n;
            status = update_lists(&t, &deletes, &inserts, &err);
            const int struck = fail_at == 0;
            fail_at = 0;
            if (status) {
                assert_int_equal(status, KR_ERR_DEVICE_MEMORY);
                assert_true(struck && blocks == held && err.text[0]);
                check(&t, &model);
            }
        } while (status);
        assert_true(n > 8);
        model_update(&model, &deletes, &inserts);
        check(&t, &model);
    }
    destroy(&t);
}

static void cancels_of(const width *w, cgrx_design design, uint64_t seed)
{
    (void)seed;
    fill(&model, 3000, 10);
    trial t = build(w, design, &model);
    for (uint32_t round = 0; round < 3; ++round) { /* in new room, in place, both */
        kr_status status;
        uint32_t n = 0;
        clear();
        for (uint32_t i = 0; round != 1 && i < 600; ++i)
            add(&inserts, 1001 + round * 1200 + i);
        for (uint32_t i = 0; round && i < 700; ++i)
            add(&deletes, 1000 + i);
        do {
            kr_error err = {0};
            const int64_t held = blocks;
            cancel_at = ++n;
            status = update_lists(&t, &deletes, &inserts, &err);
            const int struck = cancel_at == 0;
            cancel_at = 0;
            if (status) {
                assert_int_equal(status, KR_ERR_CANCELLED);
                assert_true(struck && blocks == held);
                check(&t, &model);
            }
        } while (status);
        assert_true(n > 2);
        model_update(&model, &deletes, &inserts);
        check(&t, &model);
    }
    destroy(&t);
}

static void cancelling_changes_nothing(void **state)
{
    (void)state;
    if (!is_cpu)
        return;
    kr_device_ops half;
    cancel_programs(device, &half);
    for_each(cancels_of);
    device->ops = real_ops;
}

static void failures_change_nothing(void **state)
{
    (void)state;
    if (is_cpu)
        for_each(faults_of);
}

/* Changes one word of a buffer; validate finds it. */
static void damage(trial *t, const kr_buffer *buffer, uint64_t i, const char *names)
{
    uint32_t *word = (uint32_t *)buffer->data + i;
    const uint32_t right = *word;
    kr_error err = {0};
    *word = right ^ 1;
    assert_int_equal(validate(t, &err), KR_ERR_INVARIANT);
    if (!strstr(err.text, names))
        fail_msg("\"%s\" does not speak of \"%s\"", err.text, names);
    *word = right;
    assert_int_equal(validate(t, &err), KR_OK);
}

/* A spare node more, which is the first one of a list or none at all. */
static void damage_spare(trial *t, uint32_t node)
{
    uint32_t more[1000];
    const kr_buffer spare = t->nodes.spare;
    const uint64_t n = t->nodes.n_spare;
    kr_error err = {0};
    assert_true(n < 1000);
    memcpy(more, spare.data, n * sizeof *more);
    more[n] = node;
    t->nodes.spare.data = more;
    ++t->nodes.n_spare;
    assert_int_equal(validate(t, &err), KR_ERR_INVARIANT);
    assert_non_null(strstr(err.text, "in lists or spare"));
    t->nodes.spare = spare;
    t->nodes.n_spare = n;
    assert_int_equal(validate(t, &err), KR_OK);
}

static void damage_is_found(void **state)
{
    (void)state;
    if (!is_cpu)
        return;
    fill(&model, 640, 32);
    trial t = build(&u32, design_of(32, 16, KR_LAYOUT_SOA, CGRX_NAIVE, 0), &model);
    clear();
    for (uint32_t i = 0; i < 100; ++i)
        add(&inserts, 1001);
    update(&t, &model, &deletes, &inserts);
    clear();
    add(&deletes, 1001);
    update(&t, &model, &deletes, &inserts);
    clear();
    for (uint32_t i = 0; i < 40; ++i)
        add(&inserts, 1001);
    update(&t, &model, &deletes, &inserts);
    assert_true(t.nodes.n_spare > 0 && t.nodes.n_lists == 40);
    damage(&t, &t.nodes.starts, 0, "start");
    damage(&t, &t.nodes.starts, 40, "start");
    damage(&t, &t.nodes.next, 0, "nodes of list 0");
    damage(&t, &t.nodes.next, 7, "nodes of list 7");
    damage(&t, &t.nodes.hints, 9, "hint 9");
    damage(&t, &t.nodes.hints, model.n / CGRX_LISTS_STRIDE + 1, "hint");
    damage(&t, &t.nodes.spare, 0, "nodes");
    damage_spare(&t, 0);
    damage_spare(&t, UINT32_MAX);
    damage(&t, &t.nodes.ends, 39, "list 39");
    damage(&t, &t.nodes.end_rows, 39, "list 39");
    for (uint32_t i = 0; i < 4; ++i) { /* an entry of the end of a list, made to belong to the next */
        uint32_t *key = (uint32_t *)t.storage.keys.data + (5 + i) * 32 + 15;
        kr_error err = {0};
        *key += 1;
        assert_int_equal(validate(&t, &err), KR_ERR_INVARIANT);
        assert_non_null(strstr(err.text, "an entry of another list"));
        *key -= 1;
    }
    ++t.nodes.longest;
    assert_int_equal(validate(&t, NULL), KR_ERR_INVARIANT);
    destroy(&t);
}

static entry at(const trial *t, uint32_t node, uint32_t place)
{
    const kr_entries store = t->w->store(&t->storage, 0);
    return read_entry(t->w, &store, (uint64_t)node * t->design.node + place);
}

/* A batch that splits a node in the middle of a list, one that merges nodes, and where their entries are. */
static void nodes_split_and_merge(void **state)
{
    (void)state;
    if (!is_cpu)
        return;
    fill(&model, 8, 10);
    trial t = build(&u32, design_of(4, 4, KR_LAYOUT_SOA, CGRX_NAIVE, 1), &model);
    const uint32_t *next = t.nodes.next.data, *size = t.nodes.sizes.data;
    assert_true(t.nodes.n_lists == 2 && t.nodes.n_used == 2 && size[0] == 4 && size[1] == 4);
    clear();
    add(&inserts, 1015); /* 1000 1010 | 1015 1020 1030 */
    update(&t, &model, &deletes, &inserts);
    next = t.nodes.next.data, size = t.nodes.sizes.data;
    const uint32_t second = next[0];
    assert_true(second >= 2 && next[second] == CGRX_NO_NODE && size[0] == 2 && size[second] == 3);
    assert_true(at(&t, 0, 1).key == 1010 && at(&t, second, 0).key == 1015);
    assert_int_equal(t.nodes.most_nodes, 2);
    clear();
    add(&deletes, 1000);
    add(&deletes, 1015);
    add(&deletes, 1030); /* 1010 | 1020: no more than half of a node */
    update(&t, &model, &deletes, &inserts);
    next = t.nodes.next.data, size = t.nodes.sizes.data;
    assert_true(next[0] == CGRX_NO_NODE && size[0] == 2 && at(&t, 0, 1).key == 1020);
    assert_int_equal(t.nodes.most_nodes, 1);
    assert_int_equal(t.nodes.n_spare + 2, t.nodes.n_used);
    destroy(&t);
}

/* An insert moves entries of its node only. */
static void untouched_nodes_stay(void **state)
{
    (void)state;
    if (!is_cpu)
        return;
    fill(&model, 64, 10);
    trial t = build(&u32, design_of(8, 8, KR_LAYOUT_SOA, CGRX_NAIVE, 1), &model);
    for (uint32_t round = 0; round < 3; ++round) { /* the first list gets nodes */
        clear();
        for (uint32_t i = 0; i < 8; ++i)
            add(&inserts, 1001 + 9 * i + round);
        update(&t, &model, &deletes, &inserts);
    }
    const uint32_t *next = t.nodes.next.data;
    uint32_t last = next[0];
    assert_true(last != CGRX_NO_NODE);
    while (next[last] != CGRX_NO_NODE)
        last = next[last];
    const entry before = at(&t, last, 0);
    clear();
    add(&inserts, 1002); /* into the list's first node */
    update(&t, &model, &deletes, &inserts);
    const entry after = at(&t, last, 0);
    assert_true(before.key == after.key && before.row == after.row);
    destroy(&t);
}

static void damage_of_sizes_is_found(void **state)
{
    (void)state;
    if (!is_cpu)
        return;
    fill(&model, 640, 32);
    trial t = build(&u32, design_of(32, 16, KR_LAYOUT_SOA, CGRX_NAIVE, 1), &model);
    clear();
    for (uint32_t i = 0; i < 100; ++i)
        add(&inserts, 1001);
    update(&t, &model, &deletes, &inserts);
    damage(&t, &t.nodes.sizes, 0, "nodes of list 0");
    damage(&t, &t.nodes.sizes, 7, "nodes of list 7");
    damage(&t, &t.nodes.sizes, ((const uint32_t *)t.nodes.next.data)[0], "nodes of list 0");
    damage(&t, &t.nodes.next, 0, "nodes of list 0");
    ++t.nodes.most_nodes;
    assert_int_equal(validate(&t, NULL), KR_ERR_INVARIANT);
    destroy(&t);
}

int main(void)
{
    static const char *const devices[] = {"cpu", "cuda"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches),
        cmocka_unit_test(one_list_grows),
        cmocka_unit_test(empties_and_fills),
        cmocka_unit_test(below_and_above),
        cmocka_unit_test(runs_are_cut),
        cmocka_unit_test(rebuilds),
        cmocka_unit_test(estimates),
        cmocka_unit_test(failures_change_nothing),
        cmocka_unit_test(cancelling_changes_nothing),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(nodes_split_and_merge),
        cmocka_unit_test(untouched_nodes_stay),
        cmocka_unit_test(damage_of_sizes_is_found),
    };
    int failed = 0;
    for (uint32_t i = 0; i < 2; ++i) {
        if (!open_device(devices[i])) {
            printf("skipped: no device %s\n", devices[i]);
            continue;
        }
        failed += cmocka_run_group_tests_name(devices[i], tests, NULL, NULL);
        kr_device_close(device);
    }
    return failed != 0;
}
