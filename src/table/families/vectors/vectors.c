#include "table/families/vectors/vectors.h"
#include "index/kinds/column.h"
#include "table/families/vectors/vectors_body.h"

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

static uint64_t *bring_limits(kr_work *work, const uint64_t *limits, uint32_t n)
{
    uint64_t *there = kr_work_take(work, n * sizeof *there, "limits of filter vectors");
    kr_work_copy(work, there, limits, n * sizeof *there);
    return there;
}

kr_vectors kr_vectors_make(kr_work *work, const kr_column *column, const uint64_t *limits, uint32_t n)
{
    kr_vectors made = {.stride = stride_of(column->count), .n = n};
    if (!n || !column->count)
        return made;
    uint32_t *words =
        kr_work_take_or(work, kr_vectors_nbytes(column->count, n), "filter vectors", "fewer vectors");
    uint64_t *there = bring_limits(work, limits, n);
    const vectors_params params = {
        .blocks = {VECTORS_SHARED_NBYTES, 0},
        .data = column->data,
        .validity = column->validity,
        .limits = there,
        .words = words,
        .stride = made.stride,
        .n_rows = column->count,
        .validity_offset = (uint32_t)column->validity_offset,
        .type = (uint32_t)column->type,
        .n = n,
        .n_passes = (n + VECTORS_PASS - 1) / VECTORS_PASS,
    };
    const uint64_t tiles = (column->count + VECTORS_TILE - 1) / VECTORS_TILE;
    kr_work_run(work, &scan_vectors_make, &params, tiles * params.n_passes);
    kr_work_give(work, there);
    made.words = kr_work_keep(work, words);
    return made;
}

void kr_vectors_release(kr_device *device, kr_vectors *vectors, kr_stream *stream)
{
    kr_buffer_release(device, &vectors->words, stream);
    *vectors = (kr_vectors){0};
}

void kr_vectors_image(kr_image *image, uint64_t n_rows, uint32_t n, kr_vectors *vectors)
{
    if (kr_image_loads(image)) {
        vectors->stride = stride_of(n_rows);
        vectors->n = n;
    }
    kr_image_buffer(image, "vectors", &vectors->words, kr_vectors_nbytes(n_rows, n));
}

uint64_t kr_vectors_check(kr_work *work, const kr_column *column, const uint64_t *limits,
                          const kr_vectors *vectors)
{
    uint64_t bad = 0;
    if (!vectors->words.data)
        return 0;
    uint64_t *there = bring_limits(work, limits, vectors->n), *counter = kr_work_counters(work, 1);
    const vectors_check_params params = {
        .data = column->data,
        .validity = column->validity,
        .limits = there,
        .words = vectors->words.data,
        .bad = counter,
        .stride = vectors->stride,
        .n_rows = column->count,
        .validity_offset = (uint32_t)column->validity_offset,
        .type = (uint32_t)column->type,
        .n = vectors->n,
    };
    kr_work_run(work, &scan_vectors_check, &params, vectors->stride * 32);
    kr_work_read(work, &bad, counter, sizeof bad);
    kr_work_give(work, counter);
    kr_work_give(work, there);
    return bad;
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

uint32_t kr_borders_choose(kr_work *work, const kr_codes *codes, uint32_t k, kr_border *borders)
{
    const uint32_t most = most_borders(codes->n, k) + 1;
    uint32_t kept = 0;
    if (most < 2)
        return 0;
    const uint64_t nbytes = kr_borders_scratch(codes->n, k);
    uint64_t *found = kr_work_take(work, nbytes, "borders of filter vectors");
    const borders_params params = {*codes, found, most, 0};
    kr_work_run(work, &scan_borders_find, &params, most - 1);
    kr_work_read(work, borders, found, nbytes);
    kr_work_give(work, found);
    for (uint32_t i = 0; i + 1 < most && kr_work_goes_on(work); ++i)
        if (borders[i].rank > (kept ? borders[kept - 1].rank : 0) && borders[i].rank < codes->n)
            borders[kept++] = borders[i];
    return kept;
}
