/* Joins: the cost rule, the memory that a join takes, prepared sides, chunks. The conformance suite joins
 * random columns. */
#include "check.h"
#include "device_name.h"

static kr_device *device;

/* ---- The cost rule ---------------------------------------------------------------------------- */

static const char *side_of(const char *spec, uint64_t left, uint64_t right, const kr_join_options *options)
{
    static kr_join_info info;
    info = (kr_join_info){.struct_size = sizeof info};
    WORKS(kr_join_explain(device, spec, left, right, options, &info, &err));
    CHECK(info.cost_left >= 0 && info.cost_right >= 0 && info.spec[0] && info.device[0] && !info.pairs);
    return info.indexed;
}

static void decide(void)
{
    const kr_join_options on = {.struct_size = sizeof on, .inverse = KR_INVERSE_ON};
    const kr_join_options off = {.struct_size = sizeof off, .inverse = KR_INVERSE_OFF};
    kr_join_options unordered = {.struct_size = sizeof unordered, .unordered = 1};
    kr_join_info info = {.struct_size = sizeof info};
    CHECK(!strcmp(side_of("array", 1 << 27, 1 << 20, NULL), "right"));
    CHECK(!strcmp(side_of("array", 1 << 20, 1 << 23, NULL), "right"));
    CHECK(!strcmp(side_of("array", 1 << 27, 1 << 26, &unordered), "right"));
    CHECK(!strcmp(side_of("array", 5, 1 << 26, &on), "left"));
    CHECK(!strcmp(side_of("hash", 5, 1 << 26, &off), "right"));
    CHECK(!strcmp(side_of("hash", 1 << 16, 1 << 23, &unordered), "left"));
    CHECK(!strcmp(side_of("best", 0, 0, NULL), "right"));
    REFUSED(KR_ERR_SPEC, kr_join_explain(device, "frob", 1, 1, NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_explain(NULL, "array", 1, 1, NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_explain(device, "array", 1, 1, NULL, NULL, &err));
}

/* ---- Memory ----------------------------------------------------------------------------------- */

enum { LEFT = 1 << 20, RIGHT = 1 << 18, ROUNDING = 1 << 20 };

/* With distinct right keys: the result, the index, and 12 bytes per left row. Both sides are on the device.
 */
static void take_memory(const char *spec, uint32_t unordered)
{
    static uint32_t left[LEFT], right[RIGHT];
    const kr_join_options options = {
        .struct_size = sizeof options, .inverse = KR_INVERSE_OFF, .unordered = unordered};
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *join = NULL;
    void *on_left = NULL, *on_right = NULL;
    for (uint32_t i = 0; i < RIGHT; ++i)
        right[i] = i * 2654435761u;
    for (uint32_t i = 0; i < LEFT; ++i)
        left[i] = right[i * 7919u % RIGHT] + i % 2;
    WORKS(kr_memory_allocate(device, sizeof left, NULL, &on_left, &err));
    WORKS(kr_memory_allocate(device, sizeof right, NULL, &on_right, &err));
    WORKS(kr_memory_copy(device, on_left, left, sizeof left, NULL, &err));
    WORKS(kr_memory_copy(device, on_right, right, sizeof right, NULL, &err));
    const kr_column sides[2] = {{.type = KR_U32, .count = LEFT, .data = on_left},
                                {.type = KR_U32, .count = RIGHT, .data = on_right}};
    WORKS(kr_join_create(device, spec, &sides[0], &sides[1], &options, &join, &err));
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs >= LEFT / 2);
    CHECK(info.peak_nbytes <= info.pairs * 8 + info.footprint_nbytes + (uint64_t)LEFT * 12 + ROUNDING);
    kr_join_destroy(join);
    kr_memory_release(device, on_right, sizeof right, NULL);
    kr_memory_release(device, on_left, sizeof left, NULL);
}

/* ---- Rows of an indexed left side ---------------------------------------------------------------- */

enum { FEW = 30000, MANY = 300000, ABSENT = 3 };

static int add_left(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    uint64_t *sum = ctx;
    CHECK(right == NULL);
    for (uint64_t i = 0; i < n; ++i)
        *sum += left[i];
    return 0;
}

/* Semi and anti joins of few left rows with many right ones, of so few keys that the pairs would not fit in
 * memory: no pairs are made. Every third left key has no partner. With `ranges` each right row holds all keys
 * from its own on but the last. */
static void list_left_rows(const char *spec, uint32_t n_keys, int ranges)
{
    static uint32_t left[FEW], right[MANY], upper[MANY], rows[FEW];
    const kr_column sides[3] = {{.type = KR_U32, .count = FEW, .data = left},
                                {.type = KR_U32, .count = MANY, .data = right},
                                {.type = KR_U32, .count = MANY, .data = upper}};
    uint64_t n[2] = {0, 0}, sum[2] = {0, 0};
    for (uint32_t i = 0; i < FEW; ++i) {
        left[i] = i % ABSENT ? i * 7919u % n_keys : n_keys;
        ++n[i % ABSENT != 0];
        sum[i % ABSENT != 0] += i;
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        right[i] = i * 31u % n_keys;
        upper[i] = n_keys - 1;
    }
    for (int semi = 0; semi < 2; ++semi) {
        const kr_join_options options = {.struct_size = sizeof options,
                                         .type = semi ? KR_JOIN_SEMI : KR_JOIN_ANTI,
                                         .inverse = KR_INVERSE_ON};
        kr_join_info info = {.struct_size = sizeof info};
        kr_join *join = NULL;
        uint64_t seen = 0, found = 0, given = 0;
        WORKS(ranges
                  ? kr_join_create_range(device, spec, &sides[0], &sides[1], &sides[2], &options, &join, &err)
                  : kr_join_create(device, spec, &sides[0], &sides[1], &options, &join, &err));
        WORKS(kr_join_query(join, &info, &err));
        CHECK(info.pairs == n[semi] && !strcmp(info.indexed, "left"));
        CHECK(info.peak_nbytes <= (uint64_t)(FEW + MANY) * 80 + ROUNDING);
        if (info.pairs == n[semi])
            WORKS(kr_join_read(join, 0, info.pairs, rows, NULL, &err));
        for (uint64_t i = 0; i < info.pairs; ++i) {
            CHECK(i == 0 || rows[i - 1] < rows[i]);
            seen += rows[i];
        }
        CHECK(seen == sum[semi]);
        kr_join_destroy(join);
        WORKS(kr_join_chunks(device, spec, &sides[0], &sides[1], ranges ? &sides[2] : NULL, &options, 1 << 16,
                             add_left, &given, &found, &err));
        CHECK(found == n[semi] && given == sum[semi]);
    }
}

/* Whether something casts rays here; where nothing does, kinds that need it are skipped with the reason. */
static int can_cast(const char *spec)
{
    const uint32_t key = 0;
    const kr_column keys = {.type = KR_U32, .count = 1, .data = &key};
    kr_index *index = NULL;
    kr_error err = {0};
    const kr_status status = kr_index_create(device, spec, &keys, NULL, NULL, &index, &err);
    kr_index_destroy(index);
    if (status == KR_ERR_UNSUPPORTED)
        printf("%s skipped: %s\n", spec, err.text);
    return status != KR_ERR_UNSUPPORTED;
}

static void list_left_rows_of_kinds(void)
{
    static const char *const points[] = {"array", "hash", "chain"}, *const ordered[] = {"array", "btree"},
                             *const rays[] = {"rx", "cgrx"};
    for (uint32_t n_keys = 1; n_keys <= 100; n_keys += 99) {
        for (size_t i = 0; i < sizeof points / sizeof *points; ++i)
            list_left_rows(points[i], n_keys, 0);
        for (size_t i = 0; i < sizeof ordered / sizeof *ordered; ++i)
            list_left_rows(ordered[i], n_keys, 1);
        for (size_t i = 0; i < sizeof rays / sizeof *rays; ++i)
            for (int ranges = 0; can_cast(rays[i]) && ranges < 2; ++ranges)
                list_left_rows(rays[i], n_keys, ranges);
    }
}

/* ---- Prepared sides --------------------------------------------------------------------------- */

/* The pairs of `left` with the index. */
static void expect_pairs(kr_index *right, const kr_column *left, const kr_join_options *options, uint64_t n,
                         const uint32_t (*want)[2])
{
    uint32_t rows[2][16];
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    WORKS(kr_join_create_prepared(right, left, NULL, options, &join, &err));
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs == n && !strcmp(info.indexed, "right") && info.footprint_nbytes > 0);
    if (info.pairs == n)
        WORKS(kr_join_read(join, 0, n, rows[0], rows[1], &err));
    for (uint64_t i = 0; i < n && info.pairs == n; ++i)
        CHECK(rows[0][i] == want[i][0] && rows[1][i] == want[i][1]);
    kr_join_destroy(join);
}

