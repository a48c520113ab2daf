#include "base/util/pool.h"
#include "base/util/rounding.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* The helpers of all calls: threads that stay alive between calls. A call puts its job in a list; helpers
 * join the first job that still wants some. A fork leaves the child without helpers and without jobs but the
 * forking thread's own, which must not be running one: it starts with an empty pool. */

enum {
    MOST_HELPERS = 1024,
    SPINS =
        4000 /* looks for a next job before a helper sleeps: a lookup has several jobs, microseconds apart */
};

/* A piece's number is taken from one counter, so a thread that the system delays holds up only the end of the
 * region. */
typedef struct job {
    kr_task task;
    void *ctx;
    uint64_t n, grain, pieces;
    _Atomic uint64_t next;
    /* Under the pool's lock. */
    uint32_t joined, wanted; /* workers so far, the caller included; and at most */
    uint32_t at_work;        /* helpers that have joined and not left */
    pthread_cond_t left;     /* the last of them has */
    struct job *older, *newer;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    job *newest;
    uint32_t helpers, idle;  /* idle: those that look for a job */
    _Atomic uint32_t wanted; /* helpers that jobs of the list still want */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void work(job *todo, uint32_t worker)
{
    uint64_t piece;
    while ((piece = atomic_fetch_add_explicit(&todo->next, 1, memory_order_relaxed)) < todo->pieces) {
        const uint64_t first = piece * todo->grain, left = todo->n - first;
        todo->task(todo->ctx, worker, first, first + (left < todo->grain ? left : todo->grain));
    }
}

/* ---- Helpers ---------------------------------------------------------------------------------- */

/* Under the lock, as all below that is not said to be outside. */
static job *find_job(void)
{
    job *found = pool.newest;
    while (found && found->joined == found->wanted)
        found = found->older;
    return found;
}

static void help(job *todo)
{
    const uint32_t worker = todo->joined++;
    ++todo->at_work;
    --pool.idle;
    atomic_fetch_sub(&pool.wanted, 1);
    pthread_mutex_unlock(&pool.lock);
    work(todo, worker);
    pthread_mutex_lock(&pool.lock);
    ++pool.idle;
    if (--todo->at_work == 0)
        pthread_cond_signal(&todo->left);
}

/* Outside of the lock. */
static void spin(void)
{
    for (uint32_t i = 0; i < SPINS && !atomic_load_explicit(&pool.wanted, memory_order_relaxed); ++i) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

static void *helper(void *unused)
{
    (void)unused;
    fesetenv(FE_DFL_ENV);
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        job *todo = find_job();
        if (todo) {
            help(todo);
            continue;
        }
        pthread_mutex_unlock(&pool.lock);
        spin();
        pthread_mutex_lock(&pool.lock);
        while (!find_job())
            pthread_cond_wait(&pool.wake, &pool.lock);
    }
    return NULL;
}

/* Signals go to the threads of the program that uses the library. */
static int start_helper(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, NULL, helper, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return 0;
    pthread_detach(thread);
    ++pool.helpers;
    ++pool.idle;
    return 1;
}

/* ---- Forks ------------------------------------------------------------------------------------ */

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

static void in_child(void)
{
    pool.newest = NULL;
    pool.helpers = pool.idle = 0;
    pool.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    atomic_store(&pool.wanted, 0);
    pthread_mutex_unlock(&pool.lock);
}

static void mind_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static void publish(job *todo)
{
    const uint32_t helpers = todo->wanted - todo->joined;
    todo->older = pool.newest;
    if (pool.newest)
        pool.newest->newer = todo;
    pool.newest = todo;
    const uint32_t wanted = atomic_fetch_add(&pool.wanted, helpers) + helpers;
    while (pool.idle < wanted && pool.helpers < MOST_HELPERS && start_helper())
        ;
    if (helpers == 1)
        pthread_cond_signal(&pool.wake);
    else
        pthread_cond_broadcast(&pool.wake);
}

/* From now on nobody joins. */
static void withdraw(job *todo)
{
    atomic_fetch_sub(&pool.wanted, todo->wanted - todo->joined);
    if (todo->older)
        todo->older->newer = todo->newer;
    *(todo->newer ? &todo->newer->older : &pool.newest) = todo->older;
}

static void run_together(job *todo)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, mind_forks);
    pthread_cond_init(&todo->left, NULL);
    pthread_mutex_lock(&pool.lock);
    publish(todo);
    pthread_mutex_unlock(&pool.lock);
    work(todo, 0);
    pthread_mutex_lock(&pool.lock);
    withdraw(todo);
    while (todo->at_work)
        pthread_cond_wait(&todo->left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&todo->left);
}

static void run_in_pieces(uint32_t threads, uint64_t n, uint64_t grain, kr_task task, void *ctx)
{
    job todo = {
        .task = task, .ctx = ctx, .n = n, .grain = grain, .pieces = (n + grain - 1) / grain, .joined = 1};
    todo.wanted = threads < todo.pieces ? threads : (uint32_t)todo.pieces;
    if (todo.wanted > 1)
        run_together(&todo);
    else
        work(&todo, 0);
}

/* One piece, perhaps a single probe, needs no counter. */
void kr_pool_run(uint32_t threads, uint64_t n, uint64_t grain, kr_task task, void *ctx)
{
    kr_rounding before;
    kr_rounding_begin(&before);
    if (n > grain)
        run_in_pieces(threads, n, grain, task, ctx);
    else if (n)
        task(ctx, 0, 0, n);
    kr_rounding_end(&before);
}

/* ---- Room for threads ------------------------------------------------------------------------- */

static void *wait_for_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

uint32_t kr_pool_room(uint32_t wanted)
{
    pthread_t threads[MOST_HELPERS];
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    uint32_t n = 0;
    pthread_mutex_lock(&held);
    while (n + 1 < wanted && n < MOST_HELPERS && !pthread_create(&threads[n], NULL, wait_for_lock, &held))
        ++n;
    pthread_mutex_unlock(&held);
    for (uint32_t i = 0; i < n; ++i)
        pthread_join(threads[i], NULL);
    return n + 1;
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
