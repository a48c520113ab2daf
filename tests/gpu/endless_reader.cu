/* A reader that does not end, on a stream of its own, holds up nothing but what it reads: other indexes,
 * tables and prepared lookups change and end meanwhile, and versions of what it reads are made.
 *
 * A host function blocks the reader's stream behind its lookup. If a call waits for it, an alarm ends the
 * test, whose last line says which. All calls run once before, so that the driver has loaded their kernels.
 */
#include <keyray/keyray_cuda.h>

#include <atomic>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SKIPPED = 77, N = 1 << 16, MOST_SECONDS = 60 };

static std::atomic<int> is_released;
static uint32_t keys[N], more[16];
static kr_device *device;
static int failed;

static void CUDART_CB block(void *)
{
    while (!is_released)
        usleep(1000);
}

static void works(kr_status status, const kr_error *err, const char *what)
{
    printf("%s %s %s\n", status == KR_OK ? "ok    " : "FAILED", what, status == KR_OK ? "" : err->text);
    fflush(stdout);
    failed += status != KR_OK;
}

#define WORKS(call)                          \
    do {                                     \
        kr_error err = {};                   \
        printf("       %.60s ...\n", #call); \
        fflush(stdout);                      \
        const kr_status status = (call);     \
        works(status, &err, #call);          \
    } while (0)

static kr_column column_of(const uint32_t *data, uint64_t n)
{
    kr_column column = {};
    column.type = KR_U32;
    column.count = n;
    column.data = data;
    return column;
}

/* Memory of the device for probes, and for their rows. */
typedef struct reader {
    kr_stream *stream;
    uint32_t *probes, *rows;
    kr_column column;
    kr_sink sink;
} reader;

static void open_reader(reader *r)
{
    *r = reader();
    WORKS(kr_stream_create(device, &r->stream, &err));
    WORKS(kr_memory_allocate(device, N * sizeof *r->probes, r->stream, (void **)&r->probes, &err));
    WORKS(kr_memory_allocate(device, N * sizeof *r->rows, r->stream, (void **)&r->rows, &err));
    WORKS(kr_memory_copy(device, r->probes, keys, N * sizeof *r->probes, r->stream, &err));
    r->column = column_of(r->probes, N);
    r->sink.struct_size = sizeof r->sink;
    r->sink.result = KR_RESULT_ROW;
    r->sink.out = r->rows;
}

static void close_reader(reader *r)
{
    kr_memory_release(device, r->rows, N * sizeof *r->rows, r->stream);
    kr_memory_release(device, r->probes, N * sizeof *r->probes, r->stream);
    kr_stream_destroy(r->stream);
}

static kr_index *create(const char *spec)
{
    const kr_column column = column_of(keys, N);
    kr_index *index = NULL;
    WORKS(kr_index_create(device, spec, &column, NULL, NULL, &index, &err));
    return index;
}

static kr_table *create_table(const char *spec)
{
    const kr_column column = column_of(keys, N);
    kr_table *table = NULL;
    WORKS(kr_table_create(device, spec, &column, NULL, 1, NULL, NULL, &table, &err));
    return table;
}

/* What a second reader and a writer do; `read` is what the first one reads. */
static void use_others(const char *spec, const kr_index *read, const kr_table *scanned, reader *r)
{
    const kr_column inserts = column_of(more, 16);
    const uint32_t row = 1;
    kr_index *index = create(spec), *next = NULL;
    kr_table *table = create_table("full"), *next_table = NULL;
    kr_prepared *prepared = NULL;
    WORKS(kr_index_lookup(index, &r->column, &r->sink, r->stream, &err));
    WORKS(kr_prepare_lookup(index, &r->column, &r->sink, &prepared, &err));
    WORKS(kr_prepared_run(prepared, r->stream, &err));
    WORKS(kr_index_next_version(read, &inserts, NULL, &inserts, r->stream, &next, &err));
    WORKS(kr_prepared_rebind(prepared, next, &err));
    WORKS(kr_prepared_run(prepared, r->stream, &err));
    WORKS(kr_index_update(index, &inserts, NULL, &inserts, r->stream, &err));
    kr_prepared_destroy(prepared);
    works(KR_OK, NULL, "kr_prepared_destroy");
    kr_index_destroy(next);
    kr_index_destroy(index);
    works(KR_OK, NULL, "kr_index_destroy");
    WORKS(kr_table_append(table, &inserts, 1, r->stream, &err));
    WORKS(kr_table_delete(table, &row, 1, r->stream, NULL, &err));
    WORKS(kr_table_next_append(scanned, &inserts, 1, r->stream, &next_table, &err));
    kr_table_destroy(next_table);
    kr_table_destroy(table);
    works(KR_OK, NULL, "kr_table_destroy");
}

static void check(const char *spec)
{
    kr_index *read = create(spec);
    kr_table *scanned = create_table("full");
    reader endless, other;
    cudaStream_t native = NULL;
    uint32_t rows[4] = {0};
    open_reader(&endless);
    open_reader(&other);
    use_others(spec, read, scanned, &other);
    WORKS(kr_index_lookup(read, &endless.column, &endless.sink, endless.stream, &err));
    WORKS(kr_stream_get_cuda(device, endless.stream, &native, &err));
    is_released = 0;
    cudaLaunchHostFunc(native, block, NULL);
    WORKS(kr_index_lookup(read, &endless.column, &endless.sink, endless.stream, &err));
    printf("the reader does not end\n");
    use_others(spec, read, scanned, &other);
    is_released = 1;
    WORKS(kr_device_sync(device, endless.stream, &err));
    WORKS(kr_memory_copy(device, rows, endless.rows, sizeof rows, endless.stream, &err));
    for (uint32_t i = 0; i < 4; ++i)
        failed += rows[i] != i;
    kr_table_destroy(scanned);
    kr_index_destroy(read);
    close_reader(&other);
    close_reader(&endless);
}

int main(void)
{
    kr_error err = {};
    if (kr_device_open("cuda", NULL, &device, &err) != KR_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * 2654435761u;
    for (uint32_t i = 0; i < 16; ++i)
        more[i] = (N + i) * 2654435761u;
    alarm(MOST_SECONDS);
    check("best:updates=on");
    check("btree");
    check("hash");
    kr_device_close(device);
    printf(failed ? "%d FAILED\n" : "all passed\n", failed);
    return failed != 0;
}
