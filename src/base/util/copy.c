#include "base/util/copy.h"

#include "base/util/pool.h"

#include <string.h>

/* A few threads fill the bandwidth of memory; more only wait. */
enum { PIECE = 1 << 20, THREADS = 8 };

typedef struct copy {
    char *to;
    const char *from;
} copy;

static void copy_piece(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const copy *job = ctx;
    (void)worker;
    memcpy(job->to + first, job->from + first, end - first);
}

void kr_host_copy(void *to, const void *from, uint64_t nbytes)
{
    copy job = {to, from};
    const uint32_t cores = kr_pool_cores();
    const uint32_t threads = nbytes <= 2 * PIECE ? 1 : cores < THREADS ? cores : THREADS;
    if (nbytes)
        kr_pool_run(threads, nbytes, PIECE, copy_piece, &job);
}
