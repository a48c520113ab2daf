/* Kinds of scans that cast rays, on columns that are hard for them: answers against a loop over the rows,
 * counters, sizes, and specs that are refused. */
#include "device_name.h"
#include "predicates.h"

#include <keyray/keyray.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 4, ROWS_MOST = 30000 };

typedef struct table {
    kr_device *device;
    kr_table *scanned;
    kr_column columns[COLUMNS];
    void *data[COLUMNS];
    uint8_t *validity[COLUMNS];
    uint64_t n;
} table;

static const char *const names[COLUMNS] = {"a", "b", "c", "d"};

static const char *const specs[] = {
    "rtc1:rays=1000",
    "rtc1:rays=100,interval=0.3",
    "rtc3:rays=60",
    "rtc3:rays=12,interval=0.5",
    "rtscan",
    "rtscan:encode=off",
    "rtscan:pack=1",
    "rtscan:pack=2,parts=4",
    "rtscan:pack=5,groups=b+c,scenes=lazy",
    "rtscan:pack=16,encode=off,vectors=5,parts=2",
    "rtscan:vectors=8,selection=positive,along=last",
    "rtscan:vectors=1,groups=a+d",
    "rtscan:vectors=20,groups=d+a+c,b+a,scenes=lazy",
    "rtscan:pack=4,vectors=254,width=0.3,interval=0.7,spacing=0,length=2",
    "rtscan:pack=3,vectors=3,width=2,spacing=0.3,length=40,parts=3,bvh=trace,compact=off",
};
enum { SPECS = sizeof specs / sizeof *specs };

/* ---- Tables ---------------------------------------------------------------------------------- */

enum {
    EVEN,     /* over the whole type */
    FEW,      /* values */
    ONE,      /* value */
    EXTREMES, /* of the type */
    ASCENDING,
    SKEWED, /* half of the rows have one value, a quarter another, ... */
    SHAPES
};

static uint64_t bits_of(kr_rng *rng, uint32_t shape, kr_type type, uint64_t row)
{
    switch (shape) {
    case FEW: return kr_value_of_code(type, 1000 + kr_rng_below(rng, 5));
    case ONE: return kr_value_of_code(type, 77);
    case EXTREMES: return kr_value_extreme(type, kr_rng_below(rng, 40));
    case ASCENDING: return kr_value_of_code(type, 100 + row);
    case SKEWED: return kr_value_of_code(type, kr_rng_next(rng) >> 1 >> kr_rng_below(rng, 63));
    default: return kr_value_of_code(type, kr_rng_next(rng));
    }
}

/* Random columns, and a device for them. */
static void fill(table *t, kr_rng *rng, const kr_type types[COLUMNS], const uint32_t shapes[COLUMNS],
                 uint64_t n, int nulls)
{
    memset(t, 0, sizeof *t);
    assert_int_equal(kr_device_open(device_name, NULL, &t->device, NULL), KR_OK);
    t->n = n;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        const int has_nulls = nulls && c != 1;
        t->data[c] = calloc(n + 1, 8);
        t->validity[c] = calloc(n / 8 + 2, 1);
        for (uint64_t r = 0; r < n; ++r) {
            kr_value_store_bits(types[c], t->data[c], r, bits_of(rng, shapes[c], types[c], r));
            if (kr_rng_below(rng, nulls == 2 ? 20 : 3))
                t->validity[c][(r + 5) / 8] |= (uint8_t)(1 << (r + 5) % 8);
        }
        t->columns[c] = (kr_column){.type = types[c],
                                    .count = n,
                                    .data = t->data[c],
                                    .validity = has_nulls ? t->validity[c] : NULL,
                                    .validity_offset = has_nulls ? 5 : 0};
    }
}

static void empty(table *t)
{
    kr_device_close(t->device);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        free(t->validity[c]);
        free(t->data[c]);
    }
}

