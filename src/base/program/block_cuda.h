/* Blocks of threads of a GPU; included by block.h only. */
#ifndef KEYRAY_BASE_PROGRAM_BLOCK_CUDA_H
#define KEYRAY_BASE_PROGRAM_BLOCK_CUDA_H

KR_BODY void kr_block_sync(kr_block block)
{
    (void)block;
    __syncthreads();
}

/* The group that this thread of the block belongs to: a warp. */
KR_BODY kr_group kr_block_group(kr_block block)
{
    const kr_group group = {block.rank % 32, 32};
    return group;
}

/* Adds 1 to counters[i] in shared memory; returns the value before. */
KR_BODY uint32_t kr_block_count(kr_block block, uint32_t *counters, uint32_t i)
{
    (void)block;
    return atomicAdd(counters + i, 1u);
}

/* Sets bits of words[i] in shared memory. */
KR_BODY void kr_block_or(kr_block block, uint32_t *words, uint32_t i, uint32_t bits)
{
    (void)block;
    atomicOr(words + i, bits);
}

/* Turns bits of words[i] in shared memory over. */
KR_BODY void kr_block_xor(kr_block block, uint32_t *words, uint32_t i, uint32_t bits)
{
    (void)block;
    atomicXor(words + i, bits);
}

/* Writes bit i of words in shared memory, whose bits are 0 or not written yet. The threads of a warp have the
 * bits of a word: i % 32 is block.rank % 32. */
KR_BODY void kr_block_put_bit(kr_block block, uint32_t *words, uint32_t i, int bit)
{
    const uint32_t word = __ballot_sync(KR_WARP, bit);
    if (block.rank % 32 == 0)
        words[i / 32] = word;
}

/* Begins to copy n words to shared memory, where they are after kr_block_copied and a kr_block_sync. Both
 * begin at 16 bytes; n is a multiple of 4. Of words that are copied or cleared, each thread has its own. On
 * the CPU, what follows the words is on its way afterwards: several arrays are copied fastest by lines in
 * turn. */
KR_BODY void kr_block_copy(kr_block block, uint32_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t w = 4 * block.rank; w < n; w += 4 * block.size) {
#if __CUDA_ARCH__ >= 800
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to + w)),
            "l"(from + w)
            : "memory");
#else
        *(uint4 *)(to + w) = __ldcs((const uint4 *)(from + w));
#endif
    }
}

KR_BODY void kr_block_clear(kr_block block, uint32_t *words, uint32_t n)
{
    for (uint32_t w = 4 * block.rank; w < n; w += 4 * block.size)
        *(uint4 *)(words + w) = make_uint4(0, 0, 0, 0);
}

/* This thread's own words are there. */
KR_BODY void kr_block_copied(kr_block block)
{
    (void)block;
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Turns bits of words that were copied or cleared over, where those of `from` are 1; needs kr_block_copied,
 * and no kr_block_sync. */
KR_BODY void kr_block_xor_words(kr_block block, uint32_t *words, const uint32_t *from, uint32_t n)
{
    for (uint32_t w = 4 * block.rank; w < n; w += 4 * block.size) {
        const uint4 a = __ldcs((const uint4 *)(from + w));
        words[w] ^= a.x;
        words[w + 1] ^= a.y;
        words[w + 2] ^= a.z;
        words[w + 3] ^= a.w;
    }
}

/* The sum of x over the lanes of a warp up to this one. */
KR_BODY uint32_t kr_block_warp_sum_until(uint32_t lane, uint32_t x)
{
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint32_t other = __shfl_up_sync(KR_WARP, x, distance);
        x += lane >= distance ? other : 0;
    }
    return x;
}

