/* Programs on a device, how far they are, and the scratch memory that sorts and scans need. */
#include "base/devices/device.h"

kr_status kr_device_run(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                        kr_stream *stream, kr_error *err)
{
    if (!device->ops->can_run(device, program))
        return kr_fail(err, KR_ERR_UNSUPPORTED, "program %s is not built for device %s", program->name,
                       device->name);
    if (n == 0)
        return KR_OK;
    return device->ops->run(device, program, params, n, kr_stream_native(device, stream), err);
}

kr_status kr_device_run_whole(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                              kr_stream *stream, kr_error *err)
{
    kr_program whole = *program;
    whole.whole = 1;
    return kr_device_run(device, &whole, params, n, stream, err);
}

enum { REPORT_FROM = 1 << 22 };

kr_status kr_device_report(const kr_device *device, const char *phase, uint64_t n, double fraction,
                           kr_error *err)
{
    return device->ops->is_host && n >= REPORT_FROM
               ? kr_progress_report(&device->options.progress, phase, fraction, err)
               : KR_OK;
}

uint64_t kr_device_sort_temp(kr_device *device, const kr_sort *sort)
{
    return sort->n ? device->ops->sort_temp_nbytes(device, sort) : 0;
}

uint64_t kr_device_scan_temp(kr_device *device, uint64_t n)
{
    return n ? device->ops->scan_temp_nbytes(device, n) : 0;
}