/* Skips the test where nothing casts rays. */
static void create(table *t, const char *spec)
{
    kr_error err = {0};
    const kr_status status =
        kr_table_create(t->device, spec, t->columns, names, COLUMNS, NULL, NULL, &t->scanned, &err);
    if (status == KR_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    if (status != KR_OK)
        fail_msg("%s: %s", spec, err.text);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static kr_condition *condition_of(const table *t, const kr_predicate *predicates, uint32_t n)
{
    kr_condition *whole = NULL;
    kr_error err = {0};
    if (kr_predicates_condition(t->columns, names, predicates, n, &whole, &err) != KR_OK)
        fail_msg("%s", err.text);
    return whole;
}

/* The bitmap of a condition, and its report. */
static void scan(const table *t, const kr_condition *condition, const uint32_t *alive, uint32_t *bitmap,
                 kr_report *report)
{
    const kr_scan_sink sink = {sizeof sink, KR_SCAN_BITMAP, 0, bitmap, NULL, NULL, 0};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_condition *conditions[] = {condition};
    const kr_scan_options options = {sizeof options, alive, report, report != NULL, 0};
    kr_error err = {0};
    if (kr_scan(t->scanned, conditions, sinks, 1, &options, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
}

static void check(const table *t, const char *spec, const kr_predicate *predicates, uint32_t n,
                  const uint32_t *alive)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    kr_condition *condition = condition_of(t, predicates, n);
    memset(bitmap, 0xAA, sizeof bitmap);
    scan(t, condition, alive, bitmap, NULL);
    kr_condition_destroy(condition);
    for (uint64_t r = 0; r < (t->n + 31) / 32 * 32; ++r) {
        int want = r < t->n && (!alive || (alive[r / 32] >> r % 32 & 1));
        for (uint32_t i = 0; i < n && want; ++i)
            want = kr_predicate_holds(t->columns, predicates + i, r);
        if (want != (int)(bitmap[r / 32] >> r % 32 & 1))
            fail_msg("%s: row %llu of %llu should%s match (%u comparisons; the first is number %d of %s)",
                     spec, (unsigned long long)r, (unsigned long long)t->n, want ? "" : " not", n,
                     (int)predicates[0].compare, names[predicates[0].column]);
    }
}

static void check_random(const table *t, kr_rng *rng, const char *spec, uint32_t times)
{
    static uint32_t alive[ROWS_MOST / 32 + 1];
    for (uint32_t i = 0; i < times; ++i) {
        kr_predicate predicates[COLUMNS];
        const uint32_t n = kr_predicates_make(t->columns, COLUMNS, rng, predicates);
        for (uint64_t w = 0; w < (t->n + 31) / 32; ++w)
            alive[w] = (uint32_t)kr_rng_next(rng);
        check(t, spec, predicates, n, i % 3 ? NULL : alive);
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void check_table(kr_rng *rng, const kr_type types[COLUMNS], const uint32_t shapes[COLUMNS], uint64_t n,
                        int nulls, uint32_t times)
{
    table t;
    kr_error err = {0};
    fill(&t, rng, types, shapes, n, nulls);
    for (uint32_t s = 0; s < SPECS; ++s) {
        create(&t, specs[s]);
        if (kr_table_validate(t.scanned, &err) != KR_OK)
            fail_msg("%s: %s", specs[s], err.text);
        check_random(&t, rng, specs[s], times);
        kr_table_destroy(t.scanned);
    }
    empty(&t);
}

static void answer_for_each_shape(void **state)
{
    static const uint64_t counts[] = {1, 2, 63, 64, 65, 1000, 2049};
    const kr_type types[COLUMNS] = {KR_U32, KR_I64, KR_F32, KR_U8};
    kr_rng rng = {1};
    (void)state;
    for (uint32_t shape = 0; shape < SHAPES; ++shape)
        for (uint32_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
            const uint32_t shapes[COLUMNS] = {shape, shape, shape, shape};
            check_table(&rng, types, shapes, counts[c], (int)(c % 3), 12);
        }
}

static void answer_for_each_type(void **state)
{
    kr_rng rng = {2};
    (void)state;
    for (uint32_t i = 0; i < KR_N_TYPES; ++i) {
        kr_type types[COLUMNS];
        uint32_t shapes[COLUMNS];
        for (uint32_t c = 0; c < COLUMNS; ++c) {
            types[c] = (kr_type)(1 + (i + c * c) % KR_N_TYPES);
            shapes[c] = (uint32_t)kr_rng_below(&rng, SHAPES);
        }
        check_table(&rng, types, shapes, 1 + kr_rng_below(&rng, 3000), (int)kr_rng_below(&rng, 3), 15);
    }
}

/* So many that cells hold several rows. */
static void answer_for_many_rows(void **state)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_F64, KR_I32, KR_I16};
    const uint32_t even[COLUMNS] = {EVEN, EVEN, EVEN, EVEN}, mixed[COLUMNS] = {SKEWED, EVEN, FEW, ASCENDING};
    kr_rng rng = {3};
    (void)state;
    check_table(&rng, types, even, ROWS_MOST - 7, 0, 12);
    check_table(&rng, types, mixed, ROWS_MOST - 64, 2, 12);
}

static void answer_without_rows(void **state)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {EVEN, EVEN, EVEN, EVEN};
    kr_rng rng = {4};
    (void)state;
    check_table(&rng, types, shapes, 0, 0, 0);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static uint64_t counter(const kr_report *report, const char *name)
{
    for (uint32_t i = 0; i < kr_report_counter_count(report); ++i)
        if (strcmp(kr_report_counter_name(report, i), name) == 0)
            return kr_report_counter_value(report, i);
    fail_msg("there is no counter '%s'", name);
    return 0;
}

static uint64_t counter_of_table(const table *t, const char *name)
{
    for (uint32_t i = 0; i < kr_table_counter_count(t->scanned); ++i)
        if (strcmp(kr_table_counter_name(t->scanned, i), name) == 0)
            return kr_table_counter_value(t->scanned, i);
    fail_msg("there is no counter '%s'", name);
    return 0;
}

static void fill_distinct(table *t, kr_rng *rng)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {ASCENDING, ASCENDING, ASCENDING, ASCENDING};
    fill(t, rng, types, shapes, ROWS_MOST, 0);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint64_t r = ROWS_MOST - 1; r > 0; --r) {
            uint32_t *values = t->data[c];
            const uint64_t other = kr_rng_below(rng, r + 1);
            const uint32_t kept = values[r];
            values[r] = values[other];
            values[other] = kept;
        }
}

/* Three columns of distinct values 100, 101, ..., in the scene of a, b and c; bins of 1,875 rows. Cubes are
 * narrower than half a bin, so rays across a region reach little beyond it. */
static void count_what_rays_meet_of(const char *spec)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    uint64_t met = 0, refined = 0, casting = 0;
    kr_report *report = NULL;
    kr_rng rng = {5};
    table t;
    fill_distinct(&t, &rng);
    create(&t, spec);
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    for (uint32_t i = 0; i < 60; ++i) {
        kr_predicate predicates[3];
        uint64_t at_border = 1, rows[3];
        for (uint32_t c = 0; c < 3; ++c) {
            rows[c] = i % 5 ? kr_rng_below(&rng, ROWS_MOST) : ROWS_MOST / 16 * kr_rng_below(&rng, 17);
            at_border &= rows[c] % (ROWS_MOST / 16) == 0;
            predicates[c] = (kr_predicate){c, KR_LESS, 1, {100 + rows[c]}};
        }
        kr_condition *condition = condition_of(&t, predicates, 3);
        scan(&t, condition, NULL, bitmap, report);
        kr_condition_destroy(condition);
        met += counter(report, "intersections");
        refined += counter(report, "refined");
        assert_true(counter(report, "intersections") >= counter(report, "refined"));
        /* Rays are cast unless nothing is left for them. */
        assert_int_equal(counter(report, "rays") == 0, at_border != 0);
        casting += counter(report, "rays") > 0;
        assert_in_range(counter(report, "spared") + ROWS_MOST / 16 * 3, 0, 2 * (uint64_t)ROWS_MOST);
    }
    assert_in_range(casting, 40, 60);
    assert_in_range(met, refined, 2 * refined);
    assert_in_range(counter_of_table(&t, "width"), 1, ROWS_MOST / 32);
    kr_report_destroy(report);
    kr_table_destroy(t.scanned);
    empty(&t);
}

