/* A ray meets every primitive of a crowd, on every device that casts rays: all lie in one place, so that no
 * builder can part them. OptiX in software lost most boxes of such scenes where its stack was small
 * (pipeline.c). Triangles and spheres are met once each; a tracer may report a box twice. */
#include "optix_lab.h"

#include <math.h>

enum { N = 1 << 17, PARTS = 1 << 12 };

/* How boxes lie: all alike; a few sizes, one in the other; upper corners on a small lattice; sizes whose
 * logarithms are random, which make trees deep. */
enum { ALIKE, NESTED, STEPPED, SPREAD, SHAPES };
static const char *const shapes[SHAPES] = {"alike", "nested", "stepped", "spread"};

static const uint32_t preferences[] = {0, KR_SCENE_FAST_BUILD, KR_SCENE_FAST_TRACE};
static const char *const preferred[] = {"nothing", "a fast build", "fast rays"};
static const uint32_t allowances[] = {0, KR_SCENE_COMPACT, KR_SCENE_REFIT};
static const char *const allowed[] = {"plain", "compacted", "refitted"};
enum { PREFERENCES = 3, ALLOWANCES = 3 };

/* ---- Crowds -------------------------------------------------------------------------------- */

/* SplitMix64's number i, from 0 to 1. Corners that follow a rule, as multiples of a constant do, lie along
 * lines and hide the loss. */
static float random_at(uint64_t i)
{
    uint64_t z = 1 + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((z ^ z >> 31) >> 40) * 0x1p-24f;
}

/* How far an upper corner moves along an axis. */
static float further(uint32_t shape, uint32_t i, uint32_t axis)
{
    if (shape == NESTED)
        return axis ? 0 : (float)(i & 7) / 64;
    if (shape == STEPPED)
        return (float)(i >> 3 * axis & 7) / 64;
    return shape == SPREAD ? floorf(exp2f(random_at(3 * (uint64_t)i + axis) * 18)) : 0;
}

static float *crowd(uint32_t prim, uint32_t shape, float z)
{
    const uint64_t words = kr_tracer_prim_nbytes(prim) / sizeof(float);
    const float at[3] = {5, 5, z};
    float *data = need(calloc(1, N * words * sizeof(float) + KR_MESH_PAD));
    for (uint32_t i = 0; i < N; ++i) {
        float *to = data + i * words;
        fill_prim(prim, at, to);
        for (uint32_t axis = 0; prim == KR_PRIM_AABB && axis < 3; ++axis)
            to[3 + axis] += further(shape, i, axis);
    }
    return data;
}

/* Primitives first .. first + n - 1 of a crowd. */
static kr_status mesh_of(const lab *l, uint32_t prim, const float *data, uint64_t first, uint64_t n,
                         kr_mesh *mesh)
{
    const uint64_t nbytes = n * kr_tracer_prim_nbytes(prim);
    char *padded = need(calloc(1, nbytes + KR_MESH_PAD));
    memcpy(padded, (const char *)data + first * kr_tracer_prim_nbytes(prim), nbytes);
    *mesh = (kr_mesh){.prim = prim, .radius = 0.25f, .n = n};
    const kr_status status = upload(l->device, padded, kr_tracer_mesh_nbytes(prim, n), &mesh->data);
    free(padded);
    return status;
}

/* ---- Counting ------------------------------------------------------------------------------ */

static kr_status count(const lab *l, const kr_scene *scene, const kr_buffer *boxes, uint32_t *times)
{
    ray_answer answer;
    kr_buffer counters = {0};
    kr_status status =
        kr_buffer_allocate(l->device, N * sizeof *times, NULL, "a test", NULL, &counters, &err);
    if (!status)
        status = kr_device_fill(l->device, counters.data, 0, counters.nbytes, NULL, &err);
    const ray_params params = {.scene = scene->view,
                               .rays = l->rays.data,
                               .boxes = boxes->data,
                               .ask = ASK_ALL,
                               .only = KR_NO_PRIMITIVE,
                               .n_rays = 1,
                               .times = counters.data};
    if (!status)
        status = cast_rays(l, params, 1, NULL, &answer, &err);
    if (!status)
        status = kr_device_copy(l->device, times, counters.data, counters.nbytes, NULL, &err);
    if (!status)
        status = kr_device_sync(l->device, NULL, &err);
    kr_buffer_release(l->device, &counters, NULL);
    return status;
}

