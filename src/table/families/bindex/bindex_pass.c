/* The parameters of a launch: leaves and their lists. */
#include "table/families/bindex/bindex.h"

#include <string.h>

uint32_t bindex_leaves_most(const kr_device *device)
{
    const uint32_t nbytes = device->block_nbytes - BINDEX_RUNS * 2 * sizeof(uint32_t);
    const uint32_t most = nbytes / (BINDEX_WORDS * sizeof(uint32_t));
    return most < BINDEX_LEAVES ? most : BINDEX_LEAVES;
}

int bindex_pass_has_room(const bindex_pass *pass, const kr_device *device)
{
    return pass->params.n_leaves < bindex_leaves_most(device) &&
           pass->lists.n_runs + BINDEX_LEAF_RUNS <= BINDEX_RUNS;
}

static void take_first_vector(bindex_pass *pass, const bindex_view *view)
{
    bindex_leaf *leaf = pass->params.leaves + pass->params.n_leaves++;
    leaf->vector = leaf->first_more < leaf->end_more
                       ? view->vectors + pass->lists.vectors[leaf->first_more++] * view->n_tiles * view->words
                       : NULL;
}

kr_status bindex_pass_add(bindex_pass *pass, const bindex_part *part, const kr_leaf *leaf, bindex_cost *cost,
                          kr_error *err)
{
    bindex_cost ignored = {0};
    const kr_status status =
        bindex_leaf_add(part, leaf, pass->params.n_leaves, &pass->lists,
                        pass->params.leaves + pass->params.n_leaves, cost ? cost : &ignored, err);
    if (status == KR_OK)
        take_first_vector(pass, &part->columns[leaf->column].view);
    return status;
}

uint64_t bindex_lists_nbytes(const bindex_lists *lists)
{
    if (lists->n_runs <= BINDEX_INLINE && lists->n_edges <= BINDEX_INLINE &&
        lists->n_vectors <= BINDEX_INLINE)
        return 0;
    return lists->n_edges * sizeof *lists->edges + lists->n_runs * sizeof *lists->runs +
           (lists->n_vectors * sizeof *lists->vectors + 7) / 8 * 8;
}

static void copy(void *to, const void *from, uint64_t nbytes)
{
    if (nbytes)
        memcpy(to, from, nbytes);
}

/* Edges, runs, vectors. */
void bindex_lists_write(const bindex_lists *lists, char *to)
{
    const uint64_t edges = lists->n_edges * sizeof *lists->edges, runs = lists->n_runs * sizeof *lists->runs;
    copy(to, lists->edges, edges);
    copy(to + edges, lists->runs, runs);
    copy(to + edges + runs, lists->vectors, lists->n_vectors * sizeof *lists->vectors);
}

static void put_lists(bindex_pass *pass, const char *there)
{
    const bindex_lists *lists = &pass->lists;
    bindex_params *params = &pass->params;
    params->more_edges = NULL;
    params->more_runs = NULL;
    params->more_vectors = NULL;
    if (bindex_lists_nbytes(lists)) {
        params->more_edges = (const uint64_t *)there;
        params->more_runs = (const bindex_run *)(params->more_edges + lists->n_edges);
        params->more_vectors = (const uint32_t *)(params->more_runs + lists->n_runs);
        return;
    }
    copy(params->edges, lists->edges, lists->n_edges * sizeof *lists->edges);
    copy(params->runs, lists->runs, lists->n_runs * sizeof *lists->runs);
    copy(params->vectors, lists->vectors, lists->n_vectors * sizeof *lists->vectors);
}

void bindex_pass_finish(bindex_pass *pass, const bindex_table *table, const bindex_part *part,
                        const bindex_target *to, const char *lists)
{
    const bindex_view *view = &part->columns[0].view;
    const uint64_t first_word = part->first / 32;
    const int is_last = part + 1 == table->parts + table->n_parts;
    bindex_params *params = &pass->params;
    put_lists(pass, lists);
    params->alive = to->alive ? to->alive + first_word : NULL;
    params->bitmap = to->bitmap ? to->bitmap + first_word : NULL;
    params->count = to->count;
    params->counted = (is_last ? kr_scans_bitmap_words(table->n_rows) : part[1].first / 32) - first_word;
    params->n = part->n;
    params->n_tiles = view->n_tiles;
    params->n_runs = (uint32_t)pass->lists.n_runs;
    params->words = view->words;
}

void bindex_pass_clear(bindex_pass *pass)
{
    pass->lists.n_runs = pass->lists.n_edges = pass->lists.n_vectors = 0;
    pass->params.n_leaves = 0;
}

uint32_t bindex_pass_shared(uint32_t n_leaves, uint32_t n_runs)
{
    return (uint32_t)(n_leaves * BINDEX_WORDS * sizeof(uint32_t) + n_runs * 2 * sizeof(uint32_t));
}