static void count_what_rays_meet(void **state)
{
    (void)state;
    count_what_rays_meet_of("rtscan:vectors=16,groups=a+b+c");
    count_what_rays_meet_of("rtscan:vectors=16,pack=1,groups=a+b+c");
    count_what_rays_meet_of("rtscan:vectors=16,pack=4,groups=a+b+c");
    count_what_rays_meet_of("rtscan:vectors=16,pack=7,parts=3,groups=a+b+c");
}

/* Without vectors the region of a condition holds the rows that match, and no other. */
static void meet_each_row_once_of(const char *spec, uint32_t pack, int once)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    kr_report *report = NULL;
    kr_rng rng = {12};
    table t;
    fill_distinct(&t, &rng);
    create(&t, spec);
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    for (uint32_t i = 0; i < 30; ++i) {
        kr_predicate predicates[3];
        uint64_t matches = 0;
        for (uint32_t c = 0; c < 3; ++c) {
            const uint64_t from = 100 + kr_rng_below(&rng, ROWS_MOST / 2);
            predicates[c] =
                (kr_predicate){c, KR_BETWEEN, 2, {from, from + kr_rng_below(&rng, ROWS_MOST / 2)}};
        }
        kr_condition *condition = condition_of(&t, predicates, 3);
        scan(&t, condition, NULL, bitmap, report);
        kr_condition_destroy(condition);
        for (uint64_t r = 0; r < ROWS_MOST; ++r)
            matches += bitmap[r / 32] >> r % 32 & 1;
        if (once)
            assert_int_equal(counter(report, "refined"), matches);
        assert_in_range(counter(report, "refined"), matches, counter(report, "intersections"));
        assert_true(counter(report, "primitives") * pack >= counter(report, "intersections"));
        if (pack == 1)
            assert_int_equal(counter(report, "primitives"), counter(report, "intersections"));
    }
    kr_report_destroy(report);
    kr_table_destroy(t.scanned);
    empty(&t);
}

