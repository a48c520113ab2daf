#include "index/sorted/sorted.h"
#include "index/sorted/validate_body.h"

int kr_sorted_order_check(kr_work *w, const kr_program *program, void *params, uint64_t **found, uint64_t n)
{
    uint64_t fall[KR_ORDER_FOUND] = {0};
    *found = kr_work_counters(w, KR_ORDER_FOUND);
    kr_work_run(w, program, params, n);
    kr_work_read(w, fall, *found, sizeof fall);
    kr_work_give(w, *found);
    if (fall[KR_ORDER_KEYS_FALL])
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "keys are not ascending at position %llu",
                           (unsigned long long)fall[KR_ORDER_KEYS_FALL] - 1));
    if (fall[KR_ORDER_ROWS_FALL])
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "row ids do not ascend within a key at position %llu",
                           (unsigned long long)fall[KR_ORDER_ROWS_FALL] - 1));
    return !fall[KR_ORDER_KEYS_REPEAT];
}

int kr_sorted_validate(kr_work *w, const kr_sorted_check *check)
{
    check_order_params params = {.entries = check->entries, .key_bits = check->key_bits};
    return kr_sorted_order_check(w, &sorted_check_order, &params, &params.found, check->entries.n);
}
