/* The CPU's tracer under a cap, under a progress callback and on several threads. Without Embree the tests
 * are skipped. */
#include "scenes.h"

static void check_many(const kr_scene *scene, const float (*points)[3])
{
    for (int i = 0; i < MANY; i += 997) {
        const float from[3] = {points[i][0], points[i][1], points[i][2] - 0.5f};
        assert_int_equal(cast(scene, points, from, Z, 1, KR_TRACE_CLOSEST).primitive, i);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Every cap below what a build needs is refused, leaves nothing behind, and the next build works. */
static void refused_builds(void **state)
{
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    fill_many();
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        kr_mesh mesh = make_mesh(device, prim, (const float(*)[3])many, MANY);
        const uint64_t held = mesh.data.nbytes;
        kr_scene *scene = NULL;
        kr_peak begun;
        kr_stream *counted = kr_peak_begin(&begun, device, NULL);
        assert_int_equal(tracer->ops->build(tracer, &mesh, 0, counted, &scene, NULL), KR_OK);
        const uint64_t peak = held + kr_peak_most(&begun);
        tracer->ops->destroy(scene, NULL);
        for (int k = 1; k < 12; ++k) {
            kr_error err = {0};
            mesh = make_mesh(device, prim, (const float(*)[3])many, MANY);
            scene = NULL;
            device->options.memory_cap_nbytes = held + (peak - held) * (uint64_t)k / 14;
            assert_int_equal(tracer->ops->build(tracer, &mesh, 0, NULL, &scene, &err), KR_ERR_DEVICE_MEMORY);
            assert_non_null(strstr(err.text, "memory_cap_nbytes is"));
            assert_null(scene);
            assert_non_null(mesh.data.data);
            assert_int_equal(atomic_load(&device->in_use_nbytes), held);
            device->options.memory_cap_nbytes = 0;
            kr_buffer_release(device, &mesh.data, NULL);
        }
        scene = build(tracer, prim, (const float(*)[3])many, MANY, 0);
        check_many(scene, (const float(*)[3])many);
        tracer->ops->destroy(scene, NULL);
        assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
    }
    kr_device_close(device);
}

static void refused_refits(void **state)
{
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    fill_many();
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim) {
        kr_scene *scene = build(tracer, prim, (const float(*)[3])many, MANY, KR_SCENE_REFIT);
        kr_mesh mesh = make_mesh(device, prim, (const float(*)[3])moved, MANY);
        const uint64_t held = atomic_load(&device->in_use_nbytes);
        int refused = 0;
        for (uint64_t spare = 0; mesh.data.data; spare += held / 16) {
            device->options.memory_cap_nbytes = held + spare;
            const kr_status status = tracer->ops->refit(scene, &mesh, NULL, NULL);
            device->options.memory_cap_nbytes = 0;
            assert_true(status == KR_OK || status == KR_ERR_DEVICE_MEMORY);
            if (status) {
                ++refused;
                check_many(scene, (const float(*)[3])many);
            }
            assert_int_equal(atomic_load(&device->in_use_nbytes), scene->footprint_nbytes + mesh.data.nbytes);
        }
        if (prim == KR_PRIM_SPHERE) /* the copy alone is refused once */
            assert_true(refused > 0);
        check_many(scene, (const float(*)[3])moved);
        tracer->ops->destroy(scene, NULL);
        assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
    }
    kr_device_close(device);
}

static void estimates_hold(void **state)
{
    static const uint64_t sizes[] = {1, 3, 60, 500, 1024, 1500, 4097, MANY};
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    fill_many();
    for (uint32_t prim = 0; prim < KR_PRIMS; ++prim)
        for (uint32_t flags = 0; flags <= KR_SCENE_REFIT; ++flags)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
                const uint64_t n = sizes[s];
                kr_mesh mesh = make_mesh(device, prim, (const float(*)[3])many, n);
                kr_scene_estimate told;
                kr_scene *scene = NULL;
                kr_peak begun;
                const uint64_t held = mesh.data.nbytes;
                assert_int_equal(tracer->ops->estimate(tracer, prim, n, flags, &told, NULL), KR_OK);
                kr_stream *counted = kr_peak_begin(&begun, device, NULL);
                assert_int_equal(tracer->ops->build(tracer, &mesh, flags, counted, &scene, NULL), KR_OK);
                const uint64_t peak = held + kr_peak_most(&begun);
                assert_true(scene->footprint_nbytes <= told.footprint_nbytes);
                assert_true(peak <= told.peak_nbytes);
                if (n >= 1000) {
                    assert_true(told.footprint_nbytes * 2 <= scene->footprint_nbytes * 3);
                    assert_true(told.peak_nbytes * 2 <= peak * 3);
                }
                tracer->ops->destroy(scene, NULL);
            }
    kr_device_close(device);
}

