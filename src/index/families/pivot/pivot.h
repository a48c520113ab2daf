/* Kind `pivot`: options, the shape of its levels, and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_H
#define KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_H

#include "index/families/pivot/pivot_params.h"
#include "index/lightweight/search.h"

enum { PIVOT_OPTION_K = KR_SEARCH_OPTIONS, PIVOT_OPTION_LEVELS, PIVOT_OPTIONS };

/* The shape for n keys (below 2^32) and fan-out k, of which `levels` levels are kept; 0: all. */
void pivot_shape_of(uint64_t n, uint32_t k, uint32_t levels, pivot_shape *shape);

extern const kr_family_ops pivot_ops_u32, pivot_ops_u64;

#endif
