/* The kind behind "best", and estimates. */
#ifndef KEYRAY_INDEX_KINDS_CHOOSE_H
#define KEYRAY_INDEX_KINDS_CHOOSE_H

#include "index/kinds/family.h"

/* Parses `text`, resolving "best" with its options updates=on|off and ranges=on|off for the device (NULL: a
 * GPU): the same kind for every operation and size. *reason, unless `reason` is NULL, becomes the reason
 * (static text). */
kr_status kr_spec_resolve(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                          kr_error *err);
/* The same for an index: KR_ERR_UNSUPPORTED for kinds that make none. */
kr_status kr_choose(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                    kr_error *err);

/* Estimate of an index including the copies that host columns need. */
kr_status kr_choose_shape(const kr_shape *shape, kr_need *estimate, kr_error *err);

#endif
