/* Joins of columns of texts, of each type and in host and device memory, against a comparison of all pairs by
 * their bytes. */
#include "../support/texts.h"
#include "device_name.h"

static kr_device *device;
static uint64_t all_pairs, joins;

enum { LEFT = 70, RIGHT = 61, PAIRS = LEFT * RIGHT + LEFT + RIGHT };
/* Columns of a side: a group, two values that are texts, two that are numbers. */
enum { GROUP, FROM, TO, TEXTS };

typedef struct side {
    uint32_t n;
    text_set *texts[TEXTS];
    made columns[TEXTS];
    uint32_t numbers[2][LEFT];
    array placed[2];
    kr_column plain[2];
} side;

static side left, right;

/* What is joined. */
typedef enum sort { EQUAL, COLUMNS, RANGES, INTERVALS, TEXT_INTERVALS, ASOF, TEXT_ASOF, SORTS } sort;

typedef struct asked {
    sort what;
    int by; /* 1: with groups */
    int open;
    kr_nearest_options near;
} asked;

/* ---- Random sides ------------------------------------------------------------------------------- */

static void add_random(kr_rng *rng, text_set *s, int few)
{
    static const char *const heads[] = {"", "", "https://example.com/", "https://example.com/item/0000", "Z"};
    static const uint8_t letters[] = {0, 'a', 'b', 0x7F, 0x80, 0xFF};
    uint8_t text[80];
    const char *head = heads[few ? kr_rng_below(rng, 2) + 2 : kr_rng_below(rng, 5)];
    uint64_t n = strlen(head);
    memcpy(text, head, n);
    for (uint64_t more = kr_rng_below(rng, few ? 2 : 4); more; --more)
        text[n++] = letters[kr_rng_below(rng, few ? 2 : 6)];
    add(s, text, n);
}

static void fill(kr_rng *rng, side *s, uint32_t n)
{
    s->n = n;
    for (int c = 0; c < TEXTS; ++c) {
        clear(s->texts[c]);
        for (uint32_t i = 0; i < n; ++i)
            add_random(rng, s->texts[c], c == GROUP);
        s->texts[c]->nulls = kr_rng_below(rng, 2) ? 7 + (uint32_t)kr_rng_below(rng, 9) : 0;
        make_column(s->texts[c], (kr_type)(KR_STRING + kr_rng_below(rng, 6)),
                    kr_rng_below(rng, 2) ? device : NULL, &s->columns[c]);
    }
    for (uint32_t i = 0; i < n; ++i) {
        s->numbers[0][i] = (uint32_t)kr_rng_below(rng, 40);
        s->numbers[1][i] = s->numbers[0][i] + (uint32_t)kr_rng_below(rng, 5);
    }
    for (int c = 0; c < 2; ++c) {
        s->placed[c] = make_array(kr_rng_below(rng, 2) ? device : NULL, s->numbers[c], n * 4ull);
        s->plain[c] = (kr_column){.type = KR_U32, .count = n, .data = s->placed[c].data};
    }
}

static void empty(side *s)
{
    for (int c = 0; c < TEXTS; ++c)
        free_column(&s->columns[c]);
    for (int c = 0; c < 2; ++c)
        free_array(&s->placed[c]);
}

/* ---- What is a pair ----------------------------------------------------------------------------- */

/* 1: neither is NULL; *order: how they compare. */
static int compare(const text_set *a, uint32_t i, const text_set *b, uint32_t j, int *order)
{
    uint64_t n, m;
    const uint8_t *x = text_of(a, i, &n), *y = text_of(b, j, &m);
    *order = compare_texts(x, n, y, m);
    return !is_null(a, i) && !is_null(b, j);
}

static int are_equal(int c, uint32_t i, uint32_t j)
{
    int order;
    return compare(left.texts[c], i, right.texts[c], j, &order) && order == 0;
}

