/* What rays of the CPU's tracer meet. Without Embree the tests are skipped. */
#include "scenes.h"

/* ---- Visiting ------------------------------------------------------------------------------ */

enum { SEEN = 4096 };
static _Thread_local uint32_t seen[SEEN], seen_back;

static uint32_t hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    ++payload[0];
    ++seen[primitive % SEEN];
    seen_back += (uint32_t)back;
    return ((const parameters *)params)->answer;
}

static uint32_t visit(const kr_scene *scene, const float (*points)[3], const float from[3],
                      const float along[3], float high, uint32_t answer)
{
    const parameters params = {.scene = scene->view, .points = points, .answer = answer};
    const kr_ray ray = ray_of(from, along, high);
    uint32_t payload[2] = {0, 77};
    memset(seen, 0, sizeof seen);
    seen_back = 0;
    kr_visit(&params.scene, &ray, payload, hit, box_of, &params);
    assert_int_equal(payload[1], 77);
    return payload[0];
}

/* ---- What rays meet ------------------------------------------------------------------------ */

/* Ten in a column at z = 0, 2, ... 18, and forty beside it. */
enum { COLUMN = 10, BESIDE = 40, STACK = COLUMN + BESIDE };

static void stack(float points[STACK][3])
{
    for (int i = 0; i < STACK; ++i) {
        points[i][0] = i < COLUMN ? 5 : 10 + (float)(i % 8);
        points[i][1] = i < COLUMN ? 7 : 10 + (float)(i / 8);
        points[i][2] = i < COLUMN ? 2 * (float)i : 3;
    }
}

static void check_stack(const kr_scene *scene, const float (*points)[3])
{
    const float from[3] = {5, 7, 3}, far_off[3] = {5, 8.5f, 3};
    assert_int_equal(cast(scene, points, from, Z, 100, KR_TRACE_CLOSEST).primitive, 2);
    assert_int_equal(cast(scene, points, from, Z, 2, KR_TRACE_CLOSEST).primitive, 2);
    assert_int_equal(cast(scene, points, from, Z, 0.5f, KR_TRACE_CLOSEST).primitive, KR_NO_PRIMITIVE);
    assert_int_equal(cast(scene, points, far_off, Z, 100, KR_TRACE_CLOSEST).primitive, KR_NO_PRIMITIVE);
    assert_int_equal(cast(scene, points, far_off, Z, 100, KR_TRACE_FIRST).primitive, KR_NO_PRIMITIVE);
    const uint32_t first = cast(scene, points, from, Z, 100, KR_TRACE_FIRST).primitive;
    assert_in_range(first, 2, COLUMN - 1);

    const uint32_t met = visit(scene, points, from, Z, 100, KR_HIT_IGNORE);
    for (int i = 0; i < STACK; ++i)
        assert_int_equal(seen[i], i >= 2 && i < COLUMN);
    assert_int_equal(met, COLUMN - 2);
    assert_int_equal(visit(scene, points, from, Z, 100, KR_HIT_STOP), 1);
    assert_in_range(visit(scene, points, from, Z, 100, KR_HIT_ACCEPT), 1, STACK);
    assert_int_equal(visit(scene, points, far_off, Z, 100, KR_HIT_STOP), 0);
}

static void meets_each_kind(void **state)
{
    static const uint32_t flags[] = {0, KR_SCENE_COMPACT, KR_SCENE_REFIT, KR_SCENE_COMPACT | KR_SCENE_REFIT};
    float points[STACK][3];
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    stack(points);
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; ++f) {
            kr_scene *scene = build(tracer, prim, (const float(*)[3])points, STACK, flags[f]);
            assert_int_equal(atomic_load(&device->in_use_nbytes), scene->footprint_nbytes);
            if (flags[f] & KR_SCENE_COMPACT)
                assert_int_equal(tracer->ops->compact(scene, NULL, NULL), KR_OK);
            else
                assert_int_equal(tracer->ops->compact(scene, NULL, NULL), KR_ERR_INTERNAL);
            check_stack(scene, (const float(*)[3])points);
            tracer->ops->destroy(scene, NULL);
            assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
        }
    kr_device_close(device);
}

