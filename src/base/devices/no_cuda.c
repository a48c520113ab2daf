/* A library built without CUDA also has the functions of keyray_cuda.h. */
#include "base/util/error.h"

#include <keyray/keyray_cuda.h>

#if !defined(KR_WITH_CUDA)

static kr_status fail(kr_error *err)
{
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "there are no CUDA streams: keyray was built without CUDA; build it where nvcc is found");
}

kr_status kr_stream_wrap_cuda(kr_device *device, struct CUstream_st *cuda_stream, kr_stream **stream,
                              kr_error *err)
{
    (void)device, (void)cuda_stream, (void)stream;
    return fail(err);
}

kr_status kr_stream_get_cuda(kr_device *device, kr_stream *stream, struct CUstream_st **cuda_stream,
                             kr_error *err)
{
    (void)device, (void)stream, (void)cuda_stream;
    return fail(err);
}

#endif
