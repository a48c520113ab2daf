#include "key/encode.h"
#include "key/key.h"

kr_status kr_encode(kr_device *device, const kr_encode_job *job, kr_stream *stream, kr_error *err)
{
    return kr_type_key_bits(job->type) == 64 ? kr_encode_u64(device, job, stream, err)
                                             : kr_encode_u32(device, job, stream, err);
}
