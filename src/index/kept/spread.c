#include "index/kept/spread.h"
#include "index/kept/spread_params.h"

#include <stdlib.h>

enum { SEGMENT = 8192 };

/* Programs of spread_width_body.h, for both widths. */
extern const kr_program spread_count_u32, spread_count_u64, spread_list_u32, spread_list_u64, spread_load_u32,
    spread_load_u64;

static const kr_program *of_width(const kr_divided *d, const kr_program *narrow, const kr_program *wide)
{
    return d->key_bits == 64 ? wide : narrow;
}

/* ---- Partitioning -------------------------------------------------------------------------------- */

/* Numbers of parts as keys: part p lies behind the cut p - 1. */
static void number_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    *lowest = 0;
    *highest = ((const kr_divided *)self)->n_parts - 1;
}

static void number_cuts(kr_work *w, const void *self, uint32_t bits, void *keys)
{
    const kr_divided *d = self;
    const uint32_t n = 1u << bits;
    uint64_t *wide = kr_work_array(w, n, sizeof *wide, "numbers of parts");
    uint32_t *narrow = (uint32_t *)wide;
    for (uint32_t i = 0; wide && i < n; ++i) {
        if (d->key_bits == 64)
            wide[i] = i ? i - 1 : 0;
        else
            narrow[i] = i ? i - 1 : 0;
    }
    kr_work_copy(w, keys, wide, (uint64_t)n * divided_key_nbytes(d));
    free(wide);
}

static const kr_ordered_ops numbers = {number_range, number_cuts};

static void partition(kr_work *w, const kr_ordered_ops *cut, int how, kr_batch *batch, spread *s)
{
    kr_partition_job job = {.cut = cut,
                            .self = s->of,
                            .n = s->n,
                            .bits = divided_part_bits(s->of),
                            .segment = SEGMENT,
                            .with_order = s->offsets != NULL};
    if (how == SPREAD_TO_LIST)
        job.stay = s->order = kr_work_take(w, s->n * sizeof *s->order, "the order of probes");
    if (!kr_work_goes_on(w))
        return;
    s->partition =
        s->of->key_bits == 64 ? kr_partition_make_u64(w, &job, batch) : kr_partition_make_u32(w, &job, batch);
    if (how == SPREAD_TO_ANSWER)
        s->order = s->partition.order;
    s->lower = s->partition.codes;
}

static void read_starts(kr_work *w, spread *s)
{
    const uint64_t n = (uint64_t)s->of->n_parts + 1;
    s->starts = kr_work_array(w, n, sizeof *s->starts, "where parts of a batch begin");
    if (s->starts && s->n)
        kr_work_read(w, s->starts, s->partition.view.starts, n * sizeof *s->starts);
    kr_work_lap(w, "partition");
}

/* ---- Probes that may have no stop, or several ---------------------------------------------------- */

/* In device memory. */
static void *take_ends(kr_work *w, const kr_divided *d)
{
    const uint64_t n = (uint64_t)d->n_parts * KEPT_ENDS, nbytes = n * divided_key_nbytes(d);
    uint64_t *wide = kr_work_array(w, n, sizeof *wide, "the keys of parts");
    uint32_t *narrow = (uint32_t *)wide;
    void *ends = kr_work_take(w, nbytes, "the keys of parts");
    for (uint64_t i = 0; wide && i < n; ++i) {
        const uint64_t code = d->parts[i % d->n_parts].ends[i / d->n_parts];
        if (d->key_bits == 64)
            wide[i] = code;
        else
            narrow[i] = (uint32_t)code;
    }
    kr_work_copy(w, ends, wide, nbytes);
    free(wide);
    return ends;
}

static uint64_t read_offset(kr_work *w, const uint64_t *offsets, uint64_t i)
{
    uint64_t offset = 0;
    if (kr_work_goes_on(w))
        kr_work_read(w, &offset, offsets + i, sizeof offset);
    return offset;
}

