/* Building a sorted (key, row id) column. */
#include "base/key/encode.h"
#include "index/sorted/build_body.h"
#include "index/sorted/rows.h"
#include "index/sorted/sorted.h"

kr_sorted kr_sorted_take(kr_work *w, uint64_t n, uint32_t key_bits)
{
    return (kr_sorted){.keys = kr_work_buffer(w, n * (key_bits / 8), "sorted keys", NULL),
                       .rows = kr_work_buffer(w, n * sizeof(uint32_t), "sorted row ids", NULL),
                       .n = n};
}

void kr_sorted_give(kr_work *w, const kr_sorted *sorted)
{
    kr_work_give(w, sorted->rows.data);
    kr_work_give(w, sorted->keys.data);
}

void kr_sorted_keep(kr_work *w, kr_sorted *sorted)
{
    sorted->keys = kr_work_keep(w, sorted->keys.data);
    sorted->rows = kr_work_keep(w, sorted->rows.data);
}

void kr_sorted_release(kr_device *device, kr_sorted *sorted, kr_stream *stream)
{
    kr_buffer_release(device, &sorted->rows, stream);
    kr_buffer_release(device, &sorted->keys, stream);
    sorted->n = 0;
}

static void encode_keys(kr_work *w, const kr_build *build, kr_coded *l)
{
    const kr_type type = build->keys.type;
    l->keys = build->keys.data;
    if ((type == KR_U32 || type == KR_U64) && !l->list.index)
        return;
    l->made = kr_work_take(w, l->list.n * (kr_type_key_bits(type) / 8), "encoded keys");
    const kr_encode_job job = {build->keys.data, l->list.index, l->made, l->list.n, type};
    l->keys = l->made;
    kr_encode(w, &job);
}

/* Into `to`, or where codes were made, or into memory of their own. */
static void mix(kr_work *w, const kr_build *build, uint64_t seed, void *to, kr_coded *l)
{
    const uint32_t bits = kr_type_key_bits(build->keys.type);
    if (!to && !l->made)
        l->made = kr_work_take(w, l->list.n * (bits / 8), "hashed keys");
    const kr_mix_job job = {l->keys, to ? to : l->made, l->list.n, seed, bits};
    l->keys = job.out;
    kr_mix_codes(w, &job);
}

static kr_coded prepare(kr_work *w, const kr_build *build, const uint64_t *seed, void *to)
{
    kr_coded l = {.list = kr_sorted_rows_make(w, build)};
    encode_keys(w, build, &l);
    if (seed)
        mix(w, build, *seed, to, &l);
    kr_work_lap(w, "prepare");
    return l;
}

void kr_sorted_codes_give(kr_work *w, const kr_coded *l)
{
    kr_work_give(w, l->made);
    kr_sorted_rows_give(w, &l->list);
}

kr_coded kr_sorted_codes(kr_work *w, const kr_build *build)
{
    return prepare(w, build, NULL, NULL);
}

/* ---- Columns that are in order already -------------------------------------------------------- */

kr_buffer kr_sorted_number(kr_work *w, uint32_t first, uint64_t n)
{
    const kr_buffer rows = kr_work_buffer(w, n * sizeof(uint32_t), "sorted row ids", NULL);
    const number_params number = {rows.data, first};
    kr_work_run(w, &sorted_number_rows, &number, n);
    return rows;
}

/* ORDER_FOUND counters, which are read later. Enqueues. */
static uint64_t *look_at_order(kr_work *w, const void *keys, uint32_t key_bits, const uint32_t *rows,
                               uint64_t n)
{
    uint64_t *found = kr_work_counters(w, ORDER_FOUND);
    const order_params params = {.keys = keys, .rows = rows, .found = found, .n = n, .key_bits = key_bits};
    if (n > 1)
        kr_work_run(w, &sorted_order, &params, (n - 2) / ORDER_TILE + 1);
    return found;
}

/* The ends tell of most row ids that they are not consecutive, without a pass over all. */
uint32_t kr_sorted_first_row(kr_work *w, const uint32_t *rows, uint64_t n)
{
    uint64_t found[ORDER_FOUND] = {0};
    uint32_t first = 0, last = 0;
    if (!n)
        return KR_NO_ROW;
    kr_work_copy(w, &first, rows, sizeof first);
    kr_work_copy(w, &last, rows + n - 1, sizeof last);
    kr_work_sync(w);
    if (!kr_work_goes_on(w) || (uint64_t)last != first + (n - 1))
        return KR_NO_ROW;
    uint64_t *counters = look_at_order(w, NULL, 32, rows, n);
    kr_work_read(w, found, counters, sizeof found);
    kr_work_give(w, counters);
    return kr_work_goes_on(w) && !found[ORDER_SCATTERED] ? first : KR_NO_ROW;
}

