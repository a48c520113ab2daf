/* Building a divided index: sorted runs of the column in host memory, keys that cut them into parts, and part
 * by part a structure that the device builds. So the column and the index may be larger than the device. */
#include "index/kept/divided.h"
#include "index/kept/fields.h"
#include "index/kept/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a part: a share of the memory that is left, so that two of them and the batches of a lookup fit;
 * small, since a probe in a part makes all of it travel; but large enough that this takes longer than what is
 * done once for a part. */
enum { SHARE = 32, NBYTES_LEAST = 16 << 20, NBYTES_MOST = 256 << 20, ROWS_LEAST = 1 << 10 };
enum { PARTS_WANTED = KEPT_PARTS_MOST / 4 * 3, SLACK = 6 * KEPT_ALIGNMENT /* of the arrays of a part */ };

/* ---- How large parts are ------------------------------------------------------------------------ */

static kr_shape shape_of_part(const kr_shape *whole, uint64_t n)
{
    kr_shape part = *whole;
    part.count = n;
    part.type = kr_type_key_bits(whole->type) == 64 ? KR_U64 : KR_U32;
    part.has_validity = 0;
    part.has_row_ids = 1;
    return part;
}

/* A part of n rows, and on the device what it is built from. */
static kr_status need_of_part(const kr_shape *whole, uint64_t n, kr_need *need, kr_error *err)
{
    const kr_shape part = shape_of_part(whole, n);
    const kr_family_ops *family = kr_family_ops_of(whole->spec->kind->family, whole->type);
    const kr_status status = family->estimate(&part, need, err);
    need->peak_nbytes += n * (kr_type_key_bits(whole->type) / 8 + sizeof(uint32_t));
    return status;
}

/* Rows of a part, about: the largest may have a quarter more, or be all rows of one key. */
static kr_status find_part_rows(const kr_shape *whole, uint64_t *rows, kr_need *need, kr_error *err)
{
    const uint64_t left = kr_device_left(whole->device), few = whole->count / PARTS_WANTED + 1;
    uint64_t nbytes = left / SHARE, n = NBYTES_MOST / sizeof(uint64_t);
    nbytes = nbytes < NBYTES_LEAST ? NBYTES_LEAST : nbytes > NBYTES_MOST ? NBYTES_MOST : nbytes;
    if (whole->device->keeping.part_rows)
        n = whole->device->keeping.part_rows;
    kr_status status = need_of_part(whole, n + n / 4, need, err);
    while (status == KR_OK && !whole->device->keeping.part_rows && n > ROWS_LEAST &&
           (need->footprint_nbytes > nbytes + nbytes / 4 || need->peak_nbytes > left / 4 * 3)) {
        n /= 2;
        status = need_of_part(whole, n + n / 4, need, err);
    }
    *rows = n > few ? n : few;
    return status == KR_OK ? need_of_part(whole, *rows + *rows / 4, need, err) : status;
}

kr_status divided_estimate(const kr_shape *shape, kr_need *need, kr_error *err)
{
    uint64_t rows = 0;
    kr_need part, one;
    kr_status status = find_part_rows(shape, &rows, &part, err);
    rows = rows < shape->count ? rows : shape->count;
    if (status == KR_OK)
        status = need_of_part(shape, rows, &one, err);
    if (status != KR_OK)
        return status;
    /* Cuts are found by samples, so that parts may be somewhat smaller. */
    const uint64_t parts = rows ? (shape->count + rows - 1) / rows : 1, chunk = runs_need(shape);
    need->footprint_nbytes = (parts + parts / 8 + 1) * (one.footprint_nbytes + SLACK);
    need->peak_nbytes = part.peak_nbytes > chunk ? part.peak_nbytes : chunk;
    return KR_OK;
}

void divided_explain(const kr_shape *shape, char text[96])
{
    uint64_t rows = 0;
    kr_need part;
    text[0] = '\0';
    if (find_part_rows(shape, &rows, &part, NULL) == KR_OK)
        snprintf(text, 96, "; keep=host: about %llu parts of %llu rows in host memory",
                 (unsigned long long)((shape->count + rows - 1) / rows),
                 (unsigned long long)(rows < shape->count ? rows : shape->count));
}

