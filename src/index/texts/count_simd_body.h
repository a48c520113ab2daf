/* How many texts lie below a probe, by the layers of layers.h.
 *
 * Invariant of a search: all codes of runs before are decided, so the answer lies in the run's codes, or is
 * their end. `low` and `high` are places in the run's slices until the slice is found, then codes. */
#ifndef KEYRAY_INDEX_TEXTS_COUNT_SIMD_BODY_H
#define KEYRAY_INDEX_TEXTS_COUNT_SIMD_BODY_H

#include "index/texts/count_params.h"

/* What the next step does. In front of those that read a text is one that asks for its bytes. */
enum {
    COUNT_ENTER,
    COUNT_FETCH_SKIPPED,
    COUNT_SKIPPED,
    COUNT_SEARCH,
    COUNT_FOUND,
    COUNT_FETCH,
    COUNT_COMPARE
};

typedef struct texts_count_state {
    kr_strings_text probe;
    uint32_t low, high, run;
    uint16_t level, phase;
} texts_count_state;
kr_assert_size(texts_count_state, 32);

/* The answer; there is no further step. */
KR_BODY int texts_count_done(texts_count_state *s, uint32_t count)
{
    s->low = count;
    return 0;
}

KR_BODY int texts_count_begin(const texts_count_params *p, uint64_t i, texts_count_state *s)
{
    const uint32_t wrong = kr_strings_read(&p->probes, i, &s->probe);
    kr_strings_note(p->bad, i, wrong);
    s->run = s->high = 0;
    s->level = 0;
    s->phase = COUNT_ENTER;
    if (wrong || !kr_strings_is_valid(&p->probes, i))
        return texts_count_done(s, p->missing);
    if (p->which == KR_COUNT_NONE || p->n == 0)
        return texts_count_done(s, 0);
    if (p->which == KR_COUNT_ALL)
        return texts_count_done(s, p->n);
    if (s->probe.n == 0)
        return texts_count_done(s, p->which == KR_COUNT_BELOW   ? 0
                                   : p->which == KR_COUNT_UP_TO ? p->runs[0].first
                                                                : p->n);
    return 1;
}

/* Whether the probe ends within the slice from `depth` on. */
KR_BODY int texts_count_ends(const texts_count_state *s, uint64_t depth)
{
    return s->probe.n <= depth + 8;
}

/* What is searched for: the first slice that is not below it. Behind a prefix that is counted, the bytes that
 * are not there are the largest, and one more is searched for. Returns 0 if all slices are below that. */
KR_BODY int texts_count_target(const texts_count_params *p, const texts_count_state *s, uint64_t depth,
                               uint64_t *target)
{
    *target = kr_strings_slice(s->probe, depth);
    if (p->which != KR_COUNT_PREFIXED || !texts_count_ends(s, depth))
        return 1;
    const uint64_t there = s->probe.n - depth; /* 0 to 8 */
    if (there < 8)
        *target |= ~(uint64_t)0 >> 8 * there;
    return ++*target != 0;
}

KR_BODY void texts_count_fetch_node(const texts_count_params *p, const texts_run *run,
                                    const texts_count_state *s)
{
    kr_prefetch(p->slices + p->starts[s->level] + ((run->slices + s->low) >> KR_TEXTS_LEVEL_BITS * s->level));
}

/* Where all texts have one length, their places are known without. */
KR_BODY void texts_count_fetch_offset(const texts_count_params *p, uint32_t code)
{
    if (!p->texts.each)
        kr_prefetch((const int64_t *)p->texts.data + code);
}

/* From what was compared to the run's slices. */
KR_BODY int texts_count_search(const texts_count_params *p, const texts_run *run, texts_count_state *s)
{
    uint64_t target;
    s->low = 0;
    s->high = run->end - run->first;
    if (!texts_count_target(p, s, run->depth, &target))
        return texts_count_done(s, run->end);
    s->level = 0;
    while (s->high >> KR_TEXTS_LEVEL_BITS * (s->level + 1u))
        ++s->level;
    s->phase = COUNT_SEARCH;
    texts_count_fetch_node(p, run, s);
    return 1;
}

