/* Blocks of several threads on a CPU, for tests; included by block.h only, in builds with
 * KEYRAY_BLOCK_THREADS. Block programs then run as on a GPU: their threads share memory, which begins with
 * garbage and is no larger than the launch says, and wait for each other. So ThreadSanitizer sees a missing
 * kr_block_sync, and AddressSanitizer an access behind the shared memory; without the latter, a store close
 * behind it ends the program, as does a copy that a GPU cannot make. */
#ifndef KEYRAY_BASE_PROGRAM_BLOCK_THREADS_H
#define KEYRAY_BASE_PROGRAM_BLOCK_THREADS_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The threads of a block: the one that calls, and others that wait for its next call. */
typedef struct kr_team kr_team;
typedef void kr_team_body(kr_block block, char *shared, const void *params, uint64_t n);
struct kr_team {
    pthread_barrier_t barrier;
    kr_team_body *body;
    const void *params;
    char *shared;
    uint64_t first, n;
    uint32_t sums[KR_BLOCK_SIZE];
    struct kr_team_member {
        kr_team *team;
        uint32_t rank;
    } members[KR_BLOCK_SIZE];
};

static __thread kr_team *kr_team_of_mine;

/* Bytes behind the shared memory that stay as they are. */
#if defined(__SANITIZE_ADDRESS__)
enum { KR_TEAM_BEHIND_NBYTES = 1 };
#else
enum { KR_TEAM_BEHIND_NBYTES = 4096 };
#endif

static inline void kr_team_work(kr_team *team, uint32_t rank)
{
    const kr_block block = {rank, KR_BLOCK_SIZE, team->first, 1};
    team->body(block, team->shared, team->params, team->n);
    pthread_barrier_wait(&team->barrier);
}

static inline void *kr_team_join(void *member)
{
    const struct kr_team_member *me = (const struct kr_team_member *)member;
    kr_team_of_mine = me->team;
    for (;;) {
        pthread_barrier_wait(&me->team->barrier); /* for a call */
        kr_team_work(me->team, me->rank);
    }
    return NULL;
}

/* A test that cannot have its threads ends: there is nobody to tell. */
static inline kr_team *kr_team_make(void)
{
    kr_team *team = (kr_team *)calloc(1, sizeof *team);
    pthread_t thread;
    if (!team || pthread_barrier_init(&team->barrier, NULL, KR_BLOCK_SIZE))
        abort();
    for (uint32_t r = 1; r < KR_BLOCK_SIZE; ++r) {
        team->members[r].team = team;
        team->members[r].rank = r;
        if (pthread_create(&thread, NULL, kr_team_join, &team->members[r]) || pthread_detach(thread))
            abort();
    }
    return team;
}

static inline void kr_team_run(kr_team_body *body, const void *params, uint32_t shared_nbytes, uint64_t first,
                               uint64_t n)
{
    kr_team *team = kr_team_of_mine ? kr_team_of_mine : kr_team_make();
    const size_t nbytes = (size_t)shared_nbytes + KR_TEAM_BEHIND_NBYTES;
    kr_team_of_mine = team;
    team->body = body;
    team->params = params;
    team->shared = (char *)malloc(nbytes);
    team->first = first;
    team->n = n;
    if (!team->shared)
        abort();
    memset(team->shared, 0xA5, nbytes);
    pthread_barrier_wait(&team->barrier);
    kr_team_work(team, 0);
    for (size_t i = shared_nbytes; i < nbytes; ++i)
        if (team->shared[i] != (char)0xA5)
            abort();
    free(team->shared);
}

KR_BODY void kr_block_sync(kr_block block)
{
    (void)block;
    pthread_barrier_wait(&kr_team_of_mine->barrier);
}

KR_BODY kr_group kr_block_group(kr_block block)
{
    const kr_group alone = {0, 1};
    (void)block;
    return alone;
}

KR_BODY uint32_t kr_block_count(kr_block block, uint32_t *counters, uint32_t i)
{
    (void)block;
    return __atomic_fetch_add(counters + i, 1, __ATOMIC_RELAXED);
}

KR_BODY void kr_block_or(kr_block block, uint32_t *words, uint32_t i, uint32_t bits)
{
    (void)block;
    __atomic_fetch_or(words + i, bits, __ATOMIC_RELAXED);
}

KR_BODY void kr_block_xor(kr_block block, uint32_t *words, uint32_t i, uint32_t bits)
{
    (void)block;
    __atomic_fetch_xor(words + i, bits, __ATOMIC_RELAXED);
}

KR_BODY void kr_block_put_bit(kr_block block, uint32_t *words, uint32_t i, int bit)
{
    (void)block;
    if (bit)
        __atomic_fetch_or(words + i / 32, 1u << i % 32, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(words + i / 32, ~(1u << i % 32), __ATOMIC_RELAXED);
}

/* Each thread has its own 4 words in every 4 * block.size, as on a GPU. */
KR_BODY void kr_block_copy(kr_block block, uint32_t *to, const uint32_t *from, uint32_t n)
{
    if (((uintptr_t)to | (uintptr_t)from | n * sizeof *to) % 16)
        abort();
    for (uint32_t w = 4 * block.rank; w < n; w += 4 * block.size)
        memcpy(to + w, from + w, 4 * sizeof *to);
}

KR_BODY void kr_block_clear(kr_block block, uint32_t *words, uint32_t n)
{
    if (((uintptr_t)words | n * sizeof *words) % 16)
        abort();
    for (uint32_t w = 4 * block.rank; w < n; w += 4 * block.size)
        memset(words + w, 0, 4 * sizeof *words);
}

KR_BODY void kr_block_copied(kr_block block)
{
    (void)block;
}

KR_BODY void kr_block_xor_words(kr_block block, uint32_t *words, const uint32_t *from, uint32_t n)
{
    for (uint32_t w = 4 * block.rank; w < n; w += 4 * block.size)
        for (uint32_t j = 0; j < 4; ++j)
            words[w + j] ^= from[w + j];
}

KR_BODY uint32_t kr_block_sum_before(kr_block block, uint32_t x, uint32_t *total)
{
    uint32_t *sums = kr_team_of_mine->sums, before = 0, all = 0;
    sums[block.rank] = x;
    kr_block_sync(block);
    for (uint32_t r = 0; r < block.size; ++r) {
        before += r < block.rank ? sums[r] : 0;
        all += sums[r];
    }
    kr_block_sync(block);
    if (total)
        *total = all;
    return before;
}

#define KR_BLOCK_PROGRAM_(title, params_t, body, kernel)                                               \
    static void title##_team(kr_block mine, char *shared, const void *params, uint64_t n)              \
    {                                                                                                  \
        body(mine, shared, (const params_t *)params, n);                                               \
    }                                                                                                  \
    KR_CPU_FUNCTION(title)                                                                             \
    {                                                                                                  \
        (void)n;                                                                                       \
        kr_team_run(title##_team, block, ((const params_t *)block)->blocks.shared_nbytes, first, end); \
    }                                                                                                  \
    KR_CUDA_ENTRY_DECLARE(title)                                                                       \
    KR_PROGRAM_TABLE_OF(title, params_t, KR_CUDA_ENTRY(title), 1)

#endif
