/* Conditions, one or many. In each stage one launch sieves for all of them, and then one launch for each
 * group casts the rays of all of them. The first stage answers the first part of each conjunction, and whole
 * ORs of conjunctions whose columns share a scene: their sieved rows are united, their regions are visited
 * together, and a row that is met gets the truth of the whole. */
#include "scans/cubes/parts.h"
#include "scans/cubes/scene.h"
#include "scans/cubes/sieve_params.h"
#include "scans/describe.h"
#include "scans/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KR_PROGRAM_DECLARE(cubes_sieve_batch);

/* Conjunctions of an OR that are answered together. */
enum { TERMS_MOST = 16 };

/* A plan: the parts of a conjunction, one for each stage; or the conjunctions of an OR, all in one stage. */
typedef struct member {
    kr_batch_job *asked; /* NULL: of cubes_select */
    uint32_t *bitmap;
    cubes_part *parts;
    uint32_t n_parts, is_or;
    uint32_t n_stages;
    uint32_t *spare; /* a second bitmap, if there are several stages */
} member;

/* An array in host memory that becomes one in device memory. */
typedef struct array {
    void *data;
    uint64_t n, room;
} array;

/* What the programs of a stage read. */
enum { SIEVE_JOBS, SIEVE_LEAVES, VECTORS, RAY_JOBS, TESTS, RAYS, ENDS, LISTS };

typedef struct batch {
    kr_work *work;
    const cubes_table *table;
    const kr_scan_notes *notes;
    const uint32_t *alive;
    member members[KR_SELECTS_MOST];
    uint32_t n, n_stages;
    uint32_t *spares; /* second bitmaps of members */
    /* Of the stage under way. */
    array lists[LISTS];
    const cubes_part *only; /* NULL, or all that it answers */
} batch;

/* ---- Which plans ----------------------------------------------------------------------------- */

/* The leaves of a node that is a leaf or an AND of leaves. */
static uint32_t leaves_of(const kr_plan *plan, uint64_t at, const kr_leaf **leaves)
{
    const kr_plan_node *node = plan->nodes + at;
    const uint32_t n = node->op == KR_PLAN_LEAF ? 1 : node->n;
    const uint64_t first = node->op == KR_PLAN_LEAF ? at : at - n;
    for (uint32_t i = 0; i < n; ++i)
        leaves[i] = plan->leaves + plan->nodes[first + i].n;
    return n;
}

/* Whether the plan is an OR of conjunctions of leaves with values; its operands, if so. */
static uint32_t terms_of(const kr_plan *plan, uint64_t terms[TERMS_MOST])
{
    const kr_plan_node *root = plan->nodes + plan->n_nodes - 1;
    uint64_t child = plan->n_nodes - 2;
    if (root->op != KR_PLAN_OR || root->n > TERMS_MOST)
        return 0;
    for (uint32_t i = 0; i < root->n; child -= plan->nodes[child].size, ++i) {
        const kr_plan_node *node = plan->nodes + child;
        if (node->op != KR_PLAN_LEAF && node->size != node->n + 1)
            return 0;
        terms[i] = child;
    }
    return root->n;
}

static int has_column(const cubes_group *group, uint32_t column)
{
    int has = 0;
    for (uint32_t axis = 0; axis < group->n_columns; ++axis)
        has |= group->columns[axis] == column;
    return has;
}

static cubes_group *group_of_all(const cubes_table *table, const kr_plan *plan)
{
    for (uint32_t g = 0; g < table->n_groups; ++g) {
        int has_all = 1;
        for (uint64_t l = 0; l < plan->n_leaves; ++l)
            has_all &= has_column(table->groups + g, plan->leaves[l].column);
        if (has_all)
            return table->groups + g;
    }
    return NULL;
}

