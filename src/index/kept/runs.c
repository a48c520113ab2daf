#include "index/kept/runs.h"
#include "index/kept/divided.h"
#include "index/kept/runs_body.h"
#include "index/kinds/column.h"
#include "index/results/dense.h"
#include "index/results/row_ids.h"
#include "index/sorted/sorted.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_MOST = 1 << 27, CHUNK_LEAST = 1 << 12 };

/* ---- Memory -------------------------------------------------------------------------------------- */

static uint32_t blocks_of(const runs_one *run)
{
    return (uint32_t)((run->n + RUNS_BLOCK - 1) / RUNS_BLOCK);
}

static uint64_t block_entries(const runs_one *run, uint64_t block)
{
    const uint64_t left = run->n - block * RUNS_BLOCK;
    return left < RUNS_BLOCK ? left : RUNS_BLOCK;
}

static char *codes_of(const runs_one *run, uint64_t block)
{
    return run->blocks[block].data;
}

static uint32_t *rows_of(const runs *r, const runs_one *run, uint64_t block)
{
    return (uint32_t *)(codes_of(run, block) + block_entries(run, block) * r->key_nbytes);
}

static void open_blocks(kr_work *w, const runs *r, runs_one *run)
{
    run->blocks = kr_work_array(w, blocks_of(run), sizeof *run->blocks, "blocks of sorted entries");
    for (uint32_t b = 0; run->blocks && b < blocks_of(run) && kr_work_goes_on(w); ++b)
        divided_fail_on_host(w, kr_buffer_allocate(r->host,
                                                   block_entries(run, b) * (r->key_nbytes + sizeof(uint32_t)),
                                                   NULL, "sorted entries in host memory",
                                                   "release some host memory", &run->blocks[b], w->err));
}

void runs_release(runs *r)
{
    for (uint32_t i = 0; i < r->n_runs; ++i) {
        for (uint32_t b = 0; r->all[i].blocks && b < blocks_of(&r->all[i]); ++b)
            kr_buffer_release(r->host, &r->all[i].blocks[b], NULL);
        free(r->all[i].blocks);
    }
    free(r->all);
    *r = (runs){0};
}

/* ---- Chunks of the column ------------------------------------------------------------------------ */

static kr_shape shape_of(const kr_work *w, const kr_build *build)
{
    return (kr_shape){.device = w->device,
                      .spec = build->spec,
                      .count = build->keys.count,
                      .type = build->keys.type,
                      .has_validity = build->keys.validity != NULL,
                      .has_row_ids = build->row_ids != NULL};
}

/* Of n rows of a column. */
static uint64_t chunk_need(const kr_shape *shape, uint64_t n)
{
    kr_shape chunk = *shape;
    kr_need need;
    chunk.count = n;
    kr_sorted_estimate(&chunk, &need);
    return need.peak_nbytes + n * (kr_type_width(shape->type) + 1 + 2 * sizeof(uint32_t));
}

/* As many rows as half of the memory that is left can sort. */
static uint64_t chunk_rows(const kr_shape *shape)
{
    const uint64_t room = kr_device_left(shape->device) / 2, part_rows = shape->device->keeping.part_rows;
    uint64_t n = shape->count < CHUNK_MOST ? shape->count : CHUNK_MOST;
    while (part_rows && n > 3 * part_rows) /* tests want several runs, too */
        n /= 2;
    while (n > CHUNK_LEAST && chunk_need(shape, n) > room)
        n /= 2;
    return n ? n : 1;
}

uint64_t runs_need(const kr_shape *shape)
{
    return chunk_need(shape, chunk_rows(shape));
}

static uint64_t summarize(kr_work *w, const uint32_t *ids, uint64_t n)
{
    uint64_t *counters = kr_work_counters(w, KR_ROWS_COUNTERS), end = 0;
    const kr_rows rows = kr_dense_rows(ids, sizeof *ids, n);
    if (n && kr_work_goes_on(w))
        end = kr_row_ids_summarize(w, &rows, counters).end;
    kr_work_give(w, counters);
    return end;
}

static void raise(uint64_t *end, uint64_t seen)
{
    *end = *end < seen ? seen : *end;
}

/* To host memory. Blocks. */
static void store(kr_work *w, runs *r, const kr_sorted *sorted, runs_one *run)
{
    run->n = sorted->n;
    open_blocks(w, r, run);
    for (uint64_t b = 0; b < blocks_of(run) && kr_work_goes_on(w); ++b) {
        const uint64_t first = b * RUNS_BLOCK, n = block_entries(run, b);
        kr_work_copy(w, codes_of(run, b), (const char *)sorted->keys.data + first * r->key_nbytes,
                     n * r->key_nbytes);
        kr_work_copy(w, rows_of(r, run, b), (const uint32_t *)sorted->rows.data + first,
                     n * sizeof(uint32_t));
    }
    kr_work_finish(w);
    r->n += run->n;
}

