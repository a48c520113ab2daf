/* Scenes and ray programs through the tracer contract, on every device that casts rays: OptiX on the GPU, and
 * Embree with the same expectations where this build has it.
 *
 * The scene is a lattice of 10 x 10 x 10 points, primitive x + 10 y + 100 z at (x, y, z); refitted, it is
 * mirrored. What a ray meets is then known without arithmetic on floats. */
#include "optix_lab.h"

#include <pthread.h>
#include <stdlib.h>

enum { N = 1000, SORTS = 6, N_RAYS = SORTS * 100, PART = 400, PARTS = 3 };
enum { ALONG_Z, AGAINST_Z, ALONG_X, BESIDE, SHORT, BEHIND };

/* ---- The lattice --------------------------------------------------------------------------- */

/* Primitives first .. first + n - 1, of a lattice that is `wide` points wide in x and y. */
static float *lattice(uint32_t prim, uint64_t first, uint64_t n, uint64_t wide, int mirrored)
{
    const uint64_t words = kr_tracer_prim_nbytes(prim) / sizeof(float);
    float *data = need(calloc(1, n * words * sizeof(float) + KR_MESH_PAD));
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t p = mirrored ? N - 1 - (first + i) : first + i;
        const float at[3] = {(float)(p % wide), (float)(p / wide % wide), (float)(p / wide / wide)};
        fill_prim(prim, at, data + i * words);
    }
    return data;
}

static kr_status mesh_of(kr_device *device, uint32_t prim, uint64_t first, uint64_t n, uint64_t wide,
                         int mirrored, kr_mesh *mesh)
{
    float *data = lattice(prim, first, n, wide, mirrored);
    *mesh = (kr_mesh){.prim = prim, .radius = 0.25f, .n = n};
    const kr_status status = upload(device, data, kr_tracer_mesh_nbytes(prim, n), &mesh->data);
    free(data);
    return status;
}

/* ---- Rays and what they meet --------------------------------------------------------------- */

static kr_ray ray_of(int i)
{
    const float a = (float)(i % 100 % 10), b = (float)(i % 100 / 10);
    switch (i / 100) {
    case ALONG_Z: return (kr_ray){{a, b, -0.5f}, {0, 0, 1}, 0, 20};
    case AGAINST_Z: return (kr_ray){{a, b, 9.5f}, {0, 0, -1}, 0, 20};
    case ALONG_X: return (kr_ray){{-1, a, b}, {1, 0, 0}, 0.5f, 10.5f};
    case BESIDE: return (kr_ray){{a + 0.5f, b + 0.5f, -0.5f}, {0, 0, 1}, 0, 20};
    case SHORT: return (kr_ray){{a, b, 0}, {0, 0, 1}, 2.5f, 4.5f};
    default: return (kr_ray){{a, b, 20}, {0, 0, 1}, 0, 20};
    }
}

/* The primitives that ray i meets, nearest first. */
static int expect(int i, int mirrored, uint32_t list[10])
{
    const uint32_t a = (uint32_t)i % 100 % 10, b = (uint32_t)i % 100 / 10;
    const int sort = i / 100, n = sort == BESIDE || sort == BEHIND ? 0 : sort == SHORT ? 2 : 10;
    for (uint32_t j = 0; j < (uint32_t)n; ++j) {
        const uint32_t z = sort == AGAINST_Z ? 9 - j : sort == SHORT ? 3 + j : j;
        const uint32_t p = sort == ALONG_X ? j + 10 * a + 100 * b : a + 10 * b + 100 * z;
        list[j] = mirrored ? N - 1 - p : p;
    }
    return n;
}

static int is_in(uint32_t primitive, const uint32_t *list, int n)
{
    int found = 0;
    for (int j = 0; j < n; ++j)
        found |= list[j] == primitive;
    return found;
}

/* Our triangles show their backs to rays that run up an axis. */
static uint32_t back_of(uint32_t prim, int i)
{
    return prim == KR_PRIM_TRIANGLE && i / 100 != AGAINST_Z;
}

static const char *const asks[] = {"closest", "first", "visit all", "nearest accepted", "stop at any"};

