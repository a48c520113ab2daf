/* One pass over texts that tie; order.c says what a pass does. Slots are those of the members of groups,
 * group after group; a group is a range of codes, whose texts begin with the same bytes. */
#ifndef KEYRAY_INDEX_TEXTS_ORDER_BODY_H
#define KEYRAY_INDEX_TEXTS_ORDER_BODY_H

#include "index/texts/layers.h"

/* The class of a member: its length beyond the bytes before `skip` where it ends there, else ORDER_GOES_ON. A
 * text that ends there is a prefix of the others, so the shorter comes first. */
enum { ORDER_GOES_ON = 9, ORDER_CLASS_BITS = 4 };

/* Members of a pass, and their groups. */
typedef struct texts_order_members {
    uint32_t *ids;     /* of each slot: its row in the column, */
    uint32_t *groups;  /* its group, */
    uint32_t *places;  /* and the code that the text in this slot will have */
    uint64_t *skips;   /* of each group: the bytes that were compared, */
    uint64_t *parents; /* the slice that led to it; UINT64_MAX: none that searches read, */
    uint64_t *firsts;  /* its first slot, and the end of the last, */
    uint64_t *runs;    /* and how many groups before it have a run */
} texts_order_members;

typedef struct texts_order_params {
    kr_strings strings;
    texts_order_members now, next;
    uint64_t *refs, *depths; /* of each group: the complement of a slot; that of the bytes that are shared */
    uint64_t *slices, *classes;     /* of each slot before sorting */
    const uint64_t *sorted_slices;  /* after sorting */
    const uint64_t *sorted_classes; /* NULL: all go on */
    const uint32_t *from;           /* the slot that it was in */
    uint32_t *sorted_ids;
    uint64_t *ties, *kept; /* flags, then sums of those before; ties also counts groups, in the high half */
    uint64_t *ended;       /* becomes 1 where a text ends, */
    uint64_t *deeper;      /* and where more than the limit has to be compared */
    uint32_t *order;       /* the row of each code */
    uint64_t *out;         /* slices that searches read, from `base` on */
    texts_run *out_runs;   /* runs, from `run_base` on */
    uint64_t n, n_groups, base, run_base;
    uint64_t compared, limit; /* bytes behind `skip` */
} texts_order_params;
kr_assert_size(texts_order_params, 64 + 2 * 56 + 2 * 8 + 11 * 8 + 16 + 48);

/* Levels above slices, and marks. */
typedef struct texts_order_levels_params {
    const uint64_t *below; /* the level below */
    uint64_t *above;
} texts_order_levels_params;
kr_assert_size(texts_order_levels_params, 16);

typedef struct texts_order_marks_params {
    const texts_run *runs;
    texts_mark *marks;
    uint64_t *before; /* bits of each mark, then those of all before it */
} texts_order_marks_params;
kr_assert_size(texts_order_marks_params, 24);

/* The first pass: one group of all. */
KR_BODY void texts_order_begin_slot(const texts_order_params *p, uint64_t j)
{
    p->now.groups[j] = 0;
    p->now.places[j] = (uint32_t)j;
    if (j == 0) {
        p->now.skips[0] = 0;
        p->now.parents[0] = ~(uint64_t)0;
        p->now.firsts[0] = 0;
        p->now.firsts[1] = p->n;
        p->now.runs[0] = 0;
        p->now.runs[1] = 1;
    }
}
KR_MAP_PROGRAM(texts_order_begin, texts_order_params, texts_order_begin_slot);

KR_BODY kr_strings_text texts_order_text(const texts_order_params *p, uint64_t j)
{
    return kr_strings_get(&p->strings, kr_load(p->now.ids + j));
}

/* Asks for texts of slots behind, from the bytes that their group has compared. */
KR_BODY void texts_order_ask(const texts_order_params *p, uint64_t j, uint64_t at, uint64_t n)
{
    if (KR_ON_CUDA || j + KR_STRINGS_AHEAD >= p->n)
        return;
    kr_strings_ask(&p->strings, kr_load(p->now.ids + j + KR_STRINGS_AHEAD));
    if (n)
        kr_strings_ask_bytes(&p->strings, kr_load(p->now.ids + j + KR_STRINGS_BYTES_AHEAD), at, n);
}

/* Of each group, the first member that goes on is what the others are compared with. */
KR_BODY void texts_order_refer_slot(const texts_order_params *p, uint64_t j)
{
    const uint32_t group = kr_load(p->now.groups + j);
    texts_order_ask(p, j, 0, 0);
    if (texts_order_text(p, j).n > kr_load(p->now.skips + group))
        kr_atomic_max64(p->refs + group, ~j);
    else
        kr_atomic_max64(p->ended, 1);
}
KR_MAP_PROGRAM(texts_order_refer, texts_order_params, texts_order_refer_slot);

