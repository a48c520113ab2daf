/* The CUDA back end on a real GPU, through the calls that the rest of keyray uses.
 *
 *     device_gpu          everything except what needs 60 GB of memory
 *     device_gpu large    also that: sorts and sums of more than 2^31 elements
 *     device_gpu lost     the process that loses its GPU; the test starts it itself */
#include "base/devices/device.h"
#include "steps.h"

#include <keyray/keyray_cuda.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int passed, failed, skipped;
static kr_error err;

static void check(int condition, const char *what)
{
    printf("%s  %s%s%s\n", condition ? "ok  " : "FAIL", what, !condition && err.text[0] ? ": " : "",
           condition ? "" : err.text);
    fflush(stdout);
    condition ? ++passed : ++failed;
    memset(&err, 0, sizeof err);
}

static void skip(const char *what, const char *why)
{
    printf("skip  %s: %s\n", what, why);
    ++skipped;
}

static void *need(void *memory)
{
    if (!memory) {
        printf("FAIL  the test itself has no host memory\n");
        exit(1);
    }
    return memory;
}

/* splitmix64's finalizer: the key of a row is computed wherever it is needed. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static kr_device *open_gpu(uint64_t cap_nbytes)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = cap_nbytes};
    kr_device *device = NULL;
    if (kr_device_open("cuda", &options, &device, &err) != KR_OK)
        return NULL;
    return device;
}

/* ---- Copies and pointers ------------------------------------------------------------------- */

static void test_copies(kr_device *device)
{
    enum { N = 1000003 };
    uint32_t *from = need(malloc(N * 4)), *to = need(calloc(N, 4));
    kr_buffer a = {0}, b = {0};
    int same;
    for (uint32_t i = 0; i < N; ++i)
        from[i] = (uint32_t)mix(i);
    same = !kr_buffer_allocate(device, N * 4, NULL, "a test", NULL, &a, &err) &&
           !kr_buffer_allocate(device, N * 4, NULL, "a test", NULL, &b, &err) &&
           !kr_device_copy(device, a.data, from, N * 4, NULL, &err) &&
           !kr_device_copy(device, b.data, a.data, N * 4, NULL, &err) &&
           !kr_device_copy(device, to, b.data, N * 4, NULL, &err) && !kr_device_sync(device, NULL, &err) &&
           memcmp(from, to, N * 4) == 0;
    check(same, "a copy to, on and from the device gives the same bytes");
    check(a.data && (uintptr_t)a.data % 256 == 0 && (uintptr_t)b.data % 256 == 0,
          "device memory is aligned to 256 bytes");
    same = !kr_device_fill(device, a.data, 0xA5, N * 4, NULL, &err) &&
           !kr_memory_copy(device, to, a.data, N * 4, NULL, &err);
    for (uint32_t i = 0; i < N; ++i)
        same = same && to[i] == 0xA5A5A5A5u;
    check(same, "a fill writes every byte");
    check(!kr_memory_copy(device, to, a.data, 0, NULL, &err), "a copy of no bytes succeeds");
    kr_buffer_release(device, &a, NULL);
    kr_buffer_release(device, &b, NULL);
    free(from);
    free(to);
}

static void test_pointers(kr_device *device)
{
    kr_buffer buffer = {0};
    void *pinned = device->ops->stage(device, 4096, &err), *managed = NULL, *plain = need(malloc(64));
    int on_stack = 0;
    check(pinned != NULL, "pinned host memory can be had");
    check(!kr_buffer_allocate(device, 100, NULL, "a test", NULL, &buffer, &err) &&
              kr_device_reaches(device, buffer.data) && kr_device_reaches(device, (char *)buffer.data + 99),
          "device memory is reached, its last byte too");
    check(!kr_device_reaches(device, plain) && !kr_device_reaches(device, &on_stack) &&
              !kr_device_reaches(device, NULL),
          "plain host memory is not reached");
    check(!kr_device_reaches(device, pinned), "pinned memory counts as host memory");
    if (cudaMallocManaged(&managed, 64, cudaMemAttachGlobal) == cudaSuccess) {
        check(kr_device_reaches(device, managed), "managed memory is reached");
        cudaFree(managed);
    } else {
        skip("managed memory is reached", "this GPU has none");
    }
    check(cudaPeekAtLastError() == cudaSuccess, "asking about pointers leaves no error behind");
    device->ops->unstage(device, pinned);
    kr_buffer_release(device, &buffer, NULL);
    free(plain);
}

