#include "bench/workload/workload.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

kr_status kr_workload_fail(kr_error *err, kr_status status, const char *text, ...)
{
    if (!err)
        return status;
    memset(err, 0, sizeof *err);
    err->status = status;
    va_list args;
    va_start(args, text);
    vsnprintf(err->text, sizeof err->text, text, args);
    va_end(args);
    return status;
}

void *kr_workload_alloc(uint64_t n, uint64_t each, const char *what, kr_error *err)
{
    void *memory = NULL;
    if (n <= (SIZE_MAX / 2) / each)
        memory = malloc(n ? (size_t)(n * each) : 1);
    if (!memory)
        kr_workload_fail(err, KR_ERR_HOST_MEMORY, "no host memory for %s: %llu elements of %llu bytes", what,
                         (unsigned long long)n, (unsigned long long)each);
    return memory;
}

uint32_t kr_workload_parts(uint32_t threads, uint64_t count)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t parts = threads ? threads : cores > 0 ? (uint64_t)cores : 1;
    /* For fewer than a few thousand elements, a thread costs more than it saves. */
    if (parts > count / 4096 + 1)
        parts = count / 4096 + 1;
    if (parts > KR_WORKLOAD_PARTS_MAX)
        parts = KR_WORKLOAD_PARTS_MAX;
    return parts ? (uint32_t)parts : 1;
}

static uint64_t part_begin(uint32_t part, uint32_t parts, uint64_t count)
{
    uint64_t rest = count % parts;
    return count / parts * part + (part < rest ? part : rest);
}

typedef struct part_job {
    kr_part_work work;
    void *ctx;
    uint64_t count;
    uint32_t part, parts;
} part_job;

static void *run_part(void *argument)
{
    const part_job *job = argument;
    job->work(job->ctx, job->part, part_begin(job->part, job->parts, job->count),
              part_begin(job->part + 1, job->parts, job->count));
    return NULL;
}

void kr_workload_run(uint32_t parts, uint64_t count, kr_part_work work, void *ctx)
{
    pthread_t threads[KR_WORKLOAD_PARTS_MAX];
    part_job jobs[KR_WORKLOAD_PARTS_MAX];
    int started[KR_WORKLOAD_PARTS_MAX] = {0};
    for (uint32_t part = 0; part < parts; ++part) {
        jobs[part] = (part_job){work, ctx, count, part, parts};
        started[part] = part && !pthread_create(&threads[part], NULL, run_part, &jobs[part]);
    }
    for (uint32_t part = 0; part < parts; ++part)
        if (!started[part])
            run_part(&jobs[part]);
    for (uint32_t part = 0; part < parts; ++part)
        if (started[part])
            pthread_join(threads[part], NULL);
}

kr_status kr_ints_open(kr_type type, uint64_t n_keys, const void *keys, kr_ints *ints, kr_error *err)
{
    static const struct {
        uint32_t nbytes, is_signed;
    } types[] = {
        [KR_U8] = {1, 0},     [KR_I8] = {1, 1},          [KR_U16] = {2, 0}, [KR_I16] = {2, 1},
        [KR_U32] = {4, 0},    [KR_I32] = {4, 1},         [KR_U64] = {8, 0}, [KR_I64] = {8, 1},
        [KR_DATE32] = {4, 1}, [KR_TIMESTAMP64] = {8, 1},
    };
    if ((size_t)type >= sizeof types / sizeof types[0] || types[type].nbytes == 0)
        return kr_workload_fail(err, KR_ERR_UNSUPPORTED,
                                "no workload over keys of type %d: use integer or date keys", (int)type);
    if (n_keys >= KR_NO_ROW + UINT64_C(1))
        return kr_workload_fail(err, KR_ERR_LIMIT, "%llu keys: a key set holds at most 2^32 - 1",
                                (unsigned long long)n_keys);
    if (!keys && n_keys)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "keys is NULL but n_keys is %llu",
                                (unsigned long long)n_keys);
    uint32_t nbytes = types[type].nbytes;
    *ints = (kr_ints){.nbytes = nbytes,
                      .flip = (uint64_t)types[type].is_signed << (8 * nbytes - 1),
                      .last = UINT64_MAX >> (64 - 8 * nbytes)};
    return KR_OK;
}
