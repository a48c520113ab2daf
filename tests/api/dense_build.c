/* How kind `dense` is built: of keys that ascend as they are, of distinct keys by setting bits, of others by
 * a sort. The phases of a build say which it was, answers are those of kind `array`, and no build takes more
 * memory than its estimate. */
#include "check.h"

enum { MOST = (1 << 18) + 77 };

static uint64_t state = 11;
static uint64_t random_below(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

typedef struct column {
    kr_type type;
    uint64_t n;
    uint64_t values[MOST];
    uint32_t ids[MOST];
    uint8_t validity[MOST / 8 + 1];
} column;

static column c;
static uint64_t bytes[MOST];

enum { NULLS = 1, IDS = 2 };

static kr_column stored(int with)
{
    for (uint64_t i = 0; i < c.n; ++i)
        memcpy((char *)bytes + i * kr_type_nbytes(c.type), &c.values[i], kr_type_nbytes(c.type));
    return (kr_column){
        .type = c.type, .count = c.n, .data = bytes, .validity = with & NULLS ? c.validity : NULL};
}

/* One value in about `spread`, each `step` above the next that may be, in no order. */
static void fill(kr_type type, uint64_t n, uint64_t lowest, uint64_t step, uint64_t spread)
{
    c.type = type;
    c.n = n;
    for (uint64_t i = 0, value = lowest; i < n; ++i, value += step * (1 + random_below(2 * spread - 1)))
        c.values[i] = value;
    for (uint64_t i = 0; i < n; ++i) {
        c.ids[i] = (uint32_t)(3 * i + 5);
        if (random_below(10) > 0)
            c.validity[i / 8] |= (uint8_t)(1 << i % 8);
        else
            c.validity[i / 8] &= (uint8_t) ~(1 << i % 8);
    }
}

static void shuffle(void)
{
    for (uint64_t i = c.n; i > 1; --i) {
        const uint64_t j = random_below(i), value = c.values[i - 1];
        c.values[i - 1] = c.values[j];
        c.values[j] = value;
    }
}

static void shuffle_ids(void)
{
    for (uint64_t i = c.n; i > 1; --i) {
        const uint64_t j = random_below(i);
        const uint32_t id = c.ids[i - 1];
        c.ids[i - 1] = c.ids[j];
        c.ids[j] = id;
    }
}

static int has_phase(const kr_index *index, const char *name)
{
    for (uint32_t i = 0; i < kr_index_phase_count(index); ++i)
        if (strcmp(kr_index_phase_name(index, i), name) == 0)
            return 1;
    return 0;
}

static uint64_t ask(kr_index *index, kr_result result)
{
    static uint64_t out[MOST];
    uint64_t sum = 1;
    const kr_column probes = {.type = c.type, .count = c.n, .data = bytes};
    const kr_sink sink = {.struct_size = sizeof sink, .result = result, .out = out};
    memset(out, 0, c.n * sizeof *out);
    WORKS(kr_index_lookup(index, &probes, &sink, NULL, &err));
    for (uint64_t i = 0; i < c.n; ++i)
        sum = (sum ^ out[i]) * UINT64_C(1099511628211);
    return sum;
}

/* What is built; with build=sort and build=parts, the phase where others have `scatter` is `sort` or `parts`.
 */
static const char *spec = "dense:build=scatter";

/* `way`: the phase that the build must have; NULL: it needs neither. */
static void check_build(kr_device *device, int with, const char *way)
{
    const kr_column keys = stored(with);
    const uint32_t *ids = with & IDS ? c.ids : NULL;
    kr_index *dense = NULL, *array = NULL;
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_index_info info = {.struct_size = sizeof info};
    if (way && strcmp(way, "scatter") == 0)
        way = strchr(spec, '=') + 1;
    WORKS(kr_index_create(device, spec, &keys, ids, NULL, &dense, &err));
    WORKS(kr_index_create(device, "array", &keys, ids, NULL, &array, &err));
    if (dense && array) {
        WORKS(kr_index_validate(dense, &err));
        CHECK(has_phase(dense, "scatter") == (way && strcmp(way, "scatter") == 0));
        CHECK(has_phase(dense, "parts") == (way && strcmp(way, "parts") == 0));
        CHECK(has_phase(dense, "sort") == (way && strcmp(way, "sort") == 0));
        CHECK(ask(dense, KR_RESULT_ROW) == ask(array, KR_RESULT_ROW));
        CHECK(ask(dense, KR_RESULT_COUNT) == ask(array, KR_RESULT_COUNT));
        CHECK(ask(dense, KR_RESULT_SUM_ROWS) == ask(array, KR_RESULT_SUM_ROWS));
        WORKS(kr_index_query(dense, &info, &err));
        if (!ids) { /* an estimate does not know of them */
            WORKS(kr_index_estimate(device, spec, &keys, &estimate, &err));
            CHECK(info.footprint_nbytes <= estimate.footprint_nbytes);
            CHECK(info.peak_nbytes <= estimate.peak_nbytes);
        }
    }
    kr_index_destroy(array);
    kr_index_destroy(dense);
}

static void check_ways(kr_device *device, kr_type type, uint64_t n, uint64_t lowest, uint64_t step)
{
    for (int with = 0; with <= (NULLS | IDS); ++with) {
        fill(type, n, lowest, step, 1 + random_below(5));
        check_build(device, with, NULL);
        shuffle();
        check_build(device, with, "scatter");
        shuffle_ids();
        check_build(device, with, "scatter");
        c.values[n - 1] = c.values[n / 2]; /* seen late, or not at all if one of them is NULL */
        if (!(with & NULLS))
            check_build(device, with, "sort");
        for (uint64_t i = n - n / 4; i < n; ++i) /* seen early */
            c.values[i] = c.values[i - n / 2];
        shuffle();
        check_build(device, with, "sort");
    }
}

/* Keys that lie at both ends, so that a part has nearly all of them. */
static void check_crowds(kr_device *device)
{
    fill(KR_U32, MOST, 7, 1, 1);
    for (uint64_t i = 0; i < MOST / 50; ++i)
        c.values[i] += 20 * (uint64_t)MOST;
    shuffle();
    check_build(device, 0, "scatter");
    for (uint64_t i = 0; i < MOST; ++i)
        c.values[i] = MOST - i;
    check_build(device, 0, "scatter");
}

int main(void)
{
    static const uint64_t sizes[] = {9, 1000, (1 << 15) + 1, MOST};
    kr_device *device = NULL;
    WORKS(kr_device_open("auto", NULL, &device, &err));
    if (!device)
        return 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        check_ways(device, KR_U32, sizes[i], 1000, 1);
        check_ways(device, KR_TIMESTAMP64, sizes[i], (uint64_t)-900 * 86400000000, 86400000000);
        if (sizes[i] == MOST) /* one type of each width */
            continue;
        check_ways(device, KR_I32, sizes[i], (uint64_t)-5000, 7);
        check_ways(device, KR_U64, sizes[i], UINT64_C(1) << 63, 64);
    }
    check_crowds(device);
    spec = "dense:build=parts";
    check_ways(device, KR_U32, 9, 1000, 1);
    check_ways(device, KR_I32, (1 << 15) + 1, (uint64_t)-5000, 7);
    check_ways(device, KR_U64, MOST, UINT64_C(1) << 63, 64);
    check_crowds(device);
    spec = "dense:build=sort";
    check_ways(device, KR_U32, 1000, 1000, 1);
    check_ways(device, KR_U64, MOST, UINT64_C(1) << 63, 64);
    check_crowds(device);
    kr_device_close(device);
    return failures != 0;
}