KR_BODY int texts_count_enter(const texts_count_params *p, texts_count_state *s)
{
    const texts_run *run = p->runs + s->run;
    if (run->first == run->end)
        return texts_count_done(s, run->end);
    if (run->depth == run->skip)
        return texts_count_search(p, run, s);
    texts_count_fetch_offset(p, run->first);
    s->phase = COUNT_FETCH_SKIPPED;
    return 1;
}

/* The bytes that the run's texts share and nobody has compared. */
KR_BODY int texts_count_skipped(const texts_count_params *p, texts_count_state *s)
{
    const texts_run *run = p->runs + s->run;
    const kr_strings_text text = kr_strings_get(&p->texts, run->first);
    const uint64_t common = kr_strings_common(text, s->probe, run->skip);
    if (common >= run->depth)
        return texts_count_search(p, run, s);
    if (common == s->probe.n)
        return texts_count_done(s, p->which == KR_COUNT_PREFIXED ? run->end : run->first);
    return texts_count_done(s, text.bytes[common] < s->probe.bytes[common] ? run->end : run->first);
}

/* Of texts that end within the probe's last slice: the shorter come first. */
KR_BODY uint32_t texts_count_ended(const texts_count_params *p, const texts_count_state *s, uint32_t from,
                                   uint32_t end)
{
    uint32_t code = from;
    while (code < end) {
        const uint64_t n = kr_strings_get(&p->texts, code).n;
        if (p->which == KR_COUNT_BELOW ? n >= s->probe.n : n > s->probe.n)
            break;
        ++code;
    }
    return code;
}

/* Slices from s->low on are not below the target. */
KR_BODY int texts_count_found(const texts_count_params *p, const texts_run *run, texts_count_state *s,
                              uint64_t target)
{
    const uint32_t n = run->end - run->first, low = s->low;
    const uint64_t *slices = p->slices + run->slices;
    const int ends = texts_count_ends(s, run->depth);
    uint32_t same = 0;
    if (p->which == KR_COUNT_PREFIXED && ends)
        return texts_count_done(s, run->first + low);
    while (same <= LAYERS_FEW && low + same < n && kr_load(slices + low + same) == target)
        ++same;
    if (same > LAYERS_FEW) {
        const uint64_t place = run->slices + low;
        const texts_mark *mark = p->marks + place / 64;
        const uint64_t below = mark->bits & (((uint64_t)1 << place % 64) - 1);
        s->run = (uint32_t)mark->before + kr_popcount32((uint32_t)below) +
                 kr_popcount32((uint32_t)(below >> 32)) + 1;
        s->phase = COUNT_ENTER;
        if (ends)
            return texts_count_done(s, texts_count_ended(p, s, run->first + low, (p->runs + s->run)->first));
        kr_prefetch(p->runs + s->run);
        return 1;
    }
    s->low = run->first + low;
    s->high = s->low + same;
    s->phase = COUNT_FETCH;
    if (same == 0)
        return texts_count_done(s, s->low);
    texts_count_fetch_offset(p, s->low);
    return 1;
}

KR_BODY int texts_count_found_later(const texts_count_params *p, texts_count_state *s)
{
    const texts_run *run = p->runs + s->run;
    uint64_t target;
    (void)texts_count_target(p, s, run->depth, &target);
    return texts_count_found(p, run, s, target);
}

