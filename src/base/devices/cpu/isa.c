#include "base/devices/cpu/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[KR_ISAS] = {"plain", "avx2", "avx512"};

/* Must ask for everything that cmake/KeyrayLibrary.cmake compiles a set with. */
static uint32_t largest(void)
{
#if defined(KR_WITH_SIMD)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("popcnt") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
        return KR_ISA_PLAIN;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq"))
        return KR_ISA_AVX2;
    return KR_ISA_AVX512;
#else
    return KR_ISA_PLAIN;
#endif
}

const char *kr_cpu_isa_name(uint32_t isa)
{
    return names[isa];
}

kr_status kr_cpu_isa(uint32_t *isa, kr_error *err)
{
    const char *wish = getenv("KEYRAY_ISA");
    const uint32_t most = largest();
    uint32_t wished = 0;
    if (!wish) {
        *isa = most;
        return KR_OK;
    }
    while (wished < KR_ISAS && strcmp(wish, names[wished]) != 0)
        ++wished;
    if (wished == KR_ISAS)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "environment: KEYRAY_ISA is '%s': set it to plain, avx2 or avx512, or unset it", wish);
    if (wished > most)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "environment: KEYRAY_ISA is %s, which this CPU or this build lacks: use %s at most",
                       wish, names[most]);
    *isa = wished;
    return KR_OK;
}
