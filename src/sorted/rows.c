#include "sorted/rows.h"
#include "results/row_ids.h"
#include "sorted/rows_body.h"
#include "sorted/sorted.h"

void kr_row_list_release(kr_device *device, kr_row_list *list, kr_stream *stream)
{
    kr_buffer_release(device, &list->ids, stream);
    kr_buffer_release(device, &list->index, stream);
}

/* The positions of valid rows, by a stable one-bit sort of the NULL flags. */
static kr_status skip_nulls(const kr_build *build, kr_row_list *list, kr_error *err)
{
    kr_device *device = build->device;
    kr_stream *stream = build->stream;
    const uint64_t n = build->keys.count, nbytes = n * sizeof(uint32_t);
    kr_buffer counters = {0}, flags = {0}, flags_out = {0};
    uint64_t valid = 0;
    kr_status status = kr_counters_make(device, stream, 1, &counters, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, nbytes, stream, "NULL flags", NULL, &flags, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, nbytes, stream, "sorted NULL flags", NULL, &flags_out, err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(device, nbytes, stream, "positions of valid rows", NULL, &list->index, err);
    if (status == KR_OK) {
        const null_flags_params params = {build->keys.validity, build->keys.validity_offset, flags.data,
                                          counters.data};
        status = kr_device_run(device, &sorted_null_flags, &params, n, stream, err);
    }
    if (status == KR_OK) {
        const kr_sort sort = {32, 0, 1, n, flags.data, flags_out.data, NULL, list->index.data};
        status = kr_device_sort(device, &sort, stream, err);
    }
    if (status == KR_OK)
        status = kr_counters_read(device, stream, &counters, &valid, 1, err);
    kr_buffer_release(device, &flags_out, stream);
    kr_buffer_release(device, &flags, stream);
    kr_buffer_release(device, &counters, stream);
    list->n = valid;
    list->rows = list->index.data;
    return status;
}

/* Whether the ids ascend; fails if one is KR_NO_ROW. */
static kr_status check_ids(const kr_build *build, const kr_row_list *list, int *ascend, kr_error *err)
{
    uint64_t found[2] = {0};
    const kr_status status = kr_ids_check(build->device, list->rows, list->n, build->stream, found, err);
    if (status == KR_OK && found[1])
        return kr_fail(err, KR_ERR_ARGUMENT, "%llu row ids are 4294967295 (KR_NO_ROW); give ids below it",
                       (unsigned long long)found[1]);
    *ascend = found[0] == 0;
    return status;
}

/* Sorts ids, and the positions with them. */
static kr_status order_ids(const kr_build *build, kr_row_list *list, kr_error *err)
{
    kr_buffer ids = {0}, index = {0};
    const uint64_t nbytes = list->n * sizeof(uint32_t);
    kr_status status =
        kr_buffer_allocate(build->device, nbytes, build->stream, "ordered row ids", NULL, &ids, err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(build->device, nbytes, build->stream, "their positions", NULL, &index, err);
    if (status == KR_OK) {
        const kr_sort sort = {32, 0, 32, list->n, list->rows, ids.data, list->index.data, index.data};
        status = kr_device_sort(build->device, &sort, build->stream, err);
    }
    if (status != KR_OK) {
        kr_buffer_release(build->device, &index, build->stream);
        kr_buffer_release(build->device, &ids, build->stream);
        return status;
    }
    kr_row_list_release(build->device, list, build->stream);
    list->ids = ids;
    list->index = index;
    list->rows = ids.data;
    return KR_OK;
}

static kr_status use_ids(const kr_build *build, kr_row_list *list, kr_error *err)
{
    kr_status status = KR_OK;
    int ascend = 1;
    list->rows = build->row_ids;
    if (list->index.data) {
        status = kr_buffer_allocate(build->device, list->n * sizeof(uint32_t), build->stream, "row ids", NULL,
                                    &list->ids, err);
        if (status != KR_OK)
            return status;
        const gather_params params = {build->row_ids, list->index.data, list->ids.data};
        status = kr_device_run(build->device, &sorted_gather, &params, list->n, build->stream, err);
        list->rows = list->ids.data;
    }
    if (status == KR_OK)
        status = check_ids(build, list, &ascend, err);
    return status == KR_OK && !ascend ? order_ids(build, list, err) : status;
}

kr_status kr_row_list_make(const kr_build *build, kr_row_list *list, kr_error *err)
{
    kr_row_list made = {.n = build->keys.count};
    kr_status status = KR_OK;
    if (build->keys.validity)
        status = skip_nulls(build, &made, err);
    if (status == KR_OK && build->row_ids)
        status = use_ids(build, &made, err);
    if (status != KR_OK) {
        kr_row_list_release(build->device, &made, build->stream);
        return status;
    }
    *list = made;
    return KR_OK;
}
