/* The body of append.c. */
#ifndef KEYRAY_TABLE_CHANGE_APPEND_BODY_H
#define KEYRAY_TABLE_CHANGE_APPEND_BODY_H

#include "base/program/program.h"

/* Bits of n rows of `from` become the bits of rows first .. first + n - 1 of `to`, which begins at bit 0. */
typedef struct append_bits_params {
    uint8_t *to;
    const uint8_t *from; /* NULL: all ones */
    uint64_t offset;     /* of the first row in `from` */
    uint64_t first, n;
} append_bits_params;
kr_assert_size(append_bits_params, 40);

/* Eight bits from `bit` on; those past the last row are any. */
KR_BODY uint32_t change_append_eight(const append_bits_params *p, uint64_t bit)
{
    const uint64_t last = (p->offset + p->n - 1) / 8, byte = bit / 8;
    const uint32_t low = kr_load(p->from + byte), high = byte < last ? kr_load(p->from + byte + 1) : 0;
    return (low | high << 8) >> bit % 8;
}

/* Byte i from that of the first row on. Bits of rows before it stay; a byte has one writer. */
KR_BODY void change_append_bits_byte(const append_bits_params *p, uint64_t i)
{
    const uint64_t byte = p->first / 8 + i;
    const uint32_t before = i ? 0 : (uint32_t)(p->first % 8);
    const uint64_t row = byte * 8 + before - p->first; /* of `from` */
    const uint32_t bits = p->from ? change_append_eight(p, p->offset + row) : 0xFFu;
    const uint32_t kept = before ? p->to[byte] & ((1u << before) - 1) : 0;
    p->to[byte] = (uint8_t)(kept | bits << before);
}
KR_MAP_PROGRAM(append_bits, append_bits_params, change_append_bits_byte);

#endif
