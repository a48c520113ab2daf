/* The body of kind `full`: a tile of rows at a time, for a whole condition.
 *
 * Invariant: before each operation, every word of the stack holds only rows of the table that are alive. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_SIMD_WIDTH_BODY_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_SIMD_WIDTH_BODY_H

#include "table/families/full/full_tile.h"

typedef struct full_bits {
    uint32_t words[FULL_MINE];
} full_bits;

/* 1: words need not be looked at one by one, as all rows of the part are there. A thread of a GPU has one. */
KR_BODY int full_is_whole(const full_params *p, uint64_t part)
{
    return FULL_MINE > 1 && (part + 1) * (FULL_TILE / FULL_PARTS) <= p->n;
}

/* Bitmap words in, words in the order of the loads out. */
KR_BODY void full_begin(kr_group group, const full_params *p, uint64_t part, full_bits *rows)
{
    if (full_is_whole(p, part)) {
        for (uint32_t m = 0; m < FULL_MINE; ++m)
            rows->words[m] = p->alive ? p->alive[part * FULL_MINE + m] : 0xFFFFFFFFu;
        return;
    }
    for (uint32_t m = 0; m < FULL_MINE; ++m) {
        const uint64_t word = full_word(group, part, m);
        uint32_t bits = full_rows(word, p->n);
        if (p->alive && bits)
            bits &= kr_load(p->alive + word);
        rows->words[m] = full_turn(group, bits);
    }
}

/* What the zone of a tile says of an interval of codes. */
enum { FULL_ZONE_MIXED, FULL_ZONE_NONE, FULL_ZONE_ALL };

KR_BODY uint32_t full_zone(const full_leaf *leaf, uint64_t tile)
{
    kr_key low, high;
    if (!leaf->zones)
        return FULL_ZONE_MIXED;
    if (leaf->form == FULL_SEARCH) {
        low = kr_load((const kr_key *)leaf->lows);
        high = kr_load((const kr_key *)leaf->highs + leaf->n_intervals - 1);
    } else {
        low = full_code(leaf->type, (kr_key)leaf->base);
        high = low + (kr_key)leaf->span;
    }
    const kr_key lowest = full_zone_end(leaf->type, leaf->zones, tile),
                 highest = full_zone_end(leaf->type, leaf->zone_highs, tile);
    if (highest < low || lowest > high)
        return FULL_ZONE_NONE;
    return leaf->form == FULL_INTERVAL && lowest >= low && highest <= high ? FULL_ZONE_ALL : FULL_ZONE_MIXED;
}

KR_BODY void full_count(kr_group group, const full_params *p, uint32_t zone, const full_bits *wanted)
{
    if (p->compared && zone == FULL_ZONE_MIXED && p->skips == FULL_SKIPS_GROUPS)
        kr_atomic_add64(p->compared, full_grouped(wanted->words));
    else if (p->compared && group.rank == 0)
        kr_atomic_add64(zone == FULL_ZONE_MIXED ? p->compared : p->spared, FULL_TILE / FULL_PARTS);
}

/* The rows among `wanted` for which the leaf holds. */
KR_BODY void full_leaf_bits(kr_group group, const full_params *p, const full_leaf *leaf, uint64_t part,
                            const full_bits *wanted, full_bits *bits)
{
    const uint32_t zone = full_zone(leaf, part / FULL_PARTS);
    full_count(group, p, zone, wanted);
    if (zone == FULL_ZONE_MIXED)
        full_leaf_part(group, leaf, part, p->n, p->skips == FULL_SKIPS_GROUPS, wanted->words, bits->words);
    else
        for (uint32_t m = 0; m < FULL_MINE; ++m)
            bits->words[m] = zone == FULL_ZONE_ALL ? 0xFFFFFFFFu : 0;
    const uint32_t flip = leaf->negate ? 0xFFFFFFFFu : 0;
    for (uint32_t m = 0; m < FULL_MINE; ++m)
        bits->words[m] = (bits->words[m] ^ flip) & wanted->words[m];
    for (uint32_t m = 0; m < FULL_MINE && (leaf->validity || leaf->other_validity); ++m) {
        const uint64_t at = full_word(group, part, m);
        const uint32_t valid = full_turn(group, full_rows(at, p->n) ? full_valid(leaf, at, p->n) : 0);
        bits->words[m] = (bits->words[m] & valid) | (leaf->nulls ? wanted->words[m] & ~valid : 0);
    }
}

KR_BODY void full_store(kr_group group, const full_params *p, uint64_t part, const full_bits *bits)
{
    if (full_is_whole(p, part)) {
        for (uint32_t m = 0; m < FULL_MINE; ++m)
            p->bitmap[part * FULL_MINE + m] = bits->words[m];
        return;
    }
    for (uint32_t m = 0; m < FULL_MINE; ++m) {
        const uint64_t word = full_word(group, part, m);
        const uint32_t x = full_turn(group, bits->words[m]);
        if (word * 32 < p->n)
            p->bitmap[word] = x;
    }
}

/* The rows that a leaf is asked for: under an AND those of the top, under an OR those that it lacks. */
KR_BODY void full_wanted(uint32_t op, const full_bits *alive, const full_bits *top, full_bits *wanted)
{
    for (uint32_t m = 0; m < FULL_MINE; ++m)
        wanted->words[m] = op == FULL_AND_LEAF  ? top->words[m]
                           : op == FULL_OR_LEAF ? alive->words[m] & ~top->words[m]
                                                : alive->words[m];
}

KR_BODY void full_apply(uint32_t op, full_bits *top, const full_bits *bits)
{
    for (uint32_t m = 0; m < FULL_MINE; ++m) {
        if (op == FULL_AND_LEAF || op == FULL_AND)
            top->words[m] &= bits->words[m];
        else if (op == FULL_OR_LEAF || op == FULL_OR)
            top->words[m] |= bits->words[m];
        else
            top->words[m] = bits->words[m];
    }
}

/* The condition for a part of a tile. */
KR_BODY void full_part(kr_group group, const full_params *p, uint64_t part)
{
    full_bits alive, top, bits, wanted, stack[FULL_STACK];
    uint32_t depth = 0;
    full_begin(group, p, part, &alive);
    top = alive;
    for (uint32_t c = 0; c < p->n_code; ++c) {
        const uint32_t op = p->code[2 * c];
        if (op == FULL_AND || op == FULL_OR) {
            bits = top;
            top = stack[--depth];
            full_apply(op, &top, &bits);
            continue;
        }
        if (op == FULL_PUSH && c)
            stack[depth++] = top;
        full_wanted(op, &alive, &top, &wanted);
        const int any = p->skips == FULL_SKIPS_NOTHING || full_any(group, wanted.words);
        if (any && p->skips != FULL_SKIPS_GROUPS)
            wanted = alive;
        if (any)
            full_leaf_bits(group, p, p->leaves + p->code[2 * c + 1], part, &wanted, &bits);
        else
            bits = wanted; /* nothing is asked for */
        full_apply(op, &top, &bits);
    }
    full_store(group, p, part, &top);
}

KR_BODY void full_tile(kr_group group, const full_params *p, uint64_t i, uint64_t n)
{
    const uint64_t tile = i / group.size;
    (void)n;
    for (uint64_t part = tile * FULL_PARTS; part < (tile + 1) * FULL_PARTS; ++part)
        full_part(group, p, part);
}
KR_GROUP_PROGRAM(full_select, full_params, full_tile);

#endif
