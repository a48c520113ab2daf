/* Searching a partitioned batch (index/partition/partition.h) in sorted entries. A block takes a segment of
 * one part's probes. It copies pivots of the part to shared memory, where most of a search takes place: every
 * 2^gap_bits-th key, or pivots that the index keeps (kr_parts_levels). The search ends in a leaf of adjacent
 * keys, which is read at once.
 *
 * Invariant of a search: entries before its gap, or before `low`, are < lower. The entry at `high`, if any,
 * is >= lower. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_PARTS_WIDTH_BODY_H
#define KEYRAY_INDEX_LIGHTWEIGHT_PARTS_WIDTH_BODY_H

#include "base/program/block.h"
#include "index/lightweight/nearest.h"
#include "index/lightweight/node.h"
#include "index/lightweight/parts_levels.h"
#include "index/sorted/gallop.h"
#include "index/sorted/pivots.h"

enum {
    PARTS_LEAF = KR_PARTS_NODE,
    PARTS_FAN = PARTS_LEAF + 1,
#if KR_IN_BLOCKS
    /* Probes that a thread searches for at the same time: as many as 32 registers allow, so that two blocks
     * fit on a multiprocessor. */
    PARTS_AT_ONCE = KR_KEY_BITS == 64 ? 1 : 2,
#else
    PARTS_AT_ONCE = 16,
#endif
};

typedef struct parts_params {
    kr_batch batch;
    kr_put put;
    kr_entries entries;
    kr_partition_view partition;
    kr_blocks blocks;
    uint32_t gap_bits;
    uint32_t down; /* the level of `levels` whose pivots are copied; its children have `unit` entries */
    uint32_t unit, reserved;
    kr_parts_levels levels;
} parts_params;

/* A part as its block sees it: gaps of 2^gap_bits entries, or children of a level. */
typedef struct parts_part {
    const kr_key *pivots; /* the key before each gap, then the key of the part's last entry; or before each
                             child */
    uint32_t first, end;  /* entries; or the number of the first child, and 0 */
    uint32_t n_pivots;    /* gaps or children except the first */
    uint32_t room;        /* of the pivots: kr_sorted_pivots_room */
} parts_part;

typedef struct parts_probe {
    kr_key lower, upper; /* lower > upper: nothing can match */
    uint32_t pivot;      /* the place of the one before its gap */
} parts_probe;

/* Adjacent keys that are read at once. */
typedef struct parts_leaf {
    uint32_t at; /* the first entry */
    kr_ranked ranked;
} parts_leaf;

/* Entries of the gap that begins at `first`. */
KR_BODY uint32_t parts_size(const parts_params *p, const parts_part *part, uint32_t first)
{
    const uint32_t left = part->end - first;
    return left >> p->gap_bits ? 1u << p->gap_bits : left;
}

KR_BODY parts_part parts_open(kr_block block, kr_key *shared, const parts_params *p, uint32_t number)
{
    const uint32_t bits = p->gap_bits;
    parts_part part;
    part.pivots = shared;
    part.first = (uint32_t)kr_batch_cut_at(p->entries.n, p->partition.bits, number);
    part.end = (uint32_t)kr_batch_cut_at(p->entries.n, p->partition.bits, (uint64_t)number + 1);
    part.n_pivots = part.end > part.first ? (part.end - part.first - 1) >> bits : 0;
    part.room = kr_sorted_pivots_room(part.n_pivots);
    for (uint32_t j = block.rank; j <= part.room; j += block.size) {
        const uint64_t next = (uint64_t)part.first + ((uint64_t)j << bits);
        const uint64_t at = next < part.end ? next : part.end;
        shared[kr_sorted_pivot_at(j)] =
            j <= part.n_pivots + 1 ? kr_entry_key(&p->entries, (int)p->entries.layout, at ? at - 1 : 0)
                                   : (kr_key) ~(kr_key)0;
    }
    kr_block_sync(block);
    return part;
}

KR_BODY uint32_t parts_leaf_size(const kr_entries *entries, uint32_t at)
{
    const uint32_t left = entries->n - at, most = entries->layout ? 1 : PARTS_LEAF;
    return left < most ? left : most;
}

