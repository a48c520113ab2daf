/* Values of a column as the programs of kind `full` compare them: integers extended by their sign to the key
 * width, floats as codes. So an interval of codes is an interval of values, modulo the key width. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_VALUES_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_VALUES_H

#include "base/key/key.h"
#include "table/condition/compare.h"
#include "table/families/full/full_params.h"

KR_BODY int full_is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

KR_BODY uint64_t full_extend(uint32_t type, uint64_t bits)
{
    const uint64_t bias = kr_type_bias(type);
    return (bits ^ bias) - bias;
}

KR_BODY kr_key full_value_of(uint32_t type, uint64_t bits)
{
    if (type == KR_F32)
        return (kr_key)kr_encode_f32((uint32_t)bits);
    if (type == KR_F64)
        return (kr_key)kr_encode_f64(bits);
    return (kr_key)full_extend(type, bits);
}

/* An element as it is in memory, zero-extended. */
KR_BODY uint64_t full_bits_at(uint32_t type, const void *data, uint64_t row)
{
    const uint32_t width = kr_type_width(type);
    return width == 8   ? kr_load((const uint64_t *)data + row)
           : width == 4 ? kr_load((const uint32_t *)data + row)
           : width == 2 ? kr_load((const uint16_t *)data + row)
                        : kr_load((const uint8_t *)data + row);
}

KR_BODY kr_key full_value(uint32_t type, const void *data, uint64_t row)
{
    return full_value_of(type, full_bits_at(type, data, row));
}

KR_BODY kr_key full_code(uint32_t type, kr_key value)
{
    return full_is_float(type) ? value : (kr_key)(value + (kr_key)kr_type_bias(type));
}

/* The end of a tile's zone. */
KR_BODY kr_key full_zone_end(uint32_t type, const void *ends, uint64_t tile)
{
    return kr_type_key_bits(type) == 64 ? (kr_key)kr_load((const uint64_t *)ends + tile)
                                        : (kr_key)kr_load((const uint32_t *)ends + tile);
}

/* ---- One value ------------------------------------------------------------------------------- */

/* Whether the last interval that does not begin above the code holds it. */
KR_BODY int full_search(const full_leaf *leaf, kr_key code)
{
    const kr_key *lows = (const kr_key *)leaf->lows;
    uint32_t low = 0, high = leaf->n_intervals;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(lows + middle) <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && code <= kr_load((const kr_key *)leaf->highs + low - 1);
}

KR_BODY int full_compare(uint32_t compare, kr_key a, kr_key b)
{
    return kr_compare_holds(compare, a < b ? 0 : a == b ? 1 : 2);
}

/* Whether a value that is not NULL belongs to the leaf; `other` is that of a second column. `form` is a
 * constant where this is used. */
KR_BODY uint32_t full_test(uint32_t form, const full_leaf *leaf, kr_key value, kr_key other)
{
    if (form == FULL_COLUMNS)
        return (uint32_t)full_compare(leaf->compare, full_code(leaf->type, value),
                                      full_code(leaf->type, other));
    if (form == FULL_SEARCH)
        return (uint32_t)full_search(leaf, full_code(leaf->type, value));
    return (kr_key)(value - (kr_key)leaf->base) <= (kr_key)leaf->span;
}

KR_BODY uint32_t full_row_of(uint32_t form, const full_leaf *leaf, uint64_t row)
{
    return full_test(form, leaf, full_value(leaf->type, leaf->data, row),
                     form == FULL_COLUMNS ? full_value(leaf->type, leaf->other, row) : 0);
}

KR_BODY uint32_t full_row(const full_leaf *leaf, uint64_t row)
{
    return leaf->form == FULL_COLUMNS  ? full_row_of(FULL_COLUMNS, leaf, row)
           : leaf->form == FULL_SEARCH ? full_row_of(FULL_SEARCH, leaf, row)
                                       : full_row_of(FULL_INTERVAL, leaf, row);
}

/* ---- Words of bitmaps ------------------------------------------------------------------------ */

/* Bits first .. first + 31 of a bitmap of bytes, of which those from `end` on are not read. */
KR_BODY uint32_t full_bytes(const uint8_t *bitmap, uint64_t first, uint64_t end)
{
    uint64_t bits = 0;
    for (uint64_t byte = first / 8; byte * 8 < first + 32 && byte * 8 < end; ++byte)
        bits |= (uint64_t)kr_load(bitmap + byte) << 8 * (byte - first / 8);
    return (uint32_t)(bits >> first % 8);
}

/* The rows of a word that are not NULL. */
KR_BODY uint32_t full_valid(const full_leaf *leaf, uint64_t word, uint64_t n)
{
    uint32_t valid = 0xFFFFFFFFu;
    if (leaf->validity)
        valid = full_bytes(leaf->validity, leaf->validity_offset + word * 32, leaf->validity_offset + n);
    if (leaf->other_validity)
        valid &= full_bytes(leaf->other_validity, leaf->other_offset + word * 32, leaf->other_offset + n);
    return valid;
}

/* The rows of a word that there are. */
KR_BODY uint32_t full_rows(uint64_t word, uint64_t n)
{
    const uint64_t first = word * 32, left = n > first ? n - first : 0;
    return left < 32 ? ((uint32_t)1 << left) - 1 : 0xFFFFFFFFu;
}

#endif
