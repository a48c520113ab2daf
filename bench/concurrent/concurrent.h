/* What the files of keyray-concurrent share: threads that look up at the same time, each with a stream,
 * memory and prepared lookups of its own, and each waiting for its answer before it asks again. */
#ifndef KEYRAY_BENCH_CONCURRENT_H
#define KEYRAY_BENCH_CONCURRENT_H

#include <keyray/keyray.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Row r of the index has key r * FACTOR in 32 bits: distinct keys in a random order, and the row of each is
 * known. */
#define CONCURRENT_FACTOR 2654435761u

enum { CONCURRENT_SETS = 8 }; /* of probes, which a thread asks for in turn */

typedef struct options {
    const char *device, *spec;
    uint64_t threads, keys_log2, seconds_each, rounds, changes, device_threads;
    uint32_t plain; /* 1: plain lookups, 0: prepared ones */
} options;

/* An index that threads read until they are done with it. */
typedef struct version {
    kr_index *index;
    uint64_t number, holders; /* holders: under the lock */
} version;

typedef struct shared {
    const options *o;
    kr_device *device;
    uint64_t n_keys;
    pthread_mutex_t lock; /* of newest and of holders */
    version *newest;
    _Atomic uint64_t newest_number; /* so that a reader need not take the lock to see that there is none */
    _Atomic int is_over, failed;
    pthread_barrier_t start;
    double cpu_seconds; /* of the process, while threads last looked up */
} shared;

typedef struct reader {
    shared *s;
    pthread_t thread;
    uint64_t batch, seed;
    int keeps_times;
    double *times; /* seconds of each lookup, with its wait */
    uint64_t n_asked, n_times, times_room, n_bound;
    double seconds;
    /* Of the thread. */
    kr_stream *stream;
    void *probes, *rows; /* device memory: CONCURRENT_SETS batches */
    uint32_t *host;
    kr_prepared *prepared[CONCURRENT_SETS];
    version *held;
} reader;

double concurrent_now(void);
/* Prints the error, once; returns 1 if the status is one. */
int concurrent_failed(shared *s, kr_status status, const kr_error *err, const char *what);
uint32_t concurrent_key(uint64_t row);

version *concurrent_hold(shared *s);
void concurrent_let_go(shared *s, version *held);
/* The index becomes the newest version, which is destroyed with its last holder. */
int concurrent_publish(shared *s, kr_index *index, uint64_t number);

/* n threads look up `batch` probes at a time for `seconds`. Each checks all its answers before and after.
 * Returns 0, or 1 if something failed. */
int concurrent_read(shared *s, reader *readers, uint64_t n, uint64_t batch, double seconds, int keeps_times);

/* Latencies without and with a writer that makes a version each second. */
int concurrent_versions(shared *s);

#endif
