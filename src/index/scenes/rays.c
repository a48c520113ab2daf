#include "index/scenes/rays.h"

#include <stdio.h>

uint32_t kr_rays_scene_flags(int64_t bvh, int64_t compact)
{
    static const uint32_t prefers[] = {
        [KR_BVH_FAST] = KR_SCENE_FAST_BUILD, [KR_BVH_BALANCED] = 0, [KR_BVH_TRACE] = KR_SCENE_FAST_TRACE};
    return prefers[bvh] | (compact != KR_COMPACT_OFF ? KR_SCENE_COMPACT : 0);
}

int kr_rays_wants_compact(int64_t compact, const kr_scene *scene)
{
    const uint64_t now = scene->footprint_nbytes;
    return compact == KR_COMPACT_ON ||
           (compact == KR_COMPACT_AUTO && scene->compacted_nbytes <= now - now / 16);
}

kr_status kr_rays_check_x(const kr_spec *spec, int64_t bits, kr_error *err)
{
    if (kr_option_triple_part(bits, 0))
        return KR_OK;
    return kr_fail(err, KR_ERR_SPEC,
                   "kind '%s': bits=%u:%u:%u gives x no bit; give x at least 1, e.g. bits=23:23:18",
                   spec->kind->name, kr_option_triple_part(bits, 0), kr_option_triple_part(bits, 1),
                   kr_option_triple_part(bits, 2));
}

kr_status kr_rays_check_bits(const kr_spec *spec, int64_t bits, uint32_t type, kr_error *err)
{
    const uint32_t needed = kr_type_significant_bits(type);
    const uint32_t x = kr_option_triple_part(bits, 0), y = kr_option_triple_part(bits, 1),
                   z = kr_option_triple_part(bits, 2);
    if (x + y + z >= needed)
        return KR_OK;
    return kr_fail(err, KR_ERR_SPEC,
                   "kind '%s': bits=%u:%u:%u are %u bits, but keys have %u; give at least as many bits",
                   spec->kind->name, x, y, z, x + y + z, needed);
}

/* Programs are built for both widths or for none. */
kr_status kr_rays_runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    kr_tracer *tracer;
    (void)spec;
    return kr_tracer_of(device, &tracer, err);
}

void kr_rays_tracer(kr_device *device, char text[64])
{
    kr_device_info info = {0};
    kr_tracer_describe(device, &info);
    snprintf(text, 64, "%s", info.tracer);
}
