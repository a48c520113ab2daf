/* kr_join_create_asof: answers by hand, and wrong calls. The conformance suite joins random columns. */
#include "check.h"

#include <math.h>

static kr_device *device;

#define NO KR_NO_ROW
#define COLUMN(kind, values)                                                         \
    {                                                                                \
        .type = (kind), .count = sizeof(values) / sizeof *(values), .data = (values) \
    }

typedef struct sides {
    kr_column left, right, left_by[2], right_by[2];
    uint32_t n_by;
} sides;

static kr_status create(const sides *s, const char *spec, const kr_nearest_options *nearest,
                        const kr_join_options *options, kr_join **join, kr_error *err)
{
    return kr_join_create_asof(device, spec, &s->left, &s->right, s->left_by, s->right_by, s->n_by, nearest,
                               options, join, err);
}

/* The right rows of a left join. */
static void expect(const sides *s, kr_nearest_options nearest, const uint32_t *want)
{
    static const char *const specs[] = {"best", "array", "btree"};
    const kr_join_options options = {.struct_size = sizeof options, .type = KR_JOIN_LEFT};
    nearest.struct_size = sizeof nearest;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; ++k) {
        kr_join *join = NULL;
        kr_join_info info = {.struct_size = sizeof info};
        uint32_t left[16] = {0}, right[16] = {0};
        WORKS(create(s, specs[k], &nearest, &options, &join, &err));
        WORKS(kr_join_query(join, &info, &err));
        CHECK(info.pairs == s->left.count);
        WORKS(kr_join_read(join, 0, s->left.count, left, right, &err));
        for (uint64_t i = 0; i < s->left.count; ++i)
            if (left[i] != i || right[i] != want[i]) {
                ++failures;
                printf("FAILED %s, side %d: left row %u: want %u, got (%u, %u)\n", specs[k],
                       (int)nearest.side, (unsigned)i, want[i], left[i], right[i]);
            }
        kr_join_destroy(join);
    }
}

/* Quotes and trades of two symbols. The tolerance of the second symbol's first trade covers the last quote of
 * the first symbol, whose key is the next lower one. */
static void check_symbols(void)
{
    const int64_t trades[] = {100, 250, 5, 90, 300}, quotes[] = {90, 100, 100, 200, 80, 400};
    const uint16_t trade_of[] = {7, 7, 8, 8, 9}, quote_of[] = {7, 7, 7, 7, 8, 8};
    const uint32_t backward[] = {2, 3, NO, 4, NO}, forward[] = {1, NO, 4, 5, NO},
                   nearest[] = {2, 3, 4, 4, NO};
    const uint32_t strict[] = {0, 3, NO, 4, NO}, within_20[] = {2, NO, NO, 4, NO};
    const sides s = {COLUMN(KR_TIMESTAMP64, trades),
                     COLUMN(KR_TIMESTAMP64, quotes),
                     {COLUMN(KR_U16, trade_of)},
                     {COLUMN(KR_U16, quote_of)},
                     1};
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_BELOW}, backward);
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_ABOVE}, forward);
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_EITHER}, nearest);
    expect(&s, (kr_nearest_options){.strict = 1}, strict);
    expect(&s, (kr_nearest_options){.limited = 1, .tolerance = 20}, within_20);
    expect(&s, (kr_nearest_options){.limited = 1, .tolerance = INT64_MAX}, backward);
}

/* Nanoseconds over a year and groups of 32 bits, which take more than 64 bits together; times at both ends.
 */
static void check_wide(void)
{
    const int64_t trades[] = {INT64_MAX, INT64_MIN, 0, 31536000000000000, INT64_MIN};
    const int64_t quotes[] = {INT64_MAX, 31535999999999999, INT64_MIN, -1};
    const uint32_t trade_of[] = {0, 4294967295u, 4294967295u, 5, 0},
                   quote_of[] = {4294967295u, 5, 4294967295u, 0};
    const uint32_t backward[] = {3, 2, 2, 1, NO}, forward[] = {NO, 2, 0, NO, 3};
    const uint32_t either[] = {3, 2, 0, 1, 3}, within_1[] = {NO, 2, NO, 1, NO};
    const sides s = {COLUMN(KR_I64, trades),
                     COLUMN(KR_I64, quotes),
                     {COLUMN(KR_U32, trade_of)},
                     {COLUMN(KR_U32, quote_of)},
                     1};
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_BELOW}, backward);
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_ABOVE}, forward);
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_EITHER}, either);
    expect(&s, (kr_nearest_options){.limited = 1, .tolerance = 1}, within_1);
}

/* NULL and NaN: in times they have no neighbour, in groups a NULL has none and NaN equals NaN. */
static void check_nothing(void)
{
    const float left[] = {NAN, 1, 2, 3}, right[] = {0, NAN, 1, 2};
    const double left_of[] = {1, NAN, -0.0, 1}, right_of[] = {1, 1, NAN, 0.0};
    const uint8_t not_last = 0x7;
    const uint32_t grouped[] = {NO, 2, 3, NO}, alone[] = {NO, 2, 3, NO}, after[] = {NO, 2, NO, NO};
    sides s = {COLUMN(KR_F32, left),
               COLUMN(KR_F32, right),
               {COLUMN(KR_F64, left_of)},
               {COLUMN(KR_F64, right_of)},
               1};
    s.left_by[0].validity = &not_last;
    expect(&s, (kr_nearest_options){.side = 0}, grouped);
    s.n_by = 0;
    s.left.validity = &not_last;
    expect(&s, (kr_nearest_options){.side = 0}, alone);
    s.right.validity = &not_last;
    expect(&s, (kr_nearest_options){.side = KR_NEAREST_ABOVE}, after);
}

