/* The radix sort of (key, row) pairs, for keys of KR_KEY_BITS bits. README.md describes the algorithm. */
#include "base/devices/cpu/sort.h"
#include "base/util/pool.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if KR_KEY_BITS == 32
typedef uint32_t word;
#else
typedef uint64_t word;
#endif

enum {
    MOST_DIGIT = 11, /* most bits of a partition */
    LEAST_DIGIT = 8, /* least bits of a partition: bounds the depth of parts within parts */
    BUCKETS = 1 << MOST_DIGIT,
    LEAF = 1 << 16,  /* most pairs that one thread sorts within its cache */
    AIM = 1 << 15,   /* the usual number */
    LEAF_DIGIT = 11, /* bits of a pass of a leaf */
    SMALL_DIGIT = 8, /* the same below SMALL pairs, where more counters would not pay off */
    SMALL = 1 << 13,
    LEAF_COUNTS = (KR_KEY_BITS + LEAF_DIGIT - 1) / LEAF_DIGIT << LEAF_DIGIT,
    SLOTS = 16,       /* pairs a bucket collects before they are written: a cache line of rows */
    STRIPES = 4,      /* of the input per thread, so that a delayed thread holds nobody up */
    STREAM = 1 << 19, /* pairs from which on writes bypass the cache */
    SAMPLE = 256,
    REPORT = 1 << 22, /* pairs from which on progress is reported */
    REPORTS = 16      /* reports of a sort */
};

typedef struct pair {
    word key;
    uint32_t row;
} pair;

/* Whole columns: positions are always counted from their start. */
typedef struct region {
    word *keys;
    uint32_t *rows; /* NULL: row i is i */
} region;

typedef struct line {
    _Alignas(64) word keys[SLOTS];
    uint32_t rows[SLOTS];
} line;

/* The scratch memory of one thread. */
typedef struct worker {
    line *lines;      /* one per bucket */
    uint64_t *first;  /* one per bucket: where the stripe at hand begins in it */
    uint64_t *counts; /* one per bucket, for each of STRIPES stripes */
    pair *pairs[2];
} worker;

typedef struct sorter {
    region in, temp, out;
    uint64_t n, done;
    worker *workers;
    uint32_t threads, buckets; /* of the first partition; no later one has more */
    const kr_progress *progress;
    kr_error *err;
} sorter;

/* Positions begin .. end - 1 of a region that agree in all bits but first_bit .. end_bit - 1. */
typedef struct part {
    sorter *sort;
    const region *from;
    uint64_t begin, end;
    uint32_t first_bit, end_bit;
    uint32_t threads, worker; /* who sorts it: all threads (worker is 0), or thread `worker` */
} part;

static word bits_below(uint32_t bit)
{
    return bit >= KR_KEY_BITS ? ~(word)0 : ((word)1 << bit) - 1;
}

static uint32_t row_at(const region *from, uint64_t i)
{
    return from->rows ? from->rows[i] : (uint32_t)i;
}

/* ---- Lines -------------------------------------------------------------------------------------- */

/* Small columns stay in the cache for the next reader. */
static int may_stream(const region *to, uint64_t n)
{
    return n >= STREAM && ((uintptr_t)to->keys | (uintptr_t)to->rows) % 16 == 0;
}

/* Writes a whole line; if it streams, its place in `to` is aligned to 16 bytes. */
KR_BODY void write_line(const region *to, uint64_t at, const line *full, int stream)
{
#if defined(__SSE2__)
    if (stream) {
        const __m128i *keys = (const __m128i *)full->keys, *rows = (const __m128i *)full->rows;
        __m128i *to_keys = (__m128i *)(to->keys + at), *to_rows = (__m128i *)(to->rows + at);
        for (size_t i = 0; i < sizeof(word); ++i) /* SLOTS words are sizeof(word) vectors */
            _mm_stream_si128(to_keys + i, _mm_load_si128(keys + i));
        for (size_t i = 0; i < sizeof(uint32_t); ++i)
            _mm_stream_si128(to_rows + i, _mm_load_si128(rows + i));
        return;
    }
#endif
    (void)stream;
    memcpy(to->keys + at, full->keys, sizeof full->keys);
    memcpy(to->rows + at, full->rows, sizeof full->rows);
}

