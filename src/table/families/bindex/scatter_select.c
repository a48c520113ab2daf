/* Conjunctions under `refine=scatter`: bitmaps of vectors merged by AND, then the rows that they leave wrong,
 * a launch for each block of positions. */
#include "table/condition/describe.h"
#include "table/families/bindex/scatter.h"
#include "table/results/merge.h"

#include <stdlib.h>
#include <string.h>

typedef struct conjunction {
    kr_work *work;
    const bindex_scatter_table *table;
    const kr_select *job;
    uint32_t n, n_values; /* leaves; of these, first, those that compare with values */
    const kr_leaf **leaves;
    bindex_scattered *scattered; /* of each */
    /* In device memory: the tests of all leaves, then ends of intervals, then numbers of vectors. */
    char *there;
    uint64_t ends_at, vectors_at, nbytes;
} conjunction;

static const bindex_scatter_column *column_of(const conjunction *c, uint32_t l)
{
    return c->table->columns + c->leaves[l]->column;
}

/* ---- What programs read ---------------------------------------------------------------------- */

static bindex_scatter_test test_of(const conjunction *c, uint32_t l)
{
    const kr_leaf *leaf = c->leaves[l];
    const kr_column *column = &column_of(c, l)->column;
    bindex_scatter_test test = {.data = column->data,
                                .validity = column->validity,
                                .validity_offset = column->validity_offset,
                                .type = (uint32_t)column->type,
                                .n_intervals = (uint32_t)leaf->n_intervals,
                                .nulls = leaf->nulls,
                                .compare = leaf->compare};
    if (leaf->other != KR_NO_COLUMN) {
        const kr_column *other = &c->table->columns[leaf->other].column;
        test.other = other->data;
        test.other_validity = other->validity;
        test.other_offset = other->validity_offset;
    }
    return test;
}

static void measure(conjunction *c)
{
    uint64_t n_ends = 0, n_vectors = 0;
    for (uint32_t l = 0; l < c->n; ++l) {
        n_ends += 2 * c->leaves[l]->n_intervals;
        n_vectors += c->scattered[l].n_vectors;
    }
    c->ends_at = c->n * sizeof(bindex_scatter_test);
    c->vectors_at = c->ends_at + n_ends * sizeof(uint64_t);
    c->nbytes = c->vectors_at + n_vectors * sizeof(uint32_t);
}

