/* For unit tests: a device whose n-th allocation fails. */
#ifndef KEYRAY_TESTS_FAILING_DEVICE_H
#define KEYRAY_TESTS_FAILING_DEVICE_H

#include <keyray/keyray_cuda.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t fail_at; /* counted down; 0: nothing fails */

static kr_device *device;
static const char *opened_name = "cpu"; /* may be changed before open_device */
static kr_device *backing; /* of a GPU: another device of the name, which has the memory; or NULL */

/* What is allocated and released in the order of a stream of `device`. */
static kr_stream *wrap(void *native_stream)
{
    kr_stream *stream = NULL;
    if (kr_stream_wrap_cuda(backing, native_stream, &stream, NULL) != KR_OK)
        abort();
    return stream;
}

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    void *memory = NULL;
    (void)ctx;
    if (fail_at && --fail_at == 0)
        return NULL;
    if (!backing)
        return aligned_alloc(256, (nbytes + 255) / 256 * 256);
    kr_stream *stream = wrap(native_stream);
    if (kr_memory_allocate(backing, nbytes, stream, &memory, NULL) != KR_OK)
        memory = NULL;
    kr_stream_destroy(stream);
    return memory;
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx;
    if (!backing) {
        free(memory);
        return;
    }
    kr_stream *stream = wrap(native_stream);
    kr_memory_release(backing, memory, nbytes, stream);
    kr_stream_destroy(stream);
}

static void open_device(void)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 2, .allocate = allocate, .release = release};
    if (strcmp(opened_name, "cpu") != 0)
        assert_int_equal(kr_device_open(opened_name, NULL, &backing, NULL), KR_OK);
    assert_int_equal(kr_device_open(opened_name, &options, &device, NULL), KR_OK);
}

#endif
