/* Kind `eytzinger`: options and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_H

#include "index/lightweight/search.h"

enum {
    EYTZINGER_OPTION_K = KR_SEARCH_OPTIONS,
    EYTZINGER_OPTION_SCAN,
    EYTZINGER_OPTION_STOP,
    EYTZINGER_OPTIONS
};
enum { EYTZINGER_SCAN_LEVELS, EYTZINGER_SCAN_RANKS };
enum { EYTZINGER_STOP_LEAF, EYTZINGER_STOP_HIT };

extern const kr_family_ops eytzinger_ops_u32, eytzinger_ops_u64;

#endif
