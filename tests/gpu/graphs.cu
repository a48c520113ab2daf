/* Prepared lookups and scans in CUDA graphs: captured once, replayed with other contents of the same arrays.
 * What cannot be captured says so, and the capture goes on. */
#include <keyray/keyray_cuda.h>

#include <atomic>
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, KEYS = 1 << 20, PROBES = 1 << 20, REPLAYS = 3 };

static int passed, failed;
static kr_error err;
static kr_device *device;
static cudaStream_t cuda_stream;
static kr_stream *stream;

static void check(int good, const char *what, const char *spec)
{
    passed += good != 0;
    failed += good == 0;
    if (!good)
        printf("FAILED %s, %s: %s\n", spec, what, err.text);
}

/* Key i is i * 3. Every other probe of round r finds row (i * 7 + r) % KEYS, the others nothing. */
static void fill(uint32_t *probes, uint32_t round)
{
    for (uint32_t i = 0; i < PROBES; ++i)
        probes[i] = ((i * 7 + round) % KEYS) * 3 + i % 2;
}

static uint64_t wrong_rows(const uint32_t *rows, uint32_t round)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < PROBES; ++i)
        wrong += rows[i] != (i % 2 ? KR_NO_ROW : (i * 7 + round) % KEYS);
    return wrong;
}

struct arrays {
    uint32_t *host, *probes, *rows;
};

/* The graph of one run, and how many launches and copies it has. */
static cudaGraphExec_t capture(kr_prepared *prepared, const char *spec, size_t *n)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    size_t nodes = 0;
    check(cudaStreamBeginCapture(cuda_stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "begins a capture",
          spec);
    check(kr_prepared_run(prepared, stream, &err) == KR_OK, "is captured", spec);
    check(cudaStreamEndCapture(cuda_stream, &graph) == cudaSuccess && graph, "ends a capture", spec);
    check(graph && cudaGraphGetNodes(graph, NULL, &nodes) == cudaSuccess && nodes, "has work in the graph",
          spec);
    check(graph && cudaGraphInstantiate(&made, graph, 0) == cudaSuccess, "makes a graph", spec);
    if (graph)
        cudaGraphDestroy(graph);
    if (n)
        *n = nodes;
    return made;
}

static void replay(const char *spec, const arrays *a)
{
    kr_index *index = NULL;
    kr_prepared *prepared = NULL;
    kr_column keys = {}, probes = {};
    kr_sink sink = {};
    uint32_t *key_values = (uint32_t *)malloc(KEYS * sizeof(uint32_t));
    for (uint32_t i = 0; i < KEYS; ++i)
        key_values[i] = i * 3;
    keys.type = probes.type = KR_U32;
    keys.count = KEYS;
    keys.data = key_values;
    probes.count = PROBES;
    probes.data = a->probes;
    sink.struct_size = sizeof sink;
    sink.result = KR_RESULT_ROW;
    sink.out = a->rows;
    check(kr_index_create(device, spec, &keys, NULL, NULL, &index, &err) == KR_OK, "is built", spec);
    fill(a->host, 1000);
    cudaMemcpy(a->probes, a->host, PROBES * sizeof(uint32_t), cudaMemcpyHostToDevice);
    check(kr_prepare_lookup(index, &probes, &sink, &prepared, &err) == KR_OK, "is prepared", spec);
    cudaGraphExec_t graph = prepared ? capture(prepared, spec, NULL) : NULL;
    for (uint32_t round = 0; round < REPLAYS && graph; ++round) {
        fill(a->host, round);
        cudaMemcpy(a->probes, a->host, PROBES * sizeof(uint32_t), cudaMemcpyHostToDevice);
        cudaMemset(a->rows, 0, PROBES * sizeof(uint32_t));
        cudaDeviceSynchronize(); // the stream does not wait for the default one
        check(cudaGraphLaunch(graph, cuda_stream) == cudaSuccess &&
                  cudaStreamSynchronize(cuda_stream) == cudaSuccess,
              "is replayed", spec);
        cudaMemcpy(a->host, a->rows, PROBES * sizeof(uint32_t), cudaMemcpyDeviceToHost);
        check(wrong_rows(a->host, round) == 0, "answers what the arrays hold then", spec);
    }
    if (graph)
        cudaGraphExecDestroy(graph);
    kr_prepared_destroy(prepared);
    kr_index_destroy(index);
    free(key_values);
}

/* ---- Small batches: few launches, no memory ----------------------------------------------------------- */

