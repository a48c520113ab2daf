/* kr_join_create_columns: rows that are equal in several columns, whose values take at most 64 bits together,
 * or more; of types that differ, with NULLs and without, of every type of join, against nested loops. */
#include "columns.h"
#include "check.h"
#include "device_name.h"
#include "random.h"

#include <stdio.h>

static kr_device *device;

enum { COLUMNS_MOST = 8, PAIRS_MOST = 1 << 16 };

typedef struct side {
    uint32_t n;
    kr_test_column made[COLUMNS_MOST];
    kr_column columns[COLUMNS_MOST];
} side;

/* Few values, so that rows meet; `wide` ones are far apart, at both ends of their type. */
static void make(side *s, uint32_t n, uint64_t rows, const kr_type *types, int wide, kr_nulls nulls,
                 kr_rng *rng)
{
    s->n = n;
    for (uint32_t j = 0; j < n; ++j) {
        s->made[j] = kr_test_column_make(types[j], rows, KR_PATTERN_DENSE, nulls, kr_rng_next(rng));
        for (uint64_t i = 0; i < rows; ++i) {
            const uint64_t low = kr_rng_below(rng, 3),
                           most = UINT64_MAX >> (64 - 8 * kr_type_nbytes(types[j]));
            const uint64_t code = wide && kr_rng_below(rng, 2) ? most - low : 2 * low;
            kr_value_store_bits(types[j], s->made[j].data, i, kr_value_of_code(types[j], code));
        }
        s->columns[j] = s->made[j].view;
    }
}

static void release(side *s)
{
    for (uint32_t j = 0; j < s->n; ++j)
        kr_test_column_free(&s->made[j]);
}

static int equal(const side *left, uint64_t l, const side *right, uint64_t r)
{
    for (uint32_t j = 0; j < left->n; ++j)
        if (!kr_value_is_valid(&left->columns[j], l) || !kr_value_is_valid(&right->columns[j], r) ||
            kr_value_compare(left->columns[j].type, kr_value_at(&left->columns[j], l),
                             kr_value_at(&right->columns[j], r)) != 0)
            return 0;
    return 1;
}

typedef struct pairs {
    uint64_t n;
    uint32_t left[PAIRS_MOST], right[PAIRS_MOST];
} pairs;

static void add(pairs *all, uint32_t left, uint32_t right)
{
    CHECK(all->n < PAIRS_MOST);
    all->left[all->n] = left;
    all->right[all->n++] = right;
}

static void want(const side *left, const side *right, kr_join_type type, pairs *all)
{
    const int lists = type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
    const uint64_t n = left->columns[0].count, m = right->columns[0].count;
    all->n = 0;
    for (uint64_t l = 0; l < n; ++l) {
        uint64_t found = 0;
        for (uint64_t r = 0; r < m; ++r)
            if (equal(left, l, right, r) && ++found && lists)
                add(all, (uint32_t)l, (uint32_t)r);
        if (found ? type == KR_JOIN_SEMI
                  : type == KR_JOIN_ANTI || type == KR_JOIN_LEFT || type == KR_JOIN_FULL)
            add(all, (uint32_t)l, KR_NO_ROW);
    }
    for (uint64_t r = 0; r < m && (type == KR_JOIN_RIGHT || type == KR_JOIN_FULL); ++r) {
        uint64_t l = 0;
        while (l < n && !equal(left, l, right, r))
            ++l;
        if (l == n)
            add(all, KR_NO_ROW, (uint32_t)r);
    }
}

