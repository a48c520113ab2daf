/* Points of kind `dense` in partitioned batches, whose parts are copied to shared memory: with row ids, as
 * bits alone, or not at all, as they fit. Answers are those of the same batch as it is. */
#include "check.h"

enum { MOST = 1 << 18 };

static uint64_t state = 3;
static uint64_t random_below(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

static uint64_t keys[MOST], probes[MOST];
static uint32_t ids[MOST];
static uint8_t validity[MOST / 8];

static void put(kr_type type, uint64_t *data, uint64_t i, uint64_t value)
{
    memcpy((char *)data + i * kr_type_nbytes(type), &value, kr_type_nbytes(type));
}

static uint64_t get(kr_type type, const uint64_t *data, uint64_t i)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)data + i * kr_type_nbytes(type), kr_type_nbytes(type));
    return value;
}

enum { ASCEND, SHUFFLED, REPEATED, ORDERS };

/* One value in `spread`, each `step` above the next that may be. */
static void fill_keys(kr_type type, uint64_t n, uint64_t lowest, uint64_t step, uint64_t spread, int order)
{
    for (uint64_t i = 0, value = lowest; i < n; ++i) {
        put(type, keys, i, value);
        ids[i] = (uint32_t)(n - i) * 2;
        if (order != REPEATED || random_below(4))
            value += step * (1 + random_below(2 * spread - 1));
    }
    for (uint64_t i = n; order != ASCEND && i > 1; --i) {
        const uint64_t j = random_below(i), value = get(type, keys, i - 1);
        put(type, keys, i - 1, get(type, keys, j));
        put(type, keys, j, value);
    }
}

/* Keys, what lies beside them, anything, and many probes of one key, which are more than a segment. */
static void fill_probes(kr_type type, uint64_t n)
{
    for (uint64_t i = 0; i < MOST; ++i) {
        const uint64_t key = get(type, keys, random_below(n)), way = random_below(16);
        const uint64_t value = way == 0   ? key + 1
                               : way == 1 ? key - 1
                               : way == 2 ? random_below(UINT64_C(1) << 31) * random_below(UINT64_C(1) << 31)
                               : way < 6  ? get(type, keys, n / 2)
                                          : key;
        put(type, probes, i, value);
        if (i % 8 == 0)
            validity[i / 8] = (uint8_t)(random_below(256) | random_below(256));
    }
}

static void check_answers(kr_index *parted, kr_index *plain, const kr_column *batch, kr_result result)
{
    static uint64_t some[MOST], others[MOST];
    kr_sink sink = {.struct_size = sizeof sink, .result = result, .out = some};
    memset(some, 0, sizeof some);
    memset(others, 0, sizeof others);
    WORKS(kr_index_lookup(parted, batch, &sink, NULL, &err));
    sink.out = others;
    WORKS(kr_index_lookup(plain, batch, &sink, NULL, &err));
    CHECK(memcmp(some, others, sizeof some) == 0);
}

static void check_column(kr_device *device, kr_type type, uint64_t n, const uint32_t *row_ids)
{
    static const kr_result results[] = {KR_RESULT_ROW, KR_RESULT_EXISTS, KR_RESULT_COUNT, KR_RESULT_SUM_ROWS};
    const kr_column column = {.type = type, .count = n, .data = keys};
    kr_column batch = {.type = type, .count = MOST, .data = probes};
    kr_index *parted = NULL, *plain = NULL;
    WORKS(kr_index_create(device, "dense:probes=partitioned", &column, row_ids, NULL, &parted, &err));
    WORKS(kr_index_create(device, "dense:probes=as-is", &column, row_ids, NULL, &plain, &err));
    for (size_t i = 0; parted && plain && i < sizeof results / sizeof *results; ++i) {
        batch.validity = i % 2 ? validity : NULL;
        check_answers(parted, plain, &batch, results[i]);
    }
    kr_index_destroy(plain);
    kr_index_destroy(parted);
}

static void check_type(kr_device *device, kr_type type, uint64_t lowest, uint64_t step)
{
    static const uint64_t sizes[] = {1, 700, 30000, MOST}, spreads[] = {1, 4, 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int order = ASCEND; order < ORDERS; ++order) {
            const uint64_t spread = spreads[(s + (size_t)order) % 3];
            fill_keys(type, sizes[s], lowest, step, spread, order);
            fill_probes(type, sizes[s]);
            check_column(device, type, sizes[s], s % 2 ? ids : NULL);
        }
}

/* One of two parts has nearly all row ids, which do not fit. */
static void check_crowd(kr_device *device)
{
    enum { FEW = 1000, N = 26000 };
    for (uint64_t i = 0, value = 9; i < N; ++i, value += i < FEW ? 60 : 1) {
        put(KR_U32, keys, N - 1 - i, value);
        ids[i] = (uint32_t)i * 3;
    }
    fill_probes(KR_U32, N);
    check_column(device, KR_U32, N, ids);
}

int main(void)
{
    kr_device *device = NULL;
    WORKS(kr_device_open("auto", NULL, &device, &err));
    if (!device)
        return 1;
    check_type(device, KR_U32, 1000, 1);
    check_type(device, KR_I32, (uint64_t)-5000, 7);
    check_type(device, KR_U32, UINT32_MAX - 40u * MOST, 1);
    check_type(device, KR_TIMESTAMP64, (uint64_t)-900 * 86400000000, 86400000000);
    check_type(device, KR_U64, UINT64_C(1) << 63, 64);
    check_crowd(device);
    kr_device_close(device);
    return failures != 0;
}
