/* Lookups of nearest keys: what the caller asks for, as programs see it (index/kinds/nearest.h). */
#ifndef KEYRAY_INDEX_LOOKUP_NEAREST_H
#define KEYRAY_INDEX_LOOKUP_NEAREST_H

#include "base/util/error.h"
#include "index/kinds/nearest.h"

/* Checks the options, NULL: defaults, for keys of this type. are_texts: the keys are codes of texts, which
 * have an order and no distances. */
kr_status kr_nearby_make(kr_type type, int are_texts, const kr_nearest_options *options, kr_nearby *near,
                         kr_error *err);

#endif
