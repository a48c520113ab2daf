/* Sums each block, scans these sums, then scans each block from its own start. */
#include "base/devices/cpu/scan.h"
#include "base/util/pool.h"

enum { BLOCK = 1 << 16 };

typedef struct scan {
    uint64_t *values, *sums;
} scan;

static void sum_block(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const scan *job = ctx;
    uint64_t sum = 0;
    (void)worker;
    for (uint64_t i = first; i < end; ++i)
        sum += job->values[i];
    job->sums[first / BLOCK] = sum;
}

static uint64_t sum_in_place(uint64_t *values, uint64_t first, uint64_t end, uint64_t sum)
{
    for (uint64_t i = first; i < end; ++i) {
        const uint64_t value = values[i];
        values[i] = sum;
        sum += value;
    }
    return sum;
}

static void scan_block(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const scan *job = ctx;
    (void)worker;
    sum_in_place(job->values, first, end, job->sums[first / BLOCK]);
}

uint64_t kr_cpu_scan_temp(uint64_t n)
{
    return (n + BLOCK - 1) / BLOCK * sizeof(uint64_t);
}

void kr_cpu_exclusive_sum(uint32_t threads, uint64_t *values, uint64_t n, void *temp)
{
    scan job = {values, temp};
    if (threads == 1 || n <= BLOCK) {
        sum_in_place(values, 0, n, 0);
        return;
    }
    kr_pool_run(threads, n, BLOCK, sum_block, &job);
    sum_in_place(job.sums, 0, (n + BLOCK - 1) / BLOCK, 0);
    kr_pool_run(threads, n, BLOCK, scan_block, &job);
}
