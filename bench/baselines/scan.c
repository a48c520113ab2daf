/* Scans without an index on a CPU: a loop over the rows, the sum of the columns, lists of rows as bits. */
#include "bench/bench.h"
#include "bench/workload/workload.h"

#include <string.h>
#include <time.h>

enum { BLOCK = 1024 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- A loop over the rows -------------------------------------------------------------------- */

typedef struct scan {
    const kr_baseline_table *table;
    const kr_bounds *bounds;
    uint32_t *bitmap;
} scan;

/* holds[i] &= the value of row first + i lies in the bounds. */
static void test_column(const kr_baseline_table *table, uint32_t c, kr_bounds bounds, uint64_t first,
                        uint32_t n, uint8_t *holds)
{
    if (table->bits == 64) {
        const uint64_t *values = (const uint64_t *)table->columns[c] + first;
        for (uint32_t i = 0; i < n; ++i)
            holds[i] &= values[i] >= bounds.lower && values[i] < bounds.upper;
        return;
    }
    const uint32_t *values = (const uint32_t *)table->columns[c] + first;
    if (bounds.lower >= bounds.upper || bounds.lower > UINT32_MAX) {
        memset(holds, 0, n);
        return;
    }
    /* Both ends are values of 32 bits now, so that compilers compare many at once. */
    const uint32_t lower = (uint32_t)bounds.lower,
                   last = bounds.upper > UINT32_MAX ? UINT32_MAX : (uint32_t)bounds.upper - 1;
    for (uint32_t i = 0; i < n; ++i)
        holds[i] &= values[i] >= lower && values[i] <= last;
}

static void scan_blocks(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const scan *s = ctx;
    (void)part;
    for (uint64_t block = first; block < end; ++block) {
        const uint64_t begin = block * BLOCK, left = s->table->n_rows - begin;
        const uint32_t n = left < BLOCK ? (uint32_t)left : BLOCK;
        uint8_t holds[BLOCK] = {0};
        memset(holds, 1, n);
        for (uint32_t c = 0; c < s->table->n_columns; ++c)
            test_column(s->table, c, s->bounds[c], begin, n, holds);
        for (uint32_t w = 0; w < (n + 31) / 32; ++w) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= (uint32_t)holds[32 * w + i] << i;
            s->bitmap[begin / 32 + w] = bits;
        }
    }
}

void kr_baseline_scan(const kr_baseline_table *table, const kr_bounds *bounds, uint32_t threads,
                      uint32_t *bitmap)
{
    scan s = {table, bounds, bitmap};
    kr_workload_run(kr_workload_parts(threads, table->n_rows), (table->n_rows + BLOCK - 1) / BLOCK,
                    scan_blocks, &s);
}

/* ---- The sum of the columns ------------------------------------------------------------------ */

typedef struct sums {
    const kr_baseline_table *table;
    uint64_t of[KR_WORKLOAD_PARTS_MAX];
} sums;

static void sum_words(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    sums *s = ctx;
    uint64_t sum = 0;
    for (uint32_t c = 0; c < s->table->n_columns; ++c) {
        const uint32_t *words = s->table->columns[c];
        for (uint64_t i = first; i < end; ++i)
            sum += words[i];
    }
    s->of[part] = sum;
}

uint64_t kr_baseline_sum_cpu(const kr_baseline_table *table, uint32_t threads, uint32_t runs, double *seconds)
{
    const uint64_t n_words = table->n_rows * (table->bits / 32);
    const uint32_t parts = kr_workload_parts(threads, n_words);
    uint64_t sum = 0;
    for (uint32_t run = 0; run < runs; ++run) {
        sums s = {.table = table};
        const double begin = now();
        kr_workload_run(parts, n_words, sum_words, &s);
        seconds[run] = now() - begin;
        sum = 0;
        for (uint32_t part = 0; part < parts; ++part)
            sum += s.of[part];
    }
    return sum;
}

/* ---- Lists of rows as bits ------------------------------------------------------------------- */

typedef struct marking {
    const uint32_t *rows, *from;
    uint32_t *to;
} marking;

/* Rows come in the order of their values, so threads meet in the same words. */
static void set_bits(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const marking *m = ctx;
    (void)part;
    for (uint64_t i = first; i < end; ++i)
        __atomic_fetch_or(&m->to[m->rows[i] / 32], (uint32_t)1 << m->rows[i] % 32, __ATOMIC_RELAXED);
}

static void merge(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const marking *m = ctx;
    (void)part;
    for (uint64_t w = first; w < end; ++w)
        m->to[w] &= m->from[w];
}

void kr_baseline_marks_cpu(const kr_baseline_marks *marks, uint32_t threads)
{
    const uint64_t words = (marks->n_rows + 31) / 32;
    marking m = {.rows = marks->rows, .to = marks->scratch ? marks->scratch : marks->bitmap};
    memset(m.to, 0, words * sizeof *m.to);
    kr_workload_run(kr_workload_parts(threads, *marks->count), *marks->count, set_bits, &m);
    if (!marks->scratch)
        return;
    m = (marking){.from = marks->scratch, .to = marks->bitmap};
    kr_workload_run(kr_workload_parts(threads, words), words, merge, &m);
}
