/* Kind `array`: its options and description. array_width.c has its operations. */
#include "index/families/array/array.h"

static const kr_option options[ARRAY_OPTIONS] = {
    KR_SEARCH_OPTION_ROWS,
    [ARRAY_OPTION_K] = {"k", KR_OPTION_INTEGER, NULL, 2, 33, 2,
                        "fan-out of the search: 2 is binary (AO+BS); above, k - 1 pivots per step (AO+KS)"},
};

static kr_status settle(kr_spec *spec, kr_error *err)
{
    const int64_t k = spec->options[ARRAY_OPTION_K];
    if (k > 2 && spec->options[KR_SEARCH_PIN] != KR_PIN_NONE)
        return kr_fail(
            err, KR_ERR_SPEC,
            "array: pin= keeps steps of the binary search and does not go with k=%d; leave one out", (int)k);
    return kr_search_settle(spec, k, err);
}

/* Partitioned lookups never use k-ary search. */
static int launches(const kr_spec *spec)
{
    return kr_search_launches(spec) || spec->options[ARRAY_OPTION_K] > 2;
}

static const kr_family family = {
    .probes = {.parts_from = {{{0, 21}, {18, 20}, {26, 19}, {28, 18}}, {{0, 21}, {20, 20}, {26, 18}}},
               .launches = launches},
    .u32 = &array_ops_u32,
    .u64 = &array_ops_u64,
    .keeps_on_host = kr_search_keeps_on_host,
};

extern const kr_kind kr_kind_array;
const kr_kind kr_kind_array = {
    .name = "array",
    .summary = "sorted keys with row ids, found by binary search; nothing is kept beside them",
    .source = "Henneberg and Schuhknecht, \"Is Binary Search Really All You Need?\", 3.1 (AO+BS), "
              "3.4 (AO+KS), 4",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_UPDATE | KR_CAN_NEAREST,
    .n_options = ARRAY_OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};
