/* Sorted codes of either width, for programs that are compiled once. */
#ifndef KEYRAY_BASE_KEY_CODES_H
#define KEYRAY_BASE_KEY_CODES_H

#include "base/key/key.h"

typedef struct kr_codes {
    const void *data; /* ascending, key_bits each */
    uint64_t n;
    uint32_t key_bits, reserved;
} kr_codes;
kr_assert_size(kr_codes, 24);

KR_BODY uint64_t kr_code_at(const kr_codes *codes, uint64_t i)
{
    return codes->key_bits == 64 ? kr_load((const uint64_t *)codes->data + i)
                                 : kr_load((const uint32_t *)codes->data + i);
}

/* How many codes are below `code` or, with equals, not above it. */
KR_BODY uint64_t kr_code_rank(const kr_codes *codes, uint64_t code, int with_equals)
{
    uint64_t low = 0, high = codes->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, there = kr_code_at(codes, middle);
        if (there < code || (with_equals && there == code))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
