/* Partitioned batches in an index so large that a search guesses where in a gap of a part its bound is
 * (src/index/lightweight/parts_width_body.h), with keys for which it guesses wrong, on whatever device "auto"
 * is. Key of row i ascends with i, so every answer is known. */
#include "check.h"

enum { PROBES = 1 << 20, WIDTH = 700, BLOCKS_LOG2 = 15, GAP_LOG2 = 32 - BLOCKS_LOG2 };
enum { HALF_DENSE, FEW_FAR, ONE_FAR, N_PATTERNS };
enum { FAR = 5 }; /* keys of a block that FEW_FAR puts far behind the others */

/* Not a multiple of the blocks, so that the last gap is not full either. */
static uint64_t n_keys = ((uint64_t)1 << 24) - 33;

/* 2^15 blocks of keys are 2^17 apart, and within a block half of them, or all but a few, lie close together.
 */
static uint64_t key_of(int pattern, uint64_t row)
{
    const uint64_t length = (n_keys >> BLOCKS_LOG2) + 1, start = row / length << GAP_LOG2, at = row % length;
    const uint64_t half = length / 2, few = length - FAR;
    switch (pattern) {
    case HALF_DENSE: return start + (at < half ? at : half + (at - half) * ((1 << GAP_LOG2) / length));
    case FEW_FAR: return start + (at < few ? at : length << (at - few));
    default: return row + 1 < n_keys ? row : UINT32_MAX;
    }
}

typedef struct batch {
    uint64_t rows[PROBES], ends[PROBES];   /* of ranges: first and last row */
    uint64_t lower[PROBES], upper[PROBES]; /* or as many 32-bit codes */
} batch;

static void put(void *to, uint64_t i, kr_type type, uint64_t value)
{
    if (type == KR_U64)
        ((uint64_t *)to)[i] = value;
    else
        ((uint32_t *)to)[i] = (uint32_t)value;
}

/* Even probes are keys, odd ones the numbers behind them, which few keys have. Some are among the last. */
static void fill(int pattern, kr_type type, batch *probes)
{
    for (uint64_t i = 0; i < PROBES; ++i) {
        const uint64_t any = i * 2654435761u % (n_keys - 1),
                       row = i % 16 < 14 ? any : n_keys - 2 - i / 16 % 256;
        probes->rows[i] = row;
        probes->ends[i] = row + WIDTH < n_keys ? row + WIDTH : n_keys - 1;
        put(probes->lower, i, type, key_of(pattern, row) + i % 2);
        put(probes->upper, i, type, key_of(pattern, probes->ends[i]));
    }
}

static void check_points(kr_index *index, int pattern, kr_type type, const batch *probes)
{
    static uint32_t found[PROBES];
    const kr_column lower = {.type = type, .count = PROBES, .data = probes->lower};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    uint64_t wrong = 0;
    WORKS(kr_index_lookup(index, &lower, &sink, NULL, &err));
    for (uint64_t i = 0; i < PROBES; ++i) {
        const uint64_t row = probes->rows[i] + i % 2;
        const int hit = key_of(pattern, row) == key_of(pattern, probes->rows[i]) + i % 2;
        wrong += found[i] != (hit ? row : KR_NO_ROW);
    }
    CHECK(wrong == 0);
}

static void check_ranges(kr_index *index, kr_type type, const batch *probes)
{
    static uint64_t counts[PROBES];
    const kr_column lower = {.type = type, .count = PROBES, .data = probes->lower};
    const kr_column upper = {.type = type, .count = PROBES, .data = probes->upper};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    uint64_t wrong = 0;
    WORKS(kr_index_range(index, &lower, &upper, &sink, NULL, &err));
    for (uint64_t i = 0; i < PROBES; ++i)
        wrong += counts[i] != probes->ends[i] - probes->rows[i] + 1 - i % 2;
    CHECK(wrong == 0);
}

static void check_pattern(kr_device *device, int pattern, kr_type type)
{
    uint64_t *keys = malloc(n_keys * sizeof *keys);
    batch *probes = malloc(sizeof *probes);
    kr_index *index = NULL;
    CHECK(keys && probes);
    for (uint64_t i = 0; keys && i < n_keys; ++i)
        put(keys, i, type, key_of(pattern, i));
    const kr_column column = {.type = type, .count = n_keys, .data = keys};
    if (keys && probes)
        WORKS(kr_index_create(device, "array:probes=partitioned", &column, NULL, NULL, &index, &err));
    if (index) {
        fill(pattern, type, probes);
        check_points(index, pattern, type, probes);
        check_ranges(index, type, probes);
    }
    kr_index_destroy(index);
    free(probes);
    free(keys);
}

/* FEW_FAR has distinct keys while the last of a block's is below the next block's first: up to 2^27 keys. */
static int is_distinct(void)
{
    return ((n_keys >> BLOCKS_LOG2) + 1) << (FAR - 1) < 1 << GAP_LOG2;
}

/* Usage: uneven_keys [LOG2 of the number of keys, 24 to 27]: larger indexes have larger gaps. */
int main(int argc, char **argv)
{
    const int log2 = argc > 1 ? atoi(argv[1]) : 24;
    n_keys = ((uint64_t)1 << (log2 < 24 || log2 > 32 ? 33 : log2)) - 33;
    if (!is_distinct()) {
        fprintf(stderr, "uneven_keys: 24 to 27, not %s: two keys would be equal, or gaps too small\n",
                argv[1]);
        return 2;
    }
    kr_device *device = NULL;
    WORKS(kr_device_open("auto", NULL, &device, &err));
    for (int pattern = 0; device && pattern < N_PATTERNS; ++pattern) {
        check_pattern(device, pattern, KR_U32);
        check_pattern(device, pattern, KR_U64);
    }
    kr_device_close(device);
    return failures != 0;
}
