/* Runs a task over [0, n) on several threads. */
#ifndef KEYRAY_BASE_UTIL_POOL_H
#define KEYRAY_BASE_UTIL_POOL_H

#include <stdint.h>

/* `worker` is below `threads`; no two tasks of one call run with the same one at the same time. */
typedef void (*kr_task)(void *ctx, uint32_t worker, uint64_t first, uint64_t end);

/* Calls task for pieces of `grain` elements (the last may be shorter), which threads take in turn; returns
 * when all are done. Any number of threads may call it at once, tasks too, and a forked child as well. The
 * caller works, too: if the system gives no more threads, it does everything. Tasks round to the nearest. */
void kr_pool_run(uint32_t threads, uint64_t n, uint64_t grain, kr_task task, void *ctx);

/* How many threads, the caller included and at most `wanted`, the system lets this process have now beside
 * those that it has: for libraries that end the process when they get fewer. */
uint32_t kr_pool_room(uint32_t wanted);

/* Processors this process may run on. */
uint32_t kr_pool_cores(void);

#endif
