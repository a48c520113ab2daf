/* Regions and rays of scenes of cubes, and what the sieve leaves of a leaf, against loops over cells. */
#include "random.h"
#include "table/families/cubes/cubes_params.h"
#include "table/families/cubes/order.h"
#include "table/families/cubes/sieve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Rays ------------------------------------------------------------------------------------ */

enum { SPACE = 40 };

typedef struct counts {
    uint32_t of[SPACE][SPACE][SPACE]; /* rays that meet a cube with this centre */
} counts;

/* What a ray of the program meets, by whole cells. */
static void count_ray(const cubes_matrix *m, const cubes_rays *rays, uint64_t number, counts *c)
{
    const uint32_t a = rays->axes & 3, b = rays->axes >> 2 & 3, along = rays->axes >> 4 & 3;
    const uint64_t piece = number / rays->n_a / rays->n_b;
    int32_t low[3], high[3];
    low[a] = rays->region.first[a] + (int32_t)(m->interval / 2 + number % rays->n_a * m->interval);
    low[b] =
        rays->region.first[b] + (int32_t)(m->interval / 2 + number / rays->n_a % rays->n_b * m->interval);
    low[along] = rays->region.first[along] + (int32_t)(m->spacing / 2 + piece * (m->length + m->spacing));
    high[a] = low[a];
    high[b] = low[b];
    high[along] = low[along] + (int32_t)m->length;
    if (high[along] > rays->region.last[along] - (int32_t)m->half)
        high[along] = rays->region.last[along] - (int32_t)m->half;
    if (high[along] < low[along])
        high[along] = low[along];
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = low[axis] < (int32_t)m->half ? 0 : low[axis] - (int32_t)m->half;
        high[axis] = high[axis] + (int32_t)m->half >= SPACE ? SPACE - 1 : high[axis] + (int32_t)m->half;
    }
    for (int32_t x = low[0]; x <= high[0]; ++x)
        for (int32_t y = low[1]; y <= high[1]; ++y)
            for (int32_t z = low[2]; z <= high[2]; ++z)
                ++c->of[x][y][z];
}

static int is_inside(const cubes_region *region, int32_t x, int32_t y, int32_t z)
{
    return x >= region->first[0] && x <= region->last[0] && y >= region->first[1] && y <= region->last[1] &&
           z >= region->first[2] && z <= region->last[2];
}

static void check_matrix(const cubes_matrix *m, const cubes_region *region)
{
    static counts c;
    const cubes_rays rays = cubes_rays_of(m, region);
    const uint32_t width = 2 * m->half + 1;
    const int once = m->interval == width && m->spacing == width;
    memset(&c, 0, sizeof c);
    for (uint64_t i = 0; i < cubes_rays_count(&rays); ++i)
        count_ray(m, &rays, i, &c);
    for (int32_t x = 0; x < SPACE; ++x)
        for (int32_t y = 0; y < SPACE; ++y)
            for (int32_t z = 0; z < SPACE; ++z) {
                if (is_inside(region, x, y, z))
                    assert_in_range(c.of[x][y][z], 1, once ? 1 : UINT32_MAX);
                else if (once)
                    assert_in_range(c.of[x][y][z], 0, 1);
            }
}

static void meet_every_cube_of_a_region(void **state)
{
    kr_rng rng = {1};
    (void)state;
    for (uint32_t t = 0; t < 400; ++t) {
        cubes_matrix m = {.half = (uint32_t)kr_rng_below(&rng, 6),
                          .along = (uint32_t)kr_rng_below(&rng, CUBES_LONGEST + 1)};
        const uint32_t width = 2 * m.half + 1;
        cubes_region region;
        m.interval = t % 2 ? width : 1 + (uint32_t)kr_rng_below(&rng, width);
        m.spacing = t % 2 ? width : (uint32_t)kr_rng_below(&rng, width + 1);
        m.length = 1 + (uint32_t)kr_rng_below(&rng, 50);
        for (int axis = 0; axis < 3; ++axis) {
            region.first[axis] = (int32_t)kr_rng_below(&rng, SPACE);
            region.last[axis] =
                region.first[axis] + (int32_t)kr_rng_below(&rng, (uint64_t)(SPACE - region.first[axis]));
        }
        check_matrix(&m, &region);
    }
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static uint64_t record_of(uint32_t a, uint32_t b, uint32_t c)
{
    return a | (uint64_t)b << CUBES_RECORD_BITS | (uint64_t)c << 2 * CUBES_RECORD_BITS;
}

static void block_is_compared_at_once(void **state)
{
    static const uint32_t most[] = {3, CUBES_LAST_CELL};
    kr_rng rng = {2};
    (void)state;
    for (uint32_t i = 0; i < 20000; ++i) {
        uint32_t low[CUBES_AXES], high[CUBES_AXES], cells[CUBES_AXES], inside = 1;
        cubes_block block = {0, 0};
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
            low[axis] = (uint32_t)kr_rng_below(&rng, most[i % 2] + 1ull);
            high[axis] = (uint32_t)kr_rng_below(&rng, most[i % 2] + 1ull);
            cells[axis] = (uint32_t)kr_rng_below(&rng, most[i % 2] + 1ull);
            inside &= low[axis] <= cells[axis] && cells[axis] <= high[axis];
            cubes_block_set(&block, axis, (int32_t)low[axis], (int32_t)high[axis]);
        }
        assert_int_equal(cubes_block_has(&block, record_of(cells[0], cells[1], cells[2])), inside);
        assert_int_equal(cubes_block_has(&block, CUBES_NOWHERE), 0);
    }
}

