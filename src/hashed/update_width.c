/* kr_index_update of a table, at one key width: in place where there is room, else into a new table. */
#include "hashed/table.h"
#include "hashed/update_body.h"
#include "sorted/changes.h"

/* In thousandths. A table that has grown or shrunk this far from its load is made anew. FULL: of the slots,
 * which is enough for keys to find one. */
enum { MOST = 1060, LEAST = 600, FULL = 970 };

/* Batches that a GPU makes into a new table without a plan, in hundredths of the rows: so many inserts take
 * as long in place as a new table does; so many, where a new table is likely, as their plan would make it a
 * tenth slower. docs/performance-tables.md. */
enum { LARGE = 1 << 16, SHARE = 40, SHARE_GROWING = 5 };

typedef struct update {
    kr_device *device;
    const kr_update *job;
    kr_hashed *table;
    kr_changes changes;
    kr_buffer targets;            /* of the inserts, then of the deletes */
    kr_buffer needs;              /* the counters lie behind the needs, to be read with their sum */
    kr_buffer spans, aside, more; /* larger ones, with what the old hold */
    kr_buffer marks;              /* of a rebuild: slots whose keys are deleted */
    kr_sorted all;                /* of a rebuild: room for all old rows, then the inserts */
    int is_large; /* 1: the inserts are there from the beginning, not sorted and not planned */
    table_update_params params;
    uint64_t need; /* spans << 32 | rows in them */
    uint64_t found[TABLE_CHANGES];
} update;

/* The sum of the needs, the counters; then those of used nodes, of failed claims, and the
 * lengths of lists. */
enum { STRIPES = TABLE_STRIPES * TABLE_CHANGES, COUNTERS = 1 + STRIPES + 2 + TABLE_STRIPES / 2 };

static kr_status run(update *u, const kr_program *program, const void *params, uint64_t n, kr_error *err)
{
    return kr_device_run(u->device, program, params, n, u->job->stream, err);
}

static kr_status run_whole(update *u, const kr_program *program, uint64_t n, kr_error *err)
{
    return kr_device_run_whole(u->device, program, &u->params, n, u->job->stream, err);
}

static kr_status allocate(update *u, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err)
{
    return kr_buffer_allocate(u->device, nbytes, u->job->stream, what, "insert fewer rows at once", buffer,
                              err);
}

/* All but the batch. */
static void release_changed(update *u)
{
    kr_stream *stream = u->job->stream;
    kr_buffer_release(u->device, &u->more, stream);
    kr_buffer_release(u->device, &u->aside, stream);
    kr_buffer_release(u->device, &u->spans, stream);
    kr_buffer_release(u->device, &u->needs, stream);
    kr_buffer_release(u->device, &u->targets, stream);
}

static void release(update *u)
{
    release_changed(u);
    kr_sorted_release(u->device, &u->all, u->job->stream);
    kr_changes_release(u->device, u->job->stream, &u->changes);
}

/* ---- Plan ------------------------------------------------------------------------------------------ */

static kr_status begin(update *u, kr_error *err)
{
    const kr_hashed *table = u->table;
    const uint64_t n = u->is_large ? 0 : u->changes.inserts.n;
    const uint64_t targets = (n + u->changes.deletes.n) * sizeof(uint64_t);
    const uint64_t lists = u->table->design.linked ? 0 : table_list_places(n) * TABLE_STRIPES;
    kr_status status =
        allocate(u, targets + lists * sizeof(uint32_t), "places of changed keys", &u->targets, err);
    if (status == KR_OK)
        status = allocate(u, (n + COUNTERS) * sizeof(uint64_t), "needs of inserted keys", &u->needs, err);
    uint64_t *needs = u->needs.data;
    if (status == KR_OK)
        status = kr_device_fill(u->device, needs + n, 0, COUNTERS * sizeof(uint64_t), u->job->stream, err);
    u->params = (table_update_params){
        .table = kr_hashed_view_of(table),
        .deletes = u->changes.deletes.keys.data,
        .inserts = u->changes.inserts.keys.data,
        .rows = u->is_large ? (uint32_t *)u->all.rows.data + table->n_rows : u->changes.inserts.rows.data,
        .targets = u->targets.data,
        .doomed = u->targets.data ? (uint64_t *)u->targets.data + n : NULL,
        .needs = needs,
        .counts = needs ? needs + n + 1 : NULL,
        .used = needs ? (uint32_t *)(needs + n + 1 + STRIPES) : NULL,
        .failed = needs ? (uint32_t *)(needs + n + 2 + STRIPES) : NULL,
        .n_waiting = needs ? (uint32_t *)(needs + n + 3 + STRIPES) : NULL,
        .waiting = u->targets.data ? (uint32_t *)((char *)u->targets.data + targets) : NULL,
        .n_deletes = (uint32_t)u->changes.deletes.n,
        .n_inserts = (uint32_t)n,
        .n_spans = (uint32_t)table->n_spans,
        .n_aside = (uint32_t)table->n_aside,
        .next_row = u->job->next_row,
    };
    return status;
}