static void bring(conjunction *c)
{
    static const char *const what = "values of a condition";
    measure(c);
    char *host = kr_work_array(c->work, c->nbytes, 1, what);
    c->there = kr_work_take_constants(c->work, c->nbytes, what, NULL);
    uint64_t ends_at = c->ends_at, vectors_at = c->vectors_at;
    for (uint32_t l = 0; l < c->n && kr_work_goes_on(c->work); ++l) {
        const uint64_t ends_nbytes = c->leaves[l]->n_intervals * sizeof(kr_interval);
        const uint64_t vectors_nbytes = c->scattered[l].n_vectors * sizeof(uint32_t);
        bindex_scatter_test test = test_of(c, l);
        test.ends = (const uint64_t *)(c->there + ends_at);
        memcpy(host + l * sizeof test, &test, sizeof test);
        if (ends_nbytes)
            memcpy(host + ends_at, c->leaves[l]->intervals, ends_nbytes);
        memcpy(host + vectors_at, c->scattered[l].vectors, vectors_nbytes);
        ends_at += ends_nbytes;
        vectors_at += vectors_nbytes;
    }
    if (kr_work_goes_on(c->work))
        kr_work_write_constants(c->work, c->there, host, c->nbytes);
    free(host);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* The rows of a leaf's vectors. */
static void read_vectors(const conjunction *c, uint32_t l, uint64_t vectors_at, const uint32_t *alive,
                         uint32_t *to)
{
    const kr_vectors *vectors = &column_of(c, l)->vectors;
    const bindex_scatter_words_params params = {.words = vectors->words.data,
                                                .vectors = (const uint32_t *)(c->there + vectors_at),
                                                .alive = alive,
                                                .to = to,
                                                .stride = vectors->stride,
                                                .n_rows = c->table->n_rows,
                                                .n_vectors = c->scattered[l].n_vectors,
                                                .inverts = c->scattered[l].inverts};
    kr_work_run(c->work, &bindex_scatter_words, &params, kr_scans_bitmap_words(c->table->n_rows));
}

/* Each leaf has a bitmap of its own, which is then merged into that of the first. */
static void merge_vectors(const conjunction *c)
{
    const uint64_t words = kr_scans_bitmap_words(c->table->n_rows);
    const uint32_t *alive = c->job->alive;
    uint64_t vectors_at = c->vectors_at;
    uint32_t *own = NULL;
    if (c->n_values > 1)
        own = kr_work_take(c->work, words * sizeof *own, "a bitmap of a part of a condition");
    for (uint32_t l = 0; l == 0 || l < c->n_values; ++l) {
        read_vectors(c, l, vectors_at, l ? NULL : alive, l ? own : c->job->bitmap);
        if (l)
            kr_selected_and(c->work, c->job->bitmap, own, words);
        vectors_at += c->scattered[l].n_vectors * sizeof(uint32_t);
    }
    kr_work_give(c->work, own);
}

/* Leaves that compare columns: for all rows that are left. */
static void compare_columns(const conjunction *c)
{
    const bindex_scatter_compare_params params = {.tests =
                                                      (const bindex_scatter_test *)c->there + c->n_values,
                                                  .bitmap = c->job->bitmap,
                                                  .n_tests = c->n - c->n_values};
    if (params.n_tests)
        kr_work_run(c->work, &bindex_scatter_compare, &params, kr_scans_bitmap_words(c->table->n_rows));
}

static void refine(const conjunction *c, uint32_t l, const bindex_rest *rest)
{
    const bindex_scatter_column *column = column_of(c, l);
    bindex_scatter_refine_params params = {.tests = (const bindex_scatter_test *)c->there,
                                           .alive = c->job->alive,
                                           .bitmap = c->job->bitmap,
                                           .low = rest->low,
                                           .high = rest->high,
                                           .n_tests = c->n,
                                           .test = l};
    for (uint64_t block = rest->first_block; block < rest->end_block; ++block) {
        params.rows = (const uint32_t *)column->rows.data + block * BINDEX_SCATTER_BLOCK;
        kr_work_run(c->work, &bindex_scatter_refine, &params, bindex_block_rows(column, block));
    }
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void describe(const bindex_scatter_table *table, const kr_leaf *leaf, const bindex_scattered *s,
                     char line[KR_SCAN_STEP_NBYTES])
{
    char text[KR_SCAN_STEP_NBYTES - 90];
    kr_column columns[2] = {table->columns[leaf->column].column};
    const char *names[2] = {table->names[leaf->column]};
    kr_leaf of = *leaf;
    of.column = 0;
    if (leaf->other != KR_NO_COLUMN) {
        of.other = 1;
        columns[1] = table->columns[leaf->other].column;
        names[1] = table->names[leaf->other];
    }
    const kr_plan_columns known = {.n = 2, .columns = columns, .names = names};
    kr_leaf_describe(&of, &known, text, sizeof text);
    line[0] = '\0';
    kr_leaf_text_add(line, KR_SCAN_STEP_NBYTES, "%s: ", text);
    if (leaf->other != KR_NO_COLUMN)
        kr_leaf_text_add(line, KR_SCAN_STEP_NBYTES, "compared for all rows that are left");
    else
        kr_leaf_text_add(line, KR_SCAN_STEP_NBYTES, "vectors %u, rows compared %llu in %llu launches",
                         s->n_vectors, (unsigned long long)s->n_positions, (unsigned long long)s->n_launches);
}

static void log_leaves(const conjunction *c, kr_scan_log *log)
{
    const uint64_t n_rows = c->table->n_rows;
    for (uint32_t l = 0; l < c->n; ++l) {
        const uint64_t refined = l < c->n_values ? c->scattered[l].n_positions : n_rows;
        char line[KR_SCAN_STEP_NBYTES];
        describe(c->table, c->leaves[l], c->scattered + l, line);
        log->work[KR_SCAN_REFINED] += refined;
        log->work[KR_SCAN_SPARED] += n_rows - (refined < n_rows ? refined : n_rows);
        kr_scans_log_step(log, "%s", line);
    }
}

void bindex_scatter_explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const bindex_scatter_table *table = self;
    text[0] = '\0';
    for (uint32_t l = 0; l < job->n_leaves; ++l) {
        const kr_leaf *leaf = job->leaves[l];
        bindex_scattered s;
        char line[KR_SCAN_STEP_NBYTES];
        if (bindex_scatter_leaf(table->columns + leaf->column, leaf, &s, NULL) != KR_OK)
            return;
        describe(table, leaf, &s, line);
        kr_leaf_text_add(text, nbytes, "%s\n", line);
        bindex_scattered_release(&s);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Leaves that compare with values come first. */
static void list_leaves(conjunction *c)
{
    for (int others = 0; others < 2; ++others)
        for (uint32_t l = 0; l < c->job->n_leaves; ++l)
            if ((c->job->leaves[l]->other != KR_NO_COLUMN) == others) {
                c->leaves[c->n++] = c->job->leaves[l];
                c->n_values += !others;
            }
}

static void answer(conjunction *c, const kr_scan_notes *notes)
{
    list_leaves(c);
    for (uint32_t l = 0; l < c->n; ++l)
        KR_STEP(c->work, bindex_scatter_leaf(column_of(c, l), c->leaves[l], c->scattered + l, c->work->err));
    if (kr_work_goes_on(c->work))
        bring(c);
    if (!kr_work_goes_on(c->work))
        return;
    merge_vectors(c);
    compare_columns(c);
    for (uint32_t l = 0; l < c->n_values; ++l)
        for (uint64_t r = 0; r < c->scattered[l].n_rests && kr_work_goes_on(c->work); ++r)
            refine(c, l, c->scattered[l].rests + r);
    if (notes->log && kr_work_goes_on(c->work))
        log_leaves(c, notes->log);
    kr_work_lap(c->work, "refine");
    kr_work_give(c->work, c->there);
}

void bindex_scatter_select(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes)
{
    conjunction c = {.work = work, .table = self, .job = job};
    if (!c.table->n_rows)
        return;
    c.leaves = kr_work_array(work, job->n_leaves, sizeof *c.leaves, "a condition");
    c.scattered = kr_work_array(work, job->n_leaves, sizeof *c.scattered, "a condition");
    if (kr_work_goes_on(work))
        answer(&c, notes);
    for (uint32_t l = 0; l < job->n_leaves && c.scattered; ++l)
        bindex_scattered_release(c.scattered + l);
    free(c.scattered);
    free(c.leaves);
}
