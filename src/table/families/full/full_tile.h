/* A leaf over a part of a tile of 1024 rows.
 *
 * On a GPU a warp has a tile. Each thread loads four rows beside those of its neighbours, and does so eight
 * times, 128 rows apart: so loads are wide, and many are under way. The 32 bits of a thread stay in one word
 * in that order while the leaves of a condition are decided: bit 4 j + k is row 128 j + 4 rank + k. full_turn
 * brings words of bitmaps into that order and back.
 *
 * On the CPU a thread has a tile, which it takes in four parts: their words, in the order of the bitmap, stay
 * in registers. A GPU has one part. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_TILE_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_TILE_H

#include "table/families/full/full_interval.h"
#include "table/families/full/full_values.h"

#if KR_ON_CUDA

enum { FULL_PARTS = 1, FULL_MINE = 1 };

/* Word 4 r + q of a tile is with thread 8 q + r: threads 8 q .. 8 q + 7 exchange groups of four bits. */
KR_BODY uint64_t full_word(kr_group group, uint64_t part, uint32_t mine)
{
    (void)mine;
    return part * 32 + 4 * (group.rank % 8) + group.rank / 8;
}

/* From the order of the bitmap to that of the loads, or back: it is its own inverse. */
KR_BODY uint32_t full_turn(kr_group group, uint32_t x)
{
    const uint32_t masks[3] = {0x0F0F0F0Fu, 0x00FF00FFu, 0x0000FFFFu};
    KR_UNROLL
    for (uint32_t s = 0; s < 3; ++s) {
        const uint32_t shift = 4u << s, keep = group.rank >> s & 1 ? ~masks[s] : masks[s];
        const uint32_t other = (uint32_t)__shfl_xor_sync(KR_WARP, x, 1 << s);
        x = (x & keep) | ((group.rank >> s & 1 ? other >> shift : other << shift) & ~keep);
    }
    return x;
}

/* Four elements as they are in memory, zero-extended; `load` is a constant. */
KR_BODY void full_load(uint32_t load, uint32_t type, const void *data, uint64_t row, kr_key raw[4])
{
    if (load == FULL_LOAD_8) {
        const ulonglong2 a = __ldcs((const ulonglong2 *)data + row / 2);
        const ulonglong2 b = __ldcs((const ulonglong2 *)data + row / 2 + 1);
        raw[0] = (kr_key)a.x, raw[1] = (kr_key)a.y, raw[2] = (kr_key)b.x, raw[3] = (kr_key)b.y;
    } else if (load == FULL_LOAD_4) {
        const uint4 a = __ldcs((const uint4 *)data + row / 4);
        raw[0] = a.x, raw[1] = a.y, raw[2] = a.z, raw[3] = a.w;
    } else if (load == FULL_LOAD_2) {
        const ushort4 a = __ldcs((const ushort4 *)data + row / 4);
        raw[0] = a.x, raw[1] = a.y, raw[2] = a.z, raw[3] = a.w;
    } else if (load == FULL_LOAD_1) {
        const uchar4 a = __ldcs((const uchar4 *)data + row / 4);
        raw[0] = a.x, raw[1] = a.y, raw[2] = a.z, raw[3] = a.w;
    } else {
        for (uint32_t k = 0; k < 4; ++k)
            raw[k] = (kr_key)full_bits_at(type, data, row + k);
    }
}

/* The value of an element: `load` and is_float are constants, so that most of this is nothing. */
KR_BODY kr_key full_raw_value(uint32_t load, int is_float, uint32_t type, kr_key raw)
{
    if (is_float)
        return load == FULL_LOAD_8 ? (kr_key)kr_encode_f64((uint64_t)raw)
                                   : (kr_key)kr_encode_f32((uint32_t)raw);
    if (load == FULL_LOAD_ONE_BY_ONE)
        return full_value_of(type, (uint64_t)raw);
    return load == FULL_LOAD_8 || (load == FULL_LOAD_4 && sizeof(kr_key) == 4)
               ? raw
               : (kr_key)full_extend(type, raw);
}

