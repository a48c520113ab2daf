#include "index/lookup/plan.h"
#include "index/partition/partition.h"

/* Sorting by the top PARTITION_BITS of the bits that keys differ in brings neighbouring probes together in
 * two radix passes; a full sort gains little on it. Pieces limit how far results are scattered, but every
 * piece walks the whole index: half as many probes as rows, at least PIECE_LEAST, was best.
 * Measured: docs/performance.md, "Order of the probes". */
enum { PARTITION_BITS = 16, PIECE_LEAST = 1 << 23, PIECE_MOST = 1 << 28 };
/* Kinds that cast rays gain from a full sort (docs/performance-rx.md); 32 bits distinguish 2^32 keys. */
enum { SORT_BITS = 32 };
enum { FEW_ON_CPU = 1 << 16, NEAR_ON_CPU = 8 << 20, FEW_ON_GPU = 1 << 20 };

/* On a GPU, partitioning probes by parts of the index takes less time than sorting them by leading bits,
 * whatever the distribution of the keys. Parts have about 2^PART_ROW_BITS entries:
 * docs/performance-lightweight.md. */
enum {
    PART_ROW_BITS = 11,
    PART_NBYTES_BITS = 23,
    PART_PROBE_BITS = 10, /* and at least 2^10 probes, so that a block's search is worth its pivots */
    PART_PIECE = 1 << 27,
    PART_PIECE_LEAST = 1 << 20,
    PART_SCRATCH = 35, /* bytes per probe of a piece, at most: code, mark, base, order, match, answer, flag */
    BATCH_SCRATCH = 17 /* bytes per probe of the whole batch, at most: match, offset, flag */
};
/* Probes of a segment. A GPU's blocks work on IN_FLIGHT segments at a time, one part after the other: those
 * of an H200. Shorter segments keep them in fewer parts, which then stay in its second-level cache of 50 MB,
 * but cost more: docs/performance-lightweight.md. */
enum { SEGMENT_MOST = 8192, IN_FLIGHT = 264 };
/* Of even parts, which are copied to shared memory for each segment. H200, 2^24 keys of kind `dense`, 2^27
 * lookups, ms with 2^14, 2^15 and 2^16: 1.98, 1.94, 1.94; 2^26 keys with 2^15 and 2^16: 2.43 and 2.60. */
enum { EVEN_SEGMENT = 1 << 15 };
static const uint32_t halved_above_mib[] = {40, 60, 100};

#define WHOLE_PIECE ((uint64_t)1 << 40)
static const char few_probes[] = "too few probes to pay for sorting them";

static const kr_probe_policy *policy_of(const kr_probe_case *of)
{
    return &of->spec->kind->family->probes;
}

/* Both widths have the same operations. */
static const kr_ordered_ops *ordered_of(const kr_probe_case *of)
{
    return of->spec->kind->family->u32->ordered;
}

static int is_even(const kr_probe_case *of)
{
    return policy_of(of)->even_bits != NULL;
}

/* What suits the index. Parts of sorted entries are searched in shared memory; those of a hash table are to
 * fit the second-level cache, a few at a time; even parts are the family's choice. */
static uint32_t part_bits_of_index(const kr_probe_case *of)
{
    const int hashed = !ordered_of(of);
    const uint64_t whole = hashed ? of->footprint_nbytes : of->rows;
    const uint32_t part_bits = hashed ? PART_NBYTES_BITS : PART_ROW_BITS;
    uint32_t bits = 1;
    if (is_even(of))
        return policy_of(of)->even_bits(of->rows, of->footprint_nbytes);
    while (bits < KR_PART_BITS_MOST && whole >> (bits + 1) >= 1u << part_bits)
        ++bits;
    return bits;
}

/* Few parts are cheaper: probes and answers move in longer runs. */
static uint32_t part_bits_for(const kr_probe_case *of)
{
    uint32_t bits = part_bits_of_index(of);
    while (bits > 1 && of->n_probes >> bits < 1u << PART_PROBE_BITS)
        --bits;
    return bits;
}