/* Rows first .. first + n - 1. */
static void add_run(kr_work *w, const kr_build *build, uint64_t first, uint64_t n, runs *r)
{
    const uint32_t mark = kr_work_mark(w);
    const kr_column part = kr_column_slice(&build->keys, first, n);
    const kr_column given = {
        .type = KR_U32, .count = n, .data = build->row_ids ? build->row_ids + first : NULL};
    kr_build chunk = {.spec = build->spec, .used_bits = build->used_bits};
    chunk.keys = kr_column_bring(w, &part, "a copy of some keys");
    if (given.data)
        chunk.row_ids = kr_column_bring(w, &given, "a copy of some row ids").data;
    kr_work_lap(w, "copy");
    const kr_sorted sorted = kr_sorted_sort(w, &chunk, NULL);
    const runs_shift_params shift = {sorted.rows.data, first};
    if (!given.data && first)
        kr_work_run(w, &runs_shift, &shift, sorted.n);
    if (given.data) {
        raise(&r->ends.given, summarize(w, chunk.row_ids, n));
        raise(&r->ends.indexed, summarize(w, sorted.rows.data, sorted.n));
    }
    if (kr_work_goes_on(w))
        store(w, r, &sorted, &r->all[r->n_runs++]);
    kr_work_give_since(w, mark);
    kr_work_lap(w, "divide");
}

void runs_make(kr_work *w, const kr_build *build, kr_device *host, runs *r)
{
    const kr_shape shape = shape_of(w, build);
    const uint64_t all = build->keys.count, chunk = kr_work_goes_on(w) ? chunk_rows(&shape) : all + 1;
    *r = (runs){.host = host,
                .key_nbytes = kr_type_key_bits(build->keys.type) / 8,
                .room = (uint32_t)((all + chunk - 1) / chunk),
                .is_given = build->row_ids != NULL};
    r->all = kr_work_array(w, r->room + 1, sizeof *r->all, "runs of sorted entries");
    for (uint64_t first = 0; first < all && kr_work_goes_on(w); first += chunk) {
        add_run(w, build, first, all - first < chunk ? all - first : chunk, r);
        KR_STEP(w, kr_progress_report(&w->device->options.progress, "divide", (double)first / (double)all / 2,
                                      w->err));
    }
}

/* ---- Entries ------------------------------------------------------------------------------------- */

uint64_t runs_code(const runs *r, const runs_one *run, uint64_t i)
{
    const char *at = codes_of(run, i / RUNS_BLOCK) + i % RUNS_BLOCK * r->key_nbytes;
    uint64_t wide;
    uint32_t narrow;
    if (r->key_nbytes == sizeof wide)
        return memcpy(&wide, at, sizeof wide), wide;
    return memcpy(&narrow, at, sizeof narrow), narrow;
}

uint64_t runs_find(const runs *r, const runs_one *run, uint64_t code)
{
    uint64_t low = run->next, high = run->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (runs_code(r, run, middle) < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void runs_copy(kr_work *w, const runs *r, const uint64_t *ends, void *codes, uint32_t *rows)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < r->n_runs; ++i) {
        const runs_one *run = &r->all[i];
        for (uint64_t from = run->next, n; from < ends[i] && kr_work_goes_on(w); from += n, at += n) {
            const uint64_t block = from / RUNS_BLOCK, in = from % RUNS_BLOCK, left = ends[i] - from;
            n = left < RUNS_BLOCK - in ? left : RUNS_BLOCK - in;
            kr_work_copy(w, (char *)codes + at * r->key_nbytes, codes_of(run, block) + in * r->key_nbytes,
                         n * r->key_nbytes);
            kr_work_copy(w, rows + at, rows_of(r, run, block) + in, n * sizeof *rows);
        }
    }
}

void runs_forget(runs *r, const uint64_t *ends)
{
    for (uint32_t i = 0; i < r->n_runs; ++i) {
        runs_one *run = &r->all[i];
        const uint64_t past = ends[i] == run->n ? blocks_of(run) : ends[i] / RUNS_BLOCK;
        for (uint64_t b = run->next / RUNS_BLOCK; b < past; ++b)
            kr_buffer_release(r->host, &run->blocks[b], NULL);
        run->next = ends[i];
    }
}