/* Writes positions begin .. end - 1, all in one line. */
static void write_rest(const region *to, uint64_t begin, uint64_t end, const line *some)
{
    const size_t n = (size_t)(end - begin);
    memcpy(to->keys + begin, some->keys + begin % SLOTS, n * sizeof(word));
    memcpy(to->rows + begin, some->rows + begin % SLOTS, n * sizeof(uint32_t));
}

/* Other threads see streamed lines from here on. */
static void finish_lines(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* ---- Leaves: one thread, in its cache ------------------------------------------------------- */

static void copy_part(const region *from, const region *to, uint64_t begin, uint64_t end)
{
    const size_t n = (size_t)(end - begin);
    if (from == to)
        return;
    memcpy(to->keys + begin, from->keys + begin, n * sizeof(word));
    if (from->rows)
        memcpy(to->rows + begin, from->rows + begin, n * sizeof(uint32_t));
    else
        for (uint64_t i = begin; i < end; ++i)
            to->rows[i] = (uint32_t)i;
}

/* Stops at the first key that is out of order, usually soon. Without bits all keys are equal. */
static int in_order(const part *job)
{
    const word *keys = job->from->keys, wanted = bits_below(job->end_bit) & ~bits_below(job->first_bit);
    if (!wanted)
        return 1;
    for (uint64_t i = job->begin + 1; i < job->end; ++i)
        if ((keys[i - 1] & wanted) > (keys[i] & wanted))
            return 0;
    return 1;
}

typedef struct digits {
    uint32_t first_bit, end_bit, width, passes;
    uint32_t counts[LEAF_COUNTS]; /* pass after pass, 1 << width each */
} digits;

KR_BODY void count_passes(digits *all, const word *keys, uint64_t n, uint32_t passes)
{
    const word mask = bits_below(all->width), wanted = bits_below(all->end_bit);
    for (uint64_t i = 0; i < n; ++i) {
        word key = (keys[i] & wanted) >> all->first_bit;
        for (uint32_t pass = 0; pass < passes; ++pass, key >>= all->width)
            ++all->counts[(pass << all->width) + (uint32_t)(key & mask)];
    }
}

/* Cuts the bits into digits of equal width and counts all of them in one read. */
static void count_digits(digits *all, const part *job)
{
    const uint64_t n = job->end - job->begin;
    const word *keys = job->from->keys + job->begin;
    const uint32_t bits = job->end_bit - job->first_bit, most = n < SMALL ? SMALL_DIGIT : LEAF_DIGIT;
    all->first_bit = job->first_bit;
    all->end_bit = job->end_bit;
    all->passes = (bits + most - 1) / most;
    all->width = (bits + all->passes - 1) / all->passes;
    memset(all->counts, 0, ((size_t)all->passes << all->width) * sizeof *all->counts);
    switch (all->passes) { /* a constant number of passes is unrolled */
    case 1: count_passes(all, keys, n, 1); break;
    case 2: count_passes(all, keys, n, 2); break;
    case 3: count_passes(all, keys, n, 3); break;
    default: count_passes(all, keys, n, all->passes); break;
    }
}

/* Turns counts into positions; 0 when all keys have the same digit, so that the pass changes nothing. */
static int place_digits(uint32_t *counts, uint32_t width, uint64_t n)
{
    uint32_t sum = 0;
    for (uint32_t d = 0; d < 1u << width; ++d) {
        const uint32_t count = counts[d];
        if (count == n)
            return 0;
        counts[d] = sum;
        sum += count;
    }
    return 1;
}

/* Where pair i of a leaf lies. With few digits, the next place of each digit stays in the first-level cache.
 * But dense keys have equally frequent digits, which put these places a power of two apart, and so into a few
 * sets of that cache (lines 64 apart share a set). So each stretch of 64 lines has its lines swapped in its
 * own way. Without this, dense keys took twice as long. */
enum { LINE_PAIRS = 64 / sizeof(pair), SWAP = 63 * LINE_PAIRS };

KR_BODY uint32_t spot(uint64_t i, uint32_t swap)
{
    return (uint32_t)i ^ ((uint32_t)i >> 6 & swap);
}

/* One pass, from pairs or, where there are none yet, from the columns. */
KR_BODY void pass_leaf(const part *job, const pair *source, pair *target, uint32_t *next, uint32_t shift,
                       word mask, uint32_t swap)
{
    const uint64_t n = job->end - job->begin;
    if (source)
        for (uint64_t i = 0; i < n; ++i) {
            const pair one = source[spot(i, swap)];
            target[spot(next[(one.key >> shift) & mask]++, swap)] = one;
        }
    else
        for (uint64_t i = job->begin; i < job->end; ++i) {
            const pair one = {job->from->keys[i], row_at(job->from, i)};
            target[spot(next[(one.key >> shift) & mask]++, swap)] = one;
        }
}

KR_BODY void fill_line(line *some, const pair *source, uint64_t at, uint64_t begin, uint64_t end,
                       uint32_t swap)
{
    for (uint64_t i = begin; i < end; ++i, ++at) {
        const pair one = source[spot(at, swap)];
        some->keys[i] = one.key;
        some->rows[i] = one.row;
    }
}

KR_BODY void write_pairs(const part *job, const pair *source, uint32_t swap)
{
    const region *out = &job->sort->out;
    const int stream = may_stream(out, job->sort->n);
    line some;
    for (uint64_t at = job->begin, stop; at < job->end; at = stop) {
        stop = (at / SLOTS + 1) * SLOTS;
        if (at % SLOTS == 0 && stop <= job->end) {
            fill_line(&some, source, at - job->begin, 0, SLOTS, swap);
            write_line(out, at, &some, stream);
        } else {
            stop = stop < job->end ? stop : job->end;
            fill_line(&some, source, at - job->begin, at % SLOTS, at % SLOTS + (stop - at), swap);
            write_rest(out, at, stop, &some);
        }
    }
    if (stream)
        finish_lines();
}

KR_BODY void sort_digits(const part *job, digits *all, uint32_t swap)
{
    const uint64_t n = job->end - job->begin;
    worker *own = &job->sort->workers[job->worker];
    pair *source = NULL, *target = own->pairs[0];
    for (uint32_t pass = 0; pass < all->passes; ++pass) {
        const uint32_t shift = all->first_bit + pass * all->width;
        const word mask = bits_below(all->end_bit - shift) & bits_below(all->width);
        uint32_t *next = all->counts + ((size_t)pass << all->width);
        if (!place_digits(next, all->width, n))
            continue;
        pass_leaf(job, source, target, next, shift, mask, swap);
        source = target;
        target = own->pairs[target == own->pairs[0]];
    }
    write_pairs(job, source, swap); /* keys out of order differ, so there was a pass */
}

static void sort_leaf(const part *job)
{
    digits all;
    count_digits(&all, job);
    if (all.width <= SMALL_DIGIT)
        sort_digits(job, &all, SWAP);
    else
        sort_digits(job, &all, 0);
}

/* ---- Partitions: by the highest digit, over the whole memory --------------------------------- */

typedef struct pass {
    const part *job;
    const region *to;
    uint64_t stripe; /* positions in each of them */
    uint32_t shift, buckets;
    int stream;
} pass;

static void stripe_bounds(const pass *now, uint64_t stripe, uint64_t *begin, uint64_t *end)
{
    const part *job = now->job;
    *begin = job->begin + stripe * now->stripe;
    *end = *begin + now->stripe < job->end ? *begin + now->stripe : job->end;
    if (*begin > job->end)
        *begin = *end;
}

/* For each bucket, first the number of this stripe's pairs, then the position of the next one. */
static uint64_t *stripe_counts(const pass *now, uint64_t stripe)
{
    const sorter *sort = now->job->sort;
    return sort->workers[now->job->worker + stripe / STRIPES].counts + stripe % STRIPES * sort->buckets;
}

static void vary_stripe(void *ctx, uint32_t id, uint64_t stripe, uint64_t next)
{
    const pass *now = ctx;
    const word *keys = now->job->from->keys, one = keys[now->job->begin];
    uint64_t begin, end;
    word vary = 0;
    (void)id, (void)next;
    stripe_bounds(now, stripe, &begin, &end);
    for (uint64_t i = begin; i < end; ++i)
        vary |= keys[i] ^ one;
    *stripe_counts(now, stripe) = vary;
}

static void count_stripe(void *ctx, uint32_t id, uint64_t stripe, uint64_t next)
{
    const pass *now = ctx;
    const word *keys = now->job->from->keys;
    const uint32_t mask = now->buckets - 1;
    uint64_t begin, end, *counts = stripe_counts(now, stripe);
    (void)id, (void)next;
    stripe_bounds(now, stripe, &begin, &end);
    memset(counts, 0, now->buckets * sizeof *counts);
    for (uint64_t i = begin; i < end; ++i)
        ++counts[(uint32_t)(keys[i] >> now->shift) & mask];
}

KR_BODY void scatter(const pass *now, worker *own, uint64_t *next, uint64_t begin, uint64_t end, int has_rows)
{
    const region from = *now->job->from, to = *now->to;
    const uint32_t shift = now->shift, mask = now->buckets - 1;
    const int stream = now->stream;
    line *lines = own->lines;
    for (uint64_t i = begin; i < end; ++i) {
        const word key = from.keys[i];
        const uint32_t bucket = (uint32_t)(key >> shift) & mask;
        const uint64_t at = next[bucket]++;
        line *some = &lines[bucket];
        some->keys[at % SLOTS] = key;
        some->rows[at % SLOTS] = has_rows ? from.rows[i] : (uint32_t)i;
        if (at % SLOTS == SLOTS - 1) {
            const uint64_t start = at - (SLOTS - 1);
            if (start >= own->first[bucket])
                write_line(&to, start, some, stream);
            else
                write_rest(&to, own->first[bucket], at + 1, some);
        }
    }
}

static void scatter_stripe(void *ctx, uint32_t id, uint64_t stripe, uint64_t after)
{
    const pass *now = ctx;
    worker *own = &now->job->sort->workers[now->job->worker + id];
    uint64_t begin, end, *next = stripe_counts(now, stripe);
    (void)after;
    stripe_bounds(now, stripe, &begin, &end);
    memcpy(own->first, next, now->buckets * sizeof *next);
    if (now->job->from->rows)
        scatter(now, own, next, begin, end, 1);
    else
        scatter(now, own, next, begin, end, 0);
    for (uint32_t b = 0; b < now->buckets; ++b) {
        const uint64_t line_start = next[b] / SLOTS * SLOTS;
        write_rest(now->to, line_start > own->first[b] ? line_start : own->first[b], next[b], &own->lines[b]);
    }
    if (now->stream)
        finish_lines();
}

/* One past the highest bit in which keys differ. Most often a few keys show that it is end_bit. */
static uint32_t highest_difference(const pass *now, uint32_t stripes)
{
    const part *job = now->job;
    const word *keys = job->from->keys + job->begin;
    const uint64_t n = job->end - job->begin;
    word vary = 0;
    for (uint64_t i = 0; i < SAMPLE; ++i)
        vary |= keys[n / SAMPLE * i] ^ keys[0];
    if (!(vary >> (job->end_bit - 1) & 1)) {
        kr_pool_run(job->threads, stripes, 1, vary_stripe, (void *)now);
        for (uint32_t stripe = 0; stripe < stripes; ++stripe)
            vary |= (word)*stripe_counts(now, stripe);
    }
    uint32_t bit = job->end_bit;
    while (!(vary >> (bit - 1) & 1))
        --bit;
    return bit;
}

static uint32_t choose_digit(uint64_t n, uint32_t bits)
{
    uint32_t digit = LEAST_DIGIT;
    while (digit < MOST_DIGIT && n >> digit > AIM)
        ++digit;
    return digit < bits ? digit : bits;
}

/* Moves the part to the other region, bucket after bucket; start[b] becomes where bucket b begins. */
static void partition(pass *now, uint32_t stripes, uint64_t *start)
{
    const part *job = now->job;
    uint64_t sum = job->begin;
    kr_pool_run(job->threads, stripes, 1, count_stripe, now);
    for (uint32_t b = 0; b < now->buckets; ++b) {
        start[b] = sum;
        for (uint32_t stripe = 0; stripe < stripes; ++stripe) {
            uint64_t *count = &stripe_counts(now, stripe)[b];
            const uint64_t position = sum;
            sum += *count;
            *count = position;
        }
    }
    start[now->buckets] = sum;
    kr_pool_run(job->threads, stripes, 1, scatter_stripe, now);
}

/* ---- Parts of parts -------------------------------------------------------------------------- */

typedef struct children {
    part like; /* all but begin, end and who */
    const uint64_t *start;
    uint64_t for_all; /* pairs from which on all threads work on one child */
    uint32_t base;
} children;

static kr_status sort_part(const part *job);

static void sort_child(void *ctx, uint32_t id, uint64_t b, uint64_t next)
{
    const children *all = ctx;
    part child = all->like;
    (void)next;
    child.begin = all->start[all->base + b];
    child.end = all->start[all->base + b + 1];
    child.threads = 1;
    child.worker = all->like.worker + id;
    if (child.end - child.begin < all->for_all)
        sort_part(&child);
}

/* Counts only the children of the whole column, which the calling thread starts. */
static kr_status report(sorter *sort, const part *parent, uint64_t pairs)
{
    if (parent->end - parent->begin < sort->n || sort->n < REPORT)
        return KR_OK;
    sort->done += pairs;
    return kr_progress_report(sort->progress, "sort", (double)sort->done / (double)sort->n, sort->err);
}

static kr_status sort_large_children(children *all, const part *parent, uint32_t buckets)
{
    kr_status status = KR_OK;
    for (uint32_t b = 0; !status && b < buckets; ++b) {
        part child = all->like;
        child.begin = all->start[b];
        child.end = all->start[b + 1];
        if (child.end - child.begin < all->for_all)
            continue;
        status = sort_part(&child);
        if (!status)
            status = report(all->like.sort, parent, child.end - child.begin);
    }
    return status;
}

static kr_status sort_small_children(children *all, const part *parent, uint32_t buckets)
{
    kr_status status = KR_OK;
    const uint32_t step = (buckets + REPORTS - 1) / REPORTS;
    for (all->base = 0; !status && all->base < buckets; all->base += step) {
        const uint32_t count = buckets - all->base < step ? buckets - all->base : step;
        uint64_t pairs = 0;
        kr_pool_run(all->like.threads, count, 1, sort_child, all);
        for (uint32_t b = all->base; b < all->base + count; ++b) {
            const uint64_t n = all->start[b + 1] - all->start[b];
            pairs += n < all->for_all ? n : 0;
        }
        status = report(all->like.sort, parent, pairs);
    }
    return status;
}

static kr_status sort_part(const part *job)
{
    sorter *sort = job->sort;
    const uint64_t n = job->end - job->begin;
    uint64_t start[BUCKETS + 1];
    if (in_order(job)) {
        copy_part(job->from, &sort->out, job->begin, job->end);
        return KR_OK;
    }
    if (n <= LEAF) {
        sort_leaf(job);
        return KR_OK;
    }
    const uint32_t stripes = job->threads > 1 ? job->threads * STRIPES : 1;
    pass now = {.job = job, .stripe = (n + stripes - 1) / stripes};
    const uint32_t end_bit = highest_difference(&now, stripes);
    const uint32_t digit = choose_digit(n, end_bit - job->first_bit);
    now.shift = end_bit - digit;
    now.buckets = 1u << digit;
    /* The other region; the last possible pass writes to `out`. */
    now.to = job->from == &sort->temp || (job->from == &sort->in && now.shift == job->first_bit)
                 ? &sort->out
                 : &sort->temp;
    now.stream = may_stream(now.to, n);
    partition(&now, stripes, start);
    children all = {.like = *job, .start = start, .for_all = UINT64_MAX};
    all.like.from = now.to;
    all.like.end_bit = now.shift;
    if (job->threads > 1)
        all.for_all = n / (8 * job->threads) > LEAF ? n / (8 * job->threads) : LEAF + 1;
    kr_status status = report(sort, job, 0);
    if (!status && job->threads > 1)
        status = sort_large_children(&all, job, now.buckets);
    return status ? status : sort_small_children(&all, job, now.buckets);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Hands out arrays of the scratch memory, each on cache lines of its own; from 0 on, it only counts. */
static void *carve(uintptr_t *at, uint64_t n, uint64_t each)
{
    void *memory = (void *)*at;
    *at += (n * each + 63) / 64 * 64;
    return memory;
}

/* Lays out the scratch memory for sort->n pairs and so many bits from `temp` on, and returns how much it
 * takes. Bits of one partition go from the input to the output. */
static uint64_t lay_out(sorter *sort, uint32_t threads, uint32_t bits, uintptr_t temp)
{
    const uint64_t n = sort->n, leaf = n < LEAF ? (n + 511) / 512 * 512 : LEAF, most = 1 + n / LEAF;
    const int moves_twice = n > LEAF && choose_digit(n, KR_KEY_BITS) < bits;
    uintptr_t at = temp;
    worker one;
    sort->threads = threads < most ? threads : (uint32_t)most;
    sort->buckets = n > LEAF ? 1u << choose_digit(n, KR_KEY_BITS) : 0;
    sort->temp.keys = carve(&at, moves_twice ? n : 0, sizeof(word));
    sort->temp.rows = carve(&at, moves_twice ? n : 0, sizeof(uint32_t));
    sort->workers = carve(&at, sort->threads, sizeof one);
    for (uint32_t i = 0; i < sort->threads; ++i) {
        one.lines = carve(&at, sort->buckets, sizeof *one.lines);
        one.first = carve(&at, sort->buckets, sizeof *one.first);
        one.counts = carve(&at, sort->buckets, STRIPES * sizeof *one.counts);
        one.pairs[0] = carve(&at, leaf, sizeof(pair));
        one.pairs[1] = carve(&at, leaf, sizeof(pair));
        if (temp)
            sort->workers[i] = one;
    }
    return at - temp;
}

uint64_t KR_W(kr_cpu_sort_temp)(uint32_t threads, uint64_t n, uint32_t bits)
{
    sorter sort = {.n = n};
    return lay_out(&sort, threads, bits, 0) + 64;
}

kr_status KR_W(kr_cpu_sort)(uint32_t threads, const kr_progress *progress, const kr_sort *job, void *temp,
                            kr_error *err)
{
    sorter sort = {.in = {(word *)job->keys_in, (uint32_t *)job->rows_in},
                   .out = {job->keys_out, job->rows_out},
                   .n = job->n,
                   .progress = progress,
                   .err = err};
    lay_out(&sort, threads, job->end_bit - job->first_bit, ((uintptr_t)temp + 63) / 64 * 64);
    const part all = {.sort = &sort,
                      .from = &sort.in,
                      .end = job->n,
                      .first_bit = job->first_bit,
                      .end_bit = job->end_bit,
                      .threads = sort.threads};
    return sort_part(&all);
}
