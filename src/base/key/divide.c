#include "base/key/divide.h"

void kr_code_divisor(uint64_t divisor, uint32_t key_bits, uint64_t *magic, uint32_t *shift)
{
    __extension__ typedef unsigned __int128 wide;
    *magic = 0;
    *shift = 0;
    while (divisor >> *shift > 1)
        ++*shift;
    if (divisor & (divisor - 1)) {
        const wide power = (wide)1 << (key_bits + *shift), twice = 2 * (power % divisor);
        const uint64_t rounded = (uint64_t)(2 * (power / divisor)) + (twice >= divisor) + 1;
        *magic = key_bits == 32 ? (uint32_t)rounded : rounded;
    }
}
