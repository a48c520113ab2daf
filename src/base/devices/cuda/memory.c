/* Device memory, from a pool that only this kr_device uses, and copies. */
#include "base/devices/cuda/cuda_device.h"

/* cudaMalloc is for GPUs without memory pools; it ignores stream order, so cudaFree waits for the GPU. For
 * sizes beyond all memory, the driver returns various errors; here they all become one. */
static cudaError_t take(kr_cuda_device *cuda, void **memory, uint64_t nbytes, cudaStream_t stream)
{
    if (nbytes > cuda->info.memory_nbytes)
        return cudaErrorMemoryAllocation;
    return cuda->pool ? cudaMallocFromPoolAsync(memory, nbytes, cuda->pool, stream)
                      : cudaMalloc(memory, nbytes);
}

void kr_cuda_let_streams_wait(kr_cuda_device *cuda, kr_cuda_calls *calls, int may_wait)
{
    KR_CUDA(calls, cudaMemPoolSetAttribute(cuda->pool, cudaMemPoolReuseAllowInternalDependencies, &may_wait));
}

/* Released memory that earlier work of the stream still uses, or that the pool keeps, may be enough; else
 * what other streams still use, for which this one then waits. */
static cudaError_t take_again(kr_cuda_device *cuda, void **memory, uint64_t nbytes, cudaStream_t stream)
{
    kr_cuda_calls calls = {.code = cudaSuccess};
    (void)cudaGetLastError();
    (void)cudaStreamSynchronize(stream);
    if (cuda->pool)
        (void)cudaMemPoolTrimTo(cuda->pool, 0);
    (void)cudaGetLastError();
    const cudaError_t code = take(cuda, memory, nbytes, stream);
    if (code != cudaErrorMemoryAllocation || !cuda->pool)
        return code;
    (void)cudaGetLastError();
    kr_cuda_let_streams_wait(cuda, &calls, 1);
    KR_CUDA(&calls, take(cuda, memory, nbytes, stream));
    kr_cuda_calls back = {.code = cudaSuccess};
    kr_cuda_let_streams_wait(cuda, &back, 0);
    return calls.code;
}

void *kr_cuda_allocate(kr_device *device, uint64_t nbytes, void *stream, kr_error *err)
{
    kr_cuda_device *cuda = kr_cuda_device_of(device);
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    void *memory = NULL;
    size_t left = 0, all = 0;
    KR_CUDA(&calls, take(cuda, &memory, nbytes, stream));
    if (calls.code == cudaErrorMemoryAllocation && nbytes <= cuda->info.memory_nbytes)
        calls.code = take_again(cuda, &memory, nbytes, stream);
    if (calls.code != cudaSuccess) {
        calls.call = cuda->pool ? "cudaMallocFromPoolAsync" : "cudaMalloc";
        memory = NULL;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&left, &all);
    }
    (void)kr_cuda_leave(&calls, err, "allocating %llu bytes (%llu of %llu are free)",
                        (unsigned long long)nbytes, (unsigned long long)left, (unsigned long long)all);
    return memory;
}

void kr_cuda_release(kr_device *device, void *memory, uint64_t nbytes, void *stream)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    (void)nbytes;
    if (kr_cuda_device_of(device)->pool)
        KR_CUDA(&calls, cudaFreeAsync(memory, stream));
    else
        KR_CUDA(&calls, cudaFree(memory));
    (void)kr_cuda_leave(&calls, NULL, "releasing");
}

/* What the pool keeps and nobody uses counts as free. */
uint64_t kr_cuda_available(kr_device *device)
{
    kr_cuda_device *cuda = kr_cuda_device_of(device);
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    size_t left = 0, all = 0;
    uint64_t kept = 0, used = 0;
    KR_CUDA(&calls, cudaMemGetInfo(&left, &all));
    if (cuda->pool) {
        KR_CUDA(&calls, cudaMemPoolGetAttribute(cuda->pool, cudaMemPoolAttrReservedMemCurrent, &kept));
        KR_CUDA(&calls, cudaMemPoolGetAttribute(cuda->pool, cudaMemPoolAttrUsedMemCurrent, &used));
    }
    (void)kr_cuda_leave(&calls, NULL, "asking for free memory");
    return left + (kept > used ? kept - used : 0);
}

kr_status kr_cuda_pin(kr_device *device, void *memory, uint64_t nbytes, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaHostRegister(memory, nbytes, cudaHostRegisterDefault));
    const kr_status status = kr_cuda_leave(&calls, NULL, "pinning");
    if (status == KR_OK)
        return KR_OK;
    return kr_fail(err, KR_ERR_HOST_MEMORY,
                   "the system does not pin %llu bytes; pin less, or use the memory as it is",
                   (unsigned long long)nbytes);
}

void kr_cuda_unpin(kr_device *device, void *memory)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaHostUnregister(memory));
    (void)kr_cuda_leave(&calls, NULL, "ending a pin");
}

/* Kernels could read pinned host memory over the bus, but searches would read it more than once. */
kr_place kr_cuda_place(kr_device *device, const void *pointer)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    struct cudaPointerAttributes attributes = {.type = cudaMemoryTypeUnregistered};
    kr_place place = KR_PLACE_HOST;
    KR_CUDA(&calls, cudaPointerGetAttributes(&attributes, pointer));
    if (calls.code == cudaSuccess && attributes.type == cudaMemoryTypeManaged)
        place = KR_PLACE_HERE;
    if (calls.code == cudaSuccess && attributes.type == cudaMemoryTypeHost)
        place = KR_PLACE_PINNED;
    if (calls.code == cudaSuccess && attributes.type == cudaMemoryTypeDevice)
        place = attributes.device == calls.number ? KR_PLACE_HERE : KR_PLACE_ELSEWHERE;
    (void)kr_cuda_leave(&calls, NULL, "asking about a pointer");
    return place;
}

kr_status kr_cuda_copy(kr_device *device, void *to, const void *from, uint64_t nbytes, void *stream,
                       kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDefault, stream));
    return kr_cuda_leave(&calls, err, "copying %llu bytes", (unsigned long long)nbytes);
}

kr_status kr_cuda_fill(kr_device *device, void *to, int byte, uint64_t nbytes, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaMemsetAsync(to, byte, nbytes, stream));
    return kr_cuda_leave(&calls, err, "filling %llu bytes", (unsigned long long)nbytes);
}
