/* Latencies of lookups while a writer makes versions. */
#include "concurrent.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 4096 };

typedef struct writer {
    shared *s;
    pthread_t thread;
    uint32_t *keys[2], *rows;
    uint64_t n_made;
    double longest;
    _Atomic int is_over;
} writer;

/* A version has `changes` rows behind those that are looked up, of keys that the version before has not. */
static int make_version(writer *w)
{
    shared *s = w->s;
    const uint64_t n = s->o->changes;
    const kr_column inserts = {.type = KR_U32, .count = n, .data = w->keys[s->newest->number % 2]};
    const kr_column deletes = {.type = KR_U32, .count = n, .data = w->keys[(s->newest->number + 1) % 2]};
    kr_index *next = NULL;
    kr_stream *stream = NULL;
    kr_error err = {0};
    if (concurrent_failed(s, kr_stream_create(s->device, &stream, &err), &err, "kr_stream_create"))
        return 1;
    const double begin = concurrent_now();
    const kr_status status =
        kr_index_next_version(s->newest->index, &inserts, w->rows, &deletes, stream, &next, &err);
    const double seconds = concurrent_now() - begin;
    kr_stream_destroy(stream);
    if (concurrent_failed(s, status, &err, "kr_index_next_version"))
        return 1;
    w->longest = seconds > w->longest ? seconds : w->longest;
    ++w->n_made;
    return concurrent_publish(s, next, s->newest->number + 1);
}

static void *run_writer(void *argument)
{
    writer *w = argument;
    double next = concurrent_now();
    while (!atomic_load(&w->is_over)) {
        if (concurrent_now() < next) {
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
            continue;
        }
        next += 1;
        if (make_version(w))
            break;
    }
    return NULL;
}

static int open_writer(writer *w, shared *s)
{
    const uint64_t n = s->o->changes;
    *w = (writer){.s = s};
    w->rows = malloc(n * sizeof *w->rows);
    w->keys[0] = malloc(n * sizeof **w->keys);
    w->keys[1] = malloc(n * sizeof **w->keys);
    if (!w->rows || !w->keys[0] || !w->keys[1])
        return 1;
    for (uint64_t i = 0; i < n; ++i) {
        w->rows[i] = (uint32_t)(s->n_keys + i);
        w->keys[0][i] = concurrent_key(s->n_keys + i);
        w->keys[1][i] = concurrent_key(s->n_keys + n + i);
    }
    return 0;
}

static void close_writer(writer *w)
{
    free(w->rows);
    free(w->keys[0]);
    free(w->keys[1]);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct latencies {
    double median, p99, p999, longest;
    uint64_t n, bound;
} latencies;

static latencies summarize(reader *readers, uint64_t n)
{
    latencies l = {0};
    for (uint64_t i = 0; i < n; ++i) {
        l.n += readers[i].n_times;
        l.bound += readers[i].n_bound;
    }
    double *all = malloc((l.n + 1) * sizeof *all);
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; ++i) {
        for (uint64_t j = 0; all && j < readers[i].n_times; ++j)
            all[at++] = readers[i].times[j];
        free(readers[i].times);
        readers[i].times = NULL;
    }
    if (all && l.n) {
        qsort(all, l.n, sizeof *all, compare);
        l.median = all[l.n / 2];
        l.p99 = all[(uint64_t)((double)l.n * 0.99)];
        l.p999 = all[(uint64_t)((double)l.n * 0.999)];
        l.longest = all[l.n - 1];
    }
    free(all);
    return l;
}

static void print(const char *what, const latencies *l)
{
    printf("  %-16s %9llu lookups, microseconds: median %8.1f, 99%% %8.1f, 99.9%% %8.1f, longest %9.1f\n",
           what, (unsigned long long)l->n, l->median * 1e6, l->p99 * 1e6, l->p999 * 1e6, l->longest * 1e6);
    fflush(stdout);
}

static int measure(shared *s, int with_writer, latencies *l)
{
    reader *readers = calloc(s->o->threads, sizeof *readers);
    writer w = {.s = s};
    int code = !readers || open_writer(&w, s);
    if (!code && with_writer && pthread_create(&w.thread, NULL, run_writer, &w))
        code = 1;
    if (!code) {
        code = concurrent_read(s, readers, s->o->threads, BATCH, (double)s->o->seconds_each, 1);
        atomic_store(&w.is_over, 1);
        if (with_writer)
            pthread_join(w.thread, NULL);
        *l = summarize(readers, s->o->threads);
        print(with_writer ? "with versions" : "without", l);
        if (with_writer)
            printf("  %llu versions, the longest took %.3f s; readers changed to another one %llu times\n",
                   (unsigned long long)w.n_made, w.longest, (unsigned long long)l->bound);
    }
    close_writer(&w);
    free(readers);
    return code;
}

int concurrent_versions(shared *s)
{
    double best = 0;
    int code = 0;
    printf("%llu threads, batches of %d, %s lookups; a version of %llu rows deleted and as many inserted "
           "each second\n",
           (unsigned long long)s->o->threads, BATCH, s->o->plain ? "plain" : "prepared",
           (unsigned long long)s->o->changes);
    for (uint64_t round = 0; round < s->o->rounds && !code; ++round) {
        latencies without, with;
        code = measure(s, 0, &without);
        if (!code)
            code = measure(s, 1, &with);
        if (code || without.p999 <= 0)
            break;
        const double ratio = with.p999 / without.p999;
        best = best == 0 || ratio < best ? ratio : best;
        printf("  99.9%% with versions is %.2f times that without\n", ratio);
    }
    if (!code)
        printf("the least of %llu rounds: %.2f times\n", (unsigned long long)s->o->rounds, best);
    return code;
}
