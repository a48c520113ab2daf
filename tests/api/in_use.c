/* The count of device memory: it includes what is allocated, excludes what is released, and nothing leaks. */
#include "check.h"

#include <pthread.h>

static kr_device *device;

static uint64_t in_use(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    CHECK(kr_device_query(device, &info, NULL) == KR_OK);
    CHECK(info.peak_nbytes >= info.in_use_nbytes);
    return info.in_use_nbytes;
}

static void check_memory(void)
{
    void *a = NULL, *b = NULL;
    CHECK(in_use() == 0);
    WORKS(kr_memory_allocate(device, 1000, NULL, &a, &err));
    CHECK(in_use() >= 1000 && (uintptr_t)a % 256 == 0);
    WORKS(kr_memory_allocate(device, 1, NULL, &b, &err));
    CHECK(in_use() >= 1001);
    kr_memory_release(device, a, 1000, NULL);
    kr_memory_release(device, b, 1, NULL);
    CHECK(in_use() == 0);
}

/* The cap counts what is held, and giving it back makes room. */
static void check_cap(void)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 10000};
    kr_device *capped = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    void *a = NULL, *b = NULL;
    WORKS(kr_device_open("cpu", &options, &capped, &err));
    WORKS(kr_memory_allocate(capped, 6000, NULL, &a, &err));
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_memory_allocate(capped, 6000, NULL, &b, &err));
    kr_memory_release(capped, a, 6000, NULL);
    WORKS(kr_memory_allocate(capped, 6000, NULL, &b, &err));
    WORKS(kr_device_query(capped, &info, &err));
    CHECK(info.in_use_nbytes >= 6000 && info.peak_nbytes <= 10000);
    kr_memory_release(capped, b, 6000, NULL);
    kr_device_close(capped);
}

/* Partitioned batches are cut into pieces where a cap leaves no room for the batch; the 16 bytes per probe
 * that ROWS holds for the entire batch are taken into account. */
static void check_pieces(void)
{
    enum { KEYS = 1 << 20, PROBES = 1 << 22 };
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 98 << 20};
    uint64_t *offsets = malloc((PROBES + 1) * sizeof *offsets), wrong = 0;
    uint32_t *data = malloc(PROBES * sizeof *data);
    kr_column keys = {.type = KR_U32, .count = KEYS, .data = data};
    kr_device *capped = NULL;
    kr_index *index = NULL;
    for (uint32_t i = 0; i < PROBES; ++i)
        data[i] = i * 2654435761u;
    WORKS(kr_device_open("cpu", &options, &capped, &err));
    WORKS(kr_index_create(capped, "array:probes=partitioned", &keys, NULL, NULL, &index, &err));
    keys.count = PROBES;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROWS, .out = offsets};
    WORKS(kr_index_lookup(index, &keys, &sink, NULL, &err));
    for (uint32_t i = 0; index && i <= PROBES; ++i)
        wrong += offsets[i] != (i < KEYS ? i : KEYS);
    CHECK(wrong == 0);
    kr_index_destroy(index);
    kr_device_close(capped);
    free(data);
    free(offsets);
}

/* A join of n equal rows on each side has n * n pairs of 8 bytes: more than the cap that a CPU has by
 * default. */
static void check_join_under_default_cap(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_join *join = NULL;
    uint64_t n = 1;
    WORKS(kr_device_query(device, &info, &err));
    CHECK(info.memory_cap_nbytes > 0 && info.memory_cap_nbytes <= info.memory_nbytes);
    while (n * n * 8 <= info.memory_cap_nbytes)
        n *= 2;
    uint32_t *data = calloc(n, sizeof *data);
    const kr_column same = {.type = KR_U32, .count = n, .data = data};
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_join_create(device, "array", &same, &same, NULL, &join, &err));
    CHECK(in_use() == 0);
    free(data);
}

static void check_indexes(void)
{
    enum { N = 1000 };
    uint32_t *data = calloc(N, sizeof *data);
    kr_column keys = {.type = KR_U32, .count = N, .data = data};
    kr_index *index[3] = {0};
    kr_index_info info[3] = {
        {.struct_size = sizeof *info}, {.struct_size = sizeof *info}, {.struct_size = sizeof *info}};
    kr_join *join = NULL;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < N; ++i)
        data[i] = i * 7919 % 1000;
    for (int i = 0; i < 3; ++i) {
        WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index[i], &err));
        WORKS(kr_index_query(index[i], &info[i], &err));
        sum += info[i].footprint_nbytes;
        CHECK(in_use() == sum);
    }
    for (int i = 0; i < 3; ++i) {
        kr_index_destroy(index[i]);
        sum -= info[i].footprint_nbytes;
        CHECK(in_use() == sum);
    }
    WORKS(kr_join_create(device, "array", &keys, &keys, NULL, &join, &err));
    CHECK(in_use() > 0);
    kr_join_destroy(join);
    CHECK(in_use() == 0);
    free(data);
}

/* ---- Two builds at once ---------------------------------------------------------------------- */

enum { LARGE = 1 << 16, SMALL = 1 << 12 };

/* At one call of the allocator in the large build, another thread makes the small one. */
static _Thread_local int is_large;
static uint64_t calls, meet_at, small_peak;
static kr_device *shared;

static uint64_t build_peak(uint64_t n)
{
    kr_index_info info = {.struct_size = sizeof info};
    kr_index *index = NULL;
    uint32_t *data = calloc(n, sizeof *data);
    const kr_column keys = {.type = KR_U32, .count = n, .data = data};
    for (uint64_t i = 0; i < n; ++i)
        data[i] = (uint32_t)i * 2654435761u;
    WORKS(kr_index_create(shared, "array", &keys, NULL, NULL, &index, &err));
    WORKS(kr_index_query(index, &info, &err));
    kr_index_destroy(index);
    free(data);
    return info.peak_nbytes;
}

static void *build_small(void *unused)
{
    (void)unused;
    small_peak = build_peak(SMALL);
    return NULL;
}

static void meet(void)
{
    pthread_t other;
    if (!is_large || ++calls != meet_at)
        return;
    CHECK(pthread_create(&other, NULL, build_small, NULL) == 0);
    CHECK(pthread_join(other, NULL) == 0);
}

static void *take(void *ctx, size_t nbytes, void *stream)
{
    (void)ctx;
    (void)stream;
    meet();
    return aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void give(void *ctx, void *memory, size_t nbytes, void *stream)
{
    (void)ctx;
    (void)nbytes;
    (void)stream;
    meet();
    free(memory);
}

/* Wherever they meet, each has the peak that it has alone. */
static void check_two_builds(void)
{
    const kr_device_options options = {.struct_size = sizeof options, .allocate = take, .release = give};
    WORKS(kr_device_open("cpu", &options, &shared, &err));
    const uint64_t small = build_peak(SMALL);
    is_large = 1;
    meet_at = calls = 0;
    const uint64_t large = build_peak(LARGE), all = calls;
    CHECK(small >= SMALL * 8 && large >= LARGE * 8 && all > 4);
    for (meet_at = 1; meet_at <= all; ++meet_at) {
        calls = small_peak = 0;
        CHECK(build_peak(LARGE) == large);
        CHECK(small_peak == small);
    }
    is_large = 0;
    kr_device_close(shared);
}

int main(void)
{
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    check_memory();
    check_cap();
    check_pieces();
    check_indexes();
    check_join_under_default_cap();
    check_two_builds();
    kr_device_close(device);
    return failures != 0;
}