static uint64_t allocations;

static void *allocate(void *ctx, size_t nbytes, void *of)
{
    void *memory = NULL;
    (void)ctx;
    (void)of;
    ++allocations;
    return cudaMalloc(&memory, nbytes) == cudaSuccess ? memory : NULL;
}

static void release(void *ctx, void *memory, size_t nbytes, void *of)
{
    (void)ctx;
    (void)nbytes;
    (void)of;
    cudaFree(memory);
}

/* ROW and COUNT of few points are one launch, EXISTS is two; ROW and COUNT take no memory. */
static void small(kr_device *counting, const char *spec, const arrays *a)
{
    static const struct {
        kr_result result;
        size_t launches;
    } cases[] = {{KR_RESULT_ROW, 1}, {KR_RESULT_COUNT, 1}, {KR_RESULT_EXISTS, 2}};
    kr_index *index = NULL;
    kr_column probes = {};
    kr_sink sink = {};
    probes.type = KR_U32;
    probes.count = 1000;
    probes.data = a->probes;
    sink.struct_size = sizeof sink;
    sink.out = a->rows;
    check(kr_index_create(counting, spec, &probes, NULL, NULL, &index, &err) == KR_OK, "is built", spec);
    for (const auto &each : cases) {
        kr_prepared *prepared = NULL;
        size_t launches = 0;
        sink.result = each.result;
        const uint64_t before = allocations;
        check(kr_index_lookup(index, &probes, &sink, NULL, &err) == KR_OK, "is looked up", spec);
        check(each.launches > 1 || allocations == before, "allocates nothing", spec);
        check(kr_prepare_lookup(index, &probes, &sink, &prepared, &err) == KR_OK, "is prepared", spec);
        cudaGraphExec_t graph = prepared ? capture(prepared, spec, &launches) : NULL;
        check(launches == each.launches, "has as few launches as it should", spec);
        check(kr_prepared_is_recorded(prepared), "is recorded", spec);
        const uint64_t between = allocations;
        check(prepared && kr_prepared_run(prepared, NULL, &err) == KR_OK && allocations == between,
              "allocates nothing once it is prepared", spec);
        if (graph)
            cudaGraphExecDestroy(graph);
        kr_prepared_destroy(prepared);
    }
    kr_index_destroy(index);
}

static void small_batches(const arrays *a)
{
    static const char *const specs[] = {"array", "eytzinger", "pivot", "pivot:k=9", "btree", "hash", "chain"};
    kr_device *whole = device, *counting = NULL;
    kr_stream *of_whole = stream;
    kr_device_options options = {};
    options.struct_size = sizeof options;
    options.allocate = allocate;
    options.release = release;
    check(kr_device_open("cuda", &options, &counting, &err) == KR_OK, "is opened", "cuda");
    check(kr_stream_wrap_cuda(counting, cuda_stream, &stream, &err) == KR_OK, "wraps a stream", "cuda");
    device = counting;
    for (const char *spec : specs)
        small(counting, spec, a);
    kr_stream_destroy(stream);
    kr_device_close(counting);
    stream = of_whole;
    device = whole;
}

/* ---- One thread prepares, another builds, looks up and destroys --------------------------------------- */

struct beside {
    std::atomic<int> stop, wrong, rounds;
};

static void *build_and_destroy(void *argument)
{
    beside *b = (beside *)argument;
    uint32_t values[1000], probe = 999, row = 0;
    kr_error own = {};
    for (uint32_t i = 0; i < 1000; ++i)
        values[i] = i;
    for (; !b->stop || b->rounds < 10; ++b->rounds) {
        kr_index *index = NULL;
        kr_column keys = {}, probes = {};
        kr_sink sink = {};
        keys.type = probes.type = KR_U32;
        keys.count = 1000;
        keys.data = values;
        probes.count = 1;
        probes.data = &probe;
        sink.struct_size = sizeof sink;
        sink.result = KR_RESULT_ROW;
        sink.out = &row;
        row = 0;
        b->wrong += kr_index_create(device, "array", &keys, NULL, NULL, &index, &own) != KR_OK ||
                    kr_index_lookup(index, &probes, &sink, NULL, &own) != KR_OK || row != 999;
        kr_index_destroy(index);
    }
    return NULL;
}