/* The leaf that begins at `at`: with soa, a multiple of PARTS_LEAF. Short leaves, at the end of the entries,
 * are read by a plain loop: registers are scarce. */
KR_BODY parts_leaf parts_read(const kr_entries *entries, kr_key bound, uint32_t at)
{
    const uint32_t n = parts_leaf_size(entries, at);
    parts_leaf leaf = {at, {0, 0}};
    if (n == PARTS_LEAF) {
        leaf.ranked = kr_node_eight_ranked((const kr_key *)entries->keys + at, bound);
        return leaf;
    }
    for (uint32_t j = 0; j < n; ++j)
        leaf.ranked.below += kr_entry_key(entries, (int)entries->layout, (uint64_t)at + j) < bound;
    if (leaf.ranked.below < n)
        leaf.ranked.next = kr_entry_key(entries, (int)entries->layout, (uint64_t)at + leaf.ranked.below);
    return leaf;
}

/* ---- Pivots that the index keeps ------------------------------------------------------------- */

/* The pivots of a node: those before its children 1 .. 8. The one before child 0 is a level or more above. */
KR_BODY void parts_copy_node(const parts_params *p, const parts_part *part, kr_key *shared, uint32_t node)
{
    const kr_key *keys = (const kr_key *)p->levels.pivots + p->levels.starts[p->down] + node * PARTS_LEAF;
    kr_key pivots[PARTS_FAN];
    uint32_t level = p->down + 1, child = node;
    kr_node_eight_load(keys, pivots + 1);
    for (; child && child % PARTS_FAN == 0; ++level)
        child /= PARTS_FAN;
    if (child)
        pivots[0] = kr_load((const kr_key *)p->levels.pivots + p->levels.starts[level] + child - 1 -
                            child / PARTS_FAN);
    KR_UNROLL
    for (uint32_t v = 0; v < PARTS_FAN; ++v) {
        const uint32_t j = node * PARTS_FAN + v - part->first;
        if (j - 1 < part->n_pivots)
            shared[kr_sorted_pivot_at(j)] = pivots[v];
    }
}

/* An entry behind the last is no child's, so a part without entries at the end is searched in the last leaf.
 */
KR_BODY parts_part parts_open_levels(kr_block block, kr_key *shared, const parts_params *p, uint32_t number)
{
    const uint64_t cut = kr_batch_cut_at(p->entries.n, p->partition.bits, number),
                   end = kr_batch_cut_at(p->entries.n, p->partition.bits, (uint64_t)number + 1);
    parts_part part = {shared, (uint32_t)(cut < p->entries.n ? cut : p->entries.n - 1) / p->unit, 0, 0, 0};
    part.n_pivots = end > cut ? (uint32_t)(end - 1) / p->unit - part.first : 0;
    part.room = kr_sorted_pivots_room(part.n_pivots);
    const uint32_t last = (part.first + part.n_pivots) / PARTS_FAN;
    for (uint32_t node = part.first / PARTS_FAN + block.rank; part.n_pivots && node <= last;
         node += block.size)
        parts_copy_node(p, &part, shared, node);
    for (uint32_t j = part.n_pivots + 1 + block.rank; j < part.room; j += block.size)
        shared[kr_sorted_pivot_at(j)] = (kr_key) ~(kr_key)0;
    kr_block_sync(block);
    return part;
}

/* The first entry of the probe's leaf. */
KR_BODY uint32_t parts_descend(const parts_params *p, const parts_part *part, const parts_probe *probe)
{
    uint32_t at = part->first + kr_sorted_pivot_of(probe->pivot);
    for (uint32_t level = p->down; level-- > 0;) {
        const kr_key *node = (const kr_key *)p->levels.pivots + p->levels.starts[level] + at * PARTS_LEAF;
        at = at * PARTS_FAN + kr_node_eight_ranked(node, probe->lower).below;
    }
    return at * PARTS_LEAF;
}

/* ---- Large gaps: from the leaf where a bound would be if keys were spread evenly ----------- */

