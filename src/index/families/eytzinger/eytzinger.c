/* Kind `eytzinger`: its options and description. eytzinger_width.c has its operations. */
#include "index/families/eytzinger/eytzinger.h"

static const kr_option options[EYTZINGER_OPTIONS] = {
    KR_SEARCH_OPTION_ROWS,
    [EYTZINGER_OPTION_K] =
        {"k", KR_OPTION_INTEGER, NULL, 2, 33, 9,
         "fan-out of the search tree: 2 is binary (EO+BS); above, nodes of k - 1 keys (EO+KS)"},
    [EYTZINGER_OPTION_SCAN] = {"scan", KR_OPTION_CHOICE, "levels|ranks", 0, 1, EYTZINGER_SCAN_LEVELS,
                               "how sums, minima and maxima read matches: level by level, or in key "
                               "order"},
    [EYTZINGER_OPTION_STOP] =
        {"stop", KR_OPTION_CHOICE, "leaf|hit", 0, 1, EYTZINGER_STOP_LEAF,
         "where point lookups end: in a leaf, or (hit) at the first node that has the key, "
         "as in the paper's 3.4, while no key is there twice"},
};

static kr_status settle(kr_spec *spec, kr_error *err)
{
    return kr_search_settle(spec, spec->options[EYTZINGER_OPTION_K], err);
}

static const kr_family family = {
    .probes = {.parts_from = {{{22, 24}, {24, 22}, {26, 21}}, {{0, 23}, {18, 22}, {26, 21}}},
               .launches = kr_search_launches},
    .u32 = &eytzinger_ops_u32,
    .u64 = &eytzinger_ops_u64,
    .keeps_on_host = kr_search_keeps_on_host,
};

extern const kr_kind kr_kind_eytzinger;
const kr_kind kr_kind_eytzinger = {
    .name = "eytzinger",
    .summary = "keys with row ids as a search tree without pointers; nothing is kept beside them",
    .source = "Henneberg and Schuhknecht, \"Is Binary Search Really All You Need?\", 3.2 (EO+BS), "
              "3.4 (EO+KS), 3.5, 4, 5.7",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_UPDATE | KR_CAN_NEAREST,
    .n_options = EYTZINGER_OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};
