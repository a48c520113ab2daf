#include "scans/vectors.h"
#include "kinds/column.h"
#include "scans/vectors_body.h"

static uint64_t stride_of(uint64_t n_rows)
{
    return (n_rows + 1023) / 1024 * 32;
}

uint64_t kr_vectors_nbytes(uint64_t n_rows, uint32_t n)
{
    return n * stride_of(n_rows) * sizeof(uint32_t);
}

uint64_t kr_vectors_scratch(uint32_t n)
{
    return n * sizeof(uint64_t);
}

static kr_status bring_limits(kr_device *device, const uint64_t *limits, uint32_t n, kr_stream *stream,
                              kr_buffer *buffer, kr_error *err)
{
    const uint64_t nbytes = n * sizeof *limits;
    kr_status status =
        kr_buffer_allocate(device, nbytes, stream, "limits of filter vectors", NULL, buffer, err);
    return status == KR_OK ? kr_device_copy(device, buffer->data, limits, nbytes, stream, err) : status;
}

kr_status kr_vectors_make(kr_device *device, const kr_column *column, const uint64_t *limits, uint32_t n,
                          kr_stream *stream, kr_vectors *vectors, kr_error *err)
{
    kr_vectors made = {.stride = stride_of(column->count), .n = n};
    kr_buffer on_device = {0};
    kr_status status = KR_OK;
    if (n && column->count)
        status = kr_buffer_allocate(device, kr_vectors_nbytes(column->count, n), stream, "filter vectors",
                                    "fewer vectors", &made.words, err);
    if (status == KR_OK && made.words.data)
        status = bring_limits(device, limits, n, stream, &on_device, err);
    const vectors_params params = {
        .blocks = {VECTORS_SHARED_NBYTES, 0},
        .data = column->data,
        .validity = column->validity,
        .limits = on_device.data,
        .words = made.words.data,
        .stride = made.stride,
        .n_rows = column->count,
        .validity_offset = (uint32_t)column->validity_offset,
        .type = (uint32_t)column->type,
        .n = n,
        .n_passes = (n + VECTORS_PASS - 1) / VECTORS_PASS,
    };
    const uint64_t tiles = (column->count + VECTORS_TILE - 1) / VECTORS_TILE;
    if (status == KR_OK && made.words.data)
        status = kr_device_run(device, &scan_vectors_make, &params, tiles * params.n_passes, stream, err);
    kr_buffer_release(device, &on_device, stream);
    if (status == KR_OK)
        *vectors = made;
    else
        kr_vectors_release(device, &made, stream);
    return status;
}

void kr_vectors_release(kr_device *device, kr_vectors *vectors, kr_stream *stream)
{
    kr_buffer_release(device, &vectors->words, stream);
    *vectors = (kr_vectors){0};
}

kr_status kr_vectors_check(kr_device *device, const kr_column *column, const uint64_t *limits,
                           const kr_vectors *vectors, uint64_t *bad, kr_error *err)
{
    kr_buffer on_device = {0}, counter = {0};
    *bad = 0;
    if (!vectors->words.data)
        return KR_OK;
    kr_status status = bring_limits(device, limits, vectors->n, NULL, &on_device, err);
    if (status == KR_OK)
        status = kr_counters_make(device, NULL, 1, &counter, err);
    const vectors_check_params params = {
        .data = column->data,
        .validity = column->validity,
        .limits = on_device.data,
        .words = vectors->words.data,
        .bad = counter.data,
        .stride = vectors->stride,
        .n_rows = column->count,
        .validity_offset = (uint32_t)column->validity_offset,
        .type = (uint32_t)column->type,
        .n = vectors->n,
    };
    if (status == KR_OK)
        status = kr_device_run(device, &scan_vectors_check, &params, vectors->stride * 32, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counter, bad, 1, err);
    kr_buffer_release(device, &counter, NULL);
    kr_buffer_release(device, &on_device, NULL);
    return status;
}

/* ---- Borders --------------------------------------------------------------------------------- */

static uint32_t most_borders(uint64_t n, uint32_t k)
{
    const uint32_t most = k > n ? (uint32_t)n : k;
    return most ? most - 1 : 0;
}

uint64_t kr_borders_scratch(uint64_t n, uint32_t k)
{
    return most_borders(n, k) * sizeof(kr_border);
}

kr_status kr_borders_choose(kr_device *device, const void *codes, uint32_t key_bits, uint64_t n, uint32_t k,
                            kr_stream *stream, kr_border *borders, uint32_t *n_borders, kr_error *err)
{
    const uint32_t most = most_borders(n, k) + 1;
    kr_buffer found = {0};
    uint32_t kept = 0;
    *n_borders = 0;
    if (most < 2)
        return KR_OK;
    const uint64_t nbytes = kr_borders_scratch(n, k);
    kr_status status =
        kr_buffer_allocate(device, nbytes, stream, "borders of filter vectors", NULL, &found, err);
    const borders_params params = {codes, found.data, n, most, key_bits};
    if (status == KR_OK)
        status = kr_device_run(device, &scan_borders_find, &params, most - 1, stream, err);
    if (status == KR_OK)
        status = kr_device_copy(device, borders, found.data, nbytes, stream, err);
    if (status == KR_OK)
        status = kr_device_sync(device, stream, err);
    kr_buffer_release(device, &found, stream);
    for (uint32_t i = 0; i + 1 < most && status == KR_OK; ++i)
        if (borders[i].rank > (kept ? borders[kept - 1].rank : 0) && borders[i].rank < n)
            borders[kept++] = borders[i];
    *n_borders = kept;
    return status;
}
