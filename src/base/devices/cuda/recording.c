/* Work that is recorded once and replayed: CUDA graphs. */
#include "base/devices/cuda/cuda_device.h"

pthread_rwlock_t kr_cuda_recordings = PTHREAD_RWLOCK_INITIALIZER;

/* ThreadLocal: other threads may allocate, copy and wait for streams meanwhile. */
kr_status kr_cuda_record_begin(kr_device *device, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    pthread_rwlock_rdlock(&kr_cuda_recordings);
    KR_CUDA(&calls, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (calls.code != cudaSuccess)
        pthread_rwlock_unlock(&kr_cuda_recordings);
    return kr_cuda_leave(&calls, err, "recording work");
}

/* Uploads at once, so that the first replay costs no more than others. */
kr_status kr_cuda_record_end(kr_device *device, void *stream, void **recording, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    KR_CUDA(&calls, cudaStreamEndCapture(stream, &graph));
    pthread_rwlock_unlock(&kr_cuda_recordings);
    if (recording) {
        KR_CUDA(&calls, cudaGraphInstantiateWithFlags(&made, graph, 0));
        KR_CUDA(&calls, cudaGraphUpload(made, stream));
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (calls.code != cudaSuccess && made)
        (void)cudaGraphExecDestroy(made);
    else if (recording && made)
        *recording = made;
    return kr_cuda_leave(&calls, err, "recording work");
}

kr_status kr_cuda_replay(kr_device *device, void *recording, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaGraphLaunch(recording, stream));
    return kr_cuda_leave(&calls, err, "replaying work");
}

void kr_cuda_recording_destroy(kr_device *device, void *recording)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaGraphExecDestroy(recording));
    (void)kr_cuda_leave(&calls, NULL, "destroying a recording");
}
