/* Readers go on while a writer makes versions: every answer is that of the version that was asked, which a
 * reader holds as long as it asks. Plain and prepared lookups; kinds that write anew and kinds that copy. The
 * second argument gives the number of readers, the third seconds for each kind, so that this is a soak, too.
 */
#include "check.h"
#include "device_name.h"
#include "random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Version v has key i of KEYS in (v + i) % SPREAD + 1 rows. */
enum { KEYS = 512, SPREAD = 3, PROBES = 64, READERS_MOST = 1024 };

typedef struct version {
    kr_index *index;
    uint64_t number;
    uint32_t holders; /* under the lock */
} version;

typedef struct shared {
    kr_device *device;
    pthread_mutex_t lock; /* of `newest` and of holders */
    version *newest;
    _Atomic int is_over;
    _Atomic uint64_t asked, waiting; /* readers that have not asked yet */
    _Atomic int failed;
    uint32_t n_readers;
} shared;

static shared s;

static version *hold(void)
{
    pthread_mutex_lock(&s.lock);
    version *held = s.newest;
    ++held->holders;
    pthread_mutex_unlock(&s.lock);
    return held;
}

static void let_go(version *held)
{
    pthread_mutex_lock(&s.lock);
    const int is_last = --held->holders == 0;
    pthread_mutex_unlock(&s.lock);
    if (!is_last)
        return;
    kr_index_destroy(held->index);
    free(held);
}

static uint64_t want(uint64_t number, uint32_t key)
{
    return key < KEYS ? (number + key) % SPREAD + 1 : 0;
}

/* Device memory of a reader: probes, then counts. */
typedef struct reader {
    kr_stream *stream;
    char *memory;
    uint32_t probes[PROBES];
    uint64_t counts[PROBES];
    kr_column column;
    kr_sink sink;
    kr_rng random;
    uint32_t number;
} reader;

static void fail(const char *what, const kr_error *err)
{
    if (!atomic_exchange(&s.failed, 1))
        printf("FAILED %s: %s '%s'\n", what, kr_status_name(err->status), err->text);
    atomic_store(&s.is_over, 1);
}

static void expect(const reader *r, const version *held)
{
    const kr_error none = {.text = "an answer is not that of the version that was asked"};
    for (int i = 0; i < PROBES; ++i)
        if (r->counts[i] != want(held->number, r->probes[i]))
            fail("a count", &none);
}

static void write_probes(reader *r, kr_error *err)
{
    for (int i = 0; i < PROBES; ++i)
        r->probes[i] = (uint32_t)kr_rng_below(&r->random, KEYS + 5);
    if (kr_memory_copy(s.device, r->memory, r->probes, sizeof r->probes, r->stream, err))
        fail("a copy of probes", err);
}

static void read_counts(reader *r, kr_error *err)
{
    if (kr_memory_copy(s.device, r->counts, r->memory + sizeof r->probes, sizeof r->counts, r->stream, err))
        fail("a copy of counts", err);
}

static void ask(reader *r, kr_prepared *prepared, const version *held)
{
    kr_error err = {0};
    write_probes(r, &err);
    const kr_status status = prepared ? kr_prepared_run(prepared, r->stream, &err)
                                      : kr_index_lookup(held->index, &r->column, &r->sink, r->stream, &err);
    if (status)
        fail(prepared ? "kr_prepared_run" : "kr_index_lookup", &err);
    read_counts(r, &err);
    expect(r, held);
    atomic_fetch_add(&s.asked, 1);
}

/* All calls of CUDA take one lock of the driver, which goes to threads that have just let it go: readers that
 * never pause keep a writer, and each other, waiting (docs/threads.md, "CUDA"). So the more there are, the
 * longer each pauses. */
static void pause_reader(void)
{
    const struct timespec pause = {.tv_nsec = (long)s.n_readers * 400000 % 1000000000};
    if (strcmp(device_name, "cpu") != 0)
        nanosleep(&pause, NULL);
}

/* Odd readers prepare a lookup for each version, even ones ask plainly. */
static void read_versions(reader *r)
{
    int is_first = 1;
    while (!atomic_load(&s.is_over)) {
        kr_error err = {0};
        kr_prepared *prepared = NULL;
        version *held = hold();
        if (r->number % 2 && kr_prepare_lookup(held->index, &r->column, &r->sink, &prepared, &err))
            fail("kr_prepare_lookup", &err);
        for (int i = 0; i < 8 && !atomic_load(&s.is_over); ++i)
            ask(r, prepared, held);
        if (kr_device_sync(s.device, r->stream, &err))
            fail("kr_device_sync", &err);
        kr_prepared_destroy(prepared);
        let_go(held);
        if (is_first)
            atomic_fetch_sub(&s.waiting, 1);
        is_first = 0;
        pause_reader();
    }
}