/* Counter-clockwise corners, seen from where the ray starts, are the front. */
static void tells_front_from_back(void **state)
{
    static const float along_z[2][3] = {{0, 0, 1}, {0, 0, -1}}, points[1][3] = {{3, 4, 5}};
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    kr_mesh mesh = make_mesh(device, KR_PRIM_TRIANGLE, points, 1);
    const float *c = mesh.data.data;
    /* z of cross(v1 - v0, v2 - v0); front where dot(direction, it) < 0 */
    const float normal = (c[3] - c[0]) * (c[7] - c[1]) - (c[4] - c[1]) * (c[6] - c[0]);
    assert_true(normal != 0);
    kr_scene *scene = NULL;
    assert_int_equal(tracer->ops->build(tracer, &mesh, 0, NULL, &scene, NULL), KR_OK);
    for (int k = 0; k < 2; ++k) {
        const float from[3] = {3, 4, 5 - 2 * along_z[k][2]};
        const uint32_t back = along_z[k][2] * normal > 0;
        for (uint32_t what = KR_TRACE_CLOSEST; what <= KR_TRACE_FIRST; ++what) {
            const kr_met met = cast(scene, points, from, along_z[k], 9, what);
            assert_int_equal(met.primitive, 0);
            assert_int_equal(met.back, back);
        }
        assert_int_equal(visit(scene, points, from, along_z[k], 9, KR_HIT_IGNORE), 1);
        assert_int_equal(seen_back, back);
    }
    tracer->ops->destroy(scene, NULL);
    kr_device_close(device);
}

/* ---- Parts and refitting --------------------------------------------------------------------- */

enum { PARTS = 7, PART = 8 }; /* 50 primitives: the last part has 2 */

static kr_scene *build_parts(kr_tracer *tracer, uint32_t prim, const float (*points)[3], uint32_t flags,
                             kr_scene *parts[PARTS])
{
    kr_scene *group = NULL;
    for (int i = 0; i < PARTS; ++i)
        parts[i] = build(tracer, prim, points + i * PART, i < PARTS - 1 ? PART : STACK - i * PART, flags);
    assert_int_equal(tracer->ops->group(tracer, parts, PARTS, PART, NULL, &group, NULL), KR_OK);
    assert_int_equal(group->view.part, PART);
    assert_int_equal(group->view.prim, prim);
    return group;
}

static void refit(kr_scene *scene, const float (*points)[3], uint64_t n)
{
    kr_tracer *tracer = scene->tracer;
    kr_mesh mesh = make_mesh(tracer->device, scene->view.prim, points, n);
    assert_int_equal(tracer->ops->refit(scene, &mesh, NULL, NULL), KR_OK);
    assert_null(mesh.data.data);
}

static void parts_and_refit(void **state)
{
    float points[STACK][3], before[STACK][3];
    kr_scene *parts[PARTS];
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    stack(points);
    for (int i = 0; i < STACK; ++i) /* elsewhere, in another order */
        memcpy(before[i], points[(i * 7 + 3) % STACK], sizeof before[i]);
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        kr_scene *group = build_parts(tracer, prim, (const float(*)[3])points, 0, parts);
        check_stack(group, (const float(*)[3])points);
        uint64_t held = group->footprint_nbytes;
        tracer->ops->destroy(group, NULL);
        for (int i = 0; i < PARTS; ++i) {
            held += parts[i]->footprint_nbytes;
            tracer->ops->destroy(parts[i], NULL);
        }
        assert_true(held > 0);
        assert_int_equal(atomic_load(&device->in_use_nbytes), 0);

        group = build_parts(tracer, prim, (const float(*)[3])before, KR_SCENE_REFIT, parts);
        held = 0;
        for (int i = 0; i < PARTS; ++i) {
            refit(parts[i], (const float(*)[3])points + i * PART, i < PARTS - 1 ? PART : STACK - i * PART);
            held += parts[i]->footprint_nbytes;
        }
        assert_int_equal(tracer->ops->regroup(group, NULL, NULL), KR_OK);
        held += group->footprint_nbytes;
        check_stack(group, (const float(*)[3])points);
        assert_int_equal(atomic_load(&device->in_use_nbytes), held);
        tracer->ops->destroy(group, NULL);
        for (int i = 0; i < PARTS; ++i)
            tracer->ops->destroy(parts[i], NULL);
        assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
    }
    kr_device_close(device);
}

