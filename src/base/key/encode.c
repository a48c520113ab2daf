#include "base/key/encode.h"
#include "base/key/key.h"

void kr_mix_codes(kr_work *work, const kr_mix_job *job)
{
    if (job->bits == 64)
        kr_mix_codes_u64(work, job);
    else
        kr_mix_codes_u32(work, job);
}

void kr_encode(kr_work *work, const kr_encode_job *job)
{
    if (kr_type_key_bits(job->type) == 64)
        kr_encode_u64(work, job);
    else
        kr_encode_u32(work, job);
}
