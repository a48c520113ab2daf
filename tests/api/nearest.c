/* kr_index_nearest: answers by hand, and wrong calls. The conformance suite asks every kind. */
#include "check.h"

#include <math.h>

enum { N = 6 };

static kr_device *device;

static kr_index *index_of(const char *spec, kr_type type, const void *data, uint64_t n,
                          const uint8_t *validity)
{
    const kr_column keys = {.type = type, .count = n, .data = data, .validity = validity};
    kr_index *index = NULL;
    WORKS(kr_index_create(device, spec, &keys, NULL, NULL, &index, &err));
    return index;
}

/* The rows of probes. */
static void expect(kr_index *index, kr_type type, const void *probes, uint64_t n, kr_nearest_options options,
                   const uint32_t *want)
{
    const kr_column column = {.type = type, .count = n, .data = probes};
    uint32_t rows[16] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    options.struct_size = sizeof options;
    WORKS(kr_index_nearest(index, &column, &options, &sink, NULL, &err));
    for (uint64_t i = 0; i < n; ++i)
        if (rows[i] != want[i]) {
            ++failures;
            printf("FAILED side %d strict %u: probe %u: want row %u, got %u\n", (int)options.side,
                   options.strict, (unsigned)i, want[i], rows[i]);
        }
}

#define NO KR_NO_ROW

/* Of equal keys, the last row answers from below and the first from above. */
static void check_sides(const char *spec)
{
    const uint32_t keys[N] = {20, 10, 20, 30, 20, 10}, probes[N] = {5, 10, 14, 15, 20, 99};
    const uint32_t below[N] = {NO, 5, 5, 5, 4, 3}, less[N] = {NO, NO, 5, 5, 5, 3};
    const uint32_t above[N] = {1, 1, 0, 0, 0, NO}, more[N] = {1, 0, 0, 0, 3, NO};
    const uint32_t either[N] = {1, 5, 5, 5, 4, 3}, within_5[N] = {1, 5, 5, 5, 4, NO};
    kr_index *index = index_of(spec, KR_U32, keys, N, NULL);
    expect(index, KR_U32, probes, N, (kr_nearest_options){.side = 0}, below);
    expect(index, KR_U32, probes, N, (kr_nearest_options){.side = KR_NEAREST_BELOW, .strict = 1}, less);
    expect(index, KR_U32, probes, N, (kr_nearest_options){.side = KR_NEAREST_ABOVE}, above);
    expect(index, KR_U32, probes, N, (kr_nearest_options){.side = KR_NEAREST_ABOVE, .strict = 1}, more);
    expect(index, KR_U32, probes, N, (kr_nearest_options){.side = KR_NEAREST_EITHER}, either);
    expect(index, KR_U32, probes, N,
           (kr_nearest_options){.side = KR_NEAREST_EITHER, .limited = 1, .tolerance = 5}, within_5);
    kr_index_destroy(index);
}

/* Distances of 64 bits do not overflow. */
static void check_far(const char *spec)
{
    const int64_t keys[2] = {INT64_MIN, INT64_MAX}, probes[4] = {-1, 0, INT64_MIN, INT64_MAX};
    const uint32_t near[4] = {0, 1, 0, 1}, other[4] = {0, 0, NO, 0}, within[4] = {0, NO, NO, NO};
    kr_index *index = index_of(spec, KR_I64, keys, 2, NULL);
    expect(index, KR_I64, probes, 4, (kr_nearest_options){.side = KR_NEAREST_EITHER}, near);
    expect(index, KR_I64, probes, 4, (kr_nearest_options){.strict = 1}, other);
    expect(index, KR_I64, probes, 4, (kr_nearest_options){.strict = 1, .limited = 1, .tolerance = INT64_MAX},
           within);
    kr_index_destroy(index);
}

static void check_floats(const char *spec)
{
    const double keys[N] = {NAN, -INFINITY, 1.5, INFINITY, 0.0, NAN};
    const double probes[N] = {NAN, -0.0, 1e300, INFINITY, -1e300, 1.25};
    const uint8_t validity = 0x1F;
    const uint32_t below[N] = {NO, 4, 2, 3, 1, 4}, above[N] = {NO, 4, 3, 3, 4, 2};
    const uint32_t more[N] = {NO, 2, 3, NO, 4, 2}, either[N] = {NO, 4, 2, 3, 4, 2};
    const uint32_t within[N] = {NO, 4, NO, 3, NO, 2};
    kr_index *index = index_of(spec, KR_F64, keys, N, &validity);
    expect(index, KR_F64, probes, N, (kr_nearest_options){.side = KR_NEAREST_BELOW}, below);
    expect(index, KR_F64, probes, N, (kr_nearest_options){.side = KR_NEAREST_ABOVE}, above);
    expect(index, KR_F64, probes, N, (kr_nearest_options){.side = KR_NEAREST_ABOVE, .strict = 1}, more);
    expect(index, KR_F64, probes, N, (kr_nearest_options){.side = KR_NEAREST_EITHER}, either);
    expect(index, KR_F64, probes, N,
           (kr_nearest_options){.side = KR_NEAREST_EITHER, .limited = 1, .float_tolerance = 0.25}, within);
    kr_index_destroy(index);
}

