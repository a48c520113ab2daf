/* The CPU executors; included by program.h only. */
#ifndef KEYRAY_PROGRAM_PROGRAM_CPU_H
#define KEYRAY_PROGRAM_PROGRAM_CPU_H

#if defined(KR_WITH_CUDA)
#define KR_CUDA_ENTRY_DECLARE(name) extern int name##_cuda(const void *, uint64_t, void *);
#define KR_CUDA_ENTRY(name) name##_cuda
#else
#define KR_CUDA_ENTRY_DECLARE(name)
#define KR_CUDA_ENTRY(name) NULL
#endif

#define KR_PROGRAM_TABLE(name, params_t) \
    kr_assert_fits(params_t, 4096);      \
    KR_CUDA_ENTRY_DECLARE(name)          \
    extern const kr_program name;        \
    const kr_program name = {#name, sizeof(params_t), name##_cpu, KR_CUDA_ENTRY(name), 0, 0}

#define KR_MAP_PROGRAM_(name, params_t, body)                                           \
    static void name##_cpu(const void *block, uint64_t first, uint64_t end, uint64_t n) \
    {                                                                                   \
        const params_t params = *(const params_t *)block;                               \
        (void)n;                                                                        \
        for (uint64_t i = first; i < end; ++i)                                          \
            body(&params, i);                                                           \
    }                                                                                   \
    KR_PROGRAM_TABLE(name, params_t)

#define KR_GROUP_PROGRAM_(name, params_t, body)                                         \
    static void name##_cpu(const void *block, uint64_t first, uint64_t end, uint64_t n) \
    {                                                                                   \
        const params_t params = *(const params_t *)block;                               \
        const kr_group alone = {0, 1};                                                  \
        for (uint64_t i = first; i < end; ++i)                                          \
            body(alone, &params, i, n);                                                 \
    }                                                                                   \
    KR_PROGRAM_TABLE(name, params_t)

/* Finished states leave the list of active ones, so a long probe does not cost its neighbours steps. */
#define KR_PROBE_PROGRAM_(name, params_t, state_t, begin, step, end_)                                 \
    kr_assert_fits(state_t, 32);                                                                      \
    static void name##_cpu(const void *block, uint64_t first, uint64_t end, uint64_t n)               \
    {                                                                                                 \
        const params_t params = *(const params_t *)block;                                             \
        state_t states[KR_IN_FLIGHT];                                                                 \
        (void)n;                                                                                      \
        for (uint64_t base = first; base < end; base += KR_IN_FLIGHT) {                               \
            const uint32_t count = end - base < KR_IN_FLIGHT ? (uint32_t)(end - base) : KR_IN_FLIGHT; \
            uint32_t active = 0;                                                                      \
            uint8_t list[KR_IN_FLIGHT];                                                               \
            for (uint32_t j = 0; j < count; ++j) {                                                    \
                list[active] = (uint8_t)j;                                                            \
                active += begin(&params, base + j, &states[j]) ? 1 : 0;                               \
            }                                                                                         \
            while (active) {                                                                          \
                uint32_t left = 0;                                                                    \
                for (uint32_t a = 0; a < active; ++a) {                                               \
                    const uint8_t j = list[a];                                                        \
                    list[left] = j;                                                                   \
                    left += step(&params, &states[j]) ? 1 : 0;                                        \
                }                                                                                     \
                active = left;                                                                        \
            }                                                                                         \
            for (uint32_t j = 0; j < count; ++j)                                                      \
                end_(&params, base + j, &states[j]);                                                  \
        }                                                                                             \
    }                                                                                                 \
    KR_PROGRAM_TABLE(name, params_t)

#endif