/* `data`: where the crowd is; scenes of boxes read it, too. */
static void check_all_met(const lab *l, const kr_scene *scene, const float *data, const char *what)
{
    uint32_t *times = need(calloc(N, sizeof *times));
    uint32_t lost = 0, again = 0;
    const int is_box = scene->view.prim == KR_PRIM_AABB;
    kr_buffer boxes = {0};
    const int counted =
        !(is_box && upload(l->device, data, N * 6 * sizeof *data, &boxes)) && !count(l, scene, &boxes, times);
    for (uint32_t i = 0; i < N; ++i) {
        lost += times[i] == 0;
        again += times[i] > 1;
    }
    check(counted && !lost && (is_box || !again), "%s, %s: of %d, %u are lost and %u are met again",
          l->device->name, what, (int)N, lost, again);
    kr_buffer_release(l->device, &boxes, NULL);
    free(times);
}

/* ---- Scenes -------------------------------------------------------------------------------- */

static void test_crowd(const lab *l, uint32_t prim, uint32_t shape, uint32_t preference, uint32_t allowance)
{
    const kr_tracer_ops *ops = l->tracer->ops;
    const uint32_t flags = preferences[preference] | allowances[allowance];
    float *data = crowd(prim, shape, 5), *moved = crowd(prim, shape, 8);
    char what[100];
    kr_scene *scene = NULL;
    kr_mesh mesh;
    snprintf(what, sizeof what, "%s that are %s, %s is preferred, %s", prims[prim], shapes[shape],
             preferred[preference], allowed[allowance]);
    if (check(!mesh_of(l, prim, data, 0, N, &mesh) &&
                  !ops->build(l->tracer, &mesh, flags, NULL, &scene, &err) &&
                  (!(flags & KR_SCENE_COMPACT) || !ops->compact(scene, NULL, &err)),
              "%s, %s: built", l->device->name, what))
        check_all_met(l, scene, data, what);
    if (scene && flags & KR_SCENE_REFIT &&
        check(!mesh_of(l, prim, moved, 0, N, &mesh) && !ops->refit(scene, &mesh, NULL, &err), "%s, %s: moved",
              l->device->name, what))
        check_all_met(l, scene, moved, what);
    if (scene)
        ops->destroy(scene, NULL);
    kr_buffer_release(l->device, &mesh.data, NULL);
    free(moved);
    free(data);
}

/* In `parts` scenes of a group, which are in one place, too. */
static void test_parts(const lab *l, uint32_t prim, uint32_t shape, uint32_t parts, uint32_t flags)
{
    const kr_tracer_ops *ops = l->tracer->ops;
    const uint64_t part = N / parts;
    kr_scene **scenes = need(calloc(parts, sizeof *scenes)), *group = NULL;
    float *data = crowd(prim, shape, 5);
    char what[100];
    kr_mesh mesh = {0};
    int built = 1;
    for (uint64_t s = 0; built && s < parts; ++s)
        built = !mesh_of(l, prim, data, s * part, part, &mesh) &&
                !ops->build(l->tracer, &mesh, flags, NULL, &scenes[s], &err);
    built = built && !ops->group(l->tracer, scenes, parts, part, NULL, &group, &err);
    snprintf(what, sizeof what, "%s that are %s in %u parts, flags %u", prims[prim], shapes[shape], parts,
             flags);
    if (check(built, "%s, %s: built", l->device->name, what))
        check_all_met(l, group, data, what);
    if (group)
        ops->destroy(group, NULL);
    for (uint32_t s = 0; s < parts; ++s)
        if (scenes[s])
            ops->destroy(scenes[s], NULL);
    kr_buffer_release(l->device, &mesh.data, NULL);
    free(data);
    free(scenes);
}

static void test_device(lab *l)
{
    const kr_ray ray = {{5, 5, -0.5f}, {0, 0, 1}, 0, 20};
    if (!check(!upload(l->device, &ray, sizeof ray, &l->rays), "%s: a ray", l->device->name))
        return;
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        for (uint32_t shape = ALIKE; shape < (prim == KR_PRIM_AABB ? SHAPES : NESTED); ++shape)
            for (uint32_t preference = 0; preference < PREFERENCES; ++preference)
                for (uint32_t allowance = 0; allowance < ALLOWANCES; ++allowance)
                    test_crowd(l, prim, shape, preference, allowance);
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        test_parts(l, prim, ALIKE, PARTS, 0); /* as many as kinds make of a scene */
    for (uint32_t preference = 0; preference < PREFERENCES; ++preference)
        test_parts(l, KR_PRIM_AABB, SPREAD, 2, preferences[preference]);
    kr_buffer_release(l->device, &l->rays, NULL);
    check(in_use(l) == 0, "%s: nothing is left in use", l->device->name);
}

int main(void)
{
    return test_on_each_device(test_device);
}