static int is_right(uint32_t ask, uint32_t prim, int i, int mirrored, const ray_answer *got)
{
    uint32_t list[10], sum = 0;
    const int n = expect(i, mirrored, list);
    for (int j = 0; j < n; ++j)
        sum += list[j];
    if (ask == ASK_ALL)
        return got->primitive == KR_NO_PRIMITIVE && got->met == (uint32_t)n && got->sum == sum;
    if (n == 0)
        return got->primitive == KR_NO_PRIMITIVE && got->met == 0;
    if (got->back != back_of(prim, i))
        return 0;
    if (ask == ASK_CLOSEST || ask == ASK_NEAREST)
        return got->primitive == list[0];
    return is_in(got->primitive, list, n) && (ask != ASK_ANY || got->met == 1);
}

/* ---- Casting ------------------------------------------------------------------------------- */

/* The lattice's rays. */
static kr_status cast(const lab *l, const kr_scene *scene, const kr_buffer *boxes, uint32_t ask,
                      uint32_t only, kr_stream *stream, ray_answer *answers, kr_error *error)
{
    const ray_params params = {.scene = scene->view,
                               .rays = l->rays.data,
                               .boxes = boxes->data,
                               .ask = ask,
                               .only = only,
                               .n_rays = N_RAYS};
    return cast_rays(l, params, N_RAYS, stream, answers, error);
}

static void check_asks(const lab *l, const kr_scene *scene, const kr_buffer *boxes, uint32_t prim,
                       int mirrored, const char *how)
{
    ray_answer *answers = need(malloc(N_RAYS * sizeof *answers));
    for (uint32_t ask = ASK_CLOSEST; ask <= ASK_ANY; ++ask) {
        const int cast_well = !cast(l, scene, boxes, ask, KR_NO_PRIMITIVE, NULL, answers, &err);
        int wrong = 0, first = -1;
        for (int i = 0; cast_well && i < N_RAYS; ++i)
            if (!is_right(ask, prim, i, mirrored, &answers[i])) {
                first = first < 0 ? i : first;
                ++wrong;
            }
        check(cast_well && !wrong, "%s, %s %s: %s (%d of %d rays wrong)", l->device->name, how, prims[prim],
              asks[ask], wrong, N_RAYS);
        if (wrong)
            printf("      first: ray %d gave primitive %u back %u, met %u, sum %u\n", first,
                   answers[first].primitive, answers[first].back, answers[first].met, answers[first].sum);
    }
    /* Accepting one primitive beyond others: the rest of them is ignored. */
    const uint32_t only = mirrored ? N - 1 - 745 : 745;
    if (check(!cast(l, scene, boxes, ASK_NEAREST, only, NULL, answers, &err), "%s, %s %s: accepting one",
              l->device->name, how, prims[prim])) {
        int right =
            answers[45].primitive == only && answers[44].primitive == KR_NO_PRIMITIVE && answers[45].met >= 8;
        check(right, "%s, %s %s: others are passed by (%u, %u met)", l->device->name, how, prims[prim],
              answers[45].primitive, answers[45].met);
    }
    free(answers);
}

/* ---- Single scenes ------------------------------------------------------------------------- */

static void check_estimate(const lab *l, const kr_scene *scene, uint32_t prim, uint32_t flags, uint64_t peak)
{
    kr_scene_estimate estimate = {0};
    const kr_status status = l->tracer->ops->estimate(l->tracer, prim, N, flags, &estimate, &err);
    check(!status && estimate.footprint_nbytes >= scene->footprint_nbytes && estimate.peak_nbytes >= peak,
          "%s, %s, flags %u: footprint %llu (estimated %llu), peak %llu (estimated %llu)", l->device->name,
          prims[prim], flags, (unsigned long long)scene->footprint_nbytes,
          (unsigned long long)estimate.footprint_nbytes, (unsigned long long)peak,
          (unsigned long long)estimate.peak_nbytes);
}