/* The sum of x over the threads before this one; *total, unless NULL, becomes that over all. */
KR_BODY uint32_t kr_block_sum_before(kr_block block, uint32_t x, uint32_t *total)
{
    __shared__ uint32_t warps[KR_BLOCK_SIZE / 32];
    const uint32_t lane = block.rank % 32, warp = block.rank / 32;
    const uint32_t sum = kr_block_warp_sum_until(lane, x);
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    const uint32_t until = kr_block_warp_sum_until(lane, lane < block.size / 32 ? warps[lane] : 0);
    const uint32_t before = __shfl_sync(KR_WARP, until, warp ? warp - 1 : 0);
    if (total)
        *total = __shfl_sync(KR_WARP, until, 31);
    __syncthreads();
    return (warp ? before : 0) + sum - x;
}

/* A launch that needs more shared memory than a kernel may have unasked allows it as much as the device has:
 * a limit for each launch would race with another thread's launch of the same kernel. */
static inline cudaError_t kr_block_grid(const kr_blocks *blocks, uint64_t n, const void *kernel,
                                        unsigned *grid)
{
    enum { KR_UNASKED_NBYTES = 48 * 1024 - KR_BLOCK_NBYTES_OWN };
    int device = 0, multiprocessors = 0, nbytes = 0;
    cudaError_t code = cudaSuccess;
    if (blocks->shared_nbytes > KR_UNASKED_NBYTES || blocks->per_multiprocessor)
        code = cudaGetDevice(&device);
    if (code == cudaSuccess && blocks->shared_nbytes > KR_UNASKED_NBYTES) {
        code = cudaDeviceGetAttribute(&nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        if (code == cudaSuccess)
            code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        nbytes - KR_BLOCK_NBYTES_OWN);
    }
    if (code == cudaSuccess && blocks->per_multiprocessor)
        code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const uint64_t most = blocks->per_multiprocessor
                              ? (uint64_t)blocks->per_multiprocessor * (unsigned)multiprocessors
                              : (uint64_t)1 << 30;
    *grid = (unsigned)(n < most ? n : most);
    return code;
}

template <typename body>
static __global__ void __launch_bounds__(KR_BLOCK_SIZE)
    kr_block_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    extern __shared__ uint64_t kr_block_shared[];
    const kr_block block = {threadIdx.x, KR_BLOCK_SIZE, blockIdx.x, gridDim.x};
    body::elements(block, (char *)kr_block_shared, &params, n);
}

template <typename body>
static __global__ void __launch_bounds__(KR_BLOCK_SIZE, KR_THREADS_AT_ONCE / KR_BLOCK_SIZE)
    kr_block_pair_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    extern __shared__ uint64_t kr_block_shared[];
    const kr_block block = {threadIdx.x, KR_BLOCK_SIZE, blockIdx.x, gridDim.x};
    body::elements(block, (char *)kr_block_shared, &params, n);
}

template <typename params_t>
static int kr_launch_blocks(void (*kernel)(const params_t, uint64_t), const void *block, uint64_t n,
                            void *cuda_stream)
{
    const params_t *params = (const params_t *)block;
    const kr_blocks *blocks = &params->blocks;
    unsigned grid = 0;
    if (n == 0)
        return 0;
    const cudaError_t code = kr_block_grid(blocks, n, (const void *)kernel, &grid);
    if (code != cudaSuccess)
        return (int)code;
    kernel<<<grid, KR_BLOCK_SIZE, blocks->shared_nbytes, (cudaStream_t)cuda_stream>>>(*params, n);
    return (int)cudaGetLastError();
}

#define KR_BLOCK_PROGRAM_(name, params_type, body, kernel)                                  \
    struct name##_body_t {                                                                  \
        typedef params_type params_t;                                                       \
        static __device__ __forceinline__ void elements(kr_block block, char *shared,       \
                                                        const params_t *params, uint64_t n) \
        {                                                                                   \
            body(block, shared, params, n);                                                 \
        }                                                                                   \
    };                                                                                      \
    KR_CUDA_ENTRY(name, params_type,                                                        \
                  kr_launch_blocks<params_type>(kernel<name##_body_t>, block, n, cuda_stream))

#endif
