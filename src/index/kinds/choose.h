/* The kind behind "best", and estimates. */
#ifndef KEYRAY_INDEX_KINDS_CHOOSE_H
#define KEYRAY_INDEX_KINDS_CHOOSE_H

#include "index/kinds/family.h"
#include "index/kinds/look.h"

/* Parses `text`, resolving "best" with its options for the device (NULL: a GPU): the same kind for every
 * operation and size. *reason, unless `reason` is NULL, becomes the reason
 * (static text). */
kr_status kr_spec_resolve(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                          kr_error *err);
/* The same for an index: KR_ERR_UNSUPPORTED for kinds that make none. */
kr_status kr_choose(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                    kr_error *err);

/* 1: `text` is "best", with or without options, right or wrong. */
int kr_choose_is_open(const char *text);
/* 1: and what it stands for depends on the keys, too. Without a look at them, it is what kr_choose says. */
int kr_choose_looks(const kr_device *device, const char *text);
/* Changes what kr_choose has chosen for `text` to what suits the keys, if that is another kind. `lookups`:
 * how many come before the index is gone, unless the text says it; 0: nobody knows. */
void kr_choose_seen(const kr_device *device, const char *text, const kr_look *look, uint64_t lookups,
                    kr_spec *spec, const char **reason);

/* Another kind that a look may choose, by ordinal, with options under which its estimate holds for all such
 * keys; 0: there are no more. */
int kr_choose_other(const kr_device *device, const char *text, uint32_t ordinal, kr_spec *spec);

/* Estimate of an index including the copies that host columns need. */
kr_status kr_choose_shape(const kr_shape *shape, kr_need *estimate, kr_error *err);

#endif