static int can_partition(const kr_probe_case *of)
{
    const kr_ordered_ops *ordered = ordered_of(of);
    const int hashed = of->spec->kind->family->u32->hash_seed != NULL;
    return of->rows > 0 && (ordered ? ordered->cuts || is_even(of) : hashed);
}

static int says_launches(const kr_probe_case *of)
{
    return policy_of(of)->launches && policy_of(of)->launches(of->spec);
}

static int parts_pay(const kr_probe_case *of)
{
    const kr_parts_from *from = policy_of(of)->parts_from[of->significant_bits > 32];
    uint32_t probes_bits = 0;
    if (says_launches(of) || of->device->ops->is_host || !can_partition(of) ||
        of->footprint_nbytes >> 20 < policy_of(of)->parts_from_mib)
        return 0;
    for (int i = 0; i < 4 && from[i].probes_bits && of->rows >> from[i].rows_bits; ++i)
        probes_bits = from[i].probes_bits;
    return probes_bits && of->n_probes >> probes_bits;
}

/* As many probes at a time as the memory cap leaves scratch memory for. */
static uint64_t partitioned_piece(const kr_probe_case *of)
{
    const uint64_t cap = of->device->options.memory_cap_nbytes;
    const uint64_t used = atomic_load_explicit(&of->device->in_use_nbytes, memory_order_relaxed);
    const uint64_t batch = used + BATCH_SCRATCH * of->n_probes, room = cap > batch ? cap - batch : 0;
    uint64_t piece = PART_PIECE;
    if (!cap)
        return piece;
    while (piece > PART_PIECE_LEAST && PART_SCRATCH * (piece < of->n_probes ? piece : of->n_probes) > room)
        piece /= 2;
    return piece;
}

static uint32_t segment_for(const kr_probe_case *of, const kr_probe_plan *plan)
{
    const uint64_t n_probes = of->n_probes < plan->piece ? of->n_probes : plan->piece;
    const uint64_t probes = n_probes >> plan->part_bits ? n_probes >> plan->part_bits : 1;
    const uint64_t part_kib = of->footprint_nbytes >> plan->part_bits >> 10;
    uint32_t segment = SEGMENT_MOST;
    if (is_even(of))
        return EVEN_SEGMENT;
    for (size_t i = 0; i < sizeof halved_above_mib / sizeof *halved_above_mib; ++i)
        if (IN_FLIGHT * (uint64_t)segment * part_kib / probes >> 10 >= halved_above_mib[i])
            segment /= 2;
    return segment < probes && !of->device->ops->is_host ? segment : SEGMENT_MOST;
}

static void plan_parts(const kr_probe_case *of, kr_probe_plan *plan)
{
    plan->way = KR_SEARCHED_PARTITIONED;
    plan->reason = "probes that fall into one part of the index are searched together";
    plan->part_bits = part_bits_for(of);
    plan->piece = partitioned_piece(of);
    plan->segment = segment_for(of, plan);
}

static uint64_t piece_for(uint64_t rows)
{
    uint64_t piece = PIECE_LEAST;
    while (piece < rows / 2 && piece < PIECE_MOST)
        piece *= 2;
    return piece;
}

const char *kr_order_searched_name(uint32_t way)
{
    static const char *const names[KR_SEARCHED_WAYS] = {
        [KR_SEARCHED_AS_IS] = "as-is",
        [KR_SEARCHED_SORTED] = "sorted",
        [KR_SEARCHED_PARTITIONED] = "partitioned",
        [KR_SEARCHED_DIVIDED] = "divided",
    };
    return names[way];
}

/* The parts have plans of their own. */
static kr_probe_plan plan_divided(void)
{
    return (kr_probe_plan){.way = KR_SEARCHED_DIVIDED,
                           .reason = "parts of keep=host travel to the device, or the CPU answers few probes",
                           .piece = WHOLE_PIECE};
}

