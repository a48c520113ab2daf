/* Option structs: their size is checked, all zero means default, allocators come whole or not at all. */
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
    REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", &options, &device, &err));
    options.struct_size = sizeof options - 1;
    REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", &options, &device, &err));
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

/* The options of a later version: fine as long as what this version does not know is zero. */
static void check_longer_options(void)
{
    struct {
        kr_device_options known;
        uint64_t later[2];
    } options = {.known = {.struct_size = sizeof options}};
    kr_device *device = NULL;
    WORKS(kr_device_open("cpu", &options.known, &device, &err));
    kr_device_close(device);
    device = NULL;
    options.later[1] = 1;
    REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", &options.known, &device, &err));
    CHECK(device == NULL);
}

static void check_other_options(void)
{
    const uint32_t data[2] = {1, 2};
    const kr_column keys = {.type = KR_U32, .count = 2, .data = data};
    kr_join_options options = {0};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_join *join = NULL;
    uint32_t rows[2];
    kr_sink sink = {.struct_size = sizeof sink - 1, .result = KR_RESULT_ROW, .out = rows};
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &keys, &keys, &options, &join, &err));
    options.struct_size = sizeof options + 1;
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &keys, &keys, &options, &join, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_lookup(index, &keys, &sink, NULL, &err));
    sink.struct_size = SIZE_MAX;
    REFUSED(KR_ERR_ARGUMENT, kr_lookup(index, &keys, &sink, NULL, &err));
    kr_index_destroy(index);
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
    check_longer_options();
    check_other_options();
    check_allocator();
    return failures != 0;
}
