/* What reports and explanations say of leaves. */
#include "table/condition/describe.h"
#include "table/families/bindex/bindex.h"

enum { LINE_NBYTES = 120 };

static void describe_leaf(const bindex_table *table, const kr_leaf *leaf, char line[LINE_NBYTES])
{
    const kr_plan_columns columns = {.n = table->n_columns, .columns = table->columns, .names = table->names};
    kr_leaf_describe(leaf, &columns, line, LINE_NBYTES);
}

void bindex_log(const bindex_table *table, const kr_leaf *const *leaves, uint64_t n, const bindex_cost *costs,
                kr_scan_log *log)
{
    for (uint64_t i = 0; i < n; ++i) {
        const bindex_cost *cost = costs + i;
        char line[LINE_NBYTES];
        describe_leaf(table, leaves[i], line);
        log->work[KR_SCAN_REFINED] += cost->refined;
        log->work[KR_SCAN_SPARED] +=
            table->n_rows - (cost->refined < table->n_rows ? cost->refined : table->n_rows);
        kr_scans_log_step(log, "%s: vectors %llu, rows checked %llu, rows compared %llu", line,
                          (unsigned long long)cost->vectors, (unsigned long long)cost->refined,
                          (unsigned long long)cost->compared);
    }
}

void bindex_explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const bindex_table *table = self;
    for (uint32_t i = 0; i < job->n_leaves; ++i) {
        const kr_leaf *leaf = job->leaves[i];
        bindex_lists lists = {.n_runs = 0};
        bindex_cost cost = {0};
        bindex_leaf made;
        char line[LINE_NBYTES];
        describe_leaf(table, leaf, line);
        for (uint32_t p = 0; p < table->n_parts; ++p)
            if (bindex_leaf_add(table->parts + p, leaf, 0, &lists, &made, &cost, NULL) != KR_OK)
                break;
        bindex_lists_release(&lists);
        kr_leaf_text_add(text, nbytes, "%s: vectors %llu, rows checked %llu, rows compared %llu\n", line,
                         (unsigned long long)cost.vectors, (unsigned long long)cost.refined,
                         (unsigned long long)cost.compared);
    }
}
