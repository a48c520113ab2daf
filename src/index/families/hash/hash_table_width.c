/* Tables at one key width: building and looking up. */
#include "index/families/hash/hash_find_params.h"
#include "index/families/hash/hash_table_width_body.h"

#include "base/key/encode.h"
#include "index/families/hash/hash_table.h"
#include "index/sorted/rows.h"
#include "index/sorted/sorted.h"

#include <stdlib.h>

KR_PROGRAM_DECLARE(hash_find_group);
KR_PROGRAM_DECLARE(hash_find_plain);
KR_PROGRAM_DECLARE(hash_find_turns);

/* In thousandths of its keys: what a table that has grown has room for. */
enum { GROWN = 1090 };

/* ---- Filling --------------------------------------------------------------------------------------- */

typedef struct fill {
    kr_work *work;
    const hash_source *source;
    kr_hashed *table;
    hash_fill_params params;
    uint64_t found[TABLE_COUNTS];
    uint64_t aside; /* spans << 32 | rows in them */
} fill;

enum { STRIPES = TABLE_STRIPES * TABLE_COUNTS };

static void run(fill *f, const kr_program *program, uint64_t n)
{
    kr_work_run(f->work, program, &f->params, n);
}

static kr_buffer take(fill *f, uint64_t nbytes, const char *what)
{
    return kr_work_buffer(f->work, nbytes, what, f->table->design.help);
}

/* The counters, which lie in stripes. Blocks. */
static void read_counts(fill *f)
{
    uint64_t stripes[STRIPES] = {0};
    kr_work_read(f->work, stripes, f->params.counts, sizeof stripes);
    if (kr_work_goes_on(f->work))
        hash_tally_sum(stripes, TABLE_COUNTS, f->found);
}

static uint64_t tiles_of(uint64_t n)
{
    return (n + TABLE_TILE - 1) / TABLE_TILE;
}

/* Counts keys, spans and the rows in them. */
static void survey(fill *f)
{
    kr_work *w = f->work;
    const uint64_t tiles = tiles_of(f->source->n);
    uint64_t *sums = take(f, (tiles + 1) * sizeof *sums, "sums of tiles").data;
    uint64_t *counts = kr_work_counters(w, STRIPES + 1);
    f->params = (hash_fill_params){.keys = f->source->keys,
                                   .rows = f->source->rows,
                                   .sums = sums,
                                   .counts = counts,
                                   .used = counts ? (uint32_t *)(counts + STRIPES) : NULL,
                                   .n = f->source->n};
    run(f, &KR_W(hash_survey), tiles);
    if (sums)
        kr_work_fill(w, sums + tiles, 0, sizeof *sums);
    kr_work_sum(w, sums, tiles + 1);
    if (sums)
        kr_work_copy(w, &f->aside, sums + tiles, sizeof f->aside);
    read_counts(f);
}

static void put_aside(fill *f)
{
    kr_hashed *table = f->table;
    table->n_spans = f->aside >> 32;
    table->n_aside = table->n_several = f->aside & UINT32_MAX;
    if (!table->n_spans)
        return;
    table->spans = take(f, table->n_spans * sizeof(kr_match), "keys with several rows");
    table->aside = take(f, table->n_aside * sizeof(uint32_t), "rows of keys with several");
    f->params.table.spans = table->spans.data;
    f->params.table.aside = table->aside.data;
    run(f, &KR_W(hash_aside), tiles_of(f->source->n));
    const hash_spans_params spans = {table->spans.data, table->n_spans, table->n_aside};
    kr_work_run(f->work, &KR_W(hash_spans), &spans, table->n_spans);
}

/* Kind chain: makes `more` as large as the spilled keys need. */
static void make_nodes(fill *f)
{
    kr_hashed *table = f->table;
    const uint64_t node = hash_node_nbytes(sizeof(kr_key), table->design.slots, 1);
    run(f, &KR_W(hash_need), table->n_heads);
    read_counts(f);
    table->n_more = f->found[TABLE_COUNT_NODES];
    table->more = take(f, table->n_more * node, "nodes behind the buckets");
    f->params.table.more = table->more.data;
    kr_work_fill(f->work, table->more.data, 0, table->more.nbytes);
}

static void fill_buckets(fill *f)
{
    kr_work *w = f->work;
    kr_hashed *table = f->table;
    const uint64_t node = hash_node_nbytes(sizeof(kr_key), table->design.slots, table->design.linked);
    const uint64_t n_keys = f->found[TABLE_COUNT_KEYS], full = f->source->full;
    const uint64_t room = full && n_keys > full ? n_keys * GROWN / 1000 : n_keys;
    const uint64_t heads =
        hash_heads(&table->design, room > f->source->room_for ? room : f->source->room_for);
    if (heads >= UINT32_MAX)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_LIMIT, "%llu buckets: a table has at most 4294967294; use a higher %s",
                        (unsigned long long)heads, table->design.linked ? "occupancy" : "load"));
    table->n_heads = (uint32_t)heads;
    table->n_keys = n_keys;
    table->n_rows = f->source->n;
    table->heads = take(f, heads * node, "buckets");
    uint32_t *spills = take(f, heads * sizeof *spills, "keys that do not fit their buckets").data;
    f->params.table = hash_view_of(table);
    f->params.spills = spills;
    if (table->design.linked)
        make_nodes(f);
    run(f, table->design.linked ? &KR_W(hash_fill_links) : &KR_W(hash_fill_slots), heads);
    run(f, &KR_W(hash_spill), heads);
}

