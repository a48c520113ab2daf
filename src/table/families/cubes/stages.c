/* Stages of a batch. In each, one launch sieves for all members, and then one launch for each group casts the
 * rays of all of them. */
#include "table/condition/grow.h"
#include "table/families/cubes/batch.h"
#include "table/families/cubes/scene.h"
#include "table/families/cubes/sieve_params.h"

#include <stdlib.h>
#include <string.h>

KR_PROGRAM_DECLARE(cubes_sieve_batch);

/* An array in host memory that becomes one in device memory. */
typedef struct array {
    void *data;
    uint64_t n, room;
} array;

/* What the programs of a stage read. */
enum { SIEVE_JOBS, SIEVE_LEAVES, VECTORS, RAY_JOBS, TESTS, RAYS, ENDS, LISTS };

/* What a group has to do in a stage. */
typedef struct casting {
    uint64_t first, n, n_rays;
} casting;

/* The stage under way. */
typedef struct stage {
    const cubes_batch *batch;
    kr_work *work;
    uint32_t number;
    array lists[LISTS];
    casting *of_groups;
    const cubes_part *only; /* NULL, or all that it answers */
    /* Where the lists are in device memory; NULL: they go along with the launches. */
    char *memory;
    const char *at[LISTS];
} stage;

/* ---- Bitmaps --------------------------------------------------------------------------------- */

/* Stages of a plan write two bitmaps in turn, the last of them the result. */
static uint32_t *bitmap_of(const cubes_member *m, uint32_t number)
{
    return (m->n_stages - 1 - number) % 2 ? m->spare : m->bitmap;
}

static const uint32_t *alive_of(const cubes_batch *b, const cubes_member *m, uint32_t number)
{
    return number ? bitmap_of(m, number - 1) : b->alive;
}

