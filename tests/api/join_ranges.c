/* Range joins of which the ranges are indexed: shapes of ranges that make the search climb, skip and stop,
 * against a count of all pairs, and against the join that indexes the left side. */
#include "check.h"
#include "device_name.h"

#include <stdlib.h>
#include <string.h>

static kr_device *device;

/* Under AddressSanitizer all takes long. */
#ifdef __SANITIZE_ADDRESS__
enum { LEFT = 800, MOST = 12000 };
#else
enum { LEFT = 3000, MOST = 40000 };
#endif

static uint32_t left[LEFT], lower[MOST], upper[MOST];
static uint64_t state = 7;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

typedef struct shape {
    const char *name;
    uint32_t n;      /* ranges */
    uint32_t length; /* of most of them: up to it, at random; 0: they touch and do not overlap */
    uint32_t every;  /* every so many is long; 0: none */
    uint32_t far;    /* how long */
} shape;

static const shape shapes[] = {
    {"none", 0, 1, 0, 0},
    {"one", 1, 1000, 0, 0},
    {"thirty-two", 32, 0, 0, 0},
    {"thirty-three", 33, 0, 0, 0},
    {"side by side", 1025, 0, 0, 0},
    {"side by side, many", MOST, 0, 0, 0},
    {"a few overlaps", MOST, 90, 0, 0},
    {"one covers all", MOST, 0, MOST, UINT32_MAX},
    {"some cover much", MOST, 5, 1000, 300000},
    {"equal starts", 5000, 0, 1, 100},
    {"deep", 6000, 70000, 0, 0}, /* more ranges under a key than one thread reads */
    {"deep, one covers all", 9000, 80000, 9000, UINT32_MAX},
};

/* Right rows are in no order, and two of three lower bounds of "equal starts" are equal. */
static void make(const shape *s)
{
    for (uint32_t i = 0; i < s->n; ++i) {
        const uint32_t start = s->every == 1 ? i / 3 * 200 : i * 30;
        const uint32_t length = s->every && i % s->every == 0 ? s->far
                                : s->length                   ? random_below(s->length)
                                                              : 29;
        lower[i] = start;
        upper[i] = length > UINT32_MAX - start ? UINT32_MAX : start + length;
        if (i % 97 == 5)
            upper[i] = start ? start - 1 : 0; /* holds nothing, but for the first */
    }
    for (uint32_t i = s->n; i > 1; --i) {
        const uint32_t j = random_below(i), low = lower[j], high = upper[j];
        lower[j] = lower[i - 1];
        upper[j] = upper[i - 1];
        lower[i - 1] = low;
        upper[i - 1] = high;
    }
    for (uint32_t i = 0; i < LEFT; ++i)
        left[i] = i < 3 ? (uint32_t[]){0, UINT32_MAX, 29}[i] : random_below(30 * s->n + 50);
}

typedef struct found {
    uint64_t n;
    uint32_t *left, *right;
    char indexed[8];
} found;

static found join(const char *spec, uint32_t n, kr_join_inverse inverse, kr_join_type type)
{
    const kr_column keys = {.type = KR_U32, .count = LEFT, .data = left};
    const kr_column low = {.type = KR_U32, .count = n, .data = lower},
                    high = {.type = KR_U32, .count = n, .data = upper};
    const kr_join_options options = {.struct_size = sizeof options, .type = type, .inverse = inverse};
    const int pairs = type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *made = NULL;
    found f = {0};
    WORKS(kr_join_create_range(device, spec, &keys, &low, &high, &options, &made, &err));
    WORKS(kr_join_query(made, &info, &err));
    f.n = info.pairs;
    f.left = calloc(f.n + 1, sizeof *f.left);
    f.right = calloc(f.n + 1, sizeof *f.right);
    memcpy(f.indexed, info.indexed, sizeof f.indexed);
    WORKS(kr_join_read(made, 0, f.n, f.left, pairs ? f.right : NULL, &err));
    kr_join_destroy(made);
    return f;
}

static void check_shape(const char *spec, const shape *s)
{
    uint64_t pairs = 0;
    make(s);
    for (uint32_t i = 0; i < LEFT; ++i)
        for (uint32_t j = 0; j < s->n; ++j)
            pairs += lower[j] <= left[i] && left[i] <= upper[j];
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type) {
        found covered = join(spec, s->n, KR_INVERSE_OFF, (kr_join_type)type);
        found probed = join(spec, s->n, KR_INVERSE_ON, (kr_join_type)type);
        const int same = covered.n == probed.n &&
                         !memcmp(covered.left, probed.left, covered.n * sizeof *covered.left) &&
                         !memcmp(covered.right, probed.right, covered.n * sizeof *covered.right);
        CHECK(!strcmp(covered.indexed, "right") && !strcmp(probed.indexed, "left"));
        CHECK(same && (type != KR_JOIN_INNER || covered.n == pairs));
        if (!same || (type == KR_JOIN_INNER && covered.n != pairs))
            printf("  %s, %s, type %d: %llu pairs, %llu by the other side, %llu in all\n", spec, s->name,
                   type, (unsigned long long)covered.n, (unsigned long long)probed.n,
                   (unsigned long long)pairs);
        free(covered.left);
        free(covered.right);
        free(probed.left);
        free(probed.right);
    }
}

/* ---- AUTO ------------------------------------------------------------------------------------- */

enum { KEYS = 1 << 10, RANGES = 1 << 16 };

/* With rays, ranges are indexed where there are more of them than keys, but not if they make so many pairs
 * that copying these side by side is what matters. A sample of both sides tells. */
static void check_auto(uint32_t length, const char *indexed)
{
    static uint32_t keys[KEYS], from[RANGES], to[RANGES];
    const kr_column key_column = {.type = KR_U32, .count = KEYS, .data = keys};
    const kr_column low = {.type = KR_U32, .count = RANGES, .data = from},
                    high = {.type = KR_U32, .count = RANGES, .data = to};
    const kr_join_options options = {.struct_size = sizeof options, .unordered = 1};
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *made = NULL;
    kr_error why = {0};
    for (uint32_t i = 0; i < KEYS; ++i)
        keys[i] = random_below(1u << 30);
    for (uint32_t i = 0; i < RANGES; ++i) {
        from[i] = random_below(1u << 30);
        to[i] = from[i] + length;
    }
    const kr_status status =
        kr_join_create_range(device, "cgrx", &key_column, &low, &high, &options, &made, &why);
    if (status == KR_ERR_UNSUPPORTED) {
        printf("AUTO of cgrx skipped: %s\n", why.text);
        return;
    }
    CHECK(status == KR_OK);
    WORKS(kr_join_query(made, &info, &err));
    CHECK(!strcmp(info.indexed, indexed));
    kr_join_destroy(made);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array", "btree:node=8", "pivot"};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint32_t i = 0; i < sizeof specs / sizeof specs[0]; ++i)
        for (uint32_t k = 0; k < sizeof shapes / sizeof shapes[0]; ++k)
            check_shape(specs[i], &shapes[k]);
    if (argc < 2) { /* a GPU has other rates: join_sides.c */
        check_auto(1000, "right");
        check_auto(1u << 27, "left");
    }
    kr_device_close(device);
    return failures != 0;
}
