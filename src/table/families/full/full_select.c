/* How kind `full` answers a conjunction, or a whole condition, in one pass. */
#include "base/key/key.h"
#include "table/families/full/full_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A condition under way: its parameters, and the ends of intervals that they point to, of all leaves that are
 * searched, in host memory and where they will be on the device. */
typedef struct full_job {
    const full_table *table;
    full_params params;
    uint32_t n_leaves, is_wide; /* is_wide: codes of 64 bits */
    uint32_t n_narrow;          /* leaves that are read in narrow copies */
    char *ends, *there;
    uint64_t ends_nbytes; /* those that are written so far */
} full_job;

/* ---- Leaves as programs take them ------------------------------------------------------------ */

uint32_t full_load_of(const kr_column *column, uint32_t is_wide)
{
    const uint32_t width = kr_type_nbytes(column->type);
    if ((uintptr_t)column->data % (width == 8 ? 16 : 4 * width) || (width == 8 && !is_wide))
        return FULL_LOAD_ONE_BY_ONE;
    return width == 8 ? FULL_LOAD_8 : width == 4 ? FULL_LOAD_4 : width == 2 ? FULL_LOAD_2 : FULL_LOAD_1;
}

const char *full_narrow_note(uint32_t n, char text[FULL_NOTE_NBYTES])
{
    text[0] = '\0';
    if (n)
        snprintf(text, FULL_NOTE_NBYTES, ", %u of them in narrow copies", n);
    return text;
}

int full_as_interval(const full_codes *codes, uint32_t type, uint64_t *base, uint64_t *span, uint32_t *negate)
{
    const kr_interval first = codes->n ? full_codes_at(codes, 0) : (kr_interval){0, codes->most};
    const kr_interval last = codes->n ? full_codes_at(codes, codes->n - 1) : first;
    uint64_t low = first.low, high = first.high;
    *negate = codes->n != 1;
    if (codes->n == 2 && first.low == 0 && last.high == codes->most) {
        low = first.high + 1;
        high = last.low - 1;
    } else if (codes->n > 1) {
        return 0;
    }
    *base = type == KR_F32 || type == KR_F64 ? low : low - kr_type_bias(type);
    *span = high - low;
    return 1;
}

static void write_ends(const full_codes *codes, uint32_t is_wide, void *ends)
{
    const uint64_t n = codes->n;
    for (uint64_t i = 0; i < n; ++i) {
        const kr_interval at = full_codes_at(codes, i);
        if (is_wide) {
            ((uint64_t *)ends)[i] = at.low;
            ((uint64_t *)ends)[n + i] = at.high;
        } else {
            ((uint32_t *)ends)[i] = (uint32_t)at.low;
            ((uint32_t *)ends)[n + i] = (uint32_t)at.high;
        }
    }
}

/* Lows before highs. */
static void as_search(full_job *job, const full_codes *codes, full_leaf *to)
{
    const uint64_t n = codes->n, nbytes = n * (job->is_wide ? 8 : 4);
    write_ends(codes, job->is_wide, job->ends + job->ends_nbytes);
    to->form = FULL_SEARCH;
    to->lows = job->there + job->ends_nbytes;
    to->highs = job->there + job->ends_nbytes + nbytes;
    to->n_intervals = (uint32_t)n;
    job->ends_nbytes += 2 * nbytes;
}

