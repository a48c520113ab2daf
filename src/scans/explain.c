#include "scans/explain.h"
#include "scans/describe.h"

enum { LEAF_NBYTES = 200 };

/* One conjunction, or a leaf alone: what the kind says, else the leaf. */
static void explain_leaf(const kr_table *table, const kr_leaf *leaf, char *text, size_t nbytes)
{
    const kr_plan_columns columns = kr_table_plan_columns(table);
    const kr_select job = {&leaf, 1, NULL, NULL};
    char line[LEAF_NBYTES];
    if (table->ops->explain && leaf->other == KR_NO_COLUMN) {
        table->ops->explain(table->self, &job, text, nbytes);
        return;
    }
    kr_leaf_describe(leaf, &columns, line, sizeof line);
    kr_text_add(text, nbytes, "%s\n", line);
}

/* The nodes in postfix order, as they are answered. */
void kr_plan_explain(const kr_table *table, const kr_plan *plan, char *text, size_t nbytes)
{
    text[0] = '\0';
    for (uint64_t i = 0; i < plan->n_nodes; ++i) {
        const kr_plan_node *node = plan->nodes + i;
        const int is_and = node->op == KR_PLAN_AND;
        if (node->op == KR_PLAN_LEAF)
            explain_leaf(table, plan->leaves + node->n, text, nbytes);
        else if (!node->n)
            kr_text_add(text, nbytes, is_and ? "every row\n" : "no row\n");
        else
            kr_text_add(text, nbytes, "%s of the last %u\n", is_and ? "all" : "any", node->n);
    }
}