static void test_single(const lab *l, uint32_t prim, uint32_t flags, const kr_buffer *boxes,
                        const kr_buffer *mirrored_boxes)
{
    static const char *const hows[] = {"plain", "compacted", "refitted"};
    const kr_tracer_ops *ops = l->tracer->ops;
    const uint64_t before = in_use(l);
    kr_scene *scene = NULL;
    kr_mesh mesh;
    if (!check(!mesh_of(l->device, prim, 0, N, 10, 0, &mesh), "a mesh"))
        return;
    const uint64_t held = in_use(l) - before;
    kr_peak begun;
    kr_stream *counted = kr_peak_begin(&begun, l->device, NULL);
    const int built = !ops->build(l->tracer, &mesh, flags, counted, &scene, &err) &&
                      (!(flags & KR_SCENE_COMPACT) || !ops->compact(scene, counted, &err));
    const uint64_t peak = held + kr_peak_most(&begun);
    if (check(built && !mesh.data.data, "%s, %s %s: built", l->device->name, hows[flags], prims[prim])) {
        if (!l->device->ops->is_host) /* Embree keeps the mesh, and counts in blocks */
            check_estimate(l, scene, prim, flags, peak);
        check(in_use(l) == before + scene->footprint_nbytes, "%s, %s %s: charged what it says",
              l->device->name, hows[flags], prims[prim]);
        check_asks(l, scene, boxes, prim, 0, flags == KR_SCENE_REFIT ? "not yet refitted" : hows[flags]);
        if (flags & KR_SCENE_REFIT &&
            check(!mesh_of(l->device, prim, 0, N, 10, 1, &mesh) && !ops->refit(scene, &mesh, NULL, &err),
                  "%s, %s: refitted", l->device->name, prims[prim]))
            check_asks(l, scene, mirrored_boxes, prim, 1, hows[flags]);
    }
    if (scene)
        ops->destroy(scene, NULL);
    kr_buffer_release(l->device, &mesh.data, NULL);
    check(in_use(l) == before, "%s, %s %s: gives all memory back", l->device->name, hows[flags], prims[prim]);
}

/* ---- Parts --------------------------------------------------------------------------------- */

static int build_parts(const lab *l, uint32_t prim, uint32_t flags, kr_scene *scenes[PARTS])
{
    for (uint32_t s = 0; s < PARTS; ++s) {
        const uint64_t first = s * (uint64_t)PART, n = first + PART < N ? PART : N - first;
        kr_mesh mesh;
        if (mesh_of(l->device, prim, first, n, 10, 0, &mesh) ||
            l->tracer->ops->build(l->tracer, &mesh, flags, NULL, &scenes[s], &err) ||
            (flags & KR_SCENE_COMPACT && l->tracer->ops->compact(scenes[s], NULL, &err)))
            return 0;
    }
    return 1;
}

static int refit_parts(const lab *l, uint32_t prim, kr_scene *scenes[PARTS])
{
    for (uint32_t s = 0; s < PARTS; ++s) {
        const uint64_t first = s * (uint64_t)PART, n = first + PART < N ? PART : N - first;
        kr_mesh mesh;
        if (mesh_of(l->device, prim, first, n, 10, 1, &mesh) ||
            l->tracer->ops->refit(scenes[s], &mesh, NULL, &err))
            return 0;
    }
    return 1;
}

static void test_parts(const lab *l, uint32_t prim, uint32_t flags, const kr_buffer *boxes,
                       const kr_buffer *mirrored_boxes)
{
    const kr_tracer_ops *ops = l->tracer->ops;
    const uint64_t before = in_use(l);
    kr_scene *scenes[PARTS] = {0}, *group = NULL;
    const int built = build_parts(l, prim, flags, scenes) &&
                      !ops->group(l->tracer, scenes, PARTS, PART, NULL, &group, &err);
    if (check(built, "%s, %s in parts, flags %u: built", l->device->name, prims[prim], flags)) {
        uint64_t nbytes = group->footprint_nbytes;
        for (int s = 0; s < PARTS; ++s)
            nbytes += scenes[s]->footprint_nbytes;
        check(in_use(l) == before + nbytes, "%s, %s in parts: charged what it says (group %llu)",
              l->device->name, prims[prim], (unsigned long long)group->footprint_nbytes);
        check_asks(l, group, boxes, prim, 0, "in parts");
        if (flags & KR_SCENE_REFIT && check(refit_parts(l, prim, scenes) && !ops->regroup(group, NULL, &err),
                                            "%s, %s in parts: refitted", l->device->name, prims[prim]))
            check_asks(l, group, mirrored_boxes, prim, 1, "in refitted parts");
    }
    if (group)
        ops->destroy(group, NULL);
    for (int s = 0; s < PARTS; ++s)
        if (scenes[s])
            ops->destroy(scenes[s], NULL);
    check(in_use(l) == before, "%s, %s in parts: gives all memory back", l->device->name, prims[prim]);
}

