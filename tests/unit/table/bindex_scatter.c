/* Kind bindex with refine=scatter: what a leaf reads, and what validation finds. */
#include "bindex_tables.h"
#include "table/families/bindex/bindex.h"
#include "table/families/bindex/scatter.h"

/* A leaf reads one vector, that whose limit is nearer, and the blocks between limit and constant: none where
 * the constant is a limit. */
static void scatter_refines_to_the_nearest(void **state)
{
    enum { N = 200000, VECTORS = 16 };
    kr_rng rng = {21};
    (void)state;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        columns[c].type = KR_U32;
        columns[c].has_nulls = c == 1;
        fill(columns + c, &rng, RANDOM, 0, N);
    }
    kr_table *table = make("bindex:refine=scatter,vectors=16", N);
    const bindex_scatter_table *made = table->self;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        const bindex_scatter_column *column = made->columns + c;
        assert_int_equal(column->n_limits, VECTORS - 1);
        assert_int_equal(column->vectors.n, VECTORS - 1 + (c == 1));
        for (uint32_t v = 1; v < column->n_limits; ++v) {
            const uint64_t from = column->limits[v - 1], gap = column->limits[v] - from;
            for (uint64_t step = 0; step <= 8; ++step) {
                kr_interval below = {0, from + gap * step / 8};
                const kr_leaf leaf = {
                    .column = c, .other = KR_NO_COLUMN, .n_intervals = 1, .intervals = &below};
                const uint64_t rows = column->n_valid / VECTORS * (step < 4 ? step : 8 - step) / 8;
                bindex_scattered s;
                assert_int_equal(bindex_scatter_leaf(column, &leaf, &s, NULL), KR_OK);
                assert_int_equal(s.n_vectors, 1);
                if (step != 4)
                    assert_int_equal(s.vectors[0], step < 4 ? v - 1 : v);
                assert_int_equal(s.n_launches == 0, step == 0 || step == 8);
                if (s.n_launches)
                    assert_in_range(s.n_positions, rows * 9 / 10,
                                    rows * 11 / 10 + 2 * (uint64_t)BINDEX_SCATTER_BLOCK);
                assert_true(s.n_launches <= rows * 11 / 10 / BINDEX_SCATTER_BLOCK + 3);
                bindex_scattered_release(&s);
            }
        }
    }
    kr_table_destroy(table);
}

static void scatter_damage(void **state)
{
    enum { N = 30000 };
    kr_rng rng = {22};
    kr_error err = {0};
    (void)state;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        columns[c].type = types[c];
        columns[c].has_nulls = c == 2;
        fill(columns + c, &rng, RANDOM, 0, N);
    }
    kr_table *table = make("bindex:refine=scatter,vectors=20", N);
    const bindex_scatter_table *made = table->self;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        bindex_scatter_column *column = made->columns + c;
        uint32_t *rows = column->rows.data, *words = column->vectors.words.data;
        const uint32_t row = rows[10000];
        words[7 * column->vectors.stride + 100] ^= 8;
        expect_damage(table, "a filter vector is wrong at row 3203");
        words[7 * column->vectors.stride + 100] ^= 8;
        rows[10000] = rows[10001];
        expect_damage(table, "rows at position 10001 are not in the order of their values");
        rows[10000] = N;
        expect_danger(table, "position 10000 names no row");
        rows[10000] = row;
        --column->n_valid;
        expect_damage(table, "positions are not its values");
        ++column->n_valid;
        ++column->firsts[2];
        expect_damage(table, "rows at position 6552 do not begin their block with its first code");
        --column->firsts[2];
        const uint64_t first = column->firsts[3], limit = column->limits[3];
        column->firsts[3] = column->firsts[2] - 1;
        expect_danger(table, "limits do not ascend");
        column->firsts[3] = first;
        column->limits[3] = column->limits[2];
        expect_danger(table, "limits do not ascend");
        column->limits[3] = column->highest;
        expect_danger(table, "limits do not ascend");
        column->limits[3] = limit;
    }
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s", err.text);
    kr_table_destroy(table);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_refines_to_the_nearest),
        cmocka_unit_test(scatter_damage),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