/* A node of a level, at most eight of whose slices lie in low .. high. */
KR_BODY int texts_count_node(const texts_count_params *p, texts_count_state *s)
{
    const texts_run *run = p->runs + s->run;
    const uint32_t shift = KR_TEXTS_LEVEL_BITS * s->level;
    const uint64_t round = ((uint64_t)1 << shift) - 1, low = run->slices + s->low,
                   high = run->slices + s->high;
    const uint64_t first = (low + round) >> shift, end = (high + round) >> shift;
    const uint64_t *level = p->slices + p->starts[s->level] + first;
    uint64_t target;
    uint32_t below = 0;
    (void)texts_count_target(p, s, run->depth, &target);
    for (uint32_t j = 0; j < 8; ++j)
        below += (uint32_t)(first + j < end) & (uint32_t)(kr_load(level + j) < target);
    if (below)
        s->low = (uint32_t)(((first + below - 1) << shift) + 1 - run->slices);
    if (first + below < end)
        s->high = (uint32_t)(((first + below) << shift) - run->slices);
    if (s->level == 0)
        return texts_count_found(p, run, s, target);
    --s->level;
    texts_count_fetch_node(p, run, s);
    return 1;
}

/* To the next text with the same slices, if text s->low counts. */
KR_BODY int texts_count_next(const texts_count_params *p, texts_count_state *s, int counts)
{
    if (!counts || ++s->low == s->high)
        return 0;
    texts_count_fetch_offset(p, s->low);
    s->phase = COUNT_FETCH;
    return 1;
}

/* Text s->low and the probe have the same slices so far; codes below s->high do, too. */
KR_BODY int texts_count_compare(const texts_count_params *p, texts_count_state *s)
{
    const kr_strings_text text = kr_strings_get(&p->texts, s->low);
    const uint64_t common = kr_strings_common(text, s->probe, (p->runs + s->run)->depth);
    int counts;
    if (common == text.n)
        counts = text.n < s->probe.n || p->which != KR_COUNT_BELOW;
    else if (common == s->probe.n)
        counts = p->which == KR_COUNT_PREFIXED;
    else
        counts = text.bytes[common] < s->probe.bytes[common];
    return texts_count_next(p, s, counts);
}

/* Asks for the bytes of text s->low, unless its length decides: both end within the same slice. */
KR_BODY int texts_count_fetch(const texts_count_params *p, texts_count_state *s)
{
    const texts_run *run = p->runs + s->run;
    const kr_strings_text text = kr_strings_get(&p->texts, s->low);
    if (texts_count_ends(s, run->depth) && text.n <= run->depth + 8)
        return texts_count_next(p, s,
                                p->which == KR_COUNT_BELOW ? text.n < s->probe.n : text.n <= s->probe.n);
    kr_prefetch(text.bytes + run->depth);
    kr_prefetch(text.bytes + text.n - 1);
    s->phase = COUNT_COMPARE;
    return 1;
}

KR_BODY int texts_count_fetch_skipped(const texts_count_params *p, texts_count_state *s)
{
    const texts_run *run = p->runs + s->run;
    kr_prefetch(kr_strings_get(&p->texts, run->first).bytes + run->skip);
    s->phase = COUNT_SKIPPED;
    return 1;
}

KR_BODY int texts_count_step(const texts_count_params *p, texts_count_state *s)
{
    if (s->phase == COUNT_SEARCH)
        return texts_count_node(p, s);
    if (s->phase == COUNT_COMPARE)
        return texts_count_compare(p, s);
    if (s->phase == COUNT_ENTER)
        return texts_count_enter(p, s);
    if (s->phase == COUNT_SKIPPED)
        return texts_count_skipped(p, s);
    if (s->phase == COUNT_FETCH_SKIPPED)
        return texts_count_fetch_skipped(p, s);
    return !KR_ON_CUDA && s->phase == COUNT_FOUND ? texts_count_found_later(p, s) : texts_count_fetch(p, s);
}

KR_BODY void texts_count_end(const texts_count_params *p, uint64_t i, texts_count_state *s)
{
    p->counts[i] = s->low;
}

#if !KR_ON_CUDA
#include "index/texts/count_many.h"
#endif
KR_PROBE_OR_RUN_PROGRAM(texts_count, texts_count_params, texts_count_state, texts_count_begin,
                        texts_count_step, texts_count_end, texts_count_many);

#endif
