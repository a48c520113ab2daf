/* Threads that look up, and versions that they hold meanwhile. */
#include "concurrent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double concurrent_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int concurrent_failed(shared *s, kr_status status, const kr_error *err, const char *what)
{
    if (status != KR_OK && !atomic_exchange(&s->failed, 1))
        fprintf(stderr, "keyray-concurrent: %s: %s: %s\n", what, kr_status_name(status), err->text);
    if (status != KR_OK)
        atomic_store(&s->is_over, 1);
    return status != KR_OK;
}

uint32_t concurrent_key(uint64_t row)
{
    return (uint32_t)row * CONCURRENT_FACTOR;
}

/* ---- Versions --------------------------------------------------------------------------------- */

version *concurrent_hold(shared *s)
{
    pthread_mutex_lock(&s->lock);
    version *held = s->newest;
    ++held->holders;
    pthread_mutex_unlock(&s->lock);
    return held;
}

void concurrent_let_go(shared *s, version *held)
{
    pthread_mutex_lock(&s->lock);
    const int is_last = --held->holders == 0;
    pthread_mutex_unlock(&s->lock);
    if (!is_last)
        return;
    kr_index_destroy(held->index);
    free(held);
}

int concurrent_publish(shared *s, kr_index *index, uint64_t number)
{
    version *made = malloc(sizeof *made), *before;
    const kr_error none = {.text = "no host memory for a version"};
    if (!made)
        return concurrent_failed(s, KR_ERR_HOST_MEMORY, &none, "a version");
    *made = (version){index, number, 1};
    pthread_mutex_lock(&s->lock);
    before = s->newest;
    s->newest = made;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->newest_number, number);
    if (before)
        concurrent_let_go(s, before);
    return 0;
}

/* ---- A reader --------------------------------------------------------------------------------- */

