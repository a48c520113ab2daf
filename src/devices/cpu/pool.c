#include "devices/cpu/pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#if defined(KR_WITH_OPENMP)
#include <omp.h>
#else
#include <pthread.h>
#endif

/* A piece's number is taken from one counter, so a thread that the system delays holds up only the end of the
 * region, where OpenMP's threads wait for each other (spinning, unless OMP_WAIT_POLICY=passive). */
typedef struct job {
    kr_task task;
    void *ctx;
    uint64_t n, grain, pieces;
    _Atomic uint64_t next;
} job;

static void work(job *todo, uint32_t worker)
{
    uint64_t piece;
    while ((piece = atomic_fetch_add_explicit(&todo->next, 1, memory_order_relaxed)) < todo->pieces) {
        const uint64_t first = piece * todo->grain, left = todo->n - first;
        todo->task(todo->ctx, worker, first, first + (left < todo->grain ? left : todo->grain));
    }
}

#if defined(KR_WITH_OPENMP)

static void run_team(job *todo, uint32_t threads)
{
#pragma omp parallel num_threads(threads)
    work(todo, (uint32_t)omp_get_thread_num());
}

const char *kr_pool_name(void)
{
    return _OPENMP >= 201811 ? "OpenMP 5.0" : _OPENMP >= 201511 ? "OpenMP 4.5" : "OpenMP";
}

#else

enum { MOST_THREADS = 1024 };

typedef struct member {
    job *todo;
    uint32_t worker;
} member;

static void *run_member(void *argument)
{
    const member *one = argument;
    work(one->todo, one->worker);
    return NULL;
}

/* Where the system gives fewer threads, those that are there do the work. */
static void run_team(job *todo, uint32_t threads)
{
    pthread_t started[MOST_THREADS];
    member members[MOST_THREADS];
    uint32_t count = 1;
    for (; count < threads && count < MOST_THREADS; ++count) {
        members[count] = (member){todo, count};
        if (pthread_create(&started[count], NULL, run_member, &members[count]))
            break;
    }
    work(todo, 0);
    while (--count > 0)
        pthread_join(started[count], NULL);
}

const char *kr_pool_name(void)
{
    return "POSIX threads";
}

#endif

void kr_pool_run(uint32_t threads, uint64_t n, uint64_t grain, kr_task task, void *ctx)
{
    job todo = {.task = task, .ctx = ctx, .n = n, .grain = grain, .pieces = (n + grain - 1) / grain};
    if (threads > todo.pieces)
        threads = (uint32_t)todo.pieces;
    if (threads > 1)
        run_team(&todo, threads);
    else
        work(&todo, 0);
}

uint32_t kr_pool_cores(void)
{
    cpu_set_t set;
    long count = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    if (count < 1)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}
