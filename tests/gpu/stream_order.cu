/* Lookups see what earlier work on the caller's stream wrote, also where results go to host memory.
 *
 * A kernel waits a while and only then writes the probes; before it, they are values that no key has. Once,
 * batches with any host pointer ran on streams of their own that did not wait, and found nothing. */
#include <keyray/keyray_cuda.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77, N = 1 << 20 };

static int passed, failed;
static kr_error err;

static void check(int good, const char *what)
{
    passed += good != 0;
    failed += good == 0;
    printf("%s %s%s%s\n", good ? "ok    " : "FAILED", what, good ? "" : ": ", good ? "" : err.text);
}

/* Key i is i * 3, so that a probe that was not written yet (all ones) matches nothing. */
static __global__ void write_late(uint32_t *probes, uint64_t n, long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles)
        ;
    for (uint64_t i = threadIdx.x; i < n; i += blockDim.x)
        probes[i] = (uint32_t)(i % N) * 3;
}

/* n probes on the device, results on the host (to_host 1) or on the device. */
static void look_up_late(kr_device *device, kr_index *index, kr_stream *stream, cudaStream_t cuda_stream,
                         uint64_t n, int to_host)
{
    uint32_t *probes = NULL, *answers = NULL, *rows = (uint32_t *)malloc(n * sizeof *rows);
    char what[96];
    cudaMalloc(&probes, n * sizeof *probes);
    cudaMalloc(&answers, n * sizeof *answers);
    cudaMemset(probes, 0xFF, n * sizeof *probes);
    cudaDeviceSynchronize();
    write_late<<<1, 1024, 0, cuda_stream>>>(probes, n, 200000000);
    kr_column column = {};
    column.type = KR_U32;
    column.count = n;
    column.data = probes;
    kr_sink sink = {};
    sink.struct_size = sizeof sink;
    sink.result = KR_RESULT_ROW;
    sink.out = to_host ? rows : answers;
    const int looked_up = kr_index_lookup(index, &column, &sink, stream, &err) == KR_OK;
    if (!to_host) {
        kr_device_sync(device, stream, &err);
        cudaMemcpy(rows, answers, n * sizeof *rows, cudaMemcpyDeviceToHost);
    }
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; ++i)
        wrong += rows[i] != i % N;
    snprintf(what, sizeof what, "%llu probes written late are found, results on the %s",
             (unsigned long long)n, to_host ? "host" : "device");
    check(looked_up && wrong == 0, what);
    cudaFree(answers);
    cudaFree(probes);
    free(rows);
}

int main(void)
{
    static uint32_t keys[N];
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_stream *stream = NULL;
    cudaStream_t cuda_stream = NULL;
    kr_column column = {};
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * 3;
    column.type = KR_U32;
    column.count = N;
    column.data = keys;
    if (kr_device_open("cuda", NULL, &device, &err) != KR_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    check(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking) == cudaSuccess &&
              kr_stream_wrap_cuda(device, cuda_stream, &stream, &err) == KR_OK,
          "a stream of the caller's");
    check(kr_index_create(device, "array", &column, NULL, NULL, &index, &err) == KR_OK, "an index");
    if (index) {
        const uint64_t counts[] = {1000, (1 << 20) + 5, (13 << 20) + 7};
        for (int i = 0; i < 3; ++i) {
            look_up_late(device, index, stream, cuda_stream, counts[i], 0);
            look_up_late(device, index, stream, cuda_stream, counts[i], 1);
        }
    }
    kr_stream_destroy(stream);
    cudaStreamDestroy(cuda_stream);
    kr_index_destroy(index);
    kr_device_close(device);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
