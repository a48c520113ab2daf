/** keyray with CUDA: the only public header that names CUDA. Needs neither a CUDA header nor nvcc. */
#ifndef KEYRAY_KEYRAY_CUDA_H
#define KEYRAY_KEYRAY_CUDA_H

#include <keyray/keyray.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t and CUstream are pointers to it */

/**
 * Wraps a stream of the caller; kr_stream_destroy then releases the wrapper and leaves the CUDA stream alone.
 * What keyray enqueued there is waited for by an event behind it, also when the CUDA stream is gone.
 * NULL is CUDA's legacy default stream.
 *
 * Errors:  KR_ERR_UNSUPPORTED when the device is not a CUDA device, KR_ERR_HOST_MEMORY.
 */
KR_API kr_status kr_stream_wrap_cuda(kr_device *device, struct CUstream_st *cuda_stream, kr_stream **stream,
                                     kr_error *err);

/** Gives the CUDA stream behind a kr_stream (NULL: the device's own), to order other work after keyray's. */
KR_API kr_status kr_stream_get_cuda(kr_device *device, kr_stream *stream, struct CUstream_st **cuda_stream,
                                    kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