/* ---- Sort and sum -------------------------------------------------------------------------- */

typedef struct sort_case {
    uint32_t key_bits, first_bit, end_bit;
    uint64_t n;
    int given_rows; /* rows n-1, n-2, ... instead of NULL */
} sort_case;

static uint64_t key_of(const sort_case *c, uint64_t position)
{
    /* Few values in the low bits too, so that stability matters. */
    const uint64_t key = mix(position) & ~UINT64_C(0xF0);
    return c->key_bits == 32 ? (uint32_t)key : key;
}

static uint64_t sorted_bits(const sort_case *c, uint64_t key)
{
    const uint32_t width = c->end_bit - c->first_bit;
    return width == 64 ? key : (key >> c->first_bit) & ((UINT64_C(1) << width) - 1);
}

static uint64_t load_key(const sort_case *c, const void *keys, uint64_t i)
{
    return c->key_bits == 32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

static void fill_sort_input(const sort_case *c, void *keys, uint32_t *rows)
{
    for (uint64_t i = 0; i < c->n; ++i) {
        if (c->key_bits == 32)
            ((uint32_t *)keys)[i] = (uint32_t)key_of(c, i);
        else
            ((uint64_t *)keys)[i] = key_of(c, i);
        if (rows)
            rows[i] = (uint32_t)(c->n - 1 - i);
    }
}

/* The stable sort is the only permutation that ascends by (bits of the key, position) and keeps each key
 * with its row. */
static int is_sorted_stably(const sort_case *c, const void *keys, const uint32_t *rows)
{
    uint8_t *seen = need(calloc(c->n / 8 + 1, 1));
    uint64_t last_bits = 0, last_position = 0, i = 0;
    for (; i < c->n; ++i) {
        const uint64_t key = load_key(c, keys, i), bits = sorted_bits(c, key);
        const uint64_t position = c->given_rows ? c->n - 1 - rows[i] : rows[i];
        if (position >= c->n || key != key_of(c, position) || (seen[position / 8] >> position % 8 & 1))
            break;
        if (i > 0 && (bits < last_bits || (bits == last_bits && position <= last_position)))
            break;
        seen[position / 8] |= (uint8_t)(1u << position % 8);
        last_bits = bits;
        last_position = position;
    }
    free(seen);
    if (i < c->n)
        snprintf(err.text, sizeof err.text, "wrong at position %llu", (unsigned long long)i);
    return i == c->n;
}

static void test_sort(kr_device *device, const sort_case *c)
{
    const uint64_t key_nbytes = c->n * (c->key_bits / 8), row_nbytes = c->n * 4;
    void *keys = need(malloc(key_nbytes + 1));
    uint32_t *rows = need(malloc(row_nbytes + 1));
    kr_buffer keys_in = {0}, keys_out = {0}, rows_in = {0}, rows_out = {0};
    kr_sort sort = {c->key_bits, c->first_bit, c->end_bit, c->n, NULL, NULL, NULL, NULL};
    char what[160];
    int right;
    snprintf(what, sizeof what, "sort of %llu u%u by bits %u to %u%s", (unsigned long long)c->n, c->key_bits,
             c->first_bit, c->end_bit, c->given_rows ? ", rows given" : "");
    fill_sort_input(c, keys, c->given_rows ? rows : NULL);
    right = !kr_buffer_allocate(device, key_nbytes, NULL, "a test", NULL, &keys_in, &err) &&
            !kr_buffer_allocate(device, key_nbytes, NULL, "a test", NULL, &keys_out, &err) &&
            !kr_buffer_allocate(device, row_nbytes, NULL, "a test", NULL, &rows_out, &err) &&
            !kr_device_copy(device, keys_in.data, keys, key_nbytes, NULL, &err);
    if (right && c->given_rows)
        right = !kr_buffer_allocate(device, row_nbytes, NULL, "a test", NULL, &rows_in, &err) &&
                !kr_device_copy(device, rows_in.data, rows, row_nbytes, NULL, &err);
    sort.keys_in = keys_in.data, sort.keys_out = keys_out.data;
    sort.rows_in = rows_in.data, sort.rows_out = rows_out.data;
    right = right && !kr_device_sync(device, NULL, &err) && !sort_on(device, &sort, NULL, &err) &&
            !kr_memory_copy(device, keys, keys_out.data, key_nbytes, NULL, &err) &&
            !kr_memory_copy(device, rows, rows_out.data, row_nbytes, NULL, &err) &&
            is_sorted_stably(c, keys, rows);
    if (right && c->n) {
        right = !kr_memory_copy(device, keys, keys_in.data, key_nbytes, NULL, &err);
        for (uint64_t i = 0; i < c->n && right; ++i)
            right = load_key(c, keys, i) == key_of(c, i);
    }
    check(right, what);
    kr_buffer_release(device, &keys_in, NULL);
    kr_buffer_release(device, &keys_out, NULL);
    kr_buffer_release(device, &rows_in, NULL);
    kr_buffer_release(device, &rows_out, NULL);
    free(keys);
    free(rows);
}

static void test_sorts(kr_device *device)
{
    static const uint64_t counts[] = {0, 1, 2, 1000003, UINT64_C(1) << 27};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        const uint64_t n = counts[i];
        const sort_case cases[] = {{32, 0, 32, n, 0},  {64, 0, 64, n, 0},  {32, 5, 17, n, 1},
                                   {64, 30, 41, n, 0}, {64, 56, 64, n, 1}, {32, 24, 32, n, 0},
                                   {64, 0, 64, n, 1},  {32, 31, 32, n, 0}, {32, 7, 7, n, 0}};
        for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
            if (n < 1u << 27 || k < 4)
                test_sort(device, &cases[k]);
    }
}