/* Blocks. */
static kr_status read_counters(update *u, kr_error *err)
{
    uint64_t read[1 + STRIPES];
    const kr_buffer from = {u->params.needs + u->params.n_inserts, sizeof read};
    const kr_status status = kr_counters_read(u->device, u->job->stream, &from, read, 1 + STRIPES, err);
    if (status == KR_OK) {
        u->need = read[0];
        table_tally_sum(read + 1, TABLE_CHANGES, u->found);
    }
    return status;
}

/* Of a large batch: only what is deleted, and whether row ids are in order. */
static kr_status plan(update *u, kr_error *err)
{
    kr_status status = begin(u, err);
    const uint64_t n = u->params.n_inserts;
    if (status == KR_OK)
        status = run(u, &KR_W(table_doom), &u->params, u->changes.deletes.n, err);
    if (status == KR_OK && u->job->insert_rows)
        status = run(u, &KR_W(table_early), &u->params, u->changes.inserts.n, err);
    if (status == KR_OK)
        status = run(u, &KR_W(table_plan), &u->params, n, err);
    if (status == KR_OK && u->table->n_heads && u->table->design.linked)
        status = run(u, &KR_W(table_crowd), &u->params, n, err);
    if (status == KR_OK && n)
        status = kr_device_exclusive_sum(u->device, u->params.needs, n + 1, u->job->stream, err);
    if (status == KR_OK)
        status = read_counters(u, err);
    kr_stopwatch_lap(u->job->watch, "plan");
    return status;
}

static uint64_t rows_after(const update *u)
{
    return u->table->n_rows - u->found[TABLE_CHANGE_ROWS] + u->changes.inserts.n;
}

static uint64_t keys_after(const update *u)
{
    return u->table->n_keys - u->found[TABLE_CHANGE_KEYS] + u->found[TABLE_CHANGE_NEW];
}

/* 1: finding all keys reads a tenth more nodes for each than when the table was made; or, of kind hash,
 * updates have inserted as many keys as there are, so that filters are full and misses slow. */
static int is_worn(const kr_hashed *table)
{
    const double made = (double)(table->made_keys + table->made_steps) / (double)(table->made_keys + 1);
    return (double)(table->n_keys + table->n_steps) > 1.1 * made * (double)table->n_keys + 64 ||
           (!table->design.linked && table->n_new > table->n_keys + 64);
}

/* The most places aside, with those that hold nothing: as many as there are rows after deletes, one for 16
 * rows of the table where rows are inserted. So replaced rows add little memory. */
static uint64_t most_aside(const update *u)
{
    const uint64_t need = u->need & UINT32_MAX;
    const uint64_t live = u->table->n_several - u->found[TABLE_CHANGE_ASIDE] + need;
    return live + (need ? 0 : live) + u->table->n_rows / 16 + 64;
}

/* Kind chain: the most nodes behind the buckets, so that replaced keys add at most a twelfth to the memory.
 */
static uint64_t most_nodes(const kr_hashed *table)
{
    return table->made_more + (table->n_heads + table->made_more) / 12 + 1;
}