/* a[i] <= b[j], or < if `strict`; not so for NULL. */
static int is_below(const text_set *a, uint32_t i, const text_set *b, uint32_t j, int strict)
{
    int order;
    return compare(a, i, b, j, &order) && order <= (strict ? -1 : 0);
}

static int are_partners(const asked *q, uint32_t i, uint32_t j)
{
    text_set *const *l = left.texts, *const *r = right.texts;
    if (q->by && !are_equal(GROUP, i, j))
        return 0;
    switch (q->what) {
    case EQUAL: return are_equal(FROM, i, j);
    case COLUMNS:
        return are_equal(GROUP, i, j) && are_equal(FROM, i, j) &&
               left.numbers[0][i] / 20 == right.numbers[0][j] / 20;
    case RANGES: return is_below(r[FROM], j, l[FROM], i, 0) && is_below(l[FROM], i, r[TO], j, 0);
    case INTERVALS:
        if (q->open)
            return left.numbers[0][i] < right.numbers[1][j] && right.numbers[0][j] < left.numbers[1][i] &&
                   left.numbers[0][i] < left.numbers[1][i] && right.numbers[0][j] < right.numbers[1][j];
        return left.numbers[0][i] <= right.numbers[1][j] && right.numbers[0][j] <= left.numbers[1][i];
    default:
        return is_below(l[FROM], i, l[TO], i, q->open) && is_below(r[FROM], j, r[TO], j, q->open) &&
               is_below(l[FROM], i, r[TO], j, q->open) && is_below(r[FROM], j, l[TO], i, q->open);
    }
}

/* How the values of right rows a and b compare. */
static int compare_times(const asked *q, uint32_t a, uint32_t b)
{
    int order;
    if (q->what == ASOF)
        return (right.numbers[0][a] > right.numbers[0][b]) - (right.numbers[0][a] < right.numbers[0][b]);
    (void)compare(right.texts[FROM], a, right.texts[FROM], b, &order);
    return order;
}

static int may_answer(const asked *q, uint32_t i, uint32_t j)
{
    const int strict = q->near.strict != 0, below = q->near.side != KR_NEAREST_ABOVE;
    const uint32_t x = left.numbers[0][i], y = right.numbers[0][j];
    if (q->by && !are_equal(GROUP, i, j))
        return 0;
    if (q->what == ASOF)
        return below ? y < x || (!strict && y == x) : y > x || (!strict && y == x);
    return below ? is_below(right.texts[FROM], j, left.texts[FROM], i, strict)
                 : is_below(left.texts[FROM], i, right.texts[FROM], j, strict);
}

/* The right row of an as-of join, or RIGHT. */
static uint32_t nearest(const asked *q, uint32_t i)
{
    const int below = q->near.side != KR_NEAREST_ABOVE;
    uint32_t best = RIGHT;
    for (uint32_t j = 0; j < RIGHT; ++j) {
        if (!may_answer(q, i, j))
            continue;
        const int order = best == RIGHT ? 0 : compare_times(q, j, best);
        if (best == RIGHT || (below ? order >= 0 : order < 0))
            best = j;
    }
    return best;
}

static int is_pair(const asked *q, uint32_t i, uint32_t j, uint32_t found)
{
    return q->what >= ASOF ? j == found : are_partners(q, i, j);
}

static uint64_t want(const asked *q, kr_join_type type, uint32_t *l, uint32_t *r)
{
    uint8_t has[RIGHT] = {0};
    uint64_t n = 0;
    for (uint32_t i = 0; i < LEFT; ++i) {
        const uint32_t found = q->what >= ASOF ? nearest(q, i) : RIGHT;
        int any = 0;
        for (uint32_t j = 0; j < RIGHT; ++j) {
            if (!is_pair(q, i, j, found))
                continue;
            any = has[j] = 1;
            if (type != KR_JOIN_SEMI && type != KR_JOIN_ANTI) {
                l[n] = i;
                r[n++] = j;
            }
        }
        if ((type == KR_JOIN_SEMI && any) ||
            ((type == KR_JOIN_ANTI || type == KR_JOIN_LEFT || type == KR_JOIN_FULL) && !any)) {
            l[n] = i;
            r[n++] = KR_NO_ROW;
        }
    }
    for (uint32_t j = 0; j < RIGHT; ++j)
        if ((type == KR_JOIN_RIGHT || type == KR_JOIN_FULL) && !has[j]) {
            l[n] = KR_NO_ROW;
            r[n++] = j;
        }
    return n;
}

