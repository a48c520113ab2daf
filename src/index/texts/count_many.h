/* How a CPU counts: many probes together, level by level, so that a level is a short loop over probes whose
 * steps depend on nothing but memory that was asked for a level before. Included by count_simd_body.h, whose
 * phases the probes take in front of a search and behind it. */
#ifndef KEYRAY_INDEX_TEXTS_COUNT_MANY_H
#define KEYRAY_INDEX_TEXTS_COUNT_MANY_H

#if defined(KR_ISA) && KR_ISA > 0
#include <immintrin.h>
#endif

enum { COUNT_MANY = 64 };

typedef struct texts_count_flight {
    texts_count_state states[COUNT_MANY];
    /* Of those that search: the places of slices that are still in question, and the highest level. */
    uint64_t low[COUNT_MANY], high[COUNT_MANY], targets[COUNT_MANY];
    uint32_t levels[COUNT_MANY];
    uint8_t searching[COUNT_MANY], others[COUNT_MANY]; /* numbers of states */
    uint32_t n_searching, n_others;
} texts_count_flight;

/* A bit for each of eight slices that is below the target. */
#if defined(KR_ISA) && KR_ISA == 2
KR_BODY uint32_t texts_count_less(const uint64_t *slices, uint64_t target)
{
    return _mm512_cmplt_epu64_mask(_mm512_loadu_si512(slices), _mm512_set1_epi64((long long)target));
}
#elif defined(KR_ISA) && KR_ISA == 1
KR_BODY uint32_t texts_count_less(const uint64_t *slices, uint64_t target)
{
    /* AVX2 compares signed integers only. */
    const __m256i turn = _mm256_set1_epi64x((long long)((uint64_t)1 << 63));
    const __m256i wanted = _mm256_xor_si256(_mm256_set1_epi64x((long long)target), turn);
    uint32_t less = 0;
    for (uint32_t j = 0; j < 8; j += 4) {
        const __m256i four =
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(slices + j)), turn);
        less |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(wanted, four))) << j;
    }
    return less;
}
#else
KR_BODY uint32_t texts_count_less(const uint64_t *slices, uint64_t target)
{
    uint32_t less = 0;
    for (uint32_t j = 0; j < 8; ++j)
        less |= (uint32_t)(kr_load(slices + j) < target) << j;
    return less;
}
#endif

/* A search begins at the level where all that is in question lies in one cache line. Those below read one
 * line, too: between two neighbours of a level lie seven slices, of one line. */
KR_BODY uint32_t texts_count_top(uint64_t low, uint64_t high, uint32_t level)
{
    for (;; ++level) {
        const uint32_t shift = KR_TEXTS_LEVEL_BITS * level;
        const uint64_t round = ((uint64_t)1 << shift) - 1;
        if ((high + round) >> shift <= ((low + round) >> shift | 7) + 1)
            return level;
    }
}

KR_BODY void texts_count_level(const texts_count_params *p, texts_count_flight *f, uint32_t a, uint32_t level)
{
    const uint32_t shift = KR_TEXTS_LEVEL_BITS * level;
    const uint64_t round = ((uint64_t)1 << shift) - 1;
    const uint64_t first = (f->low[a] + round) >> shift, end = (f->high[a] + round) >> shift;
    const uint64_t line = first & ~(uint64_t)7;
    const uint32_t those = 0xFFu << (first - line) & ((1u << (end - line)) - 1);
    const uint32_t below =
        kr_popcount32(texts_count_less(p->slices + p->starts[level] + line, f->targets[a]) & those);
    const uint64_t next = first + below;
    f->low[a] = below ? ((next - 1) << shift) + 1 : f->low[a];
    f->high[a] = next < end ? next << shift : f->high[a];
    if (level)
        kr_prefetch(p->slices + p->starts[level - 1] + (f->low[a] >> (shift - KR_TEXTS_LEVEL_BITS)));
}

/* All searches down to the slice; what is found is looked at in the next phase. */
KR_BODY void texts_count_search_all(const texts_count_params *p, texts_count_flight *f)
{
    const uint32_t n = f->n_searching;
    uint32_t top = 0;
    for (uint32_t a = 0; a < n; ++a) {
        const texts_count_state *s = &f->states[f->searching[a]];
        const texts_run *run = p->runs + s->run;
        (void)texts_count_target(p, s, run->depth, &f->targets[a]);
        f->low[a] = run->slices + s->low;
        f->high[a] = run->slices + s->high;
        f->levels[a] = texts_count_top(f->low[a], f->high[a], s->level);
        top = top < f->levels[a] ? f->levels[a] : top;
    }
    for (uint32_t level = top + 1; level-- > 0;)
        for (uint32_t a = 0; a < n; ++a)
            if (level <= f->levels[a])
                texts_count_level(p, f, a, level);
    for (uint32_t a = 0; a < n; ++a) {
        texts_count_state *s = &f->states[f->searching[a]];
        s->low = (uint32_t)(f->low[a] - (p->runs + s->run)->slices);
        s->phase = COUNT_FOUND;
        kr_prefetch(p->slices + f->low[a] + 1); /* equal slices may lie in the next line */
        f->others[f->n_others++] = f->searching[a];
    }
    f->n_searching = 0;
}

/* Whether the next phase reads what is in a cache, or nothing. */
KR_BODY int texts_count_is_near(const texts_count_params *p, const texts_count_state *s)
{
    if (s->phase == COUNT_FETCH || s->phase == COUNT_FETCH_SKIPPED)
        return p->texts.each || (s->run == 0 && s->phase == COUNT_FETCH_SKIPPED);
    return s->run == 0 && s->phase == COUNT_SKIPPED;
}

/* A phase or more of each probe that does not search. */
KR_BODY void texts_count_step_all(const texts_count_params *p, texts_count_flight *f)
{
    uint32_t left = 0;
    for (uint32_t a = 0; a < f->n_others; ++a) {
        const uint8_t j = f->others[a];
        int goes_on;
        do
            goes_on = texts_count_step(p, &f->states[j]);
        while (goes_on && texts_count_is_near(p, &f->states[j]));
        if (goes_on && f->states[j].phase == COUNT_SEARCH)
            f->searching[f->n_searching++] = j;
        else if (goes_on)
            f->others[left++] = j;
    }
    f->n_others = left;
}

KR_BODY void texts_count_many(const texts_count_params *p, uint64_t first, uint64_t end)
{
    texts_count_flight f;
    for (uint64_t base = first; base < end; base += COUNT_MANY) {
        const uint32_t count = end - base < COUNT_MANY ? (uint32_t)(end - base) : COUNT_MANY;
        f.n_searching = f.n_others = 0;
        for (uint32_t j = 0; j < count; ++j)
            if (texts_count_begin(p, base + j, &f.states[j]))
                f.others[f.n_others++] = (uint8_t)j;
        while (f.n_others) {
            while (f.n_others)
                texts_count_step_all(p, &f);
            texts_count_search_all(p, &f);
        }
        for (uint32_t j = 0; j < count; ++j)
            texts_count_end(p, base + j, &f.states[j]);
    }
}

#endif