/* Whether the batch fits where the table stands: enough free slots while the deleted keys are still there,
 * and not too much memory that nothing uses. */
static int fits(const update *u)
{
    const kr_hashed *table = u->table;
    const uint64_t slots = (uint64_t)table->n_heads * table->design.slots, load = table->design.load;
    const uint64_t most = table->n_keys + u->found[TABLE_CHANGE_NEW], keys = keys_after(u);
    const uint64_t aside = table->n_aside + (u->need & UINT32_MAX);
    if (u->found[TABLE_CHANGE_FAILED] || (!table->design.linked && most * 1000 > slots * FULL))
        return 0;
    if (most * 1000 > slots * load / 1000 * MOST ||
        kr_hashed_heads(&table->design, keys) * 1000 < (uint64_t)table->n_heads * LEAST)
        return 0;
    if (is_worn(table) || table->n_more + u->found[TABLE_CHANGE_NODES] > most_nodes(table))
        return 0;
    return aside < UINT32_MAX && aside <= most_aside(u);
}

/* ---- In place -------------------------------------------------------------------------------------- */

/* A quarter more than is needed, so that buffers are seldom made larger, but at most so much. */
static uint64_t with_spare(const kr_buffer *old, uint64_t nbytes, uint64_t most)
{
    const uint64_t more = nbytes > old->nbytes && old->nbytes ? nbytes + nbytes / 4 : nbytes;
    return more < most ? more : most > nbytes ? most : nbytes;
}

/* A larger buffer with what the old holds. */
static kr_status enlarge(update *u, const kr_buffer *old, uint64_t nbytes, int zeroed, const char *what,
                         kr_buffer *made, kr_error *err)
{
    if (nbytes <= old->nbytes)
        return KR_OK;
    kr_status status = allocate(u, (nbytes + 15) & ~(uint64_t)15, what, made, err);
    if (status == KR_OK && zeroed)
        status = kr_device_fill(u->device, made->data, 0, made->nbytes, u->job->stream, err);
    return status == KR_OK && old->nbytes
               ? kr_device_copy(u->device, made->data, old->data, old->nbytes, u->job->stream, err)
               : status;
}

static kr_status make_room(update *u, kr_error *err)
{
    const kr_hashed *table = u->table;
    const uint64_t node = kr_hashed_node_nbytes(sizeof(kr_key), table->design.slots, 1);
    const uint64_t nodes = table->n_more + u->found[TABLE_CHANGE_NODES];
    const uint64_t spans = (table->n_spans + (u->need >> 32)) * sizeof(kr_match);
    const uint64_t aside = (table->n_aside + (u->need & UINT32_MAX)) * sizeof(uint32_t);
    kr_status status = enlarge(u, &table->spans, with_spare(&table->spans, spans, spans + table->n_rows / 4),
                               0, "keys with several rows", &u->spans, err);
    if (status == KR_OK)
        status = enlarge(u, &table->aside, with_spare(&table->aside, aside, most_aside(u) * sizeof(uint32_t)),
                         0, "rows of keys with several", &u->aside, err);
    if (status == KR_OK && table->design.linked && nodes * node > table->more.nbytes)
        status =
            enlarge(u, &table->more, most_nodes(table) * node, 1, "nodes behind the buckets", &u->more, err);
    if (u->spans.data)
        u->params.table.spans = u->spans.data;
    if (u->aside.data)
        u->params.table.aside = u->aside.data;
    if (u->more.data)
        u->params.table.more = u->more.data;
    const uint32_t used = (uint32_t)table->n_more;
    return status == KR_OK && table->design.linked
               ? kr_device_copy(u->device, u->params.used, &used, sizeof used, u->job->stream, err)
               : status;
}

static void adopt_buffer(kr_buffer *made, kr_buffer *old)
{
    if (made->data) {
        const kr_buffer kept = *old;
        *old = *made;
        *made = kept;
    }
}

