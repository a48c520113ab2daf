/* Joins by ranges and of intervals with group columns, against a comparison of all pairs. */
#include "columns_oracle.h"
#include "device_name.h"

static kr_device *device;
static uint64_t all_pairs, joins;

enum { LEFT = 70, RIGHT = 60 };

/* Group columns, then starts and ends of one type. */
typedef struct sides {
    sample left, right;
    uint32_t n_by;
    int ranges, open;
} sides;

static int is_nan(const kr_column *column, uint64_t i)
{
    return is_float_type(column->type) && isnan(float_of(column, i));
}

/* An interval that is not empty. */
static int is_interval(const sides *s, const sample *of, uint64_t i)
{
    const kr_column *start = &of->columns[s->n_by], *end = start + 1;
    const int order = is_valid(start, i) && is_valid(end, i) ? compare(start, i, end, i) : 1;
    return order <= (s->open ? -1 : 0) && !is_nan(start, i) && !is_nan(end, i);
}

static int are_partners(const sides *s, uint64_t i, uint64_t j)
{
    const kr_column *left = s->left.columns, *right = s->right.columns;
    const uint32_t v = s->n_by;
    for (uint32_t k = 0; k < v; ++k)
        if (!is_valid(&left[k], i) || !is_valid(&right[k], j) || compare(&left[k], i, &right[k], j))
            return 0;
    if (s->ranges)
        return is_valid(&left[v], i) && is_valid(&right[v], j) && is_valid(&right[v + 1], j) &&
               compare(&left[v], i, &right[v], j) >= 0 && compare(&left[v], i, &right[v + 1], j) <= 0;
    if (!is_interval(s, &s->left, i) || !is_interval(s, &s->right, j))
        return 0;
    const int before = compare(&left[v], i, &right[v + 1], j), after = compare(&right[v], j, &left[v + 1], i);
    return s->open ? before < 0 && after < 0 : before <= 0 && after <= 0;
}

/* The pairs, or left rows, of the join's type, in the order of their rows. */
static uint64_t want(const sides *s, kr_join_type type, uint32_t *left, uint32_t *right)
{
    uint8_t has[RIGHT] = {0};
    uint64_t n = 0;
    for (uint32_t i = 0; i < LEFT; ++i) {
        int any = 0;
        for (uint32_t j = 0; j < RIGHT; ++j) {
            if (!are_partners(s, i, j))
                continue;
            any = has[j] = 1;
            if (type != KR_JOIN_SEMI && type != KR_JOIN_ANTI) {
                left[n] = i;
                right[n++] = j;
            }
        }
        if (type == KR_JOIN_SEMI                                                   ? any
            : type == KR_JOIN_ANTI || type == KR_JOIN_LEFT || type == KR_JOIN_FULL ? !any
                                                                                   : 0) {
            left[n] = i;
            right[n++] = KR_NO_ROW;
        }
    }
    for (uint32_t j = 0; j < RIGHT; ++j)
        if ((type == KR_JOIN_RIGHT || type == KR_JOIN_FULL) && !has[j]) {
            left[n] = KR_NO_ROW;
            right[n++] = j;
        }
    return n;
}

static void check_type(const sides *s, const char *spec, kr_join_type type, kr_join_inverse inverse)
{
    static uint32_t left[LEFT * RIGHT + LEFT + RIGHT], right[LEFT * RIGHT + LEFT + RIGHT];
    static uint32_t found_left[LEFT * RIGHT + LEFT + RIGHT], found_right[LEFT * RIGHT + LEFT + RIGHT];
    const kr_column *l = s->left.columns, *r = s->right.columns;
    const uint32_t v = s->n_by;
    const kr_join_options options = {.struct_size = sizeof options,
                                     .type = type,
                                     .inverse = inverse,
                                     .left_by = l,
                                     .right_by = r,
                                     .n_by = v};
    kr_join *joined = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    if (s->ranges)
        WORKS(kr_join_create_range(device, spec, &l[v], &r[v], &r[v + 1], &options, &joined, &err));
    else
        WORKS(kr_join_create_overlap(device, spec, &l[v], &l[v + 1], &r[v], &r[v + 1],
                                     s->open ? KR_ENDS_OPEN : KR_ENDS_CLOSED, &options, &joined, &err));
    if (!joined)
        return;
    const uint64_t n = want(s, type, left, right);
    WORKS(kr_join_query(joined, &info, &err));
    CHECK(info.pairs == n);
    all_pairs += n;
    ++joins;
    if (info.pairs == n && n) {
        WORKS(kr_join_read(joined, 0, n, found_left, found_right, &err));
        CHECK(memcmp(left, found_left, n * sizeof *left) == 0);
        CHECK(type == KR_JOIN_SEMI || type == KR_JOIN_ANTI ||
              memcmp(right, found_right, n * sizeof *right) == 0);
    }
    kr_join_destroy(joined);
}

