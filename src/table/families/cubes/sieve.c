#include "table/families/cubes/sieve.h"
#include "table/condition/grow.h"
#include "table/families/cubes/sieve_body.h"

#include <stdlib.h>

/* A bin under way. */
typedef struct bin {
    uint64_t low, high; /* its codes */
    cubes_span span;
    const kr_interval *pieces; /* intervals that reach into it */
    uint64_t n_pieces;
} bin;

static void unite(cubes_span *to, cubes_span from)
{
    if (from.first > from.last)
        return;
    const int is_empty = to->first > to->last;
    to->first = is_empty || from.first < to->first ? from.first : to->first;
    to->last = is_empty || from.last > to->last ? from.last : to->last;
}

static kr_interval piece_of(const bin *b, uint64_t i)
{
    const kr_interval at = b->pieces[i];
    return (kr_interval){at.low > b->low ? at.low : b->low, at.high < b->high ? at.high : b->high};
}

/* ---- Rests ----------------------------------------------------------------------------------- */

static kr_status add_rest(cubes_sieved *s, cubes_span span, uint32_t is_kept, uint32_t gap, kr_error *err)
{
    cubes_rest *last = s->n_rests ? s->rests + s->n_rests - 1 : NULL;
    if (span.first > span.last)
        return KR_OK;
    if (last && last->is_kept == is_kept && span.first <= last->span.last + 1 + (int32_t)gap) {
        unite(&last->span, span);
        return KR_OK;
    }
    if (!kr_condition_grow((void **)&s->rests, &s->room_rests, s->n_rests, 1, sizeof *s->rests, "a condition",
                           err))
        return KR_ERR_HOST_MEMORY;
    s->rests[s->n_rests++] = (cubes_rest){span, is_kept};
    return KR_OK;
}

/* A bin of which only some codes are in the leaf: those, or, if it is kept, the others. */
static kr_status add_rests(cubes_sieved *s, const cubes_cells *cells, const bin *b, int is_kept, uint32_t gap,
                           kr_error *err)
{
    kr_status status = KR_OK;
    uint64_t from = b->low;
    for (uint64_t i = 0; i < b->n_pieces && status == KR_OK; ++i) {
        const kr_interval piece = piece_of(b, i);
        if (!is_kept)
            status = add_rest(s, cubes_cells_of(cells, piece.low, piece.high), 0, gap, err);
        else if (piece.low > from)
            status = add_rest(s, cubes_cells_of(cells, from, piece.low - 1), 1, gap, err);
        from = piece.high + 1;
        if (is_kept && piece.high == b->high)
            return status;
    }
    return status == KR_OK && is_kept ? add_rest(s, cubes_cells_of(cells, from, b->high), 1, gap, err)
                                      : status;
}

/* ---- Bins ------------------------------------------------------------------------------------ */

/* Cells of the bin that are in the leaf, at most. */
static uint64_t count_in(const cubes_cells *cells, const bin *b)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->n_pieces; ++i) {
        const kr_interval piece = piece_of(b, i);
        n += cubes_span_count(cubes_cells_of(cells, piece.low, piece.high));
    }
    return n;
}

static kr_status sieve_bin(cubes_sieved *s, const cubes_cells *cells, const bin *b, int selects_both,
                           uint32_t gap, int *keeps, kr_error *err)
{
    const kr_interval first = b->n_pieces ? piece_of(b, 0) : (kr_interval){1, 0};
    const int is_whole = b->n_pieces && first.low == b->low && first.high == b->high;
    kr_status status = KR_OK;
    *keeps = is_whole;
    if (selects_both && b->n_pieces && !is_whole)
        *keeps = 2 * count_in(cells, b) > cubes_span_count(b->span);
    if (b->n_pieces && !is_whole)
        status = add_rests(s, cells, b, *keeps, gap, err);
    if (b->n_pieces) {
        const cubes_span in =
            is_whole ? b->span : cubes_cells_of(cells, first.low, piece_of(b, b->n_pieces - 1).high);
        unite(&s->leaf, in);
        if (*keeps)
            unite(&s->both, in);
    }
    if (*keeps)
        unite(&s->kept, b->span);
    return status;
}

static bin bin_of(const cubes_column *column, uint32_t i)
{
    return (bin){.low = i ? column->limits[i - 1] + 1 : column->cells.lowest,
                 .high = i < column->n_limits ? column->limits[i] : column->cells.highest,
                 .span = column->bins[i]};
}

kr_status cubes_find_bins(cubes_column *column, kr_error *err)
{
    column->bins = kr_host_calloc(column->n_limits + 1, sizeof *column->bins, "bins", err);
    if (!column->bins)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i <= column->n_limits; ++i) {
        const bin b = bin_of(column, i);
        column->bins[i] = cubes_cells_of(&column->cells, b.low, b.high);
    }
    return KR_OK;
}

/* Rows up to border p: no row, those of vector p - 1, all values, all rows. */
static void add_border(cubes_sieved *s, const cubes_column *column, uint32_t p)
{
    const int has_nulls = column->cells.n_nulls > 0;
    if (p > column->n_limits + (has_nulls ? 1u : 0u))
        s->inverts ^= 1;
    else if (p > 0)
        s->vectors[s->n_vectors++] = (uint16_t)(p - 1);
}

static void add_nulls(cubes_sieved *s, const cubes_column *column)
{
    const cubes_span nulls = cubes_cells_of_nulls(&column->cells);
    unite(&s->leaf, nulls);
    unite(&s->kept, nulls);
    unite(&s->both, nulls);
}

kr_status cubes_sieve(const cubes_column *column, const kr_leaf *leaf, int selects_both, uint32_t gap,
                      cubes_sieved *sieved, kr_error *err)
{
    const cubes_cells *cells = &column->cells;
    const kr_interval *next = leaf->intervals, *end = leaf->intervals + leaf->n_intervals;
    const uint32_t n_bins = cells->n ? column->n_limits + 1 : 0;
    cubes_sieved made = {.leaf = {0, -1}, .kept = {0, -1}, .both = {0, -1}};
    int was_kept = 0;
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < n_bins && status == KR_OK; ++i) {
        bin b = bin_of(column, i);
        int keeps;
        while (next < end && next->high < b.low)
            ++next;
        b.pieces = next;
        while (next + b.n_pieces < end && next[b.n_pieces].low <= b.high)
            ++b.n_pieces;
        status = sieve_bin(&made, cells, &b, selects_both, gap, &keeps, err);
        if (keeps != was_kept)
            add_border(&made, column, i);
        was_kept = keeps;
    }
    const int keeps_nulls = leaf->nulls && cells->n_nulls;
    if (was_kept != keeps_nulls && cells->n_nulls)
        add_border(&made, column, column->n_limits + 1);
    if (cells->n_nulls ? keeps_nulls : was_kept)
        add_border(&made, column, column->n_limits + 2);
    if (keeps_nulls)
        add_nulls(&made, column);
    if (status == KR_OK)
        *sieved = made;
    else
        cubes_sieved_release(&made);
    return status;
}

void cubes_sieved_release(cubes_sieved *sieved)
{
    free(sieved->rests);
    *sieved = (cubes_sieved){0};
}
