/* Order-preserving encodings of column types to unsigned integers: a < b as values exactly when
 * encode(a) < encode(b) as u32 (types of up to 32 bits) or u64 (the rest). Floats: -0 encodes as +0, every
 * NaN as the largest code, above +infinity. Used by program bodies and host code alike. */
#ifndef KEYRAY_KEY_KEY_H
#define KEYRAY_KEY_KEY_H

#include "program/lang.h"
#include <keyray/keyray.h>

/* 32 or 64: the width of the code of a type's values, and so of the index that holds them. */
KR_BOTH uint32_t kr_type_key_bits(uint32_t type)
{
    return type == KR_U64 || type == KR_I64 || type == KR_F64 || type == KR_TIMESTAMP64 ? 64 : 32;
}

/* Bits of the code that can differ between two values: a radix sort need not look at others. */
KR_BOTH uint32_t kr_type_significant_bits(uint32_t type)
{
    if (type == KR_U8 || type == KR_I8)
        return 8;
    if (type == KR_U16 || type == KR_I16)
        return 16;
    return kr_type_key_bits(type);
}

KR_BOTH uint32_t kr_encode_f32(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return 0xFFFFFFFFu;
    if (magnitude == 0)
        return 0x80000000u;
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

KR_BOTH uint64_t kr_encode_f64(uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << 63, magnitude = bits & ~sign;
    if (magnitude > (uint64_t)0x7FF << 52)
        return ~(uint64_t)0;
    if (magnitude == 0)
        return sign;
    return bits & sign ? ~bits : bits | sign;
}

KR_BOTH uint32_t kr_decode_f32(uint32_t code)
{
    if (code == 0xFFFFFFFFu)
        return 0x7FC00000u;
    return code >> 31 ? code & 0x7FFFFFFFu : ~code;
}

KR_BOTH uint64_t kr_decode_f64(uint64_t code)
{
    const uint64_t sign = (uint64_t)1 << 63;
    if (code == ~(uint64_t)0)
        return (uint64_t)0x7FF8 << 48;
    return code & sign ? code & ~sign : ~code;
}

/* Element i of a column of a type of up to 32 bits. */
KR_BODY uint32_t kr_load_key32(uint32_t type, const void *data, uint64_t i)
{
    switch (type) {
    case KR_U8: return kr_load((const uint8_t *)data + i);
    case KR_I8: return (uint32_t)(kr_load((const int8_t *)data + i) + 0x80);
    case KR_U16: return kr_load((const uint16_t *)data + i);
    case KR_I16: return (uint32_t)(kr_load((const int16_t *)data + i) + 0x8000);
    case KR_U32: return kr_load((const uint32_t *)data + i);
    case KR_F32: return kr_encode_f32(kr_load((const uint32_t *)data + i));
    default: return kr_load((const uint32_t *)data + i) ^ 0x80000000u; /* i32, date32 */
    }
}

KR_BODY uint64_t kr_load_key64(uint32_t type, const void *data, uint64_t i)
{
    const uint64_t bits = kr_load((const uint64_t *)data + i);
    switch (type) {
    case KR_U64: return bits;
    case KR_F64: return kr_encode_f64(bits);
    default: return bits ^ (uint64_t)1 << 63; /* i64, timestamp64 */
    }
}

/* The code of an element of any type, widened. */
KR_BODY uint64_t kr_load_code(uint32_t type, const void *data, uint64_t i)
{
    return kr_type_key_bits(type) == 64 ? kr_load_key64(type, data, i) : kr_load_key32(type, data, i);
}

/* The code as an integer of the type's own value, sign-extended; for floats meaningless. */
KR_BODY uint64_t kr_code_integer(uint32_t type, uint64_t code)
{
    switch (type) {
    case KR_I8: return code - 0x80;
    case KR_I16: return code - 0x8000;
    case KR_I32:
    case KR_DATE32: return code - 0x80000000u;
    case KR_I64:
    case KR_TIMESTAMP64: return code ^ (uint64_t)1 << 63;
    default: return code;
    }
}

KR_BODY double kr_code_float(uint32_t type, uint64_t code)
{
    return type == KR_F32 ? (double)kr_bits_f32(kr_decode_f32((uint32_t)code))
                          : kr_bits_f64(kr_decode_f64(code));
}

/* Writes the value behind a code as element i of a column of the type. */
KR_BODY void kr_store_code(uint32_t type, void *data, uint64_t i, uint64_t code)
{
    if (type == KR_F32)
        ((uint32_t *)data)[i] = kr_decode_f32((uint32_t)code);
    else if (type == KR_F64)
        ((uint64_t *)data)[i] = kr_decode_f64(code);
    else if (kr_type_key_bits(type) == 64)
        ((uint64_t *)data)[i] = kr_code_integer(type, code);
    else if (kr_type_significant_bits(type) == 8)
        ((uint8_t *)data)[i] = (uint8_t)kr_code_integer(type, code);
    else if (kr_type_significant_bits(type) == 16)
        ((uint16_t *)data)[i] = (uint16_t)kr_code_integer(type, code);
    else
        ((uint32_t *)data)[i] = (uint32_t)kr_code_integer(type, code);
}

/* The code of the value zero. */
KR_BODY uint64_t kr_zero_code(uint32_t type)
{
    switch (type) {
    case KR_I8: return 0x80;
    case KR_I16: return 0x8000;
    case KR_I32:
    case KR_DATE32:
    case KR_F32: return 0x80000000u;
    case KR_I64:
    case KR_TIMESTAMP64:
    case KR_F64: return (uint64_t)1 << 63;
    default: return 0;
    }
}

/* Bit `row` of Arrow's validity bitmap; NULL means that every row is valid. */
KR_BODY int kr_is_valid(const uint8_t *validity, uint64_t offset, uint64_t row)
{
    const uint64_t bit = offset + row;
    return !validity || (kr_load(validity + bit / 8) >> (bit % 8) & 1);
}

/* ---- For files compiled once per key width -------------------------------------------------- */
#if defined(KR_KEY_BITS)
#if KR_KEY_BITS == 32
typedef uint32_t kr_key;
#define kr_load_key kr_load_key32
#define KR_RAW_KEY KR_U32 /* the type whose values are their own codes */
#else
typedef uint64_t kr_key;
#define kr_load_key kr_load_key64
#define KR_RAW_KEY KR_U64
#endif
#endif

#endif
