/* Describing devices: what the back ends know, and what casts rays there. */
#include "base/devices/device.h"
#include "base/tracers/tracer.h"
#include "base/util/structs.h"

kr_status kr_device_query(kr_device *device, kr_device_info *info, kr_error *err)
{
    kr_device_info found;
    if (!device || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_query: %s is NULL", device ? "info" : "device");
    kr_status status = kr_struct_check(&kr_struct_device_info, info, err);
    if (status == KR_OK)
        status = kr_device_read(device, &found, err);
    if (status)
        return status;
    kr_tracer_describe(device, &found);
    kr_struct_write(&kr_struct_device_info, &found, info);
    return KR_OK;
}

kr_status kr_device_describe(uint32_t ordinal, kr_device_info *info, kr_error *err)
{
    kr_device_info found;
    if (!info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_describe: info is NULL");
    kr_status status = kr_struct_check(&kr_struct_device_info, info, err);
    if (status == KR_OK)
        status = kr_device_read_listed(ordinal, &found, err);
    if (status)
        return status;
    kr_tracer_describe(NULL, &found);
    kr_struct_write(&kr_struct_device_info, &found, info);
    return KR_OK;
}
