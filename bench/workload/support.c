#include "bench/workload/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

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
    uint64_t parts = threads;
#ifdef _OPENMP
    if (parts == 0)
        parts = (uint64_t)omp_get_num_procs();
#endif
    /* Below some thousand elements a thread costs more than it brings. */
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

void kr_workload_run(uint32_t parts, uint64_t count, kr_part_work work, void *ctx)
{
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (uint32_t part = 0; part < parts; part++)
        work(ctx, part, part_begin(part, parts, count), part_begin(part + 1, parts, count));
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
