/* Merges the batch of an update into sorted entries, at one key width. */
#include "index/sorted/merge.h"

KR_PROGRAM_DECLARE(kr_merge_keep);
KR_MERGE_PROGRAMS_DECLARE(sorted_merge_soa);
KR_MERGE_PROGRAMS_DECLARE(sorted_merge_any);

kr_merge KR_W(kr_merge_of_entries)(kr_work *work, const kr_entries *old, uint32_t layout,
                                   kr_sorted_merge_params *params)
{
    static const kr_merge_programs soa = KR_MERGE_PROGRAMS_OF(sorted_merge_soa),
                                   any = KR_MERGE_PROGRAMS_OF(sorted_merge_any);
    const int apart = old->layout == KR_LAYOUT_SOA && layout == KR_LAYOUT_SOA;
    *params = (kr_sorted_merge_params){.merge = {.old = *old}, .blocks = {KR_MERGE_SHARED, 0}};
    return (kr_merge){.work = work, .programs = apart ? soa : any, .params = params, .merge = &params->merge};
}

/* ---- Plan ---------------------------------------------------------------------------------- */

static int as_on_gpu(const kr_merge *m)
{
    return !m->work->device->ops->is_host || m->merge->by_bits;
}

/* Where the batch is dense, neighbours search between the same bounds, so that they read the same entries.
 * Few rows have too few threads for two searches one after the other. */
static int is_bounded(const kr_merge *m)
{
    const kr_merge_params *p = m->merge;
    return as_on_gpu(m) && (uint64_t)p->n_deletes + p->n_inserts > p->old.n / 32;
}

static void begin(kr_merge *m, const kr_changes *changes)
{
    kr_merge_params *p = m->merge;
    p->deletes = changes->deletes.keys.data;
    p->inserts = changes->inserts.keys.data;
    p->insert_rows = changes->inserts.rows.data;
    p->n_deletes = (uint32_t)changes->deletes.n;
    p->n_inserts = (uint32_t)changes->inserts.n;
    p->n_tiles = (uint32_t)((kr_merge_places(p) + KR_MERGE_TILE - 1) / KR_MERGE_TILE);
    p->run = as_on_gpu(m) ? 1 : 64;
    m->n = kr_merge_places(p);
}

static void *take(kr_merge *m, uint64_t nbytes, const char *what)
{
    return kr_work_take_or(m->work, nbytes, what, "a smaller batch");
}

static void allocate_plan(kr_merge *m)
{
    kr_merge_params *p = m->merge;
    const uint64_t deletes = p->n_deletes, inserts = p->n_inserts, tiles = p->n_tiles;
    const uint64_t bounds = is_bounded(m) ? kr_merge_bounds(deletes) + kr_merge_bounds(inserts) : 0;
    p->found = take(m, KR_MERGE_FOUND * sizeof(uint64_t), "what a merge found");
    p->splits = take(m, (tiles + 1) * sizeof *p->splits, "tiles of a merge");
    p->insert_at = take(m, inserts * sizeof *p->insert_at, "places of inserts");
    p->bounds = take(m, bounds * sizeof *p->bounds, "bounds of a merge");
    if (deletes) {
        p->delete_at = take(m, deletes * sizeof *p->delete_at, "places of deletes");
        p->removed = take(m, (deletes + 1) * sizeof *p->removed, "rows to delete");
        p->hits = take(m, (deletes + 1) * sizeof *p->hits, "keys to delete");
    }
}

void KR_W(kr_merge_give)(const kr_merge *m)
{
    const kr_merge_params *p = m->merge;
    const void *const all[] = {p->hits,      p->removed, p->delete_at, p->bounds,
                               p->insert_at, p->splits,  p->found};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        kr_work_give(m->work, all[i]);
}

/* Blocks. */
static void read_found(kr_merge *m)
{
    uint64_t found[KR_MERGE_FOUND] = {0};
    kr_work_read(m->work, found, m->merge->found, sizeof found);
    m->n = kr_merge_places(m->merge) - found[KR_MERGE_FOUND_REMOVED];
    m->lowest = found[KR_MERGE_FOUND_LOWEST];
    m->highest = found[KR_MERGE_FOUND_HIGHEST];
}

static uint64_t runs(uint64_t n, uint64_t run_length)
{
    return n / run_length + (n % run_length != 0);
}

static void check_rows(const kr_merge *m)
{
    if (m->n >= KR_NO_ROW)
        KR_STEP(
            m->work,
            kr_fail(m->work->err, KR_ERR_LIMIT,
                    "%llu rows after the update: an index holds at most 4294967294; insert less, or make a "
                    "second index",
                    (unsigned long long)m->n));
}

/* Without deletes, the number of rows is known, and what was found is read when all is written. */
void KR_W(kr_merge_plan)(kr_merge *m, const kr_changes *changes)
{
    kr_work *w = m->work;
    kr_merge_params *p = m->merge;
    begin(m, changes);
    if (!p->n_deletes)
        check_rows(m);
    allocate_plan(m);
    if (p->bounds)
        kr_work_run(w, m->programs.bound, m->params,
                    kr_merge_bounds(p->n_deletes) + kr_merge_bounds(p->n_inserts));
    kr_work_run(w, m->programs.find, m->params, runs(p->n_deletes, p->run) + runs(p->n_inserts, p->run));
    if (p->n_deletes) {
        kr_work_sum(w, p->removed, p->n_deletes + UINT64_C(1));
        kr_work_run(w, &KR_W(kr_merge_keep), p, p->n_deletes + UINT64_C(1));
    }
    kr_work_run(w, m->programs.split, m->params, p->n_tiles + UINT64_C(3));
    if (p->n_deletes) {
        read_found(m);
        check_rows(m);
    }
}

int KR_W(kr_merge_has_changes)(const kr_merge *m)
{
    return kr_work_goes_on(m->work) && (m->merge->n_inserts || m->n != m->merge->old.n);
}

/* ---- Write --------------------------------------------------------------------------------- */

void KR_W(kr_merge_write)(kr_merge *m, const kr_entries *merged)
{
    m->merge->merged = *merged;
    kr_work_run(m->work, m->programs.write, m->params, m->merge->n_tiles);
    if (!m->merge->n_deletes)
        read_found(m);
}

/* ---- Sorted columns ------------------------------------------------------------------------- */

kr_sorted KR_W(kr_sorted_merge)(kr_work *w, const kr_changes *changes, const kr_entries *old)
{
    kr_sorted_merge_params params;
    kr_merge m = KR_W(kr_merge_of_entries)(w, old, KR_LAYOUT_SOA, &params);
    KR_W(kr_merge_plan)(&m, changes);
    kr_sorted made = {.keys = kr_work_buffer(w, m.n * sizeof(kr_key), "merged keys", NULL),
                      .rows = kr_work_buffer(w, m.n * sizeof(uint32_t), "merged row ids", NULL),
                      .n = m.n};
    const kr_entries entries =
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), made.keys.data, made.rows.data, made.n);
    KR_W(kr_merge_write)(&m, &entries);
    made.lowest = m.lowest;
    made.highest = m.highest;
    KR_W(kr_merge_give)(&m);
    kr_work_lap(w, "merge");
    return made;
}