/* ---- Where parts begin --------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Every step-th code of each run, sorted. The caller frees them. */
static uint64_t *take_samples(kr_work *w, const runs *r, uint64_t step, uint64_t *n)
{
    uint64_t *samples = kr_work_array(w, r->n / step + r->n_runs + 1, sizeof *samples, "samples of the keys");
    *n = 0;
    for (uint32_t i = 0; samples && i < r->n_runs; ++i)
        for (uint64_t at = 0; at < r->all[i].n; at += step)
            samples[(*n)++] = runs_code(r, &r->all[i], at);
    if (samples)
        qsort(samples, *n, sizeof *samples, compare);
    return samples;
}

/* Codes with which parts begin, but for the first part. The caller frees them. */
static uint64_t *find_cuts(kr_work *w, const runs *r, uint64_t rows, uint32_t *n_cuts)
{
    const uint64_t fine = r->n_runs ? rows / (16 * (uint64_t)r->n_runs) : 0, coarse = r->n >> 20;
    const uint64_t step = 1 + (fine > coarse ? fine : coarse);
    uint64_t n = 0, since = 0;
    uint64_t *cuts = kr_work_array(w, KEPT_PARTS_MOST, sizeof *cuts, "the keys that cut an index");
    uint64_t *samples = take_samples(w, r, step, &n);
    *n_cuts = 0;
    for (uint64_t i = 0; cuts && samples && i < n; ++i, since += step)
        if (since >= rows && samples[i] > samples[i - 1] && *n_cuts + 1 < KEPT_PARTS_MOST) {
            cuts[(*n_cuts)++] = samples[i];
            since = 0;
        }
    free(samples);
    return cuts;
}

/* What a part has of each run: the entries from `next` up to ends[run]. */
typedef struct shares {
    const runs *of;
    uint64_t *ends;
} shares;

static void find_keys(const shares *s, kept_part *part)
{
    uint64_t *ends = part->ends;
    ends[KEPT_LOWEST] = UINT64_MAX;
    for (uint32_t i = 0; i < s->of->n_runs; ++i) {
        const runs_one *run = &s->of->all[i];
        if (run->next == s->ends[i])
            continue;
        const uint64_t first = runs_code(s->of, run, run->next), last = runs_code(s->of, run, s->ends[i] - 1);
        ends[KEPT_LOWEST] = first < ends[KEPT_LOWEST] ? first : ends[KEPT_LOWEST];
        ends[KEPT_HIGHEST] = last > ends[KEPT_HIGHEST] ? last : ends[KEPT_HIGHEST];
    }
    ends[KEPT_SECOND] = ends[KEPT_HIGHEST];
    ends[KEPT_LAST_BUT_ONE] = ends[KEPT_LOWEST];
    for (uint32_t i = 0; i < s->of->n_runs && ends[KEPT_LOWEST] < ends[KEPT_HIGHEST]; ++i) {
        const runs_one *run = &s->of->all[i];
        const uint64_t second = runs_find(s->of, run, ends[KEPT_LOWEST] + 1),
                       last = runs_find(s->of, run, ends[KEPT_HIGHEST]);
        const uint64_t above = second < s->ends[i] ? runs_code(s->of, run, second) : UINT64_MAX,
                       below = last > run->next ? runs_code(s->of, run, last - 1) : 0;
        ends[KEPT_SECOND] = above < ends[KEPT_SECOND] ? above : ends[KEPT_SECOND];
        ends[KEPT_LAST_BUT_ONE] = below > ends[KEPT_LAST_BUT_ONE] ? below : ends[KEPT_LAST_BUT_ONE];
    }
}

/* ---- Part by part -------------------------------------------------------------------------------- */

typedef struct dividing {
    kr_work *work;
    const kr_build *build;
    kr_divided *made;
    runs from;
    uint64_t *ends; /* of the runs: where the part ends that is next */
    uint32_t is_unique;
} dividing;

