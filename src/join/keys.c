#include "join/keys.h"
#include "base/key/fold.h"
#include "base/key/key.h"

#include <string.h>

kr_assert_fits(char[KR_BY_MOST + 1], KR_FOLD_PARTS);

/* ---- Indexes and memory ---------------------------------------------------------------------- */

void *keyed_take(const keyed *k, uint64_t nbytes, const char *what)
{
    return kr_work_take_or(k->work, nbytes, what, k->help);
}

void keyed_bring(keyed *k, keys_side *side, const kr_column *columns, uint32_t first, uint32_t n,
                 const char *what)
{
    kr_work *w = k->work;
    for (uint32_t j = 0; j < n; ++j) {
        side->n = columns[j].count;
        KR_STEP(w, kr_column_resident_make(w->device, &columns[j], what, w->stream, &side->columns[first + j],
                                           w->err));
    }
}

void keyed_release(keyed *k)
{
    for (uint32_t j = 0; j <= KR_BY_MOST; ++j) {
        kr_column_resident_release(k->work->device, &k->right.columns[j], k->work->stream);
        kr_column_resident_release(k->work->device, &k->left.columns[j], k->work->stream);
    }
}

kr_index *keyed_index(keyed *k, const kr_column *keys, uint32_t used_bits)
{
    kr_work *w = k->work;
    kr_index *index = NULL;
    KR_STEP(w, used_bits ? kr_index_make_narrow(w->device, &k->spec, keys, NULL, used_bits, w->stream, &index,
                                                w->err)
                         : kr_index_make(w->device, &k->spec, keys, NULL, w->stream, &index, w->err));
    kr_work_lap(w, "build");
    if (kr_work_goes_on(w)) {
        const kr_index_info *info = &index->info;
        k->footprint_nbytes =
            info->footprint_nbytes > k->footprint_nbytes ? info->footprint_nbytes : k->footprint_nbytes;
        memcpy(k->tracer, info->tracer, sizeof k->tracer);
    }
    return index;
}

void keyed_locate(keyed *k, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                  uint32_t *out)
{
    kr_work *w = k->work;
    kr_query query;
    if (near)
        kr_query_make_nearest(w, index, probes, near, &query);
    else
        kr_query_make(w, index, probes, NULL, &query);
    kr_query_locate(w, &query, KR_PUT_ROW, out);
}

/* ---- One key of all columns ------------------------------------------------------------------- */

/* Where the parts of a key lie. Values that the right side lacks have no partner, so its range is enough for
 * equality; distances need the range of both sides. Blocks. */
static void find_parts(const keyed *k, kr_fold_part parts[KR_FOLD_PARTS])
{
    uint64_t ends[2 * KR_FOLD_PARTS] = {0};
    uint64_t *counters = kr_work_counters(k->work, 2 * KR_FOLD_PARTS);
    for (uint32_t j = 0; j < k->n; ++j) {
        kr_fold_extent(k->work, &k->right.columns[j].column, KR_PLACE_IN(counters, 2 * j));
        if (j >= k->n_equal)
            kr_fold_extent(k->work, &k->left.columns[j].column, KR_PLACE_IN(counters, 2 * j));
    }
    kr_work_read(k->work, ends, counters, sizeof ends);
    kr_work_give(k->work, counters);
    for (uint32_t j = 0; j < k->n; ++j) {
        const uint64_t lowest = ~ends[2 * j], highest = ends[2 * j + 1];
        parts[j].type = k->right.columns[j].column.type;
        parts[j].lowest = lowest <= highest ? lowest : 0;
        parts[j].span = lowest <= highest ? highest - lowest : 0;
    }
}

static int is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

/* The layout of a key, the first column in its highest bits: 0 if it takes more than 64. Columns that are
 * asked for equality have two numbers more than the range needs, for rows of either side that have no
 * partner. */
static uint32_t place_parts(const keyed *k, kr_fold_part parts[KR_FOLD_PARTS])
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
        bits += kr_fold_bits(j < k->n_equal ? parts[j].span + 2 : parts[j].span);
        if (bits > 64)
            return 0;
    }
    return bits;
}

/* `unlike`: 1 and 2 give rows without a partner a number of their own on each side. */
static kr_column fold(const keyed *k, const keys_side *side, const kr_fold_part parts[KR_FOLD_PARTS],
                      uint32_t bits, uint32_t unlike)
{
    const kr_type type = bits > 32 ? KR_U64 : KR_U32;
    kr_fold_job job = {
        .out = keyed_take(k, side->n * kr_type_width(type), "one key of several columns"),
        .absent = (parts[0].span + unlike) << parts[0].shift,
        .n_parts = k->n,
        .out_type = type,
    };
    for (uint32_t j = 0; j < k->n; ++j) {
        job.parts[j] = kr_fold_part_of(&side->columns[j].column);
        job.parts[j].lowest = parts[j].lowest;
        job.parts[j].span = parts[j].span;
        job.parts[j].shift = parts[j].shift;
    }
    kr_fold_run(k->work, &job, side->n);
    return (kr_column){.type = type, .count = side->n, .data = job.out};
}

keys_folded keys_fold_sides(keyed *k)
{
    kr_fold_part parts[KR_FOLD_PARTS] = {{0}};
    find_parts(k, parts);
    const uint32_t bits = kr_work_goes_on(k->work) ? place_parts(k, parts) : 0;
    if (!bits)
        return (keys_folded){.bits = 0};
    const keys_folded folded = {
        .bits = bits,
        .low_bits = k->n_equal ? parts[k->n_equal - 1].shift : 0,
        .right = fold(k, &k->right, parts, bits, 1),
        .left = fold(k, &k->left, parts, bits, 2),
    };
    kr_work_lap(k->work, "fold");
    return folded;
}
