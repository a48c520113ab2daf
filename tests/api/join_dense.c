/* Joins of sides whose keys lie close together, against a loop over both sides: every type of join, with
 * "best", which looks at the columns, and with "dense" by name; and sides that only look as if they were: one
 * far value, one key, equal keys, NULLs, no rows.
 *
 * Usage: api.join_dense [DEVICE] */
#include "cancel.h"
#include "device_name.h"

enum { MOST = 300, PAIRS = MOST * MOST + 2 * MOST };

static kr_device *device;

/* Numbers below `n`, the same in each run. */
static uint64_t draw(uint64_t n)
{
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

/* ---- Sides ------------------------------------------------------------------------------------ */

typedef enum pattern { FULL, GAPS, REPEATED, EQUAL, FAR, SPREAD, DAYS, ASCENDING, PATTERNS } pattern;
static const char *const names[] = {"full", "gaps",   "repeated", "equal",
                                    "far",  "spread", "days",     "ascending"};

typedef struct side {
    int64_t values[MOST];
    uint64_t data[MOST];
    uint8_t validity[MOST / 8 + 1];
    uint64_t n;
    kr_column column; /* in host memory, or a copy on the device */
    void *copy;
} side;

/* Value number i of n; lowest values are far from 0, and negative where the type has signs. */
static int64_t value_of(kr_type type, pattern p, uint64_t i, uint64_t n)
{
    static const uint64_t gaps[] = {1, 2, 3, 7};
    const uint64_t width = kr_type_nbytes(type), room = width == 1 ? 100 : UINT64_C(1) << (8 * width - 2);
    const int is_signed = type == KR_I16 || type == KR_I32 || type == KR_I64 || type == KR_TIMESTAMP64;
    const int64_t lowest = is_signed ? -(int64_t)(n / 2) : width == 1 ? 3 : 1000;
    switch (p) {
    case FULL: return lowest + (int64_t)i;
    case GAPS: return lowest + (int64_t)(width == 1 ? i : i * gaps[n % 4]);
    case REPEATED: return lowest + (int64_t)draw(n / 4 + 1);
    case EQUAL: return lowest;
    case FAR: return i + 1 == n ? (int64_t)room : lowest + (int64_t)i;
    case SPREAD: return (int64_t)draw(room);
    case DAYS: return width == 8 ? (int64_t)i * 86400000000 - 86400000000 * 20 : lowest + (int64_t)i;
    default: return lowest + (int64_t)i;
    }
}

/* In no order, but for ASCENDING. */
static void shuffle(side *s)
{
    for (uint64_t i = s->n; i > 1; --i) {
        const uint64_t j = draw(i);
        const int64_t value = s->values[i - 1];
        s->values[i - 1] = s->values[j];
        s->values[j] = value;
    }
}

static int is_valid(const side *s, uint64_t i)
{
    return !s->column.validity || (s->validity[i / 8] >> i % 8 & 1);
}

/* `nulls`: every fifth row is NULL, and has a value that lies far from the others. */
static void make_side(side *s, kr_type type, pattern p, uint64_t n, int nulls)
{
    const size_t width = kr_type_nbytes(type);
    const int64_t far = width == 1 ? 255 : width == 2 ? 32767 : INT32_MAX;
    *s = (side){.n = n, .column = {.type = type, .count = n, .data = s->data}};
    s->column.validity = nulls ? s->validity : NULL;
    for (uint64_t i = 0; i < n; ++i)
        s->values[i] = value_of(type, p, i, n);
    if (p != ASCENDING)
        shuffle(s);
    for (uint64_t i = 0; i < n; ++i) {
        if (i % 5 != 3)
            s->validity[i / 8] |= (uint8_t)(1 << i % 8);
        const int64_t value = is_valid(s, i) ? s->values[i] : far;
        memcpy((char *)s->data + i * width, &value, width); /* little-endian */
    }
}

/* Left rows are drawn from the right values, their neighbours, and values of their own. */
static void mix_left(side *left, const side *right)
{
    const size_t width = kr_type_nbytes(left->column.type);
    for (uint64_t i = 0; i < left->n && right->n; ++i) {
        const uint64_t from = draw(right->n), how = draw(6);
        if (left->column.type != KR_U8 && how == 1)
            left->values[i] = right->values[from] + 1;
        else if (how > 1)
            left->values[i] = right->values[from];
        if (is_valid(left, i))
            memcpy((char *)left->data + i * width, &left->values[i], width);
    }
}

static void to_device(side *s)
{
    const uint64_t nbytes = s->n * kr_type_nbytes(s->column.type);
    if (!nbytes)
        return;
    WORKS(kr_memory_allocate(device, nbytes, NULL, &s->copy, &err));
    WORKS(kr_memory_copy(device, s->copy, s->data, nbytes, NULL, &err));
    s->column.data = s->copy;
}

static void free_side(side *s)
{
    if (s->copy)
        kr_memory_release(device, s->copy, s->n * kr_type_nbytes(s->column.type), NULL);
    s->copy = NULL;
    s->column.data = s->data;
}

/* ---- Answers ---------------------------------------------------------------------------------- */

typedef struct pairs {
    uint32_t left[PAIRS], right[PAIRS];
    uint64_t n;
} pairs;

static void add(pairs *to, uint64_t left, uint64_t right)
{
    to->left[to->n] = (uint32_t)left;
    to->right[to->n++] = (uint32_t)right;
}

static int are_equal(const side *a, uint64_t i, const side *b, uint64_t j)
{
    return is_valid(a, i) && is_valid(b, j) && a->values[i] == b->values[j];
}

/* In the order of both rows. */
static void want(const side *left, const side *right, kr_join_type type, pairs *to)
{
    const int has_pairs = type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
    static uint8_t found[MOST];
    memset(found, 0, sizeof found);
    to->n = 0;
    for (uint64_t i = 0; i < left->n; ++i) {
        uint64_t partners = 0;
        for (uint64_t j = 0; j < right->n; ++j)
            if (are_equal(left, i, right, j)) {
                found[j] = 1;
                ++partners;
                if (has_pairs)
                    add(to, i, j);
            }
        if ((type == KR_JOIN_SEMI && partners) || (type == KR_JOIN_ANTI && !partners) ||
            ((type == KR_JOIN_LEFT || type == KR_JOIN_FULL) && !partners))
            add(to, i, KR_NO_ROW);
    }
    for (uint64_t j = 0; j < right->n; ++j)
        if ((type == KR_JOIN_RIGHT || type == KR_JOIN_FULL) && !found[j])
            add(to, KR_NO_ROW, j);
}

static const pairs *sorted_by;
static int is_before(uint32_t a, uint32_t b)
{
    return sorted_by->left[a] != sorted_by->left[b] ? sorted_by->left[a] < sorted_by->left[b]
                                                    : sorted_by->right[a] < sorted_by->right[b];
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return is_before(x, y) ? -1 : is_before(y, x);
}

static void sort_pairs(pairs *p)
{
    static uint32_t order[PAIRS];
    static pairs was;
    was = *p;
    sorted_by = &was;
    for (uint64_t i = 0; i < p->n; ++i)
        order[i] = (uint32_t)i;
    qsort(order, p->n, sizeof *order, compare);
    for (uint64_t i = 0; i < p->n; ++i) {
        p->left[i] = was.left[order[i]];
        p->right[i] = was.right[order[i]];
    }
}

static int collect(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    for (uint64_t i = 0; i < n; ++i)
        add(ctx, left[i], right ? right[i] : KR_NO_ROW);
    return 0;
}

static int are_same(const pairs *a, const pairs *b)
{
    return a->n == b->n && !memcmp(a->left, b->left, a->n * 4) && !memcmp(a->right, b->right, a->n * 4);
}

/* ---- Joins ------------------------------------------------------------------------------------ */

static pairs wanted, joined;

/* 1: the kind named refuses the keys. */
static int is_refused(kr_status status, const char *spec, const kr_error *error)
{
    return status == KR_ERR_LIMIT && !strncmp(spec, "dense", 5) && strstr(error->text, "use kind pivot");
}

static void check_join(const char *spec, const side *left, const side *right, const kr_join_options *options,
                       const char *what, char kind[KR_SPEC_NBYTES])
{
    kr_join *join = NULL;
    kr_error error = {0};
    kr_join_info info = {.struct_size = sizeof info};
    const kr_status status =
        kr_join_create(device, spec, &left->column, &right->column, options, &join, &error);
    if (is_refused(status, spec, &error))
        return;
    CHECK(status == KR_OK);
    if (join)
        WORKS(kr_join_query(join, &info, &err));
    joined.n = info.pairs;
    memset(joined.right, 0xFF, joined.n * 4);
    if (join && joined.n < PAIRS)
        WORKS(kr_join_read(join, 0, joined.n, joined.left, joined.right, &err));
    kr_join_destroy(join);
    if (options->unordered)
        sort_pairs(&joined);
    if (!are_same(&wanted, &joined)) {
        ++failures;
        printf("FAILED %s, %s, type %d, inverse %d, unordered %u: %llu rows, %llu wanted; %s, %s indexed\n",
               what, spec, options->type, options->inverse, options->unordered, (unsigned long long)joined.n,
               (unsigned long long)wanted.n, info.spec, info.indexed);
    }
    if (strcmp(info.indexed, "none"))
        memcpy(kind, info.spec, KR_SPEC_NBYTES);
}

static void check_chunks(const char *spec, const side *left, const side *right,
                         const kr_join_options *options, const char *what)
{
    kr_error error = {0};
    uint64_t n = 0;
    joined.n = 0;
    const kr_status status = kr_join_chunks(device, spec, &left->column, &right->column, NULL, options, 800,
                                            collect, &joined, &n, &error);
    if (is_refused(status, spec, &error))
        return;
    CHECK(status == KR_OK);
    sort_pairs(&joined);
    if (n != wanted.n || !are_same(&wanted, &joined)) {
        ++failures;
        printf("FAILED %s, %s, chunks of type %d, inverse %d: %llu rows, %llu wanted\n", what, spec,
               options->type, options->inverse, (unsigned long long)n, (unsigned long long)wanted.n);
    }
}

static void check_sums(const char *spec, const side *left, const side *right, kr_join_inverse inverse,
                       const char *what)
{
    static uint64_t counts[MOST];
    const kr_join_options options = {.struct_size = sizeof options, .inverse = inverse};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_error error = {0};
    uint64_t wrong = 0;
    const kr_status status =
        kr_join_sums(device, spec, &left->column, &right->column, &options, &sink, NULL, &error);
    if (is_refused(status, spec, &error))
        return;
    CHECK(status == KR_OK);
    for (uint64_t i = 0; i < left->n; ++i) {
        for (uint64_t j = 0; j < right->n; ++j)
            counts[i] -= (uint64_t)are_equal(left, i, right, j);
        wrong += counts[i] != 0;
    }
    if (wrong) {
        ++failures;
        printf("FAILED %s, %s, sums, inverse %d: %llu counts\n", what, spec, inverse,
               (unsigned long long)wrong);
    }
}

/* `kind`: becomes what AUTO took last. */
static void check_sides(const char *spec, const side *left, const side *right, const char *what,
                        char kind[KR_SPEC_NBYTES])
{
    static char other[KR_SPEC_NBYTES];
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type) {
        want(left, right, (kr_join_type)type, &wanted);
        for (int how = 0; how < 6; ++how) {
            const kr_join_options options = {.struct_size = sizeof options,
                                             .type = (kr_join_type)type,
                                             .inverse = (kr_join_inverse)(how % 3),
                                             .unordered = (uint32_t)how / 3};
            check_join(spec, left, right, &options, what, how % 3 ? other : kind);
            if (how < 3)
                check_chunks(spec, left, right, &options, what);
        }
    }
    for (int inverse = KR_INVERSE_AUTO; inverse <= KR_INVERSE_OFF; ++inverse)
        check_sums(spec, left, right, (kr_join_inverse)inverse, what);
}

