/* What the tests of kind `btree` share: a model of its entries, and a tree to compare. */
#ifndef KEYRAY_TESTS_BTREE_TREE_H
#define KEYRAY_TESTS_BTREE_TREE_H

#include "failing_device.h"
#include "index/families/btree/btree.h"
#include "index/kinds/index.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The model ----------------------------------------------------------------------------- */

static kr_rng rng = {7};

static inline uint64_t next_random(void)
{
    return kr_rng_next(&rng) >> 33;
}

typedef struct entry {
    uint64_t key;
    uint32_t row;
} entry;

enum { MOST = 60000 };

typedef struct entries {
    entry at[MOST];
    uint32_t n;
} entries;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->row > b->row) - (a->row < b->row);
}

/* Different ids in no order. */
static uint32_t row_counter;

static inline void add(entries *e, uint64_t key)
{
    assert_true(e->n < MOST);
    e->at[e->n++] = (entry){key, ++row_counter * 2654435761u & 0x7FFFFFFFu};
}

static inline void model_update(entries *model, const entries *deletes, const entries *inserts)
{
    static entries gone;
    uint32_t kept = 0;
    gone = *deletes;
    qsort(gone.at, gone.n, sizeof gone.at[0], compare);
    for (uint32_t i = 0, d = 0; i < model->n; ++i) {
        while (d < gone.n && gone.at[d].key < model->at[i].key)
            ++d;
        if (d == gone.n || gone.at[d].key != model->at[i].key)
            model->at[kept++] = model->at[i];
    }
    assert_true(kept + inserts->n <= MOST);
    memcpy(model->at + kept, inserts->at, inserts->n * sizeof(entry));
    model->n = kept + inserts->n;
    qsort(model->at, model->n, sizeof model->at[0], compare);
}

/* ---- Trees --------------------------------------------------------------------------------- */

/* The keys and row ids of entries, as columns. */
typedef struct columns {
    uint64_t keys[MOST];
    uint32_t rows[MOST];
    kr_column view;
} columns;

static void columns_of(const entries *e, uint32_t wide, columns *c)
{
    for (uint32_t i = 0; i < e->n; ++i) {
        if (wide)
            c->keys[i] = e->at[i].key;
        else
            ((uint32_t *)c->keys)[i] = (uint32_t)e->at[i].key;
        c->rows[i] = e->at[i].row;
    }
    c->view = (kr_column){.type = wide ? KR_U64 : KR_U32, .count = e->n, .data = c->keys};
}

static kr_index *make(const char *spec, uint32_t wide, entries *model)
{
    static columns c;
    kr_index *index = NULL;
    kr_error err = {0};
    columns_of(model, wide, &c);
    if (kr_index_create(device, spec, &c.view, c.rows, NULL, &index, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    qsort(model->at, model->n, sizeof model->at[0], compare);
    return index;
}

static inline kr_status change(kr_index *index, uint32_t wide, const entries *deletes, const entries *inserts,
                               kr_error *err)
{
    static columns gone, come;
    columns_of(deletes, wide, &gone);
    columns_of(inserts, wide, &come);
    return kr_index_update(index, &come.view, inserts->n ? come.rows : NULL, &gone.view, NULL, err);
}

static const btree_index *tree_of(const kr_index *index)
{
    return index->self;
}

/* The index is valid, and its leaves hold the model in order. */
static void check(kr_index *index, uint32_t wide, const entries *model)
{
    const btree_tree *tree = &tree_of(index)->tree;
    kr_error err = {0};
    uint32_t at = 0;
    if (kr_index_validate(index, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(tree->n, model->n);
    for (uint32_t i = 0; i < tree->n_leaves; ++i)
        for (uint32_t s = 0; s < tree->starts[i + 1] - tree->starts[i]; ++s, ++at) {
            const uint32_t slot = (tree->order[i] << tree->node_bits) + s;
            assert_int_equal(wide ? ((uint64_t *)tree->keys)[slot] : ((uint32_t *)tree->keys)[slot],
                             model->at[at].key);
            assert_int_equal(tree->rows[slot], model->at[at].row);
        }
    assert_int_equal(at, model->n);
    assert_int_equal(tree_of(index)->lowest, model->n ? model->at[0].key : 0);
    assert_int_equal(tree_of(index)->highest, model->n ? model->at[model->n - 1].key : 0);
}

#endif
