/* Streams: a device's own, and those that callers create. */
#include "base/devices/device.h"

#include <stdlib.h>

void *kr_stream_native(kr_device *device, kr_stream *stream)
{
    return stream ? stream->native : device->own.native;
}

kr_status kr_stream_create(kr_device *device, kr_stream **stream, kr_error *err)
{
    if (!device || !stream)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_stream_create: %s is NULL", device ? "stream" : "device");
    kr_stream *made = kr_host_calloc(1, sizeof *made, "a stream", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = device->ops->stream_create(device, &made->native, err);
    if (status) {
        free(made);
        return status;
    }
    made->device = device;
    made->owned = 1;
    *stream = made;
    return KR_OK;
}

void kr_stream_destroy(kr_stream *stream)
{
    if (!stream)
        return;
    kr_device *device = stream->device;
    if (stream->owned) {
        device->ops->stream_sync(device, stream->native, NULL);
        device->ops->stream_destroy(device, stream->native);
    }
    free(stream);
}

kr_status kr_device_sync(kr_device *device, kr_stream *stream, kr_error *err)
{
    if (!device)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_sync: device is NULL");
    if (stream && stream->device != device)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_device_sync: the stream belongs to another device than \"%s\"", device->name);
    return device->ops->stream_sync(device, kr_stream_native(device, stream), err);
}
