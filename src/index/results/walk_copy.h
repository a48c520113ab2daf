/* The rows of all matches, one match after the other: the program `copy` of a walk. Only for walk_programs.h.
 *
 * Work is cut by what has to be done, not by matches: match p stands at place p + offsets[p], its rows at the
 * places behind it. Each group of threads has a window, as many places in a row as the others, whether they
 * are a part of one match or a thousand matches without a row. A search in the offsets finds its first match.
 *
 * A walk that opens at any row at once (KR_WALK_JUMPS) gives every thread the next row of the window,
 * whichever match it belongs to, so that a warp writes rows side by side. Other walks go through a match from
 * its start: one thread reads a few rows, eight threads read more, the group reads many. */
#ifndef KEYRAY_INDEX_RESULTS_WALK_COPY_H
#define KEYRAY_INDEX_RESULTS_WALK_COPY_H

enum { WALK_COPIES_ALONE = 8 };

/* Rows of a match, the first of which goes to out[to]. */
typedef struct walk_job {
    walk_slice slice;
    uint64_t to, probe;
} walk_job;

/* ---- Windows --------------------------------------------------------------------------------- */

KR_BODY uint64_t walk_place(const copy_params *p, uint64_t match)
{
    return match + (kr_load(p->offsets + match) - p->base);
}

/* The last match whose place is not behind `at`: each step, every thread of the group tries one. */
KR_BODY uint64_t walk_match_at(kr_group group, const copy_params *p, uint64_t at)
{
    uint64_t low = 0, high = p->n - 1;
    while (low < high) {
        const uint64_t step = (high - low + group.size) / (group.size + 1);
        const uint64_t tried = low + (group.rank + 1) * step;
        const int passed = tried <= high && walk_place(p, tried) <= at;
        low += kr_popcount32(kr_group_ballot(group, passed)) * step;
        high = low + step - 1 < high ? low + step - 1 : high;
    }
    return low;
}

/* What a window has of a match. */
KR_BODY walk_job walk_job_of(const copy_params *p, uint64_t match, uint64_t begin, uint64_t end)
{
    walk_job job = {{{0, 0}, 0, 0}, 0, match + p->first_probe};
    if (match >= p->n || walk_place(p, match) >= end)
        return job;
    const uint64_t first = kr_load(p->offsets + match) - p->base, next = kr_load(p->offsets + match + 1);
    const uint64_t place = match + first + 1; /* of row 0 */
    const kr_match whole = p->matches[match];
    uint64_t count = whole.count > p->skip ? whole.count - p->skip : 0, room = next - p->base - first;
    const uint64_t from = begin > place ? begin - place : 0;
    count = count < room ? count : room;
    room = end - place; /* 0 or more, as the match itself is in the window or before it */
    count = count < room ? count : room;
    room = first < p->capacity ? p->capacity - first : 0;
    count = count < room ? count : room;
    job.slice = (walk_slice){whole, p->skip + (uint32_t)from, count > from ? (uint32_t)(count - from) : 0};
    job.to = first + from;
    return job;
}

KR_BODY void walk_copy_row(const copy_params *p, uint64_t to, uint32_t row, uint64_t probe)
{
    p->out[to] = row;
    if (p->probes)
        p->probes[to] = (uint32_t)probe;
}

/* ---- Any row at once -------------------------------------------------------------------------- */
#if defined(KR_WALK_JUMPS)

/* The rows of all jobs of a group, of which this thread takes every group.size-th. */
typedef struct walk_turn {
    uint64_t before_where; /* rows of the jobs before this thread's, and its match's `where` */
    uint32_t n;            /* of all jobs */
} walk_turn;

KR_BODY walk_turn walk_turn_of(kr_group group, const walk_job *job)
{
    uint32_t sum = job->slice.n;
    for (uint32_t distance = 1; distance < group.size; distance *= 2) {
        const uint32_t other = (uint32_t)kr_group_share(group, sum, (group.rank - distance) % group.size);
        sum += group.rank >= distance ? other : 0;
    }
    return (walk_turn){(uint64_t)(sum - job->slice.n) << 32 | job->slice.match.where,
                       (uint32_t)kr_group_share(group, sum, group.size - 1)};
}

/* The thread whose job has row k of all. */
KR_BODY uint32_t walk_owner(kr_group group, const walk_turn *turn, uint32_t k)
{
    const uint32_t before = (uint32_t)(turn->before_where >> 32);
    uint32_t owner = 0;
    for (uint32_t step = group.size / 2; step; step /= 2)
        owner += (uint32_t)kr_group_share(group, before, owner + step) <= k ? step : 0;
    return owner;
}