/* Ends are starts and a little, or anything. */
static void set_ends(kr_rng *rng, sample *s, uint32_t v)
{
    const kr_type type = s->columns[v].type;
    for (uint64_t i = 0; i < s->n; ++i) {
        uint64_t bits = 0;
        const uint32_t width = kr_type_nbytes(type);
        memcpy(&bits, (char *)s->bits[v] + i * width, width);
        if (!is_float_type(type) && kr_rng_below(rng, 4))
            put(s, v + 1, i, bits + kr_rng_below(rng, 4));
    }
}

static void check_one(const char *spec, uint32_t n_by, int spread, uint64_t seed)
{
    static sides s;
    static const kr_join_type types[] = {KR_JOIN_INNER, KR_JOIN_SEMI,  KR_JOIN_ANTI,
                                         KR_JOIN_LEFT,  KR_JOIN_RIGHT, KR_JOIN_FULL};
    kr_rng rng = {seed};
    const int before = failures;
    shape of = random_shape(&rng, n_by + 2, spread);
    of.types[n_by + 1] = of.types[n_by];
    of.spreads[n_by + 1] = of.spreads[n_by];
    of.bases[n_by + 1] = of.bases[n_by];
    for (uint32_t j = 0; j < n_by; ++j) /* few groups, so that rows have partners */
        of.spreads[j] = spread == 2 ? 2 : 0;
    random_sample(&rng, &of, LEFT, &s.left);
    random_sample(&rng, &of, RIGHT, &s.right);
    s.n_by = n_by;
    set_ends(&rng, &s.left, n_by);
    set_ends(&rng, &s.right, n_by);
    for (int what = 0; what < 3; ++what) {
        s.ranges = what == 0;
        s.open = what == 2;
        for (int t = 0; t < (s.ranges ? 6 : 4); ++t) {
            check_type(&s, spec, types[t], KR_INVERSE_AUTO);
            if (s.ranges)
                check_type(&s, spec, types[t], t % 2 ? KR_INVERSE_ON : KR_INVERSE_OFF);
        }
    }
    if (failures != before) {
        printf("  %s, %u groups, spread %d, seed %llu; types", spec, n_by, spread, (unsigned long long)seed);
        for (uint32_t j = 0; j < n_by + 2; ++j)
            printf(" %s/%d", kr_type_name(of.types[j]), of.spreads[j]);
        printf("\n");
    }
}

static void check_refused(void)
{
    const uint32_t values[3] = {1, 2, 3};
    const int64_t wide[3] = {1, 2, 3};
    kr_column column = {.type = KR_U32, .count = 3, .data = values}, texts = column, few = column;
    const kr_column other = {.type = KR_I64, .count = 3, .data = wide};
    kr_column many[9];
    kr_join *joined = NULL;
    uint64_t pairs;
    texts.dictionary = 5;
    few.count = 2;
    for (int i = 0; i < 9; ++i)
        many[i] = column;
    kr_join_options options = {
        .struct_size = sizeof options, .left_by = &column, .right_by = &column, .n_by = 1};
#define RANGE kr_join_create_range(device, "best", &column, &column, &column, &options, &joined, &err)
#define OVERLAP \
    kr_join_create_overlap(device, "best", &column, &column, &column, &column, 0, &options, &joined, &err)
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_create(device, "best", &column, &column, &options, &joined, &err));
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_join_create_columns(device, "best", many, many, 2, &options, &joined, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_create_asof(device, "best", &column, &column, NULL, NULL, 0, NULL,
                                                    &options, &joined, &err));
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_join_chunks(device, "best", &column, &column, &column, &options, 0, NULL, NULL, &pairs, &err));
    options.right_by = &texts;
    REFUSED(KR_ERR_TYPE, RANGE);
    REFUSED(KR_ERR_TYPE, OVERLAP);
    options.right_by = &other;
    REFUSED(KR_ERR_TYPE, RANGE);
    options.right_by = &few;
    REFUSED(KR_ERR_ARGUMENT, RANGE);
    REFUSED(KR_ERR_ARGUMENT, OVERLAP);
    options.right_by = NULL;
    REFUSED(KR_ERR_ARGUMENT, RANGE);
    options = (kr_join_options){.struct_size = sizeof options, .left_by = many, .right_by = many, .n_by = 9};
    REFUSED(KR_ERR_LIMIT, RANGE);
    REFUSED(KR_ERR_LIMIT, OVERLAP);
    options.n_by = 8;
    options.reserved_by = 1;
    REFUSED(KR_ERR_ARGUMENT, OVERLAP);
    options.reserved_by = 0;
    WORKS(OVERLAP);
    kr_join_destroy(joined);
    WORKS(RANGE);
    kr_join_destroy(joined);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"best", "array", "btree", "eytzinger"};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    const uint64_t from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t seed = from; seed < from + 90 && failures < 20; ++seed)
        check_one(specs[seed % 4], (uint32_t)(1 + seed % 3), (int)(seed / 3 % 3), seed);
    check_one("best", 6, 2, 400);
    check_refused();
    printf("%llu joins, %llu pairs\n", (unsigned long long)joins, (unsigned long long)all_pairs);
    CHECK(all_pairs > 20 * joins);
    kr_device_close(device);
    return failures != 0;
}
