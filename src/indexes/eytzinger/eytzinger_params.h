/* The parameters of kind `eytzinger`'s searches. */
#ifndef KEYRAY_INDEXES_EYTZINGER_EYTZINGER_PARAMS_H
#define KEYRAY_INDEXES_EYTZINGER_EYTZINGER_PARAMS_H

#include "indexes/eytzinger/eytzinger_tree.h"
#include "kinds/lookup_program.h"
#include "sorted/entries.h"

typedef struct eytzinger_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
    kr_entries entries;
    eytzinger_tree tree;
} eytzinger_params;
kr_assert_size(eytzinger_params, 184);

#endif
