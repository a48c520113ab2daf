/* Lookups go on while rows are inserted: each change makes a new version of the index, and a version is
 * destroyed when its last reader is done.
 *
 * keyray does not say which version is the newest, and counts no readers: this program does, under a lock. */
#include <keyray/keyray.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { READERS = 3, VERSIONS = 20, ROWS_AT_FIRST = 1000 };

typedef struct version {
    kr_index *index;
    uint64_t rows;    /* all of them have key 7 */
    uint64_t holders; /* threads that use it, and one while it is the newest */
} version;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static version *newest;
static _Atomic int is_over, n_failed;

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK && atomic_fetch_add(&n_failed, 1) == 0)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

static version *hold(void)
{
    pthread_mutex_lock(&lock);
    version *held = newest;
    ++held->holders;
    pthread_mutex_unlock(&lock);
    return held;
}

static void let_go(version *held)
{
    pthread_mutex_lock(&lock);
    const int is_last = --held->holders == 0;
    pthread_mutex_unlock(&lock);
    if (!is_last)
        return;
    kr_index_destroy(held->index);
    free(held);
}

static void publish(kr_index *index, uint64_t rows)
{
    version *made = malloc(sizeof *made), *before;
    if (!made)
        exit(1);
    *made = (version){index, rows, 1};
    pthread_mutex_lock(&lock);
    before = newest;
    newest = made;
    pthread_mutex_unlock(&lock);
    if (before)
        let_go(before);
}

/* Every answer is that of the version that was asked. */
static void *read_newest(void *unused)
{
    static const uint32_t seven = 7;
    const kr_column probes = {.type = KR_U32, .count = 1, .data = &seven};
    while (!atomic_load(&is_over)) {
        uint64_t count = 0;
        kr_error err = {0};
        const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = &count};
        version *held = hold();
        if (!failed(kr_index_lookup(held->index, &probes, &sink, NULL, &err), &err) && count != held->rows)
            atomic_fetch_add(&n_failed, 1);
        let_go(held);
    }
    return unused;
}

/* One more row with key 7 in each version, made beside the one that readers use. */
static void write_versions(void)
{
    static const uint32_t seven = 7;
    const kr_column one = {.type = KR_U32, .count = 1, .data = &seven};
    for (int i = 0; i < VERSIONS && !atomic_load(&n_failed); ++i) {
        kr_index *next = NULL;
        kr_error err = {0};
        if (failed(kr_index_next_version(newest->index, &one, NULL, NULL, NULL, &next, &err), &err))
            break;
        publish(next, newest->rows + 1);
    }
}

int main(void)
{
    static uint32_t keys[ROWS_AT_FIRST];
    const kr_column column = {.type = KR_U32, .count = ROWS_AT_FIRST, .data = keys};
    pthread_t readers[READERS];
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    for (int i = 0; i < ROWS_AT_FIRST; ++i)
        keys[i] = 7;
    if (failed(kr_device_open("auto", NULL, &device, &err), &err) ||
        failed(kr_index_create(device, "best:updates=on", &column, NULL, NULL, &index, &err), &err)) {
        kr_device_close(device);
        return 1;
    }
    publish(index, ROWS_AT_FIRST);
    for (int i = 0; i < READERS; ++i)
        if (pthread_create(&readers[i], NULL, read_newest, NULL))
            return 1;
    write_versions();
    atomic_store(&is_over, 1);
    for (int i = 0; i < READERS; ++i)
        pthread_join(readers[i], NULL);
    printf("the newest version has %llu rows; all answers were right: %s\n", (unsigned long long)newest->rows,
           atomic_load(&n_failed) ? "no" : "yes");
    let_go(newest);
    kr_device_close(device);
    return atomic_load(&n_failed) != 0;
}