/* ---- Joins -------------------------------------------------------------------------------------- */

static kr_status create(const asked *q, const char *spec, const kr_join_options *options, kr_join **join,
                        kr_error *e)
{
    made *l = left.columns, *r = right.columns;
    const kr_interval_ends ends = q->open ? KR_ENDS_OPEN : KR_ENDS_CLOSED;
    uint32_t halves[2][LEFT];
    for (uint32_t i = 0; i < LEFT; ++i)
        halves[0][i] = left.numbers[0][i] / 20;
    for (uint32_t j = 0; j < RIGHT; ++j)
        halves[1][j] = right.numbers[0][j] / 20;
    const kr_column columns[2][3] = {
        {l[GROUP].column, {.type = KR_U32, .count = LEFT, .data = halves[0]}, l[FROM].column},
        {r[GROUP].column, {.type = KR_U32, .count = RIGHT, .data = halves[1]}, r[FROM].column}};
    switch (q->what) {
    case EQUAL: return kr_join_create(device, spec, &l[FROM].column, &r[FROM].column, options, join, e);
    case COLUMNS: return kr_join_create_columns(device, spec, columns[0], columns[1], 3, options, join, e);
    case RANGES:
        return kr_join_create_range(device, spec, &l[FROM].column, &r[FROM].column, &r[TO].column, options,
                                    join, e);
    case INTERVALS:
        return kr_join_create_overlap(device, spec, &left.plain[0], &left.plain[1], &right.plain[0],
                                      &right.plain[1], ends, options, join, e);
    case TEXT_INTERVALS:
        return kr_join_create_overlap(device, spec, &l[FROM].column, &l[TO].column, &r[FROM].column,
                                      &r[TO].column, ends, options, join, e);
    default:
        return kr_join_create_asof(device, spec, q->what == ASOF ? &left.plain[0] : &l[FROM].column,
                                   q->what == ASOF ? &right.plain[0] : &r[FROM].column, &l[GROUP].column,
                                   &r[GROUP].column, q->by ? 1 : 0, &q->near, options, join, e);
    }
}

static int by_pair(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void sort_pairs(uint32_t *l, uint32_t *r, uint64_t n)
{
    static uint64_t pairs[PAIRS];
    for (uint64_t i = 0; i < n; ++i)
        pairs[i] = (uint64_t)l[i] << 32 | r[i];
    qsort(pairs, n, sizeof *pairs, by_pair);
    for (uint64_t i = 0; i < n; ++i) {
        l[i] = (uint32_t)(pairs[i] >> 32);
        r[i] = (uint32_t)pairs[i];
    }
}

static void check(const asked *q, const char *spec, kr_join_type type, kr_join_inverse inverse, int unordered)
{
    static uint32_t l[PAIRS], r[PAIRS], found_l[PAIRS], found_r[PAIRS];
    kr_join_options options = {
        .struct_size = sizeof options, .type = type, .inverse = inverse, .unordered = (uint32_t)unordered};
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *join = NULL;
    if (q->by && q->what < ASOF) {
        options.left_by = &left.columns[GROUP].column;
        options.right_by = &right.columns[GROUP].column;
        options.n_by = 1;
    }
    WORKS(create(q, spec, &options, &join, &err));
    if (!join)
        return;
    const uint64_t n = want(q, type, l, r);
    const int has_right = type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs == n && info.peak_nbytes > 0);
    all_pairs += n;
    ++joins;
    if (info.pairs == n) {
        WORKS(kr_join_read(join, 0, n, found_l, found_r, &err));
        if (unordered && has_right) {
            sort_pairs(l, r, n);
            sort_pairs(found_l, found_r, n);
        }
        CHECK(memcmp(l, found_l, n * sizeof *l) == 0);
        CHECK(!has_right || memcmp(r, found_r, n * sizeof *r) == 0);
    }
    kr_join_destroy(join);
}

