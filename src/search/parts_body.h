/* Searching a partitioned batch (core/partition.h) in sorted entries. A block takes a chunk of probes of one
 * part: it brings every 2^piece_bits-th key of the part into shared memory, so that most of a search touches
 * nothing else, and ends in a leaf of neighbouring keys, which is read at once. Nothing is kept beside the
 * entries for it.
 *
 * Invariant of a search: entries before `at` are < lower. */
#ifndef KEYRAY_SEARCH_PARTS_BODY_H
#define KEYRAY_SEARCH_PARTS_BODY_H

#include "core/batch.h"
#include "program/block.h"
#include "search/entries_body.h"

enum {
    PARTS_LEAF = 8,
#if KR_ON_CUDA
    PARTS_AT_ONCE = 2, /* probes that a thread searches for side by side */
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
    uint32_t piece_bits, reserved;
} parts_params;

/* A part as its block sees it. */
typedef struct parts_part {
    const kr_key *pivots; /* the last key of each piece but the last */
    uint64_t first, end;  /* entries */
    uint32_t n_pivots, top;
} parts_part;

typedef struct parts_probe {
    kr_key lower, upper;
    uint64_t at;
    uint32_t pivot; /* pivots before it are < lower */
    int any;        /* 0: nothing to search for */
} parts_probe;

KR_BODY parts_part parts_open(kr_block block, kr_key *shared, const parts_params *p, uint32_t number)
{
    const uint32_t bits = p->piece_bits;
    parts_part part;
    part.pivots = shared;
    part.first = kr_cut_at(p->entries.n, p->partition.bits, number);
    part.end = kr_cut_at(p->entries.n, p->partition.bits, (uint64_t)number + 1);
    const uint64_t n = part.end - part.first, pieces = (n + (1u << bits) - 1) >> bits;
    part.n_pivots = pieces ? (uint32_t)pieces - 1 : 0;
    part.top = part.n_pivots ? 0x80000000u >> kr_clz32(part.n_pivots) : 0;
    for (uint32_t j = block.rank; j < part.n_pivots; j += block.size)
        shared[j] =
            kr_entry_key(&p->entries, (int)p->entries.aos, part.first + ((uint64_t)(j + 1) << bits) - 1);
    kr_block_sync(block);
    return part;
}

/* Of n keys from a slot on how many are < lower, and how many <= upper. n is PARTS_LEAF at a multiple of it,
 * or small. */
KR_BODY void parts_leaf(const kr_entries *entries, uint64_t slot, uint32_t n, const parts_probe *probe,
                        uint32_t *below, uint32_t *within)
{
    uint32_t less = 0, inside = 0;
#if KR_ON_CUDA
    if (n == PARTS_LEAF && !entries->aos) {
#pragma unroll
        for (uint32_t j = 0; j < PARTS_LEAF * sizeof(kr_key) / 16; ++j) {
#if KR_KEY_BITS == 32
            const uint4 four = __ldg((const uint4 *)((const kr_key *)entries->keys + slot) + j);
            less += (four.x < probe->lower) + (four.y < probe->lower) + (four.z < probe->lower) +
                    (four.w < probe->lower);
            inside += (four.x <= probe->upper) + (four.y <= probe->upper) + (four.z <= probe->upper) +
                      (four.w <= probe->upper);
#else
            const ulonglong2 two = __ldg((const ulonglong2 *)((const kr_key *)entries->keys + slot) + j);
            less += (two.x < probe->lower) + (two.y < probe->lower);
            inside += (two.x <= probe->upper) + (two.y <= probe->upper);
#endif
        }
        *below = less;
        *within = inside;
        return;
    }
#endif
    for (uint32_t j = 0; j < n; ++j) {
        const kr_key key = kr_entry_key(entries, (int)entries->aos, slot + j);
        less += key < probe->lower;
        inside += key <= probe->upper;
    }
    *below = less;
    *within = inside;
}

/* The first entry from `at` on with a key > upper, in steps that double and then halve. */
KR_BODY uint64_t parts_extend(const kr_entries *entries, uint64_t at, kr_key upper)
{
    uint64_t step = 1;
    while (step <= entries->n - at && kr_entry_key(entries, (int)entries->aos, at + step - 1) <= upper) {
        at += step;
        step *= 2;
    }
    for (step /= 2; step; step /= 2)
        if (step <= entries->n - at && kr_entry_key(entries, (int)entries->aos, at + step - 1) <= upper)
            at += step;
    return at;
}

