/* All matches of more probes than there are slices to cut (2^16 on a GPU): each thread then walks its own
 * short spans and groups share the rest, on whatever device "auto" is. Key of row i is i / 3, so every answer
 * is known. */
#include "check.h"

enum { KEYS = 150000, DISTINCT = KEYS / 3, PROBES = 100003, WIDTH = 15 };

static uint32_t keys[KEYS], lower[PROBES], upper[PROBES];
static uint64_t offsets[PROBES + 1], sums[PROBES];

static uint64_t rows_of(uint64_t probe, int is_range)
{
    const uint64_t left = DISTINCT - lower[probe], wanted = is_range ? WIDTH : 1;
    return 3 * (wanted < left ? wanted : left);
}

static kr_status ask(kr_index *index, const kr_sink *sink, int is_range, kr_error *err)
{
    const kr_column low = {.type = KR_U32, .count = PROBES, .data = lower};
    const kr_column high = {.type = KR_U32, .count = PROBES, .data = upper};
    return is_range ? kr_index_range(index, &low, &high, sink, NULL, err)
                    : kr_index_lookup(index, &low, sink, NULL, err);
}

static void check_all(kr_index *index, int is_range)
{
    kr_error err = {0};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROWS, .out = offsets};
    uint64_t total = 0, wrong = 0;
    CHECK(ask(index, &sink, is_range, &err) == KR_OK);
    sink.rows_capacity = offsets[PROBES];
    sink.rows = malloc(offsets[PROBES] * sizeof *sink.rows);
    CHECK(sink.rows && ask(index, &sink, is_range, &err) == KR_OK);
    kr_sink sum = {.struct_size = sizeof sum, .result = KR_RESULT_SUM_ROWS, .out = sums};
    CHECK(ask(index, &sum, is_range, &err) == KR_OK);
    for (uint64_t i = 0; i < PROBES && sink.rows && !wrong; ++i) {
        const uint64_t n = rows_of(i, is_range), first = (uint64_t)3 * lower[i];
        wrong += offsets[i] != total || sums[i] != n * first + n * (n - 1) / 2;
        for (uint64_t j = 0; j < n && !wrong; ++j)
            wrong += sink.rows[total + j] != first + j;
        total += n;
    }
    CHECK(wrong == 0 && offsets[PROBES] == total);
    free(sink.rows);
}

int main(void)
{
    static const char *const specs[] = {"array:probes=as-is", "array:layout=aos,probes=sorted"};
    kr_error err = {0};
    kr_device *device = NULL;
    for (uint32_t i = 0; i < KEYS; ++i)
        keys[i] = i / 3;
    for (uint32_t i = 0; i < PROBES; ++i) {
        lower[i] = (uint32_t)((uint64_t)i * 7919 % DISTINCT);
        upper[i] = lower[i] + WIDTH - 1;
    }
    CHECK(kr_device_open("auto", NULL, &device, &err) == KR_OK);
    for (int s = 0; s < 2 && device; ++s) {
        const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
        kr_index *index = NULL;
        CHECK(kr_index_create(device, specs[s], &column, NULL, NULL, &index, &err) == KR_OK);
        for (int is_range = 0; index && is_range < 2; ++is_range)
            check_all(index, is_range);
        kr_index_destroy(index);
    }
    kr_device_close(device);
    return failures != 0;
}
