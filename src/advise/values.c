/* Values as ordered numbers, and random numbers. The order is that of kr_type: all NaNs are equal and above
 * everything else, and -0 is 0. */
#include "advise/plan.h"

#include <string.h>

static int is_float(kr_type type)
{
    return type == KR_F32 || type == KR_F64;
}

static int is_signed(kr_type type)
{
    return type == KR_I8 || type == KR_I16 || type == KR_I32 || type == KR_I64 || type == KR_DATE32 ||
           type == KR_TIMESTAMP64;
}

static uint64_t bits_at(uint32_t nbytes, const void *values, uint64_t at)
{
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    const char *from = (const char *)values + at * nbytes;
    switch (nbytes) {
    case 1: memcpy(&b1, from, 1); return b1;
    case 2: memcpy(&b2, from, 2); return b2;
    case 4: memcpy(&b4, from, 4); return b4;
    default: memcpy(&b8, from, 8); return b8;
    }
}

uint64_t kr_advise_code_most(kr_type type)
{
    return UINT64_MAX >> (64 - 8 * kr_type_nbytes(type));
}

static uint64_t sign_of(kr_type type)
{
    return UINT64_C(1) << (8 * kr_type_nbytes(type) - 1);
}

uint64_t kr_advise_code(kr_type type, const void *values, uint64_t at)
{
    const uint64_t bits = bits_at(kr_type_nbytes(type), values, at), sign = sign_of(type);
    if (!is_float(type))
        return is_signed(type) ? bits ^ sign : bits;
    const uint64_t infinite = type == KR_F32 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF0000000000000);
    if ((bits & ~sign) > infinite)
        return kr_advise_code_most(type);
    if (!(bits & ~sign))
        return sign;
    return bits & sign ? kr_advise_code_most(type) - bits : bits | sign;
}

void kr_advise_value(kr_type type, uint64_t code, void *values, uint64_t at)
{
    const uint32_t nbytes = kr_type_nbytes(type);
    const uint64_t sign = sign_of(type);
    uint64_t bits = is_signed(type) ? code ^ sign : code;
    if (is_float(type))
        bits = code & sign ? code & ~sign : kr_advise_code_most(type) - code;
    memcpy((char *)values + at * nbytes, &bits, nbytes); /* the machine is little-endian */
}

/* Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t kr_advise_random(uint64_t *state)
{
    return mixed(*state += UINT64_C(0x9E3779B97F4A7C15));
}

uint64_t kr_advise_below(uint64_t *state, uint64_t n)
{
    const uint64_t random = kr_advise_random(state);
    return n <= UINT32_MAX ? ((random >> 32) * n) >> 32 : random % n;
}

uint64_t kr_advise_hash(uint64_t place, uint64_t number)
{
    return mixed(number + (place + 1) * UINT64_C(0x9E3779B97F4A7C15));
}
