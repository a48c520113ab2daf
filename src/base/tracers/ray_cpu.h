/* The CPU executor of ray programs; included by ray.h only. Rays go through two function pointers at the head
 * of the tracer's scene, so that bodies do not depend on the tracer. */
#ifndef KEYRAY_BASE_TRACERS_RAY_CPU_H
#define KEYRAY_BASE_TRACERS_RAY_CPU_H

typedef uint32_t (*kr_hit_function)(const void *params, uint32_t *payload, uint32_t primitive, int back);
typedef void (*kr_box_function)(const void *params, uint32_t primitive, float box[6]);

/* What kr_scene_view.host points to. */
typedef struct kr_host_scene {
    kr_met (*trace)(const kr_scene_view *view, const kr_ray *ray, uint32_t what, kr_box_function box,
                    const void *params);
    void (*visit)(const kr_scene_view *view, const kr_ray *ray, uint32_t *payload, kr_hit_function hit,
                  kr_box_function box, const void *params);
} kr_host_scene;

static inline kr_met kr_trace(const kr_scene_view *view, const kr_ray *ray, uint32_t what,
                              kr_box_function box, const void *params)
{
    return ((const kr_host_scene *)view->host)->trace(view, ray, what, box, params);
}

static inline void kr_visit(const kr_scene_view *view, const kr_ray *ray, uint32_t *payload,
                            kr_hit_function hit, kr_box_function box, const void *params)
{
    ((const kr_host_scene *)view->host)->visit(view, ray, payload, hit, box, params);
}

#if defined(KR_WITH_CUDA)
extern const kr_ray_module KR_W(KR_RAY_MODULE);
#define KR_RAY_MODULE_POINTER &KR_W(KR_RAY_MODULE)
#else
#define KR_RAY_MODULE_POINTER NULL
#endif

/* Probes run one after another: the rays of a probe depend on each other, and the tracer hides its own cache
 * misses. */
#define KR_RAY_PROGRAM_(name, begin, step, end_, hit, box)                              \
    kr_assert_fits(KR_RAY_STATE, 32);                                                   \
    kr_assert_fits(KR_RAY_PARAMS, 4096);                                                \
    static void name##_cpu(const void *block, uint64_t first, uint64_t end, uint64_t n) \
    {                                                                                   \
        const KR_RAY_PARAMS params = *(const KR_RAY_PARAMS *)block;                     \
        (void)n;                                                                        \
        for (uint64_t i = first; i < end; ++i) {                                        \
            KR_RAY_STATE state;                                                         \
            if (begin(&params, i, &state))                                              \
                while (step(&params, &state))                                           \
                    ;                                                                   \
            end_(&params, i, &state);                                                   \
        }                                                                               \
    }                                                                                   \
    extern const kr_ray_program name;                                                   \
    const kr_ray_program name = {                                                       \
        .program = {#name, sizeof(KR_RAY_PARAMS), name##_cpu, NULL, 0, 0},              \
        .module = KR_RAY_MODULE_POINTER,                                                \
        .n_payload = KR_RAY_PAYLOAD,                                                    \
    }

#endif
