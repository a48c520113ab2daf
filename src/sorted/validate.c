#include "sorted/rows.h"
#include "sorted/sorted.h"
#include "sorted/validate_body.h"

/* Two ways to see whether row ids are distinct: by a bitmap where they are dense, else by sorting them. */

static kr_status count_by_bitmap(kr_device *device, const kr_sorted_check *check, uint64_t largest,
                                 uint64_t *distinct, kr_error *err)
{
    kr_buffer bitmap = {0}, counters = {0};
    kr_status status = kr_counters_make(device, NULL, 1, &counters, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, (largest / 32 + 1) * 4, NULL, "a bitmap of row ids", NULL,
                                    &bitmap, err);
    if (status == KR_OK)
        status = kr_device_fill(device, bitmap.data, 0, bitmap.nbytes, NULL, err);
    const mark_rows_params params = {check->rows, bitmap.data, counters.data};
    if (status == KR_OK)
        status = kr_device_run(device, &sorted_mark_rows, &params, check->n, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(device, &sorted_count_marked, &params, largest / 32 + 1, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, distinct, 1, err);
    kr_buffer_release(device, &bitmap, NULL);
    kr_buffer_release(device, &counters, NULL);
    return status;
}

static kr_status count_by_sorting(kr_device *device, const kr_sorted_check *check, uint64_t *distinct,
                                  kr_error *err)
{
    const uint64_t nbytes = check->n * sizeof(uint32_t);
    kr_buffer ids = {0}, sorted = {0}, positions = {0};
    uint64_t found[2] = {0};
    kr_status status = kr_buffer_allocate(device, nbytes, NULL, "row ids", NULL, &ids, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, nbytes, NULL, "sorted row ids", NULL, &sorted, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, nbytes, NULL, "their positions", NULL, &positions, err);
    const list_rows_params params = {check->rows, ids.data};
    if (status == KR_OK)
        status = kr_device_run(device, &sorted_list_rows, &params, check->n, NULL, err);
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = check->n,
                          .keys_in = ids.data,
                          .keys_out = sorted.data,
                          .rows_out = positions.data};
    if (status == KR_OK)
        status = kr_device_sort(device, &sort, NULL, err);
    if (status == KR_OK)
        status = kr_ids_check(device, sorted.data, check->n, NULL, found, err);
    kr_buffer_release(device, &positions, NULL);
    kr_buffer_release(device, &sorted, NULL);
    kr_buffer_release(device, &ids, NULL);
    *distinct = check->n - found[0];
    return status;
}

static kr_status check_distinct(kr_device *device, const kr_sorted_check *check, uint64_t largest,
                                kr_error *err)
{
    uint64_t distinct = 0;
    const kr_status status = largest / 8 <= check->n * sizeof(uint32_t)
                                 ? count_by_bitmap(device, check, largest, &distinct, err)
                                 : count_by_sorting(device, check, &distinct, err);
    if (status == KR_OK && distinct != check->n)
        return kr_fail(err, KR_ERR_INVARIANT, "row ids are not distinct: %llu entries, %llu different ids",
                       (unsigned long long)check->n, (unsigned long long)distinct);
    return status;
}

kr_status kr_sorted_validate(kr_device *device, const kr_sorted_check *check, kr_error *err)
{
    kr_buffer counters = {0};
    uint64_t found[3] = {0};
    kr_status status = kr_counters_make(device, NULL, 3, &counters, err);
    if (status == KR_OK) {
        const check_order_params params = {check->keys,   check->key_stride, check->rows,
                                           counters.data, check->key_bits,   0};
        status = kr_device_run(device, &sorted_check_order, &params, check->n, NULL, err);
    }
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, found, 3, err);
    kr_buffer_release(device, &counters, NULL);
    if (status != KR_OK)
        return status;
    if (found[0])
        return kr_fail(err, KR_ERR_INVARIANT, "keys are not ascending at position %llu",
                       (unsigned long long)found[0] - 1);
    if (found[1])
        return kr_fail(err, KR_ERR_INVARIANT, "row ids do not ascend within a key at position %llu",
                       (unsigned long long)found[1] - 1);
    if (check->n && found[2] >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_INVARIANT, "an entry has row id 4294967295, which is no row id");
    return check->n ? check_distinct(device, check, found[2], err) : KR_OK;
}
