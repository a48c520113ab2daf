#include "joins/keys.h"
#include "joins/keys_body.h"

#include <string.h>

kr_assert_size(char[KR_BY_MOST + 1], KEYS_COLUMNS);

/* ---- Indexes and memory ---------------------------------------------------------------------- */

kr_status keyed_allocate(const keyed *k, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err)
{
    return kr_buffer_allocate(k->device, nbytes, NULL, what, k->help, buffer, err);
}

kr_status keyed_bring(keyed *k, keys_side *side, const kr_column *columns, uint32_t first, uint32_t n,
                      const char *what, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t j = 0; j < n && status == KR_OK; ++j) {
        side->n = columns[j].count;
        status = kr_resident_make(k->device, &columns[j], what, NULL, &side->columns[first + j], err);
    }
    return status;
}

void keyed_release(keyed *k)
{
    for (uint32_t j = 0; j <= KR_BY_MOST; ++j) {
        kr_resident_release(k->device, &k->right.columns[j], NULL);
        kr_resident_release(k->device, &k->left.columns[j], NULL);
    }
}

kr_status keyed_index(keyed *k, const kr_column *keys, uint32_t used_bits, kr_index **index, kr_error *err)
{
    const kr_status status = used_bits
                                 ? kr_index_make_narrow(k->device, &k->spec, keys, used_bits, index, err)
                                 : kr_index_make(k->device, &k->spec, keys, NULL, NULL, index, err);
    kr_stopwatch_lap(&k->watch, "build");
    if (status == KR_OK) {
        const kr_index_info *info = &(*index)->info;
        k->footprint_nbytes =
            info->footprint_nbytes > k->footprint_nbytes ? info->footprint_nbytes : k->footprint_nbytes;
        memcpy(k->tracer, info->tracer, sizeof k->tracer);
    }
    return status;
}

kr_status keyed_locate(keyed *k, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                       uint32_t *out, kr_error *err)
{
    kr_query query;
    kr_status status = near ? kr_query_make_nearest(index, probes, near, NULL, &k->watch, &query, err)
                            : kr_query_make(index, probes, NULL, NULL, &k->watch, &query, err);
    return status == KR_OK ? kr_query_locate(&query, KR_PUT_ROW, out, err) : status;
}

uint32_t keys_bits(uint64_t largest)
{
    uint32_t bits = 0;
    for (; largest; largest >>= 1)
        ++bits;
    return bits;
}

/* ---- One key of all columns ------------------------------------------------------------------- */

/* On a GPU so many threads read a column; on a CPU each takes so many rows. */
enum { EXTENT_THREADS = 1 << 17, EXTENT_ROWS = 1 << 12 };

/* `ends`: of two counters, merged with those of columns before. */
static kr_status add_extent(const keyed *k, const kr_column *column, uint64_t *ends, kr_error *err)
{
    const uint64_t threads = k->device->ops->group_threads == 1 ? column->count / EXTENT_ROWS + 1
                             : column->count < EXTENT_THREADS   ? column->count
                                                                : EXTENT_THREADS;
    const keys_extent_params params = {.data = column->data,
                                       .validity = column->validity,
                                       .validity_offset = column->validity_offset,
                                       .ends = ends,
                                       .n = column->count,
                                       .each = threads ? (column->count + threads - 1) / threads : 0,
                                       .type = column->type};
    return kr_device_run(k->device, &keys_extent, &params, threads, NULL, err);
}

/* Where the parts of a key lie. Values that the right side lacks have no partner, so its range is enough for
 * equality; distances need the range of both sides. Blocks. */