enum { SLOTS_MOST = 5000 };

/* Rows at the points of a grid, in random order. Returns how many. */
static uint64_t fill_grid(kr_rng *rng, const uint32_t extents[CUBES_AXES], uint64_t *records)
{
    uint64_t n = 0;
    for (uint32_t a = 0; a < extents[0]; ++a)
        for (uint32_t b = 0; b < extents[1]; ++b)
            for (uint32_t c = 0; c < extents[2]; ++c, ++n) {
                const uint64_t other = kr_rng_below(rng, n + 1);
                records[n] = records[other];
                records[other] = record_of(a, b, c);
            }
    return n;
}

static uint64_t distance_of(uint64_t one, uint64_t other)
{
    uint64_t distance = 0;
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        distance += (uint64_t)abs(cubes_record_cell(one, axis) - cubes_record_cell(other, axis));
    return distance;
}

static void check_order(kr_device *device, kr_rng *rng, const uint32_t extents[CUBES_AXES], uint32_t pack,
                        int is_walk)
{
    static uint64_t given[SLOTS_MOST];
    static uint8_t is_seen[SLOTS_MOST];
    cubes_order_job job = {.pack = pack};
    kr_work work = kr_work_on(device, NULL, NULL);
    kr_buffer records = {0}, rows = {0};
    memcpy(job.extents, extents, sizeof job.extents);
    memset(is_seen, 0, sizeof is_seen);
    job.n_rows = fill_grid(rng, extents, given);
    assert_int_equal(
        kr_buffer_allocate(device, job.n_rows * sizeof(uint64_t), NULL, "records", NULL, &records, NULL),
        KR_OK);
    memcpy(records.data, given, job.n_rows * sizeof(uint64_t));
    cubes_order_make(&work, &job, &records, &rows);
    assert_int_equal(kr_work_end(&work), KR_OK);
    assert_int_equal(records.nbytes, cubes_slots(job.n_rows, pack) * sizeof(uint64_t));
    for (uint64_t slot = 0; slot < cubes_slots(job.n_rows, pack); ++slot) {
        const uint64_t record = ((const uint64_t *)records.data)[slot];
        const uint32_t row = slot < job.n_rows ? ((const uint32_t *)rows.data)[slot] : 0;
        assert_true(record == (slot < job.n_rows ? given[row] : CUBES_NOWHERE));
        if (slot < job.n_rows)
            assert_int_equal(is_seen[row]++, 0);
        if (is_walk && slot && slot < job.n_rows)
            assert_int_equal(distance_of(record, ((const uint64_t *)records.data)[slot - 1]), 1);
    }
    const uint64_t last = job.n_rows - 1, behind = cubes_slots(job.n_rows, pack) - 1;
    assert_int_equal(cubes_order_check(&work, &records, &rows, job.n_rows), 0);
    if (behind > last) {
        ((uint64_t *)records.data)[behind] = record_of(0, 0, 0);
        assert_int_equal(cubes_order_check(&work, &records, &rows, job.n_rows), behind + 1);
        ((uint64_t *)records.data)[behind] = CUBES_NOWHERE;
    }
    ((uint32_t *)rows.data)[last] = (uint32_t)job.n_rows;
    assert_int_equal(cubes_order_check(&work, &records, &rows, job.n_rows), last + 1);
    assert_int_equal(kr_work_end(&work), KR_OK);
    kr_buffer_release(device, &rows, NULL);
    kr_buffer_release(device, &records, NULL);
}

