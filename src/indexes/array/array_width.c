/* The operations of kind `array` at one key width. */
#include "indexes/array/array.h"
#include "indexes/array/array_body.h"
#include "sorted/sorted.h"

#include <stdlib.h>

typedef struct array_index {
    kr_sorted sorted;  /* layout=soa */
    kr_buffer entries; /* layout=aos */
    uint64_t n;
    uint64_t lowest, highest; /* codes of the end keys */
    uint32_t k;
} array_index;

enum { ENTRY_NBYTES = sizeof(kr_key) + sizeof(uint32_t) };

static kr_status estimate(const kr_shape *shape, kr_estimate *estimate, kr_error *err)
{
    (void)err;
    kr_sorted_estimate(shape, estimate);
    const uint64_t both = 2 * shape->count * ENTRY_NBYTES;
    if (shape->spec->options[ARRAY_OPTION_LAYOUT] == ARRAY_AOS && estimate->peak_nbytes < both)
        estimate->peak_nbytes = both;
    return KR_OK;
}

static void destroy(kr_device *device, void *self)
{
    array_index *index = self;
    kr_sorted_release(device, &index->sorted, NULL);
    kr_buffer_release(device, &index->entries, NULL);
    free(index);
}

/* Moves the sorted columns into one array of packed entries. */
static kr_status pack(const kr_build *build, array_index *index, kr_error *err)
{
    kr_status status = kr_buffer_allocate(build->device, index->n * ENTRY_NBYTES, build->stream,
                                          "packed entries", "layout=soa", &index->entries, err);
    if (status != KR_OK)
        return status;
    const array_pack_params params = {index->sorted.keys.data, index->sorted.rows.data, index->entries.data};
    status = kr_device_run(build->device, &KR_W(array_pack), &params, index->n, build->stream, err);
    kr_sorted_release(build->device, &index->sorted, build->stream);
    kr_stopwatch_lap(build->watch, "pack");
    return status;
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    array_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_sorted_build(build, &index->sorted, err);
    index->n = index->sorted.n;
    index->lowest = index->sorted.lowest;
    index->highest = index->sorted.highest;
    index->k = (uint32_t)build->spec->options[ARRAY_OPTION_K];
    if (status == KR_OK && build->spec->options[ARRAY_OPTION_LAYOUT] == ARRAY_AOS)
        status = pack(build, index, err);
    if (status != KR_OK) {
        destroy(build->device, index);
        return status;
    }
    *self = index;
    return KR_OK;
}

/* [needs whole spans][layout, or k-ary] */
static const kr_program *const programs[2][3] = {
    {&KR_W(array_first_soa), &KR_W(array_first_aos), &KR_W(array_first_kary)},
    {&KR_W(array_span_soa), &KR_W(array_span_aos), &KR_W(array_span_kary)},
};

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const array_index *index = self;
    const uint32_t aos = index->entries.data != NULL;
    const uint32_t n = (uint32_t)index->n;
    const array_params params = {
        .batch = job->batch,
        .put = job->put,
        .entries = aos ? index->entries.data : index->sorted.keys.data,
        .rows = index->sorted.rows.data,
        .n = n,
        .top = n ? 0x80000000u >> kr_clz32(n) : 0,
        .k = index->k,
        .aos = aos,
    };
    const int whole = job->put.what == KR_PUT_COUNT || job->put.what == KR_PUT_SPAN;
    return kr_device_run(device, programs[whole][index->k > 2 ? 2 : aos], &params, job->n, stream, err);
}

static kr_rows_view rows(const void *self)
{
    const array_index *index = self;
    if (!index->entries.data)
        return (kr_rows_view){index->sorted.rows.data, sizeof(uint32_t), {0}};
    return (kr_rows_view){(const char *)index->entries.data + sizeof(kr_key), ENTRY_NBYTES, {0}};
}

static uint64_t n_rows(const void *self)
{
    return ((const array_index *)self)->n;
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const array_index *index = self;
    *lowest = index->lowest;
    *highest = index->highest;
}

static uint32_t parts(const void *self, kr_part parts[KR_STATS_PARTS])
{
    const array_index *index = self;
    uint32_t n = 0;
    if (index->entries.data) {
        parts[n++] = (kr_part){"entries", index->entries.nbytes};
    } else {
        parts[n++] = (kr_part){"keys", index->sorted.keys.nbytes};
        parts[n++] = (kr_part){"row ids", index->sorted.rows.nbytes};
    }
    return n;
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    const array_index *index = self;
    const kr_sorted_check check = {
        .keys = index->entries.data ? index->entries.data : index->sorted.keys.data,
        .key_stride = index->entries.data ? ENTRY_NBYTES : sizeof(kr_key),
        .rows = rows(self),
        .n = index->n,
        .key_bits = KR_KEY_BITS,
    };
    return kr_sorted_validate(device, &check, err);
}

/* Binary search halves n + 1 places, k-ary search cuts them by k reading up to k - 1 pivots; then the row. */
static double touches(const kr_shape *shape)
{
    const uint64_t k = (uint64_t)shape->spec->options[ARRAY_OPTION_K];
    double steps = 0;
    for (uint64_t left = shape->count; left; left /= k)
        steps += k > 2 ? (double)(k - 1) / 2 + 0.5 : 1;
    return steps + 1;
}

static kr_status runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    return kr_family_runs_on(device, spec, programs[0][0], err);
}

extern const kr_family_ops KR_W(array_ops);
const kr_family_ops KR_W(array_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .rows = rows,
    .n_rows = n_rows,
    .key_range = key_range,
    .parts = parts,
    .validate = validate,
    .touches = touches,
    .runs_on = runs_on,
};