/* With an index of the right texts: values that equal them, or ranges that hold them. */
static void check_index(const char *spec, int is_ordered)
{
    static uint32_t l[PAIRS], r[PAIRS], found_l[PAIRS], found_r[PAIRS];
    kr_index *index = NULL;
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    WORKS(kr_index_create(device, spec, &right.columns[FROM].column, NULL, NULL, &index, &err));
    for (int ranges = 0; ranges < 1 + is_ordered; ++ranges) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < LEFT; ++i)
            for (uint32_t j = 0; j < RIGHT; ++j)
                if (ranges ? is_below(left.texts[FROM], i, right.texts[FROM], j, 0) &&
                                 is_below(right.texts[FROM], j, left.texts[TO], i, 0)
                           : are_equal(FROM, i, j)) {
                    l[n] = i;
                    r[n++] = j;
                }
        WORKS(kr_join_create_prepared(index, &left.columns[FROM].column,
                                      ranges ? &left.columns[TO].column : NULL, NULL, &join, &err));
        WORKS(kr_join_query(join, &info, &err));
        CHECK(info.pairs == n);
        if (info.pairs == n) {
            WORKS(kr_join_read(join, 0, n, found_l, found_r, &err));
            CHECK(memcmp(l, found_l, n * sizeof *l) == 0 && memcmp(r, found_r, n * sizeof *r) == 0);
        }
        kr_join_destroy(join);
    }
    REFUSED(KR_ERR_TYPE, kr_join_create_prepared(index, &left.plain[0], NULL, NULL, &join, &err));
    kr_index_destroy(index);
}

static int count_chunk(void *ctx, uint64_t n, const uint32_t *left_rows, const uint32_t *right_rows)
{
    CHECK(left_rows && right_rows);
    *(uint64_t *)ctx += n;
    return 0;
}

/* Pairs in chunks, counted, and added up for each left row. */
static void check_numbers(const char *spec, const asked *q)
{
    static uint32_t l[PAIRS], r[PAIRS];
    uint64_t sums[LEFT], wanted[LEFT] = {0}, pairs = 0, handed = 0;
    const made *a = left.columns, *b = right.columns;
    const kr_column *upper = q->what == RANGES ? &b[TO].column : NULL;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = sums};
    const uint64_t n = want(q, KR_JOIN_INNER, l, r);
    for (uint64_t i = 0; i < n; ++i)
        ++wanted[l[i]];
    if (q->what == TEXT_INTERVALS) {
        WORKS(kr_join_overlap_chunks(device, spec, &a[FROM].column, &a[TO].column, &b[FROM].column,
                                     &b[TO].column, q->open ? KR_ENDS_OPEN : KR_ENDS_CLOSED, 80, count_chunk,
                                     &handed, &pairs, &err));
        CHECK(pairs == n && handed == n);
        return;
    }
    WORKS(kr_join_chunks(device, spec, &a[FROM].column, &b[FROM].column, upper, NULL, 0, NULL, NULL, &pairs,
                         &err));
    CHECK(pairs == n);
    WORKS(kr_join_chunks(device, spec, &a[FROM].column, &b[FROM].column, upper, NULL, 80, count_chunk,
                         &handed, &pairs, &err));
    CHECK(pairs == n && handed == n);
    if (q->what == RANGES)
        return;
    for (int inverse = KR_INVERSE_AUTO; inverse <= KR_INVERSE_OFF; ++inverse) {
        const kr_join_options options = {.struct_size = sizeof options, .inverse = (kr_join_inverse)inverse};
        WORKS(kr_join_sums(device, spec, &a[FROM].column, &b[FROM].column, &options, &sink, NULL, &err));
        CHECK(memcmp(sums, wanted, sizeof sums) == 0);
    }
}

