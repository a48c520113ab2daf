/* Parts of conjunctions: which group answers which leaves, what the sieve leaves of them, and the regions. */
#include "table/families/cubes/parts.h"
#include "table/condition/describe.h"
#include "table/condition/grow.h"
#include "table/families/cubes/groups.h"

#include <stdlib.h>

/* ---- Regions --------------------------------------------------------------------------------- */

kr_status cubes_part_add(cubes_part *p, const cubes_region *region, kr_error *err)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (region->first[axis] > region->last[axis])
            return KR_OK;
    if (!kr_condition_grow((void **)&p->regions, &p->room_regions, p->n_regions, 1, sizeof *p->regions,
                           "a condition", err))
        return KR_ERR_HOST_MEMORY;
    const cubes_rays rays = cubes_rays_of(&p->group->matrix, region);
    p->n_rays += cubes_rays_count(&rays);
    p->regions[p->n_regions++] = *region;
    return KR_OK;
}

/* The condition selects the rows that are in the leaf on every axis, the sieve those that are in kept bins on
 * every axis. Rays visit the rows that only one of the two selects. With two axes, x before y:
 *
 *              +-------+-----+ leaf
 *              |   D   |     |
 *        +-----+-------+  B  |      ^ y
 *        |     | both  |     |      |
 *        |  A  +-------+-----+      +--> x
 *        |     |   C   |
 *        +-----+-------+
 *        kept bins
 *
 * Such a row is in a rest of some axis: in the leaf or in kept bins, but not in both. We take the first such
 * axis, so on the axes before it the row is in both. On those behind it, the row is in kept bins if the rest
 * is (A: the sieve alone selects the row), or else in the leaf (B: the condition alone does). So every rest
 * of every axis gives one region: A and B are those of x, C and D those of y.
 *
 * Adds the regions of the axis at `place` in the order of axes. */
static kr_status add_regions(cubes_part *p, uint32_t place, kr_error *err)
{
    const cubes_sieved *here = p->sieved + p->order[place];
    kr_status status = KR_OK;
    for (uint64_t r = 0; r < here->n_rests && status == KR_OK; ++r) {
        const cubes_rest *rest = here->rests + r;
        cubes_region region;
        for (uint32_t i = 0; i < CUBES_AXES; ++i) {
            const cubes_sieved *s = p->sieved + p->order[i];
            const cubes_span span = i < place       ? s->both
                                    : i == place    ? rest->span
                                    : rest->is_kept ? s->kept
                                                    : s->leaf;
            region.first[p->order[i]] = span.first;
            region.last[p->order[i]] = span.last;
        }
        status = cubes_part_add(p, &region, err);
    }
    return status;
}

static double share_in_both(const cubes_part *p, uint32_t axis)
{
    return (double)cubes_span_count(p->sieved[axis].both) / p->group->extents[axis];
}

static void order_axes(cubes_part *p)
{
    for (uint32_t i = 0; i < CUBES_AXES; ++i) {
        uint32_t at = i;
        for (; at > 0 && share_in_both(p, i) < share_in_both(p, p->order[at - 1]); --at)
            p->order[at] = p->order[at - 1];
        p->order[at] = i;
    }
}

static cubes_sieved every_cell(uint32_t extent)
{
    const cubes_span all = {0, (int32_t)extent - 1};
    return (cubes_sieved){.inverts = 1, .leaf = all, .kept = all, .both = all};
}

/* Sieves the leaves, and finds the regions that are left. */
kr_status cubes_part_plan(cubes_part *p, kr_error *err)
{
    const cubes_table *table = p->table;
    const uint32_t width = 2 * p->group->matrix.half + 1;
    kr_status status = KR_OK;
    for (uint32_t axis = 0; axis < CUBES_AXES && status == KR_OK; ++axis) {
        p->sieved[axis] = every_cell(p->group->extents[axis]);
        if (p->leaves[axis])
            status = cubes_sieve(table->columns + p->group->columns[axis], p->leaves[axis],
                                 (int)table->design.selects_both, width, p->sieved + axis, err);
    }
    if (status != KR_OK)
        return status;
    order_axes(p);
    for (uint32_t place = 0; place < CUBES_AXES && status == KR_OK; ++place)
        status = add_regions(p, place, err);
    return status;
}

void cubes_part_release(cubes_part *p)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        cubes_sieved_release(p->sieved + axis);
    free(p->regions);
}

/* ---- Parts of a conjunction ------------------------------------------------------------------ */

/* How many of the open leaves the group has columns for. */
static uint32_t count_of(const cubes_group *group, const kr_select *job, const uint8_t *is_done)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < job->n_leaves; ++l)
        for (uint32_t axis = 0; axis < group->n_columns && !is_done[l]; ++axis)
            n += group->columns[axis] == job->leaves[l]->column;
    return n;
}