int KR_W(hash_fill)(kr_work *w, const hash_source *source, kr_hashed *table)
{
    fill f = {.work = w, .source = source, .table = table};
    if (source->n) {
        survey(&f);
        put_aside(&f);
        fill_buckets(&f);
        read_counts(&f);
    }
    table->n_steps = f.found[TABLE_COUNT_STEPS];
    const int fits = kr_work_goes_on(w) && !f.found[TABLE_COUNT_FAILED] && hash_is_made(table);
    kr_work_give(w, f.params.spills);
    kr_work_give(w, f.params.counts);
    kr_work_give(w, f.params.sums);
    if (!fits)
        hash_give(w, table);
    kr_work_lap(w, "buckets");
    return fits;
}

/* ---- Building -------------------------------------------------------------------------------------- */

/* Inserts all rows one by one. */
static void insert_rows(fill *f, const kr_build *build)
{
    kr_work *w = f->work;
    const kr_row_list list = kr_sorted_rows_make(w, build);
    kr_key *codes = take(f, list.n * sizeof *codes, "hashed keys").data;
    const kr_encode_job encode = {build->keys.data, list.index, codes, list.n, build->keys.type};
    const kr_mix_job mix = {codes, codes, list.n, f->table->seed, KR_KEY_BITS};
    KR_W(kr_encode)(w, &encode);
    KR_W(kr_mix_codes)(w, &mix);
    kr_work_lap(w, "prepare");
    f->params.n = list.n;
    f->params.keys = codes;
    f->params.rows = (uint32_t *)list.rows; /* only read */
    run(f, &KR_W(hash_insert), list.n);
    run(f, &KR_W(hash_check), list.n);
    read_counts(f);
    f->table->n_rows = f->table->n_keys = list.n;
    f->table->n_steps = f->found[TABLE_COUNT_STEPS];
    kr_work_give(w, codes);
    kr_sorted_rows_give(w, &list);
    kr_work_lap(w, "insert");
}

/* 0 where a key is there twice, or finds no slot: the table is then made of sorted entries. */
static int build_by_inserts(kr_work *w, const kr_build *build, kr_hashed *table)
{
    const uint64_t heads = hash_heads(&table->design, build->keys.count);
    fill f = {.work = w, .table = table};
    table->n_heads = (uint32_t)heads;
    table->heads = take(&f, heads * hash_node_nbytes(sizeof(kr_key), table->design.slots, 0), "buckets");
    uint64_t *counts = kr_work_counters(w, STRIPES + 1);
    kr_work_fill(w, table->heads.data, 0, table->heads.nbytes);
    f.params = (hash_fill_params){.table = hash_view_of(table),
                                  .counts = counts,
                                  .failed = counts ? (uint32_t *)(counts + STRIPES) : NULL};
    insert_rows(&f, build);
    table->is_inserted = kr_work_goes_on(w) && !f.found[TABLE_COUNT_FAILED] && hash_is_made(table);
    if (!table->is_inserted)
        hash_give(w, table);
    kr_work_give(w, counts);
    return table->is_inserted != 0;
}

static int build_sorted(kr_work *w, const kr_build *build, kr_hashed *table)
{
    const kr_sorted sorted = kr_sorted_sort(w, build, &table->seed);
    kr_work_lap(w, "sort");
    const hash_source source = {sorted.keys.data, sorted.rows.data, sorted.n,
                                hash_room(table, build->keys.count), 0};
    const int fits = KR_W(hash_fill)(w, &source, table);
    kr_sorted_give(w, &sorted);
    return fits;
}

void KR_W(hash_build)(kr_work *w, const kr_build *build, const hash_design *design, void **self)
{
    kr_hashed *table = kr_work_object(w, sizeof *table, "an index");
    kr_hashed made = {.design = *design, .seed = design->seed, .key_bits = KR_KEY_BITS};
    int fits = design->insert && build_by_inserts(w, build, &made);
    while (kr_work_goes_on(w) && !fits) {
        fits = build_sorted(w, build, &made);
        if (!fits)
            KR_STEP(w, hash_reseed(&made, w->err));
    }
    hash_keep(w, &made);
    if (kr_work_goes_on(w))
        *table = made;
    if (build->is_unique)
        *build->is_unique = kr_work_goes_on(w) && made.n_keys == made.n_rows;
    *self = table;
}

/* ---- Lookups --------------------------------------------------------------------------------------- */

static const kr_program *find_of(const kr_device *device, const hash_design *design)
{
    if (design->linked)
        return design->group > 1 ? &KR_W(hash_find_turns) : &KR_W(hash_find_links);
    if (design->group > 1 && device->ops->group_threads > 1)
        return &KR_W(hash_find_group);
    return design->plain ? &KR_W(hash_find_plain) : &KR_W(hash_find_slots);
}

void KR_W(hash_locate)(kr_work *w, const void *self, const kr_locate *job)
{
    const kr_hashed *table = self;
    const kr_program *program = find_of(w->device, &table->design);
    const hash_find_params params = {
        .batch = job->batch,
        .put = job->put,
        .launch = {.group = program == &KR_W(hash_find_group) ? table->design.group : 1},
        .table = hash_view_of(table),
    };
    kr_work_run(w, program, &params, job->n);
}
