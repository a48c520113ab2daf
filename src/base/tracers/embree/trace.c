/* Rays of the CPU executor. */
#include "base/tracers/embree/embree.h"

#include <math.h>
#include <stddef.h>

/* A ray in flight. Embree passes the context, and thus the query that begins with it, to the functions
 * below. */
typedef struct query {
    kr_rtc_context context;
    const kr_scene_view *view;
    kr_hit_function hit; /* NULL for kr_trace: then `standard` applies to all primitives */
    kr_box_function box;
    const void *params;
    uint32_t *payload;
    uint32_t standard;
    kr_met met; /* the last primitive that was not ignored */
} query;

static uint32_t number_of(const query *q, uint32_t primitive, uint32_t instance)
{
    return q->view->first + (q->view->part ? instance * q->view->part + primitive : primitive);
}

static uint32_t judge(query *q, uint32_t primitive, uint32_t back)
{
    const uint32_t verdict = q->hit ? q->hit(q->params, q->payload, primitive, (int)back) : q->standard;
    if (verdict != KR_HIT_IGNORE)
        q->met = (kr_met){primitive, back};
    return verdict;
}

/* ---- Triangles ------------------------------------------------------------------------------ */

/* Called for one ray at a time, so that arrays of one member are the plain structures. */
static void filter(const struct RTCFilterFunctionNArguments *args)
{
    query *q = (query *)args->context;
    struct RTCRay *ray = (struct RTCRay *)args->ray;
    const struct RTCHit *hit = (const struct RTCHit *)args->hit;
    const float along = hit->Ng_x * ray->dir_x + hit->Ng_y * ray->dir_y + hit->Ng_z * ray->dir_z;
    const uint32_t back = along > 0;
    const uint32_t verdict = judge(q, number_of(q, hit->primID, hit->instID[0]), back);
    if (verdict == KR_HIT_IGNORE)
        args->valid[0] = 0;
    else if (verdict == KR_HIT_STOP)
        ray->tfar = -INFINITY;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Where the ray is first inside the box, or a value above ray->tfar. */
static float enter(const struct RTCRay *ray, const float box[6])
{
    const float from[3] = {ray->org_x, ray->org_y, ray->org_z};
    const float along[3] = {ray->dir_x, ray->dir_y, ray->dir_z};
    float low = ray->tnear, high = ray->tfar;
    for (int k = 0; k < 3; ++k) {
        if (along[k] == 0) {
            if (from[k] < box[k] || from[k] > box[3 + k])
                return INFINITY;
            continue;
        }
        const float a = (box[k] - from[k]) / along[k], b = (box[3 + k] - from[k]) / along[k];
        const float near = a < b ? a : b, far = a < b ? b : a;
        low = near > low ? near : low;
        high = far < high ? far : high;
    }
    return low <= high ? low : INFINITY;
}

/* Whether the ray goes on behind a primitive that it enters at t. */
static void meet(query *q, struct RTCRay *ray, uint32_t primitive, float t)
{
    const uint32_t verdict = judge(q, primitive, 0);
    if (verdict == KR_HIT_STOP)
        ray->tfar = -INFINITY;
    else if (verdict == KR_HIT_ACCEPT)
        ray->tfar = t;
}

void kr_embree_intersect_box(const struct RTCIntersectFunctionNArguments *args)
{
    query *q = (query *)args->context;
    struct RTCRayHit *ray = (struct RTCRayHit *)args->rayhit;
    float box[6], t;
    if (!args->valid[0] || ray->ray.tfar < ray->ray.tnear) /* ended by another primitive of the leaf */
        return;
    const uint32_t primitive = number_of(q, args->primID, q->context.instID[0]);
    q->box(q->params, primitive, box);
    t = enter(&ray->ray, box);
    if (t <= ray->ray.tfar)
        meet(q, &ray->ray, primitive, t);
}

/* ---- Spheres --------------------------------------------------------------------------------- */

/* Where the ray enters the sphere x, y, z, radius, or NaN. In doubles: Embree's own spheres divide by an
 * approximation that is one part in 2^24 off on CPUs without AVX-512, and miss what is far away. */
static double enter_sphere(const struct RTCRay *ray, const float sphere[4])
{
    const double along[3] = {ray->dir_x, ray->dir_y, ray->dir_z}, radius = sphere[3];
    const double to[3] = {(double)sphere[0] - ray->org_x, (double)sphere[1] - ray->org_y,
                          (double)sphere[2] - ray->org_z};
    double square = 0, product = 0, beside = 0;
    for (int k = 0; k < 3; ++k) {
        square += along[k] * along[k];
        product += along[k] * to[k];
    }
    const double closest = product / square;
    for (int k = 0; k < 3; ++k)
        beside += (to[k] - closest * along[k]) * (to[k] - closest * along[k]);
    return closest - sqrt((radius * radius - beside) / square);
}

void kr_embree_intersect_sphere(const struct RTCIntersectFunctionNArguments *args)
{
    query *q = (query *)args->context;
    struct RTCRayHit *ray = (struct RTCRayHit *)args->rayhit;
    const kr_embree_scene *scene = args->geometryUserPtr;
    if (!args->valid[0] || ray->ray.tfar < ray->ray.tnear)
        return;
    const double t =
        enter_sphere(&ray->ray, (const float *)scene->input.floats.data + (uint64_t)args->primID * 4);
    if (t >= ray->ray.tnear && t <= ray->ray.tfar)
        meet(q, &ray->ray, number_of(q, args->primID, q->context.instID[0]), (float)t);
}

/* ---- Casting --------------------------------------------------------------------------------- */

static void cast(query *q, const kr_ray *ray, int filtered)
{
    const kr_embree_scene *scene =
        (const kr_embree_scene *)((const char *)q->view->host - offsetof(kr_embree_scene, host));
    struct RTCRayHit rayhit = {
        .ray = {.org_x = ray->from[0],
                .org_y = ray->from[1],
                .org_z = ray->from[2],
                .tnear = ray->low,
                .dir_x = ray->along[0],
                .dir_y = ray->along[1],
                .dir_z = ray->along[2],
                .tfar = ray->high,
                .mask = UINT32_MAX},
        .hit = {.geomID = RTC_INVALID_GEOMETRY_ID, .instID = {RTC_INVALID_GEOMETRY_ID}},
    };
    const struct RTCHit *hit = &rayhit.hit;
    q->met.primitive = KR_NO_PRIMITIVE;
    q->met.back = 0;
    kr_embree_rtc_cast(scene->rtc, scene->rtc_scene, &q->context, filtered ? filter : NULL, &rayhit);
    if (!filtered && q->view->prim == KR_PRIM_TRIANGLE && hit->geomID != RTC_INVALID_GEOMETRY_ID) {
        q->met.primitive = number_of(q, hit->primID, hit->instID[0]);
        q->met.back = hit->Ng_x * ray->along[0] + hit->Ng_y * ray->along[1] + hit->Ng_z * ray->along[2] > 0;
    }
}

/* The closest triangle needs no filter, which would cost a call for each one that is met on the way. */
static kr_met trace(const kr_scene_view *view, const kr_ray *ray, uint32_t what, kr_box_function box,
                    const void *params)
{
    query q = {.view = view, .box = box, .params = params};
    q.standard = what == KR_TRACE_FIRST ? KR_HIT_STOP : KR_HIT_ACCEPT;
    cast(&q, ray, view->prim == KR_PRIM_TRIANGLE && what == KR_TRACE_FIRST);
    return q.met;
}

static void visit(const kr_scene_view *view, const kr_ray *ray, uint32_t *payload, kr_hit_function hit,
                  kr_box_function box, const void *params)
{
    query q = {.view = view, .hit = hit, .box = box, .params = params, .payload = payload};
    cast(&q, ray, view->prim == KR_PRIM_TRIANGLE);
}

const kr_host_scene kr_embree_host_scene = {trace, visit};
