/* Runs a task over [0, n) on several threads. */
#ifndef KEYRAY_DEVICES_CPU_POOL_H
#define KEYRAY_DEVICES_CPU_POOL_H

#include <stdint.h>

/* `worker` is below the number of threads asked for; no two tasks of one call run with the same one at the
 * same time. */
typedef void (*kr_task)(void *ctx, uint32_t worker, uint64_t first, uint64_t end);

/* Calls task for pieces of `grain` elements (the last may be shorter), which threads take in turn; returns
 * when all are done. Any number of threads may call it at once, tasks too. */
void kr_pool_run(uint32_t threads, uint64_t n, uint64_t grain, kr_task task, void *ctx);

/* Processors this process may run on. */
uint32_t kr_pool_cores(void);
/* What runs the threads: "OpenMP 4.5" or "POSIX threads". */
const char *kr_pool_name(void);

#endif