static void add_leaf(full_job *job, const kr_leaf *leaf)
{
    const kr_column *column = full_read_of(job->table, leaf);
    const full_codes codes = full_codes_in(job->table, leaf);
    full_leaf *to = job->params.leaves + job->n_leaves++;
    *to = (full_leaf){.data = column->data,
                      .validity = column->validity,
                      .validity_offset = (uint32_t)column->validity_offset,
                      .type = column->type,
                      .load = full_load_of(column, job->is_wide),
                      .nulls = leaf->nulls};
    const full_zones *zones = job->table->zones ? job->table->zones + leaf->column : NULL;
    if (zones && zones->are_used && leaf->other == KR_NO_COLUMN) {
        to->zones = zones->buffer.data;
        to->zone_highs = (const char *)zones->buffer.data + zones->buffer.nbytes / 2;
    }
    if (leaf->other != KR_NO_COLUMN) {
        const kr_column *other = job->table->columns + leaf->other;
        to->form = FULL_COLUMNS;
        to->compare = leaf->compare;
        to->other = other->data;
        to->other_validity = other->validity;
        to->other_offset = (uint32_t)other->validity_offset;
        to->load = full_load_of(other, job->is_wide) ? to->load : FULL_LOAD_ONE_BY_ONE;
        return;
    }
    job->n_narrow += (uint32_t)full_is_narrow(job->table, leaf->column);
    if (!full_as_interval(&codes, column->type, &to->base, &to->span, &to->negate)) {
        to->negate = 0;
        as_search(job, &codes, to);
    }
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static int is_wide(const full_table *table, const kr_leaf *leaf)
{
    return kr_type_key_bits(full_read_of(table, leaf)->type) == 64;
}

/* Ends of intervals that a leaf is searched by. */
static uint64_t count_ends(const full_table *table, const kr_leaf *leaf)
{
    uint64_t base, span;
    uint32_t negate;
    if (leaf->other != KR_NO_COLUMN)
        return 0;
    const full_codes codes = full_codes_in(table, leaf);
    return full_as_interval(&codes, full_read_of(table, leaf)->type, &base, &span, &negate) ? 0 : 2 * codes.n;
}

/* Reading a line of memory less pays where few of its rows are wanted, and a line has more of them the
 * narrower they are: README.md has what was measured. `nbytes`: of a value of the narrowest column. */
static uint32_t skips(const kr_device *device, const full_table *table, double selectivity, uint32_t nbytes)
{
    const double few = device->ops->is_host ? 1.0 / 1024 : nbytes < 4 ? 1.0 / 32 : 2.0 / 5;
    if (table->logic == FULL_LOGIC_AND)
        return FULL_SKIPS_NOTHING;
    return table->logic == FULL_LOGIC_BRANCHING || selectivity <= few ? FULL_SKIPS_GROUPS : FULL_SKIPS_PARTS;
}

/* Ready for these leaves to be added, if no step has failed. */
static void begin(kr_work *work, full_job *job, const kr_leaf *const *leaves, uint32_t n,
                  const kr_scan_notes *notes)
{
    const full_table *table = job->table;
    uint64_t n_ends = 0;
    job->params.n = table->n_rows;
    if (notes->counters) {
        job->params.compared = notes->counters + KR_SCAN_REFINED;
        job->params.spared = notes->counters + KR_SCAN_SPARED;
    }
    for (uint32_t i = 0; i < n; ++i) {
        job->is_wide |= (uint32_t)is_wide(table, leaves[i]);
        n_ends += count_ends(table, leaves[i]);
    }
    if (!n_ends)
        return;
    const uint64_t each = job->is_wide ? 8 : 4, nbytes = n_ends * each;
    job->ends = kr_work_array(work, n_ends, each, "values of a condition");
    job->there = kr_work_take_constants(work, nbytes, "values of a condition", NULL);
}

static void add_code(full_params *params, uint32_t op, uint32_t leaf)
{
    params->code[2 * params->n_code] = (uint8_t)op;
    params->code[2 * params->n_code++ + 1] = (uint8_t)leaf;
}

static void finish(kr_work *work, full_job *job)
{
    const uint64_t tiles = (job->table->n_rows + FULL_TILE - 1) / FULL_TILE;
    kr_work_write_constants(work, job->there, job->ends, job->ends_nbytes);
    kr_work_run(work, job->is_wide ? &full_select_u64 : &full_select_u32, &job->params,
                tiles * work->device->ops->group_threads);
    kr_work_lap(work, "scan");
    kr_work_give(work, job->there);
    free(job->ends);
}

/* ---- A conjunction --------------------------------------------------------------------------- */

/* Bytes of a value of the narrowest column that is read. */
static uint32_t narrowest(const full_table *table, const kr_select *part)
{
    uint32_t least = 8;
    for (uint32_t i = 0; i < part->n_leaves; ++i) {
        const uint32_t nbytes = kr_type_nbytes(full_read_of(table, part->leaves[i])->type);
        least = nbytes < least ? nbytes : least;
    }
    return least;
}

/* The leaves in ascending order of selectivity, which is `first` for the first of them. */
static void order(const full_table *table, const kr_select *part, uint32_t *list, double *first)
{
    double shares[FULL_LEAVES] = {1};
    for (uint32_t i = 0; i < part->n_leaves; ++i) {
        const double share = full_selectivity(table, part->leaves[i]);
        uint32_t at = i;
        for (; at > 0 && shares[at - 1] > share; --at) {
            shares[at] = shares[at - 1];
            list[at] = list[at - 1];
        }
        shares[at] = share;
        list[at] = i;
    }
    *first = shares[0];
}

/* At most FULL_LEAVES. */
static void select_some(kr_work *work, const full_table *table, const kr_select *part,
                        const kr_scan_notes *notes)
{
    full_job job = {.table = table, .params = {.bitmap = part->bitmap, .alive = part->alive}};
    uint32_t list[FULL_LEAVES];
    char note[FULL_NOTE_NBYTES];
    double first = 1;
    begin(work, &job, part->leaves, part->n_leaves, notes);
    order(table, part, list, &first);
    job.params.skips = skips(work->device, table, first, narrowest(table, part));
    for (uint32_t i = 0; i < part->n_leaves && kr_work_goes_on(work); ++i) {
        add_code(&job.params, i ? FULL_AND_LEAF : FULL_PUSH, i);
        add_leaf(&job, part->leaves[list[i]]);
    }
    kr_scans_log_step(notes->log, "full: %u predicate%s in one pass, %s%s", part->n_leaves,
                      part->n_leaves == 1 ? "" : "s",
                      job.params.skips == FULL_SKIPS_GROUPS ? "branching" : "reading every row",
                      full_narrow_note(job.n_narrow, note));
    finish(work, &job);
}

/* The rows that one pass leaves are alive for the next. */
void full_select_rows(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes)
{
    const uint64_t nbytes = kr_scans_bitmap_words(((const full_table *)self)->n_rows) * sizeof(uint32_t);
    kr_select part = *job;
    uint32_t *left = NULL;
    for (uint32_t first = 0; first < job->n_leaves; first += FULL_LEAVES) {
        part.leaves = job->leaves + first;
        part.n_leaves = job->n_leaves - first < FULL_LEAVES ? job->n_leaves - first : FULL_LEAVES;
        if (first && !left)
            left = kr_work_take(work, nbytes, "a bitmap of a part of a condition");
        if (first) {
            kr_work_copy(work, left, job->bitmap, nbytes);
            part.alive = left;
        }
        select_some(work, self, &part, notes);
    }
    kr_work_give(work, left);
}

/* ---- A whole condition ----------------------------------------------------------------------- */

/* What a node is to its parent. */
typedef struct place {
    uint8_t parent; /* KR_PLAN_AND, KR_PLAN_OR */
    uint8_t is_first;
} place;

/* 0: it is too large for one pass. */
static int find_places(const kr_plan *plan, place places[FULL_CODE])
{
    if (plan->n_nodes > FULL_CODE || plan->n_leaves > FULL_LEAVES || !plan->n_leaves)
        return 0;
    places[plan->n_nodes - 1] = (place){KR_PLAN_AND, 1};
    for (uint64_t i = plan->n_nodes; i-- > 0;) {
        uint64_t child = i - 1;
        if (plan->nodes[i].op == KR_PLAN_LEAF)
            continue;
        for (uint32_t k = plan->nodes[i].n; k-- > 0; child -= plan->nodes[child].size)
            places[child] = (place){(uint8_t)plan->nodes[i].op, k == 0};
    }
    return 1;
}

/* The first operand of a node begins a new bitmap, the others change it. 0: the stack is too small. */
static int write_code(full_params *params, const kr_plan *plan, const place *places)
{
    uint32_t depth = 0;
    for (uint64_t i = 0; i < plan->n_nodes; ++i) {
        const int is_and = places[i].parent == KR_PLAN_AND, is_leaf = plan->nodes[i].op == KR_PLAN_LEAF;
        if (is_leaf && places[i].is_first) {
            depth += params->n_code > 0;
            add_code(params, FULL_PUSH, plan->nodes[i].n);
        } else if (is_leaf) {
            add_code(params, is_and ? FULL_AND_LEAF : FULL_OR_LEAF, plan->nodes[i].n);
        } else if (!places[i].is_first) {
            add_code(params, is_and ? FULL_AND : FULL_OR, 0);
            --depth;
        }
        if (depth > FULL_STACK)
            return 0;
    }
    return 1;
}

/* 0: the plan is too large for one pass. */
static int write_plan(full_params *params, const kr_plan *plan)
{
    place places[FULL_CODE];
    return find_places(plan, places) && write_code(params, plan, places);
}

static void describe_plan(const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    snprintf(text, KR_SCAN_STEP_NBYTES, "full: %llu predicates under AND and OR in one pass",
             (unsigned long long)plan->n_leaves);
}

int full_select_plan(kr_work *work, const full_table *table, const kr_plan *plan, const uint32_t *alive,
                     uint32_t *bitmap, const kr_scan_notes *notes)
{
    full_job job = {.table = table, .params = {.bitmap = bitmap, .alive = alive}};
    const kr_leaf *leaves[FULL_LEAVES] = {NULL};
    char text[KR_SCAN_STEP_NBYTES], note[FULL_NOTE_NBYTES];
    const uint32_t n = (uint32_t)plan->n_leaves;
    if (!write_plan(&job.params, plan))
        return 0;
    for (uint32_t i = 0; i < n; ++i)
        leaves[i] = plan->leaves + i;
    begin(work, &job, leaves, n, notes);
    job.params.skips = skips(work->device, table, 1, 8); /* not few: any of its leaves may be wanted */
    for (uint32_t i = 0; i < n && kr_work_goes_on(work); ++i)
        add_leaf(&job, leaves[i]);
    describe_plan(plan, text);
    kr_scans_log_step(notes->log, "%s%s", text, full_narrow_note(job.n_narrow, note));
    finish(work, &job);
    return 1;
}

int full_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    full_params params = {.n_code = 0};
    if (!full_batch_holds(self, plan) && !write_plan(&params, plan))
        return 0;
    describe_plan(plan, text);
    return 1;
}
