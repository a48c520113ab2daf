/* What the tests of kinds `hash` and `chain` share: a model of the entries, and a check
 * that a table answers as the model does. */
#ifndef KEYRAY_TESTS_HASHED_TABLES_H
#define KEYRAY_TESTS_HASHED_TABLES_H

#include "base/key/hash.h"
#include "failing_device.h"
#include "index/kinds/index.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

/* ---- The model ----------------------------------------------------------------------------- */

static kr_rng rng = {7};

static inline uint64_t next_random(void)
{
    return kr_rng_next(&rng) >> 33;
}

/* Key i of many different ones in no order. */
static uint64_t key_of(uint32_t wide, uint64_t i)
{
    return wide ? kr_mix64(i, 99) : kr_mix32((uint32_t)i, 99);
}

/* The key that the default seed mixes to this. */
static inline uint64_t key_behind(uint32_t wide, uint64_t mixed)
{
    const uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
    return wide ? kr_unmix64(mixed, seed) : kr_unmix32((uint32_t)mixed, seed);
}

typedef struct entry {
    uint64_t key;
    uint32_t row;
} entry;

enum { MOST = 300000 };

typedef struct entries {
    entry at[MOST];
    uint32_t n;
} entries;

static entries model, deletes, inserts;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->row > b->row) - (a->row < b->row);
}

static void sort(entries *e)
{
    qsort(e->at, e->n, sizeof e->at[0], compare);
}

static void add_row(entries *e, uint64_t key, uint32_t row)
{
    assert_true(e->n < MOST);
    e->at[e->n++] = (entry){key, row};
}

/* Different ids in no order. */
static void add(entries *e, uint64_t key)
{
    static uint32_t count;
    add_row(e, key, ++count * 2654435761u & 0x7FFFFFFFu);
}

static inline void fill_model(uint32_t wide, uint32_t n)
{
    model.n = 0;
    for (uint32_t i = 0; i < n; ++i)
        add(&model, key_of(wide, i));
}

/* Of `deletes` and `inserts`, which are empty afterwards. The model is in order. */
static void model_update(void)
{
    uint32_t kept = 0;
    sort(&deletes);
    for (uint32_t i = 0, d = 0; i < model.n; ++i) {
        while (d < deletes.n && deletes.at[d].key < model.at[i].key)
            ++d;
        if (d == deletes.n || deletes.at[d].key != model.at[i].key)
            model.at[kept++] = model.at[i];
    }
    assert_true(kept + inserts.n <= MOST);
    memcpy(model.at + kept, inserts.at, inserts.n * sizeof(entry));
    model.n = kept + inserts.n;
    sort(&model);
    deletes.n = inserts.n = 0;
}

/* ---- Tables -------------------------------------------------------------------------------- */

/* The keys and row ids of entries, as columns. */
typedef struct columns {
    uint64_t keys[2 * MOST];
    uint32_t rows[MOST];
    kr_column view;
} columns;

static void put_key(columns *c, uint32_t wide, uint64_t key)
{
    if (wide)
        c->keys[c->view.count++] = key;
    else
        ((uint32_t *)c->keys)[c->view.count++] = (uint32_t)key;
}

static void columns_of(const entries *e, uint32_t wide, columns *c)
{
    c->view = (kr_column){.type = wide ? KR_U64 : KR_U32, .data = c->keys};
    for (uint32_t i = 0; i < e->n; ++i) {
        put_key(c, wide, e->at[i].key);
        c->rows[i] = e->at[i].row;
    }
}

/* Of the model, which is in order afterwards. */
static kr_index *make(const char *spec, uint32_t wide)
{
    static columns c;
    kr_index *index = NULL;
    kr_error err = {0};
    columns_of(&model, wide, &c);
    if (kr_index_create(device, spec, &c.view, c.rows, NULL, &index, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    sort(&model);
    return index;
}

static kr_status change(kr_index *index, uint32_t wide, kr_error *err)
{
    static columns gone, come;
    columns_of(&deletes, wide, &gone);
    columns_of(&inserts, wide, &come);
    return kr_index_update(index, &come.view, inserts.n ? come.rows : NULL, &gone.view, NULL, err);
}

static uint64_t counter(const kr_index *index, const char *name)
{
    for (uint32_t i = 0; i < kr_index_counter_count(index); ++i)
        if (strcmp(kr_index_counter_name(index, i), name) == 0)
            return kr_index_counter_value(index, i);
    fail_msg("no counter '%s'", name);
    return 0;
}

static inline uint64_t footprint(const kr_index *index)
{
    kr_index_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_index_query(index, &info, NULL), KR_OK);
    return info.footprint_nbytes;
}

/* All keys of the model, and behind each one that it lacks. Returns how many different keys it has. */
static uint32_t probes_of_model(uint32_t wide, columns *probes)
{
    const uint64_t most = wide ? UINT64_MAX : UINT32_MAX;
    uint32_t n_keys = 0;
    probes->view = (kr_column){.type = wide ? KR_U64 : KR_U32, .data = probes->keys};
    for (uint32_t i = 0; i < model.n; ++i) {
        const uint64_t key = model.at[i].key;
        if (i && model.at[i - 1].key == key)
            continue;
        ++n_keys;
        put_key(probes, wide, key);
        uint32_t next = i + 1;
        while (next < model.n && model.at[next].key == key)
            ++next;
        const uint64_t gap = (next < model.n ? model.at[next].key - 1 : most) - key;
        if (gap)
            put_key(probes, wide, key + 1 + next_random() % gap);
    }
    if (!model.n)
        put_key(probes, wide, 0);
    return n_keys;
}

/* The index is valid, finds the rows of every key and of no other. */
static void check(kr_index *index, uint32_t wide)
{
    static columns probes;
    static uint64_t offsets[2 * MOST + 1];
    static uint32_t rows[MOST];
    kr_error err = {0};
    if (kr_index_validate(index, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(counter(index, "keys"), probes_of_model(wide, &probes));
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_ROWS,
                          .out = offsets,
                          .rows = rows,
                          .rows_capacity = MOST};
    if (kr_index_lookup(index, &probes.view, &sink, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(offsets[probes.view.count], model.n);
    for (uint64_t p = 0; p < probes.view.count; ++p)
        for (uint64_t i = offsets[p]; i < offsets[p + 1]; ++i) {
            const uint64_t key = wide ? probes.keys[p] : ((uint32_t *)probes.keys)[p];
            assert_true(model.at[i].key == key && model.at[i].row == rows[i]);
        }
}

static inline void apply(kr_index *index, uint32_t wide)
{
    kr_error err = {0};
    if (change(index, wide, &err) != KR_OK)
        fail_msg("%s", err.text);
    model_update();
    check(index, wide);
}

#endif
