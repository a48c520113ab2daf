/* Lookups of partitioned batches in kind `btree`, at one key width. */
#include "index/families/btree/btree.h"
#include "index/families/btree/btree_parts_width_body.h"

/* Keys in a block's shared memory, at most: two blocks on a multiprocessor leave most of it to the cache. */
enum { MOST_PIVOTS_NBYTES = 32 * 1024 };

/* Leaves of a part, on average, and a quarter more: parts with still more leaves are searched with gaps. */
static uint32_t pivots_of(const btree_tree *tree, uint32_t bits)
{
    const uint64_t average = tree->n_leaves >> bits, wanted = average + average / 4 + 64;
    const uint64_t most = MOST_PIVOTS_NBYTES / sizeof(kr_key);
    return (uint32_t)(wanted < most ? wanted : most);
}

void KR_W(btree_parts_locate)(kr_work *w, const btree_tree *tree, const kr_locate *job)
{
    btree_parts_params params = {
        .batch = job->batch,
        .put = job->put,
        .tree = *tree,
        .partition = *job->partition,
        .filled = (float)tree->n / (float)tree->n_leaves,
        .most = pivots_of(tree, job->partition->bits),
    };
    params.blocks.shared_nbytes = params.most * (uint32_t)sizeof(kr_key);
    const kr_program *program = job->batch.near.how             ? &KR_W(btree_parts_nearest)
                                : kr_put_wants_first(&job->put) ? &KR_W(btree_parts_first)
                                                                : &KR_W(btree_parts_match);
    kr_work_run(w, program, &params, job->partition->most_segments);
}
