/* Filling a table from entries that are sorted by mixed codes, so that the entries of a bucket are neighbours
 * and those of a key, too. Nothing is hashed to a random place: every bucket is written once, by one thread.
 *
 *   survey   counts keys, and what keys with several rows need
 *   aside    gives them spans and copies their rows; the first entry of such a key then holds its span
 *   need     kind chain: counts the nodes behind the buckets
 *   fill     writes every bucket with the first keys that hash to it
 *   spill    puts the keys that did not fit elsewhere */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_TABLE_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_TABLE_WIDTH_BODY_H

#include "base/program/block.h"
#include "index/families/hash/hash_nodes.h"
#include "index/sorted/gallop.h"

enum { TABLE_TILE = 32768 }; /* entries that a block surveys at a time */
#define TABLE_FITS 0xFFFFFFFFu

/* What the programs count. */
enum {
    TABLE_COUNT_KEYS,
    TABLE_COUNT_FAILED, /* keys that did not fit */
    TABLE_COUNT_NODES,  /* kind chain: behind the buckets */
    TABLE_COUNT_STEPS,  /* to the keys that are not in their buckets */
    TABLE_COUNTS
};

typedef struct hash_fill_params {
    hash_view table;
    const kr_key *keys;
    uint32_t *rows;
    uint64_t *sums;   /* of each tile: spans << 32 | rows in them; after a prefix sum, of the tiles before */
    uint64_t *counts; /* TABLE_COUNT_*, in stripes */
    uint32_t *used;   /* nodes behind the buckets */
    uint32_t *failed; /* inserting: 1 when a row has found no slot */
    uint32_t *spills; /* of each bucket: the first entry that did not fit, or TABLE_FITS */
    kr_blocks blocks;
    uint64_t n;
} hash_fill_params;
kr_assert_size(hash_fill_params, 136);

KR_BODY kr_key hash_key_at(const hash_fill_params *p, uint32_t i)
{
    return kr_load(p->keys + i);
}
KR_SEARCHES(hash_entries, hash_fill_params, hash_key_at);

KR_BODY int hash_same_before(const hash_fill_params *p, uint64_t i)
{
    return i > 0 && kr_load(p->keys + i - 1) == kr_load(p->keys + i);
}

KR_BODY int hash_same_after(const hash_fill_params *p, uint64_t i)
{
    return i + 1 < p->n && kr_load(p->keys + i + 1) == kr_load(p->keys + i);
}

/* ---- Survey -------------------------------------------------------------------------------------- */

KR_BODY void hash_survey_all(kr_block block, char *shared, const hash_fill_params *p, uint64_t n_tiles)
{
    (void)shared;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t first = t * TABLE_TILE, end = first + TABLE_TILE < p->n ? first + TABLE_TILE : p->n;
        uint32_t keys = 0, spans = 0, rows = 0;
        for (uint64_t i = first + block.rank; i < end; i += block.size) {
            const int before = hash_same_before(p, i), after = hash_same_after(p, i);
            keys += !before;
            spans += !before && after;
            rows += before || after;
        }
        uint32_t all[3];
        kr_block_sum_before(block, keys, &all[0]);
        kr_block_sum_before(block, spans, &all[1]);
        kr_block_sum_before(block, rows, &all[2]);
        if (block.rank == 0) {
            p->sums[t] = (uint64_t)all[1] << 32 | all[2];
            kr_atomic_add64(p->counts + TABLE_COUNT_KEYS, all[0]);
        }
    }
}
KR_BLOCK_PROGRAM(hash_survey, hash_fill_params, hash_survey_all);

/* ---- Rows aside ------------------------------------------------------------------------------------ */

/* A thread takes neighbouring entries. Rows are copied before the first entry of a key loses its own. */
KR_BODY void hash_aside_all(kr_block block, char *shared, const hash_fill_params *p, uint64_t n_tiles)
{
    const uint32_t run = TABLE_TILE / block.size;
    (void)shared;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t first = t * TABLE_TILE + (uint64_t)block.rank * run;
        const uint64_t end = first + run < p->n ? first + run : p->n;
        uint32_t spans = 0, rows = 0;
        for (uint64_t i = first; i < end; ++i) {
            const int before = hash_same_before(p, i), after = hash_same_after(p, i);
            spans += !before && after;
            rows += before || after;
        }
        uint32_t span = (uint32_t)(p->sums[t] >> 32) + kr_block_sum_before(block, spans, NULL);
        uint32_t at = (uint32_t)p->sums[t] + kr_block_sum_before(block, rows, NULL);
        for (uint64_t i = first; i < end; ++i) {
            const int before = hash_same_before(p, i), after = hash_same_after(p, i);
            if (before || after)
                p->table.aside[at] = p->rows[i];
            if (!before && after) {
                p->table.spans[span].where = at;
                p->rows[i] = span++;
            }
            at += before || after;
        }
    }
}
KR_BLOCK_PROGRAM(hash_aside, hash_fill_params, hash_aside_all);