/* Sides of all sizes. Best must take dense for keys that are close together, and for no others. */
static void check_pattern(kr_type type, pattern p)
{
    static const uint64_t sizes[][2] = {{300, 60}, {60, 200}, {65, 1}, {1, 70}, {0, 50}, {50, 0}, {129, 129}};
    static side left, right;
    for (uint64_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; ++i) {
        const uint64_t *size = sizes[i / 2];
        char what[96], kind[KR_SPEC_NBYTES] = "";
        make_side(&right, type, p, kr_type_nbytes(type) == 1 && size[1] > 99 ? 99 : size[1], (int)i % 2);
        make_side(&left, type, p, kr_type_nbytes(type) == 1 && size[0] > 99 ? 99 : size[0], (int)(i / 2) % 2);
        mix_left(&left, &right);
        if (i % 4 < 2) {
            to_device(&left);
            to_device(&right);
        }
        snprintf(what, sizeof what, "%s of %s, %llu by %llu%s", names[p], kr_type_name(type),
                 (unsigned long long)left.n, (unsigned long long)right.n, i % 2 ? ", NULLs" : "");
        check_sides("best", &left, &right, what, kind);
        if (i < 2 && p != ASCENDING)
            CHECK(!strncmp(kind, "dense:", 6) ==
                  (p != FAR && p != SPREAD && (p != DAYS || kr_type_nbytes(type) < 8)));
        check_sides("dense", &left, &right, what, kind);
        free_side(&left);
        free_side(&right);
    }
}

