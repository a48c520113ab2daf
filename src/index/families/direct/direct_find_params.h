/* The parameters of lookups. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FIND_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FIND_PARAMS_H

#include "index/families/direct/direct_view.h"
#include "index/kinds/batch.h"

typedef struct direct_find_params {
    kr_batch batch;
    kr_put put;
    direct_view view;
} direct_find_params;
kr_assert_size(direct_find_params, 192);

#endif