static void meet_each_row_once(void **state)
{
    (void)state;
    meet_each_row_once_of("rtc3:rays=50", 1, 0);
    meet_each_row_once_of("rtscan:vectors=1,selection=positive,pack=1,groups=a+b+c", 1, 1);
    meet_each_row_once_of("rtscan:vectors=1,selection=positive,pack=2,width=1.3,groups=a+b+c", 2, 1);
    meet_each_row_once_of("rtscan:vectors=1,selection=positive,pack=3,length=0.5,groups=a+b+c", 3, 1);
    meet_each_row_once_of("rtscan:vectors=1,selection=positive,pack=8,parts=3,groups=a+b+c", 8, 1);
    meet_each_row_once_of("rtscan:vectors=1,selection=positive,pack=16,along=last,groups=a+b+c", 16, 1);
    meet_each_row_once_of("rtscan:vectors=1,selection=positive,interval=0.5,spacing=0.7,groups=a+b+c", 8, 0);
}

/* Rows of a box are near each other, so a ray meets few boxes for each row. */
static void pack_rows_that_are_near(void **state)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    kr_table_info one = {.struct_size = sizeof one}, eight = one;
    kr_condition *condition = NULL;
    kr_report *report = NULL;
    kr_rng rng = {13};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    create(&t, "rtscan:pack=1");
    assert_int_equal(kr_table_query(t.scanned, &one, NULL), KR_OK);
    kr_table_destroy(t.scanned);
    create(&t, "rtscan:vectors=1,width=1,pack=8,groups=a+b+c");
    assert_int_equal(kr_table_query(t.scanned, &eight, NULL), KR_OK);
    assert_in_range(eight.footprint_nbytes, 0, one.footprint_nbytes / 2);
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    assert_int_equal(kr_condition_parse("a < 9000 and b < 9000 and c < 9000", &condition, NULL), KR_OK);
    scan(&t, condition, NULL, bitmap, report);
    assert_in_range(counter(report, "primitives"), 1, 3 * counter(report, "intersections"));
    kr_condition_destroy(condition);
    kr_report_destroy(report);
    kr_table_destroy(t.scanned);
    empty(&t);
}

