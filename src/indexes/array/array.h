/* Kind `array`: options and the operations per key width. */
#ifndef KEYRAY_INDEXES_ARRAY_ARRAY_H
#define KEYRAY_INDEXES_ARRAY_ARRAY_H

#include "core/family.h"

enum { ARRAY_OPTION_LAYOUT, ARRAY_OPTION_K, ARRAY_OPTIONS };
enum { ARRAY_SOA, ARRAY_AOS };

extern const kr_family_ops array_ops_u32, array_ops_u64;

#endif