static void prepare_beside(const arrays *a)
{
    beside b = {};
    pthread_t thread;
    kr_index *index = NULL;
    kr_column probes = {};
    kr_sink sink = {};
    int recorded = 0;
    probes.type = KR_U32;
    probes.count = 1000;
    probes.data = a->probes;
    sink.struct_size = sizeof sink;
    sink.result = KR_RESULT_ROW;
    sink.out = a->rows;
    check(kr_index_create(device, "pivot", &probes, NULL, NULL, &index, &err) == KR_OK, "is built", "pivot");
    check(pthread_create(&thread, NULL, build_and_destroy, &b) == 0, "starts", "a thread");
    for (int i = 0; i < 300; ++i) {
        kr_prepared *prepared = NULL;
        check(kr_prepare_lookup(index, &probes, &sink, &prepared, &err) == KR_OK, "is prepared", "pivot");
        recorded += kr_prepared_is_recorded(prepared);
        kr_prepared_destroy(prepared);
    }
    b.stop = 1;
    pthread_join(thread, NULL);
    check(recorded == 300, "is recorded whatever other threads do", "pivot");
    check(b.wrong == 0, "works while others prepare", "array");
    kr_index_destroy(index);
}

/* ---- Scans: other rows are alive in each replay ------------------------------------------------------ */

enum { WORDS = KEYS / 32, LIST_NBYTES = 4096 };

/* Row i has i % 1000; those that 3 divides are listed, one by one. */
static kr_condition *listed(void)
{
    char text[LIST_NBYTES];
    kr_condition *condition = NULL;
    int at = snprintf(text, sizeof text, "a in (0");
    for (int v = 3; v < 1000; v += 3)
        at += snprintf(text + at, sizeof text - at, ", %d", v);
    snprintf(text + at, sizeof text - at, ")");
    check(kr_condition_parse(text, &condition, &err) == KR_OK, "is parsed", text);
    return condition;
}

static int is_alive(uint32_t i, uint32_t round)
{
    return (i * 7 + round) % 5 != 0;
}

static void check_scan(const char *spec, const arrays *a, uint32_t round)
{
    uint64_t wrong = 0, want = 0, count = 0;
    cudaMemcpy(a->host, a->rows, WORDS * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, a->rows + WORDS, sizeof count, cudaMemcpyDeviceToHost);
    for (uint32_t i = 0; i < KEYS; ++i) {
        const uint32_t is_in = i % 1000 % 3 == 0 && is_alive(i, round);
        wrong += (a->host[i / 32] >> i % 32 & 1) != is_in;
        want += i % 1000 < 500 && is_alive(i, round);
    }
    check(wrong == 0, "finds the rows that are alive then", spec);
    check(count == want, "counts the rows that are alive then", spec);
}

static void replay_scan(const char *spec, const arrays *a)
{
    static const char *const names[] = {"a"};
    kr_table *table = NULL;
    kr_prepared *prepared = NULL;
    kr_column column = {};
    kr_scan_options options = {};
    kr_scan_sink bits = {}, count = {};
    const kr_scan_sink *const sinks[] = {&bits, &count};
    kr_condition *const list = listed();
    kr_condition *below = NULL;
    uint32_t *values = (uint32_t *)malloc(KEYS * sizeof(uint32_t));
    for (uint32_t i = 0; i < KEYS; ++i)
        values[i] = i % 1000;
    check(kr_condition_parse("a < 500", &below, &err) == KR_OK, "is parsed", spec);
    const kr_condition *const conditions[] = {list, below};
    column.type = KR_U32;
    column.count = KEYS;
    column.data = values;
    options.struct_size = sizeof options;
    options.alive = a->probes;
    bits.struct_size = count.struct_size = sizeof bits;
    bits.result = KR_SCAN_BITMAP;
    bits.out = a->rows;
    count.result = KR_SCAN_COUNT;
    count.out = a->rows + WORDS;
    check(kr_table_create(device, spec, &column, names, 1, NULL, NULL, &table, &err) == KR_OK, "is built",
          spec);
    check(kr_prepare_scan(table, conditions, sinks, 2, &options, &prepared, &err) == KR_OK, "is prepared",
          spec);
    check(kr_prepared_is_recorded(prepared), "is recorded", spec);
    cudaGraphExec_t graph = prepared ? capture(prepared, spec, NULL) : NULL;
    for (uint32_t round = 0; round < REPLAYS && graph; ++round) {
        memset(a->host, 0, WORDS * sizeof(uint32_t));
        for (uint32_t i = 0; i < KEYS; ++i)
            a->host[i / 32] |= (uint32_t)is_alive(i, round) << i % 32;
        cudaMemcpy(a->probes, a->host, WORDS * sizeof(uint32_t), cudaMemcpyHostToDevice);
        cudaMemset(a->rows, 0, (WORDS + 2) * sizeof(uint32_t));
        cudaDeviceSynchronize(); // the stream does not wait for the default one
        check(cudaGraphLaunch(graph, cuda_stream) == cudaSuccess &&
                  cudaStreamSynchronize(cuda_stream) == cudaSuccess,
              "is replayed", spec);
        check_scan(spec, a, round);
    }
    if (graph)
        cudaGraphExecDestroy(graph);
    kr_prepared_destroy(prepared);
    kr_table_destroy(table);
    kr_condition_destroy(list);
    kr_condition_destroy(below);
    free(values);
}

