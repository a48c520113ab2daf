/* Codes of several neighbours at a time. Where values lie in memory as codes, but for the sign, the loop is
 * without branches, which the compiler makes vectors of. */
#ifndef KEYRAY_BASE_KEY_SEVERAL_H
#define KEYRAY_BASE_KEY_SEVERAL_H

#include "base/key/key.h"

#if defined(KR_KEY_BITS)
KR_BODY int kr_code_is_plain(uint32_t type)
{
    return kr_type_width(type) == sizeof(kr_key) && type != KR_F32 && type != KR_F64;
}

/* Elements first .. first + n - 1 of a column. */
KR_BODY void kr_code_load_several(uint32_t type, const void *data, uint64_t first, uint32_t n, kr_key *codes)
{
    const kr_key bias = (kr_key)kr_type_bias(type), *plain = (const kr_key *)data + first;
    if (kr_code_is_plain(type))
        for (uint32_t j = 0; j < n; ++j)
            codes[j] = plain[j] ^ bias;
    else
        for (uint32_t j = 0; j < n; ++j)
            codes[j] = kr_code_load_key(type, data, first + j);
}
#endif

#endif
