/* The parameters of kind `eytzinger`'s searches and updates. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_PARAMS_H

#include "index/families/eytzinger/eytzinger_tree.h"
#include "index/kinds/lookup_program.h"
#include "index/results/params.h"
#include "index/sorted/merge_params.h"

typedef struct eytzinger_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
    kr_entries entries;
    eytzinger_tree tree;
} eytzinger_params;
kr_assert_size(eytzinger_params, 200);

typedef struct eytzinger_sum_params {
    eytzinger_params search;
    reduce_params how;
} eytzinger_sum_params;
kr_assert_size(eytzinger_sum_params, 360);

typedef struct eytzinger_merge_params {
    kr_merge_params merge;
    kr_blocks blocks;
    eytzinger_tree old, merged;
} eytzinger_merge_params;
kr_assert_size(eytzinger_merge_params, 224);

#endif
