// thrust::lower_bound over sorted keys, for a batch of probes on a GPU.
#include "bench/baselines/timed_runs.cuh"
#include "bench/bench.h"

#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/system/system_error.h>

#include <cstdio>

namespace
{

struct search_memory {
    timed_runs timed;
    void *sorted = nullptr;
    uint32_t *positions = nullptr;

    ~search_memory()
    {
        cudaFree(positions);
        cudaFree(sorted);
    }
};

template <typename Key>
cudaError_t prepare(search_memory &m, const kr_baseline_batch &batch)
{
    cudaError_t status = m.timed.prepare(batch.probes);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.sorted, batch.n * sizeof(Key));
    if (status == cudaSuccess)
        status = cudaMalloc(&m.positions, batch.n_probes * sizeof *m.positions);
    if (status == cudaSuccess)
        status = cudaMemcpy(m.sorted, batch.sorted_keys, batch.n * sizeof(Key), cudaMemcpyHostToDevice);
    return status;
}

template <typename Key>
cudaError_t measure(kr_baseline_batch &batch)
{
    search_memory m;
    const Key *probes = static_cast<const Key *>(batch.probes);
    cudaError_t status = prepare<Key>(m, batch);
    const Key *sorted = static_cast<const Key *>(m.sorted);
    if (status == cudaSuccess)
        status = m.timed.measure(
            batch.runs, batch.seconds,
            [&] {
                thrust::lower_bound(thrust::cuda::par_nosync, sorted, sorted + batch.n, probes,
                                    probes + batch.n_probes, m.positions);
                return cudaGetLastError();
            },
            batch.calls);
    if (status == cudaSuccess)
        status = cudaMemcpy(batch.answers, m.positions + batch.first, batch.count * sizeof *m.positions,
                            cudaMemcpyDeviceToHost);
    batch.footprint_nbytes = batch.n * sizeof(Key);
    return status;
}

} // namespace

extern "C" int kr_baseline_thrust(kr_baseline_batch *batch, char *text, size_t text_nbytes)
{
    cudaError_t status;
    try {
        status = batch->bits == 64 ? measure<uint64_t>(*batch) : measure<uint32_t>(*batch);
    } catch (const thrust::system_error &error) {
        status = static_cast<cudaError_t>(error.code().value());
    }
    if (status != cudaSuccess)
        snprintf(text, text_nbytes, "thrust::lower_bound of %llu probes failed: %s",
                 static_cast<unsigned long long>(batch->n_probes), cudaGetErrorString(status));
    return status != cudaSuccess;
}
