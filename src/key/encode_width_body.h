#ifndef KEYRAY_KEY_ENCODE_WIDTH_BODY_H
#define KEYRAY_KEY_ENCODE_WIDTH_BODY_H

#include "key/hash.h"
#include "program/program.h"

typedef struct encode_params {
    const void *data;
    const uint32_t *index;
    kr_key *codes;
    uint32_t type, reserved;
} encode_params;
kr_assert_size(encode_params, 32);

KR_BODY void encode(const encode_params *p, uint64_t i)
{
    p->codes[i] = kr_load_key(p->type, p->data, p->index ? kr_load(p->index + i) : i);
}
KR_MAP_PROGRAM(key_encode, encode_params, encode);

/* `out` may be `codes`, so they are read plainly. */
typedef struct mix_params {
    const kr_key *codes;
    kr_key *out;
    uint64_t seed;
} mix_params;
kr_assert_size(mix_params, 24);

KR_BODY void mix(const mix_params *p, uint64_t i)
{
    p->out[i] = kr_mix(p->codes[i], p->seed);
}
KR_MAP_PROGRAM(key_mix, mix_params, mix);

#endif