kr_probe_plan kr_order_plan_probes(const kr_probe_case *of)
{
    const int on_cpu = of->device->ops->is_host != 0;
    if (of->is_divided)
        return plan_divided();
    kr_probe_plan plan = {
        .way = KR_SEARCHED_AS_IS, .reason = "set by the option probes", .piece = WHOLE_PIECE};
    if (of->spec->common[KR_COMMON_PROBES] == KR_PROBES_AS_IS)
        return plan;
    if (of->spec->common[KR_COMMON_PROBES] == KR_PROBES_SORTED) {
        plan.way = KR_SEARCHED_SORTED;
        plan.sorted = 1;
        plan.end_bit = of->significant_bits;
    } else if (of->spec->common[KR_COMMON_PROBES] == KR_PROBES_PARTITIONED && can_partition(of)) {
        plan_parts(of, &plan);
    } else if (of->spec->common[KR_COMMON_PROBES] == KR_PROBES_AUTO && parts_pay(of)) {
        plan_parts(of, &plan);
    } else if (!on_cpu && can_partition(of) && says_launches(of)) {
        plan.reason = "options say how lookups are launched";
    } else if (!on_cpu && can_partition(of)) {
        plan.reason = "too few probes or keys to pay for partitioning";
    } else if (of->n_probes < (on_cpu ? FEW_ON_CPU : FEW_ON_GPU)) {
        plan.reason = few_probes;
    } else if (!ordered_of(of)) {
        plan.reason = "the entries have no order that sorted probes would follow";
    } else if (on_cpu && policy_of(of)->as_is_on_cpu) {
        plan.reason = "concurrent searches hide each other's cache misses";
    } else if (on_cpu && of->footprint_nbytes < NEAR_ON_CPU) {
        plan.reason = "the index fits in the caches";
    } else {
        const int whole = policy_of(of)->sorts_whole != 0;
        const uint32_t bits = whole ? SORT_BITS : PARTITION_BITS;
        plan.way = KR_SEARCHED_SORTED;
        plan.reason = whole ? "neighbouring rays then walk the same nodes of the scene"
                            : "probes that are near in key order share cache lines; by leading bits";
        plan.piece = whole ? PIECE_MOST : piece_for(of->rows);
        plan.sorted = 1;
        plan.end_bit = of->key_bits;
        plan.first_bit = of->key_bits > bits ? of->key_bits - bits : 0;
    }
    return plan;
}

kr_probe_plan kr_order_plan_in_order(void)
{
    return (kr_probe_plan){
        .way = KR_SEARCHED_AS_IS, .reason = "the probes are in the order of keys", .piece = WHOLE_PIECE};
}

/* Few probes on a CPU are searched as they are, unless the caller wants otherwise: for one of them, a case
 * that is described first takes as long as half of the search. */
void kr_order_plan_batch(const kr_index *index, uint64_t n_probes, kr_probe_plan *plan)
{
    if (index->ops->kept) {
        *plan = plan_divided();
        return;
    }
    if (index->device->ops->is_host && n_probes < FEW_ON_CPU &&
        index->spec.common[KR_COMMON_PROBES] == KR_PROBES_AUTO) {
        plan->way = KR_SEARCHED_AS_IS;
        plan->reason = few_probes;
        plan->piece = WHOLE_PIECE;
        plan->sorted = plan->first_bit = plan->end_bit = plan->part_bits = plan->segment = 0;
        return;
    }
    const kr_probe_case of = {
        .device = index->device,
        .spec = &index->spec,
        .rows = index->info.rows,
        .footprint_nbytes = index->info.footprint_nbytes,
        .key_bits = index->key_bits,
        .significant_bits = kr_type_significant_bits(index->info.type),
        .n_probes = n_probes,
    };
    *plan = kr_order_plan_probes(&of);
}
