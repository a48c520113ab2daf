#include "sorted/sorted.h"
#include "sorted/validate_body.h"

kr_status kr_order_check(kr_device *device, const kr_program *program, void *params, uint64_t **found,
                         uint64_t n, kr_error *err)
{
    kr_buffer counters = {0};
    uint64_t fall[KR_ORDER_FOUND] = {0};
    kr_status status = kr_counters_make(device, NULL, KR_ORDER_FOUND, &counters, err);
    *found = counters.data;
    if (status == KR_OK)
        status = kr_device_run(device, program, params, n, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, fall, KR_ORDER_FOUND, err);
    kr_buffer_release(device, &counters, NULL);
    if (status != KR_OK)
        return status;
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
    return kr_order_check(device, &sorted_check_order, &params, &params.found, check->entries.n, err);
}
