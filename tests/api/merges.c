/* Joins of sides that ascend, or of which the left one does, which CPUs merge: the same pairs as through an
 * index, in every instruction set. The conformance suite has small sides, against nested loops. */
#include "check.h"

#include <math.h>

static kr_device *device;

enum { MOST = 200000 };

/* How a column ascends: keys differ by 0 (with `again` in 16 chances) or by up to `gap`. */
typedef struct shape {
    uint64_t n;
    uint32_t again, gap;
} shape;

static uint64_t state = 42;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static const kr_type types[] = {KR_U8, KR_I16, KR_U32, KR_I32, KR_F32, KR_U64, KR_I64, KR_F64};
enum { TYPES = sizeof types / sizeof types[0] };

/* Row i := the number-th value of the type, from the lowest on; past the highest it stays there. The highest
 * float is NaN. */
static void put(kr_type type, void *data, uint64_t i, uint64_t number)
{
    const int64_t n = number < MOST ? (int64_t)number : MOST;
    switch (type) {
    case KR_U8: ((uint8_t *)data)[i] = (uint8_t)(n < 255 ? n : 255); break;
    case KR_I16: ((int16_t *)data)[i] = (int16_t)(n < 65535 ? n - 32768 : 32767); break;
    case KR_U32: ((uint32_t *)data)[i] = n < MOST ? (uint32_t)n : UINT32_MAX; break;
    case KR_I32: ((int32_t *)data)[i] = n < MOST ? (int32_t)n - 500 : INT32_MAX; break;
    case KR_F32: ((float *)data)[i] = n < MOST ? (float)(n - 500) / 4 : NAN; break;
    case KR_U64: ((uint64_t *)data)[i] = n < MOST ? (uint64_t)n << 40 : UINT64_MAX; break;
    case KR_I64: ((int64_t *)data)[i] = n < MOST ? (n - 500) * 5000000000 : INT64_MAX; break;
    default: ((double *)data)[i] = n < MOST ? (double)(n - 500) / 4 : (double)NAN; break;
    }
}

static kr_column make(kr_type type, const shape *s)
{
    const kr_column column = {.type = type, .count = s->n, .data = malloc(s->n * 8 + 1)};
    uint64_t number = random_below(3);
    for (uint64_t i = 0; i < s->n; ++i) {
        number += random_below(16) < s->again ? 0 : 1 + random_below(s->gap);
        put(type, (void *)column.data, i, number);
    }
    return column;
}

/* ---- The same pairs ----------------------------------------------------------------------------- */

typedef struct pairs {
    uint64_t n;
    uint32_t *left, *right;
    char indexed[8];
} pairs;

static pairs join(const kr_column *left, const kr_column *lower, const kr_column *upper,
                  const kr_join_options *options)
{
    pairs found = {0};
    kr_join *joined = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    if (upper)
        WORKS(kr_join_create_range(device, "array", left, lower, upper, options, &joined, &err));
    else
        WORKS(kr_join_create(device, "array", left, lower, options, &joined, &err));
    WORKS(kr_join_query(joined, &info, &err));
    found.n = info.pairs;
    found.left = calloc(found.n + 1, sizeof *found.left);
    found.right = calloc(found.n + 1, sizeof *found.right);
    memcpy(found.indexed, info.indexed, sizeof found.indexed);
    WORKS(kr_join_read(joined, 0, found.n, found.left, found.right, &err));
    if (!strcmp(info.indexed, "none")) {
        CHECK(!strcmp(info.tracer, "none") && !info.footprint_nbytes && info.spec[0] && info.device[0]);
        CHECK(info.peak_nbytes <= 16 * info.pairs + 8 * left->count + 40 * lower->count + 65536);
    }
    kr_join_destroy(joined);
    return found;
}

static int differ(const pairs *a, const pairs *b)
{
    return a->n != b->n || memcmp(a->left, b->left, a->n * sizeof *a->left) != 0 ||
           memcmp(a->right, b->right, a->n * sizeof *a->right) != 0;
}