static void check_sort(const char *spec, const asked *q)
{
    static const kr_join_type types[] = {KR_JOIN_INNER, KR_JOIN_SEMI,  KR_JOIN_ANTI,
                                         KR_JOIN_LEFT,  KR_JOIN_RIGHT, KR_JOIN_FULL};
    const int turns = q->what == EQUAL || q->what == RANGES;
    for (int t = 0; t < (q->what <= RANGES ? 6 : 4); ++t) {
        check(q, spec, types[t], KR_INVERSE_AUTO, 0);
        if (turns) {
            check(q, spec, types[t], KR_INVERSE_ON, t % 2);
            check(q, spec, types[t], KR_INVERSE_OFF, !(t % 2));
        }
    }
    if (!q->by && (turns || q->what == TEXT_INTERVALS))
        check_numbers(spec, q);
}

static void check_one(const char *spec, int is_ordered, uint64_t seed)
{
    kr_rng rng = {seed};
    fill(&rng, &left, LEFT);
    fill(&rng, &right, RIGHT);
    for (sort what = EQUAL; what < SORTS; ++what)
        for (int by = 0; by < 2 && (is_ordered || what <= COLUMNS); ++by)
            for (int way = 0; way < (what <= RANGES ? 1 : what < ASOF ? 2 : 4); ++way) {
                if (by && what <= COLUMNS)
                    continue;
                const int before = failures;
                const asked q = {.what = what,
                                 .by = by,
                                 .open = way & 1,
                                 .near = {.struct_size = sizeof q.near,
                                          .side = way & 2 ? KR_NEAREST_ABOVE : KR_NEAREST_BELOW,
                                          .strict = (uint32_t)(way & 1)}};
                check_sort(spec, &q);
                if (failures != before)
                    printf("  %s, sort %d, groups %d, way %d, seed %llu\n", spec, what, by, way,
                           (unsigned long long)seed);
            }
    check_index(spec, is_ordered);
    empty(&left);
    empty(&right);
}

/* ---- What is refused ------------------------------------------------------------------------------ */

