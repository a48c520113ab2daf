/* What rays of kind rtscan meet, by its counters: each row of a region once, few boxes for a row, and no ray
 * where none is needed. */
#include "ray_tables.h"

#include <math.h>

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

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
        refined += counter(report, "rows compared");
        assert_true(counter(report, "intersections") >= counter(report, "rows compared"));
        assert_in_range(counter(report, "rays that met rows"), counter(report, "intersections") > 0,
                        min_of(counter(report, "rays"), counter(report, "intersections")));
        /* Rays are cast unless nothing is left for them. */
        assert_int_equal(counter(report, "rays") == 0, at_border != 0);
        casting += counter(report, "rays") > 0;
        assert_in_range(counter(report, "rows skipped") + ROWS_MOST / 16 * 3, 0, 2 * (uint64_t)ROWS_MOST);
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
    count_what_rays_meet_of("rtscan:preset=paper,vectors=16,groups=a+b+c");
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
            assert_int_equal(counter(report, "rows compared"), matches);
        assert_in_range(counter(report, "rows compared"), matches, counter(report, "intersections"));
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
    meet_each_row_once_of("rtscan:preset=paper,vectors=1,selection=positive,groups=a+b+c", 1, 1);
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

/* Where all rows but the lowest and the highest lie in one place, a ray meets all of these or none, and is
 * counted once. */
static void count_rays_that_meet_rows_once(void **state)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    static const char *const specs[] = {
        "rtscan:encode=off,vectors=1,pack=1,groups=a+b+c", "rtscan:encode=off,vectors=1,groups=a+b+c",
        "rtscan:encode=off,vectors=1,interval=0.3,groups=a+b+c", "rtc3:rays=50"};
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {ONE, ONE, ONE, ONE};
    kr_condition *condition = NULL;
    kr_report *report = NULL;
    kr_rng rng = {16};
    table t;
    (void)state;
    fill(&t, &rng, types, shapes, 1002, 0);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        ((uint32_t *)t.data[c])[0] = 0;
        ((uint32_t *)t.data[c])[1] = 200;
    }
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    assert_int_equal(
        kr_condition_parse("a between 50 and 100 and b between 50 and 100 and c between 50 and 100",
                           &condition, NULL),
        KR_OK);
    for (uint32_t s = 0; s < sizeof specs / sizeof *specs; ++s) {
        create(&t, specs[s]);
        scan(&t, condition, NULL, bitmap, report);
        const uint64_t met = counter(report, "rays that met rows");
        assert_in_range(met, 1, counter(report, "rays"));
        assert_int_equal(counter(report, "intersections"), 1000 * met);
        kr_table_destroy(t.scanned);
    }
    kr_condition_destroy(condition);
    kr_report_destroy(report);
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

static uint64_t met_by(const table *t, const char *prim)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    kr_report *report = NULL;
    kr_condition *condition = NULL;
    table of = *t;
    char spec[100];
    snprintf(spec, sizeof spec, "rtscan:preset=paper,vectors=1,spacing=0,length=1000,groups=a+b+c,prim=%s",
             prim);
    create(&of, spec);
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    assert_int_equal(kr_condition_parse("a < 25000 and b < 25000 and c < 25000", &condition, NULL), KR_OK);
    scan(&of, condition, NULL, bitmap, report);
    const uint64_t met = counter(report, "intersections");
    assert_true(counter(report, "rows compared") <= met);
    kr_condition_destroy(condition);
    kr_report_destroy(report);
    kr_table_destroy(of.scanned);
    return met;
}

/* Rays a width apart meet shapes as often as these project to areas of a cube's side: a^2, pi / 2 a^2, 2 a^2
 * (section 4.4.2); a few more at the ends of a region. */
static void meet_shapes_by_their_areas(void **state)
{
    kr_rng rng = {15};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    const uint64_t cubes = met_by(&t, "aabb");
    const double spheres = (double)met_by(&t, "sphere") / (double)cubes;
    const double triangles = (double)met_by(&t, "triangle") / (double)cubes;
    print_message("of cubes: spheres %.3f, triangles %.3f\n", spheres, triangles);
    assert_true(spheres > 1.5 && spheres < 1.75);
    assert_true(triangles > 1.9 && triangles < 2.3);
    empty(&t);
}

