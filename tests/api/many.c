/* kr_index_lookup_many: what it refuses, its reports, more pieces than one. The conformance suite compares
 * its answers with those of single calls. */
#include "check.h"
#include "device_name.h"

enum { N = (1 << 22) + 4321, KEYS = 1000 };

static kr_device *device;
static kr_index *index_;
static uint32_t probes[N], rows[N];
static uint64_t counts[N], sums[N];
static int32_t values[KEYS], least[N];
static uint8_t valid[N / 8 + 1], exists[N / 8 + 1];

static kr_sink sink_of(kr_result result, void *out)
{
    return (kr_sink){.struct_size = sizeof(kr_sink), .result = result, .out = out};
}

static kr_status ask(const kr_column *lower, const kr_column *upper, const kr_nearest_options *nearest,
                     const kr_sink *a, const kr_sink *b, kr_error *err)
{
    const kr_sink *const both[] = {a, b};
    return kr_index_lookup_many(index_, lower, upper, nearest, both, 2, NULL, err);
}

static void refuse(const kr_column *some)
{
    const kr_nearest_options nearest = {.struct_size = sizeof nearest};
    const kr_sink row = sink_of(KR_RESULT_ROW, rows), list = sink_of(KR_RESULT_ROWS, sums),
                  other = sink_of(KR_RESULT_COUNT, rows + 4);
    const kr_sink *many[65];
    kr_sink wrong = sink_of((kr_result)99, counts);
    for (int i = 0; i < 65; ++i)
        many[i] = &row;
    REFUSED(KR_ERR_ARGUMENT, ask(some, NULL, NULL, &row, &row, &err));
    kr_sink least_of = sink_of(KR_RESULT_MIN, least);
    const kr_column value_column = {.type = KR_I32, .count = KEYS, .data = values};
    least_of.values = &value_column;
    least_of.valid = (uint8_t *)rows + 39; /* the last byte of the ten rows */
    REFUSED(KR_ERR_ARGUMENT, ask(some, NULL, NULL, &row, &least_of, &err));
    least_of.valid = (uint8_t *)rows + 40;
    WORKS(ask(some, NULL, NULL, &row, &least_of, &err));
    REFUSED(KR_ERR_UNSUPPORTED, ask(some, NULL, NULL, &row, &list, &err));
    REFUSED(KR_ERR_ARGUMENT, ask(some, some, &nearest, &row, &other, &err));
    REFUSED(KR_ERR_ARGUMENT, ask(some, NULL, NULL, &row, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, ask(some, NULL, NULL, &row, &wrong, &err));
    REFUSED(KR_ERR_LIMIT, kr_index_lookup_many(index_, some, NULL, NULL, many, 65, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_many(index_, some, NULL, NULL, many, 0, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_many(index_, some, NULL, NULL, NULL, 1, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_many(NULL, some, NULL, NULL, many, 1, NULL, &err));
}

static void check_answers(uint64_t n)
{
    for (uint64_t i = 0; i < n && !failures; ++i) {
        const int found = probes[i] < KEYS, bit = valid[i / 8] >> i % 8 & 1,
                  there = exists[i / 8] >> i % 8 & 1;
        CHECK(rows[i] == (found ? probes[i] : KR_NO_ROW) && counts[i] == (uint64_t)found);
        CHECK(there == found && bit == found);
        CHECK(!found || (least[i] == values[probes[i]] && (int64_t)sums[i] == values[probes[i]]));
    }
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    static uint32_t keys[KEYS];
    const kr_column key_column = {.type = KR_U32, .count = KEYS, .data = keys};
    const kr_column value_column = {.type = KR_I32, .count = KEYS, .data = values};
    const kr_column probe_column = {.type = KR_U32, .count = N, .data = probes};
    const kr_column some = {.type = KR_U32, .count = 10, .data = probes};
    for (uint32_t i = 0; i < KEYS; ++i) {
        keys[i] = i;
        values[i] = 500 - (int32_t)i;
    }
    for (uint32_t i = 0; i < N; ++i)
        probes[i] = i * 2654435761u % (KEYS + 500);
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    WORKS(kr_index_create(device, "array", &key_column, NULL, NULL, &index_, &err));
    kr_report *reports[2];
    WORKS(kr_report_create(&reports[0], &err));
    WORKS(kr_report_create(&reports[1], &err));
    kr_sink sinks[5] = {sink_of(KR_RESULT_ROW, rows), sink_of(KR_RESULT_COUNT, counts),
                        sink_of(KR_RESULT_SUM, sums), sink_of(KR_RESULT_MIN, least),
                        sink_of(KR_RESULT_EXISTS, exists)};
    sinks[2].values = sinks[3].values = &value_column;
    sinks[3].valid = valid;
    sinks[0].report = reports[0];
    sinks[4].report = reports[1];
    const kr_sink *const all[] = {&sinks[0], &sinks[1], &sinks[2], &sinks[3], &sinks[4]};
    WORKS(kr_index_lookup_many(index_, &probe_column, NULL, NULL, all, 5, NULL, &err));
    check_answers(N);
    for (int i = 0; i < 2; ++i)
        CHECK(kr_report_probe_count(reports[i]) == N && kr_report_phase_count(reports[i]) > 0);
    const kr_column none = {.type = KR_U32};
    WORKS(kr_index_lookup_many(index_, &none, NULL, NULL, all, 5, NULL, &err));
    sinks[4].report = reports[0];
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_many(index_, &some, NULL, NULL, all, 5, NULL, &err));
    refuse(&some);
    kr_report_destroy(reports[1]);
    kr_report_destroy(reports[0]);
    kr_index_destroy(index_);
    kr_device_close(device);
    return failures != 0;
}
