/* For tests of divided indexes: columns, and answers of an index that is divided compared with those of one
 * that is not. */
#ifndef KEYRAY_TESTS_SCENE_H
#define KEYRAY_TESTS_SCENE_H

#include "inside.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keyray/keyray.h>

enum { TRAVEL, HOST, WAYS };
static const uint64_t probe_nbytes[WAYS] = {UINT64_MAX, 1};

enum { KEYS = 5000, PROBES = 700, PART_ROWS = 300, MOST_ROWS = 4000000 };

/* ---- A device, columns ----------------------------------------------------------------------- */

static inline kr_device *open_device(uint64_t part_rows, int way, uint64_t cap)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = 2, .memory_cap_nbytes = cap};
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    kr_divide_indexes(device, part_rows, probe_nbytes[way]);
    return device;
}

static inline void *take(uint64_t n, size_t each)
{
    void *memory = calloc(n + 1, each);
    assert_non_null(memory);
    return memory;
}

/* Keys of a type, with so many different values; some rows are NULL. */
typedef struct scene {
    kr_type type;
    uint64_t different; /* 0: any */
    int nulls, row_ids;
    uint64_t keys, probes;
} scene;

typedef struct columns {
    kr_column keys, lower, upper, values;
    uint32_t *row_ids;
} columns;

static inline void put(kr_type type, void *data, uint64_t i, uint64_t bits)
{
    const float f = (float)(int32_t)bits * 0.5f;
    const double d = (double)(int64_t)bits * 0.25;
    switch (type) {
    case KR_U16: ((uint16_t *)data)[i] = (uint16_t)bits; break;
    case KR_I32:
    case KR_U32: ((uint32_t *)data)[i] = (uint32_t)bits; break;
    case KR_F32: memcpy((float *)data + i, &f, sizeof f); break;
    case KR_F64: memcpy((double *)data + i, &d, sizeof d); break;
    default: ((uint64_t *)data)[i] = bits; break;
    }
}

static inline uint64_t value_of(const scene *s, kr_rng *rng)
{
    return s->different ? kr_rng_below(rng, s->different) * 7 : kr_rng_next(rng);
}

static inline kr_column column_of(const scene *s, uint64_t n, int nulls, kr_rng *rng)
{
    void *data = take(n, sizeof(uint64_t));
    uint8_t *validity = nulls ? take(n / 8 + 1, 1) : NULL;
    for (uint64_t i = 0; i < n; ++i) {
        put(s->type, data, i, value_of(s, rng));
        if (nulls && kr_rng_below(rng, 5))
            validity[i / 8] |= (uint8_t)(1 << i % 8);
    }
    return (kr_column){.type = s->type, .count = n, .data = data, .validity = validity};
}

static inline void make_upper(const scene *s, columns *c, kr_rng *rng)
{
    /* Most ranges are short, some meet many parts, some are empty. */
    c->upper = column_of(s, s->probes, 0, rng);
    if (s->type == KR_U32)
        for (uint64_t i = 0; i < s->probes; ++i) {
            const uint32_t low = ((const uint32_t *)c->lower.data)[i], more = (uint32_t)kr_rng_next(rng);
            const uint32_t width = i % 3 == 0 ? more >> 12 : i % 3 == 1 ? more >> 2 : more;
            ((uint32_t *)(uintptr_t)c->upper.data)[i] = low > UINT32_MAX - width ? UINT32_MAX : low + width;
        }
}

static inline columns columns_of(const scene *s, uint64_t seed)
{
    kr_rng rng = {seed};
    columns c = {.keys = column_of(s, s->keys, s->nulls, &rng)};
    const scene numbers = {.type = KR_I32, .different = 100};
    c.lower = column_of(s, s->probes, s->nulls, &rng);
    for (uint64_t i = 0; i < s->probes && s->keys; i += 2) /* every other probe is a key */
        memcpy((char *)(uintptr_t)c.lower.data + i * (s->type == KR_U16   ? 2
                                                      : s->type <= KR_F32 ? 4
                                                                          : 8),
               (const char *)c.keys.data + (i * 31 % s->keys) * (s->type == KR_U16   ? 2
                                                                 : s->type <= KR_F32 ? 4
                                                                                     : 8),
               s->type == KR_U16   ? 2
               : s->type <= KR_F32 ? 4
                                   : 8);
    make_upper(s, &c, &rng);
    c.values = column_of(&numbers, 3 * s->keys + 1, 1, &rng);
    if (s->row_ids) {
        c.row_ids = take(s->keys, sizeof *c.row_ids);
        for (uint64_t i = 0; i < s->keys; ++i)
            c.row_ids[i] = (uint32_t)(3 * (s->keys - 1 - i) + i % 3 % 2);
    }
    return c;
}

static inline void free_columns(columns *c)
{
    free(c->row_ids);
    const kr_column *all[] = {&c->keys, &c->lower, &c->upper, &c->values};
    for (int i = 0; i < 4; ++i) {
        free((void *)(uintptr_t)all[i]->data);
        free((void *)(uintptr_t)all[i]->validity);
    }
}

