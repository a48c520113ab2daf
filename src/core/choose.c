#include "core/choose.h"

#include <stdio.h>
#include <string.h>

kr_status kr_choose(const char *text, kr_operation operation, kr_spec *spec, const char **reason,
                    kr_error *err)
{
    const int best = text && strcmp(text, "best") == 0;
    (void)operation; /* one kind serves all of them so far */
    if (reason)
        *reason = best ? "the only kind so far; it answers points and ranges and is the smallest"
                       : "asked for by name";
    return kr_spec_parse(best ? "array" : text, spec, err);
}

kr_status kr_estimate_shape(const kr_shape *shape, kr_estimate *estimate, kr_error *err)
{
    kr_estimate family = {0};
    const kr_family_ops *ops = kr_family_ops_of(shape->spec->family, shape->type);
    kr_status status = ops->estimate(shape, &family, err);
    if (status != KR_OK)
        return status;
    if (shape->on_host) {
        family.peak_nbytes += shape->count * kr_type_nbytes(shape->type);
        family.peak_nbytes += shape->has_validity ? (shape->count + 15) / 8 : 0;
    }
    *estimate = family;
    return KR_OK;
}

/* Measured: docs/performance.md, "Sorting the batch". Below `few` probes a sort's fixed cost outweighs it;
 * an index that fits the last-level cache answers as fast in any order. */
kr_probe_plan kr_plan_probes(const kr_device *device, const kr_spec *spec, kr_type type,
                             uint64_t footprint_nbytes, uint64_t n_probes)
{
    const uint64_t few = device->ops->is_host ? 1 << 16 : 1 << 20;
    const uint64_t piece = device->ops->is_host ? 1 << 22 : 1 << 24;
    kr_probe_plan plan = {"as-is", "asked for", (uint64_t)1 << 40, 0, 0};
    (void)type;
    switch (spec->common[KR_COMMON_PROBES]) {
    case KR_PROBES_AS_IS: return plan;
    case KR_PROBES_SORTED: return (kr_probe_plan){"sorted", "asked for", (uint64_t)1 << 40, 1, 0};
    default: break;
    }
    if (n_probes < few)
        plan.reason = "too few probes to pay for sorting them";
    else if (footprint_nbytes <= device->l2_nbytes)
        plan.reason = "the index fits the last-level cache";
    else
        plan = (kr_probe_plan){"sorted", "the index exceeds the last-level cache", piece, 1, 0};
    return plan;
}

kr_status kr_explain(kr_device *device, kr_operation operation, const char *spec, const kr_column *keys,
                     uint64_t n_probes, kr_explanation *explanation, kr_error *err)
{
    kr_explanation made = {0};
    kr_spec parsed;
    kr_shape shape;
    const char *reason = NULL;
    if (!device || !explanation)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_explain: device or explanation is NULL");
    if ((unsigned)operation < KR_OP_POINT || (unsigned)operation > KR_OP_JOIN)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_explain: %d is no operation", (int)operation);
    kr_status status = kr_column_check(keys, "keys", err);
    if (status == KR_OK)
        status = kr_choose(spec, operation, &parsed, &reason, err);
    if (status == KR_OK)
        status = kr_shape_make(device, &parsed, keys, 0, &shape, err);
    if (status == KR_OK)
        status = kr_estimate_shape(&shape, &made.estimate, err);
    if (status == KR_OK)
        status = kr_spec_format(&parsed, made.spec, sizeof made.spec, err);
    if (status != KR_OK)
        return status;
    const kr_probe_plan plan =
        kr_plan_probes(device, &parsed, keys->type, made.estimate.footprint_nbytes, n_probes);
    snprintf(made.device, sizeof made.device, "%s", device->name);
    snprintf(made.tracer, sizeof made.tracer, "none");
    snprintf(made.reason, sizeof made.reason, "%s", reason);
    snprintf(made.probe_order, sizeof made.probe_order, "%s: %s", plan.name, plan.reason);
    made.touches_per_probe = kr_family_ops_of(parsed.family, keys->type)->touches(&shape);
    *explanation = made;
    return KR_OK;
}
