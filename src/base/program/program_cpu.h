/* The CPU executors; included by program.h only. */
#ifndef KEYRAY_BASE_PROGRAM_PROGRAM_CPU_H
#define KEYRAY_BASE_PROGRAM_PROGRAM_CPU_H

#if defined(KR_WITH_CUDA)
#define KR_CUDA_ENTRY_DECLARE(name) extern int name##_cuda(const void *, uint64_t, void *);
#define KR_CUDA_ENTRY(name) name##_cuda
#else
#define KR_CUDA_ENTRY_DECLARE(name)
#define KR_CUDA_ENTRY(name) NULL
#endif

#define KR_CPU_ARGUMENTS const void *block, uint64_t first, uint64_t end, uint64_t n

/* The table, in the object of the plain set, refers to the executors of the other sets in their objects. */
#if defined(KR_ISA) && KR_ISA > 0
#define KR_CPU_FUNCTION(name)                 \
    extern void name##_cpu(KR_CPU_ARGUMENTS); \
    void name##_cpu(KR_CPU_ARGUMENTS)
#else
#define KR_CPU_FUNCTION(name) static void name##_cpu(KR_CPU_ARGUMENTS)
#endif

#if defined(KR_ISA) && defined(KR_WITH_SIMD)
#define KR_CPU_ISA_DECLARE(name)                   \
    extern void name##_avx2_cpu(KR_CPU_ARGUMENTS); \
    extern void name##_avx512_cpu(KR_CPU_ARGUMENTS);
#define KR_CPU_ISA(name)                   \
    {                                      \
        name##_avx2_cpu, name##_avx512_cpu \
    }
#else
#define KR_CPU_ISA_DECLARE(name)
#define KR_CPU_ISA(name) \
    {                    \
        NULL, NULL       \
    }
#endif