/* One index answers join after join, with the row ids that were given and those of a change. */
static void join_prepared(const char *spec)
{
    static const uint32_t keys[] = {7, 5, 9}, row_ids[] = {40, 30, 20}, left[] = {9, 1, 7, 7}, more[] = {1};
    static const uint32_t before[][2] = {{0, 20}, {2, 40}, {3, 40}};
    static const uint32_t after[][2] = {{0, 20}, {1, 41}, {2, 40}, {3, 40}};
    static const uint64_t wide[] = {1};
    const kr_column right_column = {.type = KR_U32, .count = 3, .data = keys};
    const kr_column left_column = {.type = KR_U32, .count = 4, .data = left};
    const kr_column wide_column = {.type = KR_U64, .count = 1, .data = wide};
    const kr_column inserts = {.type = KR_U32, .count = 1, .data = more};
    kr_join_options options = {.struct_size = sizeof options, .inverse = KR_INVERSE_ON};
    kr_index *right = NULL;
    kr_join *join = NULL;
    WORKS(kr_index_create(device, spec, &right_column, row_ids, NULL, &right, &err));
    for (int again = 0; again < 2; ++again)
        expect_pairs(right, &left_column, NULL, 3, before);
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_create_prepared(right, &left_column, NULL, &options, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_prepared(right, &wide_column, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_prepared(right, &left_column, &wide_column, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_prepared(right, &left_column, &inserts, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_prepared(NULL, &left_column, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_prepared(right, &left_column, NULL, NULL, NULL, &err));
    for (options.inverse = KR_INVERSE_AUTO, options.type = KR_JOIN_RIGHT; options.type <= KR_JOIN_FULL;
         ++options.type)
        REFUSED(KR_ERR_UNSUPPORTED,
                kr_join_create_prepared(right, &left_column, NULL, &options, &join, &err));
    CHECK(join == NULL);
    WORKS(kr_index_update(right, &inserts, NULL, NULL, NULL, &err));
    expect_pairs(right, &left_column, NULL, 4, after);
    kr_index_destroy(right);
}

/* ---- Chunks ----------------------------------------------------------------------------------- */

enum { CROSS = 100000, STREAMED = 9 << 20 };

typedef struct tally {
    uint64_t n, sum; /* pairs, and of their rows */
} tally;

static int add_chunk(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    tally *t = ctx;
    t->n += n;
    for (uint64_t i = 0; i < n; ++i)
        t->sum += left[i] * UINT64_C(3) + right[i];
    return 0;
}

/* All rows of both sides on one key: 10^10 pairs are counted without room for any. */
static void count_cross(const char *spec)
{
    static uint32_t same[CROSS];
    const kr_column side = {.type = KR_U32, .count = CROSS, .data = same};
    kr_join *join = NULL;
    uint64_t pairs = 0;
    WORKS(kr_join_chunks(device, spec, &side, &side, NULL, NULL, 0, NULL, NULL, &pairs, &err));
    CHECK(pairs == (uint64_t)CROSS * CROSS);
    REFUSED(KR_ERR_ARGUMENT,
            kr_join_chunks(device, spec, &side, &side, NULL, NULL, 0, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_LIMIT,
            kr_join_chunks(device, spec, &side, &side, NULL, NULL, 7, add_chunk, NULL, &pairs, &err));
    const kr_device_options little = {.struct_size = sizeof little, .memory_cap_nbytes = 64 << 20};
    kr_device *small = NULL;
    WORKS(kr_device_open(device_name, &little, &small, &err));
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_join_create(small, spec, &side, &side, NULL, &join, &err));
    CHECK(join == NULL);
    kr_device_close(small);
}

/* A left side of three pieces; row i of it is i % 4, with one partner for all but 3. */
static void stream_left(const char *spec)
{
    static uint32_t left[STREAMED], right[] = {2, 1, 0};
    const kr_column sides[2] = {{.type = KR_U32, .count = STREAMED, .data = left},
                                {.type = KR_U32, .count = 3, .data = right}};
    const kr_join_options options = {
        .struct_size = sizeof options, .type = KR_JOIN_LEFT, .inverse = KR_INVERSE_OFF};
    tally seen = {0, 0};
    uint64_t pairs = 0, sum = 0;
    for (uint32_t i = 0; i < STREAMED; ++i) {
        left[i] = i % 4;
        sum += i * UINT64_C(3) + (i % 4 == 3 ? KR_NO_ROW : 2 - i % 4);
    }
    WORKS(kr_join_chunks(device, spec, &sides[0], &sides[1], NULL, &options, 1 << 20, add_chunk, &seen,
                         &pairs, &err));
    CHECK(pairs == STREAMED && seen.n == STREAMED && seen.sum == sum);
}

static void refused_with(kr_status got, const kr_error *err, const char *text)
{
    CHECK(got == KR_ERR_LIMIT && strcmp(err->text, text) == 0);
    if (strcmp(err->text, text) != 0)
        printf("  it says '%s'\n", err->text);
}

/* More rows than row ids can name: every join says so before it reads any. */
static void refuse_rows(void)
{
#define MOST " rows: a side of a join has at most 4294967294; join parts"
    static const uint32_t values[1];
    const kr_column large = {.type = KR_U32, .count = KR_NO_ROW, .data = values};
    const kr_column small = {.type = KR_U32, .count = 1, .data = values};
    const kr_column left[2] = {large, large}, right[2] = {small, small};
    kr_join *join = NULL;
    kr_error err = {0};
    uint64_t pairs = 0;
    refused_with(kr_join_create(device, "array", &large, &small, NULL, &join, &err), &err,
                 "4294967295" MOST " of it");
    refused_with(kr_join_chunks(device, "array", &large, &small, NULL, NULL, 8, NULL, NULL, &pairs, &err),
                 &err, "4294967295" MOST " of it");
    refused_with(kr_join_create_columns(device, "array", left, right, 2, NULL, &join, &err), &err,
                 "4294967295 and 1" MOST " of it");
    refused_with(kr_join_create_overlap(device, "array", &small, &small, &large, &large, KR_ENDS_CLOSED, NULL,
                                        &join, &err),
                 &err, "1 and 4294967295" MOST " of it");
    refused_with(kr_join_create_asof(device, "array", &large, &small, NULL, NULL, 0, NULL, NULL, &join, &err),
                 &err, "4294967295 and 1" MOST);
    CHECK(join == NULL);
#undef MOST
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    decide();
    take_memory("array", 0);
    take_memory("array", 1);
    take_memory("array:probes=partitioned", 0);
    take_memory("array:probes=partitioned", 1);
    take_memory("hash", 0);
    list_left_rows_of_kinds();
    join_prepared("array");
    join_prepared("hash");
    join_prepared("btree");
    count_cross("array");
    count_cross("hash");
    stream_left("array");
    refuse_rows();
    kr_device_close(device);
    return failures != 0;
}
