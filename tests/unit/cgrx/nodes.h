/* What nodes.c tests with: lists of nodes at both key widths, memory that fails, and a model of entries. */
#ifndef KEYRAY_TESTS_CGRX_NODES_H
#define KEYRAY_TESTS_CGRX_NODES_H

#include "index/families/cgrx/cgrx_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Both widths --------------------------------------------------------------------------- */

typedef struct width {
    uint32_t bits;
    __typeof__(cgrx_storage_entries) *store;
    __typeof__(cgrx_nodes_estimate) *estimate;
    __typeof__(cgrx_nodes_build) *build, *rebuild;
    __typeof__(cgrx_nodes_update) *update;
    __typeof__(cgrx_nodes_flatten) *flatten;
    __typeof__(cgrx_nodes_validate) *validate;
} width;

#define WIDTH(n)                                                                        \
    extern __typeof__(cgrx_storage_entries) cgrx_storage_entries_u##n;                  \
    extern __typeof__(cgrx_nodes_estimate) cgrx_nodes_estimate_u##n;                    \
    extern __typeof__(cgrx_nodes_build) cgrx_nodes_build_u##n, cgrx_nodes_rebuild_u##n; \
    extern __typeof__(cgrx_nodes_update) cgrx_nodes_update_u##n;                        \
    extern __typeof__(cgrx_nodes_flatten) cgrx_nodes_flatten_u##n;                      \
    extern __typeof__(cgrx_nodes_validate) cgrx_nodes_validate_u##n;                    \
    static const width u##n = {n,                                                       \
                               cgrx_storage_entries_u##n,                               \
                               cgrx_nodes_estimate_u##n,                                \
                               cgrx_nodes_build_u##n,                                   \
                               cgrx_nodes_rebuild_u##n,                                 \
                               cgrx_nodes_update_u##n,                                  \
                               cgrx_nodes_flatten_u##n,                                 \
                               cgrx_nodes_validate_u##n}
WIDTH(32);
WIDTH(64);

/* ---- Memory that can fail ------------------------------------------------------------------ */

static uint64_t fail_at; /* counted down; 0: nothing fails */
static int64_t blocks;

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)native_stream;
    if (fail_at && --fail_at == 0)
        return NULL;
    ++blocks;
    return aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)nbytes;
    (void)native_stream;
    --blocks;
    free(memory);
}

static kr_device *device;
static int is_cpu;

static int open_device(const char *name)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 2, .allocate = allocate, .release = release};
    is_cpu = strcmp(name, "cpu") == 0;
    return kr_device_open(name, is_cpu ? &options : NULL, &device, NULL) == KR_OK;
}

/* ---- The model ----------------------------------------------------------------------------- */

typedef struct entry {
    uint64_t key;
    uint32_t row;
} entry;

enum { MOST = 20000 };

typedef struct entries {
    entry at[MOST];
    uint32_t n;
} entries;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void order(entries *e)
{
    qsort(e->at, e->n, sizeof e->at[0], compare);
}

static int holds(const entries *e, uint64_t key)
{
    uint32_t low = 0, high = e->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (e->at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->n && e->at[low].key == key;
}

static void model_update(entries *model, const entries *deletes, const entries *inserts)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->n; ++i)
        if (!holds(deletes, model->at[i].key))
            model->at[kept++] = model->at[i];
    assert_true(kept + inserts->n <= MOST);
    memcpy(model->at + kept, inserts->at, inserts->n * sizeof(entry));
    model->n = kept + inserts->n;
    order(model);
}

/* Different ids in no order. */
static uint32_t row_counter;

static uint32_t new_row(void)
{
    return ++row_counter * 2654435761u & 0x7FFFFFFFu;
}

static void add(entries *e, uint64_t key)
{
    assert_true(e->n < MOST);
    e->at[e->n++] = (entry){key, new_row()};
}

/* ---- Lists under test ---------------------------------------------------------------------- */

typedef struct trial {
    const width *w;
    cgrx_design design;
    cgrx_storage storage;
    cgrx_nodes nodes;
} trial;

static kr_sorted upload(const width *w, const entries *e, uint32_t first_row)
{
    static uint64_t keys[MOST];
    static uint32_t rows[MOST];
    kr_sorted sorted = {.n = e->n};
    for (uint32_t i = 0; i < e->n; ++i) {
        if (w->bits == 32)
            ((uint32_t *)keys)[i] = (uint32_t)e->at[i].key;
        else
            keys[i] = e->at[i].key;
        rows[i] = e->at[i].row - first_row;
    }
    const uint64_t nbytes = e->n * UINT64_C(1) * (w->bits / 8), ids = e->n * sizeof(uint32_t);
    assert_int_equal(kr_buffer_allocate(device, nbytes, NULL, "keys", NULL, &sorted.keys, NULL), KR_OK);
    assert_int_equal(kr_buffer_allocate(device, ids, NULL, "rows", NULL, &sorted.rows, NULL), KR_OK);
    assert_int_equal(kr_device_copy(device, sorted.keys.data, keys, nbytes, NULL, NULL), KR_OK);
    assert_int_equal(kr_device_copy(device, sorted.rows.data, rows, ids, NULL, NULL), KR_OK);
    assert_int_equal(kr_device_sync(device, NULL, NULL), KR_OK);
    return sorted;
}

