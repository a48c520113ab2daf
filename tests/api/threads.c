/* Eight threads look up in two indexes, of numbers or of texts, at the same time, each with its own sink and
 * stream and in its own order. In between they save the indexes, and load them from saved files that they
 * share. */
#include "saved_files.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 12, KEYS = 20000, PROBES = 3000 };

static kr_device *device;
static kr_index *indexes[2];
static bytes files[2];
static kr_saved *saved[2];
static uint32_t keys[KEYS], probes[PROBES], uppers[PROBES];
static int64_t values[KEYS];
static kr_column key_column, probe_column, upper_column; /* the arrays, or their numbers as texts */
static const kr_column value_column = {.type = KR_I64, .count = KEYS, .data = values};

/* Key k is in the rows r with r % (KEYS / 2) == k * 7 % (KEYS / 2): twice each. */
static void fill(void)
{
    for (uint32_t k = 0; k < KEYS / 2; ++k)
        for (uint32_t twice = 0; twice < 2; ++twice)
            keys[k * 7 % (KEYS / 2) + twice * (KEYS / 2)] = k;
    for (uint32_t r = 0; r < KEYS; ++r)
        values[r] = (int64_t)r - 5000;
    for (uint32_t i = 0; i < PROBES; ++i) {
        probes[i] = i * 2654435761u % (KEYS / 2 + 1000);
        uppers[i] = probes[i] + i % 5;
    }
}

static void use_numbers(void)
{
    key_column = (kr_column){.type = KR_U32, .count = KEYS, .data = keys};
    probe_column = (kr_column){.type = KR_U32, .count = PROBES, .data = probes};
    upper_column = (kr_column){.type = KR_U32, .count = PROBES, .data = uppers};
}

enum { DIGITS = 8 };

/* Texts of one length, in the order of the numbers. */
static kr_column as_texts(const uint32_t *numbers, uint32_t n, char *letters)
{
    static int32_t offsets[KEYS + 1];
    char text[DIGITS + 4];
    for (uint32_t i = 0; i < n; ++i) {
        snprintf(text, sizeof text, "%08u", numbers[i]);
        memcpy(letters + (size_t)i * DIGITS, text, DIGITS);
    }
    for (int32_t i = 0; i <= KEYS; ++i)
        offsets[i] = i * DIGITS;
    return (kr_column){.type = KR_STRING,
                       .count = n,
                       .data = offsets,
                       .reserved_words = {(uintptr_t)letters, (uint64_t)n * DIGITS}};
}

static void use_texts(void)
{
    static char key_bytes[KEYS * DIGITS], probe_bytes[PROBES * DIGITS], upper_bytes[PROBES * DIGITS];
    key_column = as_texts(keys, KEYS, key_bytes);
    probe_column = as_texts(probes, PROBES, probe_bytes);
    upper_column = as_texts(uppers, PROBES, upper_bytes);
}

/* The errors that the threads found; they must not share the counter of CHECK. */
typedef struct worker {
    pthread_t thread;
    kr_stream *stream;
    uint32_t number;
    uint32_t wrong;
    kr_error err;
} worker;

/* The sums over lower .. upper by the definition of the keys. */
static uint64_t expected(kr_result result, uint32_t lower, uint32_t upper)
{
    uint64_t count = 0, sum_rows = 0, smallest = KR_NO_ROW;
    int64_t sum = 0;
    for (uint32_t k = lower; k <= upper && k < KEYS / 2; ++k)
        for (uint32_t twice = 0; twice < 2; ++twice) {
            const uint32_t row = k * 7 % (KEYS / 2) + twice * (KEYS / 2);
            ++count;
            sum_rows += row;
            sum += (int64_t)row - 5000;
            smallest = row < smallest ? row : smallest;
        }
    switch (result) {
    case KR_RESULT_ROW: return smallest;
    case KR_RESULT_COUNT: return count;
    case KR_RESULT_SUM: return (uint64_t)sum;
    case KR_RESULT_EXISTS: return count != 0;
    default: return sum_rows;
    }
}

static uint64_t answer(kr_result result, const void *out, uint64_t i)
{
    if (result == KR_RESULT_ROW)
        return ((const uint32_t *)out)[i];
    if (result == KR_RESULT_EXISTS)
        return ((const uint8_t *)out)[i / 8] >> i % 8 & 1;
    return ((const uint64_t *)out)[i];
}

