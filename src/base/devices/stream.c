/* Streams: a device's own, and those that callers create; whether a call may use one. */
#include "base/devices/users.h"

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
    kr_users_open_lane(made);
    *stream = made;
    return KR_OK;
}

void kr_stream_destroy(kr_stream *stream)
{
    if (!stream)
        return;
    kr_device *device = stream->device;
    if (stream->owned)
        device->ops->stream_sync(device, stream->native, NULL);
    kr_users_close_lane(stream);
    if (stream->owned)
        device->ops->stream_destroy(device, stream->native);
    free(stream);
}

kr_status kr_stream_check_device(kr_device *device, kr_stream *stream, const char *call, kr_error *err)
{
    if (!device)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: device is NULL", call);
    if (stream && stream->device != device)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: the stream belongs to another device than \"%s\"", call,
                       device->name);
    return KR_OK;
}

kr_status kr_stream_check(kr_device *device, kr_stream *stream, const char *call, kr_error *err)
{
    const kr_status status = kr_stream_check_device(device, stream, call, err);
    return status == KR_OK ? kr_stream_refuse_capture(device, stream, call, err) : status;
}

kr_status kr_stream_refuse_capture(kr_device *device, kr_stream *stream, const char *what, kr_error *err)
{
    if (!device->ops->is_capturing || !device->ops->is_capturing(device, kr_stream_native(device, stream)))
        return KR_OK;
    return kr_fail(
        err, KR_ERR_UNSUPPORTED,
        "the stream is being captured in a CUDA graph, but %s cannot be captured; end the capture, or "
        "capture kr_prepared_run of another kind",
        what);
}

void kr_device_drain(kr_device *device)
{
    device->ops->drain(device);
}

kr_status kr_device_sync(kr_device *device, kr_stream *stream, kr_error *err)
{
    const kr_status status = kr_stream_check_device(device, stream, "kr_device_sync", err);
    if (status)
        return status;
    return device->ops->stream_sync(device, kr_stream_native(device, stream), err);
}
