#include "table/run/explain.h"
#include "table/condition/describe.h"
#include "table/run/run.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_NBYTES = 200 };

/* The codes of texts that the kind looks for. */
static void explain_codes(const kr_plan_columns *columns, const kr_leaf *leaf, char *text, size_t nbytes)
{
    enum { SHOWN = 3 };
    if (leaf->other != KR_NO_COLUMN || !kr_plan_has_texts(columns, leaf->column) || !leaf->n_intervals)
        return;
    const uint64_t count = columns->texts->count(columns->of_texts, leaf->column);
    kr_leaf_text_add(text, nbytes, "  codes of %s:", columns->names[leaf->column]);
    for (uint64_t i = 0; i < leaf->n_intervals && i < SHOWN; ++i) {
        const kr_interval at = leaf->intervals[i];
        const uint64_t high = at.high < count ? at.high : count - 1;
        if (at.low >= count)
            kr_leaf_text_add(text, nbytes, "%s none", i ? "," : "");
        else if (at.low == high)
            kr_leaf_text_add(text, nbytes, "%s %llu", i ? "," : "", (unsigned long long)at.low);
        else
            kr_leaf_text_add(text, nbytes, "%s %llu to %llu", i ? "," : "", (unsigned long long)at.low,
                             (unsigned long long)high);
    }
    if (leaf->n_intervals > SHOWN)
        kr_leaf_text_add(text, nbytes, ", %llu more ranges", (unsigned long long)leaf->n_intervals - SHOWN);
    kr_leaf_text_add(text, nbytes, "; of %llu texts\n", (unsigned long long)count);
}

/* A conjunction, or a leaf alone: its leaves, then what the kind says. */
static void explain_leaves(const kr_table *table, const kr_leaf *const *leaves, uint32_t n, char *text,
                           size_t nbytes)
{
    const kr_plan_columns columns = kr_table_plan_columns(table);
    const kr_select job = {.leaves = leaves, .n_leaves = n};
    const size_t used = strlen(text);
    char line[LEAF_NBYTES];
    for (uint32_t i = 0; i < n; ++i) {
        kr_leaf_describe(leaves[i], &columns, line, sizeof line);
        kr_leaf_text_add(text, nbytes, "%s\n", line);
        explain_codes(&columns, leaves[i], text, nbytes);
    }
    const size_t now = strlen(text);
    if (table->ops->explain && now > used)
        table->ops->explain(table->self, &job, text + now, nbytes - now);
}

/* The node that each node is an operand of. */
static void find_parents(const kr_plan *plan, uint64_t *parents)
{
    for (uint64_t at = 0; at < plan->n_nodes; ++at) {
        const kr_plan_node *node = plan->nodes + at;
        uint64_t child = at - 1;
        parents[at] = at;
        for (uint32_t i = 0; node->op != KR_PLAN_LEAF && i < node->n; child -= plan->nodes[child].size, ++i)
            parents[child] = at;
    }
}

/* How many leaves from node `at` on are answered together. */
static uint32_t collect_leaves(const kr_plan *plan, const uint64_t *parents, uint64_t at,
                               const kr_leaf **leaves)
{
    uint32_t n = 0;
    do
        leaves[n++] = plan->leaves + plan->nodes[at++].n;
    while (at < plan->n_nodes && plan->nodes[at].op == KR_PLAN_LEAF && parents[at] == parents[at - 1] &&
           plan->nodes[parents[at]].op == KR_PLAN_AND);
    return n;
}

/* How AND and OR come together, unless the plan is one conjunction. */
static void explain_whole(const kr_table *table, const kr_plan *plan, char *text, size_t nbytes)
{
    char line[KR_SCAN_STEP_NBYTES];
    if (!kr_plan_has_or(plan))
        return;
    if (table->ops->explain_plan && table->ops->explain_plan(table->self, plan, line))
        kr_leaf_text_add(text, nbytes, "%s\n", line);
    else
        kr_leaf_text_add(text, nbytes, KR_SCAN_BY_BITMAPS "\n");
}

/* The nodes in postfix order, as they are answered. */
kr_status kr_scan_explain_plan(const kr_table *table, const kr_plan *plan, char *text, size_t nbytes,
                               kr_error *err)
{
    uint64_t *parents = kr_host_calloc(plan->n_nodes, sizeof *parents, "a condition", err);
    const kr_leaf **leaves = kr_host_calloc(plan->n_leaves, sizeof *leaves, "a condition", err);
    kr_status status = parents && leaves ? KR_OK : KR_ERR_HOST_MEMORY;
    if (status == KR_OK)
        status = kr_scan_check_plan(table, plan, err);
    text[0] = '\0';
    if (status == KR_OK)
        find_parents(plan, parents);
    for (uint64_t i = 0; i < plan->n_nodes && status == KR_OK; ++i) {
        const kr_plan_node *node = plan->nodes + i;
        const int is_and = node->op == KR_PLAN_AND;
        if (node->op == KR_PLAN_LEAF) {
            const uint32_t n = collect_leaves(plan, parents, i, leaves);
            explain_leaves(table, leaves, n, text, nbytes);
            i += n - 1;
        } else if (!node->n) {
            kr_leaf_text_add(text, nbytes, is_and ? "every row\n" : "no row\n");
        } else {
            kr_leaf_text_add(text, nbytes, "%s of the last %u\n", is_and ? "all" : "any", node->n);
        }
    }
    if (status == KR_OK)
        explain_whole(table, plan, text, nbytes);
    free(leaves);
    free(parents);
    return status;
}