static void check(const char *spec, const side *left, const side *right, kr_join_type type,
                  kr_join_inverse inverse)
{
    static pairs wanted, read;
    const kr_join_options options = {.struct_size = sizeof options, .type = type, .inverse = inverse};
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *join = NULL;
    want(left, right, type, &wanted);
    WORKS(
        kr_join_create_columns(device, spec, left->columns, right->columns, left->n, &options, &join, &err));
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs == wanted.n && info.peak_nbytes >= info.footprint_nbytes);
    if (info.pairs == wanted.n)
        WORKS(kr_join_read(join, 0, wanted.n, read.left, read.right, &err));
    for (uint64_t i = 0; i < wanted.n && info.pairs == wanted.n && !failures; ++i)
        CHECK(read.left[i] == wanted.left[i] &&
              (type == KR_JOIN_SEMI || type == KR_JOIN_ANTI || read.right[i] == wanted.right[i]));
    if (failures)
        printf("%s, %u columns, join type %d, inverse %d\n", spec, left->n, (int)type, (int)inverse);
    kr_join_destroy(join);
}

static void check_all(const char *spec, uint32_t n, uint64_t left_rows, uint64_t right_rows,
                      const kr_type *types, int wide, kr_nulls nulls, uint64_t seed)
{
    kr_rng rng = {seed};
    side left, right;
    make(&left, n, left_rows, types, wide, nulls, &rng);
    make(&right, n, right_rows, types, wide, nulls, &rng);
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type)
        for (int inverse = KR_INVERSE_AUTO; inverse <= KR_INVERSE_OFF; ++inverse)
            check(spec, &left, &right, (kr_join_type)type, (kr_join_inverse)inverse);
    release(&right);
    release(&left);
}

static void refuse(void)
{
    static const uint32_t few[3] = {1, 2, 3};
    static const uint64_t wide[3] = {1, 2, 3};
    const kr_column three = {.type = KR_U32, .count = 3, .data = few},
                    two = {.type = KR_U32, .count = 2, .data = few},
                    other = {.type = KR_U64, .count = 3, .data = wide};
    const kr_column good[9] = {three, three, three, three, three, three, three, three, three};
    const kr_column uneven[2] = {three, two}, unlike[2] = {three, other};
    kr_join *join = NULL;
    REFUSED(KR_ERR_LIMIT, kr_join_create_columns(device, "array", good, good, 9, NULL, &join, &err));
    REFUSED(KR_ERR_LIMIT, kr_join_create_columns(device, "array", good, good, 0, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_columns(device, "array", uneven, good, 2, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_columns(device, "array", good, uneven, 2, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_columns(device, "array", good, unlike, 2, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_columns(device, "array", NULL, good, 2, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_columns(device, "array", good, NULL, 2, NULL, &join, &err));
    REFUSED(KR_ERR_SPEC, kr_join_create_columns(device, "frob", good, good, 2, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_columns(NULL, "array", good, good, 2, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_columns(device, "array", good, good, 2, NULL, NULL, &err));
    CHECK(join == NULL);
}

int main(int argc, char **argv)
{
    static const kr_type few[] = {KR_U8, KR_I16, KR_U32};
    static const kr_type many[] = {KR_I64, KR_F64, KR_TIMESTAMP64, KR_F32};
    static const kr_type eight[] = {KR_U64, KR_I64, KR_F64, KR_F32, KR_DATE32, KR_U8, KR_I16, KR_U16};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    static const char *const specs[] = {"array", "hash", "btree"};
    for (int k = 0; k < 3 && !failures; ++k) {
        check_all(specs[k], 2, 90, 40, few, 0, KR_NULLS_NONE, 1);
        check_all(specs[k], 3, 60, 70, few, 1, KR_NULLS_SOME, 2);
        check_all(specs[k], 2, 70, 60, many, 1, KR_NULLS_SLICED, 3);
        check_all(specs[k], 4, 200, 150, many, 1, KR_NULLS_NONE, 4);
        check_all(specs[k], 8, 90, 300, eight, 0, KR_NULLS_SOME, 5);
        check_all(specs[k], 2, 0, 5, many, 1, KR_NULLS_NONE, 6);
        check_all(specs[k], 2, 5, 0, many, 1, KR_NULLS_NONE, 7);
        check_all(specs[k], 1, 30, 20, many, 1, KR_NULLS_SOME, 8);
    }
    refuse();
    kr_device_close(device);
    return failures != 0;
}
