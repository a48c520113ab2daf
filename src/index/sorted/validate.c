#include "index/sorted/sorted.h"
#include "index/sorted/validate_body.h"
#include "index/sorted/validate_params.h"

extern const kr_program sorted_check_dense_u32, sorted_check_dense_u64;

static void judge_end(kr_work *w, const char *which, uint64_t found, uint64_t wanted)
{
    if (found != wanted)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "the %s key has code %llu, and the index has it as %llu",
                           which, (unsigned long long)found, (unsigned long long)wanted));
}

int kr_sorted_order_check(kr_work *w, const kr_order_check *check)
{
    uint64_t found[KR_ORDER_FOUND] = {0};
    *check->found = kr_work_counters(w, KR_ORDER_FOUND);
    kr_work_run(w, check->program, check->params, kr_group_runs(check->n));
    kr_work_read(w, found, *check->found, sizeof found);
    kr_work_give(w, *check->found);
    if (found[KR_ORDER_KEYS_FALL])
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "keys are not ascending at position %llu",
                           (unsigned long long)found[KR_ORDER_KEYS_FALL] - 1));
    if (found[KR_ORDER_ROWS_FALL])
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "row ids do not ascend within a key at position %llu",
                           (unsigned long long)found[KR_ORDER_ROWS_FALL] - 1));
    if (check->n && kr_work_goes_on(w)) {
        judge_end(w, "lowest", found[KR_ORDER_LOWEST], check->lowest);
        judge_end(w, "highest", found[KR_ORDER_HIGHEST], check->highest);
    }
    return !found[KR_ORDER_KEYS_REPEAT];
}

int kr_sorted_validate(kr_work *w, const kr_sorted_check *check)
{
    check_order_params params = {.entries = check->entries, .key_bits = check->key_bits};
    check_dense_params dense = {
        .keys = check->entries.keys, .rows = check->entries.rows, .n = check->entries.n};
    kr_order_check order = {
        .n = check->entries.n,
        .lowest = check->lowest,
        .highest = check->highest,
    };
    if (check->entries.layout == KR_LAYOUT_SOA) {
        order.program = check->key_bits == 64 ? &sorted_check_dense_u64 : &sorted_check_dense_u32;
        order.params = &dense;
        order.found = &dense.found;
    } else {
        order.program = &sorted_check_order;
        order.params = &params;
        order.found = &params.found;
    }
    return kr_sorted_order_check(w, &order);
}