/* ---- Threads ------------------------------------------------------------------------------- */

enum { THREADS = 6, CASTS = 40 };

typedef struct worker {
    const lab *l;
    const kr_scene *scene;
    const kr_buffer *boxes;
    kr_error error;
    int wrong;
} worker;

/* Every thread casts different rays at the same time, so that mixed up parameters show. */
static void *cast_often(void *ctx)
{
    worker *w = ctx;
    ray_answer *answers = need(malloc(N_RAYS * sizeof *answers));
    kr_stream *stream = NULL;
    if (kr_stream_create(w->l->device, &stream, &w->error))
        w->wrong = -1;
    for (uint32_t c = 0; c < CASTS && w->wrong == 0; ++c) {
        const uint32_t ask = (c + (uint32_t)(uintptr_t)w) % (ASK_ANY + 1);
        if (cast(w->l, w->scene, w->boxes, ask, KR_NO_PRIMITIVE, stream, answers, &w->error))
            w->wrong = -1;
        for (int i = 0; w->wrong >= 0 && i < N_RAYS; ++i)
            w->wrong += !is_right(ask, KR_PRIM_TRIANGLE, i, 0, &answers[i]);
    }
    kr_stream_destroy(stream);
    free(answers);
    return NULL;
}

static void test_threads(const lab *l, const kr_buffer *boxes)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    kr_scene *scene = NULL;
    kr_mesh mesh;
    if (!check(!mesh_of(l->device, KR_PRIM_TRIANGLE, 0, N, 10, 0, &mesh) &&
                   !l->tracer->ops->build(l->tracer, &mesh, 0, NULL, &scene, &err) &&
                   !kr_device_sync(l->device, NULL, &err),
               "%s: a scene for several threads", l->device->name))
        return;
    for (int t = 0; t < THREADS; ++t) {
        workers[t] = (worker){.l = l, .scene = scene, .boxes = boxes};
        pthread_create(&threads[t], NULL, cast_often, &workers[t]);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(threads[t], NULL);
        err = workers[t].error;
        check(workers[t].wrong == 0, "%s: thread %d on its own stream (%d wrong)", l->device->name, t,
              workers[t].wrong);
    }
    l->tracer->ops->destroy(scene, NULL);
}

/* ---- Memory, sizes, refusals --------------------------------------------------------------- */

/* A cap in the way of the structure itself, then of its scratch memory. */
static void test_cap(const char *name)
{
    kr_device_options options = {.struct_size = sizeof options};
    for (uint64_t more = 1024; more < 1u << 20; more *= 8) {
        lab l = {0};
        kr_scene *scene = NULL;
        kr_mesh mesh = {0};
        options.memory_cap_nbytes = N * 36 + more;
        if (!check(!kr_device_open(name, &options, &l.device, &err) &&
                       !kr_tracer_of(l.device, &l.tracer, &err) &&
                       !mesh_of(l.device, KR_PRIM_TRIANGLE, 0, N, 10, 0, &mesh),
                   "%s: a device with %llu bytes", name, (unsigned long long)options.memory_cap_nbytes)) {
            kr_device_close(l.device);
            return;
        }
        const uint64_t before = in_use(&l);
        const kr_status status = l.tracer->ops->build(l.tracer, &mesh, KR_SCENE_COMPACT, NULL, &scene, &err);
        printf("      %s\n", status ? err.text : "the cap was no hindrance");
        check(!status || (status == KR_ERR_DEVICE_MEMORY && mesh.data.data && in_use(&l) == before && !scene),
              "%s: a build that does not fit leaves everything as it was", name);
        if (scene)
            l.tracer->ops->destroy(scene, NULL);
        kr_buffer_release(l.device, &mesh.data, NULL);
        check(in_use(&l) == 0, "%s: nothing is left in use", name);
        kr_device_close(l.device);
    }
}