/* Conditions that vectors answer alone, and those that no row can fulfil, cast no ray; c is in another scene
 * than a and b. */
static void cast_no_ray_without_need(void **state)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    static const char *const texts[] = {"a >= 100", "a < 100", "a is not null and b < 99 and c < 500",
                                        "a < 1975 and b < 3850"};
    kr_report *report = NULL;
    kr_rng rng = {6};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    create(&t, "rtscan:vectors=16");
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        kr_condition *condition = NULL;
        assert_int_equal(kr_condition_parse(texts[i], &condition, NULL), KR_OK);
        scan(&t, condition, NULL, bitmap, report);
        assert_int_equal(counter(report, "rays"), 0);
        kr_condition_destroy(condition);
    }
    kr_report_destroy(report);
    kr_table_destroy(t.scanned);
    empty(&t);
}

/* A scene that the first scan builds counts from then on; columns share the scenes that `groups` says. */
static void build_scenes_when_asked(void **state)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    char text[1024];
    kr_condition *condition = NULL;
    kr_table_info before = {.struct_size = sizeof before}, after = before;
    kr_rng rng = {10};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    create(&t, "rtscan:vectors=16,groups=a+c,b+d,scenes=lazy");
    assert_int_equal(kr_condition_parse("a < 2000 and b < 3000 and c < 4000", &condition, NULL), KR_OK);
    assert_int_equal(kr_table_query(t.scanned, &before, NULL), KR_OK);
    scan(&t, condition, NULL, bitmap, NULL);
    assert_int_equal(kr_table_query(t.scanned, &after, NULL), KR_OK);
    assert_true(after.footprint_nbytes > before.footprint_nbytes + 2 * ROWS_MOST);
    scan(&t, condition, NULL, bitmap, NULL);
    assert_int_equal(kr_table_query(t.scanned, &before, NULL), KR_OK);
    assert_true(after.footprint_nbytes == before.footprint_nbytes);
    assert_int_equal(kr_scan_explain(t.scanned, condition, text, sizeof text, NULL), KR_OK);
    assert_non_null(strstr(text, "2 groups in turn"));
    assert_non_null(strstr(text, "a, c: 2 filter vectors, "));
    assert_non_null(strstr(text, "\nb: 1 filter vectors, 1 regions, "));
    kr_condition_destroy(condition);
    kr_table_destroy(t.scanned);
    empty(&t);
}

/* What a scan refuses is not explained. */
static void refuse_to_compare_columns(void **state)
{
    static const char *const kinds[] = {"rtscan:vectors=16", "rtc3:rays=60", "rtc1:rays=100"};
    char text[256];
    uint64_t count = 0;
    kr_condition *condition = NULL;
    kr_error err = {0};
    kr_rng rng = {12};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    assert_int_equal(kr_condition_parse("a < 7 or b < 2000 and c < d", &condition, NULL), KR_OK);
    const kr_condition *conditions[] = {condition};
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count},
                       *sinks[] = {&sink};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        create(&t, kinds[i]);
        assert_int_equal(kr_scan_explain(t.scanned, condition, text, sizeof text, &err), KR_ERR_UNSUPPORTED);
        assert_non_null(
            strstr(err.text, "does not compare column 'c' with column 'd'; kinds that do: full, bindex"));
        err = (kr_error){0};
        assert_int_equal(kr_scan(t.scanned, conditions, sinks, 1, NULL, NULL, &err), KR_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "kinds that do: full, bindex"));
        kr_table_destroy(t.scanned);
    }
    kr_condition_destroy(condition);
    empty(&t);
}

