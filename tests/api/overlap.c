/* kr_join_create_overlap and kr_join_overlap_chunks: answers by hand, one interval that covers all, wrong
 * calls. The conformance suite joins random intervals. */
#include "check.h"

#include <math.h>

static kr_device *device;

#define COLUMN(kind, values)                                                         \
    (kr_column)                                                                      \
    {                                                                                \
        .type = (kind), .count = sizeof(values) / sizeof *(values), .data = (values) \
    }

static const int32_t left_starts[] = {1, 5, 9, 4, 7}, left_ends[] = {3, 8, 9, 2, 7};
static const int32_t right_starts[] = {3, 8, 0, 9}, right_ends[] = {5, 9, 20, 8};

static kr_status create(kr_interval_ends ends, const kr_join_options *options, kr_join **join, kr_error *err)
{
    const kr_column columns[] = {COLUMN(KR_I32, left_starts), COLUMN(KR_I32, left_ends),
                                 COLUMN(KR_I32, right_starts), COLUMN(KR_I32, right_ends)};
    return kr_join_create_overlap(device, "best", &columns[0], &columns[1], &columns[2], &columns[3], ends,
                                  options, join, err);
}

static void expect(kr_interval_ends ends, kr_join_type type, uint64_t n, const uint32_t want[][2])
{
    const kr_join_options options = {.struct_size = sizeof options, .type = type};
    uint32_t left[16] = {0}, right[16] = {0};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    const int pairs = type == KR_JOIN_INNER || type == KR_JOIN_LEFT;
    WORKS(create(ends, &options, &join, &err));
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs == n);
    if (info.pairs == n)
        WORKS(kr_join_read(join, 0, n, left, pairs ? right : NULL, &err));
    for (uint64_t i = 0; i < n; ++i)
        CHECK(left[i] == want[i][0] && (!pairs || right[i] == want[i][1]));
    kr_join_destroy(join);
}

/* [1,3] [5,8] [9,9] (4 to 2: empty) [7,7] with [3,5] [8,9] [0,20] (9 to 8: empty). */
static void check_answers(void)
{
    const uint32_t closed[][2] = {{0, 0}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 2}};
    const uint32_t open[][2] = {{0, 2}, {1, 2}};
    const uint32_t left[][2] = {{0, 2}, {1, 2}, {2, KR_NO_ROW}, {3, KR_NO_ROW}, {4, KR_NO_ROW}};
    const uint32_t semi[][2] = {{0, 0}, {1, 0}, {2, 0}, {4, 0}}, anti[][2] = {{3, 0}};
    expect(KR_ENDS_CLOSED, KR_JOIN_INNER, 8, closed);
    expect((kr_interval_ends)0, KR_JOIN_INNER, 8, closed);
    expect(KR_ENDS_OPEN, KR_JOIN_INNER, 2, open);
    expect(KR_ENDS_OPEN, KR_JOIN_LEFT, 5, left);
    expect(KR_ENDS_CLOSED, KR_JOIN_SEMI, 4, semi);
    expect(KR_ENDS_CLOSED, KR_JOIN_ANTI, 1, anti);
}

/* ---- One interval that covers all: each of its pairs once, in chunks, under a cap of memory --------- */

enum { MANY = 200000 };

typedef struct seen {
    uint64_t pairs, most;
    uint8_t *left;
    int wrong;
} seen;

static int see(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    seen *s = ctx;
    s->pairs += n;
    s->most = n > s->most ? n : s->most;
    for (uint64_t i = 0; i < n; ++i) {
        s->wrong |= left[i] >= MANY || right[i] > 1 || (right[i] == 0 && s->left[left[i]]);
        s->left[left[i] % MANY] |= right[i] == 0;
    }
    return 0;
}

