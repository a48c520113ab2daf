/* Tables at one key width: building and looking up. */
#include "hashed/fill_body.h"
#include "hashed/find_params.h"

#include "hashed/table.h"
#include "key/encode.h"
#include "sorted/rows.h"
#include "sorted/sorted.h"

#include <stdlib.h>

KR_PROGRAM_DECLARE(table_find_group);

/* In thousandths of its keys: what a table that has grown has room for. */
enum { GROWN = 1090 };

/* ---- Filling --------------------------------------------------------------------------------------- */

typedef struct fill {
    const kr_hashed_source *source;
    kr_hashed *table;
    kr_buffer sums, counts, spills;
    table_fill_params params;
    uint64_t found[TABLE_COUNTS];
    uint64_t aside; /* spans << 32 | rows in them */
} fill;

static kr_status run(fill *f, const kr_program *program, uint64_t n, kr_error *err)
{
    return kr_device_run(f->source->device, program, &f->params, n, f->source->stream, err);
}

/* The counters, which lie in stripes. Blocks. */
static kr_status read_counts(fill *f, kr_error *err)
{
    uint64_t stripes[TABLE_STRIPES * TABLE_COUNTS];
    const kr_status status = kr_counters_read(f->source->device, f->source->stream, &f->counts, stripes,
                                              TABLE_STRIPES * TABLE_COUNTS, err);
    if (status == KR_OK)
        table_tally_sum(stripes, TABLE_COUNTS, f->found);
    return status;
}

static kr_status allocate(fill *f, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err)
{
    return kr_buffer_allocate(f->source->device, nbytes, f->source->stream, what, f->table->design.help,
                              buffer, err);
}

static uint64_t tiles_of(uint64_t n)
{
    return (n + TABLE_TILE - 1) / TABLE_TILE;
}

