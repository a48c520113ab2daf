/* The joins of memory_faults.c, which hold rows without a partner, too. */
#ifndef KEYRAY_TESTS_FAULT_JOINS_H
#define KEYRAY_TESTS_FAULT_JOINS_H

#include "check.h"

/* At most 300 rows each. `right` to `upper` are intervals. */
typedef struct fault_sides {
    const kr_column *left, *right, *upper;
} fault_sides;

enum {
    JOIN_LEFT_INDEXED,
    JOIN_RIGHT_INDEXED,
    JOIN_FULL,
    JOIN_MERGED,
    JOIN_MERGED_TWICE,
    JOIN_MERGED_SORTED,
    JOIN_RANGES,
    JOIN_SEMI,
    JOIN_SEMI_RANGES,
    JOIN_PREPARED,
    JOIN_CHUNKS,
    JOIN_SUMS,
    JOIN_COLUMNS,
    JOIN_WIDE_COLUMNS,
    JOIN_ASOF,
    JOIN_RANKED,
    JOIN_OVERLAP,
    JOINS
};

static int count_chunk(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    (void)left, (void)right;
    *(uint64_t *)ctx += n;
    return 0;
}

/* Groups of 64 bits and all of their values make as-of joins take ranks. */
static kr_status join_asof(kr_device *device, const char *spec, int ranked, const fault_sides *sides,
                           const kr_join_options *options, kr_join **joined, kr_error *err)
{
    static uint64_t groups[2][300];
    const kr_column left = {.type = KR_U64, .count = sides->left->count, .data = groups[0]};
    const kr_column right = {.type = KR_U64, .count = sides->right->count, .data = groups[1]};
    const kr_nearest_options nearest = {.struct_size = sizeof nearest, .side = KR_NEAREST_EITHER};
    for (uint64_t i = 0; i < left.count || i < right.count; ++i)
        groups[0][i] = groups[1][i] = i % 5 * (ranked ? UINT64_MAX / 4 : 1);
    return kr_join_create_asof(device, spec, sides->left, sides->right, &left, &right, 1, &nearest, options,
                               joined, err);
}

static kr_status join_intervals(kr_device *device, const char *spec, const fault_sides *sides,
                                const kr_join_options *options, kr_join **joined, kr_error *err)
{
    uint64_t seen = 0, pairs = 0;
    const kr_status status =
        kr_join_overlap_chunks(device, spec, sides->left, sides->left, sides->right, sides->upper,
                               KR_ENDS_CLOSED, 256, count_chunk, &seen, &pairs, err);
    CHECK(status || seen == pairs);
    return status ? status
                  : kr_join_create_overlap(device, spec, sides->left, sides->left, sides->right, sides->upper,
                                           KR_ENDS_CLOSED, options, joined, err);
}

/* The join outlives its right side. */
static kr_status join_prepared(kr_device *device, const char *spec, const fault_sides *sides,
                               const kr_join_options *options, kr_join **joined, kr_error *err)
{
    kr_index *index = NULL;
    kr_status status = kr_index_create(device, spec, sides->right, NULL, NULL, &index, err);
    if (!status)
        status = kr_join_create_prepared(index, sides->left, NULL, options, joined, err);
    kr_index_destroy(index);
    return status;
}

/* Handed over row by row, first; the join that is read is another. */
static kr_status join_chunks(kr_device *device, const char *spec, const fault_sides *sides,
                             const kr_join_options *options, kr_join **joined, kr_error *err)
{
    const kr_join_options full = {.struct_size = sizeof full, .type = KR_JOIN_FULL};
    uint64_t seen = 0, pairs = 0;
    const kr_status status = kr_join_chunks(device, spec, sides->left, sides->right, NULL, &full, 256,
                                            count_chunk, &seen, &pairs, err);
    CHECK(status || (seen == pairs && pairs > 0));
    return status ? status : kr_join_create(device, spec, sides->left, sides->right, options, joined, err);
}

/* Sums of either side indexed, in host memory, first; the join that is read is another. */
static kr_status join_sums(kr_device *device, const char *spec, const fault_sides *sides,
                           kr_join_options *options, kr_join **joined, kr_error *err)
{
    static uint64_t sums[300];
    static const kr_join_inverse inverses[] = {KR_INVERSE_ON, KR_INVERSE_OFF};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_SUM_ROWS, .out = sums};
    kr_status status = KR_OK;
    for (int i = 0; i < 2 && !status; ++i) {
        const kr_join_options how = {.struct_size = sizeof how, .inverse = inverses[i]};
        status = kr_join_sums(device, spec, sides->left, sides->right, &how, &sink, NULL, err);
    }
    return status ? status : kr_join_create(device, spec, sides->left, sides->right, options, joined, err);
}

