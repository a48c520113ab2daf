/* The life of a dictionary. */
#include "index/texts/texts.h"
#include "base/key/hash.h"
#include "index/kinds/choose.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Texts share one of 2^64 hashes by chance once in a long time, and nobody can make them do so who does not
 * know the seed. */
enum { SEEDS_MOST = 16 };

kr_status kr_texts_parse(const char *spec, kr_texts_design *design, kr_error *err)
{
    const int off = spec && strcmp(spec, "ranges=off") == 0;
    if (spec && *spec && !off && strcmp(spec, "ranges=on") != 0)
        return kr_fail(err, KR_ERR_SPEC, "'%.100s' makes no dictionary; use ranges=on or ranges=off", spec);
    *design = (kr_texts_design){.is_ordered = !off};
    return KR_OK;
}

kr_strings_seed kr_texts_secret(void)
{
    static _Atomic uint64_t calls;
    kr_strings_seed seed = {0};
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        /* Early after a boot: what differs between processes and calls. */
        struct timespec now = {0};
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        seed.start =
            kr_mix64((uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&seed, atomic_fetch_add(&calls, 1));
        seed.factor = kr_mix64(seed.start, (uint64_t)now.tv_sec);
    }
    seed.factor |= 1;
    return seed;
}

kr_strings kr_texts_strings(const kr_texts *texts)
{
    return (kr_strings){.data = texts->offsets.data,
                        .bytes = texts->bytes.data,
                        .end = texts->n_bytes,
                        .form = KR_STRINGS_OFFSETS64,
                        .each = texts->each};
}

uint64_t kr_texts_nbytes(const kr_texts *texts)
{
    const kr_texts_layers *layers = &texts->layers;
    return texts->offsets.nbytes + texts->bytes.nbytes + layers->slices.nbytes + layers->runs.nbytes +
           layers->marks.nbytes + (texts->table ? texts->table->info.footprint_nbytes : 0);
}

uint64_t kr_texts_id(const kr_texts *texts)
{
    return texts->id;
}

kr_need kr_texts_need(const kr_column *strings)
{
    const uint64_t n = strings->count, nbytes = kr_strings_nbytes(strings);
    const uint64_t kept = n * (8 + 24 + 18) + nbytes + (1 << 16);
    return (kr_need){.footprint_nbytes = kept, .peak_nbytes = kept + n * 140 + nbytes + n * 16};
}

kr_texts *kr_texts_share(const kr_texts *texts)
{
    kr_texts *shared = (kr_texts *)texts; /* a dictionary does not change, but for this number */
    atomic_fetch_add(&shared->sharers, 1);
    return shared;
}

void kr_texts_release(kr_texts *texts, kr_stream *stream)
{
    if (!texts || atomic_fetch_sub(&texts->sharers, 1) > 0)
        return;
    kr_device *device = texts->device;
    if (stream)
        kr_device_sync(device, stream, NULL);
    kr_index_release(texts->table, stream);
    kr_buffer_release(device, &texts->layers.marks, stream);
    kr_buffer_release(device, &texts->layers.runs, stream);
    kr_buffer_release(device, &texts->layers.slices, stream);
    kr_buffer_release(device, &texts->bytes, stream);
    kr_buffer_release(device, &texts->offsets, stream);
    free(texts);
}

/* ---- Making one ---------------------------------------------------------------------------------- */

/* The first rows of all texts, under a seed that tells all of them apart, and the hashes of rows under it. */
static kr_texts_distinct find_distinct(kr_work *w, kr_texts *made, const kr_texts_design *design,
                                       const kr_strings *rows, uint64_t n, uint64_t *hashes)
{
    kr_texts_distinct distinct = {0};
    uint64_t *notes = kr_work_counters(w, TEXTS_NOTES), is_long = 0;
    made->hash_mask = design->first_mask ? design->first_mask : UINT64_MAX;
    for (int is_made = 0; !is_made && kr_work_goes_on(w);) {
        made->seed = kr_texts_secret();
        kr_texts_hash_rows(w, made, rows, n, hashes, notes);
        kr_strings_refuse(w, notes + TEXTS_BAD, 0, design->what ? design->what : "texts");
        kr_work_read(w, &is_long, notes + TEXTS_LONG, sizeof is_long);
        made->has_long = is_long != 0;
        kr_texts_hash_long(w, made, rows, n, hashes);
        kr_work_lap(w, "hash");
        is_made = kr_texts_find_distinct(w, made, rows, n, hashes, &distinct);
        if (is_made || !kr_work_goes_on(w))
            break;
        made->hash_mask = UINT64_MAX;
        if (++made->reseeds == SEEDS_MOST)
            KR_STEP(w, kr_fail(w->err, KR_ERR_INTERNAL, "texts share a hash under %u seeds", made->reseeds));
    }
    kr_work_give(w, notes);
    kr_work_lap(w, "distinct");
    return distinct;
}

