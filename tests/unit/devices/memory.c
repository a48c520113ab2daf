/* Counting memory against the cap, the caller's allocator, copies. */
#include "base/devices/device.h"
#include "steps.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kr_device *open_cpu(const kr_device_options *options)
{
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", options, &device, NULL), KR_OK);
    return device;
}

static kr_device_info query(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_device_query(device, &info, NULL), KR_OK);
    return info;
}

static void counts_use_and_peak(void **state)
{
    kr_device *device = open_cpu(NULL);
    void *small, *large;
    (void)state;
    assert_int_equal(kr_memory_allocate(device, 1001, NULL, &small, NULL), KR_OK);
    assert_int_equal(kr_memory_allocate(device, 5 << 20, NULL, &large, NULL), KR_OK);
    assert_int_equal((uintptr_t)small % 256, 0);
    assert_int_equal((uintptr_t)large % 256, 0);
    memset(small, 1, 1001);
    memset(large, 1, 5 << 20);
    assert_int_equal(query(device).in_use_nbytes, 1001 + (5 << 20));
    kr_memory_release(device, large, 5 << 20, NULL);
    kr_memory_release(device, NULL, 77, NULL);
    assert_int_equal(query(device).in_use_nbytes, 1001);
    kr_memory_release(device, small, 1001, NULL);
    assert_int_equal(query(device).in_use_nbytes, 0);
    assert_int_equal(query(device).peak_nbytes, 1001 + (5 << 20));
    kr_device_close(device);
}

static void nothing_is_no_buffer(void **state)
{
    kr_device *device = open_cpu(NULL);
    kr_buffer buffer = {device, 5};
    void *memory = device;
    (void)state;
    assert_int_equal(kr_buffer_allocate(device, 0, NULL, "nothing", NULL, &buffer, NULL), KR_OK);
    assert_true(!buffer.data && !buffer.nbytes);
    kr_buffer_release(device, &buffer, NULL);
    assert_int_equal(kr_memory_allocate(device, 0, NULL, &memory, NULL), KR_OK);
    assert_null(memory);
    assert_int_equal(kr_memory_allocate(device, 1, NULL, NULL, NULL), KR_ERR_ARGUMENT);
    assert_int_equal(kr_memory_allocate(NULL, 1, NULL, &memory, NULL), KR_ERR_ARGUMENT);
    kr_memory_release(NULL, NULL, 0, NULL);
    kr_device_close(device);
}

static void cap_is_kept(void **state)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 1000};
    kr_device *device = open_cpu(&options);
    kr_buffer first, second = {device, 9};
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_buffer_allocate(device, 600, NULL, "a first", NULL, &first, &err), KR_OK);
    assert_int_equal(kr_buffer_allocate(device, 401, NULL, "the second thing", "use tiny=on", &second, &err),
                     KR_ERR_DEVICE_MEMORY);
    assert_true(second.data == device && second.nbytes == 9);
    assert_non_null(strstr(err.text, "the second thing"));
    assert_non_null(strstr(err.text, "401"));
    assert_non_null(strstr(err.text, "600"));
    assert_non_null(strstr(err.text, "1000"));
    assert_non_null(strstr(err.text, "use tiny=on"));
    assert_int_equal(kr_buffer_allocate(device, UINT64_MAX, NULL, "all", NULL, &second, &err),
                     KR_ERR_DEVICE_MEMORY);
    assert_int_equal(query(device).in_use_nbytes, 600);
    assert_int_equal(query(device).peak_nbytes, 600);
    assert_int_equal(kr_buffer_allocate(device, 400, NULL, "what is left", NULL, &second, &err), KR_OK);
    assert_int_equal(query(device).peak_nbytes, 1000);
    kr_buffer_release(device, &second, NULL);
    kr_buffer_release(device, &first, NULL);
    assert_int_equal(query(device).in_use_nbytes, 0);
    kr_device_close(device);
}

