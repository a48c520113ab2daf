#ifndef KEYRAY_KEY_ENCODE_BODY_H
#define KEYRAY_KEY_ENCODE_BODY_H

#include "key/key.h"
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

#endif