/* Without encoding, too, bins have equally many rows: so at most the rows of half a bin's values are
 * compared, in all fewer than with bins that are equal ranges of values. */
static void sieve_skewed_values(void **state)
{
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    static const char *const specs[] = {"rtscan:encode=off,vectors=16",
                                        "rtscan:encode=off,vectors=16,limits=values"};
    uint64_t compared[2] = {0, 0};
    kr_report *report = NULL;
    kr_rng rng = {14};
    table t;
    (void)state;
    fill_distinct(&t, &rng);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint64_t r = 0; r < ROWS_MOST; ++r) {
            uint32_t *value = (uint32_t *)t.data[c] + r;
            *value = (uint32_t)((uint64_t)*value * *value * *value >> 13);
        }
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    for (uint32_t s = 0; s < 2; ++s) {
        create(&t, specs[s]);
        for (uint64_t i = 0; i < 50; ++i) {
            const uint64_t rank = 100 + ROWS_MOST * i / 50, value = rank * rank * rank >> 13;
            const kr_predicate predicate = {0, KR_LESS, 1, {value}};
            kr_condition *condition = condition_of(&t, &predicate, 1);
            scan(&t, condition, NULL, bitmap, report);
            kr_condition_destroy(condition);
            compared[s] += counter(report, "rows compared");
            if (s == 0)
                assert_in_range(counter(report, "rows compared"), 0, ROWS_MOST / 16);
        }
        kr_table_destroy(t.scanned);
    }
    assert_true(compared[1] > 2 * compared[0]);
    kr_report_destroy(report);
    empty(&t);
}

/* Rows met for each ray that met rows, in columns of five values. *cast: for each ray that was cast. */
static double met_together(const table *t, double *cast)
{
    static const kr_predicate few[] = {
        {0, KR_LESS, 1, {1002}}, {1, KR_LESS, 1, {1003}}, {2, KR_LESS, 1, {1004}}};
    static uint32_t bitmap[ROWS_MOST / 32 + 1];
    kr_report *report = NULL;
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    kr_condition *condition = condition_of(t, few, 3);
    scan(t, condition, NULL, bitmap, report);
    const double met = (double)counter(report, "intersections");
    const double together = met / (double)counter(report, "rays that met rows");
    *cast = met / (double)counter(report, "rays");
    kr_condition_destroy(condition);
    kr_report_destroy(report);
    return together;
}

/* Rows that lie evenly are met by chance: m for each ray that was cast are m / (1 - exp(-m)) for each ray
 * that met rows. */
static void spread_equal_values(void **state)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_U64, KR_F32, KR_U32};
    const uint32_t shapes[COLUMNS] = {FEW, FEW, FEW, FEW};
    kr_rng rng = {31};
    double cast;
    table t;
    (void)state;
    fill(&t, &rng, types, shapes, ROWS_MOST, 0);
    create(&t, "rtscan:preset=paper,vectors=1,selection=positive,groups=a+b+c,ties=rows");
    const double in_rows = met_together(&t, &cast);
    kr_table_destroy(t.scanned);
    create(&t, "rtscan:preset=paper,vectors=1,selection=positive,groups=a+b+c");
    const double shuffled = met_together(&t, &cast), even = cast / (1 - exp(-cast));
    assert_in_range((uint64_t)(100 * shuffled / even), 95, 105);
    assert_true(in_rows > 1.5 * even);
    kr_table_destroy(t.scanned);
    empty(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count_what_rays_meet),     cmocka_unit_test(count_rays_that_meet_rows_once),
        cmocka_unit_test(meet_each_row_once),       cmocka_unit_test(pack_rows_that_are_near),
        cmocka_unit_test(cast_no_ray_without_need), cmocka_unit_test(meet_shapes_by_their_areas),
        cmocka_unit_test(sieve_skewed_values),      cmocka_unit_test(spread_equal_values),
    };
    const int skipped = take_device_name(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
