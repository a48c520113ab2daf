/* The oracle: the keys in a sorted array, with its own sort and search. */
#include "job.h"

#include "../tool.h"

#include <stdlib.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* ---- Sorting ------------------------------------------------------------------------------- */

typedef struct entries {
    void *keys;
    uint32_t *rows;
} entries;

static inline uint64_t get(const void *keys, int wide, uint64_t i)
{
    return wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

static inline void put(void *keys, int wide, uint64_t i, uint64_t key)
{
    if (wide)
        ((uint64_t *)keys)[i] = key;
    else
        ((uint32_t *)keys)[i] = (uint32_t)key;
}

/* One stable pass by the digit at `shift`; 0: all digits are equal, nothing was moved. */
static int pass(const entries *from, const entries *to, uint64_t n, int wide, unsigned shift)
{
    static uint64_t start[DIGITS + 1];
    for (int digit = 0; digit <= DIGITS; ++digit)
        start[digit] = 0;
    for (uint64_t i = 0; i < n; ++i)
        start[(get(from->keys, wide, i) >> shift & (DIGITS - 1)) + 1]++;
    for (int digit = 0; digit < DIGITS; ++digit) {
        if (start[digit + 1] == n)
            return 0;
        start[digit + 1] += start[digit];
    }
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t key = get(from->keys, wide, i);
        const uint64_t place = start[key >> shift & (DIGITS - 1)]++;
        put(to->keys, wide, place, key);
        to->rows[place] = from->rows[i];
    }
    return 1;
}

int bench_oracle_open(bench_data *data)
{
    const int wide = data->type == KR_U64;
    const uint64_t n = data->n_keys, nbytes = wide ? 8 : 4;
    entries at = {tool_alloc(n, nbytes, "the oracle's keys"), NULL}, spare = {NULL, NULL};
    data->sorted = at.keys;
    data->sorted_rows = at.rows = at.keys ? tool_alloc(n, 4, "the oracle's rows") : NULL;
    spare.keys = at.rows ? tool_alloc(n, nbytes, "the oracle's sort") : NULL;
    spare.rows = spare.keys ? tool_alloc(n, 4, "the oracle's sort") : NULL;
    if (!spare.rows) {
        free(spare.keys);
        return FAILED;
    }
    for (uint64_t i = 0; i < n; ++i) {
        put(at.keys, wide, i, get(data->host[COLUMN_KEYS], wide, i));
        at.rows[i] = (uint32_t)i;
    }
    for (unsigned shift = 0; shift < nbytes * 8; shift += DIGIT_BITS)
        if (pass(&at, &spare, n, wide, shift)) {
            const entries sorted = spare;
            spare = at;
            at = sorted;
        }
    data->sorted = at.keys;
    data->sorted_rows = at.rows;
    free(spare.rows);
    free(spare.keys);
    return DONE;
}

/* ---- Searching ----------------------------------------------------------------------------- */

/* How many keys are below `key` or, with `equal`, not above it. */
static uint64_t position(const bench_data *data, uint64_t key, int equal)
{
    uint64_t low = 0, high = data->n_keys;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint64_t there = get(data->sorted, data->type == KR_U64, middle);
        if (there < key || (equal && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t bench_oracle_answer(const bench_data *data, uint64_t i, kr_result result, uint64_t *visited)
{
    const int wide = data->type == KR_U64;
    const int upper = data->operation == BENCH_RANGE ? COLUMN_UPPER : COLUMN_LOWER;
    const uint64_t low = get(data->host[COLUMN_LOWER], wide, i), high = get(data->host[upper], wide, i);
    const uint64_t first = position(data, low, 0);
    const uint64_t end = low <= high ? position(data, high, 1) : first;
    const uint32_t *values = data->host[COLUMN_VALUES];
    uint64_t sum = 0;
    uint32_t least = KR_NO_ROW;
    if (result == KR_RESULT_COUNT)
        return end - first;
    if (result == KR_RESULT_EXISTS)
        return end > first;
    *visited += end - first;
    for (uint64_t at = first; at < end; ++at) {
        const uint32_t row = data->sorted_rows[at];
        sum += result == KR_RESULT_SUM ? values[row] : row;
        least = row < least ? row : least;
    }
    return result == KR_RESULT_ROW ? least : sum;
}
