/* Searching a partitioned batch (index/partition/partition.h). A block takes a segment of one part's probes
 * and copies the separators of the part's leaves to shared memory, where they are neighbours: order matters
 * in the leaves only. Where a part has too many leaves, it copies every 2^gap_bits-th separator. A leaf is
 * read a block of adjacent keys at a time, the first where the bound would be if keys were spread evenly.
 *
 * Invariant: the separator of the leaf that is found is the last below `lower`, or the first of the part,
 * whose entries begin with one below `lower`, or with the first entry of all. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_PARTS_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_PARTS_WIDTH_BODY_H

#include "base/program/block.h"
#include "index/families/btree/btree_nearest.h"
#include "index/sorted/gallop.h"

enum {
    BTREE_BLOCK = 32 / sizeof(kr_key), /* keys that are read at once: a GPU loads so many bytes in any case */
    BTREE_NEAR = 8, /* leaves in which the end of a match is looked for without a descent */
#if KR_IN_BLOCKS
    /* Probes that a thread searches for at the same time: as many as 32 registers allow, so that two blocks
     * fit on a multiprocessor. */
    BTREE_AT_ONCE = KR_KEY_BITS == 64 ? 1 : 2,
#else
    BTREE_AT_ONCE = 16,
#endif
};

typedef struct btree_parts_params {
    kr_batch batch;
    kr_put put;
    btree_tree tree;
    kr_partition_view partition;
    kr_blocks blocks;
    float filled;  /* entries of a leaf, on average */
    uint32_t most; /* separators of a part that fit in shared memory, and one */
} btree_parts_params;

/* A part as its block sees it. */
typedef struct btree_part {
    const kr_key *pivots; /* of every 2^gap_bits-th leaf, then one behind the part */
    uint32_t first;       /* the ordinal of its first leaf */
    uint32_t n_pivots;    /* except the first and the one behind */
    uint32_t gap_bits;
} btree_part;

typedef struct btree_probe {
    kr_key lower, upper; /* lower > upper: nothing can match */
    uint32_t ordinal;
} btree_probe;

/* A block of a leaf. */
typedef struct btree_run {
    uint32_t slot;          /* the leaf's first */
    uint32_t at;            /* the block's first, from there */
    uint32_t below, within; /* of its keys: < lower, <= upper */
} btree_run;

/* ---- The part -------------------------------------------------------------------------------- */

KR_BODY btree_part btree_part_open(kr_block block, kr_key *shared, const btree_parts_params *p,
                                   uint32_t number)
{
    const btree_tree *tree = &p->tree;
    const uint32_t begin = (uint32_t)kr_batch_cut_at(tree->n, p->partition.bits, number);
    const uint32_t end = (uint32_t)kr_batch_cut_at(tree->n, p->partition.bits, (uint64_t)number + 1);
    btree_part part = {shared, btree_ordinal(tree->starts, tree->n_leaves, tree->per_row, begin), 0, 0};
    const uint32_t last =
        end > begin + 1 ? btree_ordinal(tree->starts, tree->n_leaves, tree->per_row, end - 1) : part.first;
    while ((last - part.first) >> part.gap_bits > p->most - 2)
        ++part.gap_bits;
    part.n_pivots = (last - part.first) >> part.gap_bits;
    for (uint32_t j = block.rank; j < part.n_pivots + 2; j += block.size) {
        const uint64_t ordinal = part.first + ((uint64_t)j << part.gap_bits);
        shared[j] =
            ordinal < tree->n_leaves ? kr_load(btree_separator(tree, (uint32_t)ordinal)) : BTREE_LARGEST;
    }
    kr_block_sync(block);
    return part;
}

/* A separator of the part, or the one behind. */
KR_BODY kr_key btree_part_separator(const btree_parts_params *p, const btree_part *part, uint32_t ordinal)
{
    if (part->gap_bits == 0)
        return part->pivots[ordinal - part->first];
    return ordinal < p->tree.n_leaves ? kr_load(btree_separator(&p->tree, ordinal)) : BTREE_LARGEST;
}

/* From the pivot to the leaf: the next pivot is not below the bound. */
KR_BODY uint32_t btree_part_ordinal(const btree_parts_params *p, const btree_part *part, uint32_t pivot,
                                    kr_key lower)
{
    uint32_t ordinal = part->first + (pivot << part->gap_bits);
    for (uint32_t step = 1u << part->gap_bits >> 1; step; step >>= 1)
        if (step < p->tree.n_leaves - ordinal && kr_load(btree_separator(&p->tree, ordinal + step)) < lower)
            ordinal += step;
    return ordinal;
}

