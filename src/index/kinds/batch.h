/* A batch of probes as a program sees it, and where a match goes. The bodies of every family begin with
 * kr_batch_load and end with kr_put_first or kr_put_match (kr_put_wants_first); what follows is up to the
 * library. */
#ifndef KEYRAY_INDEX_KINDS_BATCH_H
#define KEYRAY_INDEX_KINDS_BATCH_H

#include "base/key/key.h"
#include "index/results/match.h"

/* What a lookup of nearest keys asks for; index/kinds/nearest.h answers it. */
typedef struct kr_nearby {
    uint64_t tolerance; /* the largest distance: an integer, or the bits of a double */
    uint32_t how;       /* KR_NEAR_*; 0: the lookup is of another sort */
    uint16_t type;      /* of the values behind the codes, or behind their low bits: kr_type */
    uint16_t low_bits;  /* KR_NEAR_GROUPED: keys of one group differ in these bits only */
} kr_nearby;
kr_assert_size(kr_nearby, 16);

/* Probes, all in device memory. Probe i of a reordered batch is the caller's probe order[i]: `lower` then
 * holds codes in the new order, while upper bounds and validity stay in the caller's order. */
typedef struct kr_batch {
    const void *lower;
    const void *upper; /* NULL: point lookups, upper is lower */
    const uint8_t *lower_validity, *upper_validity;
    const uint32_t *order;               /* NULL: as given */
    uint64_t lower_offset, upper_offset; /* of the validity bitmaps, in bits */
    uint32_t lower_type, upper_type;
    kr_nearby near; /* of point lookups only */
} kr_batch;
kr_assert_size(kr_batch, 80);

/* A batch whose probes are grouped by parts of the index (index/partition/partition.h). The probes of part p
 * are starts[p] .. starts[p + 1] - 1, in segments. In a family with cuts, part p holds the entries at
 * positions kr_batch_cut_at(n, bits, p) to kr_batch_cut_at(n, bits, p + 1) - 1. The first entry that is not
 * below a probe's lower bound is in the probe's part, or is the first entry of the next part. In a family
 * that hashes, p is the top `bits` bits of kr_code_hash of the probe's code. In a family with even_bits, each
 * part has kr_batch_even codes from the lowest key on; codes below it belong to the first part, those beyond
 * all parts to the last. */
typedef struct kr_segment {
    uint32_t part, first; /* at most `segment` probes of the part, from `first` on */
} kr_segment;

typedef struct kr_partition_view {
    const uint32_t *starts;
    const kr_segment *segments;
    const uint32_t *n_segments; /* one number, at most most_segments */
    uint64_t most_segments;
    uint32_t bits, segment;
} kr_partition_view;

/* A multiple of 64, so that parts begin where cache lines do. */
KR_BOTH uint64_t kr_batch_cut_at(uint64_t n, uint32_t bits, uint64_t p)
{
    return p >> bits ? n : (n * p >> bits) & ~(uint64_t)63;
}

/* Codes of each of 2^bits even parts of the codes lowest to lowest + span: 2 or more parts. */
KR_BOTH uint64_t kr_batch_even(uint64_t span, uint32_t bits)
{
    return (span >> bits) + 1;
}

/* What a locating program writes for a probe. The first two need only the first match of a probe. */
enum {
    KR_PUT_ROW = 1, /* uint32_t: the first row of the match, or KR_NO_ROW */
    KR_PUT_FLAG,    /* uint8_t: 1 when there is a match */
    KR_PUT_COUNT,   /* uint64_t: the rows of the match */
    KR_PUT_MATCH    /* kr_match, for a second program */
};

typedef struct kr_put {
    void *out;
    const uint32_t *order; /* as in the batch: where probe i's answer goes */
    uint64_t *work;        /* counters of kr_put_work_add; NULL: not counted */
    uint32_t what;         /* KR_PUT_* */
    /* Lookups of nearest keys: the KR_PUT_* that is written. `what` is then KR_PUT_MATCH: both ends of the
     * probe's own key are searched for. */
    uint32_t nearest;
} kr_put;
kr_assert_size(kr_put, 32);