static void check_cover(void)
{
    uint64_t *starts = calloc(MANY, sizeof *starts), *ends = calloc(MANY, sizeof *ends);
    const uint64_t cover_start[] = {0, UINT64_MAX}, cover_end[] = {UINT64_MAX, UINT64_MAX};
    seen s = {.left = calloc(MANY, 1)};
    uint64_t pairs = 0;
    for (uint64_t i = 0; i < MANY; ++i) {
        starts[i] = i * 92233720368547;
        ends[i] = starts[i] + 5;
    }
    const kr_column columns[] = {{.type = KR_U64, .count = MANY, .data = starts},
                                 {.type = KR_U64, .count = MANY, .data = ends},
                                 COLUMN(KR_U64, cover_start),
                                 COLUMN(KR_U64, cover_end)};
    WORKS(kr_join_overlap_chunks(device, "array", &columns[0], &columns[1], &columns[2], &columns[3],
                                 KR_ENDS_CLOSED, 1000, see, &s, &pairs, &err));
    CHECK(pairs == MANY && s.pairs == MANY && s.most == 125 && !s.wrong);
    memset(s.left, 0, MANY);
    s.pairs = 0;
    /* the other way round, the wide interval is the probe whose pairs are cut */
    WORKS(kr_join_overlap_chunks(device, "array", &columns[2], &columns[3], &columns[0], &columns[1],
                                 KR_ENDS_CLOSED, 1 << 30, NULL, NULL, &pairs, &err));
    CHECK(pairs == MANY);
    free(s.left);
    free(ends);
    free(starts);
}

/* All intervals overlap all: more pairs than memory. Counted in 64 bits, refused with the bytes. */
static void check_too_many(void)
{
    uint32_t *zeros = calloc(MANY, sizeof *zeros);
    const kr_column all = {.type = KR_U32, .count = MANY, .data = zeros};
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 1 << 28};
    kr_device *small = NULL;
    kr_join *join = NULL;
    uint64_t pairs = 0;
    WORKS(kr_device_open("cpu", &options, &small, &err));
    WORKS(kr_join_overlap_chunks(small, "array", &all, &all, &all, &all, KR_ENDS_CLOSED, 0, NULL, NULL,
                                 &pairs, &err));
    CHECK(pairs == (uint64_t)MANY * MANY);
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_join_create_overlap(small, "array", &all, &all, &all, &all,
                                                         KR_ENDS_CLOSED, NULL, &join, &err));
    kr_error err = {0};
    (void)kr_join_create_overlap(small, "array", &all, &all, &all, &all, KR_ENDS_CLOSED, NULL, &join, &err);
    CHECK(strstr(err.text, "160000000000") && strstr(err.text, "kr_join_overlap_chunks"));
    CHECK(join == NULL);
    kr_device_close(small);
    free(zeros);
}

static void check_refusals(void)
{
    const double reals[] = {1, NAN};
    const kr_column good = COLUMN(KR_I32, left_starts), short_one = COLUMN(KR_I32, right_starts);
    const kr_column other = COLUMN(KR_F64, reals);
    kr_join_options options = {.struct_size = sizeof options};
    kr_join *join = NULL;
    uint64_t pairs = 0;
    options.inverse = KR_INVERSE_OFF;
    REFUSED(KR_ERR_UNSUPPORTED, create(KR_ENDS_CLOSED, &options, &join, &err));
    options = (kr_join_options){.struct_size = sizeof options, .type = (kr_join_type)9};
    REFUSED(KR_ERR_ARGUMENT, create(KR_ENDS_CLOSED, &options, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, create((kr_interval_ends)3, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, create(KR_ENDS_CLOSED, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_overlap(device, "array", &good, &short_one, &good, &good,
                                                    KR_ENDS_CLOSED, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_overlap(device, "array", &good, &good, &good, &other, KR_ENDS_CLOSED,
                                                NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_overlap(device, "array", &good, NULL, &good, &good,
                                                    KR_ENDS_CLOSED, NULL, &join, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_create_overlap(device, "hash", &good, &good, &good, &good,
                                                       KR_ENDS_CLOSED, NULL, &join, &err));
    REFUSED(KR_ERR_LIMIT, kr_join_overlap_chunks(device, "array", &good, &good, &good, &good, KR_ENDS_CLOSED,
                                                 7, see, NULL, &pairs, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_overlap_chunks(device, "array", &good, &good, &good, &good,
                                                    KR_ENDS_CLOSED, 8, NULL, NULL, NULL, &err));
    CHECK(join == NULL);
}

int main(void)
{
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    check_answers();
    check_cover();
    check_too_many();
    check_refusals();
    kr_device_close(device);
    return failures != 0;
}
