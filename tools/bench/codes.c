/* Codes of values: numbers of 32 or 64 bits in the order of the values, made without the library. */
#include "job.h"

#include <string.h>

#define SIGN_OF(width) (UINT64_C(1) << ((width)-1))

/* -0 equals +0; all NaNs are one and the largest. */
static uint64_t float_code(uint64_t bits, uint32_t width)
{
    const uint64_t sign = SIGN_OF(width), all = sign | (sign - 1);
    const uint64_t infinity = width == 32 ? 0x7F800000 : UINT64_C(0x7FF0000000000000);
    if ((bits & ~sign) > infinity)
        return all;
    if (!(bits & ~sign))
        return sign;
    return bits & sign ? ~bits & all : bits | sign;
}

static uint64_t float_bits(uint64_t code, uint32_t width)
{
    const uint64_t sign = SIGN_OF(width), all = sign | (sign - 1);
    return code & sign ? code & ~sign : ~code & all;
}

uint64_t bench_code_at(kr_type type, const void *data, uint64_t i)
{
    switch (type) {
    case KR_U8: return ((const uint8_t *)data)[i];
    case KR_U16: return ((const uint16_t *)data)[i];
    case KR_I8: return (uint64_t)(((const int8_t *)data)[i] + INT64_C(128));
    case KR_I16: return (uint64_t)(((const int16_t *)data)[i] + INT64_C(32768));
    case KR_I32:
    case KR_DATE32: return ((const uint32_t *)data)[i] ^ SIGN_OF(32);
    case KR_I64:
    case KR_TIMESTAMP64: return ((const uint64_t *)data)[i] ^ SIGN_OF(64);
    case KR_F32: return float_code(((const uint32_t *)data)[i], 32);
    case KR_F64: return float_code(((const uint64_t *)data)[i], 64);
    case KR_U64: return ((const uint64_t *)data)[i];
    default: return ((const uint32_t *)data)[i];
    }
}

void bench_code_value(kr_type type, uint64_t code, uint64_t *value)
{
    switch (type) {
    case KR_I8: code -= 128; break;
    case KR_I16: code -= 32768; break;
    case KR_I32:
    case KR_DATE32: code ^= SIGN_OF(32); break;
    case KR_I64:
    case KR_TIMESTAMP64: code ^= SIGN_OF(64); break;
    case KR_F32: code = float_bits(code, 32); break;
    case KR_F64: code = float_bits(code, 64); break;
    default: break;
    }
    *value = code; /* the machine is little-endian: its first bytes are a value of the type */
}

int bench_code_is_nan(kr_type type, uint64_t code)
{
    return (type == KR_F32 && code == UINT32_MAX) || (type == KR_F64 && code == UINT64_MAX);
}
