/* kr_index_update of a table, at one key width: in place where there is room, else into a new table. */
#include "index/families/hash/hash_table.h"
#include "index/families/hash/hash_update_width_body.h"
#include "index/sorted/changes.h"

/* In thousandths. A table that has grown or shrunk this far from its load is made anew. FULL: of the slots,
 * which is enough for keys to find one. */
enum { MOST = 1060, LEAST = 600, FULL = 970 };

/* Batches that a GPU makes into a new table without a plan, in hundredths of the rows: so many inserts take
 * as long in place as a new table does; so many, where a new table is likely, as their plan would make it a
 * tenth slower. docs/performance-tables.md. */
enum { LARGE = 1 << 16, SHARE = 40, SHARE_GROWING = 5 };

typedef struct update {
    kr_work *work;
    const kr_update *job;
    kr_hashed *table;
    kr_sorted deletes, inserts;   /* of a large batch, inserts only have a number */
    kr_buffer spans, aside, more; /* larger ones, with what the old hold */
    kr_sorted all;                /* of a rebuild: room for all old rows, then the inserts */
    int is_large; /* 1: the inserts are there from the beginning, not sorted and not planned */
    hash_update_params params;
    uint64_t need; /* spans << 32 | rows in them */
    uint64_t found[TABLE_CHANGES];
} update;

/* The sum of the needs, the counters; then those of used nodes, of failed claims, and the
 * lengths of lists. */
enum { STRIPES = TABLE_STRIPES * TABLE_CHANGES, COUNTERS = 1 + STRIPES + 2 + TABLE_STRIPES / 2 };

static void run(update *u, const kr_program *program, uint64_t n)
{
    kr_work_run(u->work, program, &u->params, n);
}

static void run_whole(update *u, const kr_program *program, uint64_t n)
{
    kr_work_run_whole(u->work, program, &u->params, n);
}

static kr_buffer take(update *u, uint64_t nbytes, const char *what)
{
    return kr_work_buffer(u->work, nbytes, what, "insert fewer rows at once");
}

/* All but the batch. */
static void give_plan(update *u)
{
    kr_work *w = u->work;
    kr_work_give(w, u->more.data);
    kr_work_give(w, u->aside.data);
    kr_work_give(w, u->spans.data);
    kr_work_give(w, u->params.needs);
    kr_work_give(w, u->params.targets);
}

/* ---- Plan ------------------------------------------------------------------------------------------ */

static void begin(update *u)
{
    const kr_hashed *table = u->table;
    const uint64_t n = u->is_large ? 0 : u->inserts.n;
    const uint64_t targets_nbytes = (n + u->deletes.n) * sizeof(uint64_t);
    const uint64_t lists = table->design.linked ? 0 : hash_list_places(n) * TABLE_STRIPES;
    uint64_t *targets = take(u, targets_nbytes + lists * sizeof(uint32_t), "places of changed keys").data;
    uint64_t *needs = take(u, (n + COUNTERS) * sizeof *needs, "needs of inserted keys").data;
    if (needs)
        kr_work_fill(u->work, needs + n, 0, COUNTERS * sizeof *needs);
    u->params = (hash_update_params){
        .table = hash_view_of(table),
        .deletes = u->deletes.keys.data,
        .inserts = u->inserts.keys.data,
        .rows = u->is_large && u->all.rows.data ? (uint32_t *)u->all.rows.data + table->n_rows
                                                : u->inserts.rows.data,
        .targets = targets,
        .doomed = targets ? targets + n : NULL,
        .needs = needs,
        .counts = needs ? needs + n + 1 : NULL,
        .used = needs ? (uint32_t *)(needs + n + 1 + STRIPES) : NULL,
        .failed = needs ? (uint32_t *)(needs + n + 2 + STRIPES) : NULL,
        .n_waiting = needs ? (uint32_t *)(needs + n + 3 + STRIPES) : NULL,
        .waiting = targets ? (uint32_t *)((char *)targets + targets_nbytes) : NULL,
        .n_deletes = (uint32_t)u->deletes.n,
        .n_inserts = (uint32_t)n,
        .n_spans = (uint32_t)table->n_spans,
        .n_aside = (uint32_t)table->n_aside,
        .next_row = u->job->next_row,
    };
}

/* Blocks. */
static void read_counters(update *u)
{
    uint64_t read[1 + STRIPES] = {0};
    if (u->params.needs)
        kr_work_read(u->work, read, u->params.needs + u->params.n_inserts, sizeof read);
    if (kr_work_goes_on(u->work)) {
        u->need = read[0];
        hash_tally_sum(read + 1, TABLE_CHANGES, u->found);
    }
}

