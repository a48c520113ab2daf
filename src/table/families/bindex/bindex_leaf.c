/* Which vectors answer a leaf, and which rows are then still wrong.
 *
 * The ends of the leaf's intervals are its edges: a code belongs to the leaf if the number of edges up to it
 * is odd. XOR of vectors gives each section one truth. In a section without an edge that is the leaf's. In
 * one with edges it is that of the larger share of its rows; runs name the cells of the others. Cells with an
 * edge inside are compared row by row. */
#include "base/key/key.h"
#include "table/condition/grow.h"
#include "table/families/bindex/bindex.h"

/* A leaf with more edges than this has one run in a section. */
enum { EDGES_APART = 64 };

typedef struct walk {
    const bindex_column *column;
    const kr_leaf *leaf;
    bindex_lists *lists;
    bindex_cost *cost;
    uint64_t n_edges, first_vector;
    uint32_t number; /* of the leaf */
    uint32_t starts; /* 1: code 0 belongs to the leaf */
    uint32_t truth;  /* right before the next edge */
    uint32_t base;   /* of the last section that was set */
    kr_error *err;
} walk;

/* A cell with edges first .. end - 1 inside. */
typedef struct cell {
    uint32_t number;
    uint32_t truth; /* at its first code */
    uint64_t first, end;
} cell;

static uint64_t edge(const walk *w, uint64_t i)
{
    const kr_interval *at = w->leaf->intervals + (i + w->starts) / 2;
    return (i + w->starts) % 2 ? at->high + 1 : at->low;
}

/* ---- Sections -------------------------------------------------------------------------------- */

static uint32_t first_cell(const walk *w, uint32_t section)
{
    return section ? w->column->ends[section - 1] : 0;
}

static uint32_t end_cell(const walk *w, uint32_t section)
{
    return section + 1 < w->column->n_sections ? w->column->ends[section] : w->column->view.n_cells;
}

