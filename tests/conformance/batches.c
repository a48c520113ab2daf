#include "batches.h"

#include <stdlib.h>
#include <string.h>

/* What a batch will do. */
typedef struct draft {
    uint64_t *inserts, *deletes;
    uint64_t n_inserts, n_deletes;
    int has_ids; /* the caller gives row ids; else by chance */
} draft;

/* ---- Rows ----------------------------------------------------------------------------------- */

static int by_code(const void *a, const void *b)
{
    const kr_model_row *x = a, *y = b;
    return x->code != y->code ? (x->code > y->code) - (x->code < y->code) : (x->id > y->id) - (x->id < y->id);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t code_at(const kr_column *column, uint64_t i)
{
    return kr_value_code(column->type, kr_value_at(column, i));
}

/* The nearest code of a value of the type: all NaNs have the same. */
static uint64_t legal(const kr_model *model, uint64_t code)
{
    uint64_t element;
    kr_value_store_bits(model->scene.type, &element, 0, kr_value_of_code(model->scene.type, code));
    return kr_test_near_code(model->scene.type, kr_value_code(model->scene.type, &element));
}

static uint64_t most_code(const kr_model *model)
{
    return ~UINT64_C(0) >> (64 - 8 * kr_type_nbytes(model->scene.type));
}

void kr_model_insert(kr_model *model, const kr_column *keys, const uint32_t *ids, uint64_t first)
{
    kr_model_row *rows = kr_test_calloc(model->n + keys->count, sizeof *rows);
    if (model->n)
        memcpy(rows, model->rows, model->n * sizeof *rows);
    free(model->rows);
    model->rows = rows;
    for (uint64_t i = 0; i < keys->count; ++i)
        if (kr_value_is_valid(keys, i))
            model->rows[model->n++] = (kr_model_row){code_at(keys, i), ids ? ids[i] : (uint32_t)(first + i)};
    qsort(model->rows, model->n, sizeof *model->rows, by_code);
}

void kr_model_delete(kr_model *model, const kr_column *keys)
{
    uint64_t *codes = kr_test_calloc(keys->count, sizeof *codes), n = 0, left = 0;
    for (uint64_t i = 0; i < keys->count; ++i)
        if (kr_value_is_valid(keys, i))
            codes[n++] = code_at(keys, i);
    qsort(codes, n, sizeof *codes, by_number);
    for (uint64_t i = 0; i < model->n; ++i)
        if (!n || !bsearch(&model->rows[i].code, codes, n, sizeof *codes, by_number))
            model->rows[left++] = model->rows[i];
    model->n = left;
    free(codes);
}

/* ---- Drafts --------------------------------------------------------------------------------- */

static void add(draft *d, uint64_t code)
{
    d->inserts = realloc(d->inserts, (d->n_inserts + 1) * sizeof *d->inserts);
    if (!d->inserts)
        abort();
    d->inserts[d->n_inserts++] = code;
}

static void drop(draft *d, uint64_t code)
{
    d->deletes = realloc(d->deletes, (d->n_deletes + 1) * sizeof *d->deletes);
    if (!d->deletes)
        abort();
    d->deletes[d->n_deletes++] = code;
}

/* Keys of the scene's own pattern. */
static void fresh(kr_model *model, draft *d, void (*note)(draft *d, uint64_t code), uint64_t n)
{
    kr_test_column keys = kr_test_column_make(model->scene.type, n, model->scene.pattern, KR_NULLS_NONE,
                                              kr_rng_next(&model->rng));
    for (uint64_t i = 0; i < n; ++i)
        note(d, code_at(&keys.view, i));
    kr_test_column_free(&keys);
}

/* A key in the index, or any key if it is empty. */
static uint64_t present(kr_model *model)
{
    return model->n ? model->rows[kr_rng_below(&model->rng, model->n)].code
                    : legal(model, kr_rng_next(&model->rng));
}

static void insert_some(kr_model *model, draft *d)
{
    fresh(model, d, add, model->n / 3 + 2);
}

static void delete_some(kr_model *model, draft *d)
{
    for (uint64_t i = 0; i < model->n / 4 + 1; ++i)
        drop(d, present(model));
}

static void do_both(kr_model *model, draft *d)
{
    delete_some(model, d);
    insert_some(model, d);
    fresh(model, d, drop, 5);
}

static void same_keys(kr_model *model, draft *d)
{
    for (uint64_t i = 0; i < 20; ++i) {
        const uint64_t code = present(model);
        drop(d, code);
        for (uint64_t k = kr_rng_below(&model->rng, 3); k > 0; --k)
            add(d, code);
    }
}

static void absent_and_repeated(kr_model *model, draft *d)
{
    for (uint64_t i = 0; i < 10; ++i) {
        const uint64_t code = present(model);
        drop(d, legal(model, code + 1));
        for (uint64_t k = 0; k < 3 && i < 3; ++k)
            drop(d, code);
    }
    fresh(model, d, drop, 10);
}

/* Half of all rows, one key after the other: whole buckets lose their rows. */
static void empty_buckets(kr_model *model, draft *d)
{
    const uint64_t first = kr_rng_below(&model->rng, model->n / 2 + 1);
    for (uint64_t i = first; i < first + model->n / 2; ++i)
        drop(d, model->rows[i].code);
}

/* Between two keys, in the middle or beside one. */
static void between(kr_model *model, draft *d)
{
    for (uint64_t i = 0; i < 30 && model->n > 1; ++i) {
        const uint64_t at = kr_rng_below(&model->rng, model->n - 1);
        const uint64_t low = model->rows[at].code, gap = model->rows[at + 1].code - low;
        const uint64_t steps[] = {gap / 2, gap > 0, gap - (gap > 0)};
        add(d, legal(model, low + steps[i % 3]));
    }
}

static void below_all(kr_model *model, draft *d)
{
    const uint64_t least = model->n ? model->rows[0].code : 1;
    for (uint64_t i = 0; i < 12; ++i)
        add(d, legal(model, least ? least - 1 - (i < 4 ? 0 : kr_rng_below(&model->rng, least)) : 0));
    if (model->n > 1)
        drop(d, model->rows[1].code);
}

static void above_all(kr_model *model, draft *d)
{
    const uint64_t last = model->n ? model->rows[model->n - 1].code : 0, room = most_code(model) - last;
    for (uint64_t i = 0; i < 12; ++i)
        add(d, legal(model, room ? last + 1 + (i < 4 ? 0 : kr_rng_below(&model->rng, room)) : last));
}

/* Where a row of the scene ends: a bucket owns what lies between its last key and there. */
static void ends_of_rows(kr_model *model, draft *d)
{
    char value[32];
    const uint32_t x_bits = (uint32_t)strtoul(kr_spec_option(model->spec, "bits", value), NULL, 10);
    const uint64_t mask = (UINT64_C(1) << x_bits % 64) - 1;
    for (uint64_t i = 0; i < 40; ++i) {
        const uint64_t code = present(model), last = (code | mask) & most_code(model);
        const uint64_t places[] = {last, last - kr_rng_below(&model->rng, last - code + 1), last + 1,
                                   code & ~mask, last - 1};
        add(d, legal(model, places[i % 5] & most_code(model)));
    }
}

/* A run longer than several buckets, whose row ids lie between those that are there. */
static void equal_keys(kr_model *model, draft *d)
{
    const uint64_t code = present(model);
    for (uint64_t i = 0; i < 120; ++i)
        add(d, code);
    d->has_ids = 1;
}

static void delete_all(kr_model *model, draft *d)
{
    for (uint64_t i = 0; i < model->n; ++i)
        drop(d, model->rows[i].code);
}

static void insert_again(kr_model *model, draft *d)
{
    fresh(model, d, add, model->scene.keys + 3);
}

static void replace_all(kr_model *model, draft *d)
{
    delete_all(model, d);
    insert_again(model, d);
}

static void nothing(kr_model *model, draft *d)
{
    (void)model;
    (void)d;
}

/* Eight batches of `grow` multiply the rows by 2.2, eight of `shrink` undo that. */
static void grow(kr_model *model, draft *d)
{
    fresh(model, d, add, model->n / 10 + 1);
}

static void shrink(kr_model *model, draft *d)
{
    for (uint64_t i = 0; i < model->n / 10; ++i)
        drop(d, present(model));
}

typedef struct task {
    const char *name;
    void (*make)(kr_model *model, draft *d);
    uint32_t times;
} task;

static const task tasks[] = {
    {"nothing", nothing, 1},
    {"inserts", insert_some, 1},
    {"deletes", delete_some, 1},
    {"keys between others", between, 1},
    {"deletes and inserts", do_both, 1},
    {"the same keys deleted and inserted", same_keys, 1},
    {"absent and repeated deletes", absent_and_repeated, 1},
    {"keys below all", below_all, 1},
    {"keys above all", above_all, 1},
    {"keys at the ends of rows", ends_of_rows, 1},
    {"many equal keys", equal_keys, 1},
    {"buckets emptied", empty_buckets, 1},
    {"keys above all, then", above_all, 1},
    {"keys between others, then", between, 1},
    {"all rows replaced", replace_all, 1},
    {"a wave in", grow, 8},
    {"a wave out", shrink, 8},
    {"all rows deleted", delete_all, 1},
    {"nothing, of nothing", delete_some, 1},
    {"rows inserted again", insert_again, 1},
};

const char *kr_batch_name(uint32_t number, uint32_t *times)
{
    if (number >= sizeof tasks / sizeof tasks[0])
        return NULL;
    *times = tasks[number].times;
    return tasks[number].name;
}

/* ---- Batches -------------------------------------------------------------------------------- */

/* A column of these codes; NULLs replace some of them or are added. */
static kr_test_column column_of(kr_model *model, const uint64_t *codes, uint64_t n)
{
    static const kr_nulls some[] = {KR_NULLS_NONE, KR_NULLS_NONE, KR_NULLS_SOME, KR_NULLS_SLICED};
    kr_test_column column = kr_test_column_make(model->scene.type, n, KR_PATTERN_RANDOM,
                                                some[kr_rng_below(&model->rng, 4)], kr_rng_next(&model->rng));
    for (uint64_t i = 0; i < n; ++i)
        if (kr_value_is_valid(&column.view, i))
            kr_value_store_bits(column.view.type, column.data, i,
                                kr_value_of_code(column.view.type, codes[i]));
    return column;
}

/* Row ids that no remaining row has: some are those of deleted rows. */
static uint32_t *free_ids(kr_model *model, uint64_t n, const kr_column *deletes)
{
    const uint64_t limit = 2 * (model->n + n) + 8;
    uint32_t *ids = kr_test_calloc(n, sizeof *ids);
    uint8_t *taken = kr_test_calloc(limit, 1);
    kr_model left = {.n = model->n, .rows = kr_test_calloc(model->n, sizeof *left.rows)};
    if (model->n)
        memcpy(left.rows, model->rows, model->n * sizeof *left.rows);
    kr_model_delete(&left, deletes);
    for (uint64_t i = 0; i < left.n; ++i)
        if (left.rows[i].id < limit)
            taken[left.rows[i].id] = 1;
    free(left.rows);
    for (uint64_t i = 0; i < n; ++i) {
        uint64_t id = kr_rng_below(&model->rng, limit);
        while (taken[id])
            id = (id + 1) % limit;
        taken[id] = 1;
        ids[i] = (uint32_t)id;
    }
    free(taken);
    return ids;
}

void kr_batch_of(kr_model *model, const uint64_t *inserts, uint64_t n_inserts, const uint64_t *deletes,
                 uint64_t n_deletes, int has_ids, kr_update_batch *b)
{
    *b = (kr_update_batch){column_of(model, inserts, n_inserts), column_of(model, deletes, n_deletes), NULL};
    if (has_ids)
        b->ids = free_ids(model, n_inserts, &b->deletes.view);
}

void kr_batch_make(kr_model *model, uint32_t number, kr_update_batch *b)
{
    draft d = {.has_ids = kr_rng_below(&model->rng, 2) == 0};
    tasks[number].make(model, &d);
    kr_batch_of(model, d.inserts, d.n_inserts, d.deletes, d.n_deletes, d.has_ids, b);
    free(d.inserts);
    free(d.deletes);
}

void kr_batch_free(kr_update_batch *b)
{
    kr_test_column_free(&b->inserts);
    kr_test_column_free(&b->deletes);
    free(b->ids);
}
