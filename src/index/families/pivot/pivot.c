/* Kind `pivot`: its options, its description and the shape of its levels. pivot_width.c has its
 * operations. */
#include "index/families/pivot/pivot.h"

#include <string.h>

static const kr_option options[PIVOT_OPTIONS] = {
    KR_SEARCH_OPTION_ROWS,
    [PIVOT_OPTION_K] =
        {"k", KR_OPTION_INTEGER, NULL, 2, 33, 17,
         "fan-out: a node has k - 1 pivots side by side; 2 is binary search (AO+PB+BS); batches that a GPU "
         "partitions (from 2^22 probes on, unless probes=as-is) use the pivots of k=9 only"},
    [PIVOT_OPTION_LEVELS] =
        {"levels", KR_OPTION_INTEGER, NULL, 0, PIVOT_LEVELS, 0,
         "levels of pivots kept, from the top; 0: all; batches that a GPU partitions use no others"},
};

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

void pivot_shape_of(uint64_t n, uint32_t k, uint32_t levels, pivot_shape *shape)
{
    uint64_t nodes[PIVOT_LEVELS];
    uint32_t full = 0, cut, slot = 0;
    memset(shape, 0, sizeof *shape);
    shape->k = k;
    shape->leaf = k == 2 ? 2 : k - 1;
    shape->leaves = 1;
    for (uint64_t below = divide_up(n, shape->leaf); below > 1; below = nodes[full++])
        nodes[full] = divide_up(below, k);
    shape->n_levels = levels && levels < full ? levels : full;
    for (cut = 0; cut < full - shape->n_levels; ++cut)
        shape->leaves *= k;
    for (uint32_t level = shape->n_levels; level-- > 0; slot += (uint32_t)nodes[cut + level] * (k - 1))
        shape->starts[level] = slot;
    shape->n_slots = slot;
}

static kr_status settle(kr_spec *spec, kr_error *err)
{
    return kr_search_settle(spec, spec->options[PIVOT_OPTION_K], err);
}

static const kr_family family = {
    .probes = {.parts_from = {{{0, 22}, {26, 21}}, {{0, 21}}},
               .as_is_on_cpu = 1,
               .launches = kr_search_launches},
    .u32 = &pivot_ops_u32,
    .u64 = &pivot_ops_u64,
    .keeps_on_host = kr_search_keeps_on_host,
};

extern const kr_kind kr_kind_pivot;
const kr_kind kr_kind_pivot = {
    .name = "pivot",
    .summary = "sorted keys with row ids, found through levels of pivots that lie in nodes of k - 1",
    .source = "Henneberg and Schuhknecht, \"Is Binary Search Really All You Need?\", 3.3 "
              "(AO+PB+BS), 3.4 (AO+PB+KS), 3.5, 4.5",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_UPDATE | KR_CAN_NEAREST,
    .n_options = PIVOT_OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};
