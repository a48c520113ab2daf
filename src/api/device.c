/* Describing devices: what the back ends know, and what casts rays there. */
#include "devices/device.h"
#include "tracers/tracer.h"

kr_status kr_device_query(kr_device *device, kr_device_info *info, kr_error *err)
{
    kr_device_info found;
    if (!device || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_query: %s is NULL", device ? "info" : "device");
    const kr_status status = kr_device_describe(device, &found, err);
    if (status)
        return status;
    kr_tracer_describe(device, &found);
    *info = found;
    return KR_OK;
}

kr_status kr_device_list(uint32_t ordinal, kr_device_info *info, kr_error *err)
{
    kr_device_info found;
    if (!info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_list: info is NULL");
    const kr_status status = kr_device_describe_listed(ordinal, &found, err);
    if (status)
        return status;
    kr_tracer_describe(NULL, &found);
    *info = found;
    return KR_OK;
}
