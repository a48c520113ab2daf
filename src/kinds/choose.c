#include "kinds/choose.h"

#include <string.h>

/* The decision tree of Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 6.1, corrected by
 * what was measured (docs/performance-lightweight.md, docs/lightweight-claims.md): batches that are
 * partitioned by the index make the plain sorted array the fastest of all on a GPU, where the paper has three
 * kinds; a CPU gains from nodes that it compares at once. */
static const struct choice {
    const char *spec, *reason;
} for_gpu = {"array",
             "a GPU searches sorted keys fastest: batches are partitioned by the index, and nothing is kept "
             "beside it"},
  for_cpu = {"pivot",
             "a CPU compares all pivots of a node at once, and a search misses the caches a few times only"};

kr_status kr_choose(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                    kr_error *err)
{
    const int best = text && strcmp(text, "best") == 0;
    const struct choice *choice = device && device->ops->is_host ? &for_cpu : &for_gpu;
    if (reason)
        *reason = best ? choice->reason : "asked for by name";
    return kr_spec_parse(best ? choice->spec : text, spec, err);
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