/* Of a large batch: only what is deleted, and whether row ids are in order. */
static void plan(update *u)
{
    begin(u);
    const uint64_t n = u->params.n_inserts;
    run(u, &KR_W(hash_doom), u->deletes.n);
    if (u->job->insert_rows)
        run(u, &KR_W(hash_early), u->inserts.n);
    run(u, &KR_W(hash_plan), n);
    if (u->table->n_heads && u->table->design.linked)
        run(u, &KR_W(hash_crowd), n);
    if (n)
        kr_work_sum(u->work, u->params.needs, n + 1);
    read_counters(u);
    kr_work_lap(u->work, "plan");
}

static uint64_t rows_after(const update *u)
{
    return u->table->n_rows - u->found[TABLE_CHANGE_ROWS] + u->inserts.n;
}

static uint64_t keys_after(const update *u)
{
    return u->table->n_keys - u->found[TABLE_CHANGE_KEYS] + u->found[TABLE_CHANGE_NEW];
}

/* What slows misses of kind hash: updates have inserted as many keys as there are, so that filters are full;
 * of filter=off, they have deleted half as many keys as there were free slots, which end no search any more.
 */
static int is_worn_for_misses(const kr_hashed *table)
{
    const uint64_t slots = (uint64_t)table->n_heads * table->design.slots;
    if (table->design.plain)
        return table->n_gone * 2 > slots - table->made_keys + 64;
    return !table->design.linked && table->n_new > table->n_keys + 64;
}

/* 1: finding all keys reads a tenth more nodes for each than when the table was made; or misses are slow. */
static int is_worn(const kr_hashed *table)
{
    const double made = (double)(table->made_keys + table->made_steps) / (double)(table->made_keys + 1);
    return (double)(table->n_keys + table->n_steps) > 1.1 * made * (double)table->n_keys + 64 ||
           is_worn_for_misses(table);
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
        hash_heads(&table->design, keys) * 1000 < (uint64_t)table->n_heads * LEAST)
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

/* A larger buffer with what the old holds; none if that is large enough. */
static kr_buffer enlarge(update *u, const kr_buffer *old, uint64_t nbytes, int zeroed, const char *what)
{
    if (nbytes <= old->nbytes)
        return (kr_buffer){0};
    const kr_buffer made = take(u, (nbytes + 15) & ~(uint64_t)15, what);
    if (zeroed)
        kr_work_fill(u->work, made.data, 0, made.nbytes);
    kr_work_copy(u->work, made.data, old->data, old->nbytes);
    return made;
}

static void make_room(update *u)
{
    const kr_hashed *table = u->table;
    const uint64_t node = hash_node_nbytes(sizeof(kr_key), table->design.slots, 1);
    const uint64_t nodes = table->n_more + u->found[TABLE_CHANGE_NODES];
    const uint64_t spans = (table->n_spans + (u->need >> 32)) * sizeof(kr_match);
    const uint64_t aside = (table->n_aside + (u->need & UINT32_MAX)) * sizeof(uint32_t);
    u->spans = enlarge(u, &table->spans, with_spare(&table->spans, spans, spans + table->n_rows / 4), 0,
                       "keys with several rows");
    u->aside = enlarge(u, &table->aside, with_spare(&table->aside, aside, most_aside(u) * sizeof(uint32_t)),
                       0, "rows of keys with several");
    if (table->design.linked && nodes * node > table->more.nbytes)
        u->more = enlarge(u, &table->more, most_nodes(table) * node, 1, "nodes behind the buckets");
    if (u->spans.data)
        u->params.table.spans = u->spans.data;
    if (u->aside.data)
        u->params.table.aside = u->aside.data;
    if (u->more.data)
        u->params.table.more = u->more.data;
    const uint32_t used = (uint32_t)table->n_more;
    if (table->design.linked)
        kr_work_copy(u->work, u->params.used, &used, sizeof used);
}

static void adopt_buffer(kr_work *w, const kr_buffer *made, kr_buffer *old)
{
    if (made->data) {
        kr_buffer_release(w->device, old, w->stream);
        *old = kr_work_keep(w, made->data);
    }
}

static void adopt(update *u)
{
    kr_hashed *table = u->table;
    adopt_buffer(u->work, &u->spans, &table->spans);
    adopt_buffer(u->work, &u->aside, &table->aside);
    adopt_buffer(u->work, &u->more, &table->more);
    table->n_several += (u->need & UINT32_MAX) - u->found[TABLE_CHANGE_ASIDE];
    table->n_spans += u->need >> 32;
    table->n_aside += u->need & UINT32_MAX;
    table->n_more += u->found[TABLE_CHANGE_NODES];
    table->n_steps += u->found[TABLE_CHANGE_STEPS] - u->found[TABLE_CHANGE_STEPS_GONE];
    table->n_new += u->found[TABLE_CHANGE_NEW];
    table->n_gone += u->found[TABLE_CHANGE_KEYS];
    table->n_keys = keys_after(u);
    table->n_rows = rows_after(u);
}

