/* Floating point as the library computes: to the nearest, no exceptions trapped, whatever the calling thread
 * has set. Each begin keeps the caller's settings for its end. */
#ifndef KEYRAY_BASE_UTIL_ROUNDING_H
#define KEYRAY_BASE_UTIL_ROUNDING_H

#include <fenv.h>
#include <stdint.h>

/* All of it takes 100 ns to save and set on x86, as much as a lookup; so there only what SSE computes with
 * is, where the x87 unit is as a program finds it. */
typedef struct kr_rounding {
    fenv_t all;
    uint32_t sse;
    int is_whole;
} kr_rounding;

#if defined(__x86_64__)
enum { KR_ROUNDING_SSE = 0x1F80, KR_ROUNDING_SSE_FLAGS = 0x3F, KR_ROUNDING_X87 = 0x37F };

static inline int kr_rounding_is_plain(void)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return x87 == KR_ROUNDING_X87;
}
#endif

static inline void kr_rounding_begin(kr_rounding *before)
{
#if defined(__x86_64__)
    before->is_whole = !kr_rounding_is_plain();
    if (!before->is_whole) { /* setting it takes longer than reading it */
        before->sse = __builtin_ia32_stmxcsr();
        if ((before->sse | KR_ROUNDING_SSE_FLAGS) != (KR_ROUNDING_SSE | KR_ROUNDING_SSE_FLAGS))
            __builtin_ia32_ldmxcsr(KR_ROUNDING_SSE);
        return;
    }
#endif
    before->is_whole = 1;
    fegetenv(&before->all);
    fesetenv(FE_DFL_ENV);
}

static inline void kr_rounding_end(const kr_rounding *before)
{
#if defined(__x86_64__)
    if (!before->is_whole) {
        if (__builtin_ia32_stmxcsr() != before->sse)
            __builtin_ia32_ldmxcsr(before->sse);
        return;
    }
#endif
    fesetenv(&before->all);
}

#endif