static trial build(const width *w, cgrx_design design, const entries *model)
{
    trial t = {.w = w, .design = design};
    kr_error err = {0};
    kr_sorted sorted = upload(w, model, 0);
    const cgrx_nodes_source source = {&t.design, &sorted};
    kr_work work = kr_work_on(device, NULL, &err);
    w->build(&work, &source, &t.storage, &t.nodes);
    cgrx_nodes_keep(&work, &t.storage, &t.nodes);
    if (kr_work_end(&work) != KR_OK)
        fail_msg("%s", err.text);
    kr_sorted_release(device, &sorted, NULL);
    return t;
}

static void destroy(trial *t)
{
    cgrx_nodes_release(device, NULL, &t->nodes);
    cgrx_storage_release(device, NULL, &t->storage);
}

static entry read_entry(const width *w, const kr_entries *store, uint64_t slot)
{
    entry e = {0, 0};
    memcpy(&e.key, store->keys + slot * store->key_stride, w->bits / 8);
    memcpy(&e.row, store->rows + slot * store->row_stride, sizeof e.row);
    return e;
}

/* On the CPU: every position leads to its entry. */
static void check_positions(const trial *t, const entries *model)
{
    const cgrx_lists lists = cgrx_nodes_lists(&t->nodes);
    const kr_entries store = t->w->store(&t->storage, 0);
    for (uint32_t i = 0; i < model->n; i += 1 + model->n / 512) {
        const entry found = read_entry(t->w, &store, cgrx_lists_slot(&lists, i));
        assert_int_equal(found.key, model->at[i].key);
        assert_int_equal(found.row, model->at[i].row);
    }
}

static kr_status validate(const trial *t, kr_error *err)
{
    kr_work work = kr_work_on(device, NULL, err);
    t->w->validate(&work, &t->storage, &t->nodes);
    return kr_work_end(&work);
}

static void check(const trial *t, const entries *model)
{
    static uint64_t keys[MOST];
    static uint32_t rows[MOST];
    kr_error err = {0};
    if (validate(t, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(t->nodes.n_rows, model->n);
    kr_work work = kr_work_on(device, NULL, &err);
    const kr_sorted flat = t->w->flatten(&work, &t->storage, &t->nodes);
    assert_int_equal(flat.n, model->n);
    kr_work_copy(&work, keys, flat.keys.data, flat.keys.nbytes);
    kr_work_read(&work, rows, flat.rows.data, flat.rows.nbytes);
    assert_int_equal(kr_work_end(&work), KR_OK);
    for (uint32_t i = 0; i < model->n; ++i) {
        assert_int_equal(t->w->bits == 32 ? ((uint32_t *)keys)[i] : keys[i], model->at[i].key);
        assert_int_equal(rows[i], model->at[i].row);
    }
    assert_int_equal(flat.lowest, model->n ? model->at[0].key : 0);
    assert_int_equal(flat.highest, model->n ? model->at[model->n - 1].key : 0);
    if (is_cpu)
        check_positions(t, model);
}

/* Sorts the batch, and applies it to the lists only. */
static kr_status update_lists(trial *t, entries *deletes, entries *inserts, kr_error *err)
{
    uint32_t first_row = UINT32_MAX;
    order(deletes);
    order(inserts);
    for (uint32_t i = 0; i < inserts->n; ++i)
        first_row = inserts->at[i].row < first_row ? inserts->at[i].row : first_row;
    const uint64_t fault = fail_at;
    fail_at = 0;
    kr_sorted gone = upload(t->w, deletes, 0), come = upload(t->w, inserts, first_row);
    const cgrx_batch batch = {&gone, &come, first_row, NULL};
    fail_at = fault;
    kr_work work = kr_work_on(device, NULL, err);
    t->w->update(&work, &batch, &t->storage, &t->nodes, NULL);
    const kr_status status = kr_work_end(&work);
    kr_sorted_release(device, &come, NULL);
    kr_sorted_release(device, &gone, NULL);
    return status;
}

static void update(trial *t, entries *model, entries *deletes, entries *inserts)
{
    kr_error err = {0};
    if (update_lists(t, deletes, inserts, &err) != KR_OK)
        fail_msg("%s", err.text);
    model_update(model, deletes, inserts);
    check(t, model);
}

#endif
