/* Work that is recorded once and replayed: CUDA graphs. */
#include "devices/cuda/cuda_device.h"

/* Other threads may go on with calls that a capture of theirs would forbid. */
kr_status kr_cuda_record_begin(kr_device *device, void *stream, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    return kr_cuda_leave(&calls, err, "recording work");
}

/* The upload takes the first replay's share of the work. */
kr_status kr_cuda_record_end(kr_device *device, void *stream, void **recording, kr_error *err)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    KR_CUDA(&calls, cudaStreamEndCapture(stream, &graph));
    if (recording) {
        KR_CUDA(&calls, cudaGraphInstantiateWithFlags(&made, graph, 0));
        KR_CUDA(&calls, cudaGraphUpload(made, stream));
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (calls.code != cudaSuccess && made)
        (void)cudaGraphExecDestroy(made);
    else if (recording)
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