/* On a whole grid the curve is a walk from neighbour to neighbour. */
static void rows_are_in_order(void **state)
{
    static const struct {
        uint32_t extents[CUBES_AXES], pack;
        int is_walk;
    } grids[] = {{{16, 16, 16}, 8, 1}, {{1, 64, 64}, 5, 1},  {{32, 1, 32}, 1, 1}, {{1, 1, 700}, 16, 1},
                 {{17, 11, 23}, 7, 0}, {{300, 16, 1}, 3, 0}, {{1, 1, 1}, 4, 1},   {{2, 2, 2}, 3, 1}};
    kr_device *device;
    kr_rng rng = {3};
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    for (uint32_t i = 0; i < sizeof grids / sizeof *grids; ++i)
        check_order(device, &rng, grids[i].extents, grids[i].pack, grids[i].is_walk);
    kr_device_close(device);
}

/* ---- The sieve ------------------------------------------------------------------------------- */

enum { ROWS = 700 };

typedef struct column {
    cubes_column made;
    uint64_t records[ROWS];
    uint32_t values[ROWS];
    uint8_t validity[ROWS / 8 + 1];
} column;

static int is_valid(const column *c, uint32_t row)
{
    return !c->made.column.validity || (c->validity[row / 8] >> row % 8 & 1);
}

static void make_column(kr_device *device, kr_rng *rng, column *c, int encode, uint32_t bins)
{
    const uint64_t range = kr_rng_below(rng, 3) ? 1 + kr_rng_below(rng, 2000) : UINT32_MAX;
    const int has_nulls = kr_rng_below(rng, 2) == 0, all = kr_rng_below(rng, 10) == 0;
    memset(c, 0, sizeof *c);
    for (uint32_t r = 0; r < ROWS; ++r) {
        c->values[r] = (uint32_t)kr_rng_below(rng, kr_rng_below(rng, 3) ? range : 3);
        c->validity[r / 8] |= (uint8_t)((!all && kr_rng_below(rng, 5)) << r % 8);
    }
    c->made.column = (kr_column){
        .type = KR_U32, .count = ROWS, .data = c->values, .validity = has_nulls ? c->validity : NULL};
    c->made.limits = calloc(bins, sizeof *c->made.limits);
    kr_work work = kr_work_on(device, NULL, NULL);
    const cubes_cells_job job = {.column = &c->made.column,
                                 .encode = (uint32_t)encode,
                                 .bins = bins,
                                 .by_values = (uint32_t)kr_rng_below(rng, 2),
                                 .n_places = 1,
                                 .places = {{.records = c->records}}};
    cubes_cells_make(&work, &job, &c->made.cells, c->made.limits, &c->made.n_limits);
    assert_in_range(c->made.n_limits, 0, bins - 1);
    assert_int_equal(cubes_find_bins(&c->made, NULL), KR_OK);
    if (c->made.cells.n_nulls)
        c->made.limits[c->made.n_limits] = UINT64_MAX;
    c->made.vectors = kr_vectors_make(&work, &c->made.column, c->made.limits,
                                      c->made.n_limits + (c->made.cells.n_nulls > 0));
    static uint32_t in_order[ROWS];
    for (uint32_t r = 0; r < ROWS; ++r)
        in_order[r] = r;
    assert_int_equal(cubes_cells_check(&work, &c->made.column, &c->made.cells, job.places, in_order), 0);
    assert_int_equal(kr_work_end(&work), KR_OK);
}

static void release_column(kr_device *device, column *c)
{
    kr_vectors_release(device, &c->made.vectors, NULL);
    cubes_cells_release(&c->made.cells);
    free(c->made.bins);
    free(c->made.limits);
}

/* Cells are in the order of the values, and ranges of codes are where they say. */
static void check_cells(const column *c)
{
    for (uint32_t r = 0; r + 1 < ROWS; ++r) {
        if (!is_valid(c, r) || !is_valid(c, r + 1))
            continue;
        if (c->values[r] < c->values[r + 1])
            assert_true(c->records[r] <= c->records[r + 1]);
        if (c->values[r] > c->values[r + 1])
            assert_true(c->records[r] >= c->records[r + 1]);
    }
    for (uint32_t r = 0; r < ROWS; ++r) {
        const uint32_t low = c->values[r], high = c->values[(r * 7 + 1) % ROWS];
        const cubes_span span = cubes_cells_of(&c->made.cells, low, high);
        for (uint32_t i = 0; i < ROWS && low <= high; ++i) {
            const int32_t cell = (int32_t)c->records[i];
            const int is_in = is_valid(c, i) && c->values[i] >= low && c->values[i] <= high;
            if (is_in)
                assert_in_range(cell, span.first, span.last);
            if (is_valid(c, i) && cell > span.first && cell < span.last)
                assert_true(is_in);
        }
    }
}

