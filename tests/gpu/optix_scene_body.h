/* Ray programs of the tests of scenes: n rays into a scene, each either traced or visiting. */
#ifndef KEYRAY_TESTS_GPU_OPTIX_SCENE_BODY_H
#define KEYRAY_TESTS_GPU_OPTIX_SCENE_BODY_H

#define KR_RAY_PARAMS ray_params
#define KR_RAY_STATE ray_state
#define KR_RAY_PAYLOAD 4
#define KR_RAY_MODULE optix_scene_ray

typedef struct ray_params ray_params;
#include "base/tracers/ray.h"

enum { ASK_CLOSEST, ASK_FIRST, ASK_ALL, ASK_NEAREST, ASK_ANY };

/* What one ray found. Tracing: the primitive and its side. Visiting: how many primitives were met, the sum of
 * their numbers, and the one that was accepted last. */
typedef struct ray_answer {
    uint32_t primitive, back, met, sum;
} ray_answer;

struct ray_params {
    kr_scene_view scene;
    const kr_ray *rays;
    ray_answer *answers;
    const float *boxes; /* as in the mesh, of all parts */
    uint32_t ask;       /* ASK_* */
    uint32_t only;      /* visiting: other primitives are ignored; KR_NO_PRIMITIVE: none is */
    uint64_t n_rays;    /* element i casts ray i % n_rays */
    uint32_t *times;    /* visiting: how often each primitive was met, by a single ray; NULL: not wanted */
};
kr_assert_size(ray_params, 80);

typedef struct ray_state {
    ray_answer answer;
    uint64_t i;
} ray_state;

KR_BODY uint32_t scene_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    const ray_params *p = (const ray_params *)params;
    ++payload[2];
    payload[3] += primitive;
    if (p->times)
        ++p->times[primitive];
    if (p->ask == ASK_ALL || (p->only != KR_NO_PRIMITIVE && p->only != primitive))
        return KR_HIT_IGNORE;
    payload[0] = primitive;
    payload[1] = (uint32_t)back;
    return p->ask == ASK_ANY ? KR_HIT_STOP : KR_HIT_ACCEPT;
}

KR_BODY void scene_box(const void *params, uint32_t primitive, float box[6])
{
    const ray_params *p = (const ray_params *)params;
    for (int i = 0; i < 6; ++i)
        box[i] = p->boxes[(uint64_t)primitive * 6 + (uint64_t)i];
}

KR_BODY int scene_begin(const ray_params *p, uint64_t i, ray_state *s)
{
    (void)p;
    s->i = i;
    s->answer.primitive = KR_NO_PRIMITIVE;
    s->answer.back = s->answer.met = s->answer.sum = 0;
    return 1;
}

KR_BODY int scene_step(const ray_params *p, ray_state *s)
{
    const kr_ray ray = p->rays[s->i % p->n_rays];
    if (p->ask == ASK_CLOSEST || p->ask == ASK_FIRST) {
        const kr_met met = kr_trace(&p->scene, &ray,
                                    p->ask == ASK_CLOSEST ? KR_TRACE_CLOSEST : KR_TRACE_FIRST, scene_box, p);
        s->answer.primitive = met.primitive;
        s->answer.back = met.back;
    } else {
        uint32_t payload[KR_RAY_PAYLOAD] = {KR_NO_PRIMITIVE, 0, 0, 0};
        kr_visit(&p->scene, &ray, payload, scene_hit, scene_box, p);
        s->answer.primitive = payload[0];
        s->answer.back = payload[1];
        s->answer.met = payload[2];
        s->answer.sum = payload[3];
    }
    return 0;
}

KR_BODY void scene_end(const ray_params *p, uint64_t i, ray_state *s)
{
    p->answers[i] = s->answer;
}

KR_RAY_PROGRAM(scene_rays, scene_begin, scene_step, scene_end, scene_hit, scene_box);

#endif
