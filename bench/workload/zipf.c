#include "bench/workload/workload.h"

#include <stdlib.h>

/* Weights are r^-s = 2^(-s * log2 r) in fixed point: logarithms and exponents with 56 fraction bits,
 * weights with 62. A logarithm is off by less than 2^-55, so a weight by less than 2^-52 of itself and
 * 2^-61 absolute. That is far below what the slots cost: see bench/README.md. */
#define LOG_BITS 56
#define SLOT_BITS 10

/* log2(x), x >= 1: one fraction bit for each squaring of the mantissa. */
static uint64_t fixed_log2(uint64_t x)
{
    uint32_t whole = 63 - (uint32_t)__builtin_clzll(x);
    uint64_t mantissa = x << (63 - whole), log = whole;
    for (uint32_t i = 0; i < LOG_BITS; i++) {
        kr_u128 square = (kr_u128)mantissa * mantissa;
        uint32_t bit = (uint32_t)(square >> 127);
        log = log << 1 | bit;
        mantissa = (uint64_t)(square >> (63 + bit));
    }
    return log;
}

static uint64_t square_root(kr_u128 x)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
        if ((kr_u128)(root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}

/* roots[i] = 2^-(2^-(i+1)) with 63 fraction bits. */
static void fill_roots(uint64_t roots[LOG_BITS])
{
    uint64_t root = UINT64_C(1) << 62;
    for (uint32_t i = 0; i < LOG_BITS; i++)
        roots[i] = root = square_root((kr_u128)root << 63);
}

/* 2^-x with 62 fraction bits. */
static uint64_t fixed_exp2_minus(kr_u128 x, const uint64_t roots[LOG_BITS])
{
    kr_u128 whole = x >> LOG_BITS;
    if (whole > 62)
        return 0;
    uint64_t power = UINT64_C(1) << 63;
    for (uint32_t i = 0; i < LOG_BITS; i++)
        if (x >> (LOG_BITS - 1 - i) & 1)
            power = (uint64_t)(((kr_u128)power * roots[i]) >> 63);
    return power >> 1 >> (uint32_t)whole;
}

/* Slots number ranks like a small floating point format: SLOT_BITS bits below the leading one. */
static uint32_t slot_of(uint64_t rank)
{
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(rank);
    uint32_t shift = octave > SLOT_BITS ? octave - SLOT_BITS : 0;
    return (shift << SLOT_BITS) + (uint32_t)(rank >> shift);
}

static uint32_t slot_shift(uint32_t slot)
{
    return slot >> (SLOT_BITS + 1) ? (slot >> SLOT_BITS) - 1 : 0;
}

static uint64_t slot_first(uint32_t slot)
{
    uint32_t shift = slot_shift(slot);
    return (uint64_t)(slot - (shift << SLOT_BITS)) << shift;
}

/* The last slot may be cut short by n. */
static uint64_t slot_width(const kr_zipf *zipf, uint32_t slot)
{
    uint64_t width = UINT64_C(1) << slot_shift(slot), left = zipf->n - slot_first(slot) + 1;
    return width < left ? width : left;
}

kr_status kr_zipf_open(uint32_t hundredths, uint64_t n, kr_zipf *zipf, kr_error *err)
{
    *zipf = (kr_zipf){.n = n, .last_slot = slot_of(n)};
    kr_u128 *sums = kr_workload_alloc(zipf->last_slot + 1, sizeof *sums, "the Zipf distribution", err);
    zipf->below = kr_workload_alloc(zipf->last_slot + 1, sizeof *zipf->below, "the Zipf distribution", err);
    if (!sums || !zipf->below) {
        free(sums);
        kr_zipf_close(zipf);
        return KR_ERR_HOST_MEMORY;
    }
    uint64_t roots[LOG_BITS];
    fill_roots(roots);
    sums[0] = 0; /* ranks begin at 1 */
    for (uint32_t slot = 1; slot <= zipf->last_slot; slot++) {
        /* A slot weighs its width times the weight of its middle, which may end in a half. */
        uint64_t width = slot_width(zipf, slot), twice_middle = 2 * slot_first(slot) + width - 1;
        uint64_t log = fixed_log2(twice_middle) - (UINT64_C(1) << LOG_BITS);
        sums[slot] =
            sums[slot - 1] + (kr_u128)width * fixed_exp2_minus((kr_u128)log * hundredths / 100, roots);
    }
    uint32_t shift = 0;
    while (sums[zipf->last_slot] >> shift > UINT64_MAX)
        shift++;
    for (uint32_t slot = 0; slot <= zipf->last_slot; slot++)
        zipf->below[slot] = (uint64_t)(sums[slot] >> shift);
    zipf->total = zipf->below[zipf->last_slot];
    free(sums);
    return KR_OK;
}

uint64_t kr_zipf_rank(const kr_zipf *zipf, uint64_t random, uint64_t within)
{
    uint64_t weight = kr_scale(random, zipf->total);
    /* The first slot with more below it; without branches, for they would be mispredicted half the time. */
    uint32_t low = 1;
    for (uint32_t left = zipf->last_slot, half; left > 1; left -= half) {
        half = left / 2;
        low += zipf->below[low + half - 1] <= weight ? half : 0;
    }
    return slot_first(low) - 1 + kr_scale(within, slot_width(zipf, low));
}

void kr_zipf_close(kr_zipf *zipf)
{
    free(zipf->below);
    zipf->below = NULL;
}