KR_BODY void walk_copy_window(kr_group group, const copy_params *p, const walk_job *job)
{
    const walk_view view = walk_view_of(&p->view);
    const walk_turn turn = walk_turn_of(group, job);
    for (uint32_t at = group.rank; at - group.rank < turn.n; at += WALK_AHEAD * group.size) {
        uint32_t rows[WALK_AHEAD], owners[WALK_AHEAD];
        uint64_t to[WALK_AHEAD];
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j) {
            const uint32_t k = at + j * group.size;
            owners[j] = walk_owner(group, &turn, k);
            const uint64_t mine = kr_group_share(group, turn.before_where, owners[j]);
            const uint64_t counts =
                kr_group_share(group, job->slice.from | (uint64_t)job->slice.match.count << 32, owners[j]);
            const uint32_t past = k - (uint32_t)(mine >> 32), from = (uint32_t)counts + past;
            to[j] = kr_group_share(group, job->to, owners[j]) + past;
            walk_state state;
            if (k >= turn.n)
                continue;
            walk_open(&view, (kr_match){(uint32_t)mine, (uint32_t)(counts >> 32)}, from, 1, &state);
            rows[j] = walk_row(&view, walk_slot(&view, &state, from));
        }
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j)
            if (at + j * group.size < turn.n)
                walk_copy_row(p, to[j], rows[j], job->probe - group.rank + owners[j]);
    }
}

/* ---- From the start of a match ----------------------------------------------------------------- */
#else

/* Rows rank, rank + stride, ... of a job, a few at a time. */
KR_BODY void walk_copy_run(const copy_params *p, const walk_job *job, uint32_t rank, uint32_t stride)
{
    const walk_view view = walk_view_of(&p->view);
    const uint32_t n = job->slice.n, from = job->slice.from;
    uint32_t left = n > rank ? (n - rank - 1) / stride + 1 : 0, at = rank;
    walk_state state;
    if (!left)
        return;
    walk_open(&view, job->slice.match, from, n, &state);
    for (; left >= WALK_AHEAD; left -= WALK_AHEAD, at += WALK_AHEAD * stride) {
        uint32_t rows[WALK_AHEAD];
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j)
            rows[j] = walk_row(&view, walk_slot(&view, &state, from + at + j * stride));
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j)
            walk_copy_row(p, job->to + at + j * stride, rows[j], job->probe);
    }
    for (; left; --left, at += stride)
        walk_copy_row(p, job->to + at, walk_row(&view, walk_slot(&view, &state, from + at)), job->probe);
}

/* Copies for the waiting threads, by `size` threads each. */
KR_BODY void walk_copy_by(kr_group group, const copy_params *p, const walk_job *job, uint32_t waiting,
                          uint32_t size)
{
    while (waiting) {
        const uint32_t mine = walk_skip(waiting, group.rank / size), owner = mine ? kr_ctz32(mine) : 0;
        const walk_slice slice = walk_share(group, job->slice, owner);
        const uint64_t to = kr_group_share(group, job->to, owner);
        const walk_job theirs = {slice, to, kr_group_share(group, job->probe, owner)};
        if (mine)
            walk_copy_run(p, &theirs, group.rank % size, size);
        waiting = walk_skip(waiting, group.size / size);
    }
}

KR_BODY void walk_copy_window(kr_group group, const copy_params *p, const walk_job *job)
{
    const uint32_t n = job->slice.n;
    if (n <= WALK_COPIES_ALONE || group.size == 1)
        walk_copy_run(p, job, 0, 1);
    if (group.size > 1) {
        const int few = n <= WALK_BY_EIGHT;
        walk_copy_by(group, p, job, kr_group_ballot(group, n > WALK_COPIES_ALONE && few), 8);
        walk_copy_by(group, p, job, kr_group_ballot(group, !few), group.size);
    }
}
#endif

/* ---- The program ------------------------------------------------------------------------------- */

KR_BODY void walk_copy(kr_group group, const copy_params *p, uint64_t i, uint64_t n)
{
    const uint64_t all = walk_place(p, p->n), part = all / p->groups + 1;
    const uint64_t each = part > p->least ? part : p->least, begin = i / group.size * each;
    const uint64_t end = begin + each < all ? begin + each : all;
    (void)n; /* a multiple of the group */
    if (begin >= end)
        return;
    for (uint64_t at = walk_match_at(group, p, begin); at < p->n && walk_place(p, at) < end;
         at += group.size) {
        const walk_job job = walk_job_of(p, at + group.rank, begin, end);
        walk_copy_window(group, p, &job);
    }
}
KR_GROUP_PROGRAM(WALK_NAME(copy), copy_params, walk_copy);

#endif