/* Whether a member shares fewer than `from` bytes with the first one. */
KR_BODY int texts_order_is_decided(const texts_order_params *p, uint32_t group, uint64_t from)
{
    const uint64_t depth = kr_atomic_load64(p->depths + group);
    return depth && ~depth < from;
}

/* Bytes from `from` on are compared, up to `limit` of them: a text may share far more with the first member
 * than the group does. */
KR_BODY void texts_order_depth_slot(const texts_order_params *p, uint64_t j)
{
    const uint32_t group = kr_load(p->now.groups + j);
    const uint64_t skip = kr_load(p->now.skips + group), ref = ~kr_load(p->refs + group);
    const uint64_t from = skip + p->compared, end = from + p->limit;
    kr_strings_text text = texts_order_text(p, j), first;
    texts_order_ask(p, j, from, 64);
    if (text.n <= skip || j == ref || texts_order_is_decided(p, group, from))
        return;
    first = texts_order_text(p, ref);
    if (text.n > end && first.n > end)
        text.n = end;
    const uint64_t common = kr_strings_common(text, first, from);
    if (text.n == end && common == end)
        kr_atomic_max64(p->deeper, 1);
    else
        kr_atomic_max64(p->depths + group, ~common);
}
KR_MAP_PROGRAM(texts_order_depth, texts_order_params, texts_order_depth_slot);

/* The bytes that all share who go on; where there is one, those that were compared. */
KR_BODY uint64_t texts_order_depth_of(const texts_order_params *p, uint32_t group)
{
    const uint64_t depth = kr_atomic_load64(p->depths + group);
    return depth ? ~depth : kr_load(p->now.skips + group);
}

KR_BODY void texts_order_slice_slot(const texts_order_params *p, uint64_t j)
{
    const uint32_t group = kr_load(p->now.groups + j);
    const uint64_t skip = kr_load(p->now.skips + group);
    const kr_strings_text text = texts_order_text(p, j);
    texts_order_ask(p, j, texts_order_depth_of(p, group), 8);
    const uint64_t class_ = text.n > skip ? ORDER_GOES_ON : text.n + 8 - skip;
    p->slices[j] = text.n > skip ? kr_strings_slice(text, texts_order_depth_of(p, group)) : 0;
    p->classes[j] = (uint64_t)group << ORDER_CLASS_BITS | class_;
}
KR_MAP_PROGRAM(texts_order_slice, texts_order_params, texts_order_slice_slot);

/* Gathers the classes in the order of the slices. */
KR_BODY void texts_order_class_slot(const texts_order_params *p, uint64_t j)
{
    p->ties[j] = kr_load(p->classes + kr_load(p->from + j));
}
KR_MAP_PROGRAM(texts_order_class, texts_order_params, texts_order_class_slot);

/* Gathers what lies in each slot after sorting by classes. */
KR_BODY void texts_order_gather_slot(const texts_order_params *p, uint64_t j)
{
    p->kept[j] = kr_load(p->slices + kr_load(p->from + j));
}
KR_MAP_PROGRAM(texts_order_gather, texts_order_params, texts_order_gather_slot);

KR_BODY int texts_order_goes_on(const texts_order_params *p, uint64_t j)
{
    return !p->sorted_classes ||
           (kr_load(p->sorted_classes + j) & (((uint64_t)1 << ORDER_CLASS_BITS) - 1)) == ORDER_GOES_ON;
}

/* Whether slot j ties with the one before it. */
KR_BODY int texts_order_ties(const texts_order_params *p, uint64_t j)
{
    return j > 0 && j < p->n && kr_load(p->sorted_slices + j) == kr_load(p->sorted_slices + j - 1) &&
           kr_load(p->now.groups + j) == kr_load(p->now.groups + j - 1) && texts_order_goes_on(p, j) &&
           texts_order_goes_on(p, j - 1);
}

KR_BODY int texts_order_has_run(const uint64_t *runs, uint32_t group)
{
    return kr_load(runs + group) != kr_load(runs + group + 1);
}

KR_BODY void texts_order_mark_slot(const texts_order_params *p, uint64_t j)
{
    const uint32_t id = kr_load(p->now.ids + kr_load(p->from + j));
    const int before = texts_order_ties(p, j), behind = texts_order_ties(p, j + 1);
    p->sorted_ids[j] = id;
    p->order[kr_load(p->now.places + j)] = id;
    p->ties[j] = (uint64_t)(before || behind) | (uint64_t)(behind && !before) << 32;
    p->kept[j] =
        (uint64_t)(texts_order_goes_on(p, j) && texts_order_has_run(p->now.runs, kr_load(p->now.groups + j)));
}
KR_MAP_PROGRAM(texts_order_mark, texts_order_params, texts_order_mark_slot);

