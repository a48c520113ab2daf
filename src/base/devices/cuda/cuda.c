/* Opening and closing a GPU, and the tables of the back end. */
#include "base/devices/cuda/cub.h"
#include "base/devices/cuda/cuda_device.h"
#include "base/program/block.h"

#include <stdlib.h>
#include <string.h>

/* Without memory pools (some virtual GPUs) the device uses cudaMalloc. */
static void create_pool(kr_cuda_device *cuda, kr_cuda_calls *calls)
{
    int supported = 0;
    uint64_t keep_all = UINT64_MAX;
    struct cudaMemPoolProps properties;
    KR_CUDA(calls, cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, cuda->number));
    if (calls->code != cudaSuccess || !supported)
        return;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = cuda->number;
    KR_CUDA(calls, cudaMemPoolCreate(&cuda->pool, &properties));
    /* Released memory stays in the pool for the next allocation; by default every kr_device_sync would give
     * it back. */
    KR_CUDA(calls, cudaMemPoolSetAttribute(cuda->pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
    kr_cuda_let_streams_wait(cuda, calls, 0);
}

/* Also closes a device that failed to open: what was not created is NULL. */
static void close_device(kr_device *device)
{
    kr_cuda_device *cuda = kr_cuda_device_of(device);
    kr_cuda_unstage_all(device);
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    if (calls.code == cudaSuccess) {
        if (device->own.native) {
            (void)cudaStreamSynchronize(device->own.native);
            (void)cudaStreamDestroy(device->own.native);
        }
        if (cuda->pool)
            (void)cudaMemPoolDestroy(cuda->pool);
        (void)cudaGetLastError();
    }
    (void)kr_cuda_leave(&calls, NULL, "closing");
    free(cuda);
}

/* The rest of the head is filled by device.c. */
static kr_status open_device(uint32_t number, const kr_device_options *options, kr_device **device,
                             kr_error *err)
{
    kr_cuda_calls calls;
    kr_status status;
    cudaStream_t own = NULL;
    int shared_nbytes = 0;
    kr_cuda_device *cuda = kr_host_calloc(1, sizeof *cuda, "a CUDA device", err);
    (void)options;
    if (!cuda)
        return KR_ERR_HOST_MEMORY;
    cuda->number = (int)number;
    cuda->head.ops = &kr_cuda_ops;
    pthread_mutex_init(&cuda->stage_lock, NULL);
    status = kr_cuda_describe(number, &cuda->info, err);
    if (status != KR_OK) {
        free(cuda);
        return status;
    }

    calls = kr_cuda_enter(cuda->number);
    KR_CUDA(&calls, kr_cub_probe());
    KR_CUDA(&calls,
            cudaDeviceGetAttribute(&shared_nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->number));
    create_pool(cuda, &calls);
    KR_CUDA(&calls, cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    cuda->head.own.native = own;
    status = kr_cuda_leave(&calls, err, "opening");
    if (status != KR_OK) {
        close_device(&cuda->head);
        return status;
    }
    cuda->head.own.owned = 1;
    cuda->head.block_nbytes = (uint32_t)shared_nbytes - KR_BLOCK_NBYTES_OWN;
    *device = &cuda->head;
    return KR_OK;
}

static kr_status within(kr_device *device, kr_status (*work)(void *ctx, kr_error *err), void *ctx,
                        kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    const kr_status status = calls.code == cudaSuccess ? work(ctx, err) : KR_OK;
    const kr_status left = kr_cuda_leave(&calls, status ? NULL : err, "making the GPU current");
    return status ? status : left;
}

static kr_status query(kr_device *device, kr_device_info *info, kr_error *err)
{
    (void)err;
    *info = kr_cuda_device_of(device)->info;
    return KR_OK;
}

static int can_run(kr_device *device, const kr_program *program)
{
    (void)device;
    return program->cuda != NULL;
}

static kr_status run(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                     void *stream, kr_error *err)
{
    kr_cuda_calls calls;
    if (!program->cuda)
        return kr_fail(err, KR_ERR_UNSUPPORTED, "%s is not built for CUDA; use the device \"cpu\"",
                       program->name);
    calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, program->cuda(params, n, stream));
    calls.call = program->name;
    return kr_cuda_leave(&calls, err, "running %s for %llu elements", program->name, (unsigned long long)n);
}

const kr_device_ops kr_cuda_ops = {
    .is_host = 0,
    .group_threads = 32,
    .close = close_device,
    .within = within,
    .query = query,
    .allocate = kr_cuda_allocate,
    .release = kr_cuda_release,
    .available = kr_cuda_available,
    .stage = kr_cuda_stage,
    .unstage = kr_cuda_unstage,
    .pin = kr_cuda_pin,
    .unpin = kr_cuda_unpin,
    .place = kr_cuda_place,
    .copy = kr_cuda_copy,
    .fill = kr_cuda_fill,
    .stream_create = kr_cuda_stream_create,
    .stream_destroy = kr_cuda_stream_destroy,
    .stream_sync = kr_cuda_stream_sync,
    .event_create = kr_cuda_event_create,
    .event_destroy = kr_cuda_event_destroy,
    .event_record = kr_cuda_event_record,
    .event_wait = kr_cuda_event_wait,
    .event_sync = kr_cuda_event_sync,
    .event_done = kr_cuda_event_done,
    .is_capturing = kr_cuda_is_capturing,
    .stamp = kr_cuda_stamp,
    .stamp_seconds = kr_cuda_stamp_seconds,
    .record_begin = kr_cuda_record_begin,
    .record_end = kr_cuda_record_end,
    .replay = kr_cuda_replay,
    .recording_destroy = kr_cuda_recording_destroy,
    .drain = kr_cuda_drain,
    .sort_temp_nbytes = kr_cuda_sort_temp_nbytes,
    .sort_pairs = kr_cuda_sort_pairs,
    .scan_temp_nbytes = kr_cuda_scan_temp_nbytes,
    .exclusive_sum = kr_cuda_exclusive_sum,
    .can_run = can_run,
    .run = run,
};

const kr_backend kr_backend_cuda = {"cuda", 1, kr_cuda_count, kr_cuda_describe, open_device, NULL};
