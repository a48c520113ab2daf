/* Merges the batch of an update into sorted entries, at one key width. */
#include "sorted/merge.h"

/* Scratch arrays, released together. */
enum { DELETE_AT, REMOVED, HITS, INSERT_AT, BOUNDS, SPLITS, FOUND };
kr_assert_size(char[FOUND + 1], KR_MERGE_SCRATCHES);

KR_PROGRAM_DECLARE(kr_merge_keep);
KR_MERGE_PROGRAMS_DECLARE(sorted_merge_soa);
KR_MERGE_PROGRAMS_DECLARE(sorted_merge_any);

static kr_status allocate(kr_merge *m, int which, uint64_t nbytes, const char *what, kr_error *err)
{
    return kr_buffer_allocate(m->device, nbytes, m->stream, what, "a smaller batch", &m->scratch[which], err);
}

static kr_status run(kr_merge *m, const kr_program *program, uint64_t n, kr_error *err)
{
    return kr_device_run(m->device, program, m->params, n, m->stream, err);
}

void KR_W(kr_merge_release)(kr_merge *m)
{
    for (int i = KR_MERGE_SCRATCHES; i-- > 0;)
        kr_buffer_release(m->device, &m->scratch[i], m->stream);
}

kr_merge KR_W(kr_merge_of_entries)(kr_device *device, kr_stream *stream, const kr_entries *old,
                                   uint32_t layout, kr_sorted_merge_params *params)
{
    static const kr_merge_programs soa = KR_MERGE_PROGRAMS_OF(sorted_merge_soa),
                                   any = KR_MERGE_PROGRAMS_OF(sorted_merge_any);
    const int apart = old->layout == KR_LAYOUT_SOA && layout == KR_LAYOUT_SOA;
    *params = (kr_sorted_merge_params){.merge = {.old = *old}, .blocks = {KR_MERGE_SHARED, 0}};
    return (kr_merge){.device = device,
                      .stream = stream,
                      .programs = apart ? soa : any,
                      .params = params,
                      .merge = &params->merge};
}

/* ---- Plan ---------------------------------------------------------------------------------- */

