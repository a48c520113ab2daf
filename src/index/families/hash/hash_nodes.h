/* A hash table of nodes, as bodies see it. A node has a fixed number of slots; the first n_heads nodes are
 * the buckets, by the hash of the key: bucket b holds hash h if b = h * n_heads >> 32. A key that finds its
 * bucket full goes to another bucket (kind hash), or to a node that is linked behind it (kind chain).
 *
 * Slots keep mixed codes (base/key/hash.h) instead of codes. Mixing is a bijection, so equality is the same.
 *
 *   of 32-bit codes   meta | codes[slots] | words[slots] | next
 *   of 64-bit codes   codes[slots] | words[slots] | meta | next
 *
 * `next` is only there with links: 0, or one more than the number of a node behind the buckets. The word of a
 * slot is the row id of the key; of a key with several rows it is the number of a span, whose rows lie side
 * by side in `aside`. Words of bits of `meta`:
 *
 *   of kind hash      bits 0 to 6     slot j holds a key
 *                     bits 7 to 13    that key has several rows
 *                     bits 14 to 27   a filter of the keys of this bucket that lie in others
 *                     bits 28 to 31   how far on the way of their probes, at most (hash_far)
 *   of filter=off     bits 14 to 20   slot j has held a key (instead of filter and reach)
 *   of kind chain     bits 0 to 14, bits 16 to 30   as the first two
 *
 * So a search of kind hash ends early where the key is missing, and free slots mean nothing. Of filter=off
 * they do: a key goes to another bucket only if its own is full, so a search ends at a slot that never held a
 * key. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_NODES_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_NODES_H

#include "base/key/hash.h"
#include "base/program/program.h"
#include "index/families/hash/hash_view.h"
#include "index/kinds/batch.h"

#if !KR_ON_CUDA && defined(KR_ISA) && KR_ISA > 0
#include <immintrin.h>
#endif

enum {
    TABLE_TAKEN = 14,  /* of filter=off: the bit of slot 0 that says that it held a key */
    TABLE_FILTER = 14, /* the first bit of the filter, and how many it has */
    TABLE_FILTER_BITS = 14,
    TABLE_REACH = 28,
    TABLE_REACH_MOST = 255, /* buckets that a key may lie behind its own */
    TABLE_AHEAD = 4,        /* buckets that are looked at together for a free slot */
    TABLE_CROWD = 16        /* nodes full of keys of one bucket: far more than chance brings together */
};

/* ---- Nodes ------------------------------------------------------------------------------------ */

KR_BODY char *hash_node(const hash_view *t, uint32_t node)
{
    const uint64_t nbytes = hash_node_nbytes(sizeof(kr_key), t->slots, t->linked);
    return node < t->n_heads ? t->heads + node * nbytes : t->more + (node - t->n_heads) * nbytes;
}

KR_BODY kr_key *hash_keys(char *node)
{
    return (kr_key *)(node + (sizeof(kr_key) == 4 ? 4 : 0));
}

KR_BODY uint32_t *hash_words(char *node, uint32_t slots)
{
    return (uint32_t *)(hash_keys(node) + slots);
}

KR_BODY uint32_t *hash_meta(char *node, uint32_t slots)
{
    return (uint32_t *)(sizeof(kr_key) == 4 ? node : node + (uint64_t)slots * 12);
}

KR_BODY uint32_t *hash_next(char *node, uint32_t slots)
{
    return hash_words(node, slots) + slots + (sizeof(kr_key) == 4 ? 0 : 1);
}

KR_BODY uint32_t hash_home(const hash_view *t, kr_key mixed)
{
    return (uint32_t)((uint64_t)kr_code_hash_of_mixed(mixed) * t->n_heads >> 32);
}

KR_BODY uint32_t hash_all(const hash_view *t)
{
    return (1u << t->slots) - 1;
}

/* The bit that says that the key of slot j has several rows. */
KR_BODY uint32_t hash_several(uint32_t linked, uint32_t j)
{
    return 1u << ((linked ? 16 : 7) + j);
}

/* ---- The way of a probe ------------------------------------------------------------------------- */

/* The bucket that a key goes to in step k >= 1. Step 1 leads to one of the 16 behind its own: so a bucket
 * with too many keys almost always has some that fit there, and batches that are partitioned by hash stay in
 * their part. Later steps lead anywhere, as the neighbours of full buckets are often full, too. Double
 * hashing always adds a step of the key's own; n_heads is prime. */
