#include "index/sorted/changes.h"
#include "index/sorted/changes_body.h"

void kr_changes_give(kr_work *w, const kr_changes *changes)
{
    kr_sorted_give(w, &changes->inserts);
    kr_sorted_give(w, &changes->deletes);
}

/* ---- One sort for both halves ---------------------------------------------------------------- */

/* Rows of small batches, of which a sort takes as long as its launches do. */
enum { SMALL = 1 << 18 };

static int is_small(const kr_update *job)
{
    const kr_column *deletes = &job->delete_keys, *inserts = &job->insert_keys;
    return deletes->count && inserts->count && deletes->count + inserts->count <= SMALL &&
           kr_type_key_bits(inserts->type) == 32 && !deletes->validity && !inserts->validity &&
           !job->insert_rows;
}

static kr_changes sort_small(kr_work *w, const kr_update *job, const uint64_t *seed)
{
    const uint64_t deletes = job->delete_keys.count, inserts = job->insert_keys.count, n = deletes + inserts;
    const kr_changes made = {
        .deletes = {.keys = kr_work_buffer(w, deletes * sizeof(uint32_t), "keys to delete", NULL),
                    .n = deletes},
        .inserts = {.keys = kr_work_buffer(w, inserts * sizeof(uint32_t), "keys to insert", NULL),
                    .rows = kr_work_buffer(w, inserts * sizeof(uint32_t), "their row ids", NULL),
                    .n = inserts}};
    uint64_t *packed = kr_work_take(w, n * sizeof *packed, "a batch to sort");
    uint64_t *sorted = kr_work_take(w, n * sizeof *sorted, "a sorted batch");
    uint32_t *order = kr_work_take(w, n * sizeof *order, "the order of a batch");
    const pack_params pack = {.deletes = job->delete_keys.data,
                              .inserts = job->insert_keys.data,
                              .packed = packed,
                              .n_deletes = deletes,
                              .seed = seed ? *seed : 0,
                              .type = (uint32_t)job->insert_keys.type,
                              .hashed = seed != NULL};
    const kr_sort sort = {
        .key_bits = 64, .end_bit = 33, .n = n, .keys_in = packed, .keys_out = sorted, .rows_out = order};
    const unpack_params unpack = {
        sorted,  order,        made.deletes.keys.data, made.inserts.keys.data, made.inserts.rows.data,
        deletes, job->next_row};
    kr_work_run(w, &sorted_pack_changes, &pack, n);
    kr_work_sort(w, &sort);
    kr_work_run(w, &sorted_unpack_changes, &unpack, n);
    kr_work_give(w, order);
    kr_work_give(w, sorted);
    kr_work_give(w, packed);
    return made;
}

/* ---- A sort for each ------------------------------------------------------------------------- */

static kr_build build_of(const kr_update *job, int inserts)
{
    return (kr_build){.keys = inserts ? job->insert_keys : job->delete_keys,
                      .row_ids = inserts ? job->insert_rows : NULL};
}

static kr_sorted sort_one(kr_work *w, const kr_update *job, const uint64_t *seed, int inserts)
{
    const kr_build build = build_of(job, inserts);
    return build.keys.count ? kr_sorted_sort(w, &build, seed) : (kr_sorted){.n = 0};
}

/* Row ids that are not given count from zero until here. */
static void shift_rows(kr_work *w, const kr_update *job, uint32_t *rows, uint64_t n)
{
    const shift_params params = {rows, job->next_row};
    if (!job->insert_rows)
        kr_work_run(w, &sorted_shift_rows, &params, n);
}

kr_changes kr_changes_make(kr_work *w, const kr_update *job, const uint64_t *seed)
{
    kr_changes made = {.deletes = {.n = 0}};
    kr_stopwatch *watch = kr_work_unwatch(w);
    if (is_small(job)) {
        made = sort_small(w, job, seed);
    } else {
        made.deletes = sort_one(w, job, seed, 0);
        made.inserts = sort_one(w, job, seed, 1);
        shift_rows(w, job, made.inserts.rows.data, made.inserts.n);
    }
    w->watch = watch;
    kr_work_lap(w, "sort");
    return made;
}

kr_sorted kr_changes_deletes(kr_work *w, const kr_update *job, uint64_t seed)
{
    kr_stopwatch *watch = kr_work_unwatch(w);
    const kr_sorted made = sort_one(w, job, &seed, 0);
    w->watch = watch;
    return made;
}

void kr_changes_list(kr_work *w, const kr_update *job, uint64_t seed, kr_listed *inserts)
{
    kr_stopwatch *watch = kr_work_unwatch(w);
    const kr_build build = build_of(job, 1);
    kr_sorted_list(w, &build, seed, inserts);
    shift_rows(w, job, inserts->rows, inserts->n);
    w->watch = watch;
}
