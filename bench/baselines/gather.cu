// A table with a row for each value from the lowest key to the highest, for a batch of probes on a GPU: a
// plain gather.
#include "bench/baselines/timed_runs.cuh"
#include "bench/bench.h"

#include <cstdio>

namespace
{

struct gather_memory {
    timed_runs timed;
    uint32_t *rows = nullptr, *answers = nullptr;

    ~gather_memory()
    {
        cudaFree(answers);
        cudaFree(rows);
    }
};

template <typename Key>
__global__ void fill(const Key *keys, uint64_t n, Key lowest, uint32_t *rows)
{
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * uint64_t(blockDim.x))
        rows[keys[i] - lowest] = static_cast<uint32_t>(i);
}

template <typename Key>
__global__ void __launch_bounds__(256) gather(const Key *probes, uint64_t n, Key lowest, uint64_t n_values,
                                              const uint32_t *rows, uint32_t *answers)
{
    const uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    if (i >= n)
        return;
    const Key at = __ldcs(probes + i) - lowest;
    __stcs(answers + i, at < n_values ? __ldg(rows + at) : KR_NO_ROW);
}

template <typename Key>
cudaError_t measure(kr_baseline_batch &batch)
{
    gather_memory m;
    const Key *keys = static_cast<const Key *>(batch.keys), *probes = static_cast<const Key *>(batch.probes),
              *sorted = static_cast<const Key *>(batch.sorted_keys);
    const Key lowest = sorted[0];
    const uint64_t n_values = uint64_t(sorted[batch.n - 1] - lowest) + 1;
    cudaError_t status = m.timed.prepare(batch.probes);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.rows, n_values * sizeof *m.rows);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.answers, batch.n_probes * sizeof *m.answers);
    if (status == cudaSuccess)
        status = cudaMemset(m.rows, 0xFF, n_values * sizeof *m.rows); // KR_NO_ROW
    if (status != cudaSuccess)
        return status;
    fill<<<1024, 256>>>(keys, batch.n, lowest, m.rows);
    status = m.timed.measure(
        batch.runs, batch.seconds,
        [&] {
            const auto blocks = static_cast<unsigned>((batch.n_probes + 255) / 256);
            gather<<<blocks, 256>>>(probes, batch.n_probes, lowest, n_values, m.rows, m.answers);
            return cudaGetLastError();
        },
        batch.calls);
    if (status == cudaSuccess)
        status = cudaMemcpy(batch.answers, m.answers + batch.first, batch.count * sizeof *m.answers,
                            cudaMemcpyDeviceToHost);
    batch.footprint_nbytes = n_values * sizeof *m.rows;
    return status;
}

} // namespace

extern "C" int kr_baseline_gather_cuda(kr_baseline_batch *batch, char *text, size_t text_nbytes)
{
    const cudaError_t status = batch->bits == 64 ? measure<uint64_t>(*batch) : measure<uint32_t>(*batch);
    if (status != cudaSuccess)
        snprintf(text, text_nbytes, "a plain gather of %llu probes failed: %s",
                 static_cast<unsigned long long>(batch->n_probes), cudaGetErrorString(status));
    return status != cudaSuccess;
}