/* Left rows that are indexed: counted by chunks first, then listed. */
static kr_status join_semi(kr_device *device, const char *spec, int ranges, const fault_sides *sides,
                           kr_join_options *options, kr_join **joined, kr_error *err)
{
    const kr_column *upper = ranges ? sides->upper : NULL;
    uint64_t rows = 0;
    options->type = KR_JOIN_SEMI;
    options->inverse = KR_INVERSE_ON;
    const kr_status status =
        kr_join_chunks(device, spec, sides->left, sides->right, upper, options, 0, NULL, NULL, &rows, err);
    if (status)
        return status;
    return ranges ? kr_join_create_range(device, spec, sides->left, sides->right, upper, options, joined, err)
                  : kr_join_create(device, spec, sides->left, sides->right, options, joined, err);
}

/* Two columns: the keys and a few numbers; all of their values if `wide`, so that together they take more
 * than 64 bits. */
static kr_status join_columns(kr_device *device, const char *spec, int wide, const fault_sides *sides,
                              const kr_join_options *options, kr_join **joined, kr_error *err)
{
    static uint64_t numbers[300];
    const kr_column left[2] = {*sides->left, {.type = KR_U64, .count = sides->left->count, .data = numbers}};
    const kr_column right[2] = {*sides->right,
                                {.type = KR_U64, .count = sides->right->count, .data = numbers}};
    for (uint64_t i = 0; i < 300; ++i)
        numbers[i] = i % 5 * (wide ? UINT64_MAX / 4 : 1);
    return kr_join_create_columns(device, spec, left, right, 2, options, joined, err);
}

/* Sides that ascend, but for the right one of JOIN_MERGED_SORTED; half of the left rows find a partner. */
static kr_status join_merged(kr_device *device, const char *spec, int which, const kr_join_options *options,
                             kr_join **joined, kr_error *err)
{
    static uint32_t keys[2][300];
    const kr_column left = {.type = KR_U32, .count = 300, .data = keys[0]};
    const kr_column right = {.type = KR_U32, .count = 300, .data = keys[1]};
    for (uint32_t i = 0; i < 300; ++i) {
        keys[0][i] = i;
        keys[1][i] = which == JOIN_MERGED ? 2 * i : which == JOIN_MERGED_SORTED ? 2 * (299 - i) : i / 2;
    }
    return kr_join_create(device, spec, &left, &right, options, joined, err);
}

static kr_status fault_join(kr_device *device, const char *spec, int which, const fault_sides *sides,
                            kr_join **joined, kr_error *err)
{
    kr_join_options options = {.struct_size = sizeof options, .type = KR_JOIN_LEFT};
    if (which == JOIN_ASOF || which == JOIN_RANKED)
        return join_asof(device, spec, which == JOIN_RANKED, sides, &options, joined, err);
    if (which == JOIN_OVERLAP)
        return join_intervals(device, spec, sides, &options, joined, err);
    if (which == JOIN_COLUMNS || which == JOIN_WIDE_COLUMNS)
        return join_columns(device, spec, which == JOIN_WIDE_COLUMNS, sides, &options, joined, err);
    if (which == JOIN_CHUNKS)
        return join_chunks(device, spec, sides, &options, joined, err);
    if (which == JOIN_SUMS)
        return join_sums(device, spec, sides, &options, joined, err);
    if (which == JOIN_PREPARED)
        return join_prepared(device, spec, sides, &options, joined, err);
    if (which == JOIN_MERGED || which == JOIN_MERGED_TWICE || which == JOIN_MERGED_SORTED) {
        options.type = KR_JOIN_INNER;
        return join_merged(device, spec, which, &options, joined, err);
    }
    if (which == JOIN_RANGES) { /* which are indexed */
        options.inverse = KR_INVERSE_OFF;
        return kr_join_create_range(device, spec, sides->left, sides->right, sides->upper, &options, joined,
                                    err);
    }
    if (which == JOIN_SEMI || which == JOIN_SEMI_RANGES)
        return join_semi(device, spec, which == JOIN_SEMI_RANGES, sides, &options, joined, err);
    options.type = which == JOIN_FULL ? KR_JOIN_FULL : KR_JOIN_LEFT;
    options.inverse = which == JOIN_LEFT_INDEXED || which == JOIN_FULL ? KR_INVERSE_ON : KR_INVERSE_OFF;
    return kr_join_create(device, spec, sides->left, sides->right, &options, joined, err);
}

#endif