/* ---- Many rows -------------------------------------------------------------------------------- */

/* The right side is the one that is indexed: multiples of `gap`, each once. */
static kr_status join_many(kr_join_type type, uint64_t n_left, uint64_t n_right, uint32_t gap,
                           const char *spec, char *kind)
{
    const kr_join_options options = {.struct_size = sizeof options, .type = type, .inverse = KR_INVERSE_OFF};
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *join = NULL;
    uint32_t *numbers = calloc(n_right, sizeof *numbers);
    kr_status status = KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; numbers && i < n_right; ++i)
        numbers[i] = (uint32_t)(i * 2654435761u % n_right * gap);
    const kr_column right = {.type = KR_U32, .count = n_right, .data = numbers},
                    left = {.type = KR_U32, .count = n_left, .data = numbers};
    if (numbers)
        status = kr_join_create(device, spec, &left, &right, &options, &join, NULL);
    if (status == KR_OK) {
        WORKS(kr_join_query(join, &info, &err));
        CHECK(info.pairs == (type == KR_JOIN_ANTI ? 0 : n_left));
        memcpy(kind, info.spec, sizeof info.spec);
    }
    kr_join_destroy(join);
    free(numbers);
    return status;
}

/* On a CPU the build of bits takes longer than few lookups gain; a GPU builds nothing faster. */
static void check_few_lookups(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    char kind[KR_SPEC_NBYTES] = "";
    WORKS(kr_device_query(device, &info, &err));
    WORKS(join_many(KR_JOIN_INNER, 20000, 20000, 3, "best", kind));
    CHECK(strncmp(kind, "dense", 5) == 0);
    WORKS(join_many(KR_JOIN_INNER, 5000, 20000, 3, "best", kind));
    CHECK((strncmp(kind, "dense", 5) == 0) == (strncmp(info.name, "cuda", 4) == 0));
    WORKS(join_many(KR_JOIN_INNER, 5000, 20000, 3, "best:lookups=20000", kind));
    CHECK(strncmp(kind, "dense", 5) == 0);
}

