/* Opening, describing and closing devices; options; streams; running programs. */
#include "base/devices/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kr_status open_with(const kr_device_options *options, kr_error *err)
{
    kr_device *device = NULL;
    const kr_status status = kr_device_open("cpu", options, &device, err);
    assert_int_equal(status == KR_OK, device != NULL);
    kr_device_close(device);
    return status;
}

/* ---- Names --------------------------------------------------------------------------------- */

static void opens_by_name(void **state)
{
    kr_device *device = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, &err), KR_OK);
    assert_int_equal(kr_device_query(device, &info, &err), KR_OK);
    assert_string_equal(info.name, "cpu");
    assert_true(info.description[0] != '\0' && info.software[0] != '\0');
    assert_true(info.memory_nbytes > 0 && info.units > 0);
    assert_int_equal(info.in_use_nbytes, 0);
    assert_true(strncmp(info.tracer, "Embree ", 7) == 0 || strncmp(info.tracer, "none: ", 6) == 0);
    kr_device_close(device);
    kr_device_close(NULL);
}

static void refuses_other_names(void **state)
{
    static const char *const names[] = {"",        "gpu",    "CPU",     "cpu:0",   "cpux",
                                        "cuda:",   "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999",
                                        "cuda:999"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        kr_device *device = NULL;
        kr_error err = {0};
        assert_int_equal(kr_device_open(names[i], NULL, &device, &err), KR_ERR_NO_DEVICE);
        assert_null(device);
        assert_true(err.text[0] != '\0' && !strchr(err.text, '\n'));
    }
    assert_int_equal(kr_device_open(NULL, NULL, NULL, NULL), KR_ERR_ARGUMENT);
    assert_int_equal(kr_device_open("cpu", NULL, NULL, NULL), KR_ERR_ARGUMENT);
}

/* "auto" opens what "cuda" opens, or else the CPU. */
static void auto_opens_something(void **state)
{
    kr_device *device = NULL, *gpu = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    (void)state;
    const int has_gpu = kr_device_open("cuda", NULL, &gpu, NULL) == KR_OK;
    assert_int_equal(kr_device_open("auto", NULL, &device, NULL), KR_OK);
    assert_int_equal(kr_device_query(device, &info, NULL), KR_OK);
    assert_string_equal(info.name, has_gpu ? "cuda:0" : "cpu");
    kr_device_close(device);
    kr_device_close(gpu);
}

static void lists_until_the_last(void **state)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    uint32_t count = 0;
    (void)state;
    while (count < 100 && kr_device_describe(count, &info, &err) == KR_OK) {
        if (count == 0)
            assert_string_equal(info.name, "cpu");
        else
            assert_int_equal(strncmp(info.name, "cuda:", 5), 0);
        assert_true(info.description[0] != '\0');
        ++count;
    }
    assert_in_range(count, 1, 99);
    assert_int_equal(kr_device_describe(count, &info, &err), KR_ERR_NO_DEVICE);
    assert_true(err.text[0] != '\0');
    assert_int_equal(kr_device_describe(0, NULL, &err), KR_ERR_ARGUMENT);
}

/* ---- Options ------------------------------------------------------------------------------- */

static void checks_struct_size(void **state)
{
    struct {
        kr_device_options options;
        char tail[24];
    } later = {.options = {.struct_size = sizeof later}};
    kr_device_options options = {0};
    (void)state;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
    options.struct_size = sizeof options - 1;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
    options.struct_size = sizeof options;
    assert_int_equal(open_with(&options, NULL), KR_OK);
    assert_int_equal(open_with(&later.options, NULL), KR_OK);
    later.tail[sizeof later.tail - 1] = 1;
    assert_int_equal(open_with(&later.options, NULL), KR_ERR_ARGUMENT);
    later.options.struct_size = sizeof later.options;
    assert_int_equal(open_with(&later.options, NULL), KR_OK);
}

static void *allocate_none(void *ctx, size_t nbytes, void *stream)
{
    (void)ctx, (void)nbytes, (void)stream;
    return NULL;
}

static void release_none(void *ctx, void *memory, size_t nbytes, void *stream)
{
    (void)ctx, (void)memory, (void)nbytes, (void)stream;
}

static void checks_option_values(void **state)
{
    const kr_device_options plain = {.struct_size = sizeof plain};
    kr_device_options options = plain;
    int something;
    (void)state;
    options.reserved = 1;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
    options = plain;
    options.threads = UINT32_MAX;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
    options = plain;
    options.allocate = allocate_none;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
    options.release = release_none;
    assert_int_equal(open_with(&options, NULL), KR_OK);
    options.allocate = NULL;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
    options = plain;
    options.allocator_ctx = &something;
    assert_int_equal(open_with(&options, NULL), KR_ERR_ARGUMENT);
}

static void threads_option_is_kept(void **state)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = 3};
    kr_device *device;
    kr_device_info info = {.struct_size = sizeof info};
    (void)state;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    assert_int_equal(kr_device_query(device, &info, NULL), KR_OK);
    assert_int_equal(info.units, 3);
    kr_device_close(device);
}