static void test_sum(kr_device *device, uint64_t n)
{
    uint64_t *values = need(malloc(n * 8 + 1)), sum = 0;
    kr_buffer buffer = {0};
    char what[80];
    int right;
    snprintf(what, sizeof what, "prefix sum of %llu values", (unsigned long long)n);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = mix(i) >> 20;
    right = !kr_buffer_allocate(device, n * 8, NULL, "a test", NULL, &buffer, &err) &&
            !kr_device_copy(device, buffer.data, values, n * 8, NULL, &err) &&
            !sum_on(device, buffer.data, n, NULL, &err) &&
            !kr_memory_copy(device, values, buffer.data, n * 8, NULL, &err);
    for (uint64_t i = 0; i < n && right; ++i) {
        right = values[i] == sum;
        sum += mix(i) >> 20;
    }
    check(right, what);
    kr_buffer_release(device, &buffer, NULL);
    free(values);
}

static void test_large(kr_device *device)
{
    const uint64_t n = (UINT64_C(1) << 31) + 12345;
    const sort_case c = {32, 0, 32, n, 0};
    kr_device_info info = {.struct_size = sizeof info};
    if (kr_device_query(device, &info, &err) || info.memory_nbytes < UINT64_C(64) << 30) {
        skip("more than 2^31 elements", "the GPU has less than 64 GB");
        return;
    }
    test_sort(device, &c);
    test_sum(device, n);
}

/* ---- Streams ------------------------------------------------------------------------------- */

/* The other stream may copy only after the first one's long chain of sums and its last fill. */
static void test_events(kr_device *device)
{
    enum { N = 1 << 24 };
    kr_stream *first = NULL, *second = NULL;
    kr_buffer buffer = {0}, copy = {0};
    void *event = NULL;
    uint8_t *host = need(calloc(N, 8));
    int right = !kr_stream_create(device, &first, &err) && !kr_stream_create(device, &second, &err) &&
                !device->ops->event_create(device, &event, &err) &&
                !kr_buffer_allocate(device, N * 8, first, "a test", NULL, &buffer, &err) &&
                !kr_buffer_allocate(device, N * 8, second, "a test", NULL, &copy, &err) &&
                !kr_device_fill(device, buffer.data, 1, N * 8, first, &err);
    for (int i = 0; i < 50 && right; ++i)
        right = !sum_on(device, buffer.data, N, first, &err);
    right = right && !kr_device_fill(device, buffer.data, 7, N * 8, first, &err) &&
            !device->ops->event_record(device, event, kr_stream_native(device, first), &err) &&
            !device->ops->event_wait(device, event, kr_stream_native(device, second), &err) &&
            !kr_device_copy(device, copy.data, buffer.data, N * 8, second, &err) &&
            !kr_memory_copy(device, host, copy.data, N * 8, second, &err);
    for (uint64_t i = 0; i < N * 8u && right; ++i)
        right = host[i] == 7;
    check(right, "a stream that waits for an event sees the work before it");
    check(!device->ops->event_record(device, event, kr_stream_native(device, second), &err) &&
              !device->ops->event_sync(device, event, &err) &&
              cudaStreamQuery(kr_stream_native(device, second)) == cudaSuccess,
          "the host waits for an event");
    kr_buffer_release(device, &buffer, first);
    kr_buffer_release(device, &copy, second);
    device->ops->event_destroy(device, event);
    kr_stream_destroy(first);
    kr_stream_destroy(second);
    free(host);
}