static void refit_of_one_scene(void **state)
{
    float points[STACK][3], other[STACK][3];
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    stack(points);
    for (int i = 0; i < STACK; ++i)
        for (int k = 0; k < 3; ++k)
            other[i][k] = 1000 - 3 * points[i][k];
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        kr_scene *scene = build(tracer, prim, (const float(*)[3])other, STACK, KR_SCENE_REFIT);
        refit(scene, (const float(*)[3])points, STACK);
        assert_int_equal(atomic_load(&device->in_use_nbytes), scene->footprint_nbytes);
        check_stack(scene, (const float(*)[3])points);
        kr_mesh fewer = make_mesh(device, prim, (const float(*)[3])points, STACK - 1);
        assert_int_equal(tracer->ops->refit(scene, &fewer, NULL, NULL), KR_ERR_INTERNAL);
        kr_buffer_release(device, &fewer.data, NULL);
        tracer->ops->destroy(scene, NULL);
    }
    assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
    kr_device_close(device);
}

/* ---- Coordinates at their limits --------------------------------------------------------------- */

/* Rows near 2^23, and rays as long as the axis. */
static void far_coordinates(void **state)
{
    enum { N = 64 };
    const float along_x[3] = {1, 0, 0}, top = 8388607; /* 2^23 - 1 */
    float points[N][3];
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    for (int i = 0; i < N; ++i) { /* four rows of 16 at the end of x, in neighbouring rows at the end of y */
        points[i][0] = top - (float)(i % 16);
        points[i][1] = top - (float)(i / 16);
        points[i][2] = 262143;
    }
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        kr_scene *scene = build(tracer, prim, (const float(*)[3])points, N, 0);
        for (int i = 0; i < N; ++i) {
            const float from[3] = {points[i][0], points[i][1], points[i][2] - 1};
            assert_int_equal(cast(scene, (const float(*)[3])points, from, Z, 2, KR_TRACE_FIRST).primitive, i);
        }
        for (int row = 0; row < 4; ++row) {
            const float from[3] = {-1, top - (float)row, 262143};
            visit(scene, (const float(*)[3])points, from, along_x, top + 4, KR_HIT_IGNORE);
            for (int i = 16 * row; i < 16 * row + 16; ++i)
                assert_true(seen[i] > 0);
        }
        tracer->ops->destroy(scene, NULL);
    }
    kr_device_close(device);
}

static void all_in_one_place(void **state)
{
    static float points[SEEN][3];
    const float from[3] = {77, 5, 2};
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    for (int i = 0; i < SEEN; ++i)
        points[i][0] = 77, points[i][1] = 5, points[i][2] = 3;
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        for (uint32_t flags = 0; flags <= KR_SCENE_REFIT; ++flags) {
            kr_scene *scene = build(tracer, prim, (const float(*)[3])points, SEEN, flags);
            assert_int_equal(visit(scene, (const float(*)[3])points, from, Z, 3, KR_HIT_IGNORE), SEEN);
            for (int i = 0; i < SEEN; ++i)
                assert_int_equal(seen[i], 1);
            assert_int_equal(visit(scene, (const float(*)[3])points, from, Z, 3, KR_HIT_STOP), 1);
            tracer->ops->destroy(scene, NULL);
        }
    kr_device_close(device);
}