/* 0 if keys found no slot: then the table is as it was, as the programs that follow the claims do nothing in
 * that case. */
static int change(update *u)
{
    const uint64_t n = u->inserts.n;
    const int claims = u->found[TABLE_CHANGE_NEW] > 0;
    make_room(u);
    if (claims)
        run_whole(u, &KR_W(hash_claim_slots), n);
    if (claims && !u->table->design.linked)
        run_whole(u, &KR_W(hash_make_way), hash_list_places(n) * TABLE_STRIPES);
    run_whole(u, &KR_W(hash_erase), u->deletes.n);
    if (u->found[TABLE_CHANGE_NEW] < n) /* else each has its slot, and one row */
        run_whole(u, &KR_W(hash_settle), n);
    read_counters(u);
    if (u->found[TABLE_CHANGE_FAILED])
        run_whole(u, &KR_W(hash_unclaim), n);
    /* other keys stay where they have moved */
    u->table->n_steps += u->found[TABLE_CHANGE_MOVED] - u->found[TABLE_CHANGE_MOVED_FROM];
    if (kr_work_goes_on(u->work) && !u->found[TABLE_CHANGE_FAILED])
        adopt(u);
    kr_work_lap(u->work, "apply");
    return !u->found[TABLE_CHANGE_FAILED];
}

/* ---- Anew ------------------------------------------------------------------------------------------ */

static kr_sorted take_entries(update *u, uint64_t n)
{
    return (kr_sorted){.keys = take(u, n * sizeof(kr_key), "keys"),
                       .rows = take(u, n * sizeof(uint32_t), "row ids"),
                       .n = n};
}

/* Entries behind the first `first` ones. */
static kr_key *keys_behind(const update *u, uint64_t first)
{
    return u->all.keys.data ? (kr_key *)u->all.keys.data + first : NULL;
}

static uint32_t *rows_behind(const update *u, uint64_t first)
{
    return u->all.rows.data ? (uint32_t *)u->all.rows.data + first : NULL;
}

/* Of a large batch: the inserts behind the room for the old entries. */
static void list_inserts(update *u)
{
    const uint64_t old = u->table->n_rows;
    u->all = take_entries(u, old + u->job->insert_keys.count);
    kr_listed inserts = {keys_behind(u, old), rows_behind(u, old), 0};
    kr_changes_list(u->work, u->job, u->table->seed, &inserts);
    u->inserts.n = inserts.n;
}

/* The same of a batch that is sorted. */
static void copy_inserts(update *u)
{
    const uint64_t old = u->table->n_rows, n = u->inserts.n;
    u->all = take_entries(u, old + n);
    kr_work_copy(u->work, keys_behind(u, old), u->inserts.keys.data, n * sizeof(kr_key));
    kr_work_copy(u->work, rows_behind(u, old), u->inserts.rows.data, n * sizeof(uint32_t));
}

static void make_changes(update *u)
{
    const uint64_t seed = u->table->seed;
    if (u->is_large) {
        u->deletes = kr_changes_deletes(u->work, u->job, seed);
        list_inserts(u);
        kr_work_lap(u->work, "sort");
    } else {
        const kr_changes changes = kr_changes_make(u->work, u->job, &seed);
        u->deletes = changes.deletes;
        u->inserts = changes.inserts;
    }
}

/* The entries that stay go in front of the inserts: stably sorted by key, the rows of each key ascend unless
 * inserts are early. */
static void gather(update *u)
{
    kr_work *w = u->work;
    if (!u->all.keys.data && u->is_large) /* else those of a large batch are there */
        list_inserts(u);
    else if (!u->is_large)
        copy_inserts(u);
    uint64_t *taken = kr_work_counters(w, 1);
    const hash_gather_params params = {hash_view_of(u->table), u->params.marks,   u->all.keys.data,
                                       u->all.rows.data,       (uint32_t *)taken, u->table->n_rows};
    kr_work_run(w, &KR_W(hash_gather), &params, u->table->n_heads + u->table->n_more);
    kr_work_give(w, taken);
    kr_work_lap(w, "gather");
}