KR_BODY uint32_t hash_way(const hash_view *t, kr_key mixed, uint32_t k)
{
    const uint32_t own = (uint32_t)mixed * 0x9E3779B1u;
    uint64_t far = 1 + (own >> 28);
    if (t->twice)
        far = t->n_heads > 2 ? k * (1 + ((uint64_t)own * (t->n_heads - 2) >> 32)) : k;
    else if (k > 1)
        far = (uint64_t)((own + k * 0x9E3779B1u) * 0x85EBCA6Bu) * t->n_heads >> 32;
    const uint64_t at = hash_home(t, mixed) + far;
    return (uint32_t)(at < t->n_heads ? at : at % t->n_heads);
}

/* The bit of a key in the filter of its bucket. */
KR_BODY uint32_t hash_filter_bit(kr_key mixed)
{
    const uint32_t spread = (uint32_t)mixed * 0x85EBCA6Bu >> 16;
    return 1u << (TABLE_FILTER + (spread * TABLE_FILTER_BITS >> 16));
}

/* Buckets on the way that a number of 4 bits stands for: 0 to 4, 6, 8, 12, ... 128, TABLE_REACH_MOST. */
KR_BODY uint32_t hash_far(uint32_t number)
{
    const uint32_t odd = number & 1;
    if (number <= 4)
        return number;
    return number == 15 ? (uint32_t)TABLE_REACH_MOST : (2 + odd) << (number - 2 - odd) / 2;
}

/* The smallest number that stands for at least so many. */
KR_BODY uint32_t hash_far_number(uint32_t steps)
{
    uint32_t number = 0;
    while (hash_far(number) < steps)
        ++number;
    return number;
}

/* How many buckets behind its own may hold a key that is not in its own, which has this meta. */
KR_BODY uint32_t hash_reach(uint32_t meta, kr_key mixed)
{
    return meta & hash_filter_bit(mixed) ? hash_far(meta >> TABLE_REACH) : 0;
}

/* Of filter=off: slots that never held a key. A key that is not in the buckets before is not behind them. */
KR_BODY uint32_t hash_never(const hash_view *t, uint32_t meta)
{
    return ~(meta >> TABLE_TAKEN) & hash_all(t);
}

/* ---- Comparing all keys of a node ---------------------------------------------------------------- */

#if KR_ON_CUDA && KR_KEY_BITS == 32
KR_BODY uint32_t hash_equal(const char *node, uint32_t slots, uint32_t key, uint32_t *meta)
{
    const uint4 *fours = (const uint4 *)node;
    const uint4 first = __ldg(fours);
    uint32_t equal = (first.y == key) | (first.z == key) << 1 | (first.w == key) << 2;
    *meta = first.x;
#pragma unroll
    for (uint32_t j = 1; j < (slots + 1) / 4; ++j) {
        const uint4 four = __ldg(fours + j);
        equal |= ((four.x == key) | (four.y == key) << 1 | (four.z == key) << 2 | (four.w == key) << 3)
                 << (4 * j - 1);
    }
    return equal;
}
#elif KR_ON_CUDA
KR_BODY uint32_t hash_equal(const char *node, uint32_t slots, uint64_t key, uint32_t *meta)
{
    const ulonglong2 *twos = (const ulonglong2 *)node;
    uint32_t equal = 0;
#pragma unroll
    for (uint32_t j = 0; j < slots / 2; ++j) {
        const ulonglong2 two = __ldg(twos + j);
        equal |= ((two.x == key) | (two.y == key) << 1) << 2 * j;
    }
    equal |= (uint32_t)(__ldg((const unsigned long long *)node + slots - 1) == key) << (slots - 1);
    *meta = __ldg((const uint32_t *)(node + 12 * slots));
    return equal;
}
#elif defined(KR_ISA) && KR_ISA > 0 && KR_KEY_BITS == 32
KR_BODY uint32_t hash_equal(const char *node, uint32_t slots, uint32_t key, uint32_t *meta)
{
    const __m256i wanted = _mm256_set1_epi32((int)key);
    uint32_t equal = 0;
    for (uint32_t j = 0; j <= slots; j += 8) { /* the meta word comes first */
        const __m256i words = _mm256_loadu_si256((const __m256i *)(node + 4 * j));
        equal |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(words, wanted))) << j;
    }
    *meta = *(const uint32_t *)node;
    return equal >> 1;
}
#elif defined(KR_ISA) && KR_ISA > 0
KR_BODY uint32_t hash_equal(const char *node, uint32_t slots, uint64_t key, uint32_t *meta)
{
    const __m256i wanted = _mm256_set1_epi64x((long long)key);
    uint32_t equal = 0;
    for (uint32_t j = 0; j < slots; j += 4) { /* the last reads some words of rows, too */
        const __m256i keys = _mm256_loadu_si256((const __m256i *)(node + 8 * j));
        equal |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(keys, wanted))) << j;
    }
    *meta = *(const uint32_t *)(node + 12 * slots);
    return equal & ((1u << slots) - 1);
}
#else
KR_BODY uint32_t hash_equal(const char *node, uint32_t slots, kr_key key, uint32_t *meta)
{
    uint32_t equal = 0;
    for (uint32_t j = 0; j < slots; ++j)
        equal |= (uint32_t)(hash_keys((char *)node)[j] == key) << j;
    *meta = *hash_meta((char *)node, slots);
    return equal;
}
#endif

