/* Estimates of scenes in parts, for a tracer whose sizes are known: bounds of all that fewer primitives lead
 * to, since NULL rows, equal keys and shared buckets leave fewer than an estimate counts. */
#define KR_KEY_BITS 32

#include "cpu_device.h"
#include "index/families/cgrx/cgrx_scene.h"
#include "index/families/rx/rx_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* About what OptiX takes on an H200, where a scene of two triangles has 2432 bytes. */
enum { SCENE_NBYTES = 1408, PRIMITIVE_NBYTES = 512, BUILD_NBYTES = 5000, MESH_NBYTES = 300 };
/* Of a group: an instance of OptiX and a node above it. */
enum { INSTANCE_NBYTES = 400 };

static uint64_t scene_nbytes(uint64_t n)
{
    return SCENE_NBYTES + n * PRIMITIVE_NBYTES;
}

static uint64_t peak_nbytes(uint64_t n)
{
    return scene_nbytes(n) + BUILD_NBYTES + n * MESH_NBYTES;
}

static kr_status sizes(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags,
                       kr_scene_estimate *estimate, kr_error *err)
{
    (void)tracer, (void)prim, (void)flags, (void)err;
    assert_in_range(n, 1, KR_MOST_PRIMITIVES);
    *estimate = (kr_scene_estimate){scene_nbytes(n), peak_nbytes(n)};
    return KR_OK;
}

static void close_nothing(kr_tracer *tracer)
{
    (void)tracer;
}

static const kr_tracer_ops tracer_ops = {.close = close_nothing, .estimate = sizes};
static kr_tracer tracer = {.ops = &tracer_ops};

/* What n primitives take in at most `parts` parts, which are as equal as kr_scenes_build makes them. */
static kr_scene_estimate real(uint64_t n, uint64_t parts)
{
    const uint64_t part = (n + parts - 1) / parts, n_parts = (n + part - 1) / part;
    const uint64_t last = n - (n_parts - 1) * part;
    const uint64_t others =
        (n_parts - 1) * scene_nbytes(part) + (n_parts > 1 ? n_parts * INSTANCE_NBYTES : 0);
    const uint64_t whole = others + scene_nbytes(last), largest = others + peak_nbytes(last);
    /* the last but one is built when the last is not there yet */
    const uint64_t before = n_parts > 1 ? (n_parts - 2) * scene_nbytes(part) + peak_nbytes(part) : 0;
    return (kr_scene_estimate){whole, largest > before ? largest : before};
}

static void check(const kr_scene_estimate *estimate, uint64_t n, uint64_t parts)
{
    const kr_scene_estimate is = real(n, parts);
    if (estimate->footprint_nbytes < is.footprint_nbytes || estimate->peak_nbytes < is.peak_nbytes)
        fail_msg(
            "%llu primitives in at most %llu parts take %llu bytes, at the peak %llu; estimated were %llu "
            "and %llu",
            (unsigned long long)n, (unsigned long long)parts, (unsigned long long)is.footprint_nbytes,
            (unsigned long long)is.peak_nbytes, (unsigned long long)estimate->footprint_nbytes,
            (unsigned long long)estimate->peak_nbytes);
}

/* Never too low for as many primitives or fewer; for as many, at most four times too high. */
static void check_all(uint64_t n, uint32_t parts)
{
    const rx_design design = {.prim = KR_PRIM_TRIANGLE, .parts = parts};
    const kr_scene_estimate is = real(n, parts);
    kr_scene_estimate estimate;
    assert_int_equal(rx_scenes_estimate(device, &design, n, &estimate, NULL), KR_OK);
    for (uint64_t fewer = n; fewer > 0; --fewer)
        check(&estimate, fewer, parts);
    assert_true(estimate.footprint_nbytes <= 4 * is.footprint_nbytes);
    assert_true(estimate.peak_nbytes <= 4 * is.peak_nbytes);
}

static void fewer_primitives_make_more_parts(void **state)
{
    static const uint32_t parts[] = {1, 2, 3, 7, 8, 63, 64, 100, 255};
    (void)state;
    for (uint32_t p = 0; p < sizeof parts / sizeof *parts; ++p)
        for (uint64_t n = 1; n <= 300; ++n)
            check_all(n, parts[p]);
    check_all(4609, 4096);
    check_all(8193, 4096);
}

/* 65537 keys in buckets of 16 have 4097 triangles, and up to 512 that mark rows. Equal keys left 4092. */
static void triangles_of_equal_keys(void **state)
{
    const cgrx_design design = {.map = {.x_bits = 23, .y_bits = 23},
                                .scene = CGRX_OPTIMIZED,
                                .rays = CGRX_RAYS_AUTO,
                                .bucket = 16,
                                .parts = 4096};
    kr_scene_estimate estimate;
    (void)state;
    assert_int_equal(cgrx_scene_estimate_u32(device, &design, 65537, 32, &estimate, NULL), KR_OK);
    check(&estimate, 4092, 4096);
    check(&estimate, 4609, 4096);
    assert_true(estimate.footprint_nbytes <= 4 * real(4092, 4096).footprint_nbytes);
}

/* A GPU's rx decides by the number of keys: the fewer there are, the fewer and larger parts may be. */
static void parts_by_the_number_of_keys(void **state)
{
    const rx_design design = {.prim = KR_PRIM_TRIANGLE};
    const uint64_t most = 1 << 22;
    const kr_device_ops *own = device->ops;
    kr_device_ops gpu = *own;
    (void)state;
    gpu.is_host = 0;
    device->ops = &gpu;
    for (uint64_t k = 1; k <= 70; ++k)
        for (uint64_t more = 0; more < 2; ++more) {
            const uint64_t n = k * most + more;
            kr_scene_estimate estimate;
            assert_int_equal(rx_scenes_estimate(device, &design, n, &estimate, NULL), KR_OK);
            for (uint64_t fewer = k; fewer > 0; --fewer)
                check(&estimate, fewer * most, fewer < 64 ? fewer : 64);
            check(&estimate, n, k + more < 64 ? k + more : 64);
        }
    device->ops = own;
}

static int open_with_tracer(void **state)
{
    if (open_device(state))
        return 1;
    tracer.device = device;
    device->tracer_close = close_nothing;
    atomic_store(&device->tracer, &tracer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_primitives_make_more_parts),
        cmocka_unit_test(triangles_of_equal_keys),
        cmocka_unit_test(parts_by_the_number_of_keys),
    };
    return cmocka_run_group_tests(tests, open_with_tracer, close_device);
}
