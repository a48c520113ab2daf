#include "index/sorted/sorted.h"
#include "index/sorted/validate_body.h"

kr_status kr_sorted_order_check(kr_device *device, const kr_program *program, void *params, uint64_t **found,
                                uint64_t n, kr_error *err)
{
    kr_work w = kr_work_on(device, NULL, err);
    uint64_t fall[KR_ORDER_FOUND] = {0};
    *found = kr_work_counters(&w, KR_ORDER_FOUND);
    kr_work_run(&w, program, params, n);
    kr_work_read(&w, fall, *found, sizeof fall);
    if (kr_work_end(&w) != KR_OK)
        return w.status;
    if (fall[KR_ORDER_KEYS_FALL])
        return kr_fail(err, KR_ERR_INVARIANT, "keys are not ascending at position %llu",
                       (unsigned long long)fall[KR_ORDER_KEYS_FALL] - 1);
    if (fall[KR_ORDER_ROWS_FALL])
        return kr_fail(err, KR_ERR_INVARIANT, "row ids do not ascend within a key at position %llu",
                       (unsigned long long)fall[KR_ORDER_ROWS_FALL] - 1);
    return KR_OK;
}

kr_status kr_sorted_validate(kr_device *device, const kr_sorted_check *check, kr_error *err)
{
    check_order_params params = {.entries = check->entries, .key_bits = check->key_bits};
    return kr_sorted_order_check(device, &sorted_check_order, &params, &params.found, check->entries.n, err);
}