/* ---- Searching outside of lookups ---------------------------------------------------------------- */

/* Where a key is, in programs that claim and free no slots: found is 0 if it is nowhere. */
typedef struct hash_place {
    uint32_t node, slot, word;
    uint32_t found, several;
    uint32_t steps; /* from its bucket */
} hash_place;

KR_BODY hash_place hash_find(const hash_view *t, kr_key mixed)
{
    hash_place place = {hash_home(t, mixed), 0, 0, 0, 0, 0};
    uint32_t left = 0;
    for (; t->n_heads; ++place.steps) {
        char *node = hash_node(t, place.node);
        uint32_t meta;
        const uint32_t equal = hash_equal(node, t->slots, mixed, &meta) & meta;
        if (equal) {
            place.slot = kr_ctz32(equal);
            place.word = hash_words(node, t->slots)[place.slot];
            place.several = (meta & hash_several(t->linked, place.slot)) != 0;
            place.found = 1;
            return place;
        }
        if (t->linked) {
            const uint32_t next = *hash_next(node, t->slots);
            if (!next)
                break;
            place.node = t->n_heads + next - 1;
        } else {
            if (place.steps)
                --left;
            else
                left = t->plain ? (uint32_t)TABLE_REACH_MOST : hash_reach(meta, mixed);
            if (!left || (t->plain && hash_never(t, meta)))
                break;
            place.node = hash_way(t, mixed, place.steps + 1);
        }
    }
    return place;
}

/* ---- Taking slots -------------------------------------------------------------------------------- */

/* Where a bucket's keys are put next. */
typedef struct hash_cursor {
    uint32_t node, steps; /* from the bucket on */
} hash_cursor;

KR_BODY hash_cursor hash_begin(uint32_t home)
{
    const hash_cursor cursor = {home, 0};
    return cursor;
}

/* To the next node, which kind chain makes if there is none; 0 when kind hash has come too far. */
KR_BODY int hash_go_on(const hash_view *t, uint32_t *used, kr_key mixed, hash_cursor *cursor)
{
    if (t->linked) {
        uint32_t *next = hash_next(hash_node(t, cursor->node), t->slots);
        if (!*next)
            *next = kr_atomic_take32(used, 1) + 1; /* one thread works on a bucket, and there is room */
        cursor->node = t->n_heads + *next - 1;
        ++cursor->steps;
        return 1;
    }
    do { /* reads some buckets at a time, so as not to wait for one after the other */
        uint32_t full = 0;
        KR_UNROLL
        for (uint32_t j = 0; j < TABLE_AHEAD; ++j) {
            char *node = hash_node(t, hash_way(t, mixed, cursor->steps + 1 + j));
            const uint32_t vacant = ~kr_atomic_load32(hash_meta(node, t->slots)) & hash_all(t);
            full |= (uint32_t)(vacant == 0) << j;
        }
        cursor->steps += kr_ctz32(~full) + 1;
        if (full != (1u << TABLE_AHEAD) - 1) {
            cursor->node = hash_way(t, mixed, cursor->steps);
            return cursor->steps <= TABLE_REACH_MOST;
        }
        --cursor->steps;
    } while (cursor->steps < TABLE_REACH_MOST);
    return 0;
}

