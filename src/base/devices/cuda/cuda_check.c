#include "base/devices/cuda/cuda_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char new_process[] = "the GPU's state is lost for this process: start a new one";
static const char not_built[] = "this build has no code for this GPU: build on this machine, or "
                                "with `cmake --preset package`, or update the driver";

/* Every error that is not KR_ERR_DEVICE. */
static const struct {
    cudaError_t code;
    kr_status status;
    const char *advice;
} meanings[] = {
    {cudaErrorMemoryAllocation, KR_ERR_DEVICE_MEMORY, "free some, or work in smaller pieces"},

    {cudaErrorNoDevice, KR_ERR_NO_DEVICE, "the driver shows no GPU (CUDA_VISIBLE_DEVICES may hide it)"},
    {cudaErrorInvalidDevice, KR_ERR_NO_DEVICE, "there is no GPU with this number"},
    {cudaErrorDevicesUnavailable, KR_ERR_NO_DEVICE, "another process has exclusive use of the GPU"},
    {cudaErrorStubLibrary, KR_ERR_NO_DEVICE, "remove the toolkit's stubs folder from LD_LIBRARY_PATH"},
    {cudaErrorInitializationError, KR_ERR_NO_DEVICE, "the driver did not start (a fork after using CUDA?)"},
    {cudaErrorSystemNotReady, KR_ERR_NO_DEVICE, "the machine's GPU services are not running yet"},
    {cudaErrorSystemDriverMismatch, KR_ERR_NO_DEVICE, "driver and libcuda differ: restart the machine"},
    {cudaErrorCompatNotSupportedOnDevice, KR_ERR_NO_DEVICE, "update the driver"},
    {cudaErrorNoKernelImageForDevice, KR_ERR_NO_DEVICE, not_built},
    {cudaErrorUnsupportedPtxVersion, KR_ERR_NO_DEVICE, not_built},
    {cudaErrorJitCompilerNotFound, KR_ERR_NO_DEVICE, not_built},
    {cudaErrorInvalidPtx, KR_ERR_NO_DEVICE, not_built},

    /* The sticky ones: every later call of the process answers the same. */
    {cudaErrorIllegalAddress, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorMisalignedAddress, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorInvalidAddressSpace, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorIllegalInstruction, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorInvalidPc, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorHardwareStackError, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorAssert, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorLaunchFailure, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorLaunchTimeout, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorECCUncorrectable, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorNvlinkUncorrectable, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorContextIsDestroyed, KR_ERR_DEVICE_LOST, new_process},
    {cudaErrorCudartUnloading, KR_ERR_DEVICE_LOST, "the process is ending"},
};

kr_cuda_calls kr_cuda_enter(int number)
{
    kr_cuda_calls calls = {"cudaSetDevice", cudaSuccess, number, -1};
    int before = -1;
    (void)cudaGetLastError();
    if (cudaGetDevice(&before) == cudaSuccess && before == number)
        return calls;
    calls.before = before;
    KR_CUDA(&calls, cudaSetDevice(number));
    return calls;
}

/* The one error with two causes that a user must tell apart. */
static kr_status fail_driver(kr_error *err, const char *call)
{
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        return kr_fail_call(err, KR_ERR_NO_DEVICE, call, cudaErrorInsufficientDriver,
                            "no GPU: this machine has no NVIDIA driver (libcuda.so.1 was not found)");
    return kr_fail_call(err, KR_ERR_NO_DEVICE, call, cudaErrorInsufficientDriver,
                        "no GPU: the NVIDIA driver supports CUDA %d.%d, keyray was built with %d.%d; update "
                        "the driver",
                        driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

static kr_status fail(cudaError_t code, const char *expression, const char *where, const char *what,
                      kr_error *err)
{
    kr_status status = KR_ERR_DEVICE;
    const char *advice = "try again, or use another device";
    char call[64];
    snprintf(call, sizeof call, "%.*s", (int)strcspn(expression, "("), expression);
    (void)cudaGetLastError();
    if (code == cudaErrorInsufficientDriver)
        return fail_driver(err, call);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; ++i) {
        if (meanings[i].code == code) {
            status = meanings[i].status;
            advice = meanings[i].advice;
        }
    }
    return kr_fail_call(err, status, call, (int)code, "%s%s: %s failed with %s (%s); %s", what, where, call,
                        cudaGetErrorName(code), cudaGetErrorString(code), advice);
}

kr_status kr_cuda_leave(kr_cuda_calls *calls, kr_error *err, const char *what, ...)
{
    char text[160], where[24];
    va_list args;
    kr_status status = KR_OK;
    if (calls->code != cudaSuccess) {
        va_start(args, what);
        vsnprintf(text, sizeof text, what, args);
        va_end(args);
        snprintf(where, sizeof where, " on cuda:%d", calls->number);
        status = fail(calls->code, calls->call, where, text, err);
    }
    if (calls->before >= 0 && cudaSetDevice(calls->before) != cudaSuccess)
        (void)cudaGetLastError();
    return status;
}

kr_status kr_cuda_check(cudaError_t code, const char *call, kr_error *err, const char *what, ...)
{
    char text[160];
    va_list args;
    if (code == cudaSuccess)
        return KR_OK;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return fail(code, call, "", text, err);
}
