/* An index of more than 2^31 rows: positions, counts and sums past what a signed 32-bit number holds.
 *
 * Key i is i times an odd number modulo 2^32, so that all keys differ and every answer is known. Takes 45 GB
 * of GPU memory; skipped with a message on a GPU with less. */
#include <keyray/keyray.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, PROBES = 1 << 22 };
static const uint64_t N = ((uint64_t)1 << 31) + ((uint64_t)1 << 20) + 77;
static const uint32_t ODD = 2654435761u;

static uint64_t passed, failed;
static kr_error err;

static void check(int good, const char *what)
{
    passed += good != 0;
    failed += good == 0;
    printf("%s %s%s%s\n", good ? "ok   " : "FAILED", what, good || !err.text[0] ? "" : ": ",
           good ? "" : err.text);
}

static __global__ void make_keys(uint32_t *keys, uint64_t n)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * blockDim.x)
        keys[i] = (uint32_t)i * ODD;
}

/* Every n-th row's key, so that probes reach rows on both sides of 2^31. */
static uint32_t probed_row(uint64_t i)
{
    return (uint32_t)(N - 1 - i * (N / PROBES));
}

static void look_up_rows(kr_index *index)
{
    uint32_t *probes = (uint32_t *)malloc(PROBES * sizeof *probes),
             *rows = (uint32_t *)malloc(PROBES * sizeof *rows);
    for (uint64_t i = 0; i < PROBES; ++i)
        probes[i] = probed_row(i) * ODD;
    kr_column column = {};
    column.type = KR_U32;
    column.count = PROBES;
    column.data = probes;
    kr_sink sink = {};
    sink.struct_size = sizeof sink;
    sink.result = KR_RESULT_ROW;
    sink.out = rows;
    check(kr_index_lookup(index, &column, &sink, NULL, &err) == KR_OK, "point lookups");
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < PROBES; ++i)
        wrong += rows[i] != probed_row(i);
    check(wrong == 0, "rows on both sides of 2^31 are found");
    free(rows);
    free(probes);
}

static void look_up_everything(kr_index *index)
{
    const uint32_t lower = 0, upper = UINT32_MAX;
    uint64_t answer = 0;
    kr_column low = {}, high = {};
    low.type = high.type = KR_U32;
    low.count = high.count = 1;
    low.data = &lower;
    high.data = &upper;
    kr_sink sink = {};
    sink.struct_size = sizeof sink;
    sink.out = &answer;
    sink.result = KR_RESULT_COUNT;
    check(kr_index_range(index, &low, &high, &sink, NULL, &err) == KR_OK && answer == N,
          "a range counts all rows");
    sink.result = KR_RESULT_SUM_ROWS;
    check(kr_index_range(index, &low, &high, &sink, NULL, &err) == KR_OK &&
              answer == N / 2 * (N - 1) + (N % 2) * (N - 1) / 2,
          "a range sums all row ids");
}

/* A scene holds 2^29 primitives: one key more needs a second part, which is reported before a scene is
 * built. */
static void refuse_one_part(kr_device *device)
{
    const uint64_t n = ((uint64_t)1 << 29) + 1;
    kr_index *index = NULL;
    kr_column keys = {};
    void *data = NULL;
    keys.type = KR_U32;
    keys.count = n;
    if (kr_memory_allocate(device, n * 4, NULL, &data, &err) != KR_OK) {
        printf("skipped: more than 2^29 keys in one part: %s\n", err.text);
        return;
    }
    make_keys<<<4096, 256>>>((uint32_t *)data, n);
    check(cudaDeviceSynchronize() == cudaSuccess, "2^29 + 1 keys are made");
    keys.data = data;
    const kr_status status = kr_index_create(device, "rx:parts=1", &keys, NULL, NULL, &index, &err);
    if (status == KR_ERR_UNSUPPORTED)
        printf("skipped: more than 2^29 keys in one part: %s\n", err.text);
    else
        check(status == KR_ERR_LIMIT && strstr(err.text, "parts=2") && !index,
              "more than 2^29 keys in one part are refused, and parts=2 is advised");
    kr_index_destroy(index);
    kr_memory_release(device, data, n * 4, NULL);
}

int main(void)
{
    kr_device *device = NULL;
    kr_device_info info = {};
    info.struct_size = sizeof info;
    kr_estimate estimate = {};
    estimate.struct_size = sizeof estimate;
    kr_index *index = NULL;
    kr_column keys = {};
    void *data = NULL;
    keys.type = KR_U32;
    keys.count = N;
    if (kr_device_open("cuda", NULL, &device, &err) != KR_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    check(kr_device_query(device, &info, &err) == KR_OK, "the device describes itself");
    refuse_one_part(device);
    check(kr_memory_allocate(device, 256, NULL, &data, &err) == KR_OK, "memory");
    keys.data = data; /* only its place matters to an estimate */
    check(kr_index_estimate(device, "array", &keys, &estimate, &err) == KR_OK, "an estimate");
    kr_memory_release(device, data, 256, NULL);
    if (estimate.peak_nbytes + N * 4 > info.memory_nbytes / 10 * 9) {
        printf("skipped: %llu bytes needed, %s has %llu\n",
               (unsigned long long)(estimate.peak_nbytes + N * 4), info.description,
               (unsigned long long)info.memory_nbytes);
        return SKIPPED;
    }
    check(kr_memory_allocate(device, N * 4, NULL, &data, &err) == KR_OK, "memory for the keys");
    make_keys<<<4096, 256>>>((uint32_t *)data, N);
    check(cudaDeviceSynchronize() == cudaSuccess, "keys are made");
    keys.data = data;
    check(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err) == KR_OK,
          "an index of 2^31 rows and more");
    if (index) {
        check(kr_index_validate(index, &err) == KR_OK, "it is valid");
        look_up_rows(index);
        look_up_everything(index);
    }
    kr_index_destroy(index);
    kr_memory_release(device, data, N * 4, NULL);
    kr_device_close(device);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed != 0;
}
