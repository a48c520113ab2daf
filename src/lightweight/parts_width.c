#include "lightweight/parts.h"
#include "lightweight/parts_body.h"

/* Bits of the smallest gap between two keys of a part that are copied to shared memory, and the most such
 * keys (docs/performance-lightweight.md). Few keys are copied quickly; with soa, guessing makes up for larger
 * gaps. */
enum { GAP_BITS = 4, SOA_PIVOTS = 256, AOS_PIVOTS = 2048 };

static uint32_t gap_bits_of(const kr_store *store, uint32_t bits)
{
    uint32_t gap_bits = GAP_BITS;
    while (store->n >> bits >> gap_bits > (store->layout == KR_LAYOUT_AOS ? AOS_PIVOTS : SOA_PIVOTS))
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
    const uint64_t largest = (store->n >> job->partition->bits) + 64; /* entries of a part */
    parts_params params = {
        .batch = job->batch,
        .put = job->put,
        .entries = kr_store_entries(store),
        .partition = *job->partition,
        .gap_bits = gap_bits_of(store, job->partition->bits),
    };
    params.blocks.shared_nbytes = (uint32_t)(((largest >> params.gap_bits) + 3) * sizeof(kr_key));
    static const kr_program *const programs[2][2] = {
        {&KR_W(parts_halving), &KR_W(parts_halving_nearest)},
        {&KR_W(parts_guessing), &KR_W(parts_guessing_nearest)},
    };
    const int guesses = store->layout == KR_LAYOUT_SOA && params.gap_bits > GAP_BITS;
    const kr_program *program = programs[guesses][job->batch.near.how != 0];
    return kr_device_run(device, program, &params, job->partition->most_segments, stream, err);
}
