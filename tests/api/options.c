/* Options of devices: all zero means default, allocators must be complete or absent. */
#include "check.h"

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    (void)native_stream;
    *(uint64_t *)ctx += 1;
    return aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

/* Memory that breaks the contract. */
static void *allocate_misaligned(void *ctx, size_t nbytes, void *native_stream)
{
    char *memory = allocate(ctx, nbytes + 256, native_stream);
    return memory ? memory + 8 : NULL;
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)nbytes;
    (void)native_stream;
    *(uint64_t *)ctx -= 1;
    free(memory);
}

static void release_misaligned(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    release(ctx, (char *)memory - 8, nbytes, native_stream);
}

static void check_device_options(void)
{
    kr_device *device = NULL;
    uint64_t held = 0;
    kr_device_options options = {0};
    options =
        (kr_device_options){.struct_size = sizeof options, .allocate = allocate, .allocator_ctx = &held};
    REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", &options, &device, &err));
    options = (kr_device_options){.struct_size = sizeof options, .release = release, .allocator_ctx = &held};
    REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", &options, &device, &err));
    CHECK(device == NULL);
    options = (kr_device_options){.struct_size = sizeof options};
    WORKS(kr_device_open("cpu", &options, &device, &err));
    kr_device_close(device);
}

/* Every byte of device memory comes from the caller's allocator and goes back to it. */
static void check_allocator(void)
{
    const uint32_t data[3] = {3, 1, 2};
    const kr_column keys = {.type = KR_U32, .count = 3, .data = data};
    uint64_t held = 0;
    kr_device_options options = {
        .struct_size = sizeof options, .allocate = allocate, .release = release, .allocator_ctx = &held};
    kr_device *device = NULL;
    kr_index *index = NULL;
    WORKS(kr_device_open("cpu", &options, &device, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    CHECK(held > 0);
    kr_index_destroy(index);
    kr_device_close(device);
    CHECK(held == 0);
    index = NULL;
    options.allocate = allocate_misaligned;
    options.release = release_misaligned;
    WORKS(kr_device_open("cpu", &options, &device, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    CHECK(index == NULL);
    kr_device_close(device);
    CHECK(held == 0);
}

int main(void)
{
    check_device_options();
    check_allocator();
    return failures != 0;
}