/* ---- A leaf ---------------------------------------------------------------------------------- */

/* Where to begin to read. */
KR_BODY uint32_t btree_guess(const btree_parts_params *p, const btree_part *part, const btree_probe *probe)
{
    const kr_key before = btree_part_separator(p, part, probe->ordinal);
    const kr_key next = btree_part_separator(p, part, probe->ordinal + 1);
    const uint32_t most = (1u << p->tree.node_bits) - BTREE_BLOCK;
    if (probe->lower <= before)
        return 0;
    const float share = (float)(probe->lower - before) / (float)(next - before);
    const uint32_t at = (uint32_t)(share * p->filled) / BTREE_BLOCK * BTREE_BLOCK;
    return at < most ? at : most;
}

KR_BODY void btree_read(const btree_tree *tree, const btree_probe *probe, btree_run *run)
{
    const kr_key *keys = btree_keys(tree, run->slot + run->at);
    run->below = run->within = 0;
    KR_UNROLL
    for (uint32_t j = 0; j < BTREE_BLOCK * sizeof(kr_key) / 16; ++j) {
#if KR_ON_CUDA && KR_KEY_BITS == 32
        const uint4 four = __ldg((const uint4 *)keys + j);
        run->below += (four.x < probe->lower) + (four.y < probe->lower) + (four.z < probe->lower) +
                      (four.w < probe->lower);
        run->within += (four.x <= probe->upper) + (four.y <= probe->upper) + (four.z <= probe->upper) +
                       (four.w <= probe->upper);
#elif KR_ON_CUDA
        const ulonglong2 two = __ldg((const ulonglong2 *)keys + j);
        run->below += (two.x < probe->lower) + (two.y < probe->lower);
        run->within += (two.x <= probe->upper) + (two.y <= probe->upper);
#else
        for (uint32_t t = 0; t < 16 / sizeof(kr_key); ++t) {
            run->below += keys[j * (16 / sizeof(kr_key)) + t] < probe->lower;
            run->within += keys[j * (16 / sizeof(kr_key)) + t] <= probe->upper;
        }
#endif
    }
}

/* The block in which the bound lies, or behind which: from the guess, block by block. */
KR_BODY btree_run btree_find_run(const btree_parts_params *p, const btree_probe *probe, uint32_t at)
{
    const uint32_t most = (1u << p->tree.node_bits) - BTREE_BLOCK;
    btree_run run = {btree_slot(&p->tree, p->tree.node_bits, probe->ordinal), at, 0, 0};
    btree_read(&p->tree, probe, &run);
    for (const uint32_t down = run.below == 0;
         down ? run.below == 0 && run.at : run.below == BTREE_BLOCK && run.at < most;) {
        run.at += down ? 0u - BTREE_BLOCK : BTREE_BLOCK;
        btree_read(&p->tree, probe, &run);
    }
    return run;
}

/* ---- Answers --------------------------------------------------------------------------------- */

KR_BODY void btree_answer_first(const btree_parts_params *p, const btree_part *part, uint64_t i,
                                const btree_probe *probe, const btree_run *run)
{
    const btree_tree *tree = &p->tree;
    uint32_t slot = run->slot + run->at + run->below, row = 0;
    int found = run->within > run->below;
    if (probe->lower > probe->upper) { /* it may be in any part, so no leaf says anything of it */
        kr_put_first(&p->put, i, 0, 0);
        return;
    }
    if (run->below == BTREE_BLOCK && run->at + BTREE_BLOCK < 1u << tree->node_bits)
        found = kr_load(btree_keys(tree, slot)) <= probe->upper;
    if (found && (p->put.what == KR_PUT_ROW || probe->upper == BTREE_LARGEST)) {
        row = btree_row(tree, slot);
        found = row != KR_NO_ROW; /* an empty slot */
    }
    if (!found && probe->ordinal + 1 < tree->n_leaves &&
        btree_part_separator(p, part, probe->ordinal + 1) <= probe->upper) {
        found = 1;
        slot = btree_slot(tree, tree->node_bits, probe->ordinal + 1);
        row = p->put.what == KR_PUT_ROW ? btree_row(tree, slot) : 0;
    }
    kr_put_first(&p->put, i, found, row);
}

