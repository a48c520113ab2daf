/* Where cells begin, and which of these borders have vectors. */
#include "table/families/bindex/bindex.h"

#include <stdlib.h>

/* The rank of a border: how many of n + 1 equal shares of the rows lie below it. */
typedef struct borders {
    uint64_t *codes;
    uint32_t *ranks;
    uint32_t n;
} borders;

static void add(borders *b, uint64_t code, uint32_t rank)
{
    b->codes[b->n] = code;
    b->ranks[b->n++] = rank;
}

/* A value that was picked twice fills a cell: the next cell begins right behind it. */
static void find_borders(const uint64_t *picked, uint32_t n, uint64_t most, borders *b)
{
    add(b, 0, 0);
    for (uint32_t i = 0, next = 0; i < n; i = next) {
        for (next = i + 1; next < n && picked[next] == picked[i];)
            ++next;
        if (picked[i] > b->codes[b->n - 1])
            add(b, picked[i], i + 1);
        if (next - i > 1 && picked[i] < most)
            add(b, picked[i] + 1, next);
    }
}

/* Each vector ends at the border nearest to where it would end if values could be split. */
static uint32_t choose_ends(const borders *b, uint32_t n_picked, uint32_t vectors, uint32_t *ends)
{
    uint32_t n = 0, c = 1;
    for (uint32_t v = 1; v < vectors && b->n > 1; ++v) {
        const uint64_t wanted = (uint64_t)(n_picked + 1) * v / vectors;
        while (c + 1 < b->n && b->ranks[c] < wanted)
            ++c;
        const int below = c > 1 && b->ranks[c] > wanted && wanted - b->ranks[c - 1] < b->ranks[c] - wanted;
        const uint32_t end = below ? c - 1 : c;
        if (!n || end > ends[n - 1])
            ends[n++] = end;
    }
    return n;
}

kr_status bindex_borders_make(const bindex_picked *from, uint32_t vectors, bindex_column *column,
                              kr_error *err)
{
    const uint32_t n = from->n;
    borders b = {.n = 0};
    column->codes = b.codes = kr_host_calloc(n + 1, sizeof *b.codes, "borders of a column", err);
    column->counts = kr_host_calloc(n + 1, sizeof *column->counts, "borders of a column", err);
    column->ends = kr_host_calloc(vectors, sizeof *column->ends, "borders of a column", err);
    b.ranks = kr_host_calloc(n + 1, sizeof *b.ranks, "borders of a column", err);
    if (!b.codes || !column->counts || !column->ends || !b.ranks) {
        free(b.ranks);
        return KR_ERR_HOST_MEMORY;
    }
    find_borders(from->codes, n, from->most, &b);
    column->n_sections = choose_ends(&b, n, vectors, column->ends) + 1;
    column->view.n_cells = b.n;
    column->view.n_vectors = column->n_sections - !from->has_validity;
    if (from->has_validity)
        column->ends[column->n_sections - 1] = b.n;
    free(b.ranks);
    return KR_OK;
}

void bindex_borders_release(bindex_column *column)
{
    free(column->ends);
    free(column->counts);
    free(column->codes);
}

uint32_t bindex_borders_cell(const bindex_column *column, uint64_t code)
{
    uint32_t low = 0, high = column->view.n_cells;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (column->codes[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}