/* The answer is that of a lookup whose only match is the row. */
static void check_results(void)
{
    const uint32_t keys[3] = {10, 20, 30}, probes[3] = {5, 25, 31};
    const double prices[3] = {1.5, 2.5, 3.5};
    const kr_column column = {.type = KR_U32, .count = 3, .data = probes};
    const kr_column values = {.type = KR_F64, .count = 3, .data = prices};
    uint64_t offsets[4];
    uint32_t rows[3];
    double sums[3];
    kr_report *report = NULL;
    kr_index *index = index_of("array", KR_U32, keys, 3, NULL);
    WORKS(kr_report_create(&report, &err));
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_SUM, .values = &values, .out = sums};
    sink.report = report;
    WORKS(kr_index_nearest(index, &column, NULL, &sink, NULL, &err));
    CHECK(sums[0] == 0 && sums[1] == 2.5 && sums[2] == 3.5);
    CHECK(kr_report_probe_count(report) == 3 && kr_report_phase_count(report) > 0);
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_ROWS, .out = offsets, .rows = rows};
    sink.rows_capacity = 3;
    WORKS(kr_index_nearest(index, &column, NULL, &sink, NULL, &err));
    CHECK(offsets[0] == 0 && offsets[1] == 0 && offsets[2] == 1 && offsets[3] == 2);
    CHECK(rows[0] == 1 && rows[1] == 2);
    kr_report_destroy(report);
    kr_index_destroy(index);
}

static kr_status ask(kr_index *index, kr_type type, kr_nearest_options options, kr_error *err)
{
    const uint64_t word = 0;
    const kr_column probe = {.type = type, .count = 1, .data = &word};
    uint32_t row;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = &row};
    options.struct_size = options.struct_size ? options.struct_size : sizeof options;
    return kr_index_nearest(index, &probe, &options, &sink, NULL, err);
}

#define OPTIONS(...)     \
    (kr_nearest_options) \
    {                    \
        __VA_ARGS__      \
    }

static void check_refusals(void)
{
    const uint64_t data[2] = {1, 2};
    const uint32_t row = 0;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = (void *)&row};
    const kr_column probe = {.type = KR_U8, .count = 1, .data = data};
    kr_index *bytes = index_of("array", KR_U8, data, 2, NULL),
             *reals = index_of("array", KR_F32, data, 2, NULL);
    kr_index *hash = index_of("hash", KR_U8, data, 2, NULL);
    REFUSED(KR_ERR_UNSUPPORTED, ask(hash, KR_U8, OPTIONS(.side = 0), &err));
    REFUSED(KR_ERR_TYPE, ask(bytes, KR_I8, OPTIONS(.side = 0), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.side = (kr_nearest_side)4), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.strict = 2), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.limited = 2), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.reserved = 1), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.struct_size = 8), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.limited = 1, .tolerance = -1), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.tolerance = 1), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(bytes, KR_U8, OPTIONS(.limited = 1, .float_tolerance = 1), &err));
    REFUSED(KR_ERR_LIMIT, ask(bytes, KR_U8, OPTIONS(.limited = 1, .tolerance = 256), &err));
    WORKS(ask(bytes, KR_U8, OPTIONS(.limited = 1, .tolerance = 255), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(reals, KR_F32, OPTIONS(.limited = 1, .tolerance = 1), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(reals, KR_F32, OPTIONS(.limited = 1, .float_tolerance = -1), &err));
    REFUSED(KR_ERR_ARGUMENT, ask(reals, KR_F32, OPTIONS(.limited = 1, .float_tolerance = NAN), &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_nearest(NULL, &probe, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_nearest(bytes, NULL, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_nearest(bytes, &probe, NULL, NULL, NULL, &err));
    kr_index_destroy(hash);
    kr_index_destroy(reals);
    kr_index_destroy(bytes);
}

int main(void)
{
    static const char *const specs[] = {"array", "array:layout=aos,k=5", "eytzinger", "pivot", "btree"};
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        check_sides(specs[i]);
        check_far(specs[i]);
        check_floats(specs[i]);
    }
    check_results();
    check_refusals();
    kr_device_close(device);
    return failures != 0;
}