/* The probes whose stops are at most `most`, or one probe; s->n becomes the number of their stops. */
static uint64_t count_stops(kr_work *w, spread_params *p, uint64_t n, uint64_t most, spread *s)
{
    const kr_divided *d = s->of;
    p->offsets = kr_work_take(w, (n + 1) * sizeof *p->offsets, "the parts of each probe");
    kr_work_run(w, of_width(d, &spread_count_u32, &spread_count_u64), p, n);
    kr_work_fill(w, KR_PLACE_IN(p->offsets, n), 0, sizeof *p->offsets);
    kr_work_sum(w, p->offsets, n + 1);
    s->offsets = p->offsets;
    s->n = read_offset(w, p->offsets, n);
    while (s->n > most && n > 1 && kr_work_goes_on(w)) {
        n = n > 2 * 64 ? n / 2 / 64 * 64 : n / 2;
        s->n = read_offset(w, p->offsets, n);
    }
    return n;
}

static uint64_t spread_stops(kr_work *w, const kr_query *query, uint64_t n, uint64_t most, int how, spread *s)
{
    const kr_divided *d = s->of;
    spread_params p = {
        .batch = query->batch, .ends = take_ends(w, d), .n_parts = d->n_parts, .is_empty = d->n == 0};
    kr_batch by_part = {.lower_type = divided_code_type(d)};
    n = count_stops(w, &p, n, most, s);
    if (!kr_work_goes_on(w) || !s->n)
        return n;
    s->probes = p.probes = kr_work_take(w, s->n * sizeof *p.probes, "probes of parts");
    if (query->batch.upper)
        s->upper = p.upper = kr_work_take(w, s->n * divided_key_nbytes(d), "upper bounds");
    p.parts = kr_work_take(w, s->n * divided_key_nbytes(d), "parts of probes");
    kr_work_run(w, of_width(d, &spread_list_u32, &spread_list_u64), &p, n);
    by_part.lower = p.parts;
    partition(w, &numbers, how, &by_part, s);
    kr_work_give(w, p.parts);
    p.order = s->order;
    p.lower = s->lower; /* the numbers of parts are not needed any more */
    kr_work_run(w, of_width(d, &spread_load_u32, &spread_load_u64), &p, s->n);
    return n;
}

/* ---- A batch ------------------------------------------------------------------------------------- */

uint64_t spread_make(kr_work *w, const kr_divided *d, const kr_query *query, uint64_t n, uint64_t most,
                     int how, spread *s)
{
    kr_batch points = query->batch;
    *s = (spread){.of = d};
    most = most < KR_NO_ROW ? most : KR_NO_ROW - 1;
    if (!spread_is_direct(query))
        n = spread_stops(w, query, n, most, how, s);
    else {
        s->n = n = n < most ? n : most;
        partition(w, kr_divided_ops.ordered, how, &points, s);
    }
    read_starts(w, s);
    return kr_work_goes_on(w) ? n : 0;
}

void spread_end(spread *s)
{
    free(s->starts);
    s->starts = NULL;
}

kr_query spread_query(const spread *s, const kr_query *sort, const kr_index *index, uint32_t part)
{
    const uint64_t first = s->starts[part], n = s->starts[part + 1] - first,
                   skip = first * divided_key_nbytes(s->of);
    const kr_type type = divided_code_type(s->of);
    const kr_column lower = {.type = type, .count = n, .data = (const char *)s->lower + skip},
                    upper = {
                        .type = type, .count = n, .data = s->upper ? (const char *)s->upper + skip : NULL};
    const kr_query part_of = {.index = index, .batch = {.near = sort->batch.near}};
    return kr_query_over(&part_of, &lower, s->upper ? &upper : NULL);
}

uint64_t spread_nbytes(const kr_divided *d, const kr_query *query)
{
    const uint64_t key = divided_key_nbytes(d), place = sizeof(uint32_t);
    return spread_is_direct(query) ? key + place
                                   : sizeof(uint64_t) + 2 * key + 3 * place + (query->batch.upper ? key : 0);
}

void spread_back(kr_work *w, const spread *s, const void *answers, uint32_t nbytes, void *out)
{
    kr_partition_back(w, &s->partition, answers, nbytes, out);
}
