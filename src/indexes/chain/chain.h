/* Kind `chain`: options and the operations per key width. */
#ifndef KEYRAY_INDEXES_CHAIN_CHAIN_H
#define KEYRAY_INDEXES_CHAIN_CHAIN_H

#include "kinds/family.h"

enum { CHAIN_OPTION_OCCUPANCY, CHAIN_OPTION_SEED, CHAIN_OPTIONS };

extern const kr_family_ops chain_ops_u32, chain_ops_u64;

#endif