KR_BODY void parts_answer(const parts_params *p, uint64_t i, const parts_probe *probe)
{
    const kr_entries *entries = &p->entries;
    const int first_only = p->put.what == KR_PUT_ROW || p->put.what == KR_PUT_FLAG;
    const uint64_t left = entries->n - probe->at;
    const uint32_t most = entries->aos ? 1 : PARTS_LEAF, n = left < most ? (uint32_t)left : most;
    uint32_t below = 0, within = 0;
    if (!probe->any) {
        if (first_only)
            kr_put_first(&p->put, i, 0, 0);
        else
            kr_put_span(&p->put, i, 0, 0);
        return;
    }
    parts_leaf(entries, probe->at, n, probe, &below, &within);
    const uint64_t at = probe->at + below;
    if (first_only) {
        const int next = below == n && at < entries->n; /* behind the leaf */
        const int found =
            next ? kr_entry_key(entries, (int)entries->aos, at) <= probe->upper : within > below;
        kr_put_first(&p->put, i, found,
                     found && p->put.what == KR_PUT_ROW ? kr_entry_row(entries, (int)entries->aos, at) : 0);
        return;
    }
    const uint64_t end = probe->at + within;
    kr_put_span(&p->put, i, (uint32_t)at,
                (uint32_t)(within < n ? end : parts_extend(entries, end, probe->upper)));
}

/* Probes first, first + size, ...: PARTS_AT_ONCE of them, as far as there are. */
KR_BODY void parts_search_some(kr_block block, const parts_params *p, const parts_part *part, uint64_t first,
                               uint64_t end)
{
    parts_probe probes[PARTS_AT_ONCE];
    KR_UNROLL
    for (int v = 0; v < PARTS_AT_ONCE; ++v) {
        const uint64_t i = first + (uint64_t)v * block.size;
        probes[v].any = kr_batch_load(&p->batch, i < end ? i : end - 1, &probes[v].lower, &probes[v].upper);
        probes[v].pivot = 0;
    }
    for (uint32_t step = part->top; step; step >>= 1) {
        KR_UNROLL
        for (int v = 0; v < PARTS_AT_ONCE; ++v) {
            const uint32_t next = probes[v].pivot + step;
            if (next <= part->n_pivots && part->pivots[next - 1] < probes[v].lower)
                probes[v].pivot = next;
        }
    }
    KR_UNROLL
    for (int v = 0; v < PARTS_AT_ONCE; ++v)
        probes[v].at = part->first + ((uint64_t)probes[v].pivot << p->piece_bits);
    for (uint64_t step = (uint64_t)1 << p->piece_bits >> 1; step >= (p->entries.aos ? 1 : PARTS_LEAF);
         step >>= 1) {
        KR_UNROLL
        for (int v = 0; v < PARTS_AT_ONCE; ++v) {
            const uint64_t next = probes[v].at + step;
            if (next <= part->end &&
                kr_entry_key(&p->entries, (int)p->entries.aos, next - 1) < probes[v].lower)
                probes[v].at = next;
        }
    }
    KR_UNROLL
    for (int v = 0; v < PARTS_AT_ONCE; ++v) {
        const uint64_t i = first + (uint64_t)v * block.size;
        if (i < end)
            parts_answer(p, i, &probes[v]);
    }
}

KR_BODY void parts_search_all(kr_block block, char *shared, const parts_params *p, uint64_t most_chunks)
{
    for (uint64_t t = block.index; t < most_chunks && t < *p->partition.n_chunks; t += block.count) {
        const kr_chunk chunk = p->partition.chunks[t];
        const uint32_t stop = p->partition.starts[chunk.part + 1];
        const uint64_t end =
            stop - chunk.first < p->partition.chunk ? stop : (uint64_t)chunk.first + p->partition.chunk;
        const parts_part part = parts_open(block, (kr_key *)shared, p, chunk.part);
        for (uint64_t i = (uint64_t)chunk.first + block.rank; i < end;
             i += (uint64_t)block.size * PARTS_AT_ONCE)
            parts_search_some(block, p, &part, i, end);
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(parts_search, parts_params, parts_search_all);

/* ---- The keys at which core cuts ------------------------------------------------------------- */

typedef struct parts_cut_params {
    kr_entries entries;
    kr_lists lists; /* from positions to slots */
    kr_key *keys;
    uint32_t bits, reserved;
} parts_cut_params;

KR_BODY void parts_cut(const parts_cut_params *p, uint64_t i)
{
    const uint64_t slot = kr_lists_slot(&p->lists, kr_cut_at(p->entries.n, p->bits, i));
    p->keys[i] = kr_entry_key(&p->entries, (int)p->entries.aos, slot);
}
KR_MAP_PROGRAM(parts_cuts, parts_cut_params, parts_cut);

#endif