static void release(pairs *p)
{
    free(p->left);
    free(p->right);
}

/* All types of joins, by a merge if `merges`, and through an index. */
static void compare(const kr_column *left, const kr_column *lower, const kr_column *upper, int merges)
{
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type) {
        kr_join_options options = {.struct_size = sizeof options, .type = (kr_join_type)type};
        pairs merged = join(left, lower, upper, &options);
        options.inverse = upper ? KR_INVERSE_ON : KR_INVERSE_OFF;
        pairs probed = join(left, lower, upper, &options);
        const int as_asked = !strcmp(merged.indexed, "none") == (merges && type <= KR_JOIN_LEFT);
        const int same = !differ(&merged, &probed);
        CHECK(as_asked && same && strcmp(probed.indexed, "none") != 0);
        if (!as_asked || !same)
            printf("  %s, type %d, %llu and %llu rows: %s indexed, %llu pairs, not %llu\n",
                   kr_type_name(left->type), type, (unsigned long long)left->count,
                   (unsigned long long)lower->count, merged.indexed, (unsigned long long)merged.n,
                   (unsigned long long)probed.n);
        release(&merged);
        release(&probed);
    }
}

static void release_column(const kr_column *column)
{
    free((void *)column->data);
}

static void agree(void)
{
    static const shape sides[][2] = {
        {{0, 0, 1}, {5, 0, 1}},           {{5, 0, 1}, {0, 0, 1}},        {{1, 0, 1}, {1, 0, 1}},
        {{17, 0, 1}, {15, 4, 2}},         {{MOST, 0, 1}, {MOST, 0, 1}},  {{30000, 0, 3}, {30000, 0, 3}},
        {{30000, 8, 2}, {30000, 8, 2}},   {{40000, 15, 2}, {900, 0, 3}}, {{200, 0, 900}, {100000, 0, 2}},
        {{300, 8, 900}, {100000, 14, 3}}, {{700, 16, 1}, {900, 16, 1}},  {{5000, 0, 90}, {5000, 12, 1}},
    };
    for (uint32_t i = 0; i < sizeof sides / sizeof sides[0]; ++i)
        for (uint32_t t = 0; t < TYPES; ++t) {
            if ((types[t] == KR_U8 && sides[i][0].n + sides[i][1].n > 2000) ||
                (types[t] == KR_I16 && sides[i][0].n == MOST))
                continue; /* too many pairs of their few values */
            const kr_column left = make(types[t], &sides[i][0]), right = make(types[t], &sides[i][1]);
            compare(&left, &right, NULL, 1);
            release_column(&right);
            release_column(&left);
        }
}

/* Only the left side ascends; some right rows are NULL. Where the left side is cheaper to index, it is. */
static void agree_sorted(void)
{
    static const shape sides[][2] = {
        {{3, 0, 1}, {0, 0, 1}},         {{1, 0, 1}, {1, 0, 1}},         {{17, 0, 1}, {15, 4, 2}},
        {{30000, 0, 3}, {30000, 0, 3}}, {{30000, 8, 2}, {20000, 8, 2}}, {{70000, 0, 2}, {300, 14, 900}},
        {{700, 16, 1}, {600, 16, 1}},
    };
    uint8_t valid[30000 / 8 + 1];
    for (uint32_t i = 0; i < sizeof sides / sizeof sides[0]; ++i)
        for (uint32_t t = 1; t < TYPES; ++t) {
            const kr_column left = make(types[t], &sides[i][0]);
            kr_column right = make(types[t], &sides[i][1]);
            const uint32_t size = kr_type_nbytes(types[t]);
            char *rows = (char *)right.data, row[8];
            for (uint64_t n = right.count; n > 1; --n) {
                char *one = rows + (n - 1) * size, *other = rows + random_below((uint32_t)n) * size;
                memcpy(row, one, size);
                memmove(one, other, size);
                memcpy(other, row, size);
            }
            compare(&left, &right, NULL, 1);
            for (uint32_t k = 0; k < sizeof valid; ++k)
                valid[k] = (uint8_t)random_below(256);
            right.validity = valid;
            compare(&left, &right, NULL, 1);
            release_column(&right);
            release_column(&left);
        }
    /* A much smaller left side is indexed instead, if no pairs are needed. */
    const shape few = {60000, 0, 1}, many = {100000, 0, 1};
    const kr_column left = make(KR_U32, &few), right = make(KR_U32, &many);
    ((uint32_t *)right.data)[7] = 99999;
    compare(&left, &right, NULL, 1);
    release_column(&right);
    release_column(&left);
}