/* Among the keys of a node, of which the first is < bound or is the first of all: the last that is. */
KR_BODY uint32_t btree_halve(const kr_key *keys, uint32_t bits, kr_key bound)
{
    uint32_t at = 0;
    for (uint32_t step = 1u << bits >> 1; step; step >>= 1)
        if (kr_load(keys + at + step) < bound)
            at += step;
    return at;
}

KR_BODY kr_key btree_separator_at(const btree_tree *tree, uint32_t ordinal)
{
    return kr_load(btree_separator(tree, ordinal));
}
KR_SEARCHES(btree_separators, btree_tree, btree_separator_at);

/* The position of the first entry >= bound, which lies behind the leaf's separator. */
KR_BODY uint32_t btree_behind(const btree_tree *tree, uint32_t ordinal, kr_key bound)
{
    const uint32_t bits = tree->node_bits, far = tree->n_leaves - ordinal > BTREE_NEAR;
    const uint32_t end = far ? ordinal + BTREE_NEAR : tree->n_leaves;
    if (far && kr_load(btree_separator(tree, end)) < bound) {
        ordinal = 0;
        for (uint32_t level = tree->n_levels; level-- > 0;) {
            ordinal <<= tree->fan_bits;
            ordinal +=
                btree_halve(btree_separator(tree, tree->levels[level] + ordinal), tree->fan_bits, bound);
        }
    } else {
        ordinal = btree_separators_between(tree, ordinal + 1, end, bound) - 1;
    }
    return kr_load(tree->starts + ordinal) +
           btree_halve(btree_keys(tree, btree_slot(tree, bits, ordinal)), bits, bound) + 1;
}

/* The position behind the last entry <= upper. */
KR_BODY uint32_t btree_end_of(const btree_tree *tree, const btree_probe *probe, const btree_run *run,
                              uint32_t begin, uint32_t end)
{
    const uint32_t behind = begin + run->at + run->within;
    const kr_key above = probe->upper + 1;
    if (above == 0)
        return tree->n;
    return run->within == BTREE_BLOCK || (behind == end && end < tree->n)
               ? btree_behind(tree, probe->ordinal, above)
               : behind;
}

KR_BODY void btree_answer_match(const btree_parts_params *p, uint64_t i, const btree_probe *probe,
                                const btree_run *run)
{
    const btree_tree *tree = &p->tree;
    const uint32_t begin = kr_load(tree->starts + probe->ordinal),
                   end = kr_load(tree->starts + probe->ordinal + 1);
    const uint32_t at = run->at + run->below, position = begin + at;
    if (probe->lower > probe->upper) {
        kr_put_match(&p->put, i, 0, 0);
        return;
    }
    /* The match may begin in the next leaf. */
    const uint32_t where =
        position < end ? (probe->ordinal << tree->node_bits) + at : (probe->ordinal + 1) << tree->node_bits;
    kr_put_match(&p->put, i, btree_where(tree, where, position),
                 btree_end_of(tree, probe, run, begin, end) - position);
}

KR_BODY void btree_answer_nearest(const btree_parts_params *p, uint64_t i, const btree_probe *probe,
                                  const btree_run *run)
{
    const btree_tree *tree = &p->tree;
    const uint32_t begin = kr_load(tree->starts + probe->ordinal),
                   end = kr_load(tree->starts + probe->ordinal + 1);
    const kr_span span = {probe->upper, begin + run->at + run->below,
                          btree_end_of(tree, probe, run, begin, end), probe->lower <= probe->upper};
    btree_nearest(tree, &p->batch.near, &p->put, i, tree->n, &span);
}

/* ---- The search ------------------------------------------------------------------------------ */

enum { BTREE_FIRST, BTREE_MATCH, BTREE_NEAREST };

KR_BODY void btree_answer(const btree_parts_params *p, int what, const btree_part *part, uint64_t i,
                          const btree_probe *probe, uint32_t at)
{
    const btree_run run = btree_find_run(p, probe, at);
    if (what == BTREE_FIRST)
        btree_answer_first(p, part, i, probe, &run);
    else if (what == BTREE_MATCH)
        btree_answer_match(p, i, probe, &run);
    else
        btree_answer_nearest(p, i, probe, &run);
}