static inline kr_index *build(kr_device *device, const char *spec, const columns *c)
{
    kr_error err = {0};
    kr_index *index = NULL;
    if (kr_index_create(device, spec, &c->keys, c->row_ids, NULL, &index, &err))
        fail_msg("%s", err.text);
    if (kr_index_validate(index, &err))
        fail_msg("%s", err.text);
    return index;
}

/* ---- Answers --------------------------------------------------------------------------------- */

enum { POINT, RANGE, NEAREST };
static int sort; /* of all lookups below */
static kr_nearest_options nearest;

static inline kr_status look_up(kr_index *index, const columns *c, const kr_sink *sink, kr_error *err)
{
    return sort == POINT   ? kr_index_lookup(index, &c->lower, sink, NULL, err)
           : sort == RANGE ? kr_index_range(index, &c->lower, &c->upper, sink, NULL, err)
                           : kr_index_nearest(index, &c->lower, &nearest, sink, NULL, err);
}

static inline uint64_t counter(const kr_report *report, const char *name)
{
    for (uint32_t i = 0; kr_report_counter_name(report, i); ++i)
        if (!strcmp(kr_report_counter_name(report, i), name))
            return kr_report_counter_value(report, i);
    return 0;
}

/* What the report says fits the way. Where there are few keys, their travel costs less than any probe; one
 * probe may be an empty range, for which nothing travels. */
static inline void check_report(const kr_report *report, int way, uint64_t probes, uint64_t keys)
{
    assert_int_equal(kr_report_probe_count(report), probes);
    assert_string_equal(kr_report_order_name(report, 0), "divided");
    assert_int_equal(kr_report_order_probes(report, 0), probes);
    if (keys < probes || probes == 1)
        return;
    assert_int_equal(counter(report, "probes answered by the CPU"), way == HOST ? probes : 0);
    if (way == HOST)
        assert_int_equal(counter(report, "bytes that travelled"), 0);
    else
        assert_true(counter(report, "parts that travelled") > 0 &&
                    counter(report, "bytes that travelled") > 0);
}

static inline void compare_result(kr_index *plain, kr_index *divided, int way, const columns *c,
                                  kr_result result)
{
    const uint64_t n = c->lower.count, nbytes = 16 * n + 16;
    char *want = take(nbytes, 1), *got = take(nbytes, 1);
    uint8_t *want_valid = take(n, 1), *got_valid = take(n, 1);
    kr_report *report = NULL;
    kr_error err = {0};
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    kr_sink sink = {
        .struct_size = sizeof sink, .result = result, .values = &c->values, .out = want, .valid = want_valid};
    assert_int_equal(look_up(plain, c, &sink, &err), KR_OK);
    sink.out = got;
    sink.valid = got_valid;
    sink.report = report;
    if (look_up(divided, c, &sink, &err))
        fail_msg("%s", err.text);
    assert_memory_equal(got, want, nbytes);
    assert_memory_equal(got_valid, want_valid, n);
    if (way < WAYS)
        check_report(report, way, n, c->keys.count);
    kr_report_destroy(report);
    free(got_valid), free(want_valid), free(got), free(want);
}

static inline void compare_rows(kr_index *plain, kr_index *divided, const columns *c, uint32_t order,
                                uint64_t limit)
{
    const uint64_t n = c->lower.count;
    uint64_t *want = take(n + 1, sizeof *want), *got = take(n + 1, sizeof *got);
    uint32_t *want_rows = take(MOST_ROWS, sizeof *want_rows), *got_rows = take(MOST_ROWS, sizeof *got_rows);
    kr_error err = {0};
    kr_sink sink = {.struct_size = sizeof sink,
                    .result = KR_RESULT_ROWS,
                    .order = order,
                    .limit = limit,
                    .out = want,
                    .rows = want_rows,
                    .rows_capacity = MOST_ROWS};
    assert_int_equal(look_up(plain, c, &sink, &err), KR_OK);
    sink.out = got;
    sink.rows = got_rows;
    if (look_up(divided, c, &sink, &err))
        fail_msg("%s", err.text);
    assert_memory_equal(got, want, (n + 1) * sizeof *got);
    assert_memory_equal(got_rows, want_rows, want[n] * sizeof *got_rows);
    free(got_rows), free(want_rows), free(got), free(want);
}

/* Of an index that need not be divided. */
static inline void compare_answers(kr_index *plain, kr_index *other, const columns *c)
{
    compare_result(plain, other, WAYS, c, KR_RESULT_ROW);
    compare_result(plain, other, WAYS, c, KR_RESULT_SUM);
    compare_rows(plain, other, c, KR_ORDER_ROW, 0);
}

static inline void compare_all(kr_index *plain, kr_index *divided, int way, const columns *c)
{
    static const kr_result results[] = {KR_RESULT_ROW,      KR_RESULT_COUNT, KR_RESULT_EXISTS,
                                        KR_RESULT_SUM_ROWS, KR_RESULT_SUM,   KR_RESULT_SUM_WIDE,
                                        KR_RESULT_MIN,      KR_RESULT_MAX};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i)
        compare_result(plain, divided, way, c, results[i]);
    for (uint32_t order = KR_ORDER_ROW; order <= KR_ORDER_KEY; ++order) {
        compare_rows(plain, divided, c, order, 0);
        compare_rows(plain, divided, c, order, 3);
    }
}

#endif
