/* The instruction set of a CPU device: chosen by the CPU or by the environment; an impossible choice is an
 * error. */
#include "base/devices/cpu/isa.h"
#include "base/devices/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void opens_with(const char *value, const char *named)
{
    kr_device *device = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    if (value)
        setenv("KEYRAY_ISA", value, 1);
    else
        unsetenv("KEYRAY_ISA");
    assert_int_equal(kr_device_open("cpu", NULL, &device, &err), KR_OK);
    assert_int_equal(kr_device_query(device, &info, &err), KR_OK);
    assert_non_null(strstr(info.software, named));
    kr_device_close(device);
}

static void refuses(const char *value, kr_status expected, const char *named)
{
    kr_device *device = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    setenv("KEYRAY_ISA", value, 1);
    assert_int_equal(kr_device_open("cpu", NULL, &device, &err), expected);
    assert_null(device);
    assert_non_null(strstr(err.text, "KEYRAY_ISA"));
    assert_non_null(strstr(err.text, named));
    assert_int_equal(kr_device_describe(0, &info, &err), expected);
    unsetenv("KEYRAY_ISA");
}

static void opens_with_sets_that_are_there(void **state)
{
    uint32_t most;
    (void)state;
    unsetenv("KEYRAY_ISA");
    assert_int_equal(kr_cpu_isa(&most, NULL), KR_OK);
    assert_in_range(most, KR_ISA_PLAIN, KR_ISA_AVX512);
    opens_with(NULL, kr_cpu_isa_name(most));
    for (uint32_t isa = 0; isa <= most; ++isa)
        opens_with(kr_cpu_isa_name(isa), kr_cpu_isa_name(isa));
    unsetenv("KEYRAY_ISA");
    for (uint32_t isa = most + 1; isa < KR_ISAS; ++isa)
        refuses(kr_cpu_isa_name(isa), KR_ERR_UNSUPPORTED, kr_cpu_isa_name(most));
}

static void refuses_names_that_nobody_knows(void **state)
{
    static const char *const names[] = {"", "avx", "AVX2", "avx2 ", "avx5120", "sse"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        refuses(names[i], KR_ERR_ARGUMENT, "plain, avx2 or avx512");
}

/* A device keeps the set that it was opened with. */
static void name_of_set(const void *params, uint64_t first, uint64_t end, uint64_t n)
{
    (void)first, (void)end, (void)n;
    **(const char **const *)params = "plain";
}
static void name_of_avx2(const void *params, uint64_t first, uint64_t end, uint64_t n)
{
    (void)first, (void)end, (void)n;
    **(const char **const *)params = "avx2";
}
static void name_of_avx512(const void *params, uint64_t first, uint64_t end, uint64_t n)
{
    (void)first, (void)end, (void)n;
    **(const char **const *)params = "avx512";
}

static void runs_the_program_of_its_set(void **state)
{
    static const kr_program whole = {.name = "whole",
                                     .params_nbytes = sizeof(void *),
                                     .cpu = name_of_set,
                                     .cpu_isa = {name_of_avx2, name_of_avx512}};
    static const kr_program plain_only = {
        .name = "plain_only", .params_nbytes = sizeof(void *), .cpu = name_of_set};
    const char *name = NULL;
    const char **const params = &name;
    uint32_t most;
    (void)state;
    unsetenv("KEYRAY_ISA");
    assert_int_equal(kr_cpu_isa(&most, NULL), KR_OK);
    for (uint32_t isa = 0; isa <= most; ++isa) {
        kr_device *device = NULL;
        setenv("KEYRAY_ISA", kr_cpu_isa_name(isa), 1);
        assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
        unsetenv("KEYRAY_ISA");
        assert_int_equal(kr_device_run(device, &whole, &params, 1, NULL, NULL), KR_OK);
        assert_string_equal(name, kr_cpu_isa_name(isa));
        assert_int_equal(kr_device_run(device, &plain_only, &params, 1, NULL, NULL), KR_OK);
        assert_string_equal(name, "plain");
        kr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_with_sets_that_are_there),
        cmocka_unit_test(refuses_names_that_nobody_knows),
        cmocka_unit_test(runs_the_program_of_its_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
