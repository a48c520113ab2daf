/* Codes of probes, piece by piece. */
#include "index/lookup/query.h"
#include "index/texts/count_params.h"
#include "index/texts/find_body.h"
#include "index/texts/long_params.h"
#include "index/texts/texts.h"

KR_PROGRAM_DECLARE(texts_count);
KR_PROGRAM_DECLARE(texts_long_verify);

/* Rows and bytes of a piece. A CPU's stay in its caches between the programs; a GPU's are many threads, and
 * copies of host memory. */
enum { CPU_ROWS = 1 << 16, GPU_ROWS = 1 << 24 };
static const uint64_t piece_nbytes = (uint64_t)256 << 20;

static uint64_t piece_rows(const kr_work *w)
{
    return w->device->ops->is_host ? CPU_ROWS : GPU_ROWS;
}

/* The codes that hashes of a piece lead to. */
static void find_hashes(kr_work *w, const kr_texts *texts, const kr_strings *rows, uint64_t *hashes,
                        uint64_t n, uint32_t *codes)
{
    const kr_column probes = {.type = KR_U64,
                              .count = n,
                              .data = hashes,
                              .validity = rows->validity,
                              .validity_offset = rows->validity_offset};
    const uint32_t mark = kr_work_mark(w);
    kr_query query;
    kr_query_make(w, texts->table, &probes, NULL, &query);
    if (kr_work_goes_on(w))
        kr_query_locate(w, &query, KR_PUT_ROW, codes);
    kr_work_give_since(w, mark);
}

static void verify(kr_work *w, const kr_texts *texts, const kr_strings *rows, uint64_t n, uint32_t *codes)
{
    const texts_verify_params params = {*rows, kr_texts_strings(texts), codes};
    const texts_long_verify_params longs = {
        *rows, params.texts, codes, n, {.shared_nbytes = sizeof(texts_long_shared)}};
    kr_work_run(w, &texts_verify, &params, n);
    if (texts->has_long)
        kr_work_run(w, &texts_long_verify, &longs, texts_long_tiles(n));
}

void kr_texts_find_hashed(kr_work *w, const kr_texts *texts, const kr_strings *rows, uint64_t *hashes,
                          uint64_t n, uint32_t *codes)
{
    kr_strings part = *rows;
    if (!texts->table)
        kr_work_fill(w, codes, 0xFF, n * sizeof *codes);
    for (uint64_t first = 0, size; texts->table && first < n && kr_work_goes_on(w); first += size) {
        size = n - first < GPU_ROWS ? n - first : GPU_ROWS;
        part.validity_offset = rows->validity_offset + first;
        find_hashes(w, texts, &part, hashes + first, size, codes + first);
    }
}

void kr_texts_find(kr_work *w, const kr_texts *texts, const kr_column *strings, const char *what,
                   uint32_t *codes)
{
    const uint64_t most = piece_rows(w) < strings->count ? piece_rows(w) : strings->count;
    const uint32_t mark = kr_work_mark(w);
    const kr_strings open = kr_strings_open(w, strings);
    uint64_t *hashes = kr_work_take(w, most * sizeof *hashes, "hashes of texts");
    uint64_t *notes = kr_work_counters(w, TEXTS_NOTES);
    for (uint64_t first = 0, n; first < strings->count && kr_work_goes_on(w); first += n) {
        const uint32_t piece = kr_work_mark(w);
        n = kr_strings_piece(w->device, strings, first, most, piece_nbytes);
        const kr_strings rows = kr_strings_bring(w, strings, &open, first, n, what);
        kr_texts_hash_rows(w, texts, &rows, n, hashes, notes);
        kr_texts_hash_long(w, texts, &rows, n, hashes);
        if (what)
            kr_strings_refuse(w, notes + TEXTS_BAD, first, what);
        if (texts->table) {
            find_hashes(w, texts, &rows, hashes, n, codes + first);
            verify(w, texts, &rows, n, codes + first);
        } else {
            kr_work_fill(w, codes + first, 0xFF, n * sizeof *codes);
        }
        kr_work_give_since(w, piece);
    }
    kr_work_give_since(w, mark);
}

void kr_texts_count(kr_work *w, const kr_texts *texts, const kr_column *strings, uint32_t which,
                    uint32_t missing, const char *what, uint32_t *counts)
{
    const uint32_t mark = kr_work_mark(w);
    const kr_strings open = kr_strings_open(w, strings);
    texts_count_params params = {.texts = kr_texts_strings(texts),
                                 .slices = texts->layers.slices.data,
                                 .runs = texts->layers.runs.data,
                                 .marks = texts->layers.marks.data,
                                 .bad = kr_work_counters(w, 1),
                                 .which = which,
                                 .n = (uint32_t)texts->n,
                                 .missing = missing};
    kr_texts_level_starts(texts->layers.n_slices, params.starts);
    const uint64_t rows = w->device->ops->is_host ? strings->count : GPU_ROWS;
    for (uint64_t first = 0, n; first < strings->count && kr_work_goes_on(w); first += n) {
        const uint32_t piece = kr_work_mark(w);
        n = kr_strings_piece(w->device, strings, first, rows, piece_nbytes);
        params.probes = kr_strings_bring(w, strings, &open, first, n, what);
        params.counts = counts + first;
        kr_work_run(w, &texts_count, &params, n);
        if (what)
            kr_strings_refuse(w, params.bad, first, what);
        kr_work_give_since(w, piece);
    }
    kr_work_give_since(w, mark);
}

/* How both ends of a kr_texts_bound are counted. */
static const uint32_t ends[][2] = {
    [KR_TEXTS_FROM] = {KR_COUNT_BELOW, KR_COUNT_ALL},
    [KR_TEXTS_ABOVE] = {KR_COUNT_UP_TO, KR_COUNT_ALL},
    [KR_TEXTS_TO] = {KR_COUNT_NONE, KR_COUNT_UP_TO},
    [KR_TEXTS_BELOW] = {KR_COUNT_NONE, KR_COUNT_BELOW},
    [KR_TEXTS_PREFIX] = {KR_COUNT_BELOW, KR_COUNT_PREFIXED},
};

uint32_t kr_texts_end(uint32_t how, int is_upper)
{
    return ends[how][is_upper];
}
