/* Kinds of scans that cast rays, on columns that are hard for them: answers against a loop over the rows,
 * scenes, sizes, and specs that are refused. rtscan_rays.c has what rays meet. */
#include "ray_tables.h"

#include <pthread.h>

static const char *const specs[] = {
    "rtc1:rays=1000",
    "rtc1:rays=100,interval=0.3",
    "rtc3:rays=60",
    "rtc3:rays=12,interval=0.5,bvh=balanced",
    "rtscan",
    "rtscan:encode=off",
    "rtscan:encode=off,limits=values",
    "rtscan:encode=off,pack=1,vectors=8,along=longest",
    "rtscan:preset=paper",
    "rtscan:preset=paper,prim=sphere",
    "rtscan:prim=triangle",
    "rtscan:prim=triangle,length=2,width=2,interval=0.5,vectors=5,along=last,bvh=trace",
    "rtscan:prim=sphere,encode=off,vectors=1,parts=3,scenes=lazy",
    "rtscan:preset=paper,vectors=4,groups=a+b+c,bvh=balanced",
    "rtscan:pack=1",
    "rtscan:pack=2,parts=4,ties=shuffled",
    "rtscan:pack=5,groups=b+c,scenes=lazy",
    "rtscan:pack=16,encode=off,vectors=5,parts=2,bvh=trace",
    "rtscan:vectors=8,selection=positive,along=last",
    "rtscan:vectors=1,groups=a+d",
    "rtscan:vectors=20,groups=d+a+c,b+a,scenes=lazy,ties=shuffled",
    "rtscan:pack=4,vectors=254,width=0.3,interval=0.7,spacing=0,length=2",
    "rtscan:pack=3,vectors=3,width=2,spacing=0.3,length=40,parts=3,compact=off",
};
enum { SPECS = sizeof specs / sizeof *specs, CROWD = 100000 };

static void check(const table *t, const char *spec, const kr_predicate *predicates, uint32_t n,
                  const uint32_t *alive)
{
    static uint32_t bitmap[CROWD / 32 + 1];
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
    static uint32_t alive[CROWD / 32 + 1];
    for (uint32_t i = 0; i < times; ++i) {
        kr_predicate predicates[COLUMNS];
        const uint32_t n = kr_predicates_make(t->columns, COLUMNS, rng, predicates);
        for (uint64_t w = 0; w < (t->n + 31) / 32; ++w)
            alive[w] = (uint32_t)kr_rng_next(rng);
        check(t, spec, predicates, n, i % 3 ? NULL : alive);
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void check_spec(table *t, kr_rng *rng, const char *spec, uint32_t times)
{
    kr_error err = {0};
    create(t, spec);
    if (kr_table_validate(t->scanned, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    check_random(t, rng, spec, times);
}

static void check_table(kr_rng *rng, const kr_type types[COLUMNS], const uint32_t shapes[COLUMNS], uint64_t n,
                        int nulls, uint32_t times)
{
    table t;
    fill(&t, rng, types, shapes, n, nulls);
    for (uint32_t s = 0; s < SPECS; ++s) {
        check_spec(&t, rng, specs[s], times);
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

/* How many cubes the rays of a condition meet. */
static uint64_t met_by(const table *t, const kr_predicate *predicates, uint32_t n)
{
    static uint32_t bitmap[CROWD / 32 + 1];
    kr_condition *condition = condition_of(t, predicates, n);
    kr_report *report = NULL;
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    scan(t, condition, NULL, bitmap, report);
    const uint64_t met = counter(report, "intersections");
    kr_report_destroy(report);
    kr_condition_destroy(condition);
    return met;
}

/* Without encoding, equal rows are cubes in one place, and a ray there meets all of them. */
static void answer_for_a_crowd(void **state)
{
    static const char *const crowd_specs[] = {
        "rtscan:preset=paper,encode=off,limits=values,groups=a+b+c",
        "rtscan:encode=off,limits=values,pack=1,bvh=trace",
        "rtscan:encode=off,limits=values",
        "rtc3",
    };
    static const kr_predicate in_crowd[] = {{0, KR_LESS_EQUAL, 1, {CROWD_CODE}},
                                            {1, KR_LESS_EQUAL, 1, {CROWD_CODE}},
                                            {2, KR_LESS_EQUAL, 1, {CROWD_CODE}}};
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {CROWDED, CROWDED, CROWDED, CROWDED};
    kr_rng rng = {16};
    table t;
    (void)state;
    fill(&t, &rng, types, shapes, CROWD, 0);
    for (uint32_t s = 0; s < sizeof crowd_specs / sizeof *crowd_specs; ++s) {
        check_spec(&t, &rng, crowd_specs[s], 12);
        check(&t, crowd_specs[s], in_crowd, 3, NULL);
        assert_true(met_by(&t, in_crowd, 3) >= CROWD / 10 * 7);
        kr_table_destroy(t.scanned);
    }
    empty(&t);
}

static void answer_without_rows(void **state)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {EVEN, EVEN, EVEN, EVEN};
    kr_rng rng = {4};
    (void)state;
    check_table(&rng, types, shapes, 0, 0, 0);
}

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
        {"rtscan:prim=sphere,pack=8", "give pack=1 or prim=aabb"},
        {"rtscan:prim=triangle,spacing=1", "give spacing=0 or prim=aabb"},
        {"rtscan:limits=values,encode=on", "give encode=off or limits=rows"},
        {"rtscan:encode=off,ties=shuffled", "leave out ties"},
        {"rtscan:preset=paper,interval=1.1", "interval"},
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
        cmocka_unit_test(answer_for_each_shape),     cmocka_unit_test(answer_for_each_type),
        cmocka_unit_test(answer_for_many_rows),      cmocka_unit_test(answer_without_rows),
        cmocka_unit_test(answer_for_a_crowd),        cmocka_unit_test(build_scenes_when_asked),
        cmocka_unit_test(refuse_to_compare_columns), cmocka_unit_test(split_columns_evenly),
        cmocka_unit_test(answer_threads_together),   cmocka_unit_test(take_what_was_estimated),
        cmocka_unit_test(refuse_what_misses_rows),   cmocka_unit_test(refuse_too_many_rays),
    };
    const int skipped = take_device_name(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
