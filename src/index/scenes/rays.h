/* What kinds that cast rays share: options of the scene and of keys as coordinates, and the tracer. */
#ifndef KEYRAY_INDEX_SCENES_RAYS_H
#define KEYRAY_INDEX_SCENES_RAYS_H

#include "base/tracers/tracer.h"
#include "index/kinds/family.h"

/* Choices of the options bvh=fast|balanced|trace and compact=auto|on|off. */
enum { KR_BVH_FAST, KR_BVH_BALANCED, KR_BVH_TRACE };
enum { KR_COMPACT_AUTO, KR_COMPACT_ON, KR_COMPACT_OFF };

#define KR_RAYS_OPTION_BVH                                                             \
    {                                                                                  \
        "bvh", KR_OPTION_CHOICE, "fast|balanced|trace", 0, 2, KR_BVH_FAST,             \
            "OptiX's preference: a fast build, none, or fast rays (Embree ignores it)" \
    }
/* `more`: what else the help says. */
#define KR_RAYS_OPTION_COMPACT(more)                                                          \
    {                                                                                         \
        "compact", KR_OPTION_CHOICE, "auto|on|off", 0, 2, KR_COMPACT_AUTO,                    \
            "compact the scene after the build; auto: if that saves a sixteenth or more" more \
    }

/* The KR_SCENE_* flags of both options. */
uint32_t kr_rays_scene_flags(int64_t bvh, int64_t compact);
/* Whether to compact a scene that was built with these flags. Compacting takes time, so auto does it only if
 * it saves a sixteenth or more. */
int kr_rays_wants_compact(int64_t compact, const kr_scene *scene);

/* Checks of an option bits=X:Y:Z: x has at least one bit; x, y and z together hold every code of the type. */
kr_status kr_rays_check_x(const kr_spec *spec, int64_t bits, kr_error *err);
kr_status kr_rays_check_bits(const kr_spec *spec, int64_t bits, uint32_t type, kr_error *err);

/* runs_on and tracer of kr_family_ops. */
kr_status kr_rays_runs_on(kr_device *device, const kr_spec *spec, kr_error *err);
void kr_rays_tracer(kr_device *device, char text[64]);

#endif
