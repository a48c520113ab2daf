/* Pinned host memory. Pinning costs the driver a millisecond and more, so blocks that are given back are kept
 * for the next call and freed when the device closes. */
#include "base/devices/cuda/cuda_device.h"

static void *pin(kr_device *device, uint64_t nbytes, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    void *memory = NULL;
    kr_error failed;
    KR_CUDA(&calls, cudaHostAlloc(&memory, nbytes, cudaHostAllocPortable));
    if (kr_cuda_leave(&calls, &failed, "pinning %llu bytes", (unsigned long long)nbytes) == KR_OK)
        return memory;
    /* The memory that is short is the host's. */
    if (failed.status == KR_ERR_DEVICE_MEMORY)
        failed.status = KR_ERR_HOST_MEMORY;
    if (err)
        *err = failed;
    return NULL;
}

static void unpin(kr_device *device, void *memory)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaFreeHost(memory));
    (void)kr_cuda_leave(&calls, NULL, "unpinning");
}

/* A free block of a fitting size, marked busy; NULL when there is none. */
static void *take_kept(kr_cuda_device *cuda, uint64_t nbytes)
{
    void *memory = NULL;
    pthread_mutex_lock(&cuda->stage_lock);
    for (int i = 0; i < KR_CUDA_STAGED && !memory; ++i) {
        kr_cuda_staged *block = &cuda->staged[i];
        if (!block->memory || block->busy || block->nbytes < nbytes || block->nbytes / 4 > nbytes)
            continue;
        block->busy = 1;
        memory = block->memory;
    }
    pthread_mutex_unlock(&cuda->stage_lock);
    return memory;
}

/* Enters a busy block in the table, if need be in place of a free one, which is returned for unpinning. */
static void *keep(kr_cuda_device *cuda, void *memory, uint64_t nbytes)
{
    void *dropped = NULL;
    int place = -1;
    pthread_mutex_lock(&cuda->stage_lock);
    for (int i = 0; i < KR_CUDA_STAGED; ++i)
        if (!cuda->staged[i].memory || (place < 0 && !cuda->staged[i].busy)) {
            place = i;
            if (!cuda->staged[i].memory)
                break;
        }
    if (place >= 0) {
        dropped = cuda->staged[place].memory;
        cuda->staged[place] = (kr_cuda_staged){memory, nbytes, 1};
    }
    pthread_mutex_unlock(&cuda->stage_lock);
    return dropped;
}

void *kr_cuda_stage(kr_device *device, uint64_t nbytes, kr_error *err)
{
    kr_cuda_device *cuda = kr_cuda_device_of(device);
    void *memory = take_kept(cuda, nbytes);
    if (memory)
        return memory;
    memory = pin(device, nbytes, err);
    void *dropped = memory ? keep(cuda, memory, nbytes) : NULL;
    if (dropped)
        unpin(device, dropped);
    return memory;
}

void kr_cuda_unstage(kr_device *device, void *memory)
{
    kr_cuda_device *cuda = kr_cuda_device_of(device);
    int kept = 0;
    pthread_mutex_lock(&cuda->stage_lock);
    for (int i = 0; i < KR_CUDA_STAGED; ++i)
        if (cuda->staged[i].memory == memory) {
            cuda->staged[i].busy = 0;
            kept = 1;
        }
    pthread_mutex_unlock(&cuda->stage_lock);
    if (!kept) /* the table was full of busy blocks */
        unpin(device, memory);
}

void kr_cuda_unstage_all(kr_device *device)
{
    kr_cuda_device *cuda = kr_cuda_device_of(device);
    for (int i = 0; i < KR_CUDA_STAGED; ++i)
        if (cuda->staged[i].memory)
            unpin(device, cuda->staged[i].memory);
    pthread_mutex_destroy(&cuda->stage_lock);
}
