/* A chain of CUDA runtime calls on one GPU. The first failure ends the chain; kr_cuda_leave reports it.
 *
 *     kr_cuda_calls calls = kr_cuda_enter(number);
 *     KR_CUDA(&calls, cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDefault, stream));
 *     return kr_cuda_leave(&calls, err, "copying %llu bytes", ...);
 *
 * The GPU that the thread had current is current again afterwards. */
#ifndef KEYRAY_BASE_DEVICES_CUDA_CUDA_CHECK_H
#define KEYRAY_BASE_DEVICES_CUDA_CUDA_CHECK_H

#include "base/util/error.h"

#include <cuda_runtime_api.h>

typedef struct kr_cuda_calls {
    const char *call; /* the last one made; its name ends at the first parenthesis */
    cudaError_t code; /* what it returned */
    int number;       /* the GPU of the chain */
    int before;       /* the one to go back to, -1: the same or none */
} kr_cuda_calls;

#define KR_CUDA(calls, expression)                                                                           \
    ((calls)->code == cudaSuccess ? ((calls)->call = #expression, (calls)->code = (cudaError_t)(expression)) \
                                  : (calls)->code)

/* Clears an error that an earlier call of other code left in this thread: launches would report it. */
kr_cuda_calls kr_cuda_enter(int number);

/* `what` is what was being done, for the error text: "copying 16 bytes". */
kr_status kr_cuda_leave(kr_cuda_calls *calls, kr_error *err, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a call that needs no GPU to be current. */
kr_status kr_cuda_check(cudaError_t code, const char *call, kr_error *err, const char *what, ...)
    __attribute__((format(printf, 4, 5)));

#endif
