/* The CUDA executors; included by program.h only. One thread an element, blocks of 256, the grid capped so
 * that its size fits: threads then loop. */
#ifndef KEYRAY_PROGRAM_PROGRAM_CUDA_H
#define KEYRAY_PROGRAM_PROGRAM_CUDA_H

#include <cuda_runtime.h>

enum { KR_BLOCK = 256 };

static inline unsigned kr_grid(uint64_t n)
{
    const uint64_t blocks = (n + KR_BLOCK - 1) / KR_BLOCK, most = (uint64_t)1 << 30;
    return (unsigned)(blocks < most ? blocks : most);
}

#define KR_CUDA_LAUNCHER(name, params_t)                                                                    \
    extern "C" int name##_cuda(const void *block, uint64_t n, void *cuda_stream)                            \
    {                                                                                                       \
        if (n == 0)                                                                                         \
            return 0;                                                                                       \
        name##_kernel<<<kr_grid(n), KR_BLOCK, 0, (cudaStream_t)cuda_stream>>>(*(const params_t *)block, n); \
        return (int)cudaGetLastError();                                                                     \
    }                                                                                                       \
    kr_assert_fits(params_t, 4096)

#define KR_FOR_MINE(i, n)                                                     \
    for (uint64_t i = (uint64_t)blockIdx.x * KR_BLOCK + threadIdx.x; i < (n); \
         i += (uint64_t)gridDim.x * KR_BLOCK)

#define KR_MAP_PROGRAM_(name, params_t, body)                              \
    static __global__ void __launch_bounds__(KR_BLOCK)                     \
        name##_kernel(const __grid_constant__ params_t params, uint64_t n) \
    {                                                                      \
        KR_FOR_MINE(i, n)                                                  \
        {                                                                  \
            body(&params, i);                                              \
        }                                                                  \
    }                                                                      \
    KR_CUDA_LAUNCHER(name, params_t)

#define KR_PROBE_PROGRAM_(name, params_t, state_t, begin, step, end_)      \
    kr_assert_fits(state_t, 32);                                           \
    static __global__ void __launch_bounds__(KR_BLOCK)                     \
        name##_kernel(const __grid_constant__ params_t params, uint64_t n) \
    {                                                                      \
        KR_FOR_MINE(i, n)                                                  \
        {                                                                  \
            state_t state;                                                 \
            if (begin(&params, i, &state))                                 \
                while (step(&params, &state))                              \
                    ;                                                      \
            end_(&params, i, &state);                                      \
        }                                                                  \
    }                                                                      \
    KR_CUDA_LAUNCHER(name, params_t)

/* Whole warps stay in the loop together: n is rounded up to a multiple of 32 for its condition. */
#define KR_GROUP_PROGRAM_(name, params_t, body)                            \
    static __global__ void __launch_bounds__(KR_BLOCK)                     \
        name##_kernel(const __grid_constant__ params_t params, uint64_t n) \
    {                                                                      \
        const kr_group warp = {threadIdx.x & 31u, 32u};                    \
        KR_FOR_MINE(i, (n + 31) / 32 * 32)                                 \
        {                                                                  \
            body(warp, &params, i, n);                                     \
        }                                                                  \
    }                                                                      \
    KR_CUDA_LAUNCHER(name, params_t)

#endif