KR_BODY uint32_t parts_guess(const parts_part *part, const parts_probe *probe, uint32_t size)
{
    const kr_key before = part->pivots[probe->pivot],
                 last = part->pivots[kr_sorted_pivot_at(kr_sorted_pivot_of(probe->pivot) + 1)];
    if (probe->lower <= before || size == 0)
        return 0;
    if (probe->lower >= last)
        return size - 1;
    const float at =
        kr_quotient_near((float)(probe->lower - before) * (float)size, (float)(last - before)) - 0.5f;
    const uint32_t guess = at > 0 ? (uint32_t)at : 0;
    return guess < size ? guess : size - 1;
}

/* From the first leaf that was read to the leaf of the bound: by doubling steps until the bound lies between
 * two leaves, then by halves. The bound is among the entries low .. high - 1, or right behind them. */
KR_BODY void parts_go(const kr_entries *entries, const parts_probe *probe, uint32_t low, uint32_t high,
                      parts_leaf *leaf)
{
    for (uint32_t step = PARTS_LEAF;; step *= 2) {
        const int right = leaf->ranked.below == PARTS_LEAF && leaf->at + PARTS_LEAF < high;
        if (right)
            low = leaf->at + PARTS_LEAF;
        else if (leaf->ranked.below == 0 && leaf->at > low)
            high = leaf->at;
        else
            return;
        const uint32_t half = (high - low) / 2 / PARTS_LEAF * PARTS_LEAF;
        const uint32_t at = high - low <= step ? low + half : right ? low + step - PARTS_LEAF : high - step;
        *leaf = parts_read(entries, probe->lower, at);
    }
}

/* ---- Small gaps, and layout aos: by halves ------------------------------------------------- */

KR_BODY uint32_t parts_halve(const kr_entries *entries, const parts_probe *probe, uint32_t first,
                             uint32_t size, uint32_t bits)
{
    const int aos = (int)entries->layout;
    uint32_t at = first;
    for (uint32_t step = 1u << bits >> 1; step >= (aos ? 1 : PARTS_LEAF); step >>= 1)
        if (step <= first + size - at && kr_entry_key(entries, aos, (uint64_t)at + step - 1) < probe->lower)
            at += step;
    return at;
}

/* ---- Answers --------------------------------------------------------------------------------- */

KR_BODY kr_key parts_key(const kr_entries *entries, uint32_t position)
{
    return kr_entry_key(entries, (int)entries->layout, position);
}
KR_SEARCHES(parts, kr_entries, parts_key);

/* The entry behind those that match. Most matches end in the leaf where they begin. */
KR_BODY uint32_t parts_end(const kr_entries *entries, const parts_probe *probe, const parts_leaf *leaf)
{
    const uint32_t n = parts_leaf_size(entries, leaf->at);
    const kr_key bound = probe->upper + 1;
    const uint32_t within = bound ? parts_read(entries, bound, leaf->at).ranked.below : n;
    return within < n ? leaf->at + within
                      : parts_behind(entries, entries->n, leaf->at + within, probe->upper);
}

KR_BODY void parts_answer(const parts_params *p, uint64_t i, const parts_probe *probe, const parts_leaf *leaf)
{
    const kr_entries *entries = &p->entries;
    const int any = probe->lower <= probe->upper, aos = (int)entries->layout;
    const uint64_t at = (uint64_t)leaf->at + leaf->ranked.below;
    if (kr_put_wants_first(&p->put)) {
        const kr_key next = leaf->ranked.below < parts_leaf_size(entries, leaf->at) ? leaf->ranked.next
                            : at < entries->n ? kr_entry_key(entries, aos, at)
                                              : 0;
        const int found = any && at < entries->n && next <= probe->upper;
        kr_put_first(&p->put, i, found,
                     found && p->put.what == KR_PUT_ROW ? kr_entry_row(entries, aos, at) : 0);
        return;
    }
    if (any)
        kr_put_match(&p->put, i, (uint32_t)at, parts_end(entries, probe, leaf) - (uint32_t)at);
    else
        kr_put_match(&p->put, i, 0, 0);
}