/* Four columns are two and two, unless the option names three; explain says so. */
static void split_columns_evenly(void **state)
{
    static const struct {
        const char *spec, *scenes;
    } ways[] = {
        {"rtscan:vectors=16",
         "scenes of a+b,c+d; columns that no option names are split evenly\n2 groups in turn"},
        {"rtscan:vectors=16,groups=a+b+c", "scenes of a+b+c,d;"},
        {"rtscan:vectors=16,groups=c", "scenes of c,a+b+d;"},
        {"rtc3:rays=60", "scenes of a+b,c+d;"},
        {"rtc1:rays=100", "scenes of a,b,c,d\n"},
    };
    char text[1024];
    kr_condition *condition = NULL;
    kr_rng rng = {12};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    assert_int_equal(kr_condition_parse("a < 2000 and b < 3000 and c < 4000 and d < 5000", &condition, NULL),
                     KR_OK);
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        create(&t, ways[i].spec);
        assert_int_equal(kr_scan_explain(t.scanned, condition, text, sizeof text, NULL), KR_OK);
        if (!strstr(text, ways[i].scenes))
            fail_msg("%s: %s", ways[i].spec, text);
        kr_table_destroy(t.scanned);
    }
    kr_condition_destroy(condition);
    empty(&t);
}

enum { THREADS = 4, CALLS = 20 };

static void *scan_often(void *ctx)
{
    const table *t = ctx;
    kr_condition *condition = NULL;
    uint64_t wrong = 0;
    if (kr_condition_parse("a < 2000 and b < 30000 and d between 500 and 20000", &condition, NULL) != KR_OK)
        return t->device;
    uint64_t want = 0;
    for (uint32_t i = 0; i < CALLS; ++i) {
        uint64_t count = 0;
        const kr_scan_sink sink = {sizeof sink, KR_SCAN_COUNT, 0, &count, NULL, NULL, 0};
        const kr_scan_sink *sinks[] = {&sink};
        const kr_condition *conditions[] = {condition};
        wrong += kr_scan(t->scanned, conditions, sinks, 1, NULL, NULL, NULL) != KR_OK;
        want = i ? want : count;
        wrong += count != want || !count;
    }
    kr_condition_destroy(condition);
    return wrong ? t->device : NULL;
}

/* The first to come builds the scenes, the others wait for them. */
static void answer_threads_together(void **state)
{
    pthread_t threads[THREADS];
    kr_rng rng = {11};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    create(&t, "rtscan:vectors=16,groups=a+b,scenes=lazy");
    for (uint32_t i = 0; i < THREADS; ++i)
        assert_int_equal(pthread_create(threads + i, NULL, scan_often, &t), 0);
    for (uint32_t i = 0; i < THREADS; ++i) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    kr_table_destroy(t.scanned);
    empty(&t);
}

/* ---- Sizes and specs ------------------------------------------------------------------------- */

static void take_what_was_estimated(void **state)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_F64, KR_I32, KR_I16};
    const uint32_t shapes[COLUMNS] = {EVEN, EVEN, EVEN, SKEWED};
    kr_rng rng = {7};
    (void)state;
    for (uint32_t i = 0; i < 6; ++i) {
        table t;
        fill(&t, &rng, types, shapes, i % 2 ? ROWS_MOST : 100, (int)(i / 2));
        for (uint32_t s = 0; s < SPECS; ++s) {
            kr_estimate estimate = {.struct_size = sizeof estimate};
            kr_table_info info = {.struct_size = sizeof info};
            uint64_t sum = 0;
            create(&t, specs[s]);
            assert_int_equal(kr_table_estimate(t.device, specs[s], t.columns, COLUMNS, NULL, &estimate, NULL),
                             KR_OK);
            assert_int_equal(kr_table_query(t.scanned, &info, NULL), KR_OK);
            assert_in_range(info.footprint_nbytes, 0, estimate.footprint_nbytes);
            assert_in_range(info.peak_nbytes, info.footprint_nbytes, estimate.peak_nbytes);
            assert_in_range(estimate.footprint_nbytes, 0, 4 * info.footprint_nbytes + (4 << 16));
            assert_in_range(estimate.peak_nbytes, 0, 4 * info.peak_nbytes + (4 << 16));
            for (uint32_t c = 0; c < kr_table_component_count(t.scanned); ++c)
                sum += kr_table_component_nbytes(t.scanned, c);
            assert_int_equal(sum, info.footprint_nbytes);
            kr_table_destroy(t.scanned);
        }
        empty(&t);
    }
}