/* Values far apart whose steps are not: they are addressed, and make no bits for semi and anti joins. */
static void check_steps(void)
{
    static const kr_join_type types[] = {KR_JOIN_INNER, KR_JOIN_LEFT, KR_JOIN_SEMI, KR_JOIN_ANTI};
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
        char kind[KR_SPEC_NBYTES] = "";
        WORKS(join_many(types[t], 20000, 20000, 70000, "best", kind));
        CHECK(strncmp(kind, "dense", 5) == 0);
    }
}

/* Bits of many rows can be cancelled at each call, and leave nothing behind. */
static void check_cancelled(void)
{
    enum { ROWS = (1 << 22) + 5000 };
    char kind[KR_SPEC_NBYTES];
    kr_device *own = NULL, *other = device;
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 1, .progress = {.call = cancel}};
    WORKS(kr_device_open("cpu", &options, &own, &err));
    device = own;
    kr_status status = KR_ERR_CANCELLED;
    for (uint64_t n = 1; own && status == KR_ERR_CANCELLED && n < 100; ++n) {
        calls = 0;
        cancel_at = n;
        status = join_many(KR_JOIN_SEMI, 1000, ROWS, 3, "dense", kind);
        CHECK(status == (calls >= n ? KR_ERR_CANCELLED : KR_OK));
    }
    CHECK(status == KR_OK && calls > 0);
    device = other;
    kr_device_close(own);
}

int main(int argc, char **argv)
{
    static const kr_type types[] = {KR_U8, KR_I16, KR_U32, KR_I32, KR_U64, KR_TIMESTAMP64};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        for (int p = 0; p < PATTERNS; ++p)
            if (types[t] != KR_U8 || (p != FAR && p != SPREAD))
                check_pattern(types[t], (pattern)p);
    check_few_lookups();
    check_steps();
    if (strcmp(device_name, "cpu") == 0)
        check_cancelled();
    kr_device_close(device);
    return failures != 0;
}