static void *run_reader(void *argument)
{
    reader *r = argument;
    kr_error err = {0};
    void *memory = NULL;
    if (kr_stream_create(s.device, &r->stream, &err) ||
        kr_memory_allocate(s.device, sizeof r->probes + sizeof r->counts, r->stream, &memory, &err)) {
        fail("a reader's memory", &err);
        return NULL;
    }
    r->memory = memory;
    r->column = (kr_column){.type = KR_U32, .count = PROBES, .data = r->memory};
    r->sink = (kr_sink){
        .struct_size = sizeof r->sink, .result = KR_RESULT_COUNT, .out = r->memory + sizeof r->probes};
    read_versions(r);
    kr_memory_release(s.device, memory, sizeof r->probes + sizeof r->counts, r->stream);
    kr_stream_destroy(r->stream);
    return NULL;
}

/* ---- The writer ---------------------------------------------------------------------------------- */

/* All keys of version `number`, each as often as it has rows. */
static uint64_t list_keys(uint64_t number, uint32_t *keys)
{
    uint64_t n = 0;
    for (uint32_t key = 0; key < KEYS; ++key)
        for (uint64_t i = 0; i < want(number, key); ++i)
            keys[n++] = key;
    return n;
}

static version *new_version(kr_index *index, uint64_t number)
{
    version *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    *made = (version){index, number, 1};
    return made;
}

static int write_version(const char *spec)
{
    static uint32_t keys[KEYS * SPREAD], rows[KEYS * SPREAD], gone[KEYS];
    const version *last = s.newest; /* which only this thread changes */
    const uint64_t number = last ? last->number + 1 : 0, n = list_keys(number, keys);
    const kr_column inserts = {.type = KR_U32, .count = n, .data = keys};
    const kr_column deletes = {.type = KR_U32, .count = KEYS, .data = gone};
    kr_index *index = NULL;
    kr_error err = {0};
    for (uint32_t i = 0; i < KEYS; ++i)
        gone[i] = i;
    for (uint32_t i = 0; i < KEYS * SPREAD; ++i)
        rows[i] = i; /* the same in each version, so that a long soak does not run out of row ids */
    const kr_status status =
        last ? kr_index_next_version(last->index, &inserts, rows, &deletes, NULL, &index, &err)
             : kr_index_create(s.device, spec, &inserts, rows, NULL, &index, &err);
    if (status) {
        if (last || status != KR_ERR_UNSUPPORTED)
            fail(last ? "kr_index_next_version" : "kr_index_create", &err);
        else
            printf("%s is left out: %s\n", spec, err.text);
        return 0;
    }
    pthread_mutex_lock(&s.lock);
    version *before = s.newest;
    s.newest = new_version(index, number);
    pthread_mutex_unlock(&s.lock);
    if (before)
        let_go(before);
    return 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_spec(const char *spec, uint32_t n_readers, double seconds)
{
    static reader readers[READERS_MOST];
    static pthread_t threads[READERS_MOST];
    s.newest = NULL;
    s.n_readers = n_readers;
    atomic_store(&s.is_over, 0);
    atomic_store(&s.asked, 0);
    atomic_store(&s.waiting, n_readers);
    if (!write_version(spec))
        return;
    for (uint32_t i = 0; i < n_readers; ++i) {
        readers[i] = (reader){.random = {i + 1}, .number = i};
        if (pthread_create(&threads[i], NULL, run_reader, &readers[i]))
            abort();
    }
    const double begin = now();
    while (!atomic_load(&s.is_over) &&
           (now() - begin < seconds || s.newest->number < 20 || atomic_load(&s.waiting)))
        if (!write_version(spec))
            break;
    atomic_store(&s.is_over, 1);
    for (uint32_t i = 0; i < n_readers; ++i)
        pthread_join(threads[i], NULL);
    const uint64_t n = s.newest->number + 1;
    let_go(s.newest);
    printf("%s: %llu batches of %u readers, %llu versions, %.1f s\n", spec,
           (unsigned long long)atomic_load(&s.asked), n_readers, (unsigned long long)n, now() - begin);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"best:updates=on", "array", "btree", "hash", "cgrx:updates=on"};
    const uint32_t n_readers = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 4;
    const double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
    kr_device_options options = {
        .struct_size = sizeof options, .threads = 1, .memory_cap_nbytes = UINT64_MAX};
    kr_device_info info = {.struct_size = sizeof info};
    if (take_device_name(argc, argv))
        return SKIPPED;
    if (n_readers < 1 || n_readers > READERS_MOST) {
        printf("the second argument is the number of readers, 1 to %d\n", READERS_MOST);
        return 2;
    }
    pthread_mutex_init(&s.lock, NULL);
    WORKS(kr_device_open(device_name, &options, &s.device, &err));
    for (size_t i = 0; s.device && i < sizeof specs / sizeof *specs; ++i)
        check_spec(specs[i], n_readers, seconds);
    WORKS(kr_device_query(s.device, &info, &err));
    CHECK(info.in_use_nbytes == 0);
    kr_device_close(s.device);
    return failures != 0 || atomic_load(&s.failed);
}