/* The memory of a scene, by size: the figures behind the estimates. */
static void print_sizes(const lab *l)
{
    printf("      bytes per primitive: built, compacted, peak of both, refittable; estimated footprint and "
           "peak\n");
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        for (uint64_t n = 1 << 10; n <= 1 << 22; n *= 16) {
            const kr_tracer_ops *ops = l->tracer->ops;
            uint64_t wide = 10, built = 0, refittable = 0;
            kr_scene *scene = NULL;
            kr_scene_estimate estimate = {0};
            kr_mesh mesh;
            while (wide * wide * wide < n)
                ++wide;
            if (!mesh_of(l->device, prim, 0, n, wide, 0, &mesh) &&
                !ops->build(l->tracer, &mesh, KR_SCENE_REFIT, NULL, &scene, &err)) {
                refittable = scene->footprint_nbytes;
                ops->destroy(scene, NULL);
            }
            scene = NULL;
            const int meshed = !mesh_of(l->device, prim, 0, n, wide, 0, &mesh);
            kr_peak begun;
            kr_stream *counted = kr_peak_begin(&begun, l->device, NULL);
            const int made = meshed &&
                             !ops->estimate(l->tracer, prim, n, KR_SCENE_COMPACT, &estimate, &err) &&
                             !ops->build(l->tracer, &mesh, KR_SCENE_COMPACT, counted, &scene, &err) &&
                             (built = scene->footprint_nbytes) && !ops->compact(scene, counted, &err);
            const uint64_t peak = kr_peak_most(&begun);
            if (!check(made, "%s, %llu %s", l->device->name, (unsigned long long)n, prims[prim]))
                return;
            const double each = 1.0 / (double)n;
            printf("      %9llu %-9s %8.2f %8.2f %8.2f %8.2f; %8.2f %8.2f\n", (unsigned long long)n,
                   prims[prim], (double)built * each, (double)scene->footprint_nbytes * each,
                   (double)peak * each, (double)refittable * each, (double)estimate.footprint_nbytes * each,
                   (double)estimate.peak_nbytes * each);
            ops->destroy(scene, NULL);
        }
}

/* PTX that no driver accepts. */
static void test_refused_program(const lab *l, const kr_buffer *boxes)
{
    static const char text[] = ".version 99.9\n.target sm_75\n.address_size 64\n";
    static const kr_ray_module module = {text, sizeof text - 1};
    kr_ray_program program = KR_W(scene_rays);
    kr_scene *scene = NULL;
    kr_mesh mesh;
    ray_params params = {.rays = l->rays.data, .boxes = boxes->data, .n_rays = N_RAYS};
    program.module = &module;
    if (!check(!mesh_of(l->device, KR_PRIM_TRIANGLE, 0, N, 10, 0, &mesh) &&
                   !l->tracer->ops->build(l->tracer, &mesh, 0, NULL, &scene, &err),
               "%s: a scene for a program that is refused", l->device->name))
        return;
    params.scene = scene->view;
    kr_work w = kr_work_on(l->device, NULL, &err);
    kr_scene_run(&w, l->tracer, &program, &params, 1);
    const kr_status status = kr_work_end(&w);
    printf("      %s\n", err.text);
    check(status == KR_ERR_UNSUPPORTED && strstr(err.text, "99.9") && !strchr(err.text, '\n'),
          "%s: PTX of an unknown version is refused, and the error names it", l->device->name);
    l->tracer->ops->destroy(scene, NULL);
}

