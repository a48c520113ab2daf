/* The parameters of lookups in a table. */
#ifndef KEYRAY_INDEXES_HASH_HASH_FIND_PARAMS_H
#define KEYRAY_INDEXES_HASH_HASH_FIND_PARAMS_H

#include "indexes/hash/hash_view.h"
#include "kinds/batch.h"
#include "program/launch.h"

typedef struct table_find_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
    kr_hashed_view table;
} table_find_params;
kr_assert_size(table_find_params, 200);

#endif
