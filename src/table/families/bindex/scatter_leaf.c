/* Which vectors answer a leaf, and at which positions the rows are that these leave wrong. */
#include "table/condition/grow.h"
#include "table/families/bindex/scatter.h"

#include <stdlib.h>

/* A bin, and the intervals that reach into it. */
typedef struct bin {
    uint64_t low, high; /* its codes */
    const kr_interval *pieces;
    uint64_t n_pieces;
} bin;

static kr_interval piece_of(const bin *b, uint64_t i)
{
    const kr_interval at = b->pieces[i];
    return (kr_interval){at.low > b->low ? at.low : b->low, at.high < b->high ? at.high : b->high};
}

/* ---- Rests ----------------------------------------------------------------------------------- */

/* The last block whose first code is below `code`, or not above it; 0 if there is none. */
static uint64_t last_block(const bindex_scatter_column *column, uint64_t code, int with_equals)
{
    uint64_t low = 0, high = column->n_blocks;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (column->firsts[middle] < code || (with_equals && column->firsts[middle] == code))
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* Rests that share a block become one, so that no position is read twice: what is between them is compared,
 * too, and written as it is. */
static kr_status add_rest(bindex_scattered *s, const bindex_scatter_column *column, uint64_t low,
                          uint64_t high, kr_error *err)
{
    const bindex_rest rest = {low, high, last_block(column, low, 0), last_block(column, high, 1) + 1};
    bindex_rest *last = s->n_rests ? s->rests + s->n_rests - 1 : NULL;
    if (low > high)
        return KR_OK;
    if (last && rest.first_block < last->end_block) {
        last->high = high;
        last->end_block = rest.end_block > last->end_block ? rest.end_block : last->end_block;
        return KR_OK;
    }
    if (!kr_condition_grow((void **)&s->rests, &s->room_rests, s->n_rests, 1, sizeof *s->rests, "a condition",
                           err))
        return KR_ERR_HOST_MEMORY;
    s->rests[s->n_rests++] = rest;
    return KR_OK;
}

/* Of a bin of which only some codes are in the leaf: those, or, if its rows are kept, the others. */
static kr_status add_rests(bindex_scattered *s, const bindex_scatter_column *column, const bin *b,
                           int is_kept, kr_error *err)
{
    kr_status status = KR_OK;
    uint64_t from = b->low;
    for (uint64_t i = 0; i < b->n_pieces && status == KR_OK; ++i) {
        const kr_interval piece = piece_of(b, i);
        if (!is_kept)
            status = add_rest(s, column, piece.low, piece.high, err);
        else if (piece.low > from)
            status = add_rest(s, column, from, piece.low - 1, err);
        from = piece.high + 1;
        if (is_kept && piece.high == b->high)
            return status;
    }
    return status == KR_OK && is_kept ? add_rest(s, column, from, b->high, err) : status;
}

static void count_work(const bindex_scatter_column *column, bindex_scattered *s)
{
    for (uint64_t r = 0; r < s->n_rests; ++r) {
        const uint64_t last = s->rests[r].end_block - 1;
        s->n_launches += last + 1 - s->rests[r].first_block;
        s->n_positions +=
            (last - s->rests[r].first_block) * BINDEX_SCATTER_BLOCK + bindex_block_rows(column, last);
    }
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Rows up to border p: no row, those of vector p - 1, all values, all rows. */
static void add_border(bindex_scattered *s, const bindex_scatter_column *column, uint32_t p)
{
    if (p > column->n_limits + column->has_nulls)
        s->inverts ^= 1;
    else if (p > 0)
        s->vectors[s->n_vectors++] = p - 1;
}

/* The vector at one end of a bin is nearer to the constant than that at the other: measured in codes, as in
 * the authors' program. For more intervals: more of its codes are in the leaf than not. */
static int is_kept_bin(const bin *b)
{
    uint64_t in = 0;
    for (uint64_t i = 0; i < b->n_pieces; ++i) {
        const kr_interval piece = piece_of(b, i);
        in += piece.high - piece.low + 1;
    }
    return in > b->high - b->low - in + 1;
}

static bin bin_of(const bindex_scatter_column *column, uint32_t i)
{
    return (bin){.low = i ? column->limits[i - 1] + 1 : column->lowest,
                 .high = i < column->n_limits ? column->limits[i] : column->highest};
}

/* Whether the rows of the bin are kept; adds its rests. */
static kr_status decide_bin(bindex_scattered *s, const bindex_scatter_column *column, const bin *b,
                            int *keeps, kr_error *err)
{
    const kr_interval first = b->n_pieces ? piece_of(b, 0) : (kr_interval){1, 0};
    *keeps = b->n_pieces && first.low == b->low && first.high == b->high;
    if (*keeps || !b->n_pieces)
        return KR_OK;
    *keeps = is_kept_bin(b);
    return add_rests(s, column, b, *keeps, err);
}

static kr_status decide(bindex_scattered *s, const bindex_scatter_column *column, const kr_leaf *leaf,
                        kr_error *err)
{
    const kr_interval *next = leaf->intervals, *end = leaf->intervals + leaf->n_intervals;
    const uint32_t n_bins = column->n_valid ? column->n_limits + 1 : 0;
    const int keeps_nulls = leaf->nulls && column->has_nulls;
    int was_kept = 0, keeps = 0;
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < n_bins && status == KR_OK; ++i, was_kept = keeps) {
        bin b = bin_of(column, i);
        while (next < end && next->high < b.low)
            ++next;
        b.pieces = next;
        while (next + b.n_pieces < end && next[b.n_pieces].low <= b.high)
            ++b.n_pieces;
        status = decide_bin(s, column, &b, &keeps, err);
        if (keeps != was_kept)
            add_border(s, column, i);
    }
    if (was_kept != keeps_nulls && column->has_nulls)
        add_border(s, column, column->n_limits + 1);
    if (column->has_nulls ? keeps_nulls : was_kept)
        add_border(s, column, column->n_limits + 2);
    return status;
}

kr_status bindex_scatter_leaf(const bindex_scatter_column *column, const kr_leaf *leaf,
                              bindex_scattered *made, kr_error *err)
{
    bindex_scattered s = {.inverts = leaf->other != KR_NO_COLUMN};
    const kr_status status = s.inverts ? KR_OK : decide(&s, column, leaf, err);
    count_work(column, &s);
    if (status == KR_OK)
        *made = s;
    else
        bindex_scattered_release(&s);
    return status;
}

void bindex_scattered_release(bindex_scattered *made)
{
    free(made->rests);
    *made = (bindex_scattered){.n_rests = 0};
}
