/* Searching a partitioned batch: one part is the whole tree, so that it has more leaves than a block keeps
 * separators of; keys for which a guess by even spread is wrong; leaves in order and out of order. */
#include "tree.h"

#define BATCH_PROBES 4000
enum { DENSE, SPREAD, EQUAL, DOUBLING, OUTLIERS, RUNS, ENDS, PATTERNS };

static entries model, deletes, inserts;

/* The first entry of the model with a key >= bound. */
static uint32_t first_of(uint64_t bound)
{
    uint32_t low = 0, high = model.n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (model.at[middle].key < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t key_of(int pattern, uint64_t i, uint64_t n, uint64_t largest)
{
    switch (pattern) {
    case DENSE: return i;
    case SPREAD: return (next_random() << 33 ^ next_random() << 11) & largest;
    case EQUAL: return largest / 3;
    case DOUBLING: return largest >> i % (largest >> 32 ? 64 : 32);
    case OUTLIERS: return i + 1 < n ? i / 2 : largest;
    case RUNS: return largest / 7 * (i * 7 / n) + i % 3;
    default: return i % 2 ? largest : 0;
    }
}

static uint64_t probe_of(uint64_t i, uint64_t largest)
{
    const uint64_t key = model.at[next_random() % model.n].key;
    const uint64_t probes[] = {key,           key + 1,          key - 1,
                               next_random(), i % 16 ? key : 0, i % 16 ? key : largest};
    return probes[i % 6] & largest;
}

/* A probe in five is a NULL. */
static int is_null(uint64_t i)
{
    return i % 5 == 3;
}

static void search(const kr_index *index, uint32_t wide, const void *lower, const void *upper, uint32_t what,
                   void *out)
{
    static uint8_t validity[BATCH_PROBES / 8];
    for (uint64_t i = 0; i < BATCH_PROBES; ++i)
        validity[i / 8] = (uint8_t)(validity[i / 8] | !is_null(i) << i % 8);
    static const uint32_t starts[] = {0, BATCH_PROBES}, n_segments = 3, third = BATCH_PROBES / 3 + 1;
    static const kr_segment segments[] = {{0, 0}, {0, BATCH_PROBES / 3 + 1}, {0, 2 * (BATCH_PROBES / 3 + 1)}};
    const kr_partition_view view = {starts, segments, &n_segments, n_segments, 0, third};
    const kr_type type = wide ? KR_U64 : KR_U32;
    const kr_locate job = {
        .batch = {.lower = lower,
                  .upper = upper,
                  .lower_type = type,
                  .upper_type = type,
                  .lower_validity = validity},
        .put = {.what = what, .out = out},
        .n = BATCH_PROBES,
        .partition = &view,
    };
    kr_work w = kr_work_on(device, NULL, NULL);
    index->ops->locate(&w, index->self, &job);
    assert_int_equal(kr_work_end(&w), KR_OK);
}

static void put(void *to, uint64_t i, uint32_t wide, uint64_t value)
{
    if (wide)
        ((uint64_t *)to)[i] = value;
    else
        ((uint32_t *)to)[i] = (uint32_t)value;
}

/* The row that `where` stands for. */
static uint32_t row_at(const kr_index *index, uint32_t where)
{
    const btree_tree *tree = &tree_of(index)->tree;
    if (!tree->rows)
        return tree->first_row + where;
    const uint32_t slot = where & ((1u << tree->node_bits) - 1);
    return tree->rows[(tree->order[where >> tree->node_bits] << tree->node_bits) + slot];
}

static void look_up(const kr_index *index, uint32_t wide)
{
    static uint64_t lower[BATCH_PROBES], upper[BATCH_PROBES], bounds[BATCH_PROBES][2], counts[BATCH_PROBES];
    static uint32_t found[BATCH_PROBES];
    static kr_match matches[BATCH_PROBES];
    static uint8_t flags[BATCH_PROBES];
    const uint64_t largest = wide ? UINT64_MAX : UINT32_MAX;
    for (uint64_t i = 0; i < BATCH_PROBES; ++i) {
        bounds[i][0] = probe_of(i, largest);
        bounds[i][1] = i % 5 ? probe_of(i + 1, largest) : bounds[i][0];
        put(lower, i, wide, bounds[i][0]);
        put(upper, i, wide, bounds[i][1]);
    }
    search(index, wide, lower, NULL, KR_PUT_ROW, found);
    search(index, wide, lower, upper, KR_PUT_MATCH, matches);
    search(index, wide, lower, upper, KR_PUT_FLAG, flags);
    search(index, wide, lower, upper, KR_PUT_COUNT, counts);
    for (uint64_t i = 0; i < BATCH_PROBES; ++i) {
        const uint64_t low = bounds[i][0], high = bounds[i][1];
        const uint32_t first = first_of(low), last = high == largest ? model.n : first_of(high + 1);
        const int hit = !is_null(i) && first < model.n && model.at[first].key == low;
        const uint64_t n = is_null(i) || high < low ? 0 : last - first;
        assert_int_equal(found[i], hit ? model.at[first].row : KR_NO_ROW);
        assert_int_equal(matches[i].count, n);
        assert_int_equal(flags[i], n != 0);
        assert_int_equal(counts[i], n);
        if (n)
            assert_int_equal(row_at(index, matches[i].where), model.at[first].row);
    }
}

/* Cuts leaves and frees some, so that the others are out of order. */
static void shuffle(kr_index *index, uint32_t wide)
{
    const uint64_t place = model.at[model.n / 2].key;
    kr_error err = {0};
    deletes.n = inserts.n = 0;
    for (uint64_t i = 0; i < 20; ++i) {
        add(&inserts, place);
        add(&deletes, model.at[model.n / 4 + i].key);
    }
    if (change(index, wide, &deletes, &inserts, &err) != KR_OK)
        fail_msg("%s", err.text);
    model_update(&model, &deletes, &inserts);
    check(index, wide, &model);
}

static void check_width(uint32_t wide)
{
    static const char *const specs[] = {"btree:node=8,fill=0.5", "btree:node=16", "btree:node=64,fill=1",
                                        "btree:fill=0.5,inner=half"};
    static const uint32_t sizes[] = {1, 7, 8, 9, 100, 513, 4096, 50000};
    for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int pattern = 0; pattern < PATTERNS; ++pattern) {
            const char *spec = specs[(s + (uint32_t)pattern) % 4];
            model.n = 0;
            for (uint64_t i = 0; i < sizes[s]; ++i)
                add(&model, key_of(pattern, i, sizes[s], wide ? UINT64_MAX : UINT32_MAX));
            kr_index *index = make(sizes[s] > 4096 ? specs[0] : spec, wide, &model);
            look_up(index, wide);
            shuffle(index, wide);
            if (model.n)
                look_up(index, wide);
            kr_index_destroy(index);
        }
}

static void finds_u32(void **state)
{
    (void)state;
    check_width(0);
}

static void finds_u64(void **state)
{
    (void)state;
    check_width(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_u32), cmocka_unit_test(finds_u64)};
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
