/* Kinds `hash` and `chain`: options and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_H

#include "index/kinds/family.h"

enum {
    HASH_OPTION_LOAD,
    HASH_OPTION_PROBING,
    HASH_OPTION_GROUP,
    HASH_OPTION_BUILD,
    HASH_OPTION_SEED,
    HASH_OPTION_FILTER,
    HASH_OPTION_PRESET,
    HASH_OPTIONS
};
enum { HASH_PROBING_LINEAR, HASH_PROBING_DOUBLE };
enum { HASH_FILTER_ON, HASH_FILTER_OFF };
enum { HASH_PRESET_NONE, HASH_PRESET_PAPER };
enum { CHAIN_OPTION_OCCUPANCY, CHAIN_OPTION_SEED, CHAIN_OPTION_GROUP, CHAIN_OPTIONS };

extern const kr_family_ops hash_ops_u32, hash_ops_u64, chain_ops_u32, chain_ops_u64;
extern const kr_kind kr_kind_hash, kr_kind_chain;

#endif