/* Groups that a thread loads before it looks at the first: as many as registers allow. */
#define FULL_AT_ONCE (sizeof(kr_key) == 4 ? 8 : 4)

/* The rows among `wanted` whose values are in the leaf's interval. What is not `row` or a pointer is a
 * constant. With `branches`, groups without a wanted row are not loaded. */
KR_BODY uint32_t full_within(uint32_t load, int is_float, int branches, const full_leaf *leaf, uint64_t row,
                             uint32_t wanted)
{
    uint32_t bits = 0;
    KR_UNROLL
    for (uint32_t from = 0; from < 8; from += FULL_AT_ONCE) {
        kr_key raw[FULL_AT_ONCE][4];
        KR_UNROLL
        for (uint32_t j = 0; j < FULL_AT_ONCE; ++j) {
            raw[j][0] = raw[j][1] = raw[j][2] = raw[j][3] = 0;
            if (!branches || wanted >> 4 * (from + j) & 15)
                full_load(load, leaf->type, leaf->data, row + 128 * (from + j), raw[j]);
        }
        KR_UNROLL
        for (uint32_t j = 0; j < FULL_AT_ONCE; ++j) {
            KR_UNROLL
            for (uint32_t k = 0; k < 4; ++k) {
                const kr_key value = full_raw_value(load, is_float, leaf->type, raw[j][k]);
                bits |= full_test(FULL_INTERVAL, leaf, value, 0) << (4 * (from + j) + k);
            }
        }
    }
    return bits;
}

/* The rows for which the comparison with another column holds. */
KR_BODY uint32_t full_columns(uint32_t load, int is_float, const full_leaf *leaf, uint64_t row)
{
    uint32_t bits = 0;
#pragma unroll 1
    for (uint32_t from = 0; from < 8; from += 2) {
        kr_key raw[2][2][4];
        KR_UNROLL
        for (uint32_t j = 0; j < 2; ++j) {
            full_load(load, leaf->type, leaf->data, row + 128 * (from + j), raw[j][0]);
            full_load(load, leaf->type, leaf->other, row + 128 * (from + j), raw[j][1]);
        }
        KR_UNROLL
        for (uint32_t j = 0; j < 2; ++j) {
            KR_UNROLL
            for (uint32_t k = 0; k < 4; ++k)
                bits |=
                    full_test(FULL_COLUMNS, leaf, full_raw_value(load, is_float, leaf->type, raw[j][0][k]),
                              full_raw_value(load, is_float, leaf->type, raw[j][1][k]))
                    << (4 * (from + j) + k);
        }
    }
    return bits;
}

/* The other forms: a group at a time, for the rows that are wanted. */
KR_BODY uint32_t full_others(uint32_t form, const full_leaf *leaf, uint64_t row, uint32_t wanted)
{
    uint32_t bits = 0;
#pragma unroll 1
    for (uint32_t j = 0; j < 8; ++j) {
        KR_UNROLL
        for (uint32_t k = 0; k < 4; ++k)
            if (wanted >> (4 * j + k) & 1)
                bits |= full_row_of(form, leaf, row + 128 * j + k) << (4 * j + k);
    }
    return bits;
}

/* The last tile, row by row. */
KR_BODY uint32_t full_last_rows(const full_leaf *leaf, uint64_t row, uint64_t n)
{
    uint32_t bits = 0;
    for (uint32_t b = 0; b < 32; ++b) {
        const uint64_t at = row + 128 * (b / 4) + b % 4;
        if (at < n)
            bits |= full_row(leaf, at) << b;
    }
    return bits;
}

/* An interval, or a comparison of columns, whose groups are loaded at once. */
KR_BODY uint32_t full_wide(uint32_t load, int branches, const full_leaf *leaf, uint64_t row, uint32_t wanted)
{
    const int is_float =
        (load == FULL_LOAD_4 && leaf->type == KR_F32) || (load == FULL_LOAD_8 && leaf->type == KR_F64);
    if (leaf->form == FULL_COLUMNS)
        return is_float ? full_columns(load, 1, leaf, row) : full_columns(load, 0, leaf, row);
    return is_float ? full_within(load, 1, branches, leaf, row, wanted)
                    : full_within(load, 0, branches, leaf, row, wanted);
}