static uint32_t section_of(const walk *w, uint32_t number)
{
    uint32_t low = 0, high = w->column->n_sections - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (w->column->ends[middle] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sections from this one on have the truth `base`, until another is set: the vector that ends before it makes
 * the difference. */
static kr_status set_base(walk *w, uint32_t section, uint32_t base)
{
    bindex_lists *lists = w->lists;
    if (section && base != w->base) {
        const uint32_t vector = section - 1;
        if (lists->n_vectors > w->first_vector && lists->vectors[lists->n_vectors - 1] == vector)
            --lists->n_vectors;
        else if (!kr_condition_grow((void **)&lists->vectors, &lists->room_vectors, lists->n_vectors, 1,
                                    sizeof *lists->vectors, "a condition", w->err))
            return KR_ERR_HOST_MEMORY;
        else
            lists->vectors[lists->n_vectors++] = vector;
    }
    w->base = base;
    return KR_OK;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The next cell of a section: c->end is where the one before stopped, c->truth the truth there. */
static void next_cell(const walk *w, uint64_t end, cell *c)
{
    const bindex_column *column = w->column;
    const uint32_t is_last = c->number + 1 == column->view.n_cells;
    c->first = c->end;
    if (c->first < end && edge(w, c->first) == column->codes[c->number]) {
        c->truth ^= 1;
        ++c->first;
    }
    c->end = c->first;
    while (c->end < end && (is_last || edge(w, c->end) < column->codes[c->number + 1]))
        ++c->end;
}

static void leave_cell(cell *c)
{
    c->truth ^= (uint32_t)((c->end - c->first) & 1);
    ++c->number;
}

/* Rows of a section's cells without edges that are in the leaf, less those that are not. */
static int64_t balance(const walk *w, uint32_t section, uint64_t first, uint64_t end)
{
    int64_t sum = 0;
    const uint32_t stop = end_cell(w, section);
    for (cell c = {first_cell(w, section), w->truth, first, first}; c.number < stop; leave_cell(&c)) {
        next_cell(w, end, &c);
        const int64_t rows = (int64_t)w->column->counts[c.number];
        sum += c.first != c.end ? 0 : c.truth ? rows : -rows;
    }
    return sum;
}

/* Edge `first` of the leaf, the section's first, is in the list at `listed`. */
static kr_status add_run(walk *w, const cell *c, uint64_t first, uint64_t listed, uint64_t n_before)
{
    bindex_lists *lists = w->lists;
    const bindex_run run = {.first_cell = c->number,
                            .end_cell = c->number + 1,
                            .first_edge = (uint32_t)(listed + c->first - first),
                            .end_edge = (uint32_t)(listed + c->end - first),
                            .leaf = w->number,
                            .even = c->truth ^ w->base};
    bindex_run *last = lists->n_runs > n_before ? lists->runs + lists->n_runs - 1 : NULL;
    const int are_plain = last && last->first_edge == run.end_edge && last->end_cell == run.first_cell;
    if (last && (are_plain || w->n_edges > EDGES_APART)) {
        last->end_cell = run.end_cell; /* cells between the two are compared, too */
        last->end_edge = run.end_edge;
        return KR_OK;
    }
    if (!kr_condition_grow((void **)&lists->runs, &lists->room_runs, lists->n_runs, 1, sizeof run,
                           "a condition", w->err))
        return KR_ERR_HOST_MEMORY;
    lists->runs[lists->n_runs++] = run;
    return KR_OK;
}

static void count_cost(walk *w, uint64_t first_run)
{
    for (uint64_t r = first_run; r < w->lists->n_runs; ++r) {
        const bindex_run *run = w->lists->runs + r;
        uint64_t rows = 0;
        for (uint32_t c = run->first_cell; c < run->end_cell; ++c)
            rows += w->column->counts[c];
        w->cost->refined += rows;
        w->cost->compared += run->first_edge != run->end_edge ? rows : 0;
    }
}

/* Edges first .. end - 1 are those of the section. */
static kr_status add_section(walk *w, uint32_t section, uint64_t first, uint64_t end)
{
    bindex_lists *lists = w->lists;
    const uint64_t listed = lists->n_edges, n_runs = lists->n_runs;
    const uint32_t stop = end_cell(w, section);
    kr_status status = set_base(w, section, balance(w, section, first, end) > 0);
    if (!kr_condition_grow((void **)&lists->edges, &lists->room_edges, listed, end - first,
                           sizeof *lists->edges, "a condition", w->err))
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = first; i < end; ++i)
        lists->edges[lists->n_edges++] = edge(w, i);
    cell c = {first_cell(w, section), w->truth, first, first};
    for (; c.number < stop && status == KR_OK; leave_cell(&c)) {
        next_cell(w, end, &c);
        const int is_wrong = c.first != c.end || c.truth != w->base;
        if (is_wrong && w->column->counts[c.number])
            status = add_run(w, &c, first, listed, n_runs);
    }
    w->truth = c.truth;
    count_cost(w, n_runs);
    if (lists->n_runs == n_runs)
        lists->n_edges = listed;
    return status == KR_OK && section + 1 < w->column->n_sections ? set_base(w, section + 1, w->truth)
                                                                  : status;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static kr_status add_sections(walk *w)
{
    kr_status status = set_base(w, 0, w->truth);
    for (uint64_t i = 0, next = 0; i < w->n_edges && status == KR_OK; i = next) {
        const uint32_t number = bindex_borders_cell(w->column, edge(w, i)), section = section_of(w, number);
        const uint32_t end = end_cell(w, section), is_last = end == w->column->view.n_cells;
        next = i + 1;
        if (section && edge(w, i) == w->column->codes[first_cell(w, section)]) {
            w->truth ^= 1;
            status = set_base(w, section, w->truth);
            continue;
        }
        while (next < w->n_edges && (is_last || edge(w, next) < w->column->codes[end]))
            ++next;
        status = add_section(w, section, i, next);
    }
    return status;
}

/* NULLs are outside of all sections: the last vector says which rows are not NULL. */
static kr_status add_nulls(walk *w, uint32_t *invert)
{
    bindex_lists *lists = w->lists;
    const bindex_view *view = &w->column->view;
    const uint32_t has_validity = view->n_vectors == w->column->n_sections,
                   nulls = w->leaf->nulls && has_validity;
    *invert = (has_validity ? nulls : w->base) ? 0xFFFFFFFFu : 0;
    if (!has_validity || w->base == nulls)
        return KR_OK;
    if (!kr_condition_grow((void **)&lists->vectors, &lists->room_vectors, lists->n_vectors, 1,
                           sizeof *lists->vectors, "a condition", w->err))
        return KR_ERR_HOST_MEMORY;
    lists->vectors[lists->n_vectors++] = view->n_vectors - 1;
    return KR_OK;
}

/* All rows of two columns are read. */
static void compare_columns(const bindex_view *view, const bindex_view *other, uint32_t compare,
                            bindex_leaf *made, bindex_cost *cost)
{
    *made = (bindex_leaf){.data = view->data,
                          .type = view->type,
                          .other = other->data,
                          .validity = view->validity,
                          .other_validity = other->validity,
                          .validity_offset = view->validity_offset,
                          .other_offset = other->validity_offset,
                          .compare = compare};
    cost->refined += view->n;
    cost->compared += view->n;
}

kr_status bindex_leaf_add(const bindex_part *part, const kr_leaf *leaf, uint32_t number, bindex_lists *lists,
                          bindex_leaf *made, bindex_cost *cost, kr_error *err)
{
    const bindex_column *column = part->columns + leaf->column;
    const bindex_view *view = &column->view;
    if (leaf->other != KR_NO_COLUMN) {
        compare_columns(view, &part->columns[leaf->other].view, leaf->compare, made, cost);
        return KR_OK;
    }
    const uint64_t most = kr_plan_most_code(view->type), n = leaf->n_intervals;
    walk w = {.column = column,
              .leaf = leaf,
              .lists = lists,
              .cost = cost,
              .first_vector = lists->n_vectors,
              .number = number,
              .starts = n && leaf->intervals[0].low == 0,
              .err = err};
    w.truth = w.starts;
    w.n_edges = 2 * n - w.starts - (n && leaf->intervals[n - 1].high == most);
    *made = (bindex_leaf){.vectors = view->vectors,
                          .starts = view->starts,
                          .positions = view->positions,
                          .data = view->data,
                          .type = view->type,
                          .first_more = (uint32_t)w.first_vector};
    kr_status status = add_sections(&w);
    if (status == KR_OK)
        status = add_nulls(&w, &made->invert);
    made->end_more = (uint32_t)lists->n_vectors;
    cost->vectors += made->end_more - made->first_more;
    return status;
}

void bindex_lists_release(bindex_lists *lists)
{
    free(lists->vectors);
    free(lists->edges);
    free(lists->runs);
}
