/* Makes codes of the values of a column, and mixes codes for hashing, one element at a time
 * (base/key/encode.h).
 *
 * A code is an unsigned integer of 32 or 64 bits, in the order of the values (base/key/key.h). Mixing is a
 * bijection (base/key/hash.h), so different codes stay different. */
#ifndef KEYRAY_BASE_KEY_ENCODE_WIDTH_BODY_H
#define KEYRAY_BASE_KEY_ENCODE_WIDTH_BODY_H

#include "base/key/hash.h"
#include "base/program/program.h"

/* codes[i] := the code of row index[i]; of row i if index is NULL. */
typedef struct encode_params {
    const void *data;      /* the column's values */
    const uint32_t *index; /* or NULL */
    kr_key *codes;
    uint32_t type, reserved;
} encode_params;
kr_assert_size(encode_params, 32);

KR_BODY void encode_key(const encode_params *p, uint64_t i)
{
    p->codes[i] = kr_code_load_key(p->type, p->data, p->index ? kr_load(p->index + i) : i);
}
KR_MAP_PROGRAM(key_encode, encode_params, encode_key);

/* out[i] := codes[i], mixed. `out` may be `codes`, so these are not read as memory that never changes. */
typedef struct mix_params {
    const kr_key *codes;
    kr_key *out;
    uint64_t seed;
} mix_params;
kr_assert_size(mix_params, 24);

KR_BODY void mix_key(const mix_params *p, uint64_t i)
{
    p->out[i] = kr_mix(p->codes[i], p->seed);
}
KR_MAP_PROGRAM(key_mix, mix_params, mix_key);

#endif
