#include "base/key/encode.h"
#include "base/key/encode_width_body.h"

void KR_W(kr_encode)(kr_work *work, const kr_encode_job *job)
{
    const encode_params params = {job->data, job->index, job->codes, job->type, 0};
    kr_work_run(work, &KR_W(key_encode), &params, job->n);
}

void KR_W(kr_mix_codes)(kr_work *work, const kr_mix_job *job)
{
    const mix_params params = {job->codes, job->out, job->seed};
    kr_work_run(work, &KR_W(key_mix), &params, job->n);
}