static void more_than_there_is(void **state)
{
    const kr_device_options no_cap = {.struct_size = sizeof no_cap, .memory_cap_nbytes = UINT64_MAX};
    kr_device *device = open_cpu(NULL);
    void *memory = NULL;
    kr_error err = {0};
    (void)state;
    assert_in_range(query(device).memory_cap_nbytes, 1 << 20, query(device).memory_nbytes);
    assert_int_equal(kr_memory_allocate(device, (uint64_t)1 << 62, NULL, &memory, &err),
                     KR_ERR_DEVICE_MEMORY);
    assert_non_null(strstr(err.text, "4611686018427387904"));
    assert_non_null(strstr(err.text, "what was available when the device opened"));
    assert_string_equal(err.vendor_call, "");
    kr_device_close(device);
    device = open_cpu(&no_cap);
    assert_int_equal(query(device).memory_cap_nbytes, 0);
    assert_int_equal(kr_memory_allocate(device, (uint64_t)1 << 62, NULL, &memory, &err),
                     KR_ERR_DEVICE_MEMORY);
    assert_string_equal(err.vendor_call, "posix_memalign");
    assert_null(memory);
    assert_int_equal(query(device).in_use_nbytes, 0);
    assert_int_equal(query(device).peak_nbytes, 0);
    kr_device_close(device);
}

/* ---- The caller's allocator ------------------------------------------------------------------ */

typedef struct pool {
    uint64_t calls, fail_at, held_nbytes, blocks;
    uintptr_t skew;
} pool;

static void *pool_allocate(void *ctx, size_t nbytes, void *stream)
{
    pool *own = ctx;
    void *memory = NULL;
    assert_null(stream);
    if (++own->calls == own->fail_at || posix_memalign(&memory, 256, nbytes + 256))
        return NULL;
    own->held_nbytes += nbytes;
    ++own->blocks;
    return (char *)memory + own->skew;
}

static void pool_release(void *ctx, void *memory, size_t nbytes, void *stream)
{
    pool *own = ctx;
    assert_null(stream);
    assert_true(own->blocks > 0 && own->held_nbytes >= nbytes);
    own->held_nbytes -= nbytes;
    --own->blocks;
    free((char *)memory - own->skew);
}

static kr_device *open_with_pool(pool *own)
{
    const kr_device_options options = {.struct_size = sizeof options,
                                       .allocate = pool_allocate,
                                       .release = pool_release,
                                       .allocator_ctx = own};
    return open_cpu(&options);
}

static void callers_allocator_is_balanced(void **state)
{
    pool own = {0};
    kr_device *device = open_with_pool(&own);
    const uint64_t n = 200000;
    uint32_t *keys = calloc(3 * n, sizeof *keys);
    const kr_sort sort = {32, 0, 32, n, keys, keys + n, NULL, keys + 2 * n};
    void *memory;
    (void)state;
    assert_non_null(keys);
    assert_int_equal(kr_memory_allocate(device, 12345, NULL, &memory, NULL), KR_OK);
    assert_int_equal(own.held_nbytes, 12345);
    assert_int_equal(sort_on(device, &sort, NULL, NULL), KR_OK);
    assert_int_equal(own.calls, 2);
    assert_int_equal(own.held_nbytes, query(device).in_use_nbytes);
    kr_memory_release(device, memory, 12345, NULL);
    assert_true(own.blocks == 0 && own.held_nbytes == 0);
    kr_device_close(device);
    free(keys);
}

