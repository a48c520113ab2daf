/* For unit tests: a CPU device whose n-th allocation fails. */
#ifndef KEYRAY_TESTS_FAILING_DEVICE_H
#define KEYRAY_TESTS_FAILING_DEVICE_H

#include <keyray/keyray.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t fail_at; /* counted down; 0: nothing fails */

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    (void)ctx, (void)native_stream;
    return fail_at && --fail_at == 0 ? NULL : aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx, (void)nbytes, (void)native_stream;
    free(memory);
}

static kr_device *device;

static void open_device(void)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 2, .allocate = allocate, .release = release};
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
}

#endif