/* Counts keys, spans and the rows in them. */
static kr_status survey(fill *f, kr_error *err)
{
    kr_device *device = f->source->device;
    kr_stream *stream = f->source->stream;
    const uint64_t tiles = tiles_of(f->source->n);
    kr_status status = allocate(f, (tiles + 1) * sizeof(uint64_t), "sums of tiles", &f->sums, err);
    if (status == KR_OK)
        status = kr_counters_make(device, stream, TABLE_STRIPES * TABLE_COUNTS + 1, &f->counts, err);
    if (status != KR_OK)
        return status;
    f->params =
        (table_fill_params){.keys = f->source->keys,
                            .rows = f->source->rows,
                            .sums = f->sums.data,
                            .counts = f->counts.data,
                            .used = (uint32_t *)((uint64_t *)f->counts.data + TABLE_STRIPES * TABLE_COUNTS),
                            .n = f->source->n};
    status = run(f, &KR_W(table_survey), tiles, err);
    if (status == KR_OK)
        status = kr_device_fill(device, f->params.sums + tiles, 0, sizeof(uint64_t), stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(device, f->params.sums, tiles + 1, stream, err);
    if (status == KR_OK)
        status = kr_device_copy(device, &f->aside, f->params.sums + tiles, sizeof f->aside, stream, err);
    return status == KR_OK ? read_counts(f, err) : status;
}

static kr_status put_aside(fill *f, kr_error *err)
{
    kr_hashed *table = f->table;
    table->n_spans = f->aside >> 32;
    table->n_aside = table->n_several = f->aside & UINT32_MAX;
    if (!table->n_spans)
        return KR_OK;
    kr_status status =
        allocate(f, table->n_spans * sizeof(kr_match), "keys with several rows", &table->spans, err);
    if (status == KR_OK)
        status =
            allocate(f, table->n_aside * sizeof(uint32_t), "rows of keys with several", &table->aside, err);
    f->params.table.spans = table->spans.data;
    f->params.table.aside = table->aside.data;
    if (status == KR_OK)
        status = run(f, &KR_W(table_aside), tiles_of(f->source->n), err);
    const table_spans_params spans = {table->spans.data, table->n_spans, table->n_aside};
    return status == KR_OK ? kr_device_run(f->source->device, &KR_W(table_spans), &spans, table->n_spans,
                                           f->source->stream, err)
                           : status;
}

/* Kind chain: makes `more` as large as the spilled keys need. */
static kr_status make_nodes(fill *f, kr_error *err)
{
    kr_hashed *table = f->table;
    const uint64_t node = kr_hashed_node_nbytes(sizeof(kr_key), table->design.slots, 1);
    if (!table->design.linked)
        return KR_OK;
    kr_status status = run(f, &KR_W(table_need), table->n_heads, err);
    if (status == KR_OK)
        status = read_counts(f, err);
    table->n_more = f->found[TABLE_COUNT_NODES];
    if (status == KR_OK && table->n_more)
        status = allocate(f, table->n_more * node, "nodes behind the buckets", &table->more, err);
    f->params.table.more = table->more.data;
    if (status == KR_OK && table->n_more)
        status = kr_device_fill(f->source->device, table->more.data, 0, table->more.nbytes, f->source->stream,
                                err);
    return status;
}

static kr_status fill_buckets(fill *f, kr_error *err)
{
    kr_hashed *table = f->table;
    const uint64_t node = kr_hashed_node_nbytes(sizeof(kr_key), table->design.slots, table->design.linked);
    const uint64_t n_keys = f->found[TABLE_COUNT_KEYS], full = f->source->full;
    const uint64_t room = full && n_keys > full ? n_keys * GROWN / 1000 : n_keys;
    const uint64_t heads =
        kr_hashed_heads(&table->design, room > f->source->room_for ? room : f->source->room_for);
    if (heads >= UINT32_MAX)
        return kr_fail(err, KR_ERR_LIMIT, "%llu buckets: a table has at most 4294967294; use a higher %s",
                       (unsigned long long)heads, table->design.linked ? "occupancy" : "load");
    table->n_heads = (uint32_t)heads;
    table->n_keys = n_keys;
    table->n_rows = f->source->n;
    kr_status status = allocate(f, heads * node, "buckets", &table->heads, err);
    if (status == KR_OK)
        status = allocate(f, heads * sizeof(uint32_t), "keys that do not fit their buckets", &f->spills, err);
    f->params.table = kr_hashed_view_of(table);
    f->params.spills = f->spills.data;
    if (status == KR_OK)
        status = make_nodes(f, err);
    if (status == KR_OK)
        status = run(f, table->design.linked ? &KR_W(table_fill_links) : &KR_W(table_fill_slots), heads, err);
    return status == KR_OK ? run(f, &KR_W(table_spill), heads, err) : status;
}

static kr_status fill_sorted(fill *f, kr_error *err)
{
    kr_status status = survey(f, err);
    if (status == KR_OK)
        status = put_aside(f, err);
    if (status == KR_OK)
        status = fill_buckets(f, err);
    if (status == KR_OK)
        status = read_counts(f, err);
    return status;
}

kr_status KR_W(kr_hashed_fill)(const kr_hashed_source *source, kr_hashed *table, int *fits, kr_error *err)
{
    fill f = {.source = source, .table = table};
    kr_status status = KR_OK;
    if (source->n)
        status = fill_sorted(&f, err);
    table->n_steps = f.found[TABLE_COUNT_STEPS];
    *fits = !f.found[TABLE_COUNT_FAILED] && kr_hashed_is_made(table);
    kr_buffer_release(source->device, &f.spills, source->stream);
    kr_buffer_release(source->device, &f.counts, source->stream);
    kr_buffer_release(source->device, &f.sums, source->stream);
    if (status != KR_OK || !*fits)
        kr_hashed_release(source->device, source->stream, table);
    kr_stopwatch_lap(source->watch, "buckets");
    return status;
}

/* ---- Building -------------------------------------------------------------------------------------- */

/* Inserts all rows one by one. *fits is 0 where a key is there twice, or finds no slot: the table is then
 * made of sorted entries. */
static kr_status insert_rows(fill *f, const kr_build *build, kr_error *err)
{
    kr_row_list list = {0};
    kr_buffer codes = {0};
    kr_status status = kr_row_list_make(build, &list, err);
    f->params.n = list.n;
    if (status == KR_OK)
        status = allocate(f, list.n * sizeof(kr_key), "hashed keys", &codes, err);
    const kr_encode_job encode = {build->keys.data, list.index.data, codes.data, list.n, build->keys.type};
    const kr_mix_job mix = {codes.data, codes.data, list.n, f->table->seed, KR_KEY_BITS};
    if (status == KR_OK)
        status = KR_W(kr_encode)(build->device, &encode, build->stream, err);
    if (status == KR_OK)
        status = KR_W(kr_mix_codes)(build->device, &mix, build->stream, err);
    kr_stopwatch_lap(build->watch, "prepare");
    f->params.keys = codes.data;
    f->params.rows = (uint32_t *)list.rows; /* only read */
    if (status == KR_OK)
        status = run(f, &KR_W(table_insert), list.n, err);
    if (status == KR_OK)
        status = run(f, &KR_W(table_check), list.n, err);
    if (status == KR_OK)
        status = read_counts(f, err);
    f->table->n_rows = f->table->n_keys = list.n;
    f->table->n_steps = f->found[TABLE_COUNT_STEPS];
    kr_buffer_release(build->device, &codes, build->stream);
    kr_row_list_release(build->device, &list, build->stream);
    kr_stopwatch_lap(build->watch, "insert");
    return status;
}

static kr_status build_by_inserts(const kr_build *build, kr_hashed *table, int *fits, kr_error *err)
{
    const kr_hashed_source source = {.device = build->device, .stream = build->stream};
    const uint64_t heads = kr_hashed_heads(&table->design, build->keys.count);
    fill f = {.source = &source, .table = table};
    table->n_heads = (uint32_t)heads;
    kr_status status = allocate(&f, heads * kr_hashed_node_nbytes(sizeof(kr_key), table->design.slots, 0),
                                "buckets", &table->heads, err);
    if (status == KR_OK)
        status =
            kr_counters_make(build->device, build->stream, TABLE_STRIPES * TABLE_COUNTS + 1, &f.counts, err);
    if (status == KR_OK)
        status = kr_device_fill(build->device, table->heads.data, 0, table->heads.nbytes, build->stream, err);
    f.params =
        (table_fill_params){.table = kr_hashed_view_of(table),
                            .counts = f.counts.data,
                            .failed = (uint32_t *)((uint64_t *)f.counts.data + TABLE_STRIPES * TABLE_COUNTS)};
    if (status == KR_OK)
        status = insert_rows(&f, build, err);
    *fits = !f.found[TABLE_COUNT_FAILED] && kr_hashed_is_made(table);
    table->is_inserted = status == KR_OK && *fits;
    if (!*fits)
        kr_hashed_release(build->device, build->stream, table);
    kr_buffer_release(build->device, &f.counts, build->stream);
    return status;
}

static kr_status build_sorted(const kr_build *build, uint64_t room_for, kr_hashed *table, int *fits,
                              kr_error *err)
{
    kr_sorted sorted = {0};
    kr_status status = kr_sorted_sort(build, &table->seed, &sorted, err);
    kr_stopwatch_lap(build->watch, "sort");
    const kr_hashed_source source = {build->device,    build->stream, build->watch, sorted.keys.data,
                                     sorted.rows.data, sorted.n,      room_for,     0};
    if (status == KR_OK)
        status = KR_W(kr_hashed_fill)(&source, table, fits, err);
    kr_sorted_release(build->device, &sorted, build->stream);
    return status;
}

kr_status KR_W(kr_hashed_build)(const kr_build *build, const kr_hashed_design *design, void **self,
                                kr_error *err)
{
    kr_hashed *table = kr_host_calloc(1, sizeof *table, "an index", err);
    int fits = 0;
    if (!table)
        return KR_ERR_HOST_MEMORY;
    *self = table;
    table->design = *design;
    table->seed = design->seed;
    table->key_bits = KR_KEY_BITS;
    kr_status status = KR_OK;
    if (design->insert)
        status = build_by_inserts(build, table, &fits, err);
    while (status == KR_OK && !fits) {
        status = build_sorted(build, kr_hashed_room(table, build->keys.count), table, &fits, err);
        if (status == KR_OK && !fits)
            status = kr_hashed_reseed(table, err);
    }
    if (build->is_unique)
        *build->is_unique = status == KR_OK && table->n_keys == table->n_rows;
    return status;
}

/* ---- Lookups --------------------------------------------------------------------------------------- */

kr_status KR_W(kr_hashed_locate)(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                                 kr_error *err)
{
    const kr_hashed *table = self;
    const int groups = table->design.group > 1 && device->ops->group_threads > 1;
    const kr_program *program = groups                 ? &KR_W(table_find_group)
                                : table->design.linked ? &KR_W(table_find_links)
                                                       : &KR_W(table_find_slots);
    const table_find_params params = {
        .batch = job->batch,
        .put = job->put,
        .launch = {.group = groups ? table->design.group : 1},
        .table = kr_hashed_view_of(table),
    };
    return kr_device_run(device, program, &params, job->n, stream, err);
}
