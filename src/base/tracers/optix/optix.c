/* Turns OptiX's results into statuses and advice. */
#include "base/tracers/optix/optix.h"

/* Every result that does not become KR_ERR_DEVICE. */
static const struct {
    int result;
    kr_status status;
    const char *advice;
} meanings[] = {
    {KR_OPTIX_HOST_OUT_OF_MEMORY, KR_ERR_HOST_MEMORY, "free some of the machine's memory"},
    {KR_OPTIX_DEVICE_OUT_OF_MEMORY, KR_ERR_DEVICE_MEMORY,
     "release some of the GPU's memory; without RT cores the stack of rays takes up to 2 GiB, which no cap "
     "counts"},
    {KR_OPTIX_LAUNCH_FAILURE, KR_ERR_DEVICE_LOST,
     "the GPU's state is lost for this process: start a new one"},
};

kr_status kr_optix_check(const kr_optix *optix, int result, const char *call, const char *what, kr_error *err)
{
    kr_status status = KR_ERR_DEVICE;
    const char *advice = "try again, or use a kind without rays";
    if (result == KR_OPTIX_SUCCESS)
        return KR_OK;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; ++i) {
        if (meanings[i].result == result) {
            status = meanings[i].status;
            advice = meanings[i].advice;
        }
    }
    return kr_fail_call(err, status, call, result, "%s on %s: %s failed with %s (%s); %s", what,
                        optix->head.device->name, call, optix->api->error_name(result),
                        optix->api->error_string(result), advice);
}