static void failing_allocator_leaves_all_usable(void **state)
{
    pool own = {.fail_at = 1};
    kr_device *device = open_with_pool(&own);
    uint64_t values[] = {1, 2, 3};
    kr_error err = {0};
    void *memory = NULL;
    (void)state;
    assert_int_equal(sum_on(device, values, 3, NULL, &err), KR_ERR_DEVICE_MEMORY);
    assert_true(values[0] == 1 && values[2] == 3);
    assert_string_equal(err.vendor_call, "kr_device_options.allocate");
    assert_int_equal(kr_memory_allocate(device, 10, NULL, &memory, &err), KR_OK);
    kr_memory_release(device, memory, 10, NULL);
    assert_int_equal(sum_on(device, values, 3, NULL, &err), KR_OK);
    assert_true(values[0] == 0 && values[1] == 1 && values[2] == 3);
    assert_true(own.blocks == 0 && query(device).in_use_nbytes == 0);
    kr_device_close(device);
}

static void misaligned_memory_is_refused(void **state)
{
    pool own = {.skew = 64};
    kr_device *device = open_with_pool(&own);
    kr_error err = {0};
    void *memory = NULL;
    (void)state;
    assert_int_equal(kr_memory_allocate(device, 10, NULL, &memory, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "256"));
    assert_true(!memory && own.blocks == 0 && query(device).in_use_nbytes == 0);
    kr_device_close(device);
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum { MEMBERS = 4, ROUNDS = 1000, CAP = 3000 };

/* At any time one of the threads finds no room, and tries again. */
static void *allocate_and_release(void *argument)
{
    kr_device *device = argument;
    for (int done = 0; done < ROUNDS;) {
        void *memory;
        if (kr_memory_allocate(device, 1000, NULL, &memory, NULL)) {
            sched_yield();
            continue;
        }
        memset(memory, done, 1000);
        kr_memory_release(device, memory, 1000, NULL);
        ++done;
    }
    return NULL;
}

static void threads_never_pass_the_cap(void **state)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = CAP};
    kr_device *device = open_cpu(&options);
    pthread_t threads[MEMBERS];
    (void)state;
    for (int i = 0; i < MEMBERS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_release, device), 0);
    for (int i = 0; i < MEMBERS; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(query(device).in_use_nbytes, 0);
    assert_in_range(query(device).peak_nbytes, 1000, CAP);
    kr_device_close(device);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static void copies_and_fills(void **state)
{
    const uint64_t n = (3 << 20) + 17;
    kr_device *device = open_cpu(NULL);
    unsigned char *from = malloc(n), *to = malloc(n + 1);
    (void)state;
    assert_true(from && to);
    for (uint64_t i = 0; i < n; ++i)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    to[n] = 99;
    assert_int_equal(kr_memory_copy(device, to, from, n, NULL, NULL), KR_OK);
    assert_memory_equal(to, from, n);
    assert_int_equal(kr_device_fill(device, to + 1, 0xAB, n - 1, NULL, NULL), KR_OK);
    assert_int_equal(to[0], from[0]);
    for (uint64_t i = 1; i < n; ++i)
        if (to[i] != 0xAB)
            fail_msg("byte %llu was not filled", (unsigned long long)i);
    assert_int_equal(to[n], 99);
    assert_int_equal(kr_memory_copy(device, NULL, NULL, 0, NULL, NULL), KR_OK);
    assert_int_equal(kr_memory_copy(device, NULL, from, 1, NULL, NULL), KR_ERR_ARGUMENT);
    assert_int_equal(kr_memory_copy(device, to, NULL, 1, NULL, NULL), KR_ERR_ARGUMENT);
    assert_int_equal(kr_memory_copy(NULL, to, from, 1, NULL, NULL), KR_ERR_ARGUMENT);
    free(from);
    free(to);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_use_and_peak),
        cmocka_unit_test(nothing_is_no_buffer),
        cmocka_unit_test(cap_is_kept),
        cmocka_unit_test(more_than_there_is),
        cmocka_unit_test(callers_allocator_is_balanced),
        cmocka_unit_test(failing_allocator_leaves_all_usable),
        cmocka_unit_test(misaligned_memory_is_refused),
        cmocka_unit_test(threads_never_pass_the_cap),
        cmocka_unit_test(copies_and_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