/* Span i ends where the next begins; `n` is that of all rows in spans. */
typedef struct hash_spans_params {
    kr_match *spans;
    uint64_t n_spans, n;
} hash_spans_params;
kr_assert_size(hash_spans_params, 24);

KR_BODY void hash_span(const hash_spans_params *p, uint64_t i)
{
    const uint64_t end = i + 1 < p->n_spans ? p->spans[i + 1].where : p->n;
    p->spans[i].count = (uint32_t)(end - p->spans[i].where);
}
KR_MAP_PROGRAM(hash_spans, hash_spans_params, hash_span);

/* ---- Buckets -------------------------------------------------------------------------------------- */

/* The first entry of bucket b or a later one. */
KR_BODY uint64_t hash_bucket_begin(const hash_fill_params *p, uint64_t b)
{
    const uint64_t hash = ((b << 32) + p->table.n_heads - 1) / p->table.n_heads;
    if (hash >> 32)
        return p->n;
    return hash_entries_between(p, 0, (uint32_t)p->n, (kr_key)(hash << (sizeof(kr_key) * 8 - 32)));
}

KR_BODY int hash_is_in(const hash_fill_params *p, uint64_t i, uint32_t b)
{
    return i < p->n && hash_home(&p->table, kr_load(p->keys + i)) == b;
}

/* The first entry of the next key. */
KR_BODY uint64_t hash_skip_key(const hash_fill_params *p, uint64_t i)
{
    return hash_same_after(p, i)
               ? hash_entries_behind(p, (uint32_t)p->n, (uint32_t)i + 1, kr_load(p->keys + i))
               : i + 1;
}

/* Kind chain: nodes that a bucket needs behind its first. A crowd is not counted to its end. */
KR_BODY void hash_need_nodes(const hash_fill_params *p, uint64_t b, uint32_t *tally)
{
    uint64_t keys = 0, i = hash_bucket_begin(p, b);
    while (hash_is_in(p, i, (uint32_t)b) && keys <= TABLE_CROWD * p->table.slots) {
        ++keys;
        i = hash_skip_key(p, i);
    }
    tally[TABLE_COUNT_NODES] += keys > p->table.slots ? (uint32_t)(keys - 1) / p->table.slots : 0;
}
TABLE_TALLY_PROGRAM(hash_need, hash_fill_params, TABLE_COUNTS, hash_need_nodes);

/* The words of a node, to be stored 16 bytes at a time. */
enum { TABLE_WORDS_MOST = 48 };

KR_BODY void hash_store(char *node, const uint32_t *words, uint32_t n)
{
#if KR_ON_CUDA
#pragma unroll
    for (uint32_t q = 0; q < n / 4; ++q)
        ((uint4 *)node)[q] = make_uint4(words[4 * q], words[4 * q + 1], words[4 * q + 2], words[4 * q + 3]);
#else
    kr_copy_bytes(node, words, 4 * (uint64_t)n);
#endif
}

/* `slots` and `linked` are constants, so that the words are registers. */
KR_BODY void hash_fill_bucket(const hash_fill_params *p, uint64_t b, uint32_t slots, uint32_t linked)
{
    const uint32_t n_words = hash_node_nbytes(sizeof(kr_key), slots, linked) / 4;
    const uint32_t wide = sizeof(kr_key) / 4, first = wide == 1 ? 1 : 0; /* words of a code; its place */
    uint32_t words[TABLE_WORDS_MOST] = {0}, meta = 0;
    uint64_t i = hash_bucket_begin(p, b);
#if KR_ON_CUDA
#pragma unroll
#endif
    for (uint32_t j = 0; j < slots; ++j)
        if (hash_is_in(p, i, (uint32_t)b)) {
            const kr_key key = kr_load(p->keys + i);
            const uint32_t several = hash_same_after(p, i);
            words[first + wide * j] = (uint32_t)key;
            if (wide == 2)
                words[wide * j + 1] = (uint32_t)((uint64_t)key >> 32);
            words[first + wide * slots + j] = p->rows[i];
            meta |= 1u << j | (several ? hash_several(linked, j) : 0);
            i = hash_skip_key(p, i);
        }
    p->spills[b] = hash_is_in(p, i, (uint32_t)b) ? (uint32_t)i : TABLE_FITS;
    if (!linked && p->table.plain)
        meta |= (meta & hash_all(&p->table)) << TABLE_TAKEN;
    words[wide == 1 ? 0 : 3 * slots] = meta;
    hash_store(p->table.heads + b * 4 * n_words, words, n_words);
}
KR_BODY void hash_fill_slots_of(const hash_fill_params *p, uint64_t b)
{
    hash_fill_bucket(p, b, sizeof(kr_key) == 4 ? 7 : 5, 0);
}
KR_BODY void hash_fill_links_of(const hash_fill_params *p, uint64_t b)
{
    hash_fill_bucket(p, b, 15, 1);
}
KR_MAP_PROGRAM(hash_fill_slots, hash_fill_params, hash_fill_slots_of);
KR_MAP_PROGRAM(hash_fill_links, hash_fill_params, hash_fill_links_of);