static void ask(worker *w, kr_result result, int range)
{
    static const kr_column *const no_values = NULL;
    uint64_t *out = calloc(PROBES + 1, sizeof *out);
    kr_report *report = NULL;
    w->wrong += kr_report_create(&report, NULL) != KR_OK;
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = result,
                          .values = result == KR_RESULT_SUM ? &value_column : no_values,
                          .out = out,
                          .report = w->number % 2 ? report : NULL};
    kr_index *index = indexes[w->number / 2 % 2];
    const kr_status status =
        range ? kr_index_range(index, &probe_column, &upper_column, &sink, w->stream, &w->err)
              : kr_index_lookup(index, &probe_column, &sink, w->stream, &w->err);
    w->wrong += status != KR_OK;
    for (uint32_t i = 0; i < PROBES && status == KR_OK; ++i)
        w->wrong += answer(result, out, i) != expected(result, probes[i], range ? uppers[i] : probes[i]);
    kr_report_destroy(report);
    free(out);
}

/* Every time the same bytes. */
static void save(worker *w)
{
    const uint32_t which = w->number / 2 % 2;
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 1, done = 0;
    w->wrong += kr_index_pieces(indexes[which], NULL, &pieces, &w->err) != KR_OK;
    while (pieces && n) {
        if (kr_pieces_next(pieces, &data, &n, NULL, &w->err) != KR_OK || done + n > files[which].n)
            break;
        w->wrong += n && memcmp(files[which].data + done, data, n) != 0;
        done += n;
    }
    w->wrong += done != files[which].n;
    kr_pieces_destroy(pieces);
}

static void load(worker *w)
{
    kr_index *loaded = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    if (kr_index_load(device, saved[w->number / 2 % 2], w->stream, &loaded, &w->err) != KR_OK ||
        kr_index_query(loaded, &info, &w->err) != KR_OK || info.rows != KEYS)
        ++w->wrong;
    kr_index_destroy(loaded);
}

static void *work(void *argument)
{
    static const kr_result results[] = {KR_RESULT_ROW, KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_SUM,
                                        KR_RESULT_EXISTS};
    worker *w = argument;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        kr_device_info info = {.struct_size = sizeof info};
        ask(w, results[(w->number + round) % (sizeof results / sizeof results[0])], (int)(round % 2));
        w->wrong += kr_device_query(device, &info, NULL) != KR_OK;
        if (round % 4 == w->number % 4)
            save(w);
        if (round % 4 == (w->number + 2) % 4)
            load(w);
    }
    return NULL;
}

/* 0: no tracer here casts the rays of the spec. */
static int create(const char *spec, kr_index **index)
{
    kr_error err = {0};
    const kr_status status = kr_index_create(device, spec, &key_column, NULL, NULL, index, &err);
    if (status)
        printf("%s %s: %s\n", status == KR_ERR_UNSUPPORTED ? "skipped" : "FAILED", spec, err.text);
    failures += status != KR_OK && status != KR_ERR_UNSUPPORTED;
    return status == KR_OK;
}

static void run_kinds(const char *first, const char *second)
{
    worker workers[THREADS] = {0};
    kr_device_info info = {.struct_size = sizeof info};
    if (!create(first, &indexes[0]))
        return;
    if (!create(second, &indexes[1])) {
        kr_index_destroy(indexes[0]);
        return;
    }
    for (int i = 0; i < 2; ++i) {
        files[i] = bytes_of_index(indexes[i], NULL);
        WORKS(kr_saved_open_memory(files[i].data, files[i].n, NULL, &saved[i], &err));
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i].number = i;
        WORKS(kr_stream_create(device, &workers[i].stream, &err));
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].wrong)
            printf("FAILED %s: thread %u: %u wrong answers, %s\n", i / 2 % 2 ? second : first, i,
                   workers[i].wrong, workers[i].err.text);
        failures += workers[i].wrong != 0;
        kr_stream_destroy(workers[i].stream);
    }
    for (int i = 0; i < 2; ++i) {
        kr_saved_close(saved[i]);
        free(files[i].data);
        kr_index_destroy(indexes[i]);
    }
    WORKS(kr_device_query(device, &info, &err));
    CHECK(info.in_use_nbytes == 0);
}

int main(void)
{
    fill();
    use_numbers();
    WORKS(kr_device_open("auto", NULL, &device, &err));
    run_kinds("array:probes=as-is", "array:probes=sorted,layout=aos");
    run_kinds("array:probes=partitioned", "eytzinger:probes=partitioned");
    run_kinds("pivot:layout=aos,probes=partitioned", "eytzinger:k=2,pin=full,reorder=double");
    run_kinds("rx", "rx:range=anyhit,dedupe=off,parts=3");
    run_kinds("rx:prim=aabb,bits=9:23:0", "rx:prim=sphere,order=row");
    use_texts();
    run_kinds("array", "btree");
    kr_device_close(device);
    return failures != 0;
}