/* Answers probes i, i + size, ... whose leaves are known. A CPU prefetches them. A GPU has other threads to
 * run meanwhile, and no registers to spare. */
KR_BODY void btree_finish(kr_block block, const btree_parts_params *p, int what, const btree_part *part,
                          uint32_t begin, uint32_t end, const btree_probe *probes)
{
#if KR_IN_BLOCKS
    KR_UNROLL
    for (int v = 0; v < BTREE_AT_ONCE; ++v) {
        const uint64_t i = (uint64_t)begin + (uint64_t)v * block.size;
        if (i < end)
            btree_answer(p, what, part, (uint32_t)i, &probes[v], btree_guess(p, part, &probes[v]));
    }
#else
    uint32_t at[BTREE_AT_ONCE];
    const uint32_t n = end - begin < BTREE_AT_ONCE ? end - begin : BTREE_AT_ONCE; /* a block is one thread */
    (void)block;
    for (uint32_t v = 0; v < n; ++v) {
        at[v] = btree_guess(p, part, &probes[v]);
        kr_prefetch(btree_keys(&p->tree, btree_slot(&p->tree, p->tree.node_bits, probes[v].ordinal) + at[v]));
    }
    for (uint32_t v = 0; v < n; ++v)
        btree_answer(p, what, part, (uint64_t)begin + v, &probes[v], at[v]);
#endif
}

/* Searches for probes begin, begin + size, ...: BTREE_AT_ONCE of them, or as many as are left. */
KR_BODY void btree_search_some(kr_block block, const btree_parts_params *p, int what, const btree_part *part,
                               uint32_t begin, uint32_t end)
{
    btree_probe probes[BTREE_AT_ONCE];
    KR_UNROLL
    for (int v = 0; v < BTREE_AT_ONCE; ++v) {
        const uint64_t i = (uint64_t)begin + (uint64_t)v * block.size;
        probes[v].ordinal = 0;
        if (!kr_batch_load(&p->batch, i < end ? i : end - 1, &probes[v].lower, &probes[v].upper)) {
            probes[v].lower = 1;
            probes[v].upper = 0;
        }
    }
    for (uint32_t step = part->n_pivots ? 0x80000000u >> kr_clz32(part->n_pivots) : 0; step; step >>= 1) {
        KR_UNROLL
        for (int v = 0; v < BTREE_AT_ONCE; ++v) {
            const uint32_t next = probes[v].ordinal + step;
            if (next <= part->n_pivots && part->pivots[next] < probes[v].lower)
                probes[v].ordinal = next;
        }
    }
    KR_UNROLL
    for (int v = 0; v < BTREE_AT_ONCE; ++v)
        probes[v].ordinal = btree_part_ordinal(p, part, probes[v].ordinal, probes[v].lower);
    btree_finish(block, p, what, part, begin, end, probes);
}

/* `what` is a constant in each of the programs: one for all would take too many registers. */
KR_BODY void btree_search(kr_block block, char *shared, const btree_parts_params *p, uint64_t most_segments,
                          int what)
{
    for (uint64_t t = block.index; t < most_segments && t < *p->partition.n_segments; t += block.count) {
        const kr_segment segment = p->partition.segments[t];
        const uint32_t stop = p->partition.starts[segment.part + 1];
        const uint32_t n =
            stop - segment.first < p->partition.segment ? stop - segment.first : p->partition.segment;
        const btree_part part = btree_part_open(block, (kr_key *)shared, p, segment.part);
        for (uint32_t i = block.rank; i < n; i += block.size * BTREE_AT_ONCE)
            btree_search_some(block, p, what, &part, segment.first + i, segment.first + n);
        kr_block_sync(block);
    }
}

#define BTREE_PARTS(name, what)                                                        \
    KR_BODY void name##_all(kr_block block, char *shared, const btree_parts_params *p, \
                            uint64_t most_segments)                                    \
    {                                                                                  \
        btree_search(block, shared, p, most_segments, what);                           \
    }                                                                                  \
    KR_BLOCK_PROGRAM(name, btree_parts_params, name##_all)
BTREE_PARTS(btree_parts_first, BTREE_FIRST);
BTREE_PARTS(btree_parts_match, BTREE_MATCH);
BTREE_PARTS(btree_parts_nearest, BTREE_NEAREST);

#endif
