#include "lightweight/parts.h"
#include "lightweight/parts_body.h"

/* Bits of the smallest gap between two keys of a part that are copied to shared memory, and the most such
 * keys, and one (docs/performance-lightweight.md): one for PIVOT_PROBES probes that a block searches for,
 * since copying a key costs as much as reading one. With soa, guessing makes up for larger gaps. */
enum { GAP_BITS = 3, SOA_LEAST = 256, SOA_MOST = 1024, AOS_MOST = 2048, PIVOT_PROBES = 8 };

/* Entries of a part, at most: kr_cut_at. */
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

static kr_status cuts(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                      kr_error *err)
{
    const parts_cut_params params = {kr_store_entries(self), keys, bits, 0};
    return kr_device_run(device, &KR_W(parts_cuts), &params, (uint64_t)1 << bits, stream, err);
}

const kr_ordered_ops KR_W(kr_store_ordered) = {kr_store_key_range, cuts};

kr_status KR_W(kr_parts_locate)(kr_device *device, const kr_store *store, const kr_locate *job,
                                kr_stream *stream, kr_error *err)
{
    const uint64_t largest = largest_part(store, job->partition->bits);
    parts_params params = {
        .batch = job->batch,
        .put = job->put,
        .entries = kr_store_entries(store),
        .partition = *job->partition,
        .gap_bits = gap_bits_of(store, job, largest),
    };
    const uint32_t room = kr_pivots_room((uint32_t)((largest - 1) >> params.gap_bits));
    params.blocks.shared_nbytes = (uint32_t)((kr_pivot_at(room) + 1) * sizeof(kr_key));
    static const kr_program *const programs[2][2] = {
        {&KR_W(parts_halving), &KR_W(parts_halving_nearest)},
        {&KR_W(parts_guessing), &KR_W(parts_guessing_nearest)},
    };
    const int guesses = store->layout == KR_LAYOUT_SOA && params.gap_bits > GAP_BITS;
    const kr_program *program = programs[guesses][job->batch.near.how != 0];
    return kr_device_run(device, program, &params, job->partition->most_segments, stream, err);
}