static void adopt(update *u)
{
    kr_hashed *table = u->table;
    adopt_buffer(&u->spans, &table->spans);
    adopt_buffer(&u->aside, &table->aside);
    adopt_buffer(&u->more, &table->more);
    table->n_several += (u->need & UINT32_MAX) - u->found[TABLE_CHANGE_ASIDE];
    table->n_spans += u->need >> 32;
    table->n_aside += u->need & UINT32_MAX;
    table->n_more += u->found[TABLE_CHANGE_NODES];
    table->n_steps += u->found[TABLE_CHANGE_STEPS] - u->found[TABLE_CHANGE_STEPS_GONE];
    table->n_new += u->found[TABLE_CHANGE_NEW];
    table->n_keys = keys_after(u);
    table->n_rows = rows_after(u);
}

/* Sets *done unless keys found no slot: then the table is as it was, as the programs that follow the claims
 * do nothing in that case. */
static kr_status change(update *u, int *done, kr_error *err)
{
    const uint64_t n = u->changes.inserts.n;
    const int claims = u->found[TABLE_CHANGE_NEW] > 0;
    kr_status status = make_room(u, err);
    if (status == KR_OK && claims)
        status = run_whole(u, &KR_W(table_claim_slots), n, err);
    if (status == KR_OK && claims && !u->table->design.linked)
        status = run_whole(u, &KR_W(table_make_way), table_list_places(n) * TABLE_STRIPES, err);
    if (status == KR_OK)
        status = run_whole(u, &KR_W(table_erase), u->changes.deletes.n, err);
    if (status == KR_OK && u->found[TABLE_CHANGE_NEW] < n) /* else each has its slot, and one row */
        status = run_whole(u, &KR_W(table_settle), n, err);
    if (status == KR_OK)
        status = read_counters(u, err);
    if (status == KR_OK && u->found[TABLE_CHANGE_FAILED])
        status = run_whole(u, &KR_W(table_unclaim), n, err);
    *done = !u->found[TABLE_CHANGE_FAILED];
    /* other keys stay where they have moved */
    u->table->n_steps += u->found[TABLE_CHANGE_MOVED] - u->found[TABLE_CHANGE_MOVED_FROM];
    if (status == KR_OK && *done)
        adopt(u);
    kr_stopwatch_lap(u->job->watch, "apply");
    return status;
}

/* ---- Anew ------------------------------------------------------------------------------------------ */

static kr_status allocate_entries(update *u, uint64_t n, kr_sorted *entries, kr_error *err)
{
    entries->n = n;
    const kr_status status = allocate(u, n * sizeof(kr_key), "keys", &entries->keys, err);
    return status == KR_OK ? allocate(u, n * sizeof(uint32_t), "row ids", &entries->rows, err) : status;
}

/* Of a large batch: the inserts behind the room for the old entries. */
static kr_status list_inserts(update *u, kr_error *err)
{
    const uint64_t old = u->table->n_rows;
    kr_status status = allocate_entries(u, old + u->job->insert_keys.count, &u->all, err);
    kr_listed inserts = {(kr_key *)u->all.keys.data + old, (uint32_t *)u->all.rows.data + old, 0};
    if (status == KR_OK)
        status = kr_changes_list(u->device, u->job, u->table->seed, &inserts, err);
    u->changes.inserts.n = inserts.n;
    return status;
}

/* The same of a batch that is sorted. */
static kr_status copy_inserts(update *u, kr_error *err)
{
    const kr_sorted *inserts = &u->changes.inserts;
    const uint64_t old = u->table->n_rows, n = inserts->n;
    kr_status status = allocate_entries(u, old + n, &u->all, err);
    if (status == KR_OK && n)
        status = kr_device_copy(u->device, (kr_key *)u->all.keys.data + old, inserts->keys.data,
                                n * sizeof(kr_key), u->job->stream, err);
    if (status == KR_OK && n)
        status = kr_device_copy(u->device, (uint32_t *)u->all.rows.data + old, inserts->rows.data,
                                n * sizeof(uint32_t), u->job->stream, err);
    return status;
}