/* A part for each conjunction of the OR, all of one group. */
static kr_status make_terms(const cubes_table *table, const kr_plan *plan, const uint64_t *terms, uint32_t n,
                            member *m, kr_error *err)
{
    cubes_group *group = group_of_all(table, plan);
    const kr_leaf *leaves[CUBES_AXES];
    kr_status status = KR_OK;
    m->parts = kr_host_calloc(n, sizeof *m->parts, "a condition", err);
    if (!m->parts)
        return KR_ERR_HOST_MEMORY;
    m->n_parts = n;
    m->is_or = m->n_stages = 1;
    for (uint32_t t = 0; t < n && status == KR_OK; ++t) {
        cubes_part *part = m->parts + t;
        const uint32_t n_leaves = leaves_of(plan, terms[t], leaves);
        part->table = table;
        part->group = group;
        for (uint32_t l = 0; l < n_leaves; ++l)
            for (uint32_t axis = 0; axis < group->n_columns; ++axis)
                if (group->columns[axis] == leaves[l]->column)
                    part->leaves[axis] = leaves[l];
        status = cubes_part_plan(part, err);
    }
    return status;
}

static kr_status make_conjunction(const cubes_table *table, const kr_select *job, member *m, kr_error *err)
{
    const kr_status status = cubes_parts_make(table, job, &m->parts, &m->n_parts, err);
    m->n_stages = m->n_parts;
    return status;
}

static kr_status make_and(const cubes_table *table, const kr_plan *plan, member *m, kr_error *err)
{
    const kr_leaf **leaves = kr_host_calloc(plan->n_leaves, sizeof *leaves, "a condition", err);
    if (!leaves)
        return KR_ERR_HOST_MEMORY;
    const kr_select job = {.leaves = leaves, .n_leaves = leaves_of(plan, plan->n_nodes - 1, leaves)};
    const kr_status status = make_conjunction(table, &job, m, err);
    free(leaves);
    return status;
}

/* The number of conjunctions, if one scene answers the whole OR; else 0. */
static uint32_t terms_together(const cubes_table *table, const kr_plan *plan, uint64_t terms[TERMS_MOST])
{
    const uint32_t n = table->n_rows ? terms_of(plan, terms) : 0;
    return n && group_of_all(table, plan) ? n : 0;
}

/* Leaves out ORs of several scenes. */
static void choose(batch *b, kr_batch_job *jobs, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t terms[TERMS_MOST];
        kr_error *err = b->work->err;
        const int has_or = kr_plan_has_or(jobs[i].plan);
        const uint32_t n_terms = has_or ? terms_together(b->table, jobs[i].plan, terms) : 0;
        if (has_or && !n_terms)
            continue;
        member *m = b->members + b->n++;
        m->asked = jobs + i;
        m->bitmap = jobs[i].bitmap;
        KR_STEP(b->work, has_or ? make_terms(b->table, jobs[i].plan, terms, n_terms, m, err)
                                : make_and(b->table, jobs[i].plan, m, err));
    }
}

/* ---- Bitmaps --------------------------------------------------------------------------------- */

/* Stages of a plan write two bitmaps in turn, the last of them the result. */
static uint32_t *bitmap_of(const member *m, uint32_t stage)
{
    return (m->n_stages - 1 - stage) % 2 ? m->spare : m->bitmap;
}

static const uint32_t *alive_of(const batch *b, const member *m, uint32_t stage)
{
    return stage ? bitmap_of(m, stage - 1) : b->alive;
}