static void refuse_what_misses_rows(void **state)
{
    static const struct {
        const char *spec, *says;
    } refused[] = {
        {"rtscan:interval=1.001", "interval"},
        {"rtscan:spacing=1.5", "spacing"},
        {"rtscan:width=0", "width"},
        {"rtscan:interval=0", "interval"},
        {"rtscan:pack=0", "pack"},
        {"rtscan:pack=17", "pack"},
        {"rtscan:pack=two", "pack"},
        {"rtscan:vectors=0", "vectors"},
        {"rtscan:vectors=255", "vectors"},
        {"rtscan:length=-2", "length"},
        {"rtscan:selection=negative", "selection"},
        {"rtscan:groups=a+b,x", "'x'"},
        {"rtscan:groups=a+b+c+d", "at most 3"},
        {"rtscan:groups=a+a", "twice"},
        {"rtscan:groups=a++b", "''"},
        {"rtscan:groups=", "groups"},
        {"rtc3:interval=2", "interval"},
        {"rtc3:rays=0", "rays"},
        {"rtc1:interval=1.1", "interval"},
    };
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {EVEN, EVEN, EVEN, EVEN};
    kr_rng rng = {8};
    table t;
    (void)state;
    fill(&t, &rng, types, shapes, 100, 0);
    for (uint32_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        kr_error err = {0};
        assert_int_equal(kr_table_create(t.device, refused[i].spec, t.columns, names, COLUMNS, NULL, NULL,
                                         &t.scanned, &err),
                         KR_ERR_SPEC);
        assert_non_null(strstr(err.text, refused[i].says));
    }
    empty(&t);
}

/* Cubes so narrow that a condition could take more rays than anyone waits for. */
static void refuse_too_many_rays(void **state)
{
    static const struct {
        const char *spec, *says;
    } of[] = {{"rtscan:encode=off,width=0.001,interval=0.01,groups=a+b+c", "give wider cubes with width=..."},
              {"rtc3:rays=65536,interval=0.01", "give fewer rays with rays=..."}};
    const kr_type types[COLUMNS] = {KR_F64, KR_F64, KR_F64, KR_F64};
    const uint32_t shapes[COLUMNS] = {EVEN, EVEN, EVEN, EVEN};
    kr_rng rng = {9};
    kr_error err = {0};
    table t;
    (void)state;
    fill(&t, &rng, types, shapes, 100, 0);
    for (uint32_t i = 0; i < sizeof of / sizeof *of; ++i) {
        const kr_status status =
            kr_table_create(t.device, of[i].spec, t.columns, names, COLUMNS, NULL, NULL, &t.scanned, &err);
        if (status != KR_ERR_UNSUPPORTED) {
            assert_int_equal(status, KR_ERR_LIMIT);
            assert_non_null(strstr(err.text, of[i].says));
        }
    }
    empty(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answer_for_each_shape),   cmocka_unit_test(answer_for_each_type),
        cmocka_unit_test(answer_for_many_rows),    cmocka_unit_test(answer_without_rows),
        cmocka_unit_test(count_what_rays_meet),    cmocka_unit_test(meet_each_row_once),
        cmocka_unit_test(pack_rows_that_are_near), cmocka_unit_test(cast_no_ray_without_need),
        cmocka_unit_test(build_scenes_when_asked), cmocka_unit_test(refuse_to_compare_columns),
        cmocka_unit_test(split_columns_evenly),    cmocka_unit_test(answer_threads_together),
        cmocka_unit_test(take_what_was_estimated), cmocka_unit_test(refuse_what_misses_rows),
        cmocka_unit_test(refuse_too_many_rays),
    };
    const int skipped = take_device_name(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