/* ---- Progress and threads ---------------------------------------------------------------------- */

typedef struct watcher {
    pthread_t caller;
    int calls, stop_at, elsewhere, bvh;
    double last;
} watcher;

static int watch(void *ctx, const char *phase, double fraction)
{
    watcher *own = ctx;
    own->elsewhere += !pthread_equal(own->caller, pthread_self());
    if (strcmp(phase, "bvh") == 0) {
        ++own->bvh;
        assert_true(fraction >= 0 && fraction <= 1);
    }
    return ++own->calls == own->stop_at;
}

static void progress_and_cancel(void **state)
{
    watcher own = {.caller = pthread_self()};
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 2, .progress = {watch, &own}};
    kr_tracer *tracer;
    kr_device *device = open_cpu(&options, &tracer);
    (void)state;
    fill_many();
    kr_scene *scene = build(tracer, KR_PRIM_TRIANGLE, (const float(*)[3])many, MANY, 0);
    tracer->ops->destroy(scene, NULL);
    assert_true(own.bvh > 0);
    assert_int_equal(own.elsewhere, 0);
    const int calls = own.calls;
    for (int at = 1; at <= calls; at += 1 + calls / 5) {
        kr_mesh mesh = make_mesh(device, KR_PRIM_TRIANGLE, (const float(*)[3])many, MANY);
        own.calls = 0, own.stop_at = at;
        scene = NULL;
        const kr_status status = tracer->ops->build(tracer, &mesh, 0, NULL, &scene, NULL);
        own.stop_at = 0;
        if (own.calls >= at) /* another thread may have done the work that was reported here before */
            assert_int_equal(status, KR_ERR_CANCELLED);
        if (!status)
            tracer->ops->destroy(scene, NULL);
        else
            kr_buffer_release(device, &mesh.data, NULL);
        assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
    }
    scene = build(tracer, KR_PRIM_TRIANGLE, (const float(*)[3])many, MANY, 0);
    check_many(scene, (const float(*)[3])many);
    tracer->ops->destroy(scene, NULL);
    kr_device_close(device);
}

typedef struct worker {
    kr_tracer *tracer;
    const kr_scene *shared;
    uint32_t prim;
} worker;

/* Traces in a scene of both threads while building and releasing its own. */
static void *work(void *argument)
{
    const worker *own = argument;
    for (int round = 0; round < 4; ++round) {
        check_many(own->shared, (const float(*)[3])many);
        kr_scene *scene = build(own->tracer, own->prim, (const float(*)[3])moved, MANY, 0);
        check_many(scene, (const float(*)[3])moved);
        own->tracer->ops->destroy(scene, NULL);
    }
    return NULL;
}

static void two_threads(void **state)
{
    pthread_t threads[2];
    worker workers[2];
    kr_tracer *tracer;
    kr_device *device = open_cpu(NULL, &tracer);
    (void)state;
    fill_many();
    kr_scene *shared = build(tracer, KR_PRIM_TRIANGLE, (const float(*)[3])many, MANY, KR_SCENE_COMPACT);
    for (uint32_t i = 0; i < 2; ++i) {
        workers[i] = (worker){tracer, shared, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&device->in_use_nbytes), shared->footprint_nbytes);
    tracer->ops->destroy(shared, NULL);
    assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_builds), cmocka_unit_test(refused_refits),
        cmocka_unit_test(estimates_hold), cmocka_unit_test(progress_and_cancel),
        cmocka_unit_test(two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
