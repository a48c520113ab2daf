/* Memory under the caller's control: an allocator of one's own, a cap, and an estimate before building.
 *
 * On "cpu" the allocator hands out host memory. On "cuda" the same three fields take, say, a memory pool, and
 * `native_stream` is the cudaStream_t in whose order the memory is used. */
#include <keyray/keyray.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 100000 };

/* The allocator's state. Calls may come from any thread; here only one thread builds. */
typedef struct pool {
    size_t in_use, most;
    unsigned allocations;
} pool;

static void *pool_allocate(void *ctx, size_t nbytes, void *native_stream)
{
    pool *p = ctx;
    (void)native_stream;
    void *memory = aligned_alloc(256, (nbytes + 255) / 256 * 256);
    if (!memory)
        return NULL;
    p->allocations++;
    p->in_use += nbytes;
    p->most = p->in_use > p->most ? p->in_use : p->most;
    return memory;
}

static void pool_release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    pool *p = ctx;
    (void)native_stream;
    p->in_use -= nbytes;
    free(memory);
}

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

/* Opens a device with the pool and a cap, and tries to build. */
static kr_status try_build(pool *p, uint64_t cap_nbytes, const kr_column *keys, kr_index_info *info,
                           kr_error *err)
{
    const kr_device_options options = {
        .struct_size = sizeof options,
        .memory_cap_nbytes = cap_nbytes,
        .allocate = pool_allocate,
        .release = pool_release,
        .allocator_ctx = p,
    };
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_status status = kr_device_open("cpu", &options, &device, err);
    if (status == KR_OK)
        status = kr_index_create(device, "array", keys, NULL, NULL, &index, err);
    if (status == KR_OK)
        status = kr_index_query(index, info, err);
    kr_index_destroy(index);
    kr_device_close(device);
    return status;
}

static int ask_then_build(const kr_column *keys)
{
    kr_device *device = NULL;
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    pool p = {0};
    int wrong = failed(kr_device_open("cpu", NULL, &device, &err), &err) ||
                failed(kr_index_estimate(device, "array", keys, &estimate, &err), &err);
    kr_device_close(device);
    if (wrong)
        return 1;
    printf("estimate: %llu bytes kept, %llu at the worst moment\n",
           (unsigned long long)estimate.footprint_nbytes, (unsigned long long)estimate.peak_nbytes);

    /* Less than the index itself needs: the call fails and leaves nothing behind. */
    const kr_status refused = try_build(&p, estimate.footprint_nbytes / 2, keys, &info, &err);
    printf("with half of the footprint: %s: %s\n", kr_status_name(refused), err.text);
    if (refused != KR_ERR_DEVICE_MEMORY || p.in_use)
        return 1;

    /* Estimates are upper bounds, so this much is always enough. */
    if (failed(try_build(&p, estimate.peak_nbytes, keys, &info, &err), &err))
        return 1;
    printf("with the estimated peak: %llu bytes kept, %zu at the worst moment, %u allocations\n",
           (unsigned long long)info.footprint_nbytes, p.most, p.allocations);
    return p.in_use != 0 || p.most > estimate.peak_nbytes ||
           info.footprint_nbytes > estimate.footprint_nbytes;
}

int main(void)
{
    uint64_t *data = malloc(ROWS * sizeof *data);
    if (!data)
        return 1;
    for (uint64_t i = 0; i < ROWS; ++i)
        data[i] = i * 0x9E3779B97F4A7C15u;
    const kr_column keys = {.type = KR_U64, .count = ROWS, .data = data};
    const int wrong = ask_then_build(&keys);
    free(data);
    return wrong;
}
