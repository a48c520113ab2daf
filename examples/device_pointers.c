/* Columns and results in device memory: nothing is copied behind the caller's back, calls enqueue and return.
 *
 * Runs on the best device there is. On "cpu" device memory is host memory and every call is done when it
 * returns, so the same program is right on both. device_pointers_cuda.c takes the memory and the stream from
 * CUDA instead of from keyray. */
#include <keyray/keyray.h>
#include <stdio.h>

enum { ROWS = 1000, PROBES = 500 };

typedef struct arrays {
    void *keys, *probes, *rows; /* device memory */
} arrays;

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

/* Key i of the column is 7 * i, probe i is 14 * i + 1 for odd i and 14 * i for even i. */
static uint64_t probe(uint32_t i)
{
    return 14 * (uint64_t)i + i % 2;
}

static int bring(kr_device *device, kr_stream *stream, arrays *a)
{
    uint64_t keys[ROWS], probes[PROBES];
    kr_error err = {0};
    for (uint32_t i = 0; i < ROWS; ++i)
        keys[i] = 7 * (uint64_t)i;
    for (uint32_t i = 0; i < PROBES; ++i)
        probes[i] = probe(i);
    return failed(kr_memory_allocate(device, sizeof keys, stream, &a->keys, &err), &err) ||
           failed(kr_memory_allocate(device, sizeof probes, stream, &a->probes, &err), &err) ||
           failed(kr_memory_allocate(device, PROBES * sizeof(uint32_t), stream, &a->rows, &err), &err) ||
           failed(kr_memory_copy(device, a->keys, keys, sizeof keys, stream, &err), &err) ||
           failed(kr_memory_copy(device, a->probes, probes, sizeof probes, stream, &err), &err);
}

static int look_up(kr_device *device, kr_stream *stream, const arrays *a)
{
    const kr_column keys = {.type = KR_U64, .count = ROWS, .data = a->keys};
    const kr_column probes = {.type = KR_U64, .count = PROBES, .data = a->probes};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = a->rows};
    kr_index *index = NULL;
    kr_error err = {0};
    uint32_t rows[PROBES];
    /* The lookup only enqueues: errors of its work appear at kr_device_sync. kr_memory_copy to host memory
     * waits. */
    int wrong = failed(kr_index_create(device, "best", &keys, NULL, stream, &index, &err), &err) ||
                failed(kr_index_lookup(index, &probes, &sink, stream, &err), &err) ||
                failed(kr_device_sync(device, stream, &err), &err) ||
                failed(kr_memory_copy(device, rows, a->rows, sizeof rows, stream, &err), &err);
    for (uint32_t i = 0; i < PROBES && !wrong; ++i)
        wrong = rows[i] != (i % 2 ? KR_NO_ROW : 2 * i);
    kr_index_destroy(index);
    return wrong;
}

int main(void)
{
    kr_device *device = NULL;
    kr_stream *stream = NULL;
    kr_error err = {0};
    arrays a = {0};
    int wrong = failed(kr_device_open("auto", NULL, &device, &err), &err);
    if (!wrong)
        wrong = failed(kr_stream_create(device, &stream, &err), &err) || bring(device, stream, &a) ||
                look_up(device, stream, &a);
    if (device) {
        kr_memory_release(device, a.rows, PROBES * sizeof(uint32_t), stream);
        kr_memory_release(device, a.probes, PROBES * sizeof(uint64_t), stream);
        kr_memory_release(device, a.keys, ROWS * sizeof(uint64_t), stream);
    }
    kr_stream_destroy(stream);
    kr_device_close(device);
    printf("%d probes: %s\n", PROBES, wrong ? "WRONG" : "every answer is right");
    return wrong;
}
