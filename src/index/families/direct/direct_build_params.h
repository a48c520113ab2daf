/* The parameters of programs that build, check and read out the bits, and what they find. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_PARAMS_H

#include "base/key/key.h"
#include "index/families/direct/direct_view.h"

typedef struct direct_params {
    direct_view view;
    kr_key *keys;     /* sorted codes, with those that repeat; or the distinct ones */
    kr_key *all;      /* codes of all rows, to be written */
    uint64_t *counts; /* of each block: distinct keys, then those of blocks before; NULL: no key repeats */
    uint64_t *found;  /* DIRECT_FOUND_* */
    uint32_t bits, reserved; /* of parts */
} direct_params;
kr_assert_size(direct_params, 120);

enum {
    DIRECT_FOUND_REST,  /* the largest rest of a code above the lowest, divided by the step */
    DIRECT_FOUND_WRONG, /* when checking: one more than the largest block, start or row that is wrong */
    DIRECT_FOUND
};

#endif