/* More elements than one OptiX launch takes. */
static void test_many(const lab *l, const kr_buffer *boxes)
{
    const uint64_t n = ((uint64_t)1 << 28) + 12345;
    ray_answer *tail = need(malloc(20000 * sizeof *tail));
    kr_buffer out = {0};
    kr_scene *scene = NULL;
    kr_mesh mesh;
    ray_params params = {.rays = l->rays.data, .boxes = boxes->data, .ask = ASK_CLOSEST, .n_rays = N_RAYS};
    int wrong = 0;
    int cast_well = !mesh_of(l->device, KR_PRIM_TRIANGLE, 0, N, 10, 0, &mesh) &&
                    !l->tracer->ops->build(l->tracer, &mesh, 0, NULL, &scene, &err) &&
                    !kr_buffer_allocate(l->device, n * sizeof *tail, NULL, "a test", NULL, &out, &err) &&
                    !kr_device_fill(l->device, out.data, 0xEE, out.nbytes, NULL, &err);
    if (cast_well) {
        params.scene = scene->view;
        params.answers = out.data;
        kr_work w = kr_work_on(l->device, NULL, &err);
        kr_scene_run(&w, l->tracer, &KR_W(scene_rays), &params, n);
        kr_work_read(&w, tail, params.answers + (n - 20000), 20000 * sizeof *tail);
        cast_well = kr_work_end(&w) == KR_OK;
    }
    for (uint64_t i = 0; cast_well && i < 20000; ++i)
        wrong += !is_right(ASK_CLOSEST, KR_PRIM_TRIANGLE, (int)((n - 20000 + i) % N_RAYS), 0, &tail[i]);
    check(cast_well && !wrong, "%s: %llu elements in several launches (%d wrong)", l->device->name,
          (unsigned long long)n, wrong);
    kr_buffer_release(l->device, &out, NULL);
    if (scene)
        l->tracer->ops->destroy(scene, NULL);
    free(tail);
}

/* ---- Devices ------------------------------------------------------------------------------- */

static kr_status prepare(lab *l, kr_buffer *boxes, kr_buffer *mirrored_boxes)
{
    kr_ray rays[N_RAYS];
    float *plain = lattice(KR_PRIM_AABB, 0, N, 10, 0), *mirrored = lattice(KR_PRIM_AABB, 0, N, 10, 1);
    for (int i = 0; i < N_RAYS; ++i)
        rays[i] = ray_of(i);
    kr_status status = upload(l->device, rays, sizeof rays, &l->rays);
    if (!status)
        status = upload(l->device, plain, N * 24, boxes);
    if (!status)
        status = upload(l->device, mirrored, N * 24, mirrored_boxes);
    free(plain);
    free(mirrored);
    return status;
}

static void test_device(lab *l)
{
    kr_buffer boxes = {0}, mirrored_boxes = {0};
    kr_device_info info = {.struct_size = sizeof info};
    const int on_gpu = !l->device->ops->is_host;
    if (!check(!prepare(l, &boxes, &mirrored_boxes), "%s: rays", l->device->name))
        return;
    check(!kr_device_query(l->device, &info, &err), "%s: %s; %s; tracer %s; rt cores %d", l->device->name,
          info.description, info.software, info.tracer, info.rt_cores);
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        for (uint32_t flags = 0; flags <= KR_SCENE_REFIT; ++flags)
            test_single(l, prim, flags, &boxes, &mirrored_boxes);
        test_parts(l, prim, KR_SCENE_COMPACT, &boxes, &mirrored_boxes);
        test_parts(l, prim, KR_SCENE_REFIT, &boxes, &mirrored_boxes);
    }
    test_threads(l, &boxes);
    if (on_gpu) {
        test_refused_program(l, &boxes);
        print_sizes(l);
    }
    if (on_gpu && info.memory_nbytes >= (uint64_t)16 << 30)
        test_many(l, &boxes);
    kr_buffer_release(l->device, &boxes, NULL);
    kr_buffer_release(l->device, &mirrored_boxes, NULL);
    kr_buffer_release(l->device, &l->rays, NULL);
    check(in_use(l) == 0, "%s: nothing is left in use", l->device->name);
}

static void test_all(lab *l)
{
    test_device(l);
    test_cap(l->device->name);
}

int main(void)
{
    return test_on_each_device(test_all);
}
