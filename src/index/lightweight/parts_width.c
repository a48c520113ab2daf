#include "index/lightweight/parts.h"
#include "index/lightweight/parts_width_body.h"

/* Bits of the smallest gap between two keys of a part that are copied to shared memory, and the most such
 * keys, and one (docs/performance-lightweight.md): one for PIVOT_PROBES probes that a block searches for,
 * since copying a key costs as much as reading one. With soa, guessing makes up for larger gaps. */
enum { GAP_BITS = 3, SOA_LEAST = 256, SOA_MOST = 1024, AOS_MOST = 2048, PIVOT_PROBES = 8 };
/* Pivots that the index keeps lie side by side and lead to the right leaf, so that more of them pay. */
enum { KEPT_MOST_NBYTES = 36 * 1024, LEAF_PROBES = 4 };

/* Entries of a part, at most: kr_batch_cut_at. */
static uint64_t largest_part(const kr_store *store, uint32_t bits)
{
    return (store->n >> bits) + (store->n % ((uint64_t)64 << bits) ? 64 : 0);
}

static uint32_t most_pivots(const kr_store *store, const kr_locate *job)
{
    const uint64_t of_part = job->n >> job->partition->bits, of_segment = job->partition->segment;
    const uint64_t pivots = (of_part < of_segment ? of_part : of_segment) / PIVOT_PROBES;
    if (store->layout == KR_LAYOUT_AOS)
        return AOS_MOST;
    return pivots < SOA_LEAST ? SOA_LEAST : pivots > SOA_MOST ? SOA_MOST : (uint32_t)pivots;
}

static uint32_t gap_bits_of(const kr_store *store, const kr_locate *job, uint64_t largest)
{
    const uint32_t most = most_pivots(store, job);
    uint32_t gap_bits = GAP_BITS;
    while ((largest - 1) >> gap_bits >= most)
        ++gap_bits;
    return gap_bits;
}

static uint32_t pivots_nbytes(uint64_t n)
{
    return (uint32_t)((kr_sorted_pivot_at(kr_sorted_pivots_room((uint32_t)n)) + 1) * sizeof(kr_key));
}

/* Children of `unit` entries in a part, except the first, at most. Parts begin at multiples of a leaf. */
static uint64_t most_children(uint64_t largest, uint64_t unit)
{
    return unit == PARTS_LEAF ? (largest - 1) / unit : (largest + unit - 2) / unit;
}

/* The lowest level whose pivots fit: the fewer nodes are read from memory, the better. */
static void choose_level(const kr_device *device, const kr_parts_levels *levels, uint64_t largest,
                         parts_params *params)
{
    const uint64_t room = device->block_nbytes < KEPT_MOST_NBYTES ? device->block_nbytes : KEPT_MOST_NBYTES;
    uint64_t unit = PARTS_LEAF;
    while (params->down + 1 < levels->n_levels && pivots_nbytes(most_children(largest, unit)) > room) {
        ++params->down;
        unit *= PARTS_FAN;
    }
    params->unit = (uint32_t)unit;
    params->blocks.shared_nbytes = pivots_nbytes(most_children(largest, unit));
}

static void cuts(kr_work *w, const void *self, uint32_t bits, void *keys)
{
    const parts_cut_params params = {kr_store_entries(self), keys, bits, 0};
    kr_work_run(w, &KR_W(parts_cuts), &params, (uint64_t)1 << bits);
}

const kr_ordered_ops KR_W(kr_store_ordered) = {kr_store_key_range, cuts};

/* A node that is read costs as much as a leaf. Where a block has many probes for each leaf, they find it in
 * the nearest cache, so that a wrong guess costs less than a node. */
static int levels_pay(const kr_locate *job, uint64_t largest, uint32_t down)
{
    return down == 0 || job->n >> job->partition->bits < LEAF_PROBES * (largest / PARTS_LEAF);
}

static const kr_program *program_of(const kr_store *store, const parts_params *params)
{
    static const kr_program *const programs[3][2] = {
        {&KR_W(parts_halving), &KR_W(parts_halving_nearest)},
        {&KR_W(parts_guessing), &KR_W(parts_guessing_nearest)},
        {&KR_W(parts_kept), &KR_W(parts_kept_nearest)},
    };
    const int guesses = store->layout == KR_LAYOUT_SOA && params->gap_bits > GAP_BITS;
    return programs[params->levels.pivots ? 2 : guesses][params->batch.near.how != 0];
}

void KR_W(kr_parts_locate)(kr_work *w, const kr_store *store, const kr_parts_levels *levels,
                           const kr_locate *job)
{
    const uint64_t largest = largest_part(store, job->partition->bits);
    parts_params params = {
        .batch = job->batch,
        .put = job->put,
        .entries = kr_store_entries(store),
        .partition = *job->partition,
    };
    if (levels && levels->pivots)
        choose_level(w->device, levels, largest, &params);
    if (levels && levels->pivots && levels_pay(job, largest, params.down)) {
        params.levels = *levels;
    } else {
        params.gap_bits = gap_bits_of(store, job, largest);
        params.blocks.shared_nbytes = pivots_nbytes((largest - 1) >> params.gap_bits);
    }
    kr_work_run(w, program_of(store, &params), &params, job->partition->most_segments);
}