KR_BODY void parts_answer_nearest(const parts_params *p, uint64_t i, const parts_probe *probe,
                                  const parts_leaf *leaf)
{
    const kr_entries *entries = &p->entries;
    const kr_span span = {probe->upper, leaf->at + leaf->ranked.below, parts_end(entries, probe, leaf),
                          probe->lower <= probe->upper};
    kr_entries_nearest(entries, &p->batch.near, &p->put, i, entries->n, &span);
}

/* ---- The search ------------------------------------------------------------------------------ */

/* Variants of the search: leaves are guessed, not halved; the nearest keys are wanted; the index keeps
 * pivots. */
enum { PARTS_GUESS = 1, PARTS_NEAREST = 2, PARTS_KEPT = 4 };

/* The first entry of the probe's gap. */
KR_BODY uint32_t parts_first(const parts_params *p, const parts_part *part, const parts_probe *probe)
{
    return part->first + (kr_sorted_pivot_of(probe->pivot) << p->gap_bits);
}

/* The first entry that is read in the probe's gap. */
KR_BODY uint32_t parts_start(const parts_params *p, int how, const parts_part *part, const parts_probe *probe)
{
    if (how & PARTS_KEPT)
        return parts_descend(p, part, probe);
    const uint32_t first = parts_first(p, part, probe);
    return how & PARTS_GUESS
               ? first + parts_guess(part, probe, parts_size(p, part, first)) / PARTS_LEAF * PARTS_LEAF
               : first + (1u << p->gap_bits >> 1) - 1;
}

/* The leaf of the bound, if parts_start is `start`. */
KR_BODY parts_leaf parts_find(const parts_params *p, int how, const parts_part *part,
                              const parts_probe *probe, uint32_t start)
{
    if (how & PARTS_KEPT)
        return parts_read(&p->entries, probe->lower, start);
    const uint32_t first = parts_first(p, part, probe), size = parts_size(p, part, first);
    if (!(how & PARTS_GUESS))
        start = parts_halve(&p->entries, probe, first, size, p->gap_bits);
    parts_leaf leaf = parts_read(&p->entries, probe->lower, start);
    if (how & PARTS_GUESS)
        parts_go(&p->entries, probe, first, first + size, &leaf);
    return leaf;
}

KR_BODY void parts_answer_as(const parts_params *p, int how, uint64_t i, const parts_probe *probe,
                             const parts_leaf *leaf)
{
    if (how & PARTS_NEAREST)
        parts_answer_nearest(p, i, probe, leaf);
    else
        parts_answer(p, i, probe, leaf);
}

/* Answers probes first, first + size, ... whose gaps are known. A CPU prefetches their next reads. A GPU has
 * other threads to run meanwhile, and no registers to spare. */
KR_BODY void parts_finish(kr_block block, const parts_params *p, int how, const parts_part *part,
                          uint32_t first, uint32_t end, const parts_probe *probes)
{
#if KR_IN_BLOCKS
    KR_UNROLL
    for (int v = 0; v < PARTS_AT_ONCE; ++v) {
        const uint64_t i = (uint64_t)first + (uint64_t)v * block.size;
        if (i < end) {
            const parts_leaf leaf =
                parts_find(p, how, part, &probes[v], parts_start(p, how, part, &probes[v]));
            parts_answer_as(p, how, (uint32_t)i, &probes[v], &leaf);
        }
    }
#else
    parts_leaf leaves[PARTS_AT_ONCE];
    uint32_t starts[PARTS_AT_ONCE];
    const uint32_t n = end - first < PARTS_AT_ONCE ? end - first : PARTS_AT_ONCE; /* a block is one thread */
    (void)block;
    for (uint32_t v = 0; v < n; ++v) {
        starts[v] = parts_start(p, how, part, &probes[v]);
        kr_prefetch(kr_entry(&p->entries, (int)p->entries.layout, starts[v]));
    }
    for (uint32_t v = 0; v < n; ++v) {
        leaves[v] = parts_find(p, how, part, &probes[v], starts[v]);
        if (p->put.what == KR_PUT_ROW)
            kr_entry_row_prefetch(&p->entries, (int)p->entries.layout,
                                  (uint64_t)leaves[v].at + leaves[v].ranked.below);
    }
    for (uint32_t v = 0; v < n; ++v)
        parts_answer_as(p, how, (uint64_t)first + v, &probes[v], &leaves[v]);
#endif
}