/* `branches` is a constant. */
KR_BODY uint32_t full_leaf_bits_of(int branches, const full_leaf *leaf, uint64_t row, uint32_t wanted)
{
    if (leaf->form == FULL_SEARCH)
        return full_others(FULL_SEARCH, leaf, row, wanted);
    switch (leaf->load) {
#if KR_KEY_BITS == 64
    case FULL_LOAD_8: return full_wide(FULL_LOAD_8, branches, leaf, row, wanted);
#endif
    case FULL_LOAD_4: return full_wide(FULL_LOAD_4, branches, leaf, row, wanted);
    case FULL_LOAD_2: return full_wide(FULL_LOAD_2, branches, leaf, row, wanted);
    case FULL_LOAD_1: return full_wide(FULL_LOAD_1, branches, leaf, row, wanted);
    default:
        return leaf->form == FULL_COLUMNS ? full_others(FULL_COLUMNS, leaf, row, wanted)
                                          : full_others(FULL_INTERVAL, leaf, row, wanted);
    }
}

KR_BODY void full_leaf_part(kr_group group, const full_leaf *leaf, uint64_t part, uint64_t n, int branches,
                            const uint32_t wanted[FULL_MINE], uint32_t bits[FULL_MINE])
{
    const uint64_t row = part * FULL_TILE + 4 * group.rank;
    if ((part + 1) * FULL_TILE > n)
        bits[0] = full_last_rows(leaf, row, n);
    else if (branches)
        bits[0] = full_leaf_bits_of(1, leaf, row, wanted[0]);
    else
        bits[0] = full_leaf_bits_of(0, leaf, row, wanted[0]);
}

/* Rows of this thread in groups of which one is wanted. */
KR_BODY uint32_t full_grouped(const uint32_t wanted[FULL_MINE])
{
    const uint32_t pairs = wanted[0] | wanted[0] >> 1;
    return 4 * kr_popcount32((pairs | pairs >> 2) & 0x11111111u);
}

/* 1 if a row of the part is among the bits. */
KR_BODY int full_any(kr_group group, const uint32_t bits[FULL_MINE])
{
    return kr_group_ballot(group, bits[0] != 0) != 0;
}

#else

enum { FULL_AHEAD_NBYTES = 8192 };
enum { FULL_PARTS = 4, FULL_MINE = FULL_TILE / 32 / FULL_PARTS };

KR_BODY uint64_t full_word(kr_group group, uint64_t part, uint32_t mine)
{
    (void)group;
    return part * FULL_MINE + mine;
}

KR_BODY uint32_t full_turn(kr_group group, uint32_t x)
{
    (void)group;
    return x;
}

/* Converts 32 values, in loops that compilers make vectors of. */
KR_BODY void full_convert(uint32_t type, const void *data, uint64_t row, kr_key values[32])
{
    if (type == KR_F32)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = kr_encode_f32(((const uint32_t *)data)[row + i]);
    else if (type == KR_U8)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = ((const uint8_t *)data)[row + i];
    else if (type == KR_I8)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = (kr_key)((const int8_t *)data)[row + i];
    else if (type == KR_U16)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = ((const uint16_t *)data)[row + i];
    else if (type == KR_I16)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = (kr_key)((const int16_t *)data)[row + i];
    else if (type == KR_U32)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = ((const uint32_t *)data)[row + i];
    else if (type == KR_I32 || type == KR_DATE32)
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = (kr_key)((const int32_t *)data)[row + i];
    else
        for (uint32_t i = 0; i < 32; ++i)
            values[i] = full_value(type, data, row + i);
}

/* The width of the values, where they are compared as they are in memory; else 0. An interval of codes that
 * the type has is one modulo its width, too. */
