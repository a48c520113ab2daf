/* Encodes whole columns on a device: codes[i] := code of row index[i] (index NULL: row i). */
#ifndef KEYRAY_BASE_KEY_ENCODE_H
#define KEYRAY_BASE_KEY_ENCODE_H

#include "base/devices/work.h"

typedef struct kr_encode_job {
    const void *data;
    const uint32_t *index;
    void *codes; /* uint32_t or uint64_t[n] */
    uint64_t n;
    uint32_t type;
} kr_encode_job;

/* Picks the width by the type. Enqueues. */
void kr_encode(kr_work *work, const kr_encode_job *job);
void kr_encode_u32(kr_work *work, const kr_encode_job *job);
void kr_encode_u64(kr_work *work, const kr_encode_job *job);

/* out[i] := kr_mix(codes[i], seed) (base/key/hash.h); in place, too. Enqueues. */
typedef struct kr_mix_job {
    const void *codes;
    void *out;
    uint64_t n, seed;
    uint32_t bits; /* of a code: 32 or 64 */
} kr_mix_job;
void kr_mix_codes(kr_work *work, const kr_mix_job *job);
void kr_mix_codes_u32(kr_work *work, const kr_mix_job *job);
void kr_mix_codes_u64(kr_work *work, const kr_mix_job *job);

#endif
