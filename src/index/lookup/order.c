#include "index/lookup/order.h"
#include "base/key/encode.h"

void kr_order_make(kr_work *w, const kr_probe_plan *plan, uint64_t n, kr_batch *batch)
{
    static const char help[] = "use probes=as-is";
    const uint32_t bits = kr_type_key_bits(batch->lower_type);
    const uint64_t nbytes = n * (bits / 8);
    void *codes = kr_work_take_or(w, nbytes, "sorted probes", help), *raw = NULL;
    uint32_t *positions = kr_work_take_or(w, n * sizeof *positions, "the order of probes", help);
    kr_sort sort = {.key_bits = bits,
                    .first_bit = plan->first_bit,
                    .end_bit = plan->end_bit,
                    .n = n,
                    .keys_in = batch->lower,
                    .keys_out = codes,
                    .rows_out = positions};
    if (batch->lower_type != KR_U32 && batch->lower_type != KR_U64) {
        raw = kr_work_take_or(w, nbytes, "encoded probes", help);
        const kr_encode_job job = {batch->lower, NULL, raw, n, batch->lower_type};
        kr_encode(w, &job);
        sort.keys_in = raw;
    }
    kr_work_sort(w, &sort);
    kr_work_give(w, raw);
    batch->lower = codes;
    batch->lower_type = bits == 64 ? KR_U64 : KR_U32;
    batch->order = positions;
}
