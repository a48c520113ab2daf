#include "core/reduce.h"
#include "core/reduce_body.h"

/* Enough slices for every multiprocessor's warps, or every core's thread, a few times over. */
enum { GPU_SLICE_BITS = 17, CPU_SLICE_BITS = 10, MOST_SLICE_BITS = 12, GROUP = 32 };

kr_spread kr_spread_of(int is_host, uint64_t n_matches)
{
    const uint64_t wanted = (uint64_t)1 << (is_host ? CPU_SLICE_BITS : GPU_SLICE_BITS);
    kr_spread spread = {0, 1};
    while (spread.slice_bits < MOST_SLICE_BITS && n_matches << (spread.slice_bits + 1) <= wanted)
        ++spread.slice_bits;
    if (spread.slice_bits && !is_host)
        spread.threads = GROUP;
    return spread;
}