static kr_status make_changes(update *u, kr_error *err)
{
    const uint64_t seed = u->table->seed;
    kr_status status;
    if (!u->is_large)
        return kr_changes_make(u->device, u->job, &seed, &u->changes, err);
    status = kr_changes_deletes(u->device, u->job, seed, &u->changes.deletes, err);
    if (status == KR_OK)
        status = list_inserts(u, err);
    kr_stopwatch_lap(u->job->watch, "sort");
    return status;
}

/* The entries that stay go in front of the inserts: stably sorted by key, the rows of each key ascend unless
 * inserts are early. */
static kr_status gather(update *u, kr_error *err)
{
    const uint64_t nodes = u->table->n_heads + u->table->n_more;
    kr_buffer taken = {0};
    kr_status status = KR_OK;
    if (!u->all.keys.data) /* else those of a large batch are there */
        status = u->is_large ? list_inserts(u, err) : copy_inserts(u, err);
    if (status == KR_OK)
        status = kr_counters_make(u->device, u->job->stream, 1, &taken, err);
    const table_gather_params params = {kr_hashed_view_of(u->table),
                                        u->marks.data,
                                        u->all.keys.data,
                                        u->all.rows.data,
                                        taken.data,
                                        u->table->n_rows};
    if (status == KR_OK)
        status = run(u, &KR_W(table_gather), &params, nodes, err);
    kr_buffer_release(u->device, &taken, u->job->stream);
    kr_stopwatch_lap(u->job->watch, "gather");
    return status;
}

/* Like the rows of a build, by key and row id. */
static kr_status sort_early(update *u, const kr_key *keys, const uint32_t *rows, uint64_t n, kr_sorted *made,
                            kr_error *err)
{
    const kr_build build = {.device = u->device,
                            .stream = u->job->stream,
                            .keys = {.type = KR_KEY_BITS == 64 ? KR_U64 : KR_U32, .count = n, .data = keys},
                            .row_ids = rows};
    return kr_sorted_sort(&build, NULL, made, err);
}

static kr_status sort_by_key(update *u, const kr_key *keys, const uint32_t *rows, uint64_t n, kr_sorted *made,
                             kr_error *err)
{
    kr_status status = allocate_entries(u, n, made, err);
    const kr_sort by_key = {.key_bits = KR_KEY_BITS,
                            .end_bit = KR_KEY_BITS,
                            .n = n,
                            .keys_in = keys,
                            .keys_out = made->keys.data,
                            .rows_in = rows,
                            .rows_out = made->rows.data};
    return status == KR_OK ? kr_device_sort(u->device, &by_key, u->job->stream, err) : status;
}

/* By key alone is enough unless inserts are early. */
static kr_status sort(update *u, kr_error *err)
{
    const uint64_t skipped = u->found[TABLE_CHANGE_ROWS], n = rows_after(u);
    const kr_key *keys = (const kr_key *)u->all.keys.data + skipped;
    const uint32_t *rows = (const uint32_t *)u->all.rows.data + skipped;
    kr_sorted made = {0};
    const kr_status status = u->found[TABLE_CHANGE_EARLY] ? sort_early(u, keys, rows, n, &made, err)
                                                          : sort_by_key(u, keys, rows, n, &made, err);
    kr_sorted_release(u->device, &u->all, u->job->stream);
    u->all = made;
    kr_stopwatch_lap(u->job->watch, "sort");
    return status;
}

static kr_status build_anew(update *u, kr_hashed *made, int *fits, kr_error *err)
{
    const uint64_t slots = (uint64_t)u->table->n_heads * made->design.slots;
    kr_status status = gather(u, err);
    const uint64_t skipped = u->found[TABLE_CHANGE_ROWS];
    const table_remix_params remix = {(kr_key *)u->all.keys.data + skipped, u->table->seed, made->seed};
    if (status == KR_OK && made->seed != u->table->seed)
        status = run(u, &KR_W(table_remix), &remix, rows_after(u), err);
    if (status == KR_OK)
        status = sort(u, err);
    const kr_hashed_source source = {u->device,
                                     u->job->stream,
                                     u->job->watch,
                                     u->all.keys.data,
                                     u->all.rows.data,
                                     u->all.n,
                                     kr_hashed_room(made, u->all.n),
                                     u->table->n_keys ? slots * made->design.load / 1000 : 0};
    if (status == KR_OK)
        status = KR_W(kr_hashed_fill)(&source, made, fits, err);
    kr_sorted_release(u->device, &u->all, u->job->stream);
    return status;
}