KR_BODY uint32_t full_direct_width(const full_leaf *leaf)
{
    const uint32_t width = kr_type_width(leaf->type);
    const uint64_t most = ~(uint64_t)0 >> (64 - 8 * width), first = full_code(leaf->type, (kr_key)leaf->base);
    if (leaf->form != FULL_INTERVAL || full_is_float(leaf->type))
        return 0;
    return width == sizeof(kr_key) || (first <= most && leaf->span <= most - first) ? width : 0;
}

/* Words of a part whose rows are all there; `width` is a constant. Parts of several columns take turns, which
 * the CPU's own prefetching does not follow well. */
KR_BODY void full_direct_part(const full_leaf *leaf, uint32_t width, uint64_t first, int branches,
                              const uint32_t wanted[FULL_MINE], uint32_t bits[FULL_MINE])
{
    const char *values = (const char *)leaf->data + first * width;
    for (uint32_t i = 0; !branches && i < 32 * FULL_MINE * width; i += 64)
        kr_prefetch(values + i + FULL_AHEAD_NBYTES);
    for (uint32_t w = 0; w < FULL_MINE; ++w, values += 32 * width)
        bits[w] =
            branches && !wanted[w] ? 0
            : width == 1 ? full_in_bytes((const uint8_t *)values, (uint8_t)leaf->base, (uint8_t)leaf->span)
            : width == 2
                ? full_in_halves((const uint16_t *)values, (uint16_t)leaf->base, (uint16_t)leaf->span)
            : width == 4 ? full_in_words((const uint32_t *)values, (uint32_t)leaf->base, (uint32_t)leaf->span)
                         : full_in_longs((const uint64_t *)values, leaf->base, leaf->span);
}

KR_BODY uint32_t full_leaf_word(const full_leaf *leaf, uint64_t row)
{
    kr_key values[32];
    uint32_t bits = 0;
    if (leaf->form == FULL_INTERVAL) {
        full_convert(leaf->type, leaf->data, row, values);
        return full_in_interval(values, (kr_key)leaf->base, (kr_key)leaf->span);
    }
    for (uint32_t i = 0; i < 32; ++i)
        bits |= full_row(leaf, row + i) << i;
    return bits;
}

KR_BODY void full_leaf_part(kr_group group, const full_leaf *leaf, uint64_t part, uint64_t n, int branches,
                            const uint32_t wanted[FULL_MINE], uint32_t bits[FULL_MINE])
{
    const uint64_t first = part * 32 * FULL_MINE;
    (void)group;
    switch (first + 32 * FULL_MINE <= n ? full_direct_width(leaf) : 0) {
    case 1: full_direct_part(leaf, 1, first, branches, wanted, bits); return;
    case 2: full_direct_part(leaf, 2, first, branches, wanted, bits); return;
    case 4: full_direct_part(leaf, 4, first, branches, wanted, bits); return;
    case 8: full_direct_part(leaf, 8, first, branches, wanted, bits); return;
    default: break;
    }
    for (uint32_t w = 0; w < FULL_MINE; ++w) {
        const uint64_t row = first + 32 * w;
        bits[w] = 0;
        if (wanted[w] && row + 32 <= n)
            bits[w] = full_leaf_word(leaf, row);
        else if (wanted[w])
            for (uint32_t i = 0; i < 32 && row + i < n; ++i)
                bits[w] |= full_row(leaf, row + i) << i;
    }
}

KR_BODY uint32_t full_grouped(const uint32_t wanted[FULL_MINE])
{
    uint32_t rows = 0;
    for (uint32_t w = 0; w < FULL_MINE; ++w)
        rows += wanted[w] ? 32 : 0;
    return rows;
}

KR_BODY int full_any(kr_group group, const uint32_t bits[FULL_MINE])
{
    uint32_t any = 0;
    (void)group;
    for (uint32_t w = 0; w < FULL_MINE; ++w)
        any |= bits[w];
    return any != 0;
}

#endif

#endif