static uint64_t random_of(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static kr_column probes_of(const reader *r, int set)
{
    return (kr_column){
        .type = KR_U32, .count = r->batch, .data = (uint32_t *)r->probes + (uint64_t)set * r->batch};
}

static kr_sink sink_of(const reader *r, int set)
{
    return (kr_sink){.struct_size = sizeof(kr_sink),
                     .result = KR_RESULT_ROW,
                     .out = (uint32_t *)r->rows + (uint64_t)set * r->batch};
}

static int open_memory(reader *r)
{
    shared *s = r->s;
    const uint64_t n = r->batch * CONCURRENT_SETS, nbytes = n * sizeof *r->host;
    kr_error err = {0};
    r->host = malloc(nbytes);
    if (!r->host)
        return concurrent_failed(s, KR_ERR_HOST_MEMORY, &err, "probes");
    for (uint64_t i = 0; i < n; ++i)
        r->host[i] = concurrent_key(random_of(&r->seed) % s->n_keys);
    return concurrent_failed(s, kr_stream_create(s->device, &r->stream, &err), &err, "kr_stream_create") ||
           concurrent_failed(s, kr_memory_allocate(s->device, nbytes, r->stream, &r->probes, &err), &err,
                             "kr_memory_allocate") ||
           concurrent_failed(s, kr_memory_allocate(s->device, nbytes, r->stream, &r->rows, &err), &err,
                             "kr_memory_allocate") ||
           concurrent_failed(s, kr_memory_copy(s->device, r->probes, r->host, nbytes, r->stream, &err), &err,
                             "kr_memory_copy");
}

static int prepare(reader *r)
{
    kr_error err = {0};
    for (int i = 0; i < CONCURRENT_SETS && !r->s->o->plain; ++i) {
        const kr_column probes = probes_of(r, i);
        const kr_sink sink = sink_of(r, i);
        if (concurrent_failed(r->s, kr_prepare_lookup(r->held->index, &probes, &sink, &r->prepared[i], &err),
                              &err, "kr_prepare_lookup"))
            return 1;
    }
    return 0;
}

/* The newest version, in place of an older one; prepared lookups are bound to it. */
static int go_on_with_newest(reader *r)
{
    kr_error err = {0};
    version *before = r->held;
    r->held = concurrent_hold(r->s);
    ++r->n_bound;
    for (int i = 0; i < CONCURRENT_SETS && r->prepared[i]; ++i)
        if (concurrent_failed(r->s, kr_prepared_rebind(r->prepared[i], r->held->index, &err), &err,
                              "kr_prepared_rebind"))
            return 1;
    concurrent_let_go(r->s, before);
    return 0;
}

/* One lookup and the wait for it. */
static int ask(reader *r, int set)
{
    kr_error err = {0};
    kr_status status;
    if (atomic_load_explicit(&r->s->newest_number, memory_order_relaxed) != r->held->number &&
        go_on_with_newest(r))
        return 1;
    if (r->prepared[set]) {
        status = kr_prepared_run(r->prepared[set], r->stream, &err);
    } else {
        const kr_column probes = probes_of(r, set);
        const kr_sink sink = sink_of(r, set);
        status = kr_index_lookup(r->held->index, &probes, &sink, r->stream, &err);
    }
    if (status == KR_OK)
        status = kr_device_sync(r->s->device, r->stream, &err);
    return concurrent_failed(r->s, status, &err, "a lookup");
}

/* All sets, against the rows that keys were made of. */
static int check(reader *r)
{
    const uint64_t n = r->batch * CONCURRENT_SETS;
    kr_error err = {0};
    uint32_t *rows = malloc(n * sizeof *rows);
    int code = !rows;
    for (int i = 0; i < CONCURRENT_SETS && !code; ++i)
        code = ask(r, i);
    if (!code)
        code = concurrent_failed(
            r->s, kr_memory_copy(r->s->device, rows, r->rows, n * sizeof *rows, r->stream, &err), &err,
            "kr_memory_copy");
    for (uint64_t i = 0; i < n && !code; ++i)
        if (concurrent_key(rows[i]) != r->host[i] || rows[i] >= r->s->n_keys) {
            snprintf(err.text, sizeof err.text, "key %u is said to be in row %u", r->host[i], rows[i]);
            code = concurrent_failed(r->s, KR_ERR_INTERNAL, &err, "a wrong answer");
        }
    free(rows);
    return code;
}

static void keep_time(reader *r, double seconds)
{
    if (r->n_times == r->times_room) {
        const uint64_t room = r->times_room ? 2 * r->times_room : 1 << 16;
        double *more = realloc(r->times, room * sizeof *more);
        if (!more)
            return;
        r->times = more;
        r->times_room = room;
    }
    r->times[r->n_times++] = seconds;
}

static void ask_until_over(reader *r)
{
    const double begin = concurrent_now();
    double before = begin;
    for (int set = 0; !atomic_load_explicit(&r->s->is_over, memory_order_relaxed);
         set = (set + 1) % CONCURRENT_SETS) {
        if (ask(r, set))
            break;
        ++r->n_asked;
        if (!r->keeps_times)
            continue;
        const double now = concurrent_now();
        keep_time(r, now - before);
        before = now;
    }
    r->seconds = concurrent_now() - begin;
}

static void *run_reader(void *argument)
{
    reader *r = argument;
    shared *s = r->s;
    const uint64_t nbytes = r->batch * CONCURRENT_SETS * sizeof *r->host;
    r->held = concurrent_hold(s);
    int code = open_memory(r) || prepare(r) || check(r);
    pthread_barrier_wait(&s->start);
    if (!code)
        ask_until_over(r);
    if (!code)
        code = check(r);
    for (int i = 0; i < CONCURRENT_SETS; ++i)
        kr_prepared_destroy(r->prepared[i]);
    concurrent_let_go(s, r->held);
    kr_memory_release(s->device, r->rows, nbytes, r->stream);
    kr_memory_release(s->device, r->probes, nbytes, r->stream);
    kr_stream_destroy(r->stream);
    free(r->host);
    return NULL;
}

int concurrent_read(shared *s, reader *readers, uint64_t n, uint64_t batch, double seconds, int keeps_times)
{
    atomic_store(&s->is_over, 0);
    if (pthread_barrier_init(&s->start, NULL, (unsigned)n + 1))
        return 1;
    for (uint64_t i = 0; i < n; ++i) {
        readers[i] = (reader){.s = s, .batch = batch, .seed = i + 1, .keeps_times = keeps_times};
        if (pthread_create(&readers[i].thread, NULL, run_reader, &readers[i])) {
            fprintf(stderr, "keyray-concurrent: the system starts no thread %llu\n", (unsigned long long)i);
            exit(1);
        }
    }
    pthread_barrier_wait(&s->start);
    const double begin = concurrent_now(), cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    while (concurrent_now() - begin < seconds && !atomic_load(&s->is_over))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    s->cpu_seconds = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    atomic_store(&s->is_over, 1);
    for (uint64_t i = 0; i < n; ++i)
        pthread_join(readers[i].thread, NULL);
    pthread_barrier_destroy(&s->start);
    return atomic_load(&s->failed);
}