/* Searches for probes first, first + size, ...: PARTS_AT_ONCE of them, or as many as are left. */
KR_BODY void parts_search_some(kr_block block, const parts_params *p, int how, const parts_part *part,
                               uint32_t first, uint32_t end)
{
    parts_probe probes[PARTS_AT_ONCE];
    kr_key bounds[PARTS_AT_ONCE];
    uint32_t pivots[PARTS_AT_ONCE];
    KR_UNROLL
    for (int v = 0; v < PARTS_AT_ONCE; ++v) {
        const uint64_t i = (uint64_t)first + (uint64_t)v * block.size;
        pivots[v] = 0;
        if (!kr_batch_load_code(&p->batch, i < end ? i : end - 1, &probes[v].lower, &probes[v].upper)) {
            probes[v].lower = 1;
            probes[v].upper = 0;
        }
        bounds[v] = probes[v].lower;
    }
    kr_sorted_pivots_search(part->pivots, part->room, PARTS_AT_ONCE, bounds, pivots);
    const uint32_t last = kr_sorted_pivot_at(part->n_pivots);
    KR_UNROLL
    for (int v = 0; v < PARTS_AT_ONCE; ++v)
        probes[v].pivot = pivots[v] < last ? pivots[v] : last;
    parts_finish(block, p, how, part, first, end, probes);
}

/* `how` is a constant in each of the programs: one program for all would take too many registers. */
KR_BODY void parts_search(kr_block block, char *shared, const parts_params *p, uint64_t most_segments,
                          int how)
{
    for (uint64_t t = block.index; t < most_segments && t < *p->partition.n_segments; t += block.count) {
        const kr_segment segment = p->partition.segments[t];
        const uint32_t stop = p->partition.starts[segment.part + 1];
        const uint32_t n =
            stop - segment.first < p->partition.segment ? stop - segment.first : p->partition.segment;
        const parts_part part = how & PARTS_KEPT ? parts_open_levels(block, (kr_key *)shared, p, segment.part)
                                                 : parts_open(block, (kr_key *)shared, p, segment.part);
        for (uint32_t i = block.rank; i < n; i += block.size * PARTS_AT_ONCE)
            parts_search_some(block, p, how, &part, segment.first + i, segment.first + n);
        kr_block_sync(block);
    }
}

#define PARTS_PROGRAM(form, name, how)                                                                   \
    KR_BODY void name##_all(kr_block block, char *shared, const parts_params *p, uint64_t most_segments) \
    {                                                                                                    \
        parts_search(block, shared, p, most_segments, how);                                              \
    }                                                                                                    \
    form(name, parts_params, name##_all)
PARTS_PROGRAM(KR_BLOCK_PAIR_PROGRAM, parts_halving, 0);
PARTS_PROGRAM(KR_BLOCK_PAIR_PROGRAM, parts_guessing, PARTS_GUESS);
PARTS_PROGRAM(KR_BLOCK_PAIR_PROGRAM, parts_kept, PARTS_KEPT);
PARTS_PROGRAM(KR_BLOCK_PROGRAM, parts_halving_nearest, PARTS_NEAREST);
PARTS_PROGRAM(KR_BLOCK_PROGRAM, parts_guessing_nearest, PARTS_GUESS | PARTS_NEAREST);
PARTS_PROGRAM(KR_BLOCK_PROGRAM, parts_kept_nearest, PARTS_KEPT | PARTS_NEAREST);

/* ---- The keys at which batches are cut ------------------------------------------------------- */

typedef struct parts_cut_params {
    kr_entries entries;
    kr_key *keys;
    uint32_t bits, reserved;
} parts_cut_params;

KR_BODY void parts_cut(const parts_cut_params *p, uint64_t i)
{
    p->keys[i] = kr_entry_key(&p->entries, (int)p->entries.layout, kr_batch_cut_at(p->entries.n, p->bits, i));
}
KR_MAP_PROGRAM(parts_cuts, parts_cut_params, parts_cut);

#endif