KR_BODY void texts_order_keep_slot(const texts_order_params *p, uint64_t j)
{
    const uint64_t place = kr_load(p->kept + j);
    if (kr_load(p->kept + j + 1) != place)
        p->out[p->base + place] = kr_load(p->sorted_slices + j);
}
KR_MAP_PROGRAM(texts_order_keep, texts_order_params, texts_order_keep_slot);

KR_BODY void texts_order_run_group(const texts_order_params *p, uint64_t g)
{
    if (!texts_order_has_run(p->now.runs, (uint32_t)g))
        return;
    const uint64_t first = kr_load(p->now.firsts + g), end = kr_load(p->now.firsts + g + 1);
    const uint64_t before = kr_load(p->kept + first), n = kr_load(p->kept + end) - before;
    const uint32_t end_code = kr_load(p->now.places + first) + (uint32_t)(end - first);
    texts_run *run = p->out_runs + p->run_base + kr_load(p->now.runs + g);
    run->depth = texts_order_depth_of(p, (uint32_t)g);
    run->skip = kr_load(p->now.skips + g);
    run->slices = p->base + before;
    run->parent = kr_load(p->now.parents + g);
    run->first = end_code - (uint32_t)n;
    run->end = end_code;
}
KR_MAP_PROGRAM(texts_order_runs, texts_order_params, texts_order_run_group);

/* Members that tie go on to the next pass. */
KR_BODY void texts_order_next_slot(const texts_order_params *p, uint64_t j)
{
    const uint64_t sum = kr_load(p->ties + j), flags = kr_load(p->ties + j + 1) - sum;
    const uint32_t at = (uint32_t)sum, group = (uint32_t)(sum >> 32) + (uint32_t)(flags >> 32) - 1;
    if (j + 1 == p->n)
        p->next.firsts[kr_load(p->ties + p->n) >> 32] = (uint32_t)kr_load(p->ties + p->n);
    if (!(flags & 1))
        return;
    p->next.ids[at] = kr_load(p->sorted_ids + j);
    p->next.groups[at] = group;
    p->next.places[at] = kr_load(p->now.places + j);
    if (flags >> 32) {
        const uint32_t old = kr_load(p->now.groups + j);
        p->next.firsts[group] = at;
        p->next.skips[group] = texts_order_depth_of(p, old) + 8;
        p->next.parents[group] =
            texts_order_has_run(p->now.runs, old) ? p->base + kr_load(p->kept + j) : ~(uint64_t)0;
    }
}
KR_MAP_PROGRAM(texts_order_next, texts_order_params, texts_order_next_slot);

/* Whether a group of the next pass gets a run. */
KR_BODY void texts_order_long_group(const texts_order_params *p, uint64_t g)
{
    p->next.runs[g] = g < p->n_groups && kr_load(p->next.parents + g) != ~(uint64_t)0 &&
                      kr_load(p->next.firsts + g + 1) - kr_load(p->next.firsts + g) > LAYERS_FEW;
}
KR_MAP_PROGRAM(texts_order_long, texts_order_params, texts_order_long_group);

/* ---- Behind the passes ------------------------------------------------------------------------- */

KR_BODY void texts_order_level_node(const texts_order_levels_params *p, uint64_t i)
{
    p->above[i] = kr_load(p->below + 8 * i);
}
KR_MAP_PROGRAM(texts_order_level, texts_order_levels_params, texts_order_level_node);

KR_BODY void texts_order_mark_run(const texts_order_marks_params *p, uint64_t i)
{
    const uint64_t parent = p->runs[i + 1].parent;
    uint32_t *words = (uint32_t *)&p->marks[parent / 64].bits;
    kr_atomic_or32(words + parent / 32 % 2, 1u << parent % 32);
}
KR_MAP_PROGRAM(texts_order_mark_runs, texts_order_marks_params, texts_order_mark_run);

KR_BODY void texts_order_count_mark(const texts_order_marks_params *p, uint64_t i)
{
    const uint64_t bits = p->marks[i].bits;
    p->before[i] = kr_popcount32((uint32_t)bits) + kr_popcount32((uint32_t)(bits >> 32));
}
KR_MAP_PROGRAM(texts_order_count_marks, texts_order_marks_params, texts_order_count_mark);

KR_BODY void texts_order_rank_mark(const texts_order_marks_params *p, uint64_t i)
{
    p->marks[i].before = kr_load(p->before + i);
}
KR_MAP_PROGRAM(texts_order_rank_marks, texts_order_marks_params, texts_order_rank_mark);

#endif
