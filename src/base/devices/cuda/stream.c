/* Streams and events, and the public functions that take and give a cudaStream_t. */
#include "base/devices/cuda/cuda_device.h"
#include "base/devices/users.h"

#include <keyray/keyray_cuda.h>

kr_status kr_cuda_stream_create(kr_device *device, void **stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    cudaStream_t created = NULL;
    KR_CUDA(&calls, cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
    if (calls.code == cudaSuccess)
        *stream = created;
    return kr_cuda_leave(&calls, err, "creating a stream");
}

void kr_cuda_stream_destroy(kr_device *device, void *stream)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaStreamDestroy(stream));
    (void)kr_cuda_leave(&calls, NULL, "destroying a stream");
}

kr_status kr_cuda_stream_sync(kr_device *device, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaStreamSynchronize(stream));
    return kr_cuda_leave(&calls, err, "finishing the stream's work");
}

kr_status kr_cuda_event_create(kr_device *device, void **event, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    cudaEvent_t created = NULL;
    KR_CUDA(&calls, cudaEventCreateWithFlags(&created, cudaEventDisableTiming));
    if (calls.code == cudaSuccess)
        *event = created;
    return kr_cuda_leave(&calls, err, "creating an event");
}

void kr_cuda_event_destroy(kr_device *device, void *event)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaEventDestroy(event));
    (void)kr_cuda_leave(&calls, NULL, "destroying an event");
}

kr_status kr_cuda_event_record(kr_device *device, void *event, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaEventRecord(event, stream));
    return kr_cuda_leave(&calls, err, "recording an event");
}

kr_status kr_cuda_event_wait(kr_device *device, void *event, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaStreamWaitEvent(stream, event, 0));
    return kr_cuda_leave(&calls, err, "waiting for an event");
}

kr_status kr_cuda_event_sync(kr_device *device, void *event, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaEventSynchronize(event));
    return kr_cuda_leave(&calls, err, "finishing the work before an event");
}

int kr_cuda_event_done(kr_device *device, void *event)
{
    (void)device; /* events know theirs */
    const cudaError_t code = cudaEventQuery(event);
    if (code != cudaSuccess)
        (void)cudaGetLastError(); /* not ready is not an error */
    return code == cudaSuccess;
}

int kr_cuda_is_capturing(kr_device *device, void *stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    (void)device;
    if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
        return status != cudaStreamCaptureStatusNone;
    (void)cudaGetLastError();
    return 0;
}

void *kr_cuda_stamp(kr_device *device, void *stream)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    cudaEvent_t made = NULL;
    KR_CUDA(&calls, cudaEventCreate(&made));
    KR_CUDA(&calls, cudaEventRecord(made, stream));
    if (calls.code != cudaSuccess && made)
        (void)cudaEventDestroy(made);
    return kr_cuda_leave(&calls, NULL, "recording a time") == KR_OK ? made : NULL;
}

double kr_cuda_stamp_seconds(kr_device *device, void *from, void *to)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    float milliseconds = 0;
    KR_CUDA(&calls, cudaEventSynchronize(to));
    KR_CUDA(&calls, cudaEventElapsedTime(&milliseconds, from, to));
    return kr_cuda_leave(&calls, NULL, "reading a time") == KR_OK ? milliseconds / 1e3 : 0;
}

void kr_cuda_drain(kr_device *device)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    pthread_rwlock_wrlock(&kr_cuda_recordings);
    KR_CUDA(&calls, cudaDeviceSynchronize());
    pthread_rwlock_unlock(&kr_cuda_recordings);
    (void)kr_cuda_leave(&calls, NULL, "finishing the device's work");
}

static kr_status check_cuda(const kr_device *device, const void *out, kr_error *err)
{
    if (!device || !out)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "a CUDA stream needs a device and room for the answer, not NULL");
    if (device->ops != &kr_cuda_ops)
        return kr_fail(err, KR_ERR_UNSUPPORTED, "%s has no CUDA streams; open \"cuda\"", device->name);
    return KR_OK;
}

kr_status kr_stream_wrap_cuda(kr_device *device, struct CUstream_st *cuda_stream, kr_stream **stream,
                              kr_error *err)
{
    kr_stream *wrapper;
    const kr_status status = check_cuda(device, stream, err);
    if (status != KR_OK)
        return status;
    wrapper = kr_host_calloc(1, sizeof *wrapper, "a stream", err);
    if (!wrapper)
        return KR_ERR_HOST_MEMORY;
    wrapper->device = device;
    wrapper->native = cuda_stream;
    kr_users_open_lane(wrapper);
    *stream = wrapper;
    return KR_OK;
}

kr_status kr_stream_get_cuda(kr_device *device, kr_stream *stream, struct CUstream_st **cuda_stream,
                             kr_error *err)
{
    const kr_status status = check_cuda(device, cuda_stream, err);
    if (status != KR_OK)
        return status;
    if (stream && stream->device != device)
        return kr_fail(err, KR_ERR_ARGUMENT, "the stream belongs to another device than %s", device->name);
    *cuda_stream = kr_stream_native(device, stream);
    return KR_OK;
}