/* What is known of a column before its sort. */
typedef struct column_order {
    uint64_t *counters; /* NULL: nothing was looked at */
    uint64_t found[ORDER_FOUND];
} column_order;

/* A host device waits for nothing when it reads; elsewhere the sort is enqueued meanwhile. */
static column_order look_at_column(kr_work *w, const kr_build *build, const kr_coded *l)
{
    const uint32_t bits = kr_type_key_bits(build->keys.type);
    column_order order = {look_at_order(w, l->keys, bits, l->list.rows, l->list.n), {1, 1}};
    if (w->device->ops->is_host)
        kr_work_read(w, order.found, order.counters, sizeof order.found);
    return order;
}

static int is_clustered(const column_order *order)
{
    return order->counters && !order->found[ORDER_FALLS] && !order->found[ORDER_SCATTERED];
}

/* ---- Sorting ---------------------------------------------------------------------------------- */

/* Hashes differ in all of their bits. */
static kr_sorted sort_listed(kr_work *w, const kr_build *build, const kr_coded *l, int hashed)
{
    const uint32_t bits = kr_type_key_bits(build->keys.type);
    const kr_sorted made = kr_sorted_take(w, l->list.n, bits);
    const kr_sort sort = {
        .key_bits = bits,
        .end_bit = hashed             ? bits
                   : build->used_bits ? build->used_bits
                                      : kr_type_significant_bits(build->keys.type),
        .n = l->list.n,
        .keys_in = l->keys,
        .keys_out = made.keys.data,
        .rows_in = l->list.rows,
        .rows_out = made.rows.data,
    };
    kr_work_sort(w, &sort);
    return made;
}

/* The keys ascend, so they are only copied. `clustered`: without row ids. */
static kr_sorted copy_listed(kr_work *w, const kr_build *build, const kr_coded *l, int clustered)
{
    const uint64_t n = l->list.n, nbytes = n * (kr_type_key_bits(build->keys.type) / 8);
    kr_sorted made = {.keys = kr_work_buffer(w, nbytes, "sorted keys", NULL), .n = n};
    kr_work_copy(w, made.keys.data, l->keys, nbytes);
    if (clustered)
        return made;
    if (!l->list.rows) {
        made.rows = kr_sorted_number(w, 0, n);
        return made;
    }
    made.rows = kr_work_buffer(w, n * sizeof(uint32_t), "sorted row ids", NULL);
    kr_work_copy(w, made.rows.data, l->list.rows, n * sizeof(uint32_t));
    return made;
}

/* In the order of keys, of which nothing is left; without row ids where `clustered` allows it and that is
 * known at once. */
static kr_sorted sort_codes(kr_work *w, const kr_build *build, const kr_coded *l, int clustered,
                            column_order *order)
{
    const int is_host = w->device->ops->is_host;
    kr_sorted made;
    *order = (column_order){.counters = NULL};
    if (clustered || is_host)
        *order = look_at_column(w, build, l);
    if (!is_host || order->found[ORDER_FALLS])
        made = sort_listed(w, build, l, 0);
    else
        made = copy_listed(w, build, l, clustered && is_clustered(order));
    if (made.n && !made.rows.data && l->list.rows && kr_work_goes_on(w))
        kr_work_copy(w, &made.first_row, l->list.rows, sizeof made.first_row);
    kr_sorted_codes_give(w, l);
    kr_work_lap(w, "sort");
    return made;
}

kr_sorted kr_sorted_sort(kr_work *w, const kr_build *build, const uint64_t *seed)
{
    column_order order;
    if (!seed) {
        const kr_coded codes = kr_sorted_codes(w, build);
        const kr_sorted sorted = sort_codes(w, build, &codes, 0, &order);
        kr_work_give(w, order.counters);
        return sorted;
    }
    const kr_coded l = prepare(w, build, seed, NULL);
    const kr_sorted made = sort_listed(w, build, &l, 1);
    kr_sorted_codes_give(w, &l);
    kr_work_lap(w, "sort");
    return made;
}

void kr_sorted_list(kr_work *w, const kr_build *build, uint64_t seed, kr_listed *listed)
{
    const kr_coded l = prepare(w, build, &seed, listed->keys);
    const number_params number = {listed->rows, 0};
    listed->n = l.list.n;
    if (l.list.rows)
        kr_work_copy(w, listed->rows, l.list.rows, l.list.n * sizeof(uint32_t));
    else
        kr_work_run(w, &sorted_number_rows, &number, l.list.n);
    kr_sorted_codes_give(w, &l);
}

