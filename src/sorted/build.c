/* Building a sorted (key, row id) column. */
#include "key/encode.h"
#include "sorted/build_body.h"
#include "sorted/rows.h"
#include "sorted/sorted.h"

/* The codes in the order of the list; the column itself where that is the same. */
static kr_status encode_keys(const kr_build *build, const kr_row_list *list, kr_buffer *codes,
                             const void **keys, kr_error *err)
{
    if ((build->keys.type == KR_U32 || build->keys.type == KR_U64) && !list->index.data) {
        *keys = build->keys.data;
        return KR_OK;
    }
    const uint64_t nbytes = list->n * (kr_type_key_bits(build->keys.type) / 8);
    kr_status status =
        kr_buffer_allocate(build->device, nbytes, build->stream, "encoded keys", NULL, codes, err);
    if (status != KR_OK)
        return status;
    const kr_encode_job job = {build->keys.data, list->index.data, codes->data, list->n, build->keys.type};
    *keys = codes->data;
    return kr_encode(build->device, &job, build->stream, err);
}

/* Allocates the result and sorts into it. Hashes differ in all of their bits. */
static kr_status sort_into(const kr_build *build, const kr_row_list *list, const void *keys, int hashed,
                           kr_sorted *made, kr_error *err)
{
    const uint32_t bits = kr_type_key_bits(build->keys.type);
    made->n = list->n;
    kr_status status = kr_buffer_allocate(build->device, list->n * (bits / 8), build->stream, "sorted keys",
                                          NULL, &made->keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(build->device, list->n * sizeof(uint32_t), build->stream,
                                    "sorted row ids", NULL, &made->rows, err);
    if (status != KR_OK)
        return status;
    const kr_sort sort = {
        .key_bits = bits,
        .end_bit = hashed             ? bits
                   : build->used_bits ? build->used_bits
                                      : kr_type_significant_bits(build->keys.type),
        .n = list->n,
        .keys_in = keys,
        .keys_out = made->keys.data,
        .rows_in = list->rows,
        .rows_out = made->rows.data,
    };
    return kr_device_sort(build->device, &sort, build->stream, err);
}

/* Little-endian: a u32 code lands in the low half. */
kr_status kr_sorted_read_ends(kr_device *device, kr_stream *stream, uint32_t key_bits, kr_sorted *sorted,
                              kr_error *err)
{
    const uint64_t nbytes = key_bits / 8;
    if (sorted->n == 0)
        return KR_OK;
    const char *last = (const char *)sorted->keys.data + (sorted->n - 1) * nbytes;
    kr_status status = kr_device_copy(device, &sorted->lowest, sorted->keys.data, nbytes, stream, err);
    if (status == KR_OK)
        status = kr_device_copy(device, &sorted->highest, last, nbytes, stream, err);
    return status == KR_OK ? kr_device_sync(device, stream, err) : status;
}

/* Into `to`, or into `codes`, which are made where there are none yet. */
static kr_status mix(const kr_build *build, uint64_t seed, const kr_row_list *list, void *to,
                     kr_buffer *codes, const void **keys, kr_error *err)
{
    const uint32_t bits = kr_type_key_bits(build->keys.type);
    kr_status status = KR_OK;
    if (!to && !codes->data)
        status = kr_buffer_allocate(build->device, list->n * (bits / 8), build->stream, "hashed keys", NULL,
                                    codes, err);
    const kr_mix_job job = {*keys, to ? to : codes->data, list->n, seed, bits};
    *keys = job.out;
    return status == KR_OK ? kr_mix_codes(build->device, &job, build->stream, err) : status;
}

/* The rows of the column and their codes, which are hashed if there is a seed. */
static kr_status prepare(const kr_build *build, const uint64_t *seed, kr_row_list *list, void *to,
                         kr_buffer *codes, const void **keys, kr_error *err)
{
    kr_status status = kr_row_list_make(build, list, err);
    if (status == KR_OK)
        status = encode_keys(build, list, codes, keys, err);
    if (status == KR_OK && seed)
        status = mix(build, *seed, list, to, codes, keys, err);
    kr_stopwatch_lap(build->watch, "prepare");
    return status;
}

kr_status kr_sorted_sort(const kr_build *build, const uint64_t *seed, kr_sorted *sorted, kr_error *err)
{
    kr_row_list list = {0};
    kr_buffer codes = {0};
    kr_sorted made = {0};
    const void *keys = NULL;
    kr_status status = prepare(build, seed, &list, NULL, &codes, &keys, err);
    if (status == KR_OK)
        status = sort_into(build, &list, keys, seed != NULL, &made, err);
    kr_buffer_release(build->device, &codes, build->stream);
    kr_row_list_release(build->device, &list, build->stream);
    kr_stopwatch_lap(build->watch, "sort");
    if (status == KR_OK)
        *sorted = made;
    else
        kr_sorted_release(build->device, &made, build->stream);
    return status;
}

kr_status kr_sorted_list(const kr_build *build, uint64_t seed, kr_listed *listed, kr_error *err)
{
    kr_row_list list = {0};
    kr_buffer codes = {0};
    const void *keys = NULL;
    kr_status status = prepare(build, &seed, &list, listed->keys, &codes, &keys, err);
    const number_params number = {listed->rows};
    listed->n = list.n;
    if (status == KR_OK)
        status = list.rows
                     ? kr_device_copy(build->device, listed->rows, list.rows, list.n * sizeof(uint32_t),
                                      build->stream, err)
                     : kr_device_run(build->device, &sorted_number_rows, &number, list.n, build->stream, err);
    kr_buffer_release(build->device, &codes, build->stream);
    kr_row_list_release(build->device, &list, build->stream);
    return status;
}

/* Fills build->is_unique, lowest and highest. Waits for the stream once. */
static kr_status look_at_keys(const kr_build *build, kr_sorted *sorted, kr_error *err)
{
    const uint32_t key_bits = kr_type_key_bits(build->keys.type);
    kr_buffer counter = {0};
    uint64_t repeats = 0;
    if (!sorted->n)
        return KR_OK;
    kr_status status = kr_counters_make(build->device, build->stream, 1, &counter, err);
    const repeats_params params = {
        .keys = sorted->keys.data, .repeats = counter.data, .n = sorted->n, .key_bits = key_bits};
    if (status == KR_OK && sorted->n > 1)
        status = kr_device_run(build->device, &sorted_repeats, &params, (sorted->n - 2) / REPEATS_TILE + 1,
                               build->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(build->device, &repeats, counter.data, sizeof repeats, build->stream, err);
    if (status == KR_OK)
        status = kr_sorted_read_ends(build->device, build->stream, key_bits, sorted, err);
    kr_buffer_release(build->device, &counter, build->stream);
    if (build->is_unique)
        *build->is_unique = status == KR_OK && !repeats;
    return status;
}

kr_status kr_sorted_build(const kr_build *build, kr_sorted *sorted, kr_error *err)
{
    kr_sorted made = {0};
    kr_status status = kr_sorted_sort(build, NULL, &made, err);
    if (status == KR_OK)
        status = look_at_keys(build, &made, err);
    kr_stopwatch_lap(build->watch, "sort");
    if (status == KR_OK)
        *sorted = made;
    else
        kr_sorted_release(build->device, &made, build->stream);
    return status;
}

void kr_sorted_release(kr_device *device, kr_sorted *sorted, kr_stream *stream)
{
    kr_buffer_release(device, &sorted->rows, stream);
    kr_buffer_release(device, &sorted->keys, stream);
    sorted->n = 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Follows kr_row_list_make, encode_keys and sort_into allocation by allocation. */
void kr_sorted_estimate(const kr_shape *shape, kr_need *estimate)
{
    static const uint32_t given; /* only whether rows_in is NULL matters */
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t);
    const uint32_t bits = kr_type_key_bits(shape->type);
    const uint64_t keys = n * (bits / 8), counters = 16;
    const int listed = shape->has_validity || shape->has_row_ids;
    const kr_sort flags = {.key_bits = 32, .end_bit = 1, .n = n};
    const kr_sort order = {.key_bits = 32, .end_bit = 32, .n = n, .rows_in = &given};
    const kr_sort main = {.key_bits = bits,
                          .end_bit = kr_type_significant_bits(shape->type),
                          .n = n,
                          .rows_in = listed ? &given : NULL};
    uint64_t peak = 0, kept = 0;
    if (shape->has_validity) {
        peak = 3 * ids + kr_device_sort_temp(shape->device, &flags) + counters;
        kept = ids;
    }
    if (shape->has_row_ids) {
        const uint64_t held = shape->has_validity ? 2 * ids : 0; /* index and gathered ids */
        peak = larger(peak, held + 2 * ids + kr_device_sort_temp(shape->device, &order));
        kept = 2 * ids;
    }
    if (listed || (shape->type != KR_U32 && shape->type != KR_U64))
        kept += keys;
    estimate->footprint_nbytes = keys + ids;
    estimate->peak_nbytes = larger(peak, kept + keys + ids + kr_device_sort_temp(shape->device, &main));
}
