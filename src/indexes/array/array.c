/* What kind `array` is; its operations stand in array_width.c. */
#include "indexes/array/array.h"

static const kr_option options[ARRAY_OPTIONS] = {
    [ARRAY_OPTION_LAYOUT] = {"layout", KR_OPTION_CHOICE, "soa|aos", 0, 1, ARRAY_SOA,
                             "keys and row ids in two arrays, or side by side in one"},
    [ARRAY_OPTION_K] = {"k", KR_OPTION_INTEGER, NULL, 2, 33, 2,
                        "fan-out of the search: 2 is binary (AO+BS); above, k - 1 pivots a step (AO+KS)"},
};

extern const kr_family kr_family_array;
const kr_family kr_family_array = {
    .info = {.name = "array",
             .summary = "sorted keys with row ids, found by binary search; nothing is kept beside them",
             .source = "Henneberg and Schuhknecht, \"Is Binary Search Really All You Need?\", 3.1 (AO+BS), "
                       "3.4 (AO+KS), 4.4",
             .capabilities = KR_CAN_POINT | KR_CAN_RANGE,
             .n_options = ARRAY_OPTIONS,
             .options = options},
    .u32 = &array_ops_u32,
    .u64 = &array_ops_u64,
};
