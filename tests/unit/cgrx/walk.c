/* The walk over lists of nodes: every row of a match by its number, opened anywhere, in steps of any size,
 * with empty lists between. */
#include "index/families/cgrx/cgrx_walk_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LISTS = 400, NODE = 4, MOST_ROWS = 40 * LISTS, MOST_NODES = MOST_ROWS + 2 * LISTS };

/* Lists of 0 to 40 rows with row ids 1000 + position; all other slots hold a mark. */
typedef struct lists {
    uint32_t starts[LISTS + 1], hints[MOST_ROWS / CGRX_LISTS_STRIDE + 2], next[MOST_NODES];
    uint32_t sizes[MOST_NODES];
    uint32_t rows[MOST_NODES * NODE];
    uint32_t n;
} lists;

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 11;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

/* `empty` of ten lists have no rows. With `split` nodes are filled at random. */
static walk_view make(lists *l, uint32_t empty, int split)
{
    uint32_t used = LISTS;
    memset(l, 0, sizeof *l);
    for (uint32_t i = 0; i < MOST_NODES * NODE; ++i)
        l->rows[i] = 1;
    for (uint32_t b = 0; b < LISTS; ++b) {
        const uint32_t count = random_below(10) < empty && b != LISTS / 2 ? 0 : 1 + random_below(40);
        uint32_t node = b, fill = split ? 1 + random_below(NODE) : NODE;
        l->starts[b] = l->n;
        l->next[b] = CGRX_NO_NODE;
        for (uint32_t j = 0; j < count; ++j, ++l->n) {
            if (l->sizes[node] == fill) {
                l->next[node] = used;
                node = used++;
                l->next[node] = CGRX_NO_NODE;
                fill = split ? 1 + random_below(NODE) : NODE;
            }
            l->rows[node * NODE + l->sizes[node]++] = 1000 + l->n;
        }
    }
    l->starts[LISTS] = l->n;
    for (uint32_t h = 0; h < l->n / CGRX_LISTS_STRIDE + 2; ++h) {
        uint32_t b = LISTS - 1;
        while (b && l->starts[b] > h * CGRX_LISTS_STRIDE)
            --b;
        l->hints[h] = b;
    }
    return (walk_view){.rows = (const char *)l->rows,
                       .lists = {l->starts, l->hints, l->next, split ? l->sizes : NULL, LISTS, NODE},
                       .row_stride = sizeof(uint32_t)};
}

static void check_match(const walk_view *view, kr_match match, uint32_t from, uint32_t n, uint32_t stride)
{
    walk_state state;
    walk_open(view, match, from, n, &state);
    for (uint32_t j = from; j < from + n; j += stride)
        assert_int_equal(walk_row(view, walk_slot(view, &state, j)), 1000 + match.where + j);
}

static void reads_every_row(void **unused)
{
    static const uint32_t strides[] = {1, 2, 7, 8, 32, 33, 500};
    lists *l = malloc(sizeof *l);
    (void)unused;
    assert_non_null(l);
    for (uint32_t k = 0; k < 20; ++k) {
        const walk_view view = make(l, k / 2, k % 2);
        for (uint32_t i = 0; i < l->n; ++i)
            assert_int_equal(walk_held(&view, i), 1000 + i);
        for (uint32_t i = 0; i < 2000; ++i) {
            const uint32_t where = random_below(l->n), count = 1 + random_below(l->n - where);
            const uint32_t from = random_below(count), n = 1 + random_below(count - from);
            check_match(&view, (kr_match){where, count}, from, n, strides[i % 7]);
        }
        check_match(&view, (kr_match){0, l->n}, 0, l->n, 1);
    }
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
