/* Order-preserving encodings of column types to unsigned integers: a < b as values exactly when
 * encode(a) < encode(b) as u32 (types of up to 32 bits) or u64 (the rest). Floats: -0 encodes as +0, every
 * NaN as the largest code, above +infinity. Used by program bodies and host code alike. */
#ifndef KEYRAY_BASE_KEY_KEY_H
#define KEYRAY_BASE_KEY_KEY_H

#include "base/program/lang.h"
#include <keyray/keyray.h>

/* Sets of types as bit masks. Bodies test these inside their loops, instead of a switch over the types: with
 * a switch in SUM, gcc 13 at -O3 took the default arm for every type (gcc 12 and clang 14 did not; the cause
 * is unknown). */
#define KR_TYPES_1 (1u << KR_U8 | 1u << KR_I8)
#define KR_TYPES_2 (1u << KR_U16 | 1u << KR_I16)
#define KR_TYPES_8 (1u << KR_U64 | 1u << KR_I64 | 1u << KR_F64 | 1u << KR_TIMESTAMP64)
#define KR_TYPES_SIGNED \
    (1u << KR_I8 | 1u << KR_I16 | 1u << KR_I32 | 1u << KR_I64 | 1u << KR_DATE32 | 1u << KR_TIMESTAMP64)

KR_BOTH int kr_type_in(uint32_t type, uint32_t set)
{
    return (int)(set >> type & 1u);
}

/* Bytes of a value. */
KR_BOTH uint32_t kr_type_width(uint32_t type)
{
    return kr_type_in(type, KR_TYPES_8)   ? 8
           : kr_type_in(type, KR_TYPES_1) ? 1
           : kr_type_in(type, KR_TYPES_2) ? 2
                                          : 4;
}

/* A signed integer's code minus its value: the weight of its sign bit. */
KR_BOTH uint64_t kr_type_bias(uint32_t type)
{
    return kr_type_in(type, KR_TYPES_SIGNED) ? (uint64_t)1 << (8 * kr_type_width(type) - 1) : 0;
}

/* 32 or 64: the width of the code of a type's values, and so of the index that holds them. */
KR_BOTH uint32_t kr_type_key_bits(uint32_t type)
{
    return kr_type_in(type, KR_TYPES_8) ? 64 : 32;
}

/* Bits of the code that can differ between two values: a radix sort need not look at others. */
KR_BOTH uint32_t kr_type_significant_bits(uint32_t type)
{
    return 8 * kr_type_width(type);
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
KR_BODY uint32_t kr_code_load_key32(uint32_t type, const void *data, uint64_t i)
{
    const uint32_t width = kr_type_width(type);
    const uint32_t bits = width == 4   ? kr_load((const uint32_t *)data + i)
                          : width == 1 ? (uint32_t)kr_load((const uint8_t *)data + i)
                                       : (uint32_t)kr_load((const uint16_t *)data + i);
    return type == KR_F32 ? kr_encode_f32(bits) : bits ^ (uint32_t)kr_type_bias(type);
}

KR_BODY uint64_t kr_code_load_key64(uint32_t type, const void *data, uint64_t i)
{
    const uint64_t bits = kr_load((const uint64_t *)data + i);
    return type == KR_F64 ? kr_encode_f64(bits) : bits ^ kr_type_bias(type);
}

/* The code of an element of any type, widened. */
KR_BODY uint64_t kr_code_load(uint32_t type, const void *data, uint64_t i)
{
    return kr_type_key_bits(type) == 64 ? kr_code_load_key64(type, data, i)
                                        : kr_code_load_key32(type, data, i);
}

/* The integer value behind a code, sign-extended; meaningless for floats. */
KR_BODY uint64_t kr_code_integer(uint32_t type, uint64_t code)
{
    return code - kr_type_bias(type);
}

KR_BODY double kr_code_float(uint32_t type, uint64_t code)
{
    return type == KR_F32 ? (double)kr_bits_f32(kr_decode_f32((uint32_t)code))
                          : kr_bits_f64(kr_decode_f64(code));
}

/* Writes the value behind a code as element i of a column of the type. */
KR_BODY void kr_code_store(uint32_t type, void *data, uint64_t i, uint64_t code)
{
    const uint32_t width = kr_type_width(type);
    const uint64_t bits = type == KR_F32   ? kr_decode_f32((uint32_t)code)
                          : type == KR_F64 ? kr_decode_f64(code)
                                           : kr_code_integer(type, code);
    if (width == 8)
        ((uint64_t *)data)[i] = bits;
    else if (width == 4)
        ((uint32_t *)data)[i] = (uint32_t)bits;
    else if (width == 2)
        ((uint16_t *)data)[i] = (uint16_t)bits;
    else
        ((uint8_t *)data)[i] = (uint8_t)bits;
}

/* The code of the value zero. */
KR_BODY uint64_t kr_code_zero(uint32_t type)
{
    if (type == KR_F32 || type == KR_F64)
        return (uint64_t)1 << (8 * kr_type_width(type) - 1);
    return kr_type_bias(type);
}

/* Bit `row` of Arrow's validity bitmap; NULL means that every row is valid. */
KR_BODY int kr_code_is_valid(const uint8_t *validity, uint64_t offset, uint64_t row)
{
    const uint64_t bit = offset + row;
    return !validity || (kr_load(validity + bit / 8) >> (bit % 8) & 1);
}

/* ---- For files compiled once per key width -------------------------------------------------- */
#if defined(KR_KEY_BITS)
#if KR_KEY_BITS == 32
typedef uint32_t kr_key;
#define kr_code_load_key kr_code_load_key32
#define KR_RAW_KEY KR_U32 /* the type whose values are their own codes */
#else
typedef uint64_t kr_key;
#define kr_code_load_key kr_code_load_key64
#define KR_RAW_KEY KR_U64
#endif
#endif

#endif
