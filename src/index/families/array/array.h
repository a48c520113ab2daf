/* Kind `array`: options and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_ARRAY_ARRAY_H
#define KEYRAY_INDEX_FAMILIES_ARRAY_ARRAY_H

#include "index/lightweight/search.h"

enum { ARRAY_OPTION_K = KR_SEARCH_OPTIONS, ARRAY_OPTIONS };

extern const kr_family_ops array_ops_u32, array_ops_u64;

#endif
