#include "results/found.h"
#include "results/found_body.h"

kr_status kr_number(kr_device *device, uint32_t *numbers, uint64_t n, kr_stream *stream, kr_error *err)
{
    const number_params params = {numbers};
    return kr_device_run(device, &found_number, &params, n, stream, err);
}

static uint64_t tiles_of(uint64_t n)
{
    return (n + FOUND_TILE - 1) / FOUND_TILE;
}

/* Where each tile's list begins, and how many are listed in all. Blocks. */
static kr_status place(const kr_found_job *job, found_params *params, kr_buffer *places, uint64_t *n,
                       kr_error *err)
{
    const uint64_t tiles = tiles_of(job->n);
    kr_status status = kr_buffer_allocate(job->device, (tiles + 1) * sizeof(uint64_t), job->stream,
                                          "places of answers", job->help, places, err);
    params->places = places->data;
    if (status == KR_OK)
        status = kr_device_fill(job->device, params->places + tiles, 0, sizeof(uint64_t), job->stream, err);
    if (status == KR_OK)
        status = kr_device_run(job->device, &found_count, params, tiles, job->stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(job->device, params->places, tiles + 1, job->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(job->device, n, params->places + tiles, sizeof *n, job->stream, err);
    return status == KR_OK ? kr_device_sync(job->device, job->stream, err) : status;
}

static kr_status allocate(const kr_found_job *job, uint64_t n, const char *what, kr_buffer *buffer,
                          kr_error *err)
{
    return kr_buffer_allocate(job->device, n * sizeof(uint32_t), job->stream, what, job->help, buffer, err);
}

/* All probes, whose answers stay where they are. */
static kr_status list_all(const kr_found_job *job, kr_found *made, kr_error *err)
{
    kr_status status = KR_OK;
    if (job->names) {
        made->probes = *job->names;
        *job->names = (kr_buffer){0};
    } else {
        status = allocate(job, made->n, "probes that found a row", &made->probes, err);
        if (status == KR_OK)
            status = kr_number(job->device, made->probes.data, made->n, job->stream, err);
    }
    if (status == KR_OK && job->with_rows) {
        made->rows = *job->answers;
        *job->answers = (kr_buffer){0};
    }
    return status;
}

static kr_status list_some(const kr_found_job *job, found_params *params, kr_found *made, kr_error *err)
{
    kr_status status = allocate(job, made->n, "probes that found a row", &made->probes, err);
    if (status == KR_OK && job->with_rows)
        status = allocate(job, made->n, "rows that were found", &made->rows, err);
    params->probes = made->probes.data;
    params->rows = made->rows.data;
    return status == KR_OK
               ? kr_device_run(job->device, &found_write, params, tiles_of(job->n), job->stream, err)
               : status;
}

kr_status kr_found_list(const kr_found_job *job, kr_found *found, kr_error *err)
{
    found_params params = {
        .answers = job->answers->data,
        .names = job->names ? job->names->data : NULL,
        .n = job->n,
        .wanted = job->wanted,
        .blocks = {.shared_nbytes = 2 * FOUND_WORDS * sizeof(uint32_t)},
    };
    kr_found made = {.n = 0};
    kr_buffer places = {0};
    kr_status status = job->n ? place(job, &params, &places, &made.n, err) : KR_OK;
    if (status == KR_OK && made.n)
        status = made.n == job->n ? list_all(job, &made, err) : list_some(job, &params, &made, err);
    kr_buffer_release(job->device, &places, job->stream);
    if (status == KR_OK) {
        *found = made;
        return status;
    }
    kr_buffer_release(job->device, &made.rows, job->stream);
    kr_buffer_release(job->device, &made.probes, job->stream);
    return status;
}