static kr_leaf make_leaf(kr_rng *rng, const column *c, kr_interval *intervals)
{
    kr_leaf leaf = {.other = KR_NO_COLUMN, .intervals = intervals};
    uint64_t from = kr_rng_below(rng, 2) ? 0 : c->values[kr_rng_below(rng, ROWS)];
    const uint64_t most = kr_rng_below(rng, 8);
    while (leaf.n_intervals < most && from < UINT32_MAX) {
        uint64_t to = from + kr_rng_below(rng, kr_rng_below(rng, 2) ? 4 : 500);
        if (kr_rng_below(rng, 6) == 0)
            to = UINT32_MAX;
        intervals[leaf.n_intervals++] = (kr_interval){from, to < UINT32_MAX ? to : UINT32_MAX};
        from = to + 2 + kr_rng_below(rng, kr_rng_below(rng, 2) ? 4 : 500);
    }
    leaf.nulls = c->made.column.validity && (!leaf.n_intervals || kr_rng_below(rng, 3) == 0);
    return leaf;
}

static int is_in_leaf(const kr_leaf *leaf, const column *c, uint32_t row)
{
    if (!is_valid(c, row))
        return (int)leaf->nulls;
    for (uint64_t i = 0; i < leaf->n_intervals; ++i)
        if (c->values[row] >= leaf->intervals[i].low && c->values[row] <= leaf->intervals[i].high)
            return 1;
    return 0;
}

static int is_kept(const cubes_sieved *s, const column *c, uint32_t row)
{
    uint32_t odd = s->inverts;
    for (uint32_t v = 0; v < s->n_vectors; ++v)
        odd ^= kr_vectors_at(&c->made.vectors, s->vectors[v])[row / 32] >> row % 32 & 1;
    return (int)odd;
}

static void check_leaf(const column *c, const kr_leaf *leaf, int selects_both, uint32_t gap)
{
    cubes_sieved s;
    assert_int_equal(cubes_sieve(&c->made, leaf, selects_both, gap, &s, NULL), KR_OK);
    for (uint32_t r = 0; r < ROWS; ++r) {
        const int32_t cell = (int32_t)c->records[r];
        const int wanted = is_in_leaf(leaf, c, r), kept = is_kept(&s, c, r);
        int is_left = 0;
        for (uint64_t i = 0; i < s.n_rests; ++i)
            is_left |= cell >= s.rests[i].span.first && cell <= s.rests[i].span.last &&
                       (int)s.rests[i].is_kept == kept;
        if (wanted != kept)
            assert_true(is_left);
        if (kept && !wanted)
            assert_true(selects_both);
        if (wanted)
            assert_in_range(cell, s.leaf.first, s.leaf.last);
        if (kept)
            assert_in_range(cell, s.kept.first, s.kept.last);
        if (wanted && kept)
            assert_in_range(cell, s.both.first, s.both.last);
    }
    cubes_sieved_release(&s);
}

static void leaves_the_cells_that_differ(void **state)
{
    static column c;
    static const uint32_t bins[] = {1, 2, 5, 32, CUBES_BINS_MOST};
    kr_interval intervals[8];
    kr_rng rng = {2};
    kr_device *device = NULL;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    for (uint32_t t = 0; t < 200; ++t) {
        make_column(device, &rng, &c, t % 2, bins[t / 2 % 5]);
        check_cells(&c);
        for (uint32_t l = 0; l < 30; ++l) {
            const kr_leaf leaf = make_leaf(&rng, &c, intervals);
            if (leaf.n_intervals || leaf.nulls)
                check_leaf(&c, &leaf, l % 2, l % 3 ? 0 : 20);
        }
        release_column(device, &c);
    }
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meet_every_cube_of_a_region),
        cmocka_unit_test(block_is_compared_at_once),
        cmocka_unit_test(rows_are_in_order),
        cmocka_unit_test(leaves_the_cells_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
