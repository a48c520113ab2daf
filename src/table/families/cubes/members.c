/* Which plans a batch takes, and their parts. The first stage answers the first part of each conjunction, and
 * whole ORs of conjunctions whose columns share a scene: their sieved rows are united, their regions are
 * visited together, and a row that is met gets the truth of the whole. */
#include "table/families/cubes/batch.h"

#include <stdio.h>
#include <stdlib.h>

/* Conjunctions of an OR that are answered together. */
enum { TERMS_MOST = 16 };

/* The leaves of a node that is a leaf or an AND of leaves. */
static uint32_t leaves_of(const kr_plan *plan, uint64_t at, const kr_leaf **leaves)
{
    const kr_plan_node *node = plan->nodes + at;
    const uint32_t n = node->op == KR_PLAN_LEAF ? 1 : node->n;
    const uint64_t first = node->op == KR_PLAN_LEAF ? at : at - n;
    for (uint32_t i = 0; i < n; ++i)
        leaves[i] = plan->leaves + plan->nodes[first + i].n;
    return n;
}

/* Whether the plan is an OR of conjunctions of leaves with values; its operands, if so. */
static uint32_t terms_of(const kr_plan *plan, uint64_t terms[TERMS_MOST])
{
    const kr_plan_node *root = plan->nodes + plan->n_nodes - 1;
    uint64_t child = plan->n_nodes - 2;
    if (root->op != KR_PLAN_OR || root->n > TERMS_MOST)
        return 0;
    for (uint32_t i = 0; i < root->n; child -= plan->nodes[child].size, ++i) {
        const kr_plan_node *node = plan->nodes + child;
        if (node->op != KR_PLAN_LEAF && node->size != node->n + 1)
            return 0;
        terms[i] = child;
    }
    return root->n;
}

static int has_column(const cubes_group *group, uint32_t column)
{
    int has = 0;
    for (uint32_t axis = 0; axis < group->n_columns; ++axis)
        has |= group->columns[axis] == column;
    return has;
}

static cubes_group *group_of_all(const cubes_table *table, const kr_plan *plan)
{
    for (uint32_t g = 0; g < table->n_groups; ++g) {
        int has_all = 1;
        for (uint64_t l = 0; l < plan->n_leaves; ++l)
            has_all &= has_column(table->groups + g, plan->leaves[l].column);
        if (has_all)
            return table->groups + g;
    }
    return NULL;
}

/* A part for each conjunction of the OR, all of one group. */
static kr_status make_terms(const cubes_table *table, const kr_plan *plan, const uint64_t *terms, uint32_t n,
                            cubes_member *m, kr_error *err)
{
    cubes_group *group = group_of_all(table, plan);
    const kr_leaf *leaves[CUBES_AXES];
    kr_status status = KR_OK;
    m->parts = kr_host_calloc(n, sizeof *m->parts, "a condition", err);
    if (!m->parts)
        return KR_ERR_HOST_MEMORY;
    m->n_parts = n;
    m->is_or = m->n_stages = 1;
    for (uint32_t t = 0; t < n && status == KR_OK; ++t) {
        cubes_part *part = m->parts + t;
        const uint32_t n_leaves = leaves_of(plan, terms[t], leaves);
        part->table = table;
        part->group = group;
        for (uint32_t l = 0; l < n_leaves; ++l)
            for (uint32_t axis = 0; axis < group->n_columns; ++axis)
                if (group->columns[axis] == leaves[l]->column)
                    part->leaves[axis] = leaves[l];
        status = cubes_part_plan(part, err);
    }
    return status;
}

kr_status cubes_member_of_conjunction(const cubes_table *table, const kr_select *job, cubes_member *m,
                                      kr_error *err)
{
    const kr_status status = cubes_parts_make(table, job, &m->parts, &m->n_parts, err);
    m->n_stages = m->n_parts;
    return status;
}

static kr_status make_and(const cubes_table *table, const kr_plan *plan, cubes_member *m, kr_error *err)
{
    const kr_leaf **leaves = kr_host_calloc(plan->n_leaves, sizeof *leaves, "a condition", err);
    if (!leaves)
        return KR_ERR_HOST_MEMORY;
    const kr_select job = {.leaves = leaves, .n_leaves = leaves_of(plan, plan->n_nodes - 1, leaves)};
    const kr_status status = cubes_member_of_conjunction(table, &job, m, err);
    free(leaves);
    return status;
}

/* The number of conjunctions, if one scene answers the whole OR; else 0. */
static uint32_t terms_together(const cubes_table *table, const kr_plan *plan, uint64_t terms[TERMS_MOST])
{
    const uint32_t n = table->n_rows ? terms_of(plan, terms) : 0;
    return n && group_of_all(table, plan) ? n : 0;
}

kr_status cubes_member_of_plan(const cubes_table *table, const kr_plan *plan, cubes_member *m, int *is_taken,
                               kr_error *err)
{
    uint64_t terms[TERMS_MOST];
    const int has_or = kr_plan_has_or(plan);
    const uint32_t n_terms = has_or ? terms_together(table, plan, terms) : 0;
    *is_taken = !has_or || n_terms;
    if (!*is_taken)
        return KR_OK;
    return has_or ? make_terms(table, plan, terms, n_terms, m, err) : make_and(table, plan, m, err);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void describe_or(const cubes_member *m, char *text, size_t nbytes)
{
    uint64_t n_vectors = 0, n_regions = 0, n_rays = 0;
    for (uint32_t t = 0; t < m->n_parts; ++t) {
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            n_vectors += m->parts[t].leaves[axis] ? m->parts[t].sieved[axis].n_vectors : 0;
        n_regions += m->parts[t].n_regions;
        n_rays += m->parts[t].n_rays;
    }
    snprintf(
        text, nbytes, "%u conjunctions under OR in one scene: %llu filter vectors, %llu regions, %llu rays",
        m->n_parts, (unsigned long long)n_vectors, (unsigned long long)n_regions, (unsigned long long)n_rays);
}

void cubes_member_log(const cubes_member *m, kr_scan_log *log)
{
    char text[KR_SCAN_STEP_NBYTES];
    if (m->is_or) {
        describe_or(m, text, sizeof text);
        kr_scans_log_step(log, "%s", text);
    }
    for (uint32_t t = 0; t < m->n_parts; ++t) {
        cubes_part_describe(m->parts + t, text, sizeof text);
        kr_scans_log_step(log, "%s", text);
        log->work[KR_SCAN_RAYS] += m->parts[t].n_rays;
    }
}

int cubes_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    cubes_member m = {.parts = NULL};
    int is_taken = 0;
    if (kr_plan_has_or(plan) && cubes_member_of_plan(self, plan, &m, &is_taken, NULL) != KR_OK)
        is_taken = 0;
    if (is_taken)
        describe_or(&m, text, KR_SCAN_STEP_NBYTES);
    cubes_parts_release(m.parts, m.parts ? m.n_parts : 0);
    return is_taken;
}