static int as_on_gpu(const kr_merge *m)
{
    return !m->device->ops->is_host || m->merge->by_bits;
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

static kr_status allocate_plan(kr_merge *m, kr_error *err)
{
    kr_merge_params *p = m->merge;
    const uint64_t deletes = p->n_deletes, inserts = p->n_inserts, tiles = p->n_tiles;
    kr_status status = allocate(m, FOUND, KR_MERGE_FOUND * sizeof(uint64_t), "what a merge found", err);
    if (status == KR_OK)
        status = allocate(m, SPLITS, (tiles + 1) * sizeof *p->splits, "tiles of a merge", err);
    if (status == KR_OK)
        status = allocate(m, INSERT_AT, inserts * sizeof *p->insert_at, "places of inserts", err);
    if (status == KR_OK && is_bounded(m))
        status =
            allocate(m, BOUNDS, (kr_merge_bounds(deletes) + kr_merge_bounds(inserts)) * sizeof *p->bounds,
                     "bounds of a merge", err);
    if (status == KR_OK && deletes)
        status = allocate(m, DELETE_AT, deletes * sizeof *p->delete_at, "places of deletes", err);
    if (status == KR_OK && deletes)
        status = allocate(m, REMOVED, (deletes + 1) * sizeof *p->removed, "rows to delete", err);
    if (status == KR_OK && deletes)
        status = allocate(m, HITS, (deletes + 1) * sizeof *p->hits, "keys to delete", err);
    p->found = m->scratch[FOUND].data;
    p->splits = m->scratch[SPLITS].data;
    p->insert_at = m->scratch[INSERT_AT].data;
    p->bounds = m->scratch[BOUNDS].data;
    p->delete_at = m->scratch[DELETE_AT].data;
    p->removed = m->scratch[REMOVED].data;
    p->hits = m->scratch[HITS].data;
    return status;
}

static kr_status find_deletes(kr_merge *m, kr_error *err)
{
    kr_merge_params *p = m->merge;
    kr_status status =
        kr_device_exclusive_sum(m->device, p->removed, p->n_deletes + UINT64_C(1), m->stream, err);
    if (status == KR_OK)
        status =
            kr_device_run(m->device, &KR_W(kr_merge_keep), p, p->n_deletes + UINT64_C(1), m->stream, err);
    return status;
}

/* Blocks. */
static kr_status read_found(kr_merge *m, kr_error *err)
{
    uint64_t found[KR_MERGE_FOUND] = {0};
    const kr_status status =
        kr_counters_read(m->device, m->stream, &m->scratch[FOUND], found, KR_MERGE_FOUND, err);
    m->n = kr_merge_places(m->merge) - found[KR_MERGE_FOUND_REMOVED];
    m->lowest = found[KR_MERGE_FOUND_LOWEST];
    m->highest = found[KR_MERGE_FOUND_HIGHEST];
    return status;
}

static uint64_t runs(uint64_t n, uint64_t run_length)
{
    return n / run_length + (n % run_length != 0);
}

static kr_status check_rows(const kr_merge *m, kr_error *err)
{
    if (m->n < KR_NO_ROW)
        return KR_OK;
    return kr_fail(err, KR_ERR_LIMIT,
                   "%llu rows after the update: an index holds at most 4294967294; insert less, or make a "
                   "second index",
                   (unsigned long long)m->n);
}

/* Without deletes, the number of rows is known, and what was found is read when all is written. */
kr_status KR_W(kr_merge_plan)(kr_merge *m, const kr_changes *changes, kr_error *err)
{
    kr_merge_params *p = m->merge;
    begin(m, changes);
    kr_status status = p->n_deletes ? KR_OK : check_rows(m, err);
    if (status == KR_OK)
        status = allocate_plan(m, err);
    if (status == KR_OK && p->bounds)
        status =
            run(m, m->programs.bound, kr_merge_bounds(p->n_deletes) + kr_merge_bounds(p->n_inserts), err);
    if (status == KR_OK)
        status = run(m, m->programs.find, runs(p->n_deletes, p->run) + runs(p->n_inserts, p->run), err);
    if (status == KR_OK && p->n_deletes)
        status = find_deletes(m, err);
    if (status == KR_OK)
        status = run(m, m->programs.split, p->n_tiles + UINT64_C(3), err);
    if (status == KR_OK && p->n_deletes)
        status = read_found(m, err);
    return status == KR_OK ? check_rows(m, err) : status;
}

int KR_W(kr_merge_changes)(const kr_merge *m)
{
    return m->merge->n_inserts || m->n != m->merge->old.n;
}

/* ---- Write --------------------------------------------------------------------------------- */

kr_status KR_W(kr_merge_write)(kr_merge *m, const kr_entries *merged, kr_error *err)
{
    m->merge->merged = *merged;
    const kr_status status = run(m, m->programs.write, m->merge->n_tiles, err);
    if (status != KR_OK)
        return status;
    return m->merge->n_deletes ? KR_OK : read_found(m, err);
}

/* ---- Sorted columns ------------------------------------------------------------------------- */

kr_status KR_W(kr_sorted_merge)(kr_device *device, kr_stream *stream, kr_stopwatch *watch,
                                const kr_changes *changes, const kr_entries *old, kr_sorted *merged,
                                kr_error *err)
{
    kr_sorted_merge_params params;
    kr_merge m = KR_W(kr_merge_of_entries)(device, stream, old, KR_LAYOUT_SOA, &params);
    kr_sorted made = {0};
    kr_status status = KR_W(kr_merge_plan)(&m, changes, err);
    made.n = m.n;
    if (status == KR_OK)
        status =
            kr_buffer_allocate(device, made.n * sizeof(kr_key), stream, "merged keys", NULL, &made.keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, made.n * sizeof(uint32_t), stream, "merged row ids", NULL,
                                    &made.rows, err);
    const kr_entries entries =
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), made.keys.data, made.rows.data, made.n);
    if (status == KR_OK)
        status = KR_W(kr_merge_write)(&m, &entries, err);
    made.lowest = m.lowest;
    made.highest = m.highest;
    KR_W(kr_merge_release)(&m);
    kr_stopwatch_lap(watch, "merge");
    if (status == KR_OK)
        *merged = made;
    else
        kr_sorted_release(device, &made, stream);
    return status;
}