static void check_types(void)
{
    const uint32_t left[] = {1, 5, 9}, right[] = {4, 8};
    const sides s = {COLUMN(KR_U32, left), COLUMN(KR_U32, right), {{0}}, {{0}}, 0};
    const uint64_t want[] = {0, 2, 2, 1, 3};
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_LEFT; ++type) {
        const kr_join_options options = {.struct_size = sizeof options, .type = (kr_join_type)type};
        kr_join *join = NULL;
        kr_join_info info = {.struct_size = sizeof info};
        WORKS(create(&s, "array", NULL, &options, &join, &err));
        WORKS(kr_join_query(join, &info, &err));
        CHECK(info.pairs == want[type]);
        CHECK(!strcmp(info.indexed, "none")); /* both ascend */
        CHECK(kr_join_phase_count(join) > 0);
        kr_join_destroy(join);
    }
}

static void refuse(kr_status want, const sides *s, const char *spec, kr_nearest_options nearest,
                   kr_join_options options)
{
    kr_join *join = NULL;
    nearest.struct_size = sizeof nearest;
    options.struct_size = sizeof options;
    REFUSED(want, create(s, spec, &nearest, &options, &join, &err));
    CHECK(join == NULL);
}

/* The sides of an as-of join cannot change places: each would be answered with other rows. */
static void check_advice(const sides *s, kr_join_options options, const char *advice)
{
    kr_join *join = NULL;
    kr_error err = {0};
    options.struct_size = sizeof options;
    CHECK(create(s, "array", NULL, &options, &join, &err) == KR_ERR_UNSUPPORTED);
    CHECK(strstr(err.text, advice) && !strstr(err.text, "exchange"));
}

static void check_refusals(void)
{
    const uint32_t times[] = {1, 2, 3}, others[] = {1, 2};
    const kr_nearest_options any = {.side = 0};
    const kr_join_options inner = {.type = KR_JOIN_INNER};
    const sides good = {
        COLUMN(KR_U32, times), COLUMN(KR_U32, times), {COLUMN(KR_U32, times)}, {COLUMN(KR_U32, times)}, 1};
    sides bad = good;
    kr_join *join = NULL;
    refuse(KR_ERR_UNSUPPORTED, &good, "hash", any, inner);
    refuse(KR_ERR_UNSUPPORTED, &good, "full", any, inner);
    refuse(KR_ERR_SPEC, &good, "frob", any, inner);
    refuse(KR_ERR_UNSUPPORTED, &good, "array", any, (kr_join_options){.inverse = KR_INVERSE_ON});
    check_advice(&good, (kr_join_options){.inverse = KR_INVERSE_ON}, "leave inverse at auto");
    check_advice(&good, (kr_join_options){.type = KR_JOIN_RIGHT}, "take inner, left, semi or anti");
    refuse(KR_ERR_ARGUMENT, &good, "array", any, (kr_join_options){.type = (kr_join_type)7});
    refuse(KR_ERR_UNSUPPORTED, &good, "array", any, (kr_join_options){.type = KR_JOIN_RIGHT});
    refuse(KR_ERR_UNSUPPORTED, &good, "array", any, (kr_join_options){.type = KR_JOIN_FULL});
    refuse(KR_ERR_ARGUMENT, &good, "array", any, (kr_join_options){.reserved = 1});
    refuse(KR_ERR_ARGUMENT, &good, "array", (kr_nearest_options){.limited = 1, .tolerance = -5}, inner);
    refuse(KR_ERR_ARGUMENT, &good, "array", (kr_nearest_options){.limited = 1, .float_tolerance = 5}, inner);
    refuse(KR_ERR_LIMIT, &good, "array", (kr_nearest_options){.limited = 1, .tolerance = INT64_MAX}, inner);
    bad.right.type = KR_I32;
    refuse(KR_ERR_TYPE, &bad, "array", any, inner);
    bad = good;
    bad.right_by[0].type = KR_I32;
    refuse(KR_ERR_TYPE, &bad, "array", any, inner);
    bad = good;
    bad.left_by[0] = (kr_column)COLUMN(KR_U32, others);
    refuse(KR_ERR_ARGUMENT, &bad, "array", any, inner);
    bad = good;
    bad.n_by = 9;
    refuse(KR_ERR_LIMIT, &bad, "array", any, inner);
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_asof(device, "array", &good.left, &good.right, NULL, NULL, 1,
                                                 NULL, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_join_create_asof(device, "array", NULL, &good.right, NULL, NULL, 0, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_asof(NULL, "array", &good.left, &good.right, NULL, NULL, 0, NULL,
                                                 NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_asof(device, "array", &good.left, &good.right, NULL, NULL, 0,
                                                 NULL, NULL, NULL, &err));
}

int main(void)
{
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    check_symbols();
    check_wide();
    check_nothing();
    check_types();
    check_refusals();
    kr_device_close(device);
    return failures != 0;
}
