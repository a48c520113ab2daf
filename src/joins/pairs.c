#include "joins/pairs.h"

#include <stdio.h>

kr_status kr_join_check_rows(const kr_column *side, const kr_column *other, const char *help, kr_error *err)
{
    char more[32] = "";
    if (side->count < KR_NO_ROW && (!other || other->count < KR_NO_ROW))
        return KR_OK;
    if (other)
        snprintf(more, sizeof more, " and %llu", (unsigned long long)other->count);
    return kr_fail(err, KR_ERR_LIMIT, "%llu%s rows: a side of a join has at most 4294967294; %s",
                   (unsigned long long)side->count, more, help);
}

kr_status kr_join_allocate(kr_device *device, uint64_t n, const char *what, kr_buffer *buffer, kr_error *err)
{
    if (n > UINT64_MAX / 16)
        return kr_fail(err, KR_ERR_LIMIT, "%llu pairs are too many: " KR_JOIN_SMALLER, (unsigned long long)n);
    return kr_buffer_allocate(device, n * sizeof(uint32_t), NULL, what, KR_JOIN_SMALLER, buffer, err);
}

kr_status kr_join_sort(kr_device *device, uint64_t rows, kr_buffer *keys, kr_buffer *others, uint64_t n,
                       kr_error *err)
{
    kr_buffer sorted_keys = {0}, sorted_others = {0};
    kr_status status = kr_join_allocate(device, n, "sorted pairs", &sorted_keys, err);
    if (status == KR_OK)
        status = kr_join_allocate(device, n, "sorted pairs", &sorted_others, err);
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = rows >> 32 ? 32 : 32 - kr_clz32((uint32_t)rows),
                          .n = n,
                          .keys_in = keys->data,
                          .keys_out = sorted_keys.data,
                          .rows_in = others->data,
                          .rows_out = sorted_others.data};
    if (status == KR_OK)
        status = kr_device_sort(device, &sort, NULL, err);
    kr_buffer_release(device, status == KR_OK ? keys : &sorted_keys, NULL);
    kr_buffer_release(device, status == KR_OK ? others : &sorted_others, NULL);
    if (status == KR_OK) {
        *keys = sorted_keys;
        *others = sorted_others;
    }
    return status;
}

kr_status kr_join_write_alone(kr_device *device, const kr_buffer *alone, uint64_t n, uint32_t *rows,
                              uint32_t *partners, kr_error *err)
{
    const uint64_t nbytes = n * sizeof *rows;
    if (!n)
        return KR_OK;
    const kr_status status = kr_device_copy(device, rows, alone->data, nbytes, NULL, err);
    /* The bytes of KR_NO_ROW are all ones. */
    return status == KR_OK ? kr_device_fill(device, partners, 0xFF, nbytes, NULL, err) : status;
}
