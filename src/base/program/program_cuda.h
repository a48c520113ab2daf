/* The CUDA executors; included by program.h only. A macro makes a type of a body's functions, and a kernel
 * template runs that type: one thread for each element, in blocks of 256. Where the grid reaches its largest
 * size, threads loop. */
#ifndef KEYRAY_BASE_PROGRAM_PROGRAM_CUDA_H
#define KEYRAY_BASE_PROGRAM_PROGRAM_CUDA_H

#include <cuda_runtime.h>

enum { KR_BLOCK = 256 };

/* Threads of a multiprocessor that a kernel can ask for: 2048 on 8.0, 9.0 and 10.x, else 1024 or more. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100))
#define KR_THREADS_AT_ONCE 2048
#else
#define KR_THREADS_AT_ONCE 1024
#endif

static inline unsigned kr_launch_grid(uint64_t n)
{
    const uint64_t blocks = (n + KR_BLOCK - 1) / KR_BLOCK, most = (uint64_t)1 << 30;
    return (unsigned)(blocks < most ? blocks : most);
}

#define KR_FOR_MINE(i, n)                                                     \
    for (uint64_t i = (uint64_t)blockIdx.x * KR_BLOCK + threadIdx.x; i < (n); \
         i += (uint64_t)gridDim.x * KR_BLOCK)

template <typename body>
static __global__ void __launch_bounds__(KR_BLOCK)
    kr_map_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    KR_FOR_MINE(i, n)
    {
        body::element(&params, i);
    }
}

/* With as many threads as a multiprocessor has, whatever registers that costs: for searches, which wait. */
template <typename body>
static __global__ void __launch_bounds__(KR_BLOCK, KR_THREADS_AT_ONCE / KR_BLOCK)
    kr_map_many_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    KR_FOR_MINE(i, n)
    {
        body::element(&params, i);
    }
}

/* Whole warps stay in the loop together: n is rounded up to a multiple of 32 for its condition. */
template <typename body>
static __global__ void __launch_bounds__(KR_BLOCK)
    kr_group_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    const kr_group warp = {threadIdx.x & 31u, 32u};
    KR_FOR_MINE(i, (n + 31) / 32 * 32)
    {
        body::element(warp, &params, i, n);
    }
}

template <typename body>
static __global__ void __launch_bounds__(KR_BLOCK)
    kr_probe_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    KR_FOR_MINE(i, n)
    {
        typename body::state_t state;
        if (body::begin(&params, i, &state))
            while (body::step(&params, &state))
                ;
        body::end(&params, i, &state);
    }
}

template <typename params_t>
static int kr_launch_simple(void (*kernel)(const params_t, uint64_t), const void *block, uint64_t n,
                            void *cuda_stream)
{
    if (n == 0)
        return 0;
    kernel<<<kr_launch_grid(n), KR_BLOCK, 0, (cudaStream_t)cuda_stream>>>(*(const params_t *)block, n);
    return (int)cudaGetLastError();
}

/* The function behind kr_program.cuda. */
#define KR_CUDA_ENTRY(name, params_t, launch)                                    \
    extern "C" int name##_cuda(const void *block, uint64_t n, void *cuda_stream) \
    {                                                                            \
        return launch;                                                           \
    }                                                                            \
    kr_assert_fits(params_t, 4096)
#define KR_CUDA_SIMPLE_ENTRY(name, params_t, kernel) \
    KR_CUDA_ENTRY(name, params_t, kr_launch_simple<params_t>(kernel<name##_body_t>, block, n, cuda_stream))

#define KR_MAP_PROGRAM_(name, params_type, body) KR_MAP_PROGRAM_BY(name, params_type, body, kr_map_kernel)
#define KR_MAP_PROGRAM_BY(name, params_type, body, kernel)                                 \
    struct name##_body_t {                                                                 \
        typedef params_type params_t;                                                      \
        static __device__ __forceinline__ void element(const params_t *params, uint64_t i) \
        {                                                                                  \
            body(params, i);                                                               \
        }                                                                                  \
    };                                                                                     \
    KR_CUDA_SIMPLE_ENTRY(name, params_type, kernel)

#define KR_MAP_OR_RUN_PROGRAM_(name, params_type, body, run) \
    KR_MAP_PROGRAM_BY(name, params_type, body, kr_map_many_kernel)

#define KR_GROUP_PROGRAM_(name, params_type, body)                                                         \
    struct name##_body_t {                                                                                 \
        typedef params_type params_t;                                                                      \
        static __device__ __forceinline__ void element(kr_group group, const params_t *params, uint64_t i, \
                                                       uint64_t n)                                         \
        {                                                                                                  \
            body(group, params, i, n);                                                                     \
        }                                                                                                  \
    };                                                                                                     \
    KR_CUDA_SIMPLE_ENTRY(name, params_type, kr_group_kernel)

/* A GPU has enough threads to wait for memory. */
#define KR_PROBE_PROGRAM_AHEAD_(...) KR_PROBE_PROGRAM_(__VA_ARGS__)
#define KR_PROBE_OR_RUN_PROGRAM_(name, params_type, state_type, begin_, step_, end_, run_) \
    KR_PROBE_PROGRAM_(name, params_type, state_type, begin_, step_, end_)
#define KR_PROBE_PROGRAM_(name, params_type, state_type, begin_, step_, end_)                           \
    kr_assert_fits(state_type, 32);                                                                     \
    struct name##_body_t {                                                                              \
        typedef params_type params_t;                                                                   \
        typedef state_type state_t;                                                                     \
        static __device__ __forceinline__ int begin(const params_t *params, uint64_t i, state_t *state) \
        {                                                                                               \
            return begin_(params, i, state);                                                            \
        }                                                                                               \
        static __device__ __forceinline__ int step(const params_t *params, state_t *state)              \
        {                                                                                               \
            return step_(params, state);                                                                \
        }                                                                                               \
        static __device__ __forceinline__ void end(const params_t *params, uint64_t i, state_t *state)  \
        {                                                                                               \
            end_(params, i, state);                                                                     \
        }                                                                                               \
    };                                                                                                  \
    KR_CUDA_SIMPLE_ENTRY(name, params_type, kr_probe_kernel)

#endif
