/* On a CPU, each thread sets bits of its own, which are then united: cores that set bits of one line would
 * wait for each other. */
#include "base/program/program.h"
#include "join/bits_set.h"

enum { SEVERAL = 64 };

KR_BODY void set_stripe(const bits_params *p, uint64_t stripe)
{
    const uint64_t rows = p->end - p->begin, end = p->begin + rows * (stripe + 1) / p->stripes;
    uint32_t *bits = p->bits + stripe * p->words;
    for (uint64_t row = p->begin + rows * stripe / p->stripes; row < end; row += SEVERAL) {
        const uint32_t n = end - row < SEVERAL ? (uint32_t)(end - row) : SEVERAL;
        kr_key codes[SEVERAL];
        kr_code_load_several(p->type, p->values, row, n, codes);
        for (uint32_t j = 0; j < n; ++j)
            join_bits_set_one(p, bits, 0, row + j, codes[j]);
    }
}

KR_BODY void set_stripes(const bits_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t stripe = first; stripe < end; ++stripe)
        set_stripe(p, stripe);
}
KR_CPU_PIECE_PROGRAM(join_bits_stripes, bits_params, set_stripes);

/* Words of the first stripe. */
KR_BODY void unite(const bits_params *p, uint64_t first, uint64_t end)
{
    for (uint32_t stripe = 1; stripe < p->stripes; ++stripe) {
        const uint32_t *other = p->bits + stripe * p->words;
        for (uint64_t i = first; i < end; ++i)
            p->bits[i] |= other[i];
    }
}
KR_CPU_PROGRAM(join_bits_unite, bits_params, unite);
