/* The OptiX programs of ray programs; included by ray.h only, in files that are compiled to PTX. OptiX
 * replaces the calls of _optix_* functions when it compiles the PTX; its device headers would only give their
 * names and operands.
 *
 * A pipeline is made of one program's entries: __raygen__NAME runs the probe; rays end in __anyhit__NAME
 * (visiting) or __closesthit__NAME (tracing), and for boxes begin in __intersection__NAME. Tracing rays carry
 * the flag that disables any-hit programs; __intersection__ recognises them by it. */
#ifndef KEYRAY_BASE_TRACERS_OPTIX_RAY_OPTIX_H
#define KEYRAY_BASE_TRACERS_OPTIX_RAY_OPTIX_H

#include "base/tracers/optix/optix_abi.h"

enum { KR_OPTIX_MOST_PAYLOAD = 32 };

/* ---- What OptiX tells a program ------------------------------------------------------------ */

#define KR_OPTIX_READ(type, constraint, name)                              \
    KR_BODY type kr_optix_##name(void)                                     \
    {                                                                      \
        type value;                                                        \
        asm("call (%0), _optix_" #name ", ();" : "=" constraint(value) :); \
        return value;                                                      \
    }

KR_OPTIX_READ(uint32_t, "r", get_launch_index_x)
KR_OPTIX_READ(uint32_t, "r", read_primitive_idx)
KR_OPTIX_READ(uint32_t, "r", read_instance_idx)
KR_OPTIX_READ(uint32_t, "r", get_hit_kind)
KR_OPTIX_READ(uint32_t, "r", get_ray_flags)
KR_OPTIX_READ(float, "f", get_ray_tmin)
KR_OPTIX_READ(float, "f", get_ray_tmax)
KR_OPTIX_READ(float, "f", get_world_ray_origin_x)
KR_OPTIX_READ(float, "f", get_world_ray_origin_y)
KR_OPTIX_READ(float, "f", get_world_ray_origin_z)
KR_OPTIX_READ(float, "f", get_world_ray_direction_x)
KR_OPTIX_READ(float, "f", get_world_ray_direction_y)
KR_OPTIX_READ(float, "f", get_world_ray_direction_z)
#undef KR_OPTIX_READ

KR_BODY uint32_t kr_optix_get_payload(uint32_t word)
{
    uint32_t value;
    asm volatile("call (%0), _optix_get_payload, (%1);" : "=r"(value) : "r"(word) :);
    return value;
}

KR_BODY void kr_optix_set_payload(uint32_t word, uint32_t value)
{
    asm volatile("call _optix_set_payload, (%0, %1);" : : "r"(word), "r"(value) :);
}

/* These two end the any-hit program. */
KR_BODY void kr_optix_ignore(void)
{
    asm volatile("call _optix_ignore_intersection, ();");
}

KR_BODY void kr_optix_terminate(void)
{
    asm volatile("call _optix_terminate_ray, ();");
}

KR_BODY int kr_optix_report(float at, uint32_t hit_kind)
{
    int taken;
    asm volatile("call (%0), _optix_report_intersection_0, (%1, %2);"
                 : "=r"(taken)
                 : "f"(at), "r"(hit_kind)
                 :);
    return taken;
}

/* ---- Rays ---------------------------------------------------------------------------------- */

/* The call always has 32 words of payload, of which OptiX keeps the first n_payload. Operands: 0-31 payload
 * after the call; 32 payload type; 33 traversable; 34-36 origin; 37-39 direction; 40, 41 ends; 42 time; 43
 * mask; 44 flags; 45-47 offset, stride and miss number in the shader binding table; 48 words; 49-80
 * payload. */
#define KR_OPTIX_OUT(p, i) "=r"(p[i]), "=r"(p[i + 1]), "=r"(p[i + 2]), "=r"(p[i + 3])
#define KR_OPTIX_IN(p, i) "r"(p[i]), "r"(p[i + 1]), "r"(p[i + 2]), "r"(p[i + 3])

KR_BODY void kr_optix_cast(uint64_t traversable, const kr_ray *ray, uint32_t flags, uint32_t *p,
                           uint32_t n_payload)
{
    const uint32_t none = 0, all = 0xFF;
    const float time = 0;
    asm volatile("call "
                 "(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31), "
                 "_optix_trace_typed_32, "
                 "(%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
                 "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, "
                 "%65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80);"
                 : KR_OPTIX_OUT(p, 0), KR_OPTIX_OUT(p, 4), KR_OPTIX_OUT(p, 8), KR_OPTIX_OUT(p, 12),
                   KR_OPTIX_OUT(p, 16), KR_OPTIX_OUT(p, 20), KR_OPTIX_OUT(p, 24), KR_OPTIX_OUT(p, 28)
                 : "r"(none), "l"(traversable), "f"(ray->from[0]), "f"(ray->from[1]), "f"(ray->from[2]),
                   "f"(ray->along[0]), "f"(ray->along[1]), "f"(ray->along[2]), "f"(ray->low), "f"(ray->high),
                   "f"(time), "r"(all), "r"(flags), "r"(none), "r"(none), "r"(none), "r"(n_payload),
                   KR_OPTIX_IN(p, 0), KR_OPTIX_IN(p, 4), KR_OPTIX_IN(p, 8), KR_OPTIX_IN(p, 12),
                   KR_OPTIX_IN(p, 16), KR_OPTIX_IN(p, 20), KR_OPTIX_IN(p, 24), KR_OPTIX_IN(p, 28)
                 :);
}

KR_BODY kr_met kr_optix_trace(const kr_scene_view *view, const kr_ray *ray, uint32_t what)
{
    uint32_t payload[KR_OPTIX_MOST_PAYLOAD] = {KR_NO_PRIMITIVE, view->first};
    kr_optix_cast(view->handle, ray,
                  KR_OPTIX_RAY_NO_ANYHIT | (what == KR_TRACE_FIRST ? KR_OPTIX_RAY_FIRST_HIT : 0), payload, 2);
    const kr_met met = {payload[0], payload[0] == KR_NO_PRIMITIVE ? 0 : payload[1]};
    return met;
}

KR_BODY void kr_optix_visit(const kr_scene_view *view, const kr_ray *ray, uint32_t *words, uint32_t n_words)
{
    uint32_t payload[KR_OPTIX_MOST_PAYLOAD] = {0};
#pragma unroll
    for (uint32_t i = 0; i < n_words; ++i)
        payload[i] = words[i];
    kr_optix_cast(view->handle, ray, KR_OPTIX_RAY_NO_CLOSESTHIT, payload, n_words);
#pragma unroll
    for (uint32_t i = 0; i < n_words; ++i)
        words[i] = payload[i];
}

/* Macros, because the functions given to them are called from other entries and must not be passed on. */
#define kr_trace(view, ray, what, box, params) kr_optix_trace(view, ray, what)
#define kr_visit(view, ray, payload, hit, box, params) kr_optix_visit(view, ray, payload, KR_RAY_PAYLOAD)

/* ---- Entries ------------------------------------------------------------------------------- */

/* The number of the primitive that is met. Outside of a group the instance reads 0. Tracing rays carry the
 * number of their scene's first primitive in payload 1 until they meet one. */
KR_BODY uint32_t kr_optix_primitive(const kr_scene_view *scene, int traces)
{
    const uint32_t first = traces ? kr_optix_get_payload(1) : 0;
    return first + (scene->part ? kr_optix_read_instance_idx() * scene->part : 0) +
           kr_optix_read_primitive_idx();
}

/* Cuts the ray's interval down to one axis of a box. A ray along the axis' planes has no crossings. */
KR_BODY void kr_optix_slab(float from, float along, float low, float high, float *enter, float *leave)
{
    if (along == 0) {
        if (from < low || from > high)
            *leave = -1, *enter = 0;
        return;
    }
    const float one = (low - from) / along, other = (high - from) / along;
    *enter = fmaxf(*enter, fminf(one, other));
    *leave = fminf(*leave, fmaxf(one, other));
}

/* 1 and where the ray enters the box, 0 if it misses it. */
KR_BODY int kr_optix_enter(const float box[6], float *at)
{
    float enter = kr_optix_get_ray_tmin(), leave = kr_optix_get_ray_tmax();
    kr_optix_slab(kr_optix_get_world_ray_origin_x(), kr_optix_get_world_ray_direction_x(), box[0], box[3],
                  &enter, &leave);
    kr_optix_slab(kr_optix_get_world_ray_origin_y(), kr_optix_get_world_ray_direction_y(), box[1], box[4],
                  &enter, &leave);
    kr_optix_slab(kr_optix_get_world_ray_origin_z(), kr_optix_get_world_ray_direction_z(), box[2], box[5],
                  &enter, &leave);
    *at = enter;
    return enter <= leave;
}

#if defined(KR_RAY_PARAMS)

/* What the host gives a launch: the number of the first element, the number after the last, and the parameter
 * block, whose type is not complete yet. pipeline.c knows the variable by its name. */
extern "C" {
__constant__ uint64_t kr_launch[KR_OPTIX_LAUNCH_NBYTES / sizeof(uint64_t)];
}
#define KR_OPTIX_PARAMS ((const KR_RAY_PARAMS *)(kr_launch + 2))

#define KR_OPTIX_UNROLL _Pragma("unroll")

/* Boxes call `hit` before they report anything, and report its result as the kind of the hit. */
#define KR_RAY_PROGRAM_(name, begin, step, end, hit, box)                                        \
    kr_assert_fits(KR_RAY_STATE, 32);                                                            \
    kr_assert_fits(KR_RAY_PARAMS, 4096);                                                         \
    static_assert(KR_RAY_PAYLOAD >= 2 && KR_RAY_PAYLOAD <= 8, "words of payload");               \
    extern "C" __global__ void __raygen__##name(void)                                            \
    {                                                                                            \
        const uint64_t i = kr_launch[0] + kr_optix_get_launch_index_x();                         \
        KR_RAY_STATE state;                                                                      \
        if (i >= kr_launch[1])                                                                   \
            return;                                                                              \
        if (begin(KR_OPTIX_PARAMS, i, &state))                                                   \
            while (step(KR_OPTIX_PARAMS, &state))                                                \
                ;                                                                                \
        end(KR_OPTIX_PARAMS, i, &state);                                                         \
    }                                                                                            \
    extern "C" __global__ void __closesthit__##name(void)                                        \
    {                                                                                            \
        kr_optix_set_payload(0, kr_optix_primitive(&KR_OPTIX_PARAMS->scene, 1));                 \
        kr_optix_set_payload(1, kr_optix_get_hit_kind() == KR_OPTIX_HIT_BACK);                   \
    }                                                                                            \
    KR_BODY uint32_t name##_ask(int back)                                                        \
    {                                                                                            \
        uint32_t payload[KR_RAY_PAYLOAD];                                                        \
        KR_OPTIX_UNROLL for (uint32_t word = 0; word < KR_RAY_PAYLOAD; ++word) payload[word] =   \
            kr_optix_get_payload(word);                                                          \
        const uint32_t what =                                                                    \
            hit(KR_OPTIX_PARAMS, payload, kr_optix_primitive(&KR_OPTIX_PARAMS->scene, 0), back); \
        KR_OPTIX_UNROLL for (uint32_t word = 0; word < KR_RAY_PAYLOAD; ++word)                   \
            kr_optix_set_payload(word, payload[word]);                                           \
        return what;                                                                             \
    }                                                                                            \
    extern "C" __global__ void __anyhit__##name(void)                                            \
    {                                                                                            \
        const uint32_t what = name##_ask(kr_optix_get_hit_kind() == KR_OPTIX_HIT_BACK);          \
        if (what == KR_HIT_IGNORE)                                                               \
            kr_optix_ignore();                                                                   \
        else if (what == KR_HIT_STOP)                                                            \
            kr_optix_terminate();                                                                \
    }                                                                                            \
    extern "C" __global__ void __anyhit__##name##_box(void)                                      \
    {                                                                                            \
        if (kr_optix_get_hit_kind() == KR_HIT_STOP)                                              \
            kr_optix_terminate();                                                                \
    }                                                                                            \
    extern "C" __global__ void __intersection__##name(void)                                      \
    {                                                                                            \
        const uint32_t visits = !(kr_optix_get_ray_flags() & KR_OPTIX_RAY_NO_ANYHIT);            \
        float corners[6], at;                                                                    \
        box(KR_OPTIX_PARAMS, kr_optix_primitive(&KR_OPTIX_PARAMS->scene, !visits), corners);     \
        if (!kr_optix_enter(corners, &at))                                                       \
            return;                                                                              \
        const uint32_t what = visits ? name##_ask(0) : KR_HIT_ACCEPT;                            \
        if (what != KR_HIT_IGNORE)                                                               \
            kr_optix_report(at, what);                                                           \
    }                                                                                            \
    static_assert(1, "")

#endif

#endif
