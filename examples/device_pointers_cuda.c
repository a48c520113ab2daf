/* Device pointers and a stream that belong to someone else: the caller's own CUDA code.
 *
 * Memory comes from cudaMalloc and work is ordered by the caller's cudaStream_t; keyray neither frees nor
 * synchronises them. Built where CUDA is; without a GPU it says so and is skipped (exit status 77). */
#include <cuda_runtime_api.h>
#include <keyray/keyray_cuda.h>
#include <stdio.h>

enum { ROWS = 1 << 20, PROBES = 1 << 16, SKIPPED = 77 };

static uint32_t keys[ROWS], probes[PROBES], rows[PROBES];

/* What the caller owns. */
typedef struct theirs {
    cudaStream_t stream;
    uint32_t *keys, *probes, *rows; /* device memory */
} theirs;

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

static int cuda_failed(cudaError_t code)
{
    if (code != cudaSuccess)
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
    return code != cudaSuccess;
}

static int make_theirs(theirs *t)
{
    return cuda_failed(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking)) ||
           cuda_failed(cudaMalloc((void **)&t->keys, sizeof keys)) ||
           cuda_failed(cudaMalloc((void **)&t->probes, sizeof probes)) ||
           cuda_failed(cudaMalloc((void **)&t->rows, sizeof rows));
}

static void free_theirs(theirs *t)
{
    cudaFree(t->rows);
    cudaFree(t->probes);
    cudaFree(t->keys);
    if (t->stream)
        cudaStreamDestroy(t->stream);
}

/* Copies in, index, lookup and copy out are all enqueued on the caller's stream, which is waited for once. */
static int run(kr_device *device, const theirs *t)
{
    const kr_column key_column = {.type = KR_U32, .count = ROWS, .data = t->keys};
    const kr_column probe_column = {.type = KR_U32, .count = PROBES, .data = t->probes};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = t->rows};
    kr_stream *stream = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    int wrong =
        cuda_failed(cudaMemcpyAsync(t->keys, keys, sizeof keys, cudaMemcpyHostToDevice, t->stream)) ||
        cuda_failed(cudaMemcpyAsync(t->probes, probes, sizeof probes, cudaMemcpyHostToDevice, t->stream)) ||
        failed(kr_stream_wrap_cuda(device, t->stream, &stream, &err), &err) ||
        failed(kr_index_create(device, "array", &key_column, NULL, stream, &index, &err), &err) ||
        failed(kr_index_lookup(index, &probe_column, &sink, stream, &err), &err) ||
        cuda_failed(cudaMemcpyAsync(rows, t->rows, sizeof rows, cudaMemcpyDeviceToHost, t->stream)) ||
        cuda_failed(cudaStreamSynchronize(t->stream));
    kr_index_destroy(index);
    kr_stream_destroy(stream); /* the wrapper; t->stream stays */
    for (uint32_t i = 0; i < PROBES && !wrong; ++i)
        wrong = rows[i] != (i % 4 == 3 ? KR_NO_ROW : i * 16);
    return wrong;
}

int main(void)
{
    kr_device *device = NULL;
    kr_error err = {0};
    theirs t = {0};
    for (uint32_t i = 0; i < ROWS; ++i)
        keys[i] = i * 0x9E3779B0u + 16; /* distinct, all even */
    for (uint32_t i = 0; i < PROBES; ++i)
        probes[i] = keys[i * 16] + (i % 4 == 3 ? 1 : 0);

    const kr_status status = kr_device_open("cuda", NULL, &device, &err);
    if (status == KR_ERR_NO_DEVICE) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    const int wrong = failed(status, &err) || make_theirs(&t) || run(device, &t);
    free_theirs(&t);
    kr_device_close(device);
    printf("%d probes: %s\n", PROBES, wrong ? "WRONG" : "every answer is right");
    return wrong;
}
