#include "key/encode.h"
#include "key/key.h"

kr_status kr_mix_codes(kr_device *device, const kr_mix_job *job, kr_stream *stream, kr_error *err)
{
    return job->bits == 64 ? kr_mix_codes_u64(device, job, stream, err)
                           : kr_mix_codes_u32(device, job, stream, err);
}

kr_status kr_encode(kr_device *device, const kr_encode_job *job, kr_stream *stream, kr_error *err)
{
    return kr_type_key_bits(job->type) == 64 ? kr_encode_u64(device, job, stream, err)
                                             : kr_encode_u32(device, job, stream, err);
}