/* Little-endian: a u32 code lands in the low half. */
void kr_sorted_read_ends(kr_work *w, uint32_t key_bits, kr_sorted *sorted)
{
    const uint64_t nbytes = key_bits / 8;
    if (sorted->n == 0 || !kr_work_goes_on(w))
        return;
    const char *last = (const char *)sorted->keys.data + (sorted->n - 1) * nbytes;
    kr_work_copy(w, &sorted->lowest, sorted->keys.data, nbytes);
    kr_work_copy(w, &sorted->highest, last, nbytes);
    kr_work_sync(w);
}

/* Fills build->is_unique, lowest and highest, and what the order's counters found. Waits for the stream once.
 */
static void look_at_keys(kr_work *w, const kr_build *build, kr_sorted *sorted, column_order *order)
{
    const uint32_t key_bits = kr_type_key_bits(build->keys.type);
    uint64_t *counter = kr_work_counters(w, 1), repeats = 0;
    const repeats_params params = {
        .keys = sorted->keys.data, .repeats = counter, .n = sorted->n, .key_bits = key_bits};
    if (sorted->n > 1)
        kr_work_run(w, &sorted_repeats, &params, (sorted->n - 2) / REPEATS_TILE + 1);
    kr_work_copy(w, &repeats, counter, sizeof repeats);
    if (order->counters)
        kr_work_copy(w, order->found, order->counters, sizeof order->found);
    if (sorted->rows.data)
        kr_work_copy(w, &sorted->first_row, sorted->rows.data, sizeof sorted->first_row);
    kr_sorted_read_ends(w, key_bits, sorted);
    kr_work_give(w, counter);
    if (build->is_unique)
        *build->is_unique = kr_work_goes_on(w) && !repeats;
}

static kr_sorted build_sorted(kr_work *w, const kr_build *build, const kr_coded *codes, int clustered)
{
    column_order order;
    kr_sorted made = sort_codes(w, build, codes, clustered, &order);
    if (made.n)
        look_at_keys(w, build, &made, &order);
    kr_work_give(w, order.counters);
    if (clustered && made.rows.data && kr_work_goes_on(w) && is_clustered(&order)) {
        kr_work_give(w, made.rows.data);
        made.rows = (kr_buffer){0};
    }
    kr_work_lap(w, "sort");
    return made;
}

kr_sorted kr_sorted_build(kr_work *w, const kr_build *build)
{
    const kr_coded codes = kr_sorted_codes(w, build);
    return build_sorted(w, build, &codes, 0);
}

kr_sorted kr_sorted_build_clustered(kr_work *w, const kr_build *build)
{
    const kr_coded codes = kr_sorted_codes(w, build);
    return build_sorted(w, build, &codes, 1);
}

kr_sorted kr_sorted_build_codes(kr_work *w, const kr_build *build, const kr_coded *codes)
{
    return build_sorted(w, build, codes, 0);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Follows kr_sorted_rows_make and encode_keys allocation by allocation. */
uint64_t kr_sorted_estimate_codes(const kr_shape *shape, uint64_t *peak_nbytes)
{
    static const uint32_t given; /* only whether rows_in is NULL matters */
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t), counters = 16;
    const kr_sort flags = {.key_bits = 32, .end_bit = 1, .n = n};
    const kr_sort order = {.key_bits = 32, .end_bit = 32, .n = n, .rows_in = &given};
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
    if (kept || (shape->type != KR_U32 && shape->type != KR_U64))
        kept += n * (kr_type_key_bits(shape->type) / 8);
    *peak_nbytes = larger(peak, kept);
    return kept;
}

/* The same of kr_sorted_sort. */
void kr_sorted_estimate(const kr_shape *shape, kr_need *estimate)
{
    static const uint32_t given;
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t), found = 64;
    const uint32_t bits = kr_type_key_bits(shape->type);
    const uint64_t keys = n * (bits / 8);
    const kr_sort sort = {.key_bits = bits,
                          .end_bit = kr_type_significant_bits(shape->type),
                          .n = n,
                          .rows_in = shape->has_validity || shape->has_row_ids ? &given : NULL};
    uint64_t peak = 0;
    const uint64_t kept = kr_sorted_estimate_codes(shape, &peak);
    estimate->footprint_nbytes = keys + ids;
    estimate->peak_nbytes =
        larger(peak, kept + keys + ids + found + kr_device_sort_temp(shape->device, &sort));
}