/* The texts of `rows`, one behind the other. */
static void copy_texts(kr_work *w, kr_texts *made, const kr_strings *strings, uint64_t n_rows,
                       const uint32_t *rows)
{
    const uint64_t n = made->n;
    uint64_t *offsets = kr_work_take(w, (n + 1) * sizeof *offsets, "offsets of texts");
    made->n_bytes = kr_texts_measure_rows(w, strings, n_rows, rows, n, offsets);
    uint8_t *bytes = kr_work_take(w, made->n_bytes + 8, "texts");
    kr_texts_copy_rows(w, strings, rows, n, offsets, bytes);
    kr_work_fill(w, KR_PLACE_IN(bytes, made->n_bytes), 0, 8);
    made->each = kr_texts_length_of_all(w, offsets, n, made->n_bytes);
    made->offsets = (kr_buffer){offsets, (n + 1) * sizeof *offsets, 0};
    made->bytes = (kr_buffer){bytes, made->n_bytes + 8, 0};
    kr_work_lap(w, "texts");
}

/* Kind `hash`; in a build without it what `best` is there. */
static kr_status choose_table(const kr_device *device, kr_spec *spec, kr_error *err)
{
    return kr_spec_parse("hash", spec, NULL) == KR_OK ? KR_OK
                                                      : kr_spec_resolve(device, "best", spec, NULL, err);
}

/* From hashes to codes. */
static kr_index *make_table(kr_work *w, const kr_texts *made)
{
    const kr_strings strings = kr_texts_strings(made);
    const kr_column keys = {.type = KR_U64,
                            .count = made->n,
                            .data = kr_work_take(w, made->n * sizeof(uint64_t), "hashes of texts")};
    uint64_t *notes = kr_work_counters(w, TEXTS_NOTES), *hashes = (uint64_t *)(uintptr_t)keys.data;
    kr_spec spec;
    kr_index *table = NULL;
    kr_texts_hash_rows(w, made, &strings, made->n, hashes, notes);
    kr_texts_hash_long(w, made, &strings, made->n, hashes);
    KR_STEP(w, choose_table(w->device, &spec, w->err));
    KR_STEP(w, kr_index_make(w->device, &spec, &keys, NULL, w->stream, &table, w->err));
    kr_work_give(w, notes);
    kr_work_give(w, keys.data);
    kr_work_lap(w, "table");
    return table;
}

static void make(kr_work *w, kr_texts *made, const kr_texts_design *design, const kr_column *strings)
{
    const uint64_t n = strings->count;
    const kr_strings open = kr_strings_open(w, strings);
    kr_strings rows = kr_strings_bring(w, strings, &open, 0, n, design->what ? design->what : "texts");
    kr_texts_measure_all(w, &rows, n);
    kr_work_lap(w, "copy");
    uint64_t *hashes = kr_work_take(w, n * sizeof *hashes, "hashes of texts");
    const kr_texts_distinct distinct = find_distinct(w, made, design, &rows, n, hashes);
    if (!design->codes)
        kr_work_give(w, hashes);
    made->n = distinct.n;
    if (made->is_ordered)
        kr_texts_order(w, &rows, distinct.rows, distinct.n, &made->layers);
    kr_work_lap(w, "sort");
    copy_texts(w, made, &rows, n, distinct.rows);
    kr_work_give(w, distinct.rows);
    if (made->n && kr_work_goes_on(w))
        made->table = make_table(w, made);
    if (design->codes && kr_work_goes_on(w))
        kr_texts_find_hashed(w, made, &rows, hashes, n, design->codes);
    made->offsets = kr_work_keep(w, made->offsets.data);
    made->bytes = kr_work_keep(w, made->bytes.data);
    made->layers.slices = kr_work_keep(w, made->layers.slices.data);
    made->layers.runs = kr_work_keep(w, made->layers.runs.data);
    made->layers.marks = kr_work_keep(w, made->layers.marks.data);
    kr_work_sync(w);
}

kr_status kr_texts_make(kr_device *device, const kr_texts_design *design, const kr_column *strings,
                        kr_stream *stream, kr_texts **texts, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_stopwatch watch;
    kr_peak peak;
    kr_texts *made = kr_work_object(&w, sizeof *made, "a dictionary");
    if (!made)
        return kr_work_end(&w);
    made->device = device;
    made->is_ordered = design->is_ordered;
    made->id = kr_host_identity();
    kr_work_peak_begin(&w, &peak);
    kr_stopwatch_start(&watch, device, w.stream);
    w.watch = &watch;
    make(&w, made, design, strings);
    kr_stopwatch_stop(&watch);
    made->peak_nbytes = kr_work_peak_end(&w, &peak);
    made->phases = watch.phases;
    const kr_status status = kr_work_end(&w);
    if (status != KR_OK)
        kr_texts_release(made, stream);
    else
        *texts = made;
    return status;
}
