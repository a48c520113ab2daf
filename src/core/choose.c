#include "core/choose.h"

#include <stdio.h>
#include <string.h>

kr_status kr_choose(const char *text, kr_operation operation, kr_spec *spec, const char **reason,
                    kr_error *err)
{
    const int best = text && strcmp(text, "best") == 0;
    (void)operation; /* the same kind is best for all of them so far */
    if (reason)
        *reason = best ? "search in sorted keys is faster than rays without RT cores, and rays with RT cores "
                         "were not measured yet"
                       : "asked for by name";
    return kr_spec_parse(best ? "array" : text, spec, err);
}

kr_status kr_estimate_shape(const kr_shape *shape, kr_estimate *estimate, kr_error *err)
{
    kr_estimate family = {0};
    const kr_family_ops *ops = kr_family_ops_of(shape->spec->family, shape->type);
    kr_status status = ops->estimate(shape, &family, err);
    if (status != KR_OK)
        return status;
    family.peak_nbytes += shape->staged_nbytes;
    *estimate = family;
    return KR_OK;
}

/* Sorting by the top PARTITION_BITS of the bits that keys differ in brings neighbouring probes together in
 * two radix passes; a full sort gains little on it. Pieces bound what the results are scattered over, but
 * every piece walks the whole index: half as many probes as rows, at least PIECE_LEAST, came out best.
 * Measured: docs/performance.md, "Order of the probes". */
enum { PARTITION_BITS = 16, PIECE_LEAST = 1 << 23, PIECE_MOST = 1 << 28 };
/* Kinds that cast rays gain from a full sort (docs/performance-rx.md); 32 bits tell 2^32 keys apart. */
enum { SORT_BITS = 32 };
enum { FEW_ON_CPU = 1 << 16, NEAR_ON_CPU = 8 << 20, FEW_ON_GPU = 1 << 20 };

static uint64_t piece_for(uint64_t rows)
{
    uint64_t piece = PIECE_LEAST;
    while (piece < rows / 2 && piece < PIECE_MOST)
        piece *= 2;
    return piece;
}

kr_probe_plan kr_plan_probes(const kr_probe_case *of)
{
    const int on_cpu = of->device->ops->is_host != 0;
    kr_probe_plan plan = {.name = "as-is", .reason = "asked for", .piece = (uint64_t)1 << 40};
    if (of->spec->common[KR_COMMON_PROBES] == KR_PROBES_AS_IS)
        return plan;
    if (of->spec->common[KR_COMMON_PROBES] == KR_PROBES_SORTED) {
        plan.name = "sorted";
        plan.sorted = 1;
        plan.end_bit = of->significant_bits;
    } else if (of->n_probes < (on_cpu ? FEW_ON_CPU : FEW_ON_GPU)) {
        plan.reason = "too few probes to pay for sorting them";
    } else if (on_cpu && of->footprint_nbytes < NEAR_ON_CPU) {
        plan.reason = "the index is small enough for the caches";
    } else {
        const int whole = of->spec->family->sorts_probes != 0;
        const uint32_t bits = whole ? SORT_BITS : PARTITION_BITS;
        plan.name = whole ? "sorted" : "partitioned";
        plan.reason = whole ? "neighbouring rays then walk the same nodes of the scene"
                            : "probes that are near in key order share cache lines";
        plan.piece = whole ? PIECE_MOST : piece_for(of->rows);
        plan.sorted = 1;
        plan.end_bit = of->key_bits;
        plan.first_bit = of->key_bits > bits ? of->key_bits - bits : 0;
    }
    return plan;
}

kr_probe_plan kr_plan_batch(const kr_index *index, uint64_t n_probes)
{
    const kr_probe_case of = {
        .device = index->device,
        .spec = &index->spec,
        .rows = index->info.rows,
        .footprint_nbytes = index->info.footprint_nbytes,
        .key_bits = index->key_bits,
        .significant_bits = kr_type_significant_bits(index->info.type),
        .n_probes = n_probes,
    };
    return kr_plan_probes(&of);
}
