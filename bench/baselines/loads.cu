// Random loads by groups of neighbouring threads of a GPU, and nothing else: what a search does at each step.
#include "bench/baselines/loads_body.h"
#include "bench/baselines/timed_runs.cuh"

#include <cstdio>

namespace
{

enum { BLOCK = 128 }; // small, so that 2^16 threads spread evenly over the multiprocessors

__global__ void fill(uint32_t *entries, uint64_t n)
{
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * uint64_t(blockDim.x))
        entries[i] = loads_entry(static_cast<uint32_t>(i));
}

// A group is not bound to a block: its threads draw the same numbers, each for itself.
__global__ void load(const kr_loads_spec spec, const uint32_t *__restrict__ entries, uint32_t *sums)
{
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= spec.lanes)
        return;
    const uint32_t group = thread / spec.group, lane = thread - group * spec.group;
    uint32_t random = loads_begin(&spec, group), sum = 0;
    for (uint32_t step = 0; step < spec.steps; ++step) {
        random = loads_next(random);
        sum += entries[loads_neighbour(&spec, loads_position(&spec, random), lane)];
    }
    sums[thread] = sum;
}

struct loads_memory {
    timed_runs timed;
    uint32_t *sums = nullptr;

    ~loads_memory()
    {
        cudaFree(sums);
    }
};

cudaError_t prepare(loads_memory &m, const kr_loads_spec &spec, uint32_t *entries)
{
    cudaError_t status = m.timed.prepare(entries);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.sums, spec.lanes * sizeof *m.sums);
    if (status != cudaSuccess)
        return status;
    fill<<<1024, 256>>>(entries, spec.entries);
    return cudaGetLastError();
}

cudaError_t measure(const kr_loads_spec &spec, uint32_t *entries, uint32_t runs, double *seconds,
                    uint32_t *sums)
{
    loads_memory m;
    cudaError_t status = prepare(m, spec, entries);
    if (status == cudaSuccess)
        status = m.timed.measure(runs, seconds, [&] {
            load<<<(spec.lanes + BLOCK - 1) / BLOCK, BLOCK>>>(spec, entries, m.sums);
            return cudaGetLastError();
        });
    if (status == cudaSuccess)
        status = cudaMemcpy(sums, m.sums, spec.lanes * sizeof *sums, cudaMemcpyDeviceToHost);
    return status;
}

} // namespace

extern "C" int kr_baseline_loads_cuda(const kr_loads_spec *spec, uint32_t *device_entries, uint32_t runs,
                                      double *seconds, uint32_t *sums, char *text, size_t text_nbytes)
{
    const cudaError_t status = measure(*spec, device_entries, runs, seconds, sums);
    if (status != cudaSuccess)
        snprintf(text, text_nbytes, "loads by %u threads in groups of %u failed: %s", spec->lanes,
                 spec->group, cudaGetErrorString(status));
    return status != cudaSuccess;
}
