/* Coordinates stay below what the tracer's rays meet: steps between keys become shorter by a power of two. */
#include "base/tracers/tracer.h"
#include "index/families/rx/rx.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static kr_device *device;
static kr_tracer *tracer;

static void steps(const char *text, float farthest, float largest, float x, float y, float z)
{
    kr_error err = {0};
    kr_spec spec = {0};
    if (kr_spec_parse(text, &spec, &err))
        fail_msg("'%s': %s", text, err.text);
    for (int prim = 0; prim < KR_PRIMS; ++prim)
        tracer->farthest[prim] = farthest, tracer->largest[prim] = largest;
    const kr_point step = rx_design_of(&spec, device).map.step;
    if (step.x != x || step.y != y || step.z != z)
        fail_msg("'%s': %g, %g, %g", text, (double)step.x, (double)step.y, (double)step.z);
}

static void are_those_of_scale(void **state)
{
    (void)state;
    steps("rx", 0x1p43f, 0x1p127f, 1, 0x1p15f, 0x1p25f);
    steps("rx:prim=aabb,scale=1:2:3", 0x1p50f, 0x1p127f, 2, 4, 8);
    steps("rx:mode=naive,scale=3:0:0", 0x1p26f, 0x1p127f, 8, 1, 1);
}

static void are_shorter(void **state)
{
    (void)state;
    steps("rx", 0x1p40f, 0x1p127f, 0x1p-3f, 0x1p12f, 0x1p22f);
    steps("rx:prim=aabb,scale=20:20:20", 0x1p40f, 0x1p127f, 0x1p17f, 0x1p17f, 0x1p17f);
    steps("rx:prim=aabb,bits=20:23:21,scale=0:19:0", 0x1p40f, 0x1p127f, 0x1p-2f, 0x1p17f, 0x1p-2f);
    steps("rx:mode=naive,scale=3:0:0", 0x1p22f, 0x1p127f, 0.5f, 0x1p-4f, 0x1p-4f);
}

static void of_extended_mode(void **state)
{
    (void)state;
    steps("rx:mode=extended", 0x1p40f, 0x1p127f, 1, 1, 1);
    steps("rx:mode=extended", 0x1p40f, 0x1p50f, 0x1p-77f, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_those_of_scale), cmocka_unit_test(are_shorter),
                                       cmocka_unit_test(of_extended_mode)};
    if (kr_device_open("cpu", NULL, &device, NULL) != KR_OK)
        return 1;
    const int status =
        kr_tracer_of(device, &tracer, NULL) == KR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
    kr_device_close(device);
    return status;
}
