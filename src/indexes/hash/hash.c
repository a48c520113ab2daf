/* Kind `hash`: its options and description. hash_width.c has its operations. */
#include "indexes/hash/hash.h"

static const kr_option options[HASH_OPTIONS] = {
    [HASH_OPTION_LOAD] = {"load", KR_OPTION_DECIMAL, NULL, 500, 950, 800,
                          "keys of a full build for each slot"},
    [HASH_OPTION_PROBING] = {"probing", KR_OPTION_CHOICE, "linear|double", 0, 1, HASH_PROBING_LINEAR,
                             "where a key goes if its bucket is full: near it first, or by double hashing"},
    [HASH_OPTION_GROUP] = {"group", KR_OPTION_CHOICE, "1|2|4|8", 0, 3, 0,
                           "GPU: threads that search for one probe together"},
    [HASH_OPTION_BUILD] = {"build", KR_OPTION_CHOICE, "bulk|insert", 0, 1, 0,
                           "sort by hash, or insert row by row; keys with several rows are always sorted"},
    [HASH_OPTION_SEED] = {"seed", KR_OPTION_INTEGER, NULL, 0, INT32_MAX, 0, "the seed of the hash"},
};

static int launches(const kr_spec *spec)
{
    return spec->options[HASH_OPTION_GROUP] != 0;
}

static const kr_family family = {
    .probes = {.parts_from = {{{24, 24}, {26, 23}}, {{26, 23}}}, .as_is_on_cpu = 1, .launches = launches},
    .u32 = &hash_ops_u32,
    .u64 = &hash_ops_u64,
};

extern const kr_kind kr_kind_hash;
const kr_kind kr_kind_hash = {
    .name = "hash",
    .summary = "a hash table with open addressing, one cache line per bucket; points only",
    .source =
        "compared with in Henneberg and Schuhknecht, \"RTIndeX\", 4.1, and \"Is Binary Search Really All "
        "You Need?\", 5.1",
    .capabilities = KR_CAN_POINT | KR_CAN_UPDATE,
    .n_options = HASH_OPTIONS,
    .options = options,
    .family = &family,
};