/* ---- */

/* A lookup that is not prepared, a build, an allocation and a ray kind refuse a stream that is captured, and
 * do not break it. */
static void refuse(const arrays *a)
{
    kr_index *index = NULL, *rays = NULL, *other = NULL;
    kr_prepared *prepared = NULL;
    kr_column keys = {};
    kr_sink sink = {};
    kr_report *report = NULL;
    cudaGraph_t graph = NULL;
    void *memory = NULL;
    keys.type = KR_U32;
    keys.count = 1000;
    keys.data = a->probes;
    sink.struct_size = sizeof sink;
    sink.result = KR_RESULT_ROW;
    sink.out = a->rows;
    check(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err) == KR_OK, "is built", "array");
    const int has_rays = kr_index_create(device, "rx", &keys, NULL, NULL, &rays, &err) == KR_OK;
    if (has_rays) {
        check(kr_prepare_lookup(rays, &keys, &sink, &prepared, &err) == KR_OK, "is prepared", "rx");
        check(!kr_prepared_is_recorded(prepared), "is not recorded", "rx");
    }
    check(kr_report_create(&report, &err) == KR_OK, "is made", "report");
    cudaStreamBeginCapture(cuda_stream, cudaStreamCaptureModeThreadLocal);
    check(kr_index_lookup(index, &keys, &sink, stream, &err) == KR_ERR_UNSUPPORTED, "refuses lookups",
          "array");
    sink.report = report;
    check(kr_index_lookup(index, &keys, &sink, stream, &err) == KR_ERR_UNSUPPORTED,
          "refuses lookups that are timed", "array");
    check(kr_index_create(device, "array", &keys, NULL, stream, &other, &err) == KR_ERR_UNSUPPORTED,
          "refuses builds", "array");
    check(kr_memory_allocate(device, 256, stream, &memory, &err) == KR_ERR_UNSUPPORTED, "refuses allocations",
          "array");
    if (has_rays)
        check(kr_prepared_run(prepared, stream, &err) == KR_ERR_UNSUPPORTED, "refuses rays", "rx");
    check(cudaStreamEndCapture(cuda_stream, &graph) == cudaSuccess && graph, "leaves the capture whole",
          "array");
    if (graph)
        cudaGraphDestroy(graph);
    kr_report_destroy(report);
    kr_prepared_destroy(prepared);
    kr_index_destroy(rays);
    kr_index_destroy(index);
}

int main(void)
{
    static const char *const specs[] = {"array",
                                        "array:probes=partitioned",
                                        "array:probes=sorted",
                                        "eytzinger",
                                        "pivot",
                                        "pivot:probes=partitioned",
                                        "btree",
                                        "hash",
                                        "hash:probes=partitioned",
                                        "chain"};
    arrays a = {};
    if (kr_device_open("cuda", NULL, &device, &err) != KR_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    a.host = (uint32_t *)malloc(PROBES * sizeof(uint32_t));
    cudaMalloc(&a.probes, PROBES * sizeof(uint32_t));
    cudaMalloc(&a.rows, PROBES * sizeof(uint32_t));
    cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking);
    check(kr_stream_wrap_cuda(device, cuda_stream, &stream, &err) == KR_OK, "wraps a stream", "");
    for (const char *spec : specs)
        replay(spec, &a);
    small_batches(&a);
    prepare_beside(&a);
    replay_scan("full", &a);
    replay_scan("bindex", &a);
    replay_scan("bindex:refine=scatter", &a);
    fill(a.host, 0);
    cudaMemcpy(a.probes, a.host, PROBES * sizeof(uint32_t), cudaMemcpyHostToDevice);
    refuse(&a);
    kr_stream_destroy(stream);
    kr_device_close(device);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
