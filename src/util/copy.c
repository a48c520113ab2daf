#include "util/copy.h"

#include <string.h>

enum { PIECE = 1 << 20, THREADS = 8 };

#if defined(KR_WITH_OPENMP)
#include <omp.h>

static int copy_threads(uint64_t pieces)
{
    const int cores = omp_get_num_procs();
    const int most = cores < THREADS ? cores : THREADS;
    return pieces < (uint64_t)most ? (int)pieces : most;
}
#endif

void kr_host_copy(void *to, const void *from, uint64_t nbytes)
{
    const int64_t pieces = (int64_t)((nbytes + PIECE - 1) / PIECE);
#if defined(KR_WITH_OPENMP)
#pragma omp parallel for num_threads(copy_threads((uint64_t)pieces)) if (pieces > 2) schedule(static)
#endif
    for (int64_t i = 0; i < pieces; ++i) {
        const uint64_t at = (uint64_t)i * PIECE;
        memcpy((char *)to + at, (const char *)from + at, nbytes - at < PIECE ? nbytes - at : PIECE);
    }
}