/* Bytes of a probe's answer. */
KR_BODY uint32_t kr_put_nbytes(uint32_t what)
{
    return what == KR_PUT_ROW ? 4 : what == KR_PUT_FLAG ? 1 : 8;
}

/* The KR_PUT_* of the answers. */
KR_BODY uint32_t kr_put_written(const kr_put *put)
{
    return put->nearest ? put->nearest : put->what;
}

/* The work of a lookup. Counted in stripes, so that threads seldom update the same counter. */
enum { KR_WORK_RAYS, KR_WORK_HITS, KR_WORK_FILTERED, KR_WORK_REPAIRED, KR_WORK_UNTRACED, KR_WORKS };
enum { KR_WORK_COUNTS = 8 }; /* places for each stripe */
enum { KR_WORK_STRIPES = 4096 };

KR_BODY void kr_put_work_add(const kr_put *put, uint64_t i, uint32_t which, uint64_t count)
{
    if (put->work && count)
        kr_atomic_add64(put->work + i % KR_WORK_STRIPES * KR_WORK_COUNTS + which, count);
}

/* Whether the answer is that of kr_put_first: the first row of a match, or whether there is one. Else it is
 * that of kr_put_match. */
KR_BODY int kr_put_wants_first(const kr_put *put)
{
    return put->what == KR_PUT_ROW || put->what == KR_PUT_FLAG;
}

KR_BODY void kr_put_first(const kr_put *put, uint64_t i, int found, uint32_t row)
{
    const uint64_t place = kr_answer_place(put->order, i);
    if (put->what == KR_PUT_ROW)
        ((uint32_t *)put->out)[place] = found ? row : KR_NO_ROW;
    else
        ((uint8_t *)put->out)[place] = (uint8_t)(found != 0);
}

KR_BODY void kr_put_match(const kr_put *put, uint64_t i, uint32_t where, uint32_t count)
{
    const uint64_t place = kr_answer_place(put->order, i);
    if (put->what == KR_PUT_COUNT)
        ((uint64_t *)put->out)[place] = count;
    else
        ((kr_match *)put->out)[place] = (kr_match){where, count};
}

#if defined(KR_KEY_BITS)
/* Loads the upper bound of probe i, whose lower bound is known, as kr_batch_load does. */
KR_BODY int kr_batch_load_upper(const kr_batch *batch, uint64_t i, const kr_key *lower, kr_key *upper)
{
    *upper = *lower;
    if (!batch->upper && !batch->lower_validity)
        return 1;
    const uint64_t place = kr_answer_place(batch->order, i);
    if (batch->upper)
        *upper = kr_code_load_key(batch->upper_type, batch->upper, place);
    return *lower <= *upper && kr_code_is_valid(batch->lower_validity, batch->lower_offset, place) &&
           kr_code_is_valid(batch->upper_validity, batch->upper_offset, place);
}

KR_BODY kr_key kr_batch_lower(const kr_batch *batch, uint64_t i)
{
    return kr_code_load_key(batch->lower_type, batch->lower, i);
}

/* Loads the bounds of probe i; 0 when nothing can match: a NULL bound or an empty range. */
KR_BODY int kr_batch_load(const kr_batch *batch, uint64_t i, kr_key *lower, kr_key *upper)
{
    *lower = kr_batch_lower(batch, i);
    return kr_batch_load_upper(batch, i, lower, upper);
}

/* The same for a batch of codes: `lower_type` is KR_RAW_KEY. */
KR_BODY int kr_batch_load_code(const kr_batch *batch, uint64_t i, kr_key *lower, kr_key *upper)
{
    *lower = kr_load_once((const kr_key *)batch->lower + i);
    return kr_batch_load_upper(batch, i, lower, upper);
}
#endif

#endif