/* Puts a key into a free slot of a node; *slot. 0: there is none. Keys of other buckets come at the same
 * time: a slot belongs to the thread that sets its bit. */
KR_BODY int hash_claim_in(const hash_view *t, uint32_t number, kr_key mixed, uint32_t word, int several,
                          uint32_t *slot)
{
    char *node = hash_node(t, number);
    uint32_t *meta = hash_meta(node, t->slots), seen = kr_atomic_load32(meta);
    while (~seen & hash_all(t)) {
        const uint32_t j = kr_ctz32(~seen & hash_all(t));
        seen = kr_atomic_or32(meta, 1u << j | t->plain << (TABLE_TAKEN + j));
        if (seen >> j & 1)
            continue;
        if (several)
            kr_atomic_or32(meta, hash_several(t->linked, j));
        hash_keys(node)[j] = mixed;
        hash_words(node, t->slots)[j] = word;
        *slot = j;
        return 1;
    }
    return 0;
}

/* Tells a key's bucket how far away it is. */
KR_BODY void hash_mark_home(const hash_view *t, kr_key mixed, uint32_t steps)
{
    if (t->plain)
        return;
    uint32_t *meta = hash_meta(hash_node(t, hash_home(t, mixed)), t->slots);
    const uint32_t far = hash_far_number(steps);
    uint32_t seen = kr_atomic_or32(meta, hash_filter_bit(mixed)) | hash_filter_bit(mixed);
    while (seen >> TABLE_REACH < far) {
        const uint32_t before = seen;
        seen = kr_atomic_replace32(meta, before, (before & ~(~0u << TABLE_REACH)) | far << TABLE_REACH);
        if (seen == before)
            return;
    }
}

/* Puts a key into the first free slot from the cursor on; *slot. 0: there is none within reach. */
KR_BODY int hash_claim(const hash_view *t, uint32_t *used, kr_key mixed, uint32_t word, int several,
                       hash_cursor *cursor, uint32_t *slot)
{
    do {
        if (hash_claim_in(t, cursor->node, mixed, word, several, slot)) {
            if (!t->linked && cursor->steps)
                hash_mark_home(t, mixed, cursor->steps);
            return 1;
        }
    } while (hash_go_on(t, used, mixed, cursor));
    return 0;
}

/* Rows aside are the work of many keys by one thread each, or, of a key with more rows than this, of a group.
 */
enum { TABLE_ALONE = 32 };

/* ---- Programs that count ------------------------------------------------------------------------- */

/* A program of n elements, each of which may add to counters. Groups add up what their threads count and
 * share the counters out among stripes, as one counter takes only so many additions at a time.
 *
 *   TABLE_TALLY_PROGRAM(name, params_t, n_counts, element)
 *       void element(const params_t *, uint64_t i, uint32_t *tally)
 *       params_t has a member `counts`: TABLE_STRIPES times n_counts. */
enum { TABLE_STRIPES = 64 };

KR_BODY void hash_tally_add(kr_group group, const uint32_t *tally, uint32_t n_counts, uint64_t i,
                            uint64_t *counts)
{
    counts += (i >> 5) % TABLE_STRIPES * n_counts;
    KR_UNROLL
    for (uint32_t k = 0; k < n_counts; ++k)
        if (kr_group_ballot(group, tally[k] != 0))
            kr_group_add64(group, tally[k], counts + k);
}

#define TABLE_TALLY_PROGRAM(name, params_t, n_counts, element)                             \
    KR_BODY void name##_tallied(kr_group group, const params_t *p, uint64_t i, uint64_t n) \
    {                                                                                      \
        uint32_t tally[n_counts] = {0};                                                    \
        if (i < n)                                                                         \
            element(p, i, tally);                                                          \
        hash_tally_add(group, tally, n_counts, i, p->counts);                              \
    }                                                                                      \
    KR_GROUP_PROGRAM(name, params_t, name##_tallied)

/* Sums of the stripes. */
static inline void hash_tally_sum(const uint64_t *counts, uint32_t n_counts, uint64_t *sums)
{
    for (uint32_t k = 0; k < n_counts; ++k)
        sums[k] = 0;
    for (uint32_t i = 0; i < TABLE_STRIPES * n_counts; ++i)
        sums[i % n_counts] += counts[i];
}

#endif
