#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ORDER(T)                  \
    do {                          \
        T x, y;                   \
        memcpy(&x, a, sizeof x);  \
        memcpy(&y, b, sizeof y);  \
        return (x > y) - (x < y); \
    } while (0)

static int compare_floats(double x, double y)
{
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

int kr_value_compare(kr_type type, const void *a, const void *b)
{
    switch (type) {
    case KR_U8: ORDER(uint8_t);
    case KR_I8: ORDER(int8_t);
    case KR_U16: ORDER(uint16_t);
    case KR_I16: ORDER(int16_t);
    case KR_U32: ORDER(uint32_t);
    case KR_I32:
    case KR_DATE32: ORDER(int32_t);
    case KR_U64: ORDER(uint64_t);
    case KR_I64:
    case KR_TIMESTAMP64: ORDER(int64_t);
    default: break;
    }
    return compare_floats(kr_value_float(type, a), kr_value_float(type, b));
}

int kr_type_is_float(kr_type type)
{
    return type == KR_F32 || type == KR_F64;
}

int kr_type_is_signed(kr_type type)
{
    return type == KR_I8 || type == KR_I16 || type == KR_I32 || type == KR_I64 || type == KR_DATE32 ||
           type == KR_TIMESTAMP64;
}

kr_type kr_type_of_sum(kr_type type)
{
    return kr_type_is_float(type) ? KR_F64 : kr_type_is_signed(type) ? KR_I64 : KR_U64;
}

uint64_t kr_value_bits(kr_type type, const void *element)
{
    uint8_t bytes[8];
    uint64_t bits = 0;
    memcpy(bytes, element, kr_type_nbytes(type));
    for (uint32_t i = 0; i < kr_type_nbytes(type); ++i)
        bits |= (uint64_t)bytes[i] << 8 * i;
    return bits;
}

uint64_t kr_value_integer(kr_type type, const void *element)
{
    const uint32_t unused = 64 - 8 * kr_type_nbytes(type);
    const uint64_t bits = kr_value_bits(type, element) << unused;
    return kr_type_is_signed(type) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

double kr_value_float(kr_type type, const void *element)
{
    float narrow = 0;
    double wide = 0;
    if (type == KR_F32) {
        memcpy(&narrow, element, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, element, sizeof wide);
    return wide;
}

void kr_value_store_bits(kr_type type, void *data, uint64_t row, uint64_t bits)
{
    uint8_t *element = (uint8_t *)data + row * kr_type_nbytes(type);
    for (uint32_t i = 0; i < kr_type_nbytes(type); ++i)
        element[i] = (uint8_t)(bits >> 8 * i);
}

void kr_value_store_number(kr_type type, void *data, uint64_t row, int64_t number)
{
    const float narrow = (float)number;
    const double wide = (double)number;
    uint32_t narrow_bits;
    uint64_t wide_bits;
    memcpy(&narrow_bits, &narrow, sizeof narrow);
    memcpy(&wide_bits, &wide, sizeof wide);
    kr_value_store_bits(type, data, row,
                        type == KR_F32   ? narrow_bits
                        : type == KR_F64 ? wide_bits
                                         : (uint64_t)number);
}

/* The lowest code of a float type is that of -infinity; NaNs have the highest. */
static uint64_t infinity_bits(kr_type type)
{
    return type == KR_F32 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF) << 52;
}

static uint64_t all_bits(kr_type type)
{
    return ~UINT64_C(0) >> (64 - 8 * kr_type_nbytes(type));
}

uint64_t kr_value_code(kr_type type, const void *element)
{
    const uint64_t bits = kr_value_bits(type, element), all = all_bits(type), sign = all ^ all >> 1;
    if (!kr_type_is_float(type))
        return kr_type_is_signed(type) ? bits ^ sign : bits;
    if ((bits & ~sign) > infinity_bits(type))
        return all;
    if (bits == sign)
        return sign;
    return bits & sign ? all - bits : bits | sign;
}

uint64_t kr_value_of_code(kr_type type, uint64_t code)
{
    const uint64_t all = all_bits(type), sign = all ^ all >> 1;
    if (!kr_type_is_float(type))
        return (kr_type_is_signed(type) ? code ^ sign : code) & all;
    const uint64_t lowest = all - (infinity_bits(type) | sign), legal = code < lowest ? lowest : code & all;
    return legal & sign ? legal ^ sign : all - legal;
}

/* Special float patterns, including -0 and NaNs with payloads and signs. */
static const uint32_t floats[] = {
    0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF,
    0xFFFFFFFF, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x3F800001, 0x4B000000, 0x4B7FFFFF, 0x4B800000, 0xFF800001,
};
static const uint64_t doubles[] = {
    0x0000000000000000, 0x8000000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
    0xFFF8000000000000, 0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x0000000000000001,
    0x8000000000000001, 0x000FFFFFFFFFFFFF, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x8010000000000000,
    0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001,
    0x4330000000000000, 0x433FFFFFFFFFFFFF, 0x4340000000000000, 0xFFF0000000000001,
};
/* Added to a power of two, or to nothing. */
static const int8_t steps[] = {0, -1, 1, -2};

uint64_t kr_value_extreme(kr_type type, uint64_t number)
{
    const uint64_t n_floats = sizeof floats / sizeof floats[0];
    if (type == KR_F32)
        return floats[number % n_floats];
    if (type == KR_F64)
        return doubles[number % n_floats];
    const uint32_t bits = 8 * kr_type_nbytes(type);
    const uint64_t power = number / 4 % (bits + 1);
    return (power ? UINT64_C(1) << (bits - power) : 0) + (uint64_t)(int64_t)steps[number % 4];
}

const char *kr_value_print(kr_type type, const void *element, char text[48])
{
    const double real = kr_type_is_float(type) ? kr_value_float(type, element) : 0;
    if (kr_type_is_float(type))
        snprintf(text, 48, "%.17g (0x%" PRIx64 ")", real, kr_value_bits(type, element));
    else if (kr_type_is_signed(type))
        snprintf(text, 48, "%" PRId64, (int64_t)kr_value_integer(type, element));
    else
        snprintf(text, 48, "%" PRIu64, kr_value_integer(type, element));
    return text;
}