/* Puts a key whose bucket is full of keys of its own where it goes in step 1, or one of those keys where that
 * one goes, and the key in its place. 0: all of these buckets are full, too. */
KR_BODY int hash_spill_near(const hash_view *t, kr_key mixed, uint32_t word, int several)
{
    char *node = hash_node(t, hash_home(t, mixed));
    uint32_t *meta = hash_meta(node, t->slots), slot;
    if (hash_claim_in(t, hash_way(t, mixed, 1), mixed, word, several, &slot)) {
        hash_mark_home(t, mixed, 1);
        return 1;
    }
    for (uint32_t j = 0; j < t->slots; ++j) {
        const uint32_t bit = hash_several(0, j);
        const kr_key other = hash_keys(node)[j];
        if (hash_claim_in(t, hash_way(t, other, 1), other, hash_words(node, t->slots)[j],
                          (kr_atomic_load32(meta) & bit) != 0, &slot)) {
            hash_mark_home(t, other, 1);
            hash_keys(node)[j] = mixed;
            hash_words(node, t->slots)[j] = word;
            if (several)
                kr_atomic_or32(meta, bit);
            else
                kr_atomic_and32(meta, ~bit);
            return 1;
        }
    }
    return 0;
}

/* The keys of a bucket behind those that fill its slots. */
KR_BODY void hash_spill_bucket(const hash_fill_params *p, uint64_t b, uint32_t *tally)
{
    const hash_view *t = &p->table;
    const uint32_t home = (uint32_t)b, first = kr_load(p->spills + b);
    hash_cursor cursor = hash_begin(home);
    uint32_t slot, keys = t->slots;
    if (first == TABLE_FITS)
        return;
    for (uint64_t i = first; hash_is_in(p, i, home); i = hash_skip_key(p, i)) {
        const kr_key key = kr_load(p->keys + i);
        const uint32_t word = p->rows[i];
        const int several = hash_same_after(p, i);
        if (++keys > TABLE_CROWD * t->slots) {
            tally[TABLE_COUNT_FAILED] = 1;
            return;
        }
        if (!t->linked && hash_spill_near(t, key, word, several)) {
            ++tally[TABLE_COUNT_STEPS];
            continue;
        }
        if (!t->linked) /* its way is its own */
            cursor = hash_begin(home);
        if (!hash_claim(t, p->used, key, word, several, &cursor, &slot)) {
            tally[TABLE_COUNT_FAILED] = 1;
            return;
        }
        tally[TABLE_COUNT_STEPS] += cursor.steps;
    }
}
TABLE_TALLY_PROGRAM(hash_spill, hash_fill_params, TABLE_COUNTS, hash_spill_bucket);

/* ---- Inserting rows one by one, as the tables of the papers are built ------------------------------ */

/* Keys and rows in any order; no row ids: 0, 1, 2, ... */
KR_BODY uint32_t hash_row_at(const hash_fill_params *p, uint64_t i)
{
    return p->rows ? kr_load(p->rows + i) : (uint32_t)i;
}

/* Into empty buckets. Rows of one key fill its whole way: then the others need not look for slots. */
KR_BODY void hash_insert_row(const hash_fill_params *p, uint64_t i, uint32_t *tally)
{
    const kr_key key = kr_load(p->keys + i);
    hash_cursor cursor = hash_begin(hash_home(&p->table, key));
    uint32_t slot;
    if (kr_atomic_load32(p->failed))
        return;
    if (!hash_claim(&p->table, p->used, key, hash_row_at(p, i), 0, &cursor, &slot)) {
        tally[TABLE_COUNT_FAILED] = 1;
        kr_atomic_or32(p->failed, 1);
    }
    tally[TABLE_COUNT_STEPS] += cursor.steps;
}
TABLE_TALLY_PROGRAM(hash_insert, hash_fill_params, TABLE_COUNTS, hash_insert_row);

/* A key that was inserted twice is found in one of its rows only. */
KR_BODY void hash_check_row(const hash_fill_params *p, uint64_t i, uint32_t *tally)
{
    if (*p->failed)
        return;
    const hash_place place = hash_find(&p->table, kr_load(p->keys + i));
    tally[TABLE_COUNT_FAILED] += !place.found || place.word != hash_row_at(p, i);
}
TABLE_TALLY_PROGRAM(hash_check, hash_fill_params, TABLE_COUNTS, hash_check_row);

#endif
