// Scans without an index on a GPU: the sum of the columns, lists of rows as bits.
#include "bench/baselines/timed_runs.cuh"
#include "bench/bench.h"

#include <cstdio>

namespace
{

enum { BLOCK = 256, BLOCKS_A_MULTIPROCESSOR = 8 };

__device__ uint64_t first_of_thread()
{
    return blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
}

// Four words per load; the words behind the last four are the first thread's.
__global__ void sum_column(const uint32_t *__restrict__ words, uint64_t n, unsigned long long *sum)
{
    const uint64_t stride = gridDim.x * uint64_t(blockDim.x);
    uint64_t mine = 0;
    for (uint64_t i = first_of_thread(); i < n / 4; i += stride) {
        const uint4 four = reinterpret_cast<const uint4 *>(words)[i];
        mine += uint64_t(four.x) + four.y + four.z + four.w;
    }
    if (first_of_thread() == 0)
        for (uint64_t i = n / 4 * 4; i < n; ++i)
            mine += words[i];
    for (int step = 16; step; step /= 2)
        mine += __shfl_down_sync(0xFFFFFFFF, mine, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}

__global__ void set_bits(const uint32_t *__restrict__ rows, const uint64_t *count, uint64_t n_rows,
                         uint32_t *bitmap)
{
    const uint64_t n = *count < n_rows ? *count : n_rows;
    for (uint64_t i = first_of_thread(); i < n; i += gridDim.x * uint64_t(blockDim.x))
        atomicOr(&bitmap[rows[i] / 32], 1u << rows[i] % 32);
}

__global__ void merge(const uint32_t *__restrict__ from, uint64_t n, uint32_t *to)
{
    for (uint64_t i = first_of_thread(); i < n; i += gridDim.x * uint64_t(blockDim.x))
        to[i] &= from[i];
}

// Blocks that are all on the GPU at the same time.
cudaError_t blocks_of(unsigned *blocks)
{
    int device = 0, multiprocessors = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    *blocks = unsigned(multiprocessors) * BLOCKS_A_MULTIPROCESSOR;
    return status;
}

struct sum_memory {
    timed_runs timed;
    unsigned long long *sum = nullptr;

    ~sum_memory()
    {
        cudaFree(sum);
    }
};

cudaError_t add_up(const kr_baseline_table &table, unsigned blocks, unsigned long long *sum)
{
    cudaError_t status = cudaMemsetAsync(sum, 0, sizeof *sum, nullptr);
    for (uint32_t c = 0; c < table.n_columns && status == cudaSuccess; ++c) {
        sum_column<<<blocks, BLOCK>>>(static_cast<const uint32_t *>(table.columns[c]),
                                      table.n_rows * (table.bits / 32), sum);
        status = cudaGetLastError();
    }
    return status;
}

cudaError_t measure(const kr_baseline_table &table, uint32_t runs, double *seconds, uint64_t *sum)
{
    sum_memory m;
    unsigned blocks = 0;
    unsigned long long total = 0;
    cudaError_t status = m.timed.prepare(table.columns[0]);
    if (status == cudaSuccess)
        status = blocks_of(&blocks);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.sum, sizeof *m.sum);
    if (status == cudaSuccess)
        status = m.timed.measure(runs, seconds, [&] { return add_up(table, blocks, m.sum); });
    if (status == cudaSuccess)
        status = cudaMemcpy(&total, m.sum, sizeof total, cudaMemcpyDeviceToHost);
    *sum = total;
    return status;
}

cudaError_t mark(const kr_baseline_marks &marks, cudaStream_t stream)
{
    const uint64_t words = (marks.n_rows + 31) / 32;
    uint32_t *to = marks.scratch ? marks.scratch : marks.bitmap;
    unsigned blocks = 0;
    cudaError_t status = use_device_of(marks.bitmap);
    if (status == cudaSuccess)
        status = blocks_of(&blocks);
    if (status == cudaSuccess)
        status = cudaMemsetAsync(to, 0, words * sizeof *to, stream);
    if (status != cudaSuccess)
        return status;
    set_bits<<<blocks, BLOCK, 0, stream>>>(marks.rows, marks.count, marks.n_rows, to);
    if (marks.scratch)
        merge<<<blocks, BLOCK, 0, stream>>>(marks.scratch, words, marks.bitmap);
    return cudaGetLastError();
}

} // namespace

extern "C" int kr_baseline_sum_cuda(const kr_baseline_table *table, uint32_t runs, double *seconds,
                                    uint64_t *sum, char *text, size_t text_nbytes)
{
    const cudaError_t status = measure(*table, runs, seconds, sum);
    if (status != cudaSuccess)
        snprintf(text, text_nbytes, "the sum of %u columns of %llu rows failed: %s", table->n_columns,
                 static_cast<unsigned long long>(table->n_rows), cudaGetErrorString(status));
    return status != cudaSuccess;
}

extern "C" int kr_baseline_marks_cuda(const kr_baseline_marks *marks, void *cuda_stream, char *text,
                                      size_t text_nbytes)
{
    const cudaError_t status = mark(*marks, static_cast<cudaStream_t>(cuda_stream));
    if (status != cudaSuccess)
        snprintf(text, text_nbytes, "marking the bits of a list of rows failed: %s",
                 cudaGetErrorString(status));
    return status != cudaSuccess;
}
