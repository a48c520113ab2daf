// Timing what a GPU does, run by run, between two events.
#ifndef KEYRAY_BENCH_BASELINES_TIMED_RUNS_CUH
#define KEYRAY_BENCH_BASELINES_TIMED_RUNS_CUH

#include <cuda_runtime.h>

#include <cstdint>

// Makes the GPU whose memory this is the thread's current one.
inline cudaError_t use_device_of(const void *device_pointer)
{
    cudaPointerAttributes where;
    const cudaError_t status = cudaPointerGetAttributes(&where, device_pointer);
    return status == cudaSuccess ? cudaSetDevice(where.device) : status;
}

struct timed_runs {
    cudaEvent_t begin = nullptr, end = nullptr;

    ~timed_runs()
    {
        if (end)
            cudaEventDestroy(end);
        if (begin)
            cudaEventDestroy(begin);
    }

    // On the GPU whose memory this is.
    cudaError_t prepare(const void *device_pointer)
    {
        cudaError_t status = use_device_of(device_pointer);
        if (status == cudaSuccess)
            status = cudaEventCreate(&begin);
        if (status == cudaSuccess)
            status = cudaEventCreate(&end);
        return status;
    }

    // `run` enqueues in the default stream, and returns a cudaError_t. `calls` of them are enqueued back to
    // back; the seconds are those of one.
    template <typename Run>
    cudaError_t measure(uint32_t runs, double *seconds, Run run, uint32_t calls = 1)
    {
        cudaError_t status = cudaSuccess;
        for (uint32_t i = 0; i < runs && status == cudaSuccess; ++i) {
            float milliseconds = 0;
            cudaEventRecord(begin);
            for (uint32_t c = 0; c < calls && status == cudaSuccess; ++c)
                status = run();
            cudaEventRecord(end);
            if (status == cudaSuccess)
                status = cudaEventSynchronize(end);
            if (status == cudaSuccess)
                status = cudaEventElapsedTime(&milliseconds, begin, end);
            seconds[i] = milliseconds * 1e-3 / calls;
        }
        return status;
    }
};

#endif
