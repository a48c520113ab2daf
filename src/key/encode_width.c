#include "key/encode.h"
#include "key/encode_body.h"

kr_status KR_W(kr_encode)(kr_device *device, const kr_encode_job *job, kr_stream *stream, kr_error *err)
{
    const encode_params params = {job->data, job->index, job->codes, job->type, 0};
    return kr_device_run(device, &KR_W(key_encode), &params, job->n, stream, err);
}

kr_status KR_W(kr_mix_codes)(kr_device *device, const kr_mix_job *job, kr_stream *stream, kr_error *err)
{
    const mix_params params = {job->codes, job->out, job->seed};
    return kr_device_run(device, &KR_W(key_mix), &params, job->n, stream, err);
}
