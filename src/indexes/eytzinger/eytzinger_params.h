/* What the searches of kind `eytzinger` are given. */
#ifndef KEYRAY_INDEXES_EYTZINGER_EYTZINGER_PARAMS_H
#define KEYRAY_INDEXES_EYTZINGER_EYTZINGER_PARAMS_H

#include "core/batch.h"
#include "indexes/eytzinger/eytzinger_tree.h"
#include "program/tile.h"
#include "search/entries.h"

typedef struct eytzinger_params {
    kr_batch batch;
    kr_put put;
    kr_tile tile;
    kr_entries entries;
    eytzinger_tree tree;
} eytzinger_params;
kr_assert_size(eytzinger_params, 176);

#endif