/* Gives each leaf to a group: the group that has most of the open ones is next. Returns how many. */
static uint32_t choose_groups(const cubes_table *table, const kr_select *job, uint8_t *is_done,
                              cubes_part *parts)
{
    uint32_t n_parts = 0, open = job->n_leaves;
    while (open) {
        cubes_group *best = table->groups;
        for (uint32_t g = 1; g < table->n_groups; ++g)
            if (count_of(table->groups + g, job, is_done) > count_of(best, job, is_done))
                best = table->groups + g;
        cubes_part *p = parts + n_parts++;
        p->table = table;
        p->group = best;
        for (uint32_t l = 0; l < job->n_leaves; ++l)
            for (uint32_t axis = 0; axis < best->n_columns; ++axis)
                if (!is_done[l] && best->columns[axis] == job->leaves[l]->column) {
                    p->leaves[axis] = job->leaves[l];
                    is_done[l] = 1;
                    --open;
                }
    }
    return n_parts;
}

/* 1: a leaf holds for no row. */
static int is_empty(const cubes_part *p)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        const cubes_sieved *s = p->sieved + axis;
        if (p->leaves[axis] && !s->n_vectors && !s->inverts && !cubes_span_count(s->leaf))
            return 1;
    }
    return 0;
}

/* An empty part answers for all. Returns how many parts are left. */
static uint32_t keep_empty(cubes_part *parts, uint32_t n)
{
    uint32_t at = 0;
    while (at < n && !is_empty(parts + at))
        ++at;
    if (at == n)
        return n;
    const cubes_part only = parts[at];
    parts[at] = parts[0];
    parts[0] = only;
    for (uint32_t i = 1; i < n; ++i)
        cubes_part_release(parts + i);
    return 1;
}

void cubes_parts_release(cubes_part *parts, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        cubes_part_release(parts + i);
    free(parts);
}

kr_status cubes_parts_make(const cubes_table *table, const kr_select *job, cubes_part **parts,
                           uint32_t *n_parts, kr_error *err)
{
    uint8_t *is_done = kr_host_calloc(job->n_leaves, 1, "a condition", err);
    cubes_part *made = kr_host_calloc(job->n_leaves, sizeof *made, "a condition", err);
    kr_status status = is_done && made ? KR_OK : KR_ERR_HOST_MEMORY;
    uint32_t n = 0;
    if (status == KR_OK)
        n = choose_groups(table, job, is_done, made);
    for (uint32_t i = 0; i < n && status == KR_OK; ++i)
        status = cubes_part_plan(made + i, err);
    free(is_done);
    if (status != KR_OK) {
        cubes_parts_release(made, n);
        return status;
    }
    *parts = made;
    *n_parts = keep_empty(made, n);
    return KR_OK;
}

/* ---- Text ------------------------------------------------------------------------------------ */

void cubes_part_describe(const cubes_part *p, char *text, size_t nbytes)
{
    const char *separator = "";
    uint32_t n_vectors = 0;
    text[0] = '\0';
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (p->leaves[axis]) {
            kr_leaf_text_add(text, nbytes, "%s%s", separator, p->table->names[p->group->columns[axis]]);
            separator = ", ";
            n_vectors += p->sieved[axis].n_vectors;
        }
    kr_leaf_text_add(text, nbytes, ": %u filter vectors, %llu regions, %llu rays", n_vectors,
                     (unsigned long long)p->n_regions, (unsigned long long)p->n_rays);
}

/* Where ranks do not fit a coordinate each. */
static void describe_cells(const cubes_part *p, char *text, size_t nbytes)
{
    for (uint32_t axis = 0; axis < p->group->n_columns; ++axis) {
        const uint32_t column = p->group->columns[axis];
        const uint32_t low_bits = p->table->columns[column].cells.low_bits;
        if (p->leaves[axis] && low_bits)
            kr_leaf_text_add(
                text, nbytes,
                "%s: coordinates are of %u ranks each, since they have %d bits; rows of the first "
                "and the last are compared\n",
                p->table->names[column], 1u << low_bits, CUBES_CELL_BITS);
    }
}

void cubes_explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const cubes_table *table = self;
    char line[KR_SCAN_STEP_NBYTES];
    cubes_part *parts = NULL;
    uint32_t n_parts = 0;
    text[0] = '\0';
    if (!table->n_rows || cubes_parts_make(table, job, &parts, &n_parts, NULL) != KR_OK)
        return;
    if (n_parts > 1) {
        kr_leaf_text_add(text, nbytes, "scenes of ");
        cubes_groups_describe(table->groups, table->n_groups, table->names, text, nbytes);
        kr_leaf_text_add(text, nbytes, "%s\n",
                         table->design.together > 1 ? "; columns that no option names are split evenly" : "");
        kr_leaf_text_add(text, nbytes,
                         "%u groups in turn, the one with most open columns first; each sees the rows left\n",
                         n_parts);
    }
    for (uint32_t i = 0; i < n_parts; ++i) {
        cubes_part_describe(parts + i, line, sizeof line);
        kr_leaf_text_add(text, nbytes, "%s\n", line);
        describe_cells(parts + i, text, nbytes);
    }
    cubes_parts_release(parts, n_parts);
}