static void take_spares(batch *b)
{
    const uint64_t words = (kr_bitmap_words(b->table->n_rows) + 63) / 64 * 64;
    uint64_t n = 0;
    for (uint32_t i = 0; i < b->n; ++i)
        n += b->members[i].n_stages > 1;
    b->spares =
        kr_work_take_or(b->work, n * words * sizeof *b->spares,
                        b->n > 1 ? "bitmaps of parts of conditions" : "a bitmap of a part of a condition",
                        b->n > 1 ? "fewer conditions at once" : NULL);
    for (uint32_t i = b->n; i-- > 0 && b->spares;)
        if (b->members[i].n_stages > 1)
            b->members[i].spare = b->spares + --n * words;
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
static void *extend(batch *b, uint32_t which, uint64_t n)
{
    array *l = b->lists + which;
    KR_STEP(b->work,
            kr_grow(&l->data, &l->room, l->n, n, each_of[which], "a batch of conditions", b->work->err)
                ? KR_OK
                : KR_ERR_HOST_MEMORY);
    if (!kr_work_goes_on(b->work))
        return NULL;
    void *at = (char *)l->data + l->n * each_of[which];
    memset(at, 0, n * each_of[which]);
    l->n += n;
    return at;
}

static uint64_t list_nbytes(const batch *b, uint32_t which)
{
    return (b->lists[which].n * each_of[which] + 7) / 8 * 8;
}

/* Parts first .. end - 1 of a member are those of a stage. */
static void parts_of(const member *m, uint32_t stage, uint32_t *first, uint32_t *end)
{
    *first = m->is_or ? 0 : stage;
    *end = m->is_or ? m->n_parts : stage + 1;
}

static void add_sieve_leaf(batch *b, const cubes_part *part, uint32_t axis)
{
    const kr_vectors *vectors = &part->table->columns[part->group->columns[axis]].vectors;
    const cubes_sieved *from = part->sieved + axis;
    const uint32_t first = (uint32_t)b->lists[VECTORS].n;
    uint32_t *numbers = from->n_vectors ? extend(b, VECTORS, from->n_vectors) : NULL;
    cubes_sieve_leaf *leaf = extend(b, SIEVE_LEAVES, 1);
    if (!leaf)
        return;
    for (uint32_t v = 0; v < from->n_vectors; ++v)
        numbers[v] = from->vectors[v];
    *leaf = (cubes_sieve_leaf){vectors->words.data,     vectors->stride, first,
                               first + from->n_vectors, from->inverts,   0};
}

static void add_sieve_job(batch *b, const member *m, uint32_t stage)
{
    const array *leaves = b->lists + SIEVE_LEAVES;
    const uint32_t first_leaf = (uint32_t)leaves->n;
    uint32_t first, end;
    parts_of(m, stage, &first, &end);
    for (uint32_t t = first; t < end && kr_work_goes_on(b->work); ++t) {
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            if (m->parts[t].leaves[axis])
                add_sieve_leaf(b, m->parts + t, axis);
        if (kr_work_goes_on(b->work))
            ((cubes_sieve_leaf *)leaves->data)[leaves->n - 1].ends = 1;
    }
    cubes_sieve_job *job = extend(b, SIEVE_JOBS, 1);
    if (job)
        *job = (cubes_sieve_job){bitmap_of(m, stage), alive_of(b, m, stage), first_leaf, (uint32_t)leaves->n};
}

/* Until addresses are known, `low` is the place in the list of ends, if there are several intervals. */
static void add_test(batch *b, const cubes_part *part, uint32_t axis)
{
    const kr_leaf *leaf = part->leaves[axis];
    const uint64_t at = b->lists[ENDS].n;
    uint64_t *ends = leaf->n_intervals > 1 ? extend(b, ENDS, 2 * leaf->n_intervals) : NULL;
    cubes_test *test = extend(b, TESTS, 1);
    if (!test)
        return;
    *test = cubes_test_of(part, axis);
    if (ends) {
        cubes_write_ends(leaf, ends);
        test->low = at;
    }
}

static void add_ray_job(batch *b, const member *m, uint32_t stage)
{
    const array *tests = b->lists + TESTS;
    const uint32_t first_test = (uint32_t)tests->n;
    uint32_t first, end;
    parts_of(m, stage, &first, &end);
    for (uint32_t t = first; t < end && kr_work_goes_on(b->work); ++t) {
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            if (m->parts[t].leaves[axis])
                add_test(b, m->parts + t, axis);
        if (kr_work_goes_on(b->work))
            ((cubes_test *)tests->data)[tests->n - 1].ends = 1;
    }
    cubes_ray_job *job = extend(b, RAY_JOBS, 1);
    if (job)
        *job = (cubes_ray_job){alive_of(b, m, stage), bitmap_of(m, stage), first_test, (uint32_t)tests->n};
}

/* The regions of a part; *n_rays counts the rays of the launch. */
static void add_rays(batch *b, const cubes_part *part, uint32_t job, uint64_t *n_rays)
{
    cubes_rays *rays = part->n_regions ? extend(b, RAYS, part->n_regions) : NULL;
    for (uint64_t r = 0; r < part->n_regions && rays; ++r) {
        rays[r] = cubes_rays_of(&part->group->matrix, part->regions + r);
        rays[r].axes |= job << 8;
        rays[r].first = *n_rays;
        *n_rays += cubes_rays_count(rays + r);
    }
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* Where the lists of a stage are in device memory; NULL: they go along with the launches. */
typedef struct placed {
    char *memory;
    const char *at[LISTS];
} placed;

/* The lists one after the other, as they will be in device memory. */
static void write_lists(batch *b, placed *p, char *host)
{
    const char *there = p->memory;
    cubes_test *tests = b->lists[TESTS].data;
    for (uint32_t i = 0; i < LISTS; there += list_nbytes(b, i++))
        p->at[i] = there;
    for (uint64_t t = 0; t < b->lists[TESTS].n; ++t)
        if (tests[t].n_intervals > 1) {
            tests[t].lows = (const uint64_t *)p->at[ENDS] + tests[t].low;
            tests[t].highs = tests[t].lows + tests[t].n_intervals;
        }
    for (uint32_t i = 0; i < LISTS; host += list_nbytes(b, i++))
        if (b->lists[i].n)
            memcpy(host, b->lists[i].data, b->lists[i].n * each_of[i]);
}

/* Short lists of a conjunction are parameters of the launches. */
static int go_along(const batch *b)
{
    return b->only && !b->lists[ENDS].n && b->lists[RAYS].n <= CUBES_REGIONS;
}

static void place(batch *b, placed *p)
{
    kr_work *work = b->work;
    const char *what = b->n > 1 ? "a batch of conditions" : "values of a condition";
    uint64_t nbytes = 0;
    if (go_along(b))
        return;
    for (uint32_t i = 0; i < LISTS; ++i)
        nbytes += list_nbytes(b, i);
    char *host = kr_work_object(work, nbytes, what);
    p->memory = kr_work_take_constants(work, nbytes, what, b->n > 1 ? "fewer conditions at once" : NULL);
    if (p->memory)
        write_lists(b, p, host);
    kr_work_write_constants(work, p->memory, host, nbytes);
    free(host);
}

static void sieve_together(const batch *b, const placed *p)
{
    const cubes_sieve_batch_params params = {.jobs = (const cubes_sieve_job *)p->at[SIEVE_JOBS],
                                             .leaves = (const cubes_sieve_leaf *)p->at[SIEVE_LEAVES],
                                             .vectors = (const uint32_t *)p->at[VECTORS],
                                             .found = b->notes->counters ? b->notes->counters + KR_SCAN_SPARED
                                                                         : NULL,
                                             .n_rows = b->table->n_rows,
                                             .n_jobs = (uint32_t)b->lists[SIEVE_JOBS].n};
    const uint64_t chunks = (kr_bitmap_words(params.n_rows) + CUBES_SIEVE_CHUNK - 1) / CUBES_SIEVE_CHUNK;
    kr_work_run(b->work, &cubes_sieve_batch, &params,
                chunks * params.n_jobs * b->work->device->ops->group_threads);
}

static void sieve(const batch *b, const placed *p)
{
    const cubes_ray_job *only = b->lists[RAY_JOBS].data;
    if (p->memory)
        sieve_together(b, p);
    else
        cubes_part_sieve(b->work, b->only, only->alive, only->bitmap, b->notes);
    kr_work_lap(b->work, "sieve");
}

/* The rays of a group: regions first .. first + n - 1 of the list. */
static void cast(const batch *b, const placed *p, cubes_group *group, uint64_t first, uint64_t n,
                 uint64_t n_rays)
{
    kr_work *work = b->work;
    kr_tracer *tracer = NULL;
    KR_STEP(work, kr_tracer_of(work->device, &tracer, work->err));
    cubes_scene_open(work, b->table, group);
    if (!kr_work_goes_on(work))
        return;
    cubes_ray_params params = cubes_ray_params_of(group, b->table->design.pack, b->notes->counters);
    params.n_regions = (uint32_t)n;
    if (p->memory) {
        params.more_jobs = (const cubes_ray_job *)p->at[RAY_JOBS];
        params.more_tests = (const cubes_test *)p->at[TESTS];
        params.more_rays = (const cubes_rays *)p->at[RAYS] + first;
    } else {
        params.only = *(const cubes_ray_job *)b->lists[RAY_JOBS].data;
        memcpy(params.tests, b->lists[TESTS].data, b->lists[TESTS].n * sizeof *params.tests);
        memcpy(params.rays, b->lists[RAYS].data, n * sizeof *params.rays);
    }
    KR_STEP(work, kr_scene_run(tracer, cubes_program_of(group), &params, n_rays, work->stream, work->err));
}

/* What a group has to do in a stage. */
typedef struct casting {
    uint64_t first, n, n_rays;
} casting;

/* Jobs of the stage, and regions group by group. */
static void fill_lists(batch *b, uint32_t stage, casting *of_groups)
{
    uint32_t jobs[KR_SELECTS_MOST], n = 0;
    for (uint32_t i = 0; i < LISTS; ++i)
        b->lists[i].n = 0;
    b->only = NULL;
    for (uint32_t i = 0; i < b->n; ++i) {
        const member *m = b->members + i;
        jobs[i] = n;
        if (stage >= m->n_stages)
            continue;
        b->only = n++ || m->is_or ? NULL : m->parts + stage;
        add_sieve_job(b, m, stage);
        add_ray_job(b, m, stage);
    }
    for (uint32_t g = 0; g < b->table->n_groups; ++g) {
        casting *c = of_groups + g;
        *c = (casting){.first = b->lists[RAYS].n};
        for (uint32_t i = 0; i < b->n; ++i) {
            uint32_t first, end;
            parts_of(b->members + i, stage, &first, &end);
            for (uint32_t t = first; stage < b->members[i].n_stages && t < end; ++t)
                if (b->members[i].parts[t].group == b->table->groups + g)
                    add_rays(b, b->members[i].parts + t, jobs[i], &c->n_rays);
        }
        c->n = b->lists[RAYS].n - c->first;
    }
}

static void answer_stage(batch *b, uint32_t stage, casting *of_groups)
{
    placed p = {.memory = NULL};
    fill_lists(b, stage, of_groups);
    place(b, &p);
    if (kr_work_goes_on(b->work))
        sieve(b, &p);
    for (uint32_t g = 0; g < b->table->n_groups && kr_work_goes_on(b->work); ++g)
        if (of_groups[g].n)
            cast(b, &p, b->table->groups + g, of_groups[g].first, of_groups[g].n, of_groups[g].n_rays);
    kr_work_lap(b->work, "refine");
    kr_work_give(b->work, p.memory);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void describe_or(const member *m, char *text, size_t nbytes)
{
    uint64_t n_vectors = 0, n_regions = 0, n_rays = 0;
    for (uint32_t t = 0; t < m->n_parts; ++t) {
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            n_vectors += m->parts[t].leaves[axis] ? m->parts[t].sieved[axis].n_vectors : 0;
        n_regions += m->parts[t].n_regions;
        n_rays += m->parts[t].n_rays;
    }
    snprintf(
        text, nbytes, "%u conjunctions under OR in one scene: %llu filter vectors, %llu regions, %llu rays",
        m->n_parts, (unsigned long long)n_vectors, (unsigned long long)n_regions, (unsigned long long)n_rays);
}

static void log_batch(const batch *b)
{
    kr_scan_log *log = b->notes->log;
    char text[KR_SCAN_STEP_NBYTES];
    if (b->n > 1)
        kr_scan_log_step(log, "%u conditions together, %u launch%s of the sieve", b->n, b->n_stages,
                         b->n_stages == 1 ? "" : "es");
    for (uint32_t i = 0; i < b->n; ++i) {
        const member *m = b->members + i;
        if (m->is_or) {
            describe_or(m, text, sizeof text);
            kr_scan_log_step(log, "%s", text);
        }
        for (uint32_t t = 0; t < m->n_parts; ++t) {
            cubes_part_describe(m->parts + t, text, sizeof text);
            kr_scan_log_step(log, "%s", text);
            log->work[KR_SCAN_RAYS] += m->parts[t].n_rays;
        }
    }
}

int cubes_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    const cubes_table *table = self;
    uint64_t terms[TERMS_MOST];
    member m = {.parts = NULL};
    const uint32_t n_terms = terms_together(table, plan, terms);
    const int is_taken = n_terms && make_terms(table, plan, terms, n_terms, &m, NULL) == KR_OK;
    if (is_taken)
        describe_or(&m, text, KR_SCAN_STEP_NBYTES);
    cubes_parts_release(m.parts, m.parts ? m.n_parts : 0);
    return is_taken;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* NULL: there is nothing to answer, or a step has failed. */
static batch *begin(kr_work *work, const cubes_table *table, const uint32_t *alive,
                    const kr_scan_notes *notes)
{
    batch *b = table->n_rows ? kr_work_object(work, sizeof *b, "a condition") : NULL;
    if (!b)
        return NULL;
    b->work = work;
    b->table = table;
    b->notes = notes;
    b->alive = alive;
    return b;
}

static void answer(batch *b)
{
    casting *of_groups = kr_work_object(b->work, b->table->n_groups * sizeof *of_groups, "a condition");
    for (uint32_t i = 0; i < b->n; ++i)
        b->n_stages = b->members[i].n_stages > b->n_stages ? b->members[i].n_stages : b->n_stages;
    take_spares(b);
    for (uint32_t stage = 0; stage < b->n_stages && kr_work_goes_on(b->work); ++stage)
        answer_stage(b, stage, of_groups);
    if (b->notes->log && kr_work_goes_on(b->work))
        log_batch(b);
    free(of_groups);
}

/* Answers, and ends the batch. */
static void finish(batch *b)
{
    kr_work_lap(b->work, "encode");
    if (b->n && kr_work_goes_on(b->work))
        answer(b);
    kr_work_give(b->work, b->spares);
    for (uint32_t i = 0; i < LISTS; ++i)
        free(b->lists[i].data);
    for (uint32_t i = 0; i < b->n; ++i) {
        if (b->members[i].asked)
            b->members[i].asked->is_done = 1;
        cubes_parts_release(b->members[i].parts, b->members[i].n_parts);
    }
    free(b);
}

void cubes_select(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes)
{
    batch *b = begin(work, self, job->alive, notes);
    if (!b)
        return;
    member *m = b->members + b->n++;
    m->bitmap = job->bitmap;
    KR_STEP(work, make_conjunction(b->table, job, m, work->err));
    finish(b);
}

void cubes_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                        const uint32_t *alive, const kr_scan_notes *notes)
{
    batch *b = begin(work, self, alive, notes);
    if (!b)
        return;
    choose(b, jobs, n);
    finish(b);
}