static void check_refused(void)
{
    kr_rng rng = {5};
    kr_join *join = NULL;
    uint64_t pairs;
    fill(&rng, &left, LEFT);
    fill(&rng, &right, RIGHT);
    kr_column *text = &left.columns[FROM].column, *other = &right.columns[FROM].column;
    kr_column number = right.plain[0], codes = number, broken = *other;
    const int32_t offsets[3] = {0, 9, 1};
    const kr_nearest_options either = {.struct_size = sizeof either, .side = KR_NEAREST_EITHER},
                             near = {.struct_size = sizeof near, .limited = 1, .tolerance = 1};
    codes.dictionary = 7;
    broken =
        (kr_column){.type = KR_STRING, .count = 2, .data = offsets, .reserved_words = {(uintptr_t) "abc", 3}};
    kr_error said = {0};
    CHECK(kr_join_create(device, "best", text, &number, NULL, &join, &said) == KR_ERR_TYPE);
    CHECK(strstr(said.text, "give texts on both sides"));
    REFUSED(KR_ERR_TYPE, kr_join_create(device, "best", &codes, text, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_columns(device, "best", text, &number, 1, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE,
            kr_join_create_asof(device, "best", text, &number, NULL, NULL, 0, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_overlap(device, "best", text, text, other, &number, KR_ENDS_CLOSED,
                                                NULL, &join, &err));
    REFUSED(KR_ERR_TYPE,
            kr_join_chunks(device, "best", text, &number, NULL, NULL, 0, NULL, NULL, &pairs, &err));
    CHECK(kr_join_create(device, "best", text, &broken, NULL, &join, &said) == KR_ERR_ARGUMENT);
    CHECK(strstr(said.text, "the right side, row"));
    kr_column starts = *other;
    starts.count = broken.count;
    CHECK(kr_join_create_overlap(device, "best", text, text, &starts, &broken, KR_ENDS_CLOSED, NULL, &join,
                                 &said) == KR_ERR_ARGUMENT);
    CHECK(strstr(said.text, "the right ends, row"));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_range(device, "best", text, &broken, &broken, NULL, &join, &err));
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_join_create_asof(device, "best", text, other, NULL, NULL, 0, &either, NULL, &join, &err));
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_join_create_asof(device, "best", text, other, NULL, NULL, 0, &near, NULL, &join, &err));
    CHECK(kr_join_create_asof(device, "best", text, text, text, text, 1, &near, NULL, &join, &said) ==
          KR_ERR_UNSUPPORTED);
    CHECK(strstr(said.text, "no distances") && strstr(said.text, "tolerance") &&
          strstr(said.text, "limited"));
    CHECK(kr_join_create_asof(device, "best", text, text, text, text, 1, &either, NULL, &join, &said) ==
          KR_ERR_UNSUPPORTED);
    CHECK(strstr(said.text, "KR_NEAREST_EITHER"));
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_join_create_asof(device, "best", &codes, &codes, NULL, NULL, 0, &near, NULL, &join, &err));
    WORKS(kr_join_create_asof(device, "best", &codes, &codes, NULL, NULL, 0, NULL, NULL, &join, &err));
    kr_join_destroy(join);
    WORKS(kr_join_create_asof(device, "best", &number, &number, other, other, 1, &near, NULL, &join, &err));
    kr_join_destroy(join); /* texts as groups, and times that are numbers */
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_create_range(device, "hash", text, other, other, NULL, &join, &err));
    text->dictionary = 3;
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "best", text, other, NULL, &join, &err));
    text->dictionary = 0;
    empty(&left);
    empty(&right);
}

/* Sides without rows. */
static void check_empty(void)
{
    const int32_t zero = 0;
    const kr_column none = {.type = KR_STRING, .data = &zero};
    kr_rng rng = {6};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    const kr_join_options full = {.struct_size = sizeof full, .type = KR_JOIN_FULL};
    fill(&rng, &left, LEFT);
    fill(&rng, &right, RIGHT);
    const kr_column *text = &left.columns[FROM].column;
    const kr_column *const sides[3][2] = {{text, &none}, {&none, text}, {&none, &none}};
    for (int i = 0; i < 6; ++i) {
        if (i < 3)
            WORKS(kr_join_create(device, "best", sides[i][0], sides[i][1], &full, &join, &err));
        else
            WORKS(kr_join_create_range(device, "best", sides[i - 3][0], sides[i - 3][1], sides[i - 3][1],
                                       &full, &join, &err));
        if (!join)
            continue;
        WORKS(kr_join_query(join, &info, &err));
        CHECK(info.pairs == (i % 3 < 2 ? LEFT : 0));
        kr_join_destroy(join);
        join = NULL;
    }
    empty(&left);
    empty(&right);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"best", "btree", "array", "hash", "eytzinger", "chain"};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (int c = 0; c < TEXTS; ++c) {
        left.texts[c] = calloc(1, sizeof(text_set));
        right.texts[c] = calloc(1, sizeof(text_set));
    }
    const uint64_t from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t seed = from; seed < from + 24 && failures < 20; ++seed)
        check_one(specs[seed % 6], seed % 6 != 3 && seed % 6 != 5, seed);
    check_refused();
    check_empty();
    printf("%llu joins, %llu pairs\n", (unsigned long long)joins, (unsigned long long)all_pairs);
    CHECK(all_pairs > 20 * joins);
    for (int c = 0; c < TEXTS; ++c) {
        free(left.texts[c]);
        free(right.texts[c]);
    }
    kr_device_close(device);
    return failures != 0;
}