/* Both bounds ascend; some ranges are empty, some overlap. */
static void agree_ranges(void)
{
    static const shape sides[][3] = {
        {{20000, 4, 3}, {3000, 2, 20}, {3000, 2, 20}},
        {{3000, 0, 9}, {20000, 2, 2}, {20000, 2, 2}},
        {{500, 12, 2}, {300, 0, 3}, {300, 9, 5}},
        {{9, 0, 1}, {0, 0, 1}, {0, 0, 1}},
    };
    for (uint32_t i = 0; i < sizeof sides / sizeof sides[0]; ++i)
        for (uint32_t t = 1; t < TYPES; ++t) {
            const kr_column left = make(types[t], &sides[i][0]), lower = make(types[t], &sides[i][1]),
                            upper = make(types[t], &sides[i][2]);
            compare(&left, &lower, &upper, 1);
            release_column(&upper);
            release_column(&lower);
            release_column(&left);
        }
}

/* ---- What is not merged ------------------------------------------------------------------------- */

static void leave_alone(void)
{
    enum { N = 150001 };
    static uint32_t up[N], fallen[N];
    static uint8_t all_valid[N / 8 + 1];
    const kr_column ascending = {.type = KR_U32, .count = N, .data = up};
    const kr_column falling = {.type = KR_U32, .count = N, .data = fallen};
    const uint64_t falls[] = {1, 4096, 65535, 65536, 65537, N / 2, N - 1};
    memset(all_valid, 255, sizeof all_valid);
    for (uint32_t i = 0; i < N; ++i)
        up[i] = 2 * i + 1;
    for (uint32_t i = 0; i < sizeof falls / sizeof falls[0]; ++i) {
        memcpy(fallen, up, sizeof up);
        fallen[falls[i]] = fallen[falls[i] - 1] - 1;
        compare(&falling, &ascending, NULL, 0);
        compare(&ascending, &falling, NULL, 1); /* the right side is sorted */
    }
    compare(&ascending, &ascending, &falling, 0);
    compare(&ascending, &falling, &ascending, 0);
    compare(&ascending, &ascending, &ascending, 1);
    kr_column masked = ascending;
    masked.validity = all_valid;
    compare(&masked, &ascending, NULL, 0);
    compare(&ascending, &masked, NULL, 1);
    compare(&ascending, &ascending, &masked, 0);
}

/* More pairs than memory holds: refused by their number, which takes no time to find. */
static void refuse_too_many(void)
{
    const shape equal = {1000000, 16, 1};
    const kr_column side = make(KR_U32, &equal);
    kr_join *joined = NULL;
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_join_create(device, "array", &side, &side, NULL, &joined, &err));
    CHECK(joined == NULL);
    release_column(&side);
}

static void run(uint32_t threads)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = threads, .memory_cap_nbytes = (uint64_t)1 << 32};
    WORKS(kr_device_open("cpu", &options, &device, &err));
    agree();
    agree_ranges();
    agree_sorted();
    leave_alone();
    refuse_too_many();
    kr_device_close(device);
}

int main(void)
{
    static const char *const sets[] = {"plain", "avx2", "avx512"};
    for (uint32_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
        kr_error err = {0};
        setenv("KEYRAY_ISA", sets[i], 1);
        device = NULL;
        const kr_status status = kr_device_open("cpu", NULL, &device, &err);
        kr_device_close(device);
        if (status == KR_OK)
            run(i + 1);
        else
            CHECK(i && status == KR_ERR_UNSUPPORTED);
    }
    return failures != 0;
}
