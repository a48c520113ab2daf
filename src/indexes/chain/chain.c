/* Kind `chain`: its options and description. chain_width.c has its operations. */
#include "indexes/chain/chain.h"

static const kr_option options[CHAIN_OPTIONS] = {
    [CHAIN_OPTION_OCCUPANCY] = {"occupancy", KR_OPTION_DECIMAL, NULL, 500, 2000, 1000,
                                "keys of a full build for each slot of the buckets; the others are linked"},
    [CHAIN_OPTION_SEED] = {"seed", KR_OPTION_INTEGER, NULL, 0, INT32_MAX, 0, "the seed of the hash"},
};

static const kr_family family = {
    .probes = {.parts_from = {{{24, 22}}, {{24, 22}, {26, 21}}}, .as_is_on_cpu = 1},
    .u32 = &chain_ops_u32,
    .u64 = &chain_ops_u64,
};

extern const kr_kind kr_kind_chain;
const kr_kind kr_kind_chain = {
    .name = "chain",
    .summary = "a hash table of buckets with 15 slots and linked nodes behind them; points only",
    .source = "compared with in Henneberg and Schuhknecht, \"Is Binary Search Really All You Need?\", 5.1",
    .capabilities = KR_CAN_POINT | KR_CAN_UPDATE,
    .n_options = CHAIN_OPTIONS,
    .options = options,
    .family = &family,
};