/* Second bitmaps, in one piece. */
static uint32_t *take_spares(cubes_batch *b)
{
    const uint64_t words = (kr_scans_bitmap_words(b->table->n_rows) + 63) / 64 * 64;
    uint64_t n = 0;
    for (uint32_t i = 0; i < b->n; ++i)
        n += b->members[i].n_stages > 1;
    uint32_t *spares =
        kr_work_take_or(b->work, n * words * sizeof *spares,
                        b->n > 1 ? "bitmaps of parts of conditions" : "a bitmap of a part of a condition",
                        b->n > 1 ? "fewer conditions at once" : NULL);
    for (uint32_t i = b->n; i-- > 0 && spares;)
        if (b->members[i].n_stages > 1)
            b->members[i].spare = spares + --n * words;
    return spares;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static const uint64_t each_of[LISTS] = {[SIEVE_JOBS] = sizeof(cubes_sieve_job),
                                        [SIEVE_LEAVES] = sizeof(cubes_sieve_leaf),
                                        [VECTORS] = sizeof(uint32_t),
                                        [RAY_JOBS] = sizeof(cubes_ray_job),
                                        [TESTS] = sizeof(cubes_test),
                                        [RAYS] = sizeof(cubes_rays),
                                        [ENDS] = sizeof(uint64_t)};

/* Room for n more elements, zeroed; NULL: a step has failed. */
static void *extend(stage *s, uint32_t which, uint64_t n)
{
    array *l = s->lists + which;
    KR_STEP(s->work, kr_condition_grow(&l->data, &l->room, l->n, n, each_of[which], "a batch of conditions",
                                       s->work->err)
                         ? KR_OK
                         : KR_ERR_HOST_MEMORY);
    if (!kr_work_goes_on(s->work))
        return NULL;
    void *at = (char *)l->data + l->n * each_of[which];
    memset(at, 0, n * each_of[which]);
    l->n += n;
    return at;
}

static uint64_t list_nbytes(const stage *s, uint32_t which)
{
    return (s->lists[which].n * each_of[which] + 7) / 8 * 8;
}

/* Parts first .. end - 1 of a member are those of a stage. */
static void parts_of(const cubes_member *m, uint32_t number, uint32_t *first, uint32_t *end)
{
    *first = m->is_or ? 0 : number;
    *end = m->is_or ? m->n_parts : number + 1;
}

static void add_sieve_leaf(stage *s, const cubes_part *part, uint32_t axis)
{
    const kr_vectors *vectors = &part->table->columns[part->group->columns[axis]].vectors;
    const cubes_sieved *from = part->sieved + axis;
    const uint32_t first = (uint32_t)s->lists[VECTORS].n;
    uint32_t *numbers = from->n_vectors ? extend(s, VECTORS, from->n_vectors) : NULL;
    cubes_sieve_leaf *leaf = extend(s, SIEVE_LEAVES, 1);
    if (!leaf)
        return;
    for (uint32_t v = 0; v < from->n_vectors; ++v)
        numbers[v] = from->vectors[v];
    *leaf = (cubes_sieve_leaf){vectors->words.data,     vectors->stride, first,
                               first + from->n_vectors, from->inverts,   0};
}

static void add_sieve_job(stage *s, const cubes_member *m)
{
    const array *leaves = s->lists + SIEVE_LEAVES;
    const uint32_t first_leaf = (uint32_t)leaves->n;
    uint32_t first, end;
    parts_of(m, s->number, &first, &end);
    for (uint32_t t = first; t < end && kr_work_goes_on(s->work); ++t) {
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            if (m->parts[t].leaves[axis])
                add_sieve_leaf(s, m->parts + t, axis);
        if (kr_work_goes_on(s->work))
            ((cubes_sieve_leaf *)leaves->data)[leaves->n - 1].ends = 1;
    }
    cubes_sieve_job *job = extend(s, SIEVE_JOBS, 1);
    if (job)
        *job = (cubes_sieve_job){bitmap_of(m, s->number), alive_of(s->batch, m, s->number), first_leaf,
                                 (uint32_t)leaves->n};
}

/* Until addresses are known, `low` is the place in the list of ends, if there are several intervals. */
static void add_test(stage *s, const cubes_part *part, uint32_t axis)
{
    const kr_leaf *leaf = part->leaves[axis];
    const uint64_t at = s->lists[ENDS].n;
    uint64_t *ends = leaf->n_intervals > 1 ? extend(s, ENDS, 2 * leaf->n_intervals) : NULL;
    cubes_test *test = extend(s, TESTS, 1);
    if (!test)
        return;
    *test = cubes_test_of(part, axis);
    if (ends) {
        cubes_write_ends(leaf, ends);
        test->low = at;
    }
}

static void add_ray_job(stage *s, const cubes_member *m)
{
    const array *tests = s->lists + TESTS;
    const uint32_t first_test = (uint32_t)tests->n;
    uint32_t first, end;
    parts_of(m, s->number, &first, &end);
    for (uint32_t t = first; t < end && kr_work_goes_on(s->work); ++t) {
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            if (m->parts[t].leaves[axis])
                add_test(s, m->parts + t, axis);
        if (kr_work_goes_on(s->work))
            ((cubes_test *)tests->data)[tests->n - 1].ends = 1;
    }
    cubes_ray_job *job = extend(s, RAY_JOBS, 1);
    if (job)
        *job = (cubes_ray_job){alive_of(s->batch, m, s->number), bitmap_of(m, s->number), first_test,
                               (uint32_t)tests->n};
}

/* The regions of a part; *n_rays counts the rays of the launch. */
static void add_rays(stage *s, const cubes_part *part, uint32_t job, uint64_t *n_rays)
{
    cubes_rays *rays = part->n_regions ? extend(s, RAYS, part->n_regions) : NULL;
    for (uint64_t r = 0; r < part->n_regions && rays; ++r) {
        rays[r] = cubes_rays_of(&part->group->matrix, part->regions + r);
        rays[r].axes |= job << 8;
        rays[r].first = *n_rays;
        *n_rays += cubes_rays_count(rays + r);
    }
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* The lists one after the other, as they will be in device memory. */
static void write_lists(stage *s, char *host)
{
    const char *there = s->memory;
    cubes_test *tests = s->lists[TESTS].data;
    for (uint32_t i = 0; i < LISTS; there += list_nbytes(s, i++))
        s->at[i] = there;
    for (uint64_t t = 0; t < s->lists[TESTS].n; ++t)
        if (tests[t].n_intervals > 1) {
            tests[t].lows = (const uint64_t *)s->at[ENDS] + tests[t].low;
            tests[t].highs = tests[t].lows + tests[t].n_intervals;
        }
    for (uint32_t i = 0; i < LISTS; host += list_nbytes(s, i++))
        if (s->lists[i].n)
            memcpy(host, s->lists[i].data, s->lists[i].n * each_of[i]);
}

/* Short lists of a conjunction are parameters of the launches. */
static int go_along(const stage *s)
{
    return s->only && !s->lists[ENDS].n && s->lists[RAYS].n <= CUBES_REGIONS;
}

static void place(stage *s)
{
    kr_work *work = s->work;
    const char *what = s->batch->n > 1 ? "a batch of conditions" : "values of a condition";
    uint64_t nbytes = 0;
    if (go_along(s))
        return;
    for (uint32_t i = 0; i < LISTS; ++i)
        nbytes += list_nbytes(s, i);
    char *host = kr_work_array(work, nbytes, 1, what);
    s->memory =
        kr_work_take_constants(work, nbytes, what, s->batch->n > 1 ? "fewer conditions at once" : NULL);
    if (s->memory)
        write_lists(s, host);
    kr_work_write_constants(work, s->memory, host, nbytes);
    free(host);
}

static void sieve_together(const stage *s)
{
    const cubes_batch *b = s->batch;
    const cubes_sieve_batch_params params = {.jobs = (const cubes_sieve_job *)s->at[SIEVE_JOBS],
                                             .leaves = (const cubes_sieve_leaf *)s->at[SIEVE_LEAVES],
                                             .vectors = (const uint32_t *)s->at[VECTORS],
                                             .found = b->notes->counters ? b->notes->counters + KR_SCAN_SPARED
                                                                         : NULL,
                                             .n_rows = b->table->n_rows,
                                             .n_jobs = (uint32_t)s->lists[SIEVE_JOBS].n};
    const uint64_t chunks =
        (kr_scans_bitmap_words(params.n_rows) + CUBES_SIEVE_CHUNK - 1) / CUBES_SIEVE_CHUNK;
    kr_work_run(s->work, &cubes_sieve_batch, &params,
                chunks * params.n_jobs * s->work->device->ops->group_threads);
}

static void sieve(const stage *s)
{
    const cubes_ray_job *only = s->lists[RAY_JOBS].data;
    if (s->memory)
        sieve_together(s);
    else
        cubes_part_sieve(s->work, s->only, only->alive, only->bitmap, s->batch->notes);
    kr_work_lap(s->work, "sieve");
}

static void cast(const stage *s, cubes_group *group, const casting *rays)
{
    const cubes_batch *b = s->batch;
    kr_work *work = s->work;
    kr_tracer *tracer = NULL;
    KR_STEP(work, kr_tracer_of(work->device, &tracer, work->err));
    cubes_scene_open(work, b->table, group);
    if (!kr_work_goes_on(work))
        return;
    cubes_ray_params params = cubes_ray_params_of(group, b->table->design.pack, b->notes->counters);
    params.n_regions = (uint32_t)rays->n;
    if (s->memory) {
        params.more_jobs = (const cubes_ray_job *)s->at[RAY_JOBS];
        params.more_tests = (const cubes_test *)s->at[TESTS];
        params.more_rays = (const cubes_rays *)s->at[RAYS] + rays->first;
    } else {
        params.only = *(const cubes_ray_job *)s->lists[RAY_JOBS].data;
        memcpy(params.tests, s->lists[TESTS].data, s->lists[TESTS].n * sizeof *params.tests);
        memcpy(params.rays, s->lists[RAYS].data, rays->n * sizeof *params.rays);
    }
    kr_scene_run(work, tracer, cubes_program_of(group), &params, rays->n_rays);
}

/* Jobs of the stage; `jobs` becomes the number of each member's. */
static void fill_jobs(stage *s, uint32_t *jobs)
{
    uint32_t n = 0;
    s->only = NULL;
    for (uint32_t i = 0; i < s->batch->n; ++i) {
        const cubes_member *m = s->batch->members + i;
        jobs[i] = n;
        if (s->number >= m->n_stages)
            continue;
        s->only = n++ || m->is_or ? NULL : m->parts + s->number;
        add_sieve_job(s, m);
        add_ray_job(s, m);
    }
}

/* The regions of a group. */
static casting fill_rays(stage *s, const cubes_group *group, const uint32_t *jobs)
{
    casting made = {.first = s->lists[RAYS].n};
    for (uint32_t i = 0; i < s->batch->n; ++i) {
        const cubes_member *m = s->batch->members + i;
        uint32_t first, end;
        parts_of(m, s->number, &first, &end);
        for (uint32_t t = first; s->number < m->n_stages && t < end; ++t)
            if (m->parts[t].group == group)
                add_rays(s, m->parts + t, jobs[i], &made.n_rays);
    }
    made.n = s->lists[RAYS].n - made.first;
    return made;
}

static void answer_stage(stage *s)
{
    const cubes_table *table = s->batch->table;
    uint32_t jobs[KR_SELECTS_MOST];
    s->memory = NULL;
    for (uint32_t i = 0; i < LISTS; ++i)
        s->lists[i].n = 0;
    fill_jobs(s, jobs);
    for (uint32_t g = 0; g < table->n_groups; ++g)
        s->of_groups[g] = fill_rays(s, table->groups + g, jobs);
    place(s);
    if (kr_work_goes_on(s->work))
        sieve(s);
    for (uint32_t g = 0; g < table->n_groups && kr_work_goes_on(s->work); ++g)
        if (s->of_groups[g].n)
            cast(s, table->groups + g, s->of_groups + g);
    kr_work_lap(s->work, "refine");
    kr_work_give(s->work, s->memory);
}

void cubes_stages_answer(cubes_batch *b)
{
    stage s = {.batch = b, .work = b->work};
    s.of_groups = kr_work_array(b->work, b->table->n_groups, sizeof *s.of_groups, "a condition");
    for (uint32_t i = 0; i < b->n; ++i)
        b->n_stages = b->members[i].n_stages > b->n_stages ? b->members[i].n_stages : b->n_stages;
    uint32_t *spares = take_spares(b);
    for (; s.number < b->n_stages && kr_work_goes_on(b->work); ++s.number)
        answer_stage(&s);
    kr_work_give(b->work, spares);
    for (uint32_t i = 0; i < LISTS; ++i)
        free(s.lists[i].data);
    free(s.of_groups);
}