#if defined(KR_ISA) && KR_ISA > 0
#define KR_PROGRAM_TABLE_OF(name, params_t, cuda, blocks) kr_assert_fits(params_t, 4096)
#else
#define KR_PROGRAM_TABLE_OF(name, params_t, cuda, blocks) \
    kr_assert_fits(params_t, 4096);                       \
    KR_CPU_ISA_DECLARE(name)                              \
    extern const kr_program name;                         \
    const kr_program name = {#name, sizeof(params_t), name##_cpu, cuda, 0, blocks, KR_CPU_ISA(name)}
#endif
#define KR_PROGRAM_TABLE(name, params_t) \
    KR_CUDA_ENTRY_DECLARE(name)          \
    KR_PROGRAM_TABLE_OF(name, params_t, KR_CUDA_ENTRY(name), 0)

#define KR_MAP_PROGRAM_(name, params_t, body)             \
    KR_CPU_FUNCTION(name)                                 \
    {                                                     \
        const params_t params = *(const params_t *)block; \
        (void)n;                                          \
        for (uint64_t i = first; i < end; ++i)            \
            body(&params, i);                             \
    }                                                     \
    KR_PROGRAM_TABLE(name, params_t)

#define KR_GROUP_PROGRAM_(name, params_t, body)           \
    KR_CPU_FUNCTION(name)                                 \
    {                                                     \
        const params_t params = *(const params_t *)block; \
        const kr_group alone = {0, 1};                    \
        for (uint64_t i = first; i < end; ++i)            \
            body(alone, &params, i, n);                   \
    }                                                     \
    KR_PROGRAM_TABLE(name, params_t)

/* Finished states leave the list of active ones, so a long probe does not cost its neighbours steps. */
#define KR_PROBE_PROGRAM_(name, params_t, state_t, begin, step, end_) \
    KR_FLIGHT_PROGRAM_(KR_IN_FLIGHT, name, params_t, state_t, begin, step, end_)
#define KR_FLIGHT_PROGRAM_(in_flight, name, params_t, state_t, begin, step, end_)               \
    kr_assert_fits(state_t, 32);                                                                \
    KR_CPU_FUNCTION(name)                                                                       \
    {                                                                                           \
        const params_t params = *(const params_t *)block;                                       \
        state_t states[in_flight];                                                              \
        (void)n;                                                                                \
        for (uint64_t base = first; base < end; base += in_flight) {                            \
            const uint32_t count = end - base < in_flight ? (uint32_t)(end - base) : in_flight; \
            uint32_t active = 0;                                                                \
            uint8_t list[in_flight];                                                            \
            for (uint32_t j = 0; j < count; ++j) {                                              \
                list[active] = (uint8_t)j;                                                      \
                active += begin(&params, base + j, &states[j]) ? 1 : 0;                         \
            }                                                                                   \
            while (active) {                                                                    \
                uint32_t left = 0;                                                              \
                for (uint32_t a = 0; a < active; ++a) {                                         \
                    const uint8_t j = list[a];                                                  \
                    list[left] = j;                                                             \
                    left += step(&params, &states[j]) ? 1 : 0;                                  \
                }                                                                               \
                active = left;                                                                  \
            }                                                                                   \
            for (uint32_t j = 0; j < count; ++j)                                                \
                end_(&params, base + j, &states[j]);                                            \
        }                                                                                       \
    }                                                                                           \
    KR_PROGRAM_TABLE(name, params_t)

/* A probe begins where one ended, so that loads are asked for as evenly as steps are done: of probes that all
 * begin together, the first would wait for memory and the others for the first. */
#define KR_PROBE_PROGRAM_AHEAD_(name, params_t, state_t, begin, step, end_)                            \
    kr_assert_fits(state_t, 32);                                                                       \
    typedef struct name##_ring {                                                                       \
        state_t states[KR_MANY_IN_FLIGHT];                                                             \
        uint64_t probes[KR_MANY_IN_FLIGHT];                                                            \
        uint8_t goes_on[KR_MANY_IN_FLIGHT];                                                            \
    } name##_ring;                                                                                     \
    static inline void name##_take_off(const params_t *params, uint64_t i, name##_ring *r, uint32_t j) \
    {                                                                                                  \
        r->probes[j] = i;                                                                              \
        r->goes_on[j] = begin(params, i, &r->states[j]) ? 1 : 0;                                       \
    }                                                                                                  \
    KR_CPU_FUNCTION(name)                                                                              \
    {                                                                                                  \
        const params_t params = *(const params_t *)block;                                              \
        name##_ring r;                                                                                 \
        uint64_t next = first;                                                                         \
        uint32_t flying = 0;                                                                           \
        (void)n;                                                                                       \
        for (; flying < KR_MANY_IN_FLIGHT && next < end; ++flying)                                     \
            name##_take_off(&params, next++, &r, flying);                                              \
        while (flying)                                                                                 \
            for (uint32_t j = 0; j < flying;) {                                                        \
                if (r.goes_on[j] && step(&params, &r.states[j])) {                                     \
                    ++j;                                                                               \
                    continue;                                                                          \
                }                                                                                      \
                end_(&params, r.probes[j], &r.states[j]);                                              \
                if (next < end) {                                                                      \
                    name##_take_off(&params, next++, &r, j++);                                         \
                } else if (j < --flying) {                                                             \
                    r.states[j] = r.states[flying];                                                    \
                    r.probes[j] = r.probes[flying];                                                    \
                    r.goes_on[j] = r.goes_on[flying];                                                  \
                }                                                                                      \
            }                                                                                          \
    }                                                                                                  \
    KR_PROGRAM_TABLE(name, params_t)

#define KR_CPU_PROGRAM_(name, params_t, run) KR_CPU_PROGRAM_OF(name, params_t, run, 0)
#define KR_CPU_PIECE_PROGRAM_(name, params_t, run) KR_CPU_PROGRAM_OF(name, params_t, run, 1)
#if defined(KR_BLOCK_SIZE) /* tests of what GPUs run: base/program/block_threads.h */
#define KR_MAP_OR_RUN_PROGRAM_(name, params_t, body, run) KR_MAP_PROGRAM_(name, params_t, body)
#define KR_PROBE_OR_RUN_PROGRAM_(name, params_t, state_t, begin, step, end_, run) \
    KR_PROBE_PROGRAM_(name, params_t, state_t, begin, step, end_)
#else
#define KR_MAP_OR_RUN_PROGRAM_(name, params_t, body, run) \
    KR_CPU_RUN(name, params_t, run)                       \
    KR_PROGRAM_TABLE(name, params_t)
#define KR_PROBE_OR_RUN_PROGRAM_(name, params_t, state_t, begin, step, end_, run) \
    KR_MAP_OR_RUN_PROGRAM_(name, params_t, begin, run)
#endif
#define KR_CPU_PROGRAM_OF(name, params_t, run, blocks) \
    KR_CPU_RUN(name, params_t, run)                    \
    KR_PROGRAM_TABLE_OF(name, params_t, NULL, blocks)
#define KR_CPU_RUN(name, params_t, run)                   \
    KR_CPU_FUNCTION(name)                                 \
    {                                                     \
        const params_t params = *(const params_t *)block; \
        (void)n;                                          \
        run(&params, first, end);                         \
    }

#endif
