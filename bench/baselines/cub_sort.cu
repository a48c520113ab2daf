// CUB's radix sort of (key, row) pairs and nothing else: the baseline for builds on the GPU.
#include "bench/baselines/timed_runs.cuh"
#include "bench/bench.h"

#include <cub/device/device_radix_sort.cuh>

#include <cstdio>

namespace
{

// Everything that a sort needs; released whatever happens.
struct sort_memory {
    timed_runs timed;
    void *keys_out = nullptr, *scratch = nullptr;
    uint32_t *rows_in = nullptr, *rows_out = nullptr;
    size_t scratch_nbytes = 0;

    ~sort_memory()
    {
        cudaFree(rows_out);
        cudaFree(rows_in);
        cudaFree(scratch);
        cudaFree(keys_out);
    }
};

__global__ void number_rows(uint32_t *rows, uint64_t n)
{
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * uint64_t(blockDim.x))
        rows[i] = static_cast<uint32_t>(i);
}

template <typename Key>
cudaError_t sort_once(sort_memory &m, const void *keys, uint64_t n)
{
    return cub::DeviceRadixSort::SortPairs(m.scratch, m.scratch_nbytes, static_cast<const Key *>(keys),
                                           static_cast<Key *>(m.keys_out), m.rows_in, m.rows_out,
                                           static_cast<uint32_t>(n));
}

template <typename Key>
cudaError_t prepare(sort_memory &m, const void *keys, uint64_t n)
{
    cudaError_t status = m.timed.prepare(keys);
    if (status == cudaSuccess)
        status = sort_once<Key>(m, keys, n);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.scratch, m.scratch_nbytes);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.keys_out, n * sizeof(Key));
    if (status == cudaSuccess)
        status = cudaMalloc(&m.rows_in, n * sizeof(uint32_t));
    if (status == cudaSuccess)
        status = cudaMalloc(&m.rows_out, n * sizeof(uint32_t));
    if (status != cudaSuccess)
        return status;
    number_rows<<<1024, 256>>>(m.rows_in, n);
    return cudaGetLastError();
}

template <typename Key>
cudaError_t measure(const void *keys, uint64_t n, uint32_t runs, double *seconds)
{
    sort_memory m;
    const cudaError_t status = prepare<Key>(m, keys, n);
    return status == cudaSuccess ? m.timed.measure(runs, seconds, [&] { return sort_once<Key>(m, keys, n); })
                                 : status;
}

} // namespace

extern "C" int kr_baseline_cub_sort(uint32_t bits, const void *device_keys, uint64_t n, uint32_t runs,
                                    double *seconds, char *text, size_t text_nbytes)
{
    const cudaError_t status = bits == 64 ? measure<uint64_t>(device_keys, n, runs, seconds)
                                          : measure<uint32_t>(device_keys, n, runs, seconds);
    if (status != cudaSuccess)
        snprintf(text, text_nbytes, "CUB's sort of %llu keys failed: %s", static_cast<unsigned long long>(n),
                 cudaGetErrorString(status));
    return status != cudaSuccess;
}
