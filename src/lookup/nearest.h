/* Lookups of nearest keys: what the caller asks for, as programs see it (kinds/nearest.h). */
#ifndef KEYRAY_LOOKUP_NEAREST_H
#define KEYRAY_LOOKUP_NEAREST_H

#include "kinds/nearest.h"
#include "util/error.h"

/* Checks the options, NULL: defaults, for keys of this type. */
kr_status kr_nearby_make(kr_type type, const kr_nearest_options *options, kr_nearby *near, kr_error *err);

#endif
