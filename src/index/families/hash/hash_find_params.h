/* The parameters of lookups in a table. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_FIND_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_FIND_PARAMS_H

#include "base/program/launch.h"
#include "index/families/hash/hash_view.h"
#include "index/kinds/batch.h"

typedef struct hash_find_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
    hash_view table;
} hash_find_params;
kr_assert_size(hash_find_params, 208);

#endif
