/* The programs of the searches for points that end where a node holds the key. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_STOP_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_STOP_SIMD_WIDTH_BODY_H

#include "index/families/eytzinger/eytzinger_search.h"

EYTZINGER_PROGRAMS(eytzinger_stop, 1);

#endif
