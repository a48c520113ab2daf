#include "kinds/choose.h"

#include <string.h>

/* The decision tree of Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 6.1, corrected by
 * measurements (docs/performance-lightweight.md, docs/lightweight-claims.md). With batches partitioned by the
 * index, the plain sorted array is the fastest on a GPU, where the paper recommends three kinds. A CPU gains
 * from comparing all keys of a node at once. */
static const struct choice {
    const char *spec, *reason;
} for_gpu = {"array",
             "on a GPU the sorted array is fastest, as batches are partitioned by the index, and it needs "
             "no other structure"},
  for_cpu = {"pivot", "a CPU compares all pivots of a node at once, and a search has few cache misses"};

kr_status kr_choose(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                    kr_error *err)
{
    const int best = text && strcmp(text, "best") == 0;
    const struct choice *choice = device && device->ops->is_host ? &for_cpu : &for_gpu;
    if (reason)
        *reason = best ? choice->reason : "asked for by name";
    const kr_status status = kr_spec_parse(best ? choice->spec : text, spec, err);
    if (status == KR_OK && !spec->kind->family)
        return kr_fail(err, KR_ERR_UNSUPPORTED, "kind '%s' makes no index of one column; use another kind",
                       spec->kind->name);
    return status;
}

kr_status kr_estimate_shape(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    kr_need family = {0};
    const kr_family_ops *ops = kr_family_ops_of(shape->spec->kind->family, shape->type);
    kr_status status = ops->estimate(shape, &family, err);
    if (status != KR_OK)
        return status;
    family.peak_nbytes += shape->staged_nbytes;
    *estimate = family;
    return KR_OK;
}