static void build_structure(dividing *g, kept_part *part)
{
    kr_work *w = g->work;
    kr_divided *d = g->made;
    const uint32_t mark = kr_work_mark(w), all = kr_type_significant_bits(d->type);
    uint32_t is_unique = part->n == 0;
    void *self = NULL, *codes = kr_work_take(w, part->n * divided_key_nbytes(d), "keys of a part");
    uint32_t *rows = kr_work_take(w, part->n * sizeof *rows, "row ids of a part");
    runs_copy(w, &g->from, g->ends, codes, rows);
    kr_work_finish(w);
    runs_forget(&g->from, g->ends);
    kr_work_lap(w, "copy");
    const kr_build build = {
        .spec = &d->spec,
        .keys = {.type = divided_code_type(d), .count = part->n, .data = codes},
        .row_ids = rows,
        .is_unique = &is_unique,
        .used_bits = g->build->used_bits && g->build->used_bits < all ? g->build->used_bits : all,
        .rows_ascend = !g->from.is_given,
    };
    if (kr_work_goes_on(w))
        d->family->build(w, &build, &self);
    kr_work_give_since(w, mark);
    g->is_unique = g->is_unique && is_unique;
    if (kr_work_goes_on(w))
        fields_take(w, d, part, self);
    if (self) {
        kr_device_sync(w->device, w->stream, NULL);
        d->family->destroy(w->device, self, w->stream);
    }
    kr_work_lap(w, "keep");
}

/* `cut`: the code that the next part begins with, NULL after the last. */
static void add_part(dividing *g, const uint64_t *cut)
{
    kr_divided *d = g->made;
    const uint32_t p = d->n_parts++;
    kept_part *part = &d->parts[p];
    const shares s = {&g->from, g->ends};
    part->first = d->n;
    for (uint32_t i = 0; i < g->from.n_runs; ++i) {
        const runs_one *run = &g->from.all[i];
        g->ends[i] = cut ? runs_find(&g->from, run, *cut) : run->n;
        part->n += g->ends[i] - run->next;
    }
    if (part->n)
        find_keys(&s, part);
    d->n += part->n;
    build_structure(g, part);
    fields_open(g->work, d, p);
    KR_STEP(g->work,
            kr_progress_report(&d->device->options.progress, "divide",
                               0.5 + (g->from.n ? (double)d->n / (double)g->from.n / 2 : 0.5), g->work->err));
}

static void add_parts(dividing *g)
{
    kr_work *w = g->work;
    const kr_shape shape = {.device = w->device,
                            .spec = g->build->spec,
                            .count = g->build->keys.count,
                            .type = g->build->keys.type};
    uint64_t rows = 0;
    uint32_t n_cuts = 0;
    kr_need need;
    KR_STEP(w, kr_work_goes_on(w) ? find_part_rows(&shape, &rows, &need, w->err) : KR_OK);
    uint64_t *cuts = find_cuts(w, &g->from, rows, &n_cuts);
    g->ends = kr_work_array(w, g->from.n_runs + 1, sizeof *g->ends, "shares of runs");
    g->made->parts = kr_work_array(w, n_cuts + 1, sizeof *g->made->parts, "parts of an index");
    for (uint32_t p = 0; p <= n_cuts && kr_work_goes_on(w); ++p)
        add_part(g, p < n_cuts ? &cuts[p] : NULL);
    free(g->ends);
    free(cuts);
}

void divided_build(kr_work *w, const kr_build *build, void **self)
{
    kr_divided *d = kr_work_object(w, sizeof *d, "a divided index");
    if (!d)
        return;
    *self = d;
    divided_open(w, d, build->spec, build->keys.type);
    dividing g = {.work = w, .build = build, .made = d, .is_unique = 1};
    runs_make(w, build, d->host, &g.from);
    add_parts(&g);
    if (build->is_unique)
        *build->is_unique = kr_work_goes_on(w) && g.is_unique;
    if (build->ends)
        *build->ends = g.from.ends;
    runs_release(&g.from);
}