/* ---- Streams ------------------------------------------------------------------------------- */

static void streams_belong_to_their_device(void **state)
{
    kr_device *one, *other;
    kr_stream *stream = NULL;
    kr_error err;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &one, &err), KR_OK);
    assert_int_equal(kr_device_open("cpu", NULL, &other, &err), KR_OK);
    assert_int_equal(kr_stream_create(one, &stream, &err), KR_OK);
    assert_int_equal(kr_device_sync(one, stream, &err), KR_OK);
    assert_int_equal(kr_device_sync(one, NULL, &err), KR_OK);
    assert_int_equal(kr_device_sync(other, stream, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_device_sync(NULL, stream, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_stream_create(one, NULL, &err), KR_ERR_ARGUMENT);
    kr_stream_destroy(stream);
    kr_stream_destroy(NULL);
    kr_device_close(other);
    kr_device_close(one);
}

/* ---- Programs ------------------------------------------------------------------------------ */

typedef struct mark_params {
    uint8_t *marks;
    uint64_t misaligned;
} mark_params;

/* Counts visits, and pieces that do not start or end where the contract says. */
static void mark(const void *block, uint64_t first, uint64_t end, uint64_t n)
{
    const mark_params *params = block;
    if (first % 64 || (end % 64 && end != n) || end > n)
        kr_atomic_add64((uint64_t *)&params->misaligned, 1);
    for (uint64_t i = first; i < end; ++i)
        ++params->marks[i];
}

static void run_marks(kr_device *device, uint64_t n)
{
    static const kr_program program = {"mark", sizeof(mark_params), mark, NULL, 0, 0};
    mark_params params = {calloc(n + 1, 1), 0};
    assert_non_null(params.marks);
    assert_int_equal(kr_device_run(device, &program, &params, n, NULL, NULL), KR_OK);
    for (uint64_t i = 0; i < n; ++i)
        if (params.marks[i] != 1)
            fail_msg("element %llu of %llu ran %u times", (unsigned long long)i, (unsigned long long)n,
                     params.marks[i]);
    assert_int_equal(params.marks[n], 0);
    assert_int_equal(params.misaligned, 0);
    free(params.marks);
}

static void runs_every_element_once(void **state)
{
    static const uint64_t sizes[] = {0, 1, 63, 64, 65, 1000, 100003, (1 << 22) - 1, (1 << 22) + 65, 9000001};
    (void)state;
    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        const kr_device_options options = {.struct_size = sizeof options, .threads = threads};
        kr_device *device;
        assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
            run_marks(device, sizes[i]);
        kr_device_close(device);
    }
}

static void refuses_a_program_without_code(void **state)
{
    static const kr_program program = {"gpu_only", 0, NULL, NULL, 0, 0};
    kr_device *device;
    kr_error err;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, &err), KR_OK);
    assert_int_equal(kr_device_run(device, &program, NULL, 1, NULL, &err), KR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "gpu_only"));
    kr_device_close(device);
}

typedef struct asked {
    uint32_t calls, stop_at;
    double last;
} asked;

static int count_call(void *ctx, const char *phase, double fraction)
{
    asked *asks = ctx;
    (void)phase;
    assert_true(fraction >= asks->last && fraction <= 1);
    asks->last = fraction;
    return ++asks->calls == asks->stop_at;
}

static void long_runs_report_and_stop(void **state)
{
    static const kr_program program = {"mark", sizeof(mark_params), mark, NULL, 0, 0};
    const uint64_t n = 9 << 20;
    asked asks = {0};
    const kr_device_options options = {.struct_size = sizeof options, .progress = {count_call, &asks}};
    mark_params params = {calloc(n, 1), 0};
    kr_device *device;
    kr_error err;
    (void)state;
    assert_non_null(params.marks);
    assert_int_equal(kr_device_open("cpu", &options, &device, &err), KR_OK);
    assert_int_equal(kr_device_run(device, &program, &params, n, NULL, &err), KR_OK);
    assert_in_range(asks.calls, 2, 100);
    assert_true(asks.last == 1);
    asks = (asked){.stop_at = 1};
    assert_int_equal(kr_device_run(device, &program, &params, n, NULL, &err), KR_ERR_CANCELLED);
    assert_int_equal(asks.calls, 1);
    assert_int_equal(params.marks[n - 1], 1);
    kr_device_close(device);
    free(params.marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_by_name),
        cmocka_unit_test(refuses_other_names),
        cmocka_unit_test(auto_opens_something),
        cmocka_unit_test(lists_until_the_last),
        cmocka_unit_test(checks_struct_size),
        cmocka_unit_test(checks_option_values),
        cmocka_unit_test(threads_option_is_kept),
        cmocka_unit_test(streams_belong_to_their_device),
        cmocka_unit_test(runs_every_element_once),
        cmocka_unit_test(refuses_a_program_without_code),
        cmocka_unit_test(long_runs_report_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
