/* One small program of each form but RAY (its example: tests/unit/tracers/rays.c): what
 * src/base/program/README.md shows, run. */
#undef KR_WITH_CUDA /* these have no kernels */

#include "base/program/block.h"
#include "base/program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1000 };

/* ---- MAP ------------------------------------------------------------------------------------- */

typedef struct square_params {
    const uint32_t *in;
    uint32_t *out;
} square_params;

KR_BODY void square(const square_params *p, uint64_t i)
{
    const uint32_t x = kr_load(p->in + i);
    p->out[i] = x * x;
}
KR_MAP_PROGRAM(squares, square_params, square);

static void maps(void **state)
{
    uint32_t in[N], out[N];
    const square_params params = {in, out};
    (void)state;
    for (uint32_t i = 0; i < N; ++i)
        in[i] = i + 3;
    memset(out, 0, sizeof out);
    squares.cpu(&params, 64, N, N);
    for (uint32_t i = 0; i < N; ++i)
        assert_int_equal(out[i], i < 64 ? 0 : (i + 3) * (i + 3));
}

/* ---- GROUP ----------------------------------------------------------------------------------- */

typedef struct count_params {
    const uint32_t *in;
    uint64_t *odd; /* how many of `in` are odd */
} count_params;

KR_BODY void count_odd(kr_group group, const count_params *p, uint64_t i, uint64_t n)
{
    const uint32_t odd = kr_group_ballot(group, i < n && kr_load(p->in + i) % 2 == 1);
    if (group.rank == 0 && odd) /* one atomic for the group, not one for each thread */
        kr_atomic_add64(p->odd, kr_popcount32(odd));
}
KR_GROUP_PROGRAM(counts, count_params, count_odd);

static void counts_by_groups(void **state)
{
    uint32_t in[N];
    uint64_t odd = 0, expected = 0;
    const count_params params = {in, &odd};
    (void)state;
    for (uint32_t i = 0; i < N; ++i)
        expected += (in[i] = i * i / 3) % 2;
    counts.cpu(&params, 0, N, N);
    assert_int_equal(odd, expected);
}

/* ---- PROBE ----------------------------------------------------------------------------------- */

typedef struct search_params {
    const uint32_t *sorted, *probes;
    uint32_t *bounds; /* of probe i: how many of `sorted` are less */
    uint32_t n_sorted, reserved;
} search_params;

typedef struct search_state {
    uint32_t probe, low, high;
} search_state;

KR_BODY int search_begin(const search_params *p, uint64_t i, search_state *s)
{
    s->probe = kr_load(p->probes + i);
    s->low = 0;
    s->high = p->n_sorted;
    return s->low < s->high;
}

/* One load per step: the CPU steps 32 probes in turn, so that their cache misses overlap. */
KR_BODY int search_step(const search_params *p, search_state *s)
{
    const uint32_t middle = s->low + (s->high - s->low) / 2;
    if (kr_load(p->sorted + middle) < s->probe)
        s->low = middle + 1;
    else
        s->high = middle;
    return s->low < s->high;
}

KR_BODY void search_end(const search_params *p, uint64_t i, const search_state *s)
{
    p->bounds[i] = s->low;
}
KR_PROBE_PROGRAM(searches, search_params, search_state, search_begin, search_step, search_end);

static void probes(void **state)
{
    uint32_t sorted[100], in[N], bounds[N];
    const search_params params = {sorted, in, bounds, 100, 0};
    (void)state;
    for (uint32_t i = 0; i < 100; ++i)
        sorted[i] = 7 * i;
    for (uint32_t i = 0; i < N; ++i)
        in[i] = i;
    searches.cpu(&params, 0, N, N);
    for (uint32_t i = 0; i < N; ++i)
        assert_int_equal(bounds[i], i > 7 * 99 ? 100 : (i + 6) / 7);
}

/* ---- BLOCK ----------------------------------------------------------------------------------- */

enum { TILE = 256, BUCKETS = 16 };

typedef struct histogram_params {
    const uint32_t *in;
    uint32_t *counts; /* BUCKETS for each tile of TILE values */
    uint64_t n;
    kr_blocks blocks; /* shared_nbytes: room for BUCKETS counters */
} histogram_params;

KR_BODY void histogram(kr_block block, char *shared, const histogram_params *p, uint64_t n_tiles)
{
    uint32_t *counters = (uint32_t *)shared;
    for (uint64_t tile = block.index; tile < n_tiles; tile += block.count) {
        const uint64_t first = tile * TILE, end = first + TILE < p->n ? first + TILE : p->n;
        for (uint32_t b = block.rank; b < BUCKETS; b += block.size)
            counters[b] = 0;
        kr_block_sync(block);
        for (uint64_t i = first + block.rank; i < end; i += block.size)
            kr_block_count(block, counters, kr_load(p->in + i) % BUCKETS);
        kr_block_sync(block);
        for (uint32_t b = block.rank; b < BUCKETS; b += block.size)
            p->counts[tile * BUCKETS + b] = counters[b];
        kr_block_sync(block); /* before the next tile clears them */
    }
}
KR_BLOCK_PROGRAM(histograms, histogram_params, histogram);

static void blocks(void **state)
{
    enum { TILES = (N + TILE - 1) / TILE };
    uint32_t in[N], found[TILES * BUCKETS] = {0}, expected[TILES * BUCKETS] = {0};
    const histogram_params params = {in, found, N, {BUCKETS * sizeof(uint32_t), 0}};
    (void)state;
    for (uint32_t i = 0; i < N; ++i) {
        in[i] = i * i;
        ++expected[i / TILE * BUCKETS + in[i] % BUCKETS];
    }
    assert_int_equal(histograms.blocks, 1);
    for (uint64_t tile = 0; tile < TILES; ++tile)
        histograms.cpu(&params, tile, tile + 1, TILES);
    assert_memory_equal(found, expected, sizeof found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps), cmocka_unit_test(counts_by_groups),
                                       cmocka_unit_test(probes), cmocka_unit_test(blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