/* Embree would silently leave them out. */
static void too_far(void **state)
{
    const float points[2][3] = {{1, 2, 3}, {1, 4e18f, 3}}, broken[1][3] = {{1, NAN, 3}};
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        for (int k = 0; k < 2; ++k) {
            kr_error err = {0};
            kr_scene *scene = NULL;
            kr_mesh mesh = make_mesh(device, prim, k ? broken : points, k ? 1 : 2);
            assert_int_equal(tracer->ops->build(tracer, &mesh, 0, NULL, &scene, &err), KR_ERR_LIMIT);
            assert_non_null(strstr(err.text, k ? "primitive 0" : "primitive 1"));
            assert_null(scene);
            kr_buffer_release(device, &mesh.data, NULL);
            assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
        }
    kr_device_close(device);
}

/* ---- RAY ------------------------------------------------------------------------------------- */

#if defined(KR_WITH_CUDA)
const kr_ray_module no_module = {NULL, 0}; /* this program is for the CPU only */
#endif

#define KR_RAY_MODULE no_module
#define KR_RAY_PARAMS find_params
#define KR_RAY_STATE find_state
#define KR_RAY_PAYLOAD 2

typedef struct find_params {
    kr_scene_view scene; /* first, in every ray program */
    const float (*points)[3];
    uint32_t *found; /* the primitive around each point, or KR_NO_PRIMITIVE */
} find_params;

typedef struct find_state {
    uint64_t i;
    uint32_t found;
} find_state;

KR_BODY void find_box(const void *params, uint32_t primitive, float box[6])
{
    write_primitive(KR_PRIM_AABB, ((const find_params *)params)->points[primitive], box);
}

/* Counts how often the primitive in payload[1] is met. */
KR_BODY uint32_t find_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    (void)params, (void)back;
    payload[0] += primitive == payload[1];
    return KR_HIT_IGNORE; /* go on to the next primitive */
}

KR_BODY int find_begin(const find_params *p, uint64_t i, find_state *s)
{
    (void)p;
    s->i = i;
    return 1;
}

KR_BODY int find_step(const find_params *p, find_state *s)
{
    const float *at = p->points[s->i];
    const kr_ray ray = {{at[0], at[1], at[2] - 0.5f}, {0, 0, 1}, 0, 1};
    uint32_t payload[2] = {0, (uint32_t)s->i};
    s->found = kr_trace(&p->scene, &ray, KR_TRACE_CLOSEST, find_box, p).primitive;
    kr_visit(&p->scene, &ray, payload, find_hit, find_box, p);
    if (payload[0] != 1)
        s->found = KR_NO_PRIMITIVE;
    return 0; /* done; 1 comes back for another ray */
}

KR_BODY void find_end(const find_params *p, uint64_t i, const find_state *s)
{
    p->found[i] = s->found;
}
KR_RAY_PROGRAM(find_points, find_begin, find_step, find_end, find_hit, find_box);

static void runs_programs(void **state)
{
    static uint32_t out[MANY];
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    fill_many();
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        kr_scene *scene = build(tracer, prim, (const float(*)[3])many, MANY, 0);
        const find_params params = {scene->view, (const float(*)[3])many, out};
        memset(out, 0xFF, sizeof out);
        kr_work w = kr_work_on(device, NULL, NULL);
        kr_scene_run(&w, tracer, &find_points, &params, MANY);
        assert_int_equal(kr_work_end(&w), KR_OK);
        for (uint32_t i = 0; i < MANY; ++i)
            assert_int_equal(out[i], i);
        tracer->ops->destroy(scene, NULL);
    }
    kr_device_close(device);
}

static void describes_itself(void **state)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    kr_tracer_describe(device, &info);
    assert_int_equal(strncmp(info.tracer, "Embree ", 7), 0);
    assert_int_equal(info.rt_cores, 0);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meets_each_kind),  cmocka_unit_test(tells_front_from_back),
        cmocka_unit_test(parts_and_refit),  cmocka_unit_test(refit_of_one_scene),
        cmocka_unit_test(far_coordinates),  cmocka_unit_test(all_in_one_place),
        cmocka_unit_test(too_far),          cmocka_unit_test(runs_programs),
        cmocka_unit_test(describes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
