/* Marks and lookups of cgrx without float errors: scenes of few bits per axis, an exact tracer, every key. If
 * several triangles lie at one point, the tracer names the lowest slot, then the highest. */
#define KR_KEY_BITS 32
#define KR_RAY_MODULE cgrx_ray
#define KR_RAY_PARAMS cgrx_params
#define KR_RAY_STATE cgrx_state
#define KR_RAY_PAYLOAD 2

#include "index/families/cgrx/cgrx_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#include <cmocka.h>

enum { MOST = 256, TRIANGLES = 3 * MOST };

typedef struct triangle {
    float at[3];
    uint32_t slot, back;
} triangle;

typedef struct scene {
    kr_host_scene host; /* first: what the view points to */
    triangle triangles[TRIANGLES];
    uint32_t n, prefers_high, flips;
    uint32_t keys[MOST], rows[MOST], row_first[MOST], plane_first[MOST];
    cgrx_params params;
} scene;

/* ---- A tracer -------------------------------------------------------------------------------- */

static kr_met trace(const kr_scene_view *view, const kr_ray *ray, uint32_t what, kr_box_function box,
                    const void *params)
{
    const scene *s = view->host;
    const int axis = ray->along[0] > 0 ? 0 : ray->along[1] > 0 ? 1 : 2;
    kr_met met = {KR_NO_PRIMITIVE, 0};
    float nearest = ray->high;
    (void)box, (void)params;
    assert_int_equal(what, KR_TRACE_CLOSEST);
    for (uint32_t i = 0; i < s->n; ++i) {
        const triangle *t = &s->triangles[i];
        const float distance = t->at[axis] - ray->from[axis];
        int meets = distance >= ray->low && distance <= nearest;
        for (int k = 0; k < 3; ++k)
            meets &= k == axis || t->at[k] == ray->from[k];
        if (!meets || (met.primitive != KR_NO_PRIMITIVE && distance == nearest &&
                       (t->slot > met.primitive) != s->prefers_high))
            continue;
        nearest = distance;
        met = (kr_met){t->slot, t->back};
    }
    return met;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static void place(scene *s, uint64_t x, uint64_t y, uint64_t z, int mark, uint32_t slot, int back)
{
    const kr_point step = s->params.map.step;
    triangle *t = &s->triangles[s->n++];
    const float low_x = mark && !s->params.optimized ? -1.0f : (float)x;
    const float low_y = mark == CGRX_PLANE_MARK && !s->params.optimized ? -1.0f : (float)y;
    *t = (triangle){{low_x * step.x, low_y * step.y, (float)z * step.z}, slot, back != 0};
}

static cgrx_end end_of(const scene *s, uint32_t b)
{
    const cgrx_params *p = &s->params;
    const uint64_t size = p->entries.bucket, n = p->entries.store.n,
                   end = (b + 1) * size < n ? (b + 1) * size : n;
    cgrx_end e = {.rep = s->keys[end - 1], .is_first = b == 0, .is_last = b + 1 == p->n_buckets};
    if (!e.is_first)
        e.before = s->keys[b * size - 1];
    if (!e.is_last) {
        e.next_key = s->keys[end];
        e.after = s->keys[(end + size < n ? end + size : n) - 1];
    }
    return e;
}

static uint64_t owned_to(const scene *s, uint32_t b)
{
    const cgrx_end e = end_of(s, b);
    return cgrx_owns_to(&s->params.map, (int)s->params.optimized, &e);
}

static void add_bucket(scene *s, uint32_t b)
{
    const kr_point_map *map = &s->params.map;
    const cgrx_end e = end_of(s, b);
    const uint32_t n = s->params.n_buckets;
    const uint32_t all = s->params.optimized ? cgrx_marks_optimized(map, &e) : cgrx_marks_naive(map, &e);
    const uint32_t marks = s->flips ? all : all & ~(uint32_t)CGRX_FLIPPED;
    const uint64_t row = kr_point_row(map, e.rep), x_most = cgrx_x_most(map);
    const uint64_t x = kr_point_low_bits(e.rep, map->x_bits), y = kr_point_low_bits(row, map->y_bits);
    const uint64_t z = row >> map->y_bits;
    if (marks & CGRX_REP)
        place(s, marks & CGRX_MOVED ? x_most : x, y, z, 0, b, marks & CGRX_FLIPPED);
    if (marks & CGRX_ROW_MARK)
        place(s, x_most, y, z, CGRX_ROW_MARK, b + n, 0);
    if (marks & CGRX_PLANE_MARK)
        place(s, x_most, cgrx_y_most(map), z, CGRX_PLANE_MARK, b + 2 * n, 0);
}

/* The keys must lie in s->keys, in order. */
static void build(scene *s, uint32_t n, uint32_t bucket, uint32_t optimized, uint32_t rays,
                  const kr_point_map *map)
{
    cgrx_params *p = &s->params;
    const uint32_t n_buckets = (n + bucket - 1) / bucket;
    *p =
        (cgrx_params){.scene = {.host = s},
                      .entries = {.store = kr_entries_of(KR_LAYOUT_SOA, sizeof *s->keys, s->keys, s->rows, n),
                                  .bucket = bucket},
                      .row_first = s->row_first,
                      .plane_first = s->plane_first,
                      .lowest = s->keys[0],
                      .highest = s->keys[n - 1],
                      .last_rep = s->keys[n - 1],
                      .map = *map,
                      .n_buckets = n_buckets,
                      .optimized = optimized,
                      .rays = rays};
    s->host.trace = trace;
    s->n = 0;
    for (uint32_t b = 0; b < n_buckets; ++b) {
        const uint64_t rep = end_of(s, b).rep, before = b ? end_of(s, b - 1).rep : 0;
        const int same_row = b && kr_point_row(map, rep) == kr_point_row(map, before);
        const int same_plane = b && cgrx_plane(map, rep) == cgrx_plane(map, before);
        s->row_first[b] = same_row ? s->row_first[b - 1] : b;
        s->plane_first[b] = same_plane ? s->plane_first[b - 1] : b;
        add_bucket(s, b);
    }
    const int as_published = rays == CGRX_RAYS_PAPER && n_buckets > 1;
    p->first_end = as_published ? end_of(s, 0).rep : owned_to(s, 0);
    p->last_begin = as_published ? p->last_rep : n_buckets > 1 ? owned_to(s, n_buckets - 2) : p->first_end;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

/* The first bucket that owns the key. */
static uint32_t owner_of(const scene *s, uint64_t key)
{
    uint32_t b = 0;
    while (owned_to(s, b) < key)
        ++b;
    return b;
}

static void check_key(scene *s, uint32_t key)
{
    cgrx_params *p = &s->params;
    cgrx_state state;
    uint32_t want = 0;
    int repaired = 0;
    p->batch = (kr_batch){.lower = &key, .lower_type = KR_U32};
    if (cgrx_begin(p, 0, &state))
        while (cgrx_find_step(p, &state))
            assert_true(state.rays < 6);
    while (want < p->entries.store.n && s->keys[want] < key)
        ++want;
    if (key < s->keys[0] || key > s->keys[p->entries.store.n - 1]) {
        assert_int_equal(state.phase, CGRX_ABSENT);
        assert_int_equal(state.rays, 0);
        return;
    }
    assert_int_equal(state.phase, CGRX_FOUND);
    assert_true(state.rays <= (p->rays == CGRX_RAYS_PAPER ? 5u : p->rays == CGRX_RAYS_SHORT ? 3u : 2u));
    assert_int_equal(state.bucket, owner_of(s, key));
    assert_int_equal(cgrx_first_of(p, &state, &repaired), want);
    assert_int_equal(repaired, 0);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Scenes, and the rays that are cast into them. */
static const struct {
    uint32_t optimized, rays, flips;
} ways[] = {
    {0, CGRX_RAYS_PAPER, 1},  {0, CGRX_RAYS_SHORT, 1}, {1, CGRX_RAYS_PAPER, 1}, {1, CGRX_RAYS_SHORT, 1},
    {1, CGRX_RAYS_COLUMN, 1}, {1, CGRX_RAYS_PAPER, 0}, {1, CGRX_RAYS_SHORT, 0},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Keys in any order, in buckets of every size, both scenes, all sorts of rays. */
static void check_keys(scene *s, uint32_t n, const kr_point_map *map, uint32_t values)
{
    static const uint32_t buckets[] = {1, 2, 3, 4, 7, 100};
    qsort(s->keys, n, sizeof *s->keys, by_number);
    for (uint32_t i = 0; i < 2 * WAYS * sizeof buckets / sizeof buckets[0]; ++i) {
        const uint32_t size = i / (2 * WAYS), how = i / 2 % WAYS;
        if (size && buckets[size - 1] >= n)
            break;
        s->prefers_high = i & 1;
        s->flips = ways[how].flips;
        build(s, n, buckets[size], ways[how].optimized, ways[how].rays, map);
        for (uint32_t key = 0; key < values; ++key)
            check_key(s, key);
    }
}

/* What a set of keys is made of: any, distinct, few, ends of rows, ends of planes. */
static uint32_t random_key(uint32_t what, uint32_t values, uint32_t row, uint32_t plane, kr_rng *rng)
{
    const uint32_t any = (uint32_t)kr_rng_below(rng, values);
    const uint32_t ends[] = {0, 1, plane - 1, plane - 2, row - 1, plane - row};
    switch (what) {
    case 1: return any % 5 * row % values + any % 3;
    case 2: return any / row * row + any % 2 * (row - 1);
    case 3: return any / plane * plane + ends[kr_rng_below(rng, 6)];
    default: return any;
    }
}

static void check_random(scene *s, const kr_point_map *map, uint32_t values)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 8, 13, 24, 40};
    const uint32_t row = 1u << map->x_bits, plane = row << map->y_bits;
    kr_rng rng = {values};
    for (uint32_t i = 0; i < 6 * 4 * 8; ++i) {
        const uint32_t n = sizes[i % 8];
        for (uint32_t k = 0; k < n; ++k)
            s->keys[k] = random_key(i / 8 % 4, values, row, plane, &rng) % values;
        check_keys(s, n, map, values);
    }
}

static void check_runs(scene *s, const kr_point_map *map, uint32_t values)
{
    const uint32_t row = 1u << map->x_bits, plane = row << map->y_bits, most = values - 1;
    const struct {
        uint32_t first, step, count, second, again;
    } runs[] = {
        {0, 1, values, 0, 0},
        {0, 0, 10, 0, 0},
        {most, 0, 10, 0, 0},
        {0, 0, 5, most, 5},
        {row - 1, 0, 7, row, 3},
        {plane - 1, 0, 6, plane % values, 6},
        {0, row, values / row, 0, 0},
        {row - 1, row, values / row, 0, 0},
        {0, plane, values / plane, 0, 0},
        {plane - 1, plane, values / plane, 0, 0},
    };
    for (size_t r = 0; r < sizeof runs / sizeof runs[0]; ++r) {
        uint32_t n = 0;
        for (; n < runs[r].count; ++n)
            s->keys[n] = runs[r].first + n * runs[r].step;
        for (uint32_t i = 0; i < runs[r].again; ++i)
            s->keys[n++] = runs[r].second;
        check_keys(s, n, map, values);
    }
}

static void every_key_is_found(void **state)
{
    static const uint32_t bits[][3] = {{3, 2, 2}, {2, 1, 3}, {1, 2, 2}, {3, 2, 3}, {4, 1, 0}, {2, 4, 0}};
    scene *s = calloc(1, sizeof *s);
    (void)state;
    assert_non_null(s);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; ++i)
        for (int scaled = 0; scaled < 2; ++scaled) {
            const kr_point_map map = {.step = {1, scaled ? 32768.0f : 1, scaled ? 33554432.0f : 1},
                                      .mode = KR_POINT_3D,
                                      .x_bits = bits[i][0],
                                      .y_bits = bits[i][1]};
            const uint32_t values = 1u << (bits[i][0] + bits[i][1] + bits[i][2]);
            check_runs(s, &map, values);
            if (!scaled)
                check_random(s, &map, values);
        }
    free(s);
}

/* The smallest case in which a row's mark over its last representative, at x's end, hides a run of equal
 * keys. */
static void a_run_at_the_end_of_a_row(void **state)
{
    static const uint32_t keys[] = {1, 7, 7, 32, 39, 62, 97, 127};
    const kr_point_map map = {{1, 1, 1}, KR_POINT_3D, 3, 2};
    scene *s = calloc(1, sizeof *s);
    (void)state;
    assert_non_null(s);
    memcpy(s->keys, keys, sizeof keys);
    check_keys(s, sizeof keys / sizeof keys[0], &map, 128);
    build(s, sizeof keys / sizeof keys[0], 2, 1, 1, &map);
    const cgrx_end first = end_of(s, 0);
    assert_int_equal(cgrx_marks_optimized(&map, &first) & CGRX_ROW_MARK, 0);
    check_key(s, 7);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_found),
        cmocka_unit_test(a_run_at_the_end_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