static void test_wrap(kr_device *device)
{
    cudaStream_t mine = NULL, back = NULL, own = NULL;
    kr_stream *wrapped = NULL, *created = NULL;
    kr_device *cpu = NULL, *other = open_gpu(0);
    kr_buffer buffer = {0};
    unsigned flags = 0;
    uint32_t word = 0;
    check(cudaStreamCreate(&mine) == cudaSuccess && !kr_stream_wrap_cuda(device, mine, &wrapped, &err) &&
              !kr_stream_get_cuda(device, wrapped, &back, &err) && back == mine,
          "a wrapped CUDA stream comes back as it was");
    check(!kr_buffer_allocate(device, 4, wrapped, "a test", NULL, &buffer, &err) &&
              !kr_device_fill(device, buffer.data, 9, 4, wrapped, &err) &&
              !kr_memory_copy(device, &word, buffer.data, 4, wrapped, &err) && word == 0x09090909u,
          "work runs on a wrapped stream");
    kr_buffer_release(device, &buffer, wrapped);
    check(other && kr_stream_get_cuda(other, wrapped, &back, &err) == KR_ERR_ARGUMENT,
          "a stream of another device is refused");
    kr_device_close(other);
    kr_stream_destroy(wrapped);
    check(cudaStreamQuery(mine) == cudaSuccess && cudaStreamDestroy(mine) == cudaSuccess,
          "the CUDA stream outlives its wrapper");
    wrapped = NULL;
    check(!kr_stream_wrap_cuda(device, NULL, &wrapped, &err) &&
              !kr_stream_get_cuda(device, wrapped, &back, &err) && back == NULL,
          "CUDA's default stream can be wrapped");
    kr_stream_destroy(wrapped);
    check(!kr_stream_get_cuda(device, NULL, &own, &err) && own != NULL &&
              !kr_stream_create(device, &created, &err) &&
              !kr_stream_get_cuda(device, created, &back, &err) && back != own &&
              cudaStreamGetFlags(own, &flags) == cudaSuccess && flags == cudaStreamNonBlocking,
          "the own stream is not CUDA's default one, nor that of kr_stream_create");
    kr_stream_destroy(created);
    wrapped = NULL;
    check(!kr_device_open("cpu", NULL, &cpu, &err) &&
              kr_stream_wrap_cuda(cpu, NULL, &wrapped, &err) == KR_ERR_UNSUPPORTED && !wrapped,
          "the CPU wraps no CUDA stream");
    kr_device_close(cpu);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static void test_cap(void)
{
    kr_device *device = open_gpu(1 << 20);
    kr_buffer a = {0}, b = {0};
    check(device && !kr_buffer_allocate(device, 1 << 19, NULL, "a test", NULL, &a, &err),
          "memory below the cap is given");
    if (!device)
        return;
    check(kr_buffer_allocate(device, (1 << 19) + 1, NULL, "a test", NULL, &b, &err) == KR_ERR_DEVICE_MEMORY &&
              !b.data,
          "memory above the cap is refused");
    kr_buffer_release(device, &a, NULL);
    check(!kr_buffer_allocate(device, 1 << 20, NULL, "a test", NULL, &b, &err),
          "released memory counts no longer");
    kr_buffer_release(device, &b, NULL);
    kr_device_close(device);
}

static void test_out_of_memory(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_buffer big = {0}, most = {0}, small = {0};
    size_t left = 0, all = 0;
    check(kr_buffer_allocate(device, UINT64_C(1) << 50, NULL, "a test", NULL, &big, &err) ==
                  KR_ERR_DEVICE_MEMORY &&
              strstr(err.text, "1125899906842624"),
          "a petabyte is refused, and the error names the bytes");
    check(!kr_device_query(device, &info, &err) &&
              kr_buffer_allocate(device, info.memory_nbytes, NULL, "a test", NULL, &big, &err) ==
                  KR_ERR_DEVICE_MEMORY &&
              err.vendor_code == cudaErrorMemoryAllocation && err.vendor_call[0],
          "all memory of the GPU is refused by CUDA, whose code is kept");
    check(cudaPeekAtLastError() == cudaSuccess, "no error is left behind");
    check(!kr_buffer_allocate(device, 1 << 20, NULL, "a test", NULL, &small, &err) &&
              !kr_device_fill(device, small.data, 1, 1 << 20, NULL, &err) &&
              !kr_device_sync(device, NULL, &err),
          "the device works on after running out of memory");
    kr_buffer_release(device, &small, NULL);
    /* The pool keeps what was released; it must give it up for a larger piece. */
    check(cudaMemGetInfo(&left, &all) == cudaSuccess &&
              !kr_buffer_allocate(device, left / 8 * 5, NULL, "a test", NULL, &most, &err),
          "five eighths of the free memory can be had");
    kr_buffer_release(device, &most, NULL);
    check(!kr_buffer_allocate(device, left / 4 * 3, NULL, "a test", NULL, &most, &err),
          "three quarters can be had when the five eighths were just released");
    kr_buffer_release(device, &most, NULL);
    check(!kr_device_sync(device, NULL, &err), "and the stream has no error");
}

static void test_reuse(void)
{
    kr_device *device = open_gpu(0);
    kr_buffer buffer = {0};
    size_t before = 0, during = 0, after = 0, all = 0;
    int right = device != NULL;
    if (device) {
        right = !kr_buffer_allocate(device, 1 << 28, NULL, "a test", NULL, &buffer, &err);
        kr_buffer_release(device, &buffer, NULL);
        right = right && !kr_device_sync(device, NULL, &err) && cudaMemGetInfo(&before, &all) == cudaSuccess;
        for (int i = 0; i < 1000 && right; ++i) {
            right = !kr_buffer_allocate(device, 1 << 28, NULL, "a test", NULL, &buffer, &err);
            kr_buffer_release(device, &buffer, NULL);
        }
        right = right && !kr_device_sync(device, NULL, &err) && cudaMemGetInfo(&during, &all) == cudaSuccess;
    }
    check(right && during == before, "a thousand allocations reuse the same memory");
    kr_device_close(device);
    check(cudaMemGetInfo(&after, &all) == cudaSuccess && after >= before + (1 << 28),
          "closing the device gives its memory back");
}

/* ---- Errors -------------------------------------------------------------------------------- */

/* A function that is not a kernel: the launch is refused. */
static int launch_nothing(const void *params, uint64_t n, void *stream)
{
    const dim3 one = {1, 1, 1};
    (void)params, (void)n;
    (void)cudaLaunchKernel((const void *)(uintptr_t)&launch_nothing, one, one, NULL, 0, stream);
    return (int)cudaGetLastError();
}

static int launch_well(const void *params, uint64_t n, void *stream)
{
    (void)params, (void)n, (void)stream;
    return (int)cudaGetLastError();
}

static void test_errors(kr_device *device)
{
    const kr_program broken = {"broken_program", 8, NULL, launch_nothing, 0, 0};
    const kr_program well = {"well", 8, NULL, launch_well, 0, 0}, absent = {"absent", 8, NULL, NULL, 0, 0};
    kr_device *none = NULL;
    uint64_t params = 0;
    kr_buffer buffer = {0};
    int gpus = 0, current = -1;
    const kr_status status = kr_device_run(device, &broken, &params, 1, NULL, &err);
    check(status == KR_ERR_DEVICE && strstr(err.text, "broken_program") && err.vendor_code != 0 &&
              strcmp(err.vendor_call, "broken_program") == 0,
          "a launch that fails is reported, with the program's name and CUDA's code");
    check(cudaPeekAtLastError() == cudaSuccess, "its error is cleared");
    (void)cudaSetDevice(12345);
    check(!kr_device_run(device, &well, &params, 1, NULL, &err),
          "an error of the caller's own is not taken for ours");
    check(kr_device_run(device, &absent, &params, 1, NULL, &err) == KR_ERR_UNSUPPORTED,
          "a program without a CUDA form is refused");
    check(!kr_buffer_allocate(device, 4, NULL, "a test", NULL, &buffer, &err) &&
              kr_device_copy(device, buffer.data, (char *)buffer.data + 1, UINT64_C(1) << 42, NULL, &err) ==
                  KR_ERR_DEVICE &&
              err.vendor_code == cudaErrorInvalidValue && cudaPeekAtLastError() == cudaSuccess &&
              !kr_device_sync(device, NULL, &err),
          "a copy that CUDA refuses is reported, and the device works on");
    kr_buffer_release(device, &buffer, NULL);
    check(kr_device_open("cuda:99", NULL, &none, &err) == KR_ERR_NO_DEVICE && !none, "there is no cuda:99");
    check(cudaGetDeviceCount(&gpus) == cudaSuccess && cudaSetDevice(gpus - 1) == cudaSuccess &&
              !kr_buffer_allocate(device, 4, NULL, "a test", NULL, &buffer, &err) &&
              cudaGetDevice(&current) == cudaSuccess && current == gpus - 1,
          "the caller's current GPU stays current");
    kr_buffer_release(device, &buffer, NULL);
    (void)cudaSetDevice(0);
}

/* Sorting from an invalid address: reported at the next wait, and ever after. */
static int lose_device(void)
{
    kr_device *device = open_gpu(0);
    kr_buffer keys = {0}, rows = {0};
    kr_sort sort = {32, 0, 32, 1 << 20, (const void *)4096, NULL, NULL, NULL};
    kr_status first, second;
    if (!device || kr_buffer_allocate(device, 4 << 20, NULL, "a test", NULL, &keys, &err) ||
        kr_buffer_allocate(device, 4 << 20, NULL, "a test", NULL, &rows, &err))
        return 1;
    sort.keys_out = keys.data, sort.rows_out = rows.data;
    first = sort_on(device, &sort, NULL, &err);
    if (first == KR_OK)
        first = kr_device_sync(device, NULL, &err);
    printf("      the lost device says: %s\n", err.text);
    second = kr_device_sync(device, NULL, &err);
    kr_buffer_release(device, &keys, NULL);
    kr_buffer_release(device, &rows, NULL);
    kr_device_close(device);
    return first == KR_ERR_DEVICE_LOST && second == KR_ERR_DEVICE_LOST ? 0 : 1;
}

static void test_lost(const char *self)
{
    int result = -1;
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", self, "lost", (char *)NULL);
        _exit(2);
    }
    check(child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0,
          "a fault on the GPU is KR_ERR_DEVICE_LOST, again and again, and closing survives it");
}

