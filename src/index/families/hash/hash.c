/* Kinds `hash` and `chain`: their options and descriptions. hash_width.c has their operations. */
#include "index/families/hash/hash.h"

/* ---- hash -------------------------------------------------------------------------------------- */

static const kr_option hash_options[HASH_OPTIONS] = {
    [HASH_OPTION_LOAD] = {"load", KR_OPTION_DECIMAL, NULL, 500, 950, 800,
                          "keys of a full build for each slot"},
    [HASH_OPTION_PROBING] = {"probing", KR_OPTION_CHOICE, "linear|double", 0, 1, HASH_PROBING_LINEAR,
                             "where a key goes if its bucket is full: near it first, or by double hashing"},
    [HASH_OPTION_GROUP] = {"group", KR_OPTION_CHOICE, "1|2|4|8", 0, 3, 0,
                           "GPU: threads that search for one probe together"},
    [HASH_OPTION_BUILD] = {"build", KR_OPTION_CHOICE, "bulk|insert", 0, 1, 0,
                           "sort by hash, or insert row by row; keys with several rows are always sorted"},
    [HASH_OPTION_SEED] = {"seed", KR_OPTION_INTEGER, NULL, 0, INT32_MAX, 0, "the seed of the hash"},
    [HASH_OPTION_FILTER] =
        {"filter", KR_OPTION_CHOICE, "on|off", 0, 1, HASH_FILTER_ON,
         "what ends a miss: the filter of its bucket, which tells of keys elsewhere; or, as in "
         "WarpCore, a bucket with a slot that never held a key"},
    [HASH_OPTION_PRESET] = {"preset", KR_OPTION_CHOICE, "none|paper", 0, 1, HASH_PRESET_NONE,
                            KR_PRESET_HELP(
                                "paper: those of the table that the papers compare with (RTIndeX, 4.1)")},
};

/* WarpCore with groups of 8 threads; the papers also say load=0.5 (lightweight indexes, 5.1). */
static const kr_preset_value preset_values[] = {
    {HASH_PRESET_PAPER, HASH_OPTION_PROBING, HASH_PROBING_DOUBLE},
    {HASH_PRESET_PAPER, HASH_OPTION_GROUP, 3},
    {HASH_PRESET_PAPER, HASH_OPTION_BUILD, 1},
    {HASH_PRESET_PAPER, HASH_OPTION_FILTER, HASH_FILTER_OFF},
};

static kr_status hash_settle(kr_spec *spec, kr_error *err)
{
    (void)err;
    kr_spec_settle_preset(spec, HASH_OPTION_PRESET, preset_values,
                          sizeof preset_values / sizeof preset_values[0]);
    return KR_OK;
}

static int hash_launches(const kr_spec *spec)
{
    return spec->options[HASH_OPTION_GROUP] != 0;
}

static const kr_family hash_family = {
    .probes = {.parts_from = {{{24, 24}, {26, 23}}, {{26, 23}}},
               .as_is_on_cpu = 1,
               .launches = hash_launches},
    .u32 = &hash_ops_u32,
    .u64 = &hash_ops_u64,
};

const kr_kind kr_kind_hash = {
    .name = "hash",
    .summary = "a hash table with open addressing, one cache line per bucket; points only",
    .source =
        "compared with in Henneberg and Schuhknecht, \"RTIndeX\", 4.1, and \"Is Binary Search Really All "
        "You Need?\", 5.1; preset=paper: their HT, which is WarpCore",
    .capabilities = KR_CAN_POINT | KR_CAN_UPDATE,
    .n_options = HASH_OPTIONS,
    .options = hash_options,
    .settle = hash_settle,
    .family = &hash_family,
};

/* ---- chain ------------------------------------------------------------------------------------- */

static const kr_option chain_options[CHAIN_OPTIONS] = {
    [CHAIN_OPTION_OCCUPANCY] = {"occupancy", KR_OPTION_DECIMAL, NULL, 500, 2000, 1000,
                                "keys of a full build for each slot of the buckets; the others are linked"},
    [CHAIN_OPTION_SEED] = {"seed", KR_OPTION_INTEGER, NULL, 0, INT32_MAX, 0, "the seed of the hash"},
    [CHAIN_OPTION_GROUP] =
        {"group", KR_OPTION_CHOICE, "1|32", 0, 1, 0,
         "threads of a GPU that search a node together; 32, as in SlabHash: a warp searches "
         "for one after the other of its probes"},
};

static int chain_launches(const kr_spec *spec)
{
    return spec->options[CHAIN_OPTION_GROUP] != 0;
}

static const kr_family chain_family = {
    .probes = {.parts_from = {{{24, 22}}, {{24, 22}, {26, 21}}},
               .as_is_on_cpu = 1,
               .launches = chain_launches},
    .u32 = &chain_ops_u32,
    .u64 = &chain_ops_u64,
};

const kr_kind kr_kind_chain = {
    .name = "chain",
    .summary = "a hash table of buckets with 15 slots and linked nodes behind them; points only",
    .source = "compared with in Henneberg and Schuhknecht, \"Is Binary Search Really All You Need?\", 5.1; "
              "group=32: "
              "as there, SlabHash",
    .capabilities = KR_CAN_POINT | KR_CAN_UPDATE,
    .n_options = CHAIN_OPTIONS,
    .options = chain_options,
    .family = &chain_family,
};