/* Marks the slots of deleted keys. */
static kr_status mark(update *u, kr_error *err)
{
    const uint64_t n = u->changes.deletes.n, nodes = u->table->n_heads + u->table->n_more;
    if (!n || !nodes)
        return KR_OK;
    kr_status status =
        allocate(u, (nodes / 2 + 1) * sizeof(uint32_t), "marks of deleted keys", &u->marks, err);
    if (status == KR_OK)
        status = kr_device_fill(u->device, u->marks.data, 0, u->marks.nbytes, u->job->stream, err);
    u->params.marks = u->marks.data;
    return status == KR_OK ? run(u, &KR_W(table_mark), &u->params, n, err) : status;
}

static kr_status rebuild(update *u, kr_error *err)
{
    kr_hashed made = {.design = u->table->design,
                      .seed = u->table->seed,
                      .reseeds = u->table->reseeds,
                      .key_bits = KR_KEY_BITS};
    int fits = 0;
    kr_status status = mark(u, err);
    release_changed(u);
    if (status == KR_OK && u->found[TABLE_CHANGE_FAILED])
        status = kr_hashed_reseed(&made, err);
    while (status == KR_OK && !fits) {
        status = build_anew(u, &made, &fits, err);
        if (status == KR_OK && !fits)
            status = kr_hashed_reseed(&made, err);
    }
    if (status == KR_OK)
        status = kr_device_sync(u->device, u->job->stream, err);
    kr_buffer_release(u->device, &u->marks, u->job->stream);
    if (status != KR_OK) {
        kr_hashed_release(u->device, u->job->stream, &made);
        return status;
    }
    kr_hashed_release(u->device, u->job->stream, u->table);
    *u->table = made;
    return KR_OK;
}

/* On a GPU, a batch with so many inserts is made into a new table, which reads and writes all in order, where
 * planning and changing go to random places for each key. Fewer are enough where as many of them as of the
 * table's rows are other keys, and these would not fit. Deletes are cheap in place; on a CPU inserts are,
 * too. */
static int is_large(const update *u)
{
    const kr_hashed *table = u->table;
    const uint64_t inserts = u->job->insert_keys.count,
                   slots = (uint64_t)table->n_heads * table->design.slots;
    const double keys = (double)table->n_keys * (1 + (double)inserts / (double)(table->n_rows + 1));
    const int grows = keys * 1e6 > (double)slots * table->design.load * MOST;
    return !u->device->ops->is_host && inserts >= LARGE &&
           inserts * 100 >= table->n_rows * (grows ? SHARE_GROWING : SHARE);
}

static kr_status apply(update *u, kr_error *err)
{
    int done = 0;
    kr_status status = plan(u, err);
    if (status == KR_OK && rows_after(u) >= KR_NO_ROW)
        return kr_fail(
            err, KR_ERR_LIMIT,
            "%llu rows after the update: an index holds at most 4294967294; insert less, or make a "
            "second index",
            (unsigned long long)rows_after(u));
    if (status == KR_OK && !u->is_large && fits(u))
        status = change(u, &done, err);
    return status == KR_OK && !done ? rebuild(u, err) : status;
}

kr_status KR_W(kr_hashed_update)(kr_device *device, void *self, const kr_update *job, kr_error *err)
{
    kr_hashed *table = self;
    update u = {.device = device, .job = job, .table = table};
    if (!job->delete_keys.count && !job->insert_keys.count)
        return KR_OK;
    u.is_large = is_large(&u);
    kr_status status = make_changes(&u, err);
    if (status == KR_OK && (u.changes.deletes.n || u.changes.inserts.n))
        status = apply(&u, err);
    release(&u);
    return status;
}