static void print_device(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    check(!kr_device_query(device, &info, &err) && info.memory_nbytes && info.units &&
              strcmp(info.name, "cuda:0") == 0,
          "the device describes itself");
    printf("      %s: %s, %s, %llu bytes, %u units, ray tracing %d, tracer %s\n", info.name, info.description,
           info.software, (unsigned long long)info.memory_nbytes, info.units, info.rt_cores, info.tracer);
}

int main(int argc, char **argv)
{
    kr_device_info listed = {.struct_size = sizeof listed};
    kr_device *device;
    if (argc > 1 && strcmp(argv[1], "lost") == 0)
        return lose_device();
    device = open_gpu(0);
    if (!device) {
        skip("everything", err.text);
        printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
        return 77; /* CTest's skip */
    }
    print_device(device);
    check(!kr_device_describe(1, &listed, &err) && strcmp(listed.name, "cuda:0") == 0,
          "the list shows cuda:0");
    test_copies(device);
    test_pointers(device);
    test_sorts(device);
    test_sum(device, 0);
    test_sum(device, 1);
    test_sum(device, 1000003);
    test_sum(device, UINT64_C(1) << 27);
    test_events(device);
    test_wrap(device);
    test_cap();
    test_errors(device);
    if (argc > 1 && strcmp(argv[1], "large") == 0)
        test_large(device);
    else
        skip("more than 2^31 elements", "run with the argument large (60 GB of GPU memory, minutes)");
    test_out_of_memory(device);
    check(atomic_load(&device->in_use_nbytes) == 0, "everything was released");
    kr_device_close(device);
    test_reuse();
    test_lost(argv[0]);
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}
