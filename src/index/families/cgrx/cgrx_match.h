/* From the bucket of a probe to its match. Integers decide: the keys on both sides of the answer are
 * compared, and growing steps lead away from a wrong bucket. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_MATCH_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_MATCH_H

#include "index/families/cgrx/cgrx_filter.h"
#include "index/families/cgrx/cgrx_params.h"
#include "index/kinds/nearest.h"
#include "index/sorted/gallop.h"

typedef struct cgrx_state {
    kr_key lower, upper; /* within the lowest and the highest key */
    uint32_t bucket;     /* the bucket found; before that the target that was met */
    uint32_t phase;      /* CGRX_FROM_KEY ... */
    uint32_t rays, met;
} cgrx_state;

/* What the next ray does, or the rays' result. */
enum {
    CGRX_FROM_KEY,   /* along x, from the key to the end of its row */
    CGRX_OWN_ROW,    /* along y, from the key's row: rays=column begins with it */
    CGRX_NEXT_ROW,   /* along y, from the row after the key's to the next row with a representative */
    CGRX_IN_ROW,     /* along x, through the entire row of the mark that was met */
    CGRX_NEXT_PLANE, /* along z, from the plane after the key's */
    CGRX_IN_PLANE,   /* along y, through the entire plane of the mark that was met */
    CGRX_FOUND,
    CGRX_LOST,   /* rays that should have met something did not */
    CGRX_ABSENT, /* nothing can match */
};

/* ---- The match, from its bucket --------------------------------------------------------------- */

/* How many of the n entries from `slot` on, which ascend, are below `key`: by halves or step by step. */
KR_BODY uint32_t cgrx_search_run(const cgrx_params *p, uint64_t slot, uint32_t n, kr_key key)
{
    const kr_entries *store = &p->entries.store;
    uint32_t low = 0, high = n;
    if (p->linear) {
        while (low < n && kr_entries_key(store, slot + low) < key)
            ++low;
        return low;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_entries_key(store, slot + middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first position of bucket b whose key is at least `key`, or the next bucket's first. */
KR_BODY uint32_t cgrx_search_bucket(const cgrx_params *p, uint32_t b, kr_key key)
{
    const cgrx_lists *lists = &p->entries.lists;
    uint32_t first = cgrx_bucket_first(&p->entries, b), left = cgrx_bucket_first(&p->entries, b + 1) - first;
    if (!lists->starts)
        return first + cgrx_search_run(p, first, left, key);
    uint32_t node = b, fill = cgrx_node_fill(lists, b);
    while (left > fill && kr_entries_key(&p->entries.store, (uint64_t)node * lists->node + fill - 1) < key) {
        node = kr_load(lists->next + node);
        first += fill;
        left -= fill;
        fill = cgrx_node_fill(lists, node);
    }
    return first + cgrx_search_run(p, (uint64_t)node * lists->node, left < fill ? left : fill, key);
}

KR_BODY kr_key cgrx_key_at(const cgrx_params *p, uint32_t position)
{
    return cgrx_key(&p->entries, position);
}

KR_SEARCHES(cgrx, cgrx_params, cgrx_key_at);

/* The first position whose key is at least the lower bound, even if the rays were wrong. */
KR_BODY uint32_t cgrx_first_of(const cgrx_params *p, const cgrx_state *s, int *repaired)
{
    const uint32_t n = p->entries.store.n;
    if (s->phase == CGRX_LOST) {
        *repaired = 1;
        return cgrx_between(p, 0, n, s->lower);
    }
    const uint32_t at = cgrx_search_bucket(p, s->bucket, s->lower);
    const uint32_t low = cgrx_bucket_first(&p->entries, s->bucket);
    if (at == low && at > 0 && cgrx_key_at(p, at - 1) >= s->lower) {
        *repaired = 1;
        return cgrx_down_from(p, at, s->lower);
    }
    /* The entire bucket lies below. So do the next ones if they are empty or continue with its key. */
    if (at == cgrx_bucket_first(&p->entries, s->bucket + 1) && at < n && cgrx_key_at(p, at) < s->lower) {
        *repaired = 1;
        return cgrx_from(p, n, at, s->lower);
    }
    return at;
}

KR_BODY void cgrx_answer(const cgrx_params *p, uint64_t i, const cgrx_state *s)
{
    const int whole = p->put.what == KR_PUT_COUNT || p->put.what == KR_PUT_MATCH;
    uint32_t first = 0, last = 0;
    int repaired = 0;
    if (s->phase != CGRX_ABSENT) {
        first = last = cgrx_first_of(p, s, &repaired);
        if (first < p->entries.store.n && cgrx_key_at(p, first) <= s->upper)
            last = whole ? cgrx_behind(p, p->entries.store.n, first, s->upper) : first + 1;
    }
    kr_put_work_add(&p->put, i, KR_WORK_REPAIRED, repaired ? 1 : 0);
    if (whole) {
        kr_put_match(&p->put, i, first, last - first);
    } else {
        const int found = first < last;
        kr_put_first(&p->put, i, found,
                     found && p->put.what == KR_PUT_ROW ? cgrx_row(&p->entries, first) : 0);
    }
}

KR_BODY uint64_t cgrx_nearest_key(const cgrx_params *p, uint32_t position)
{
    return cgrx_key_at(p, position);
}

KR_BODY uint32_t cgrx_nearest_row(const cgrx_params *p, uint32_t position)
{
    return cgrx_row(&p->entries, position);
}

KR_BODY uint32_t cgrx_nearest_where(const cgrx_params *p, uint32_t position)
{
    (void)p;
    return position;
}

KR_NEAREST(cgrx_nearest, cgrx_params, cgrx_nearest_key, cgrx_nearest_row, cgrx_nearest_where);

KR_BODY void cgrx_answer_nearest(const cgrx_params *p, uint64_t i, const cgrx_state *s)
{
    const uint32_t n = p->entries.store.n;
    kr_span span = {s->upper, 0, 0, s->phase != CGRX_ABSENT};
    int repaired = 0;
    if (span.any) {
        span.first = cgrx_first_of(p, s, &repaired);
        span.end = cgrx_behind(p, n, span.first, s->upper);
    }
    kr_put_work_add(&p->put, i, KR_WORK_REPAIRED, repaired ? 1 : 0);
    cgrx_nearest(p, &p->batch.near, &p->put, i, n, &span);
}

/* ---- Where rays are not needed --------------------------------------------------------------- */

/* 1 when rays must look for the bucket. The neighbours of an absent key are wanted where nearest keys are. */
KR_BODY int cgrx_begin(const cgrx_params *p, uint64_t i, cgrx_state *s)
{
    const int nearest = p->batch.near.how != 0;
    s->phase = CGRX_ABSENT;
    s->bucket = s->rays = s->met = 0;
    if (!kr_batch_load(&p->batch, i, &s->lower, &s->upper) || p->entries.store.n == 0 ||
        (!nearest && (s->upper < p->lowest || s->lower > p->highest)))
        return 0;
    if (p->filter && !nearest && s->lower == s->upper && !cgrx_filter_has(p->filter, p->n_filter, s->lower))
        return 0;
    if (s->lower < p->lowest)
        s->lower = (kr_key)p->lowest;
    s->phase = CGRX_FOUND;
    if (s->lower <= p->first_end)
        return 0;
    s->bucket = p->n_buckets - 1;
    if (s->lower > p->last_begin || s->lower > p->highest)
        return 0;
    s->phase = p->rays == CGRX_RAYS_COLUMN ? CGRX_OWN_ROW : CGRX_FROM_KEY;
    return 1;
}

#endif