static kr_status find_parts(const keyed *k, keys_part parts[KEYS_COLUMNS], kr_error *err)
{
    uint64_t ends[2 * KEYS_COLUMNS] = {0};
    kr_buffer counters = {0};
    kr_status status = kr_counters_make(k->device, NULL, 2 * KEYS_COLUMNS, &counters, err);
    uint64_t *at = counters.data;
    for (uint32_t j = 0; j < k->n && status == KR_OK; ++j) {
        status = add_extent(k, &k->right.columns[j].column, at + 2 * j, err);
        if (status == KR_OK && j >= k->n_equal)
            status = add_extent(k, &k->left.columns[j].column, at + 2 * j, err);
    }
    if (status == KR_OK)
        status = kr_counters_read(k->device, NULL, &counters, ends, 2 * KEYS_COLUMNS, err);
    kr_buffer_release(k->device, &counters, NULL);
    for (uint32_t j = 0; j < k->n; ++j) {
        const uint64_t lowest = ~ends[2 * j], highest = ends[2 * j + 1];
        parts[j].type = k->right.columns[j].column.type;
        parts[j].lowest = lowest <= highest ? lowest : 0;
        parts[j].span = lowest <= highest ? highest - lowest : 0;
    }
    return status;
}

static int is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

/* The layout of a key, the first column in its highest bits: 0 if it takes more than 64. Columns that are
 * asked for equality have two numbers more than the range needs, for rows of either side that have no
 * partner. */
static uint32_t place_parts(const keyed *k, keys_part parts[KEYS_COLUMNS])
{
    uint32_t bits = 0;
    for (uint32_t j = k->n; j-- > 0;) {
        if (j >= k->n_equal && is_float(parts[j].type)) { /* distances need the whole code */
            parts[j].lowest = 0;
            parts[j].span = ~(uint64_t)0 >> (64 - kr_type_key_bits(parts[j].type));
        }
        parts[j].shift = bits;
        if (j < k->n_equal && parts[j].span > ~(uint64_t)0 - 2)
            return 0;
        bits += keys_bits(j < k->n_equal ? parts[j].span + 2 : parts[j].span);
        if (bits > 64)
            return 0;
    }
    return bits;
}

/* `unlike`: 1 and 2 give rows without a partner a number of their own on each side. */
static kr_status fold(const keyed *k, const keys_side *side, const keys_part parts[KEYS_COLUMNS],
                      uint32_t bits, uint32_t unlike, kr_buffer *buffer, kr_column *keys, kr_error *err)
{
    *keys = (kr_column){.type = bits > 32 ? KR_U64 : KR_U32, .count = side->n};
    keys_fold_params params = {
        .absent = (parts[0].span + unlike) << parts[0].shift, .n_parts = k->n, .out_type = keys->type};
    const kr_status status =
        keyed_allocate(k, keys->count * kr_type_width(keys->type), "one key of several columns", buffer, err);
    for (uint32_t j = 0; j < k->n; ++j) {
        const kr_column *column = &side->columns[j].column;
        params.parts[j] = parts[j];
        params.parts[j].data = column->data;
        params.parts[j].validity = column->validity;
        params.parts[j].validity_offset = column->validity_offset;
    }
    keys->data = params.out = buffer->data;
    return status == KR_OK ? kr_device_run(k->device, &keys_fold, &params, keys->count, NULL, err) : status;
}

kr_status keys_fold_sides(keyed *k, keys_folded *made, kr_error *err)
{
    keys_part parts[KEYS_COLUMNS] = {{0}};
    *made = (keys_folded){.bits = 0};
    kr_status status = find_parts(k, parts, err);
    const uint32_t bits = status == KR_OK ? place_parts(k, parts) : 0;
    if (!bits)
        return status;
    made->bits = bits;
    made->low_bits = k->n_equal ? parts[k->n_equal - 1].shift : 0;
    status = fold(k, &k->right, parts, bits, 1, &made->right_data, &made->right, err);
    if (status == KR_OK)
        status = fold(k, &k->left, parts, bits, 2, &made->left_data, &made->left, err);
    kr_stopwatch_lap(&k->watch, "fold");
    return status;
}

void keys_folded_release(const keyed *k, keys_folded *made)
{
    kr_buffer_release(k->device, &made->left_data, NULL);
    kr_buffer_release(k->device, &made->right_data, NULL);
}