/* Like the rows of a build, by key and row id. */
static kr_sorted sort_early(update *u, const kr_key *keys, const uint32_t *rows, uint64_t n)
{
    const kr_build build = {.keys = {.type = KR_KEY_BITS == 64 ? KR_U64 : KR_U32, .count = n, .data = keys},
                            .row_ids = rows};
    kr_stopwatch *watch = kr_work_unwatch(u->work);
    const kr_sorted made = kr_sorted_sort(u->work, &build, NULL);
    u->work->watch = watch;
    return made;
}

static kr_sorted sort_by_key(update *u, const kr_key *keys, const uint32_t *rows, uint64_t n)
{
    const kr_sorted made = take_entries(u, n);
    const kr_sort by_key = {.key_bits = KR_KEY_BITS,
                            .end_bit = KR_KEY_BITS,
                            .n = n,
                            .keys_in = keys,
                            .keys_out = made.keys.data,
                            .rows_in = rows,
                            .rows_out = made.rows.data};
    kr_work_sort(u->work, &by_key);
    return made;
}

/* By key alone is enough unless inserts are early. */
static void sort(update *u)
{
    const uint64_t skipped = u->found[TABLE_CHANGE_ROWS], n = rows_after(u);
    const kr_key *keys = keys_behind(u, skipped);
    const uint32_t *rows = rows_behind(u, skipped);
    const kr_sorted made =
        u->found[TABLE_CHANGE_EARLY] ? sort_early(u, keys, rows, n) : sort_by_key(u, keys, rows, n);
    kr_sorted_give(u->work, &u->all);
    u->all = made;
    kr_work_lap(u->work, "sort");
}

static int build_anew(update *u, kr_hashed *made)
{
    const uint64_t slots = (uint64_t)u->table->n_heads * made->design.slots;
    gather(u);
    const hash_remix_params remix = {keys_behind(u, u->found[TABLE_CHANGE_ROWS]), u->table->seed, made->seed};
    if (made->seed != u->table->seed)
        kr_work_run(u->work, &KR_W(hash_remix), &remix, rows_after(u));
    sort(u);
    const hash_source source = {u->all.keys.data, u->all.rows.data, u->all.n, hash_room(made, u->all.n),
                                u->table->n_keys ? slots * made->design.load / 1000 : 0};
    const int fits = KR_W(hash_fill)(u->work, &source, made);
    kr_sorted_give(u->work, &u->all);
    u->all = (kr_sorted){.n = 0};
    return fits;
}

/* Marks the slots of deleted keys. */
static void mark(update *u)
{
    const uint64_t n = u->deletes.n, nodes = u->table->n_heads + u->table->n_more;
    if (!n || !nodes)
        return;
    const kr_buffer marks = take(u, (nodes / 2 + 1) * sizeof(uint32_t), "marks of deleted keys");
    kr_work_fill(u->work, marks.data, 0, marks.nbytes);
    u->params.marks = marks.data;
    run(u, &KR_W(hash_mark), n);
}

static void rebuild(update *u)
{
    kr_work *w = u->work;
    kr_hashed made = {.design = u->table->design,
                      .seed = u->table->seed,
                      .reseeds = u->table->reseeds,
                      .key_bits = KR_KEY_BITS};
    mark(u);
    give_plan(u);
    if (u->found[TABLE_CHANGE_FAILED])
        KR_STEP(w, hash_reseed(&made, w->err));
    for (int fits = 0; kr_work_goes_on(w) && !fits;) {
        fits = build_anew(u, &made);
        if (!fits)
            KR_STEP(w, hash_reseed(&made, w->err));
    }
    kr_work_sync(w);
    hash_keep(w, &made);
    if (kr_work_goes_on(w)) {
        hash_release(w->device, w->stream, u->table);
        *u->table = made;
    }
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
    return !u->work->device->ops->is_host && inserts >= LARGE &&
           inserts * 100 >= table->n_rows * (grows ? SHARE_GROWING : SHARE);
}

static void apply(update *u)
{
    kr_work *w = u->work;
    plan(u);
    if (kr_work_goes_on(w) && rows_after(u) >= KR_NO_ROW)
        KR_STEP(
            w,
            kr_fail(w->err, KR_ERR_LIMIT,
                    "%llu rows after the update: an index holds at most 4294967294; insert less, or make a "
                    "second index",
                    (unsigned long long)rows_after(u)));
    if (!kr_work_goes_on(w))
        return;
    if (u->is_large || !fits(u) || !change(u))
        rebuild(u);
}

void KR_W(hash_update)(kr_work *w, void *self, const kr_update *job)
{
    update u = {.work = w, .job = job, .table = self};
    if (!job->delete_keys.count && !job->insert_keys.count)
        return;
    u.is_large = is_large(&u);
    make_changes(&u);
    if (u.deletes.n || u.inserts.n)
        apply(&u);
}
