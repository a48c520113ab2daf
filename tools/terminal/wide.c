#include "wide.h"

#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kr_type wide_type(kr_type value_type)
{
    switch (value_type) {
    case KR_U8:
    case KR_U16:
    case KR_U32:
    case KR_U64: return KR_U64;
    case KR_F32:
    case KR_F64: return KR_F64;
    default: return KR_I64;
    }
}

int wide_is(kr_type value_type)
{
    return wide_type(value_type) != KR_F64;
}

int wide_check(kr_type value_type, const char *flag, const char *name)
{
    if (value_type != KR_DATE32 && value_type != KR_TIMESTAMP64)
        return DONE;
    return tool_fail(FAILED, "%s %s holds %s, which have no sum; min, max and count take them", flag, name,
                     value_type == KR_DATE32 ? "dates" : "times");
}

/* Divides by 10, half a word after the other; returns the rest. */
static uint32_t divide_by_ten(uint64_t words[2])
{
    uint64_t rest = 0;
    for (int half = 3; half >= 0; --half) {
        const unsigned shift = half % 2 * 32;
        uint64_t *word = &words[half / 2];
        const uint64_t part = rest << 32 | (*word >> shift & UINT32_MAX);
        *word = (*word & ~((uint64_t)UINT32_MAX << shift)) | part / 10 << shift;
        rest = part % 10;
    }
    return (uint32_t)rest;
}

uint32_t wide_text(const uint64_t *words, kr_type type, char text[WIDE_NBYTES])
{
    const int negative = type == KR_I64 && words[1] >> 63;
    uint64_t left[2] = {words[0], words[1]};
    char digits[WIDE_NBYTES];
    uint32_t n = 0, at = 0;
    if (negative) {
        left[0] = ~left[0] + 1;
        left[1] = ~left[1] + (left[0] == 0);
    }
    do
        digits[n++] = (char)('0' + divide_by_ten(left));
    while (left[0] || left[1]);
    if (negative)
        text[at++] = '-';
    while (n)
        text[at++] = digits[--n];
    text[at] = '\0';
    return at;
}

static int fits(const uint64_t *words, kr_type type)
{
    const uint64_t extended = type == KR_I64 ? 0 - (words[0] >> 63) : 0;
    return words[1] == extended;
}

int wide_narrow(const uint64_t *words, uint64_t n, kr_type type, const char *path, uint64_t **narrow)
{
    char text[WIDE_NBYTES], which[64] = "the sum";
    uint64_t *made = tool_alloc(n, sizeof *made, "sums for a .npy file");
    *narrow = NULL;
    for (uint64_t i = 0; made && i < n; ++i) {
        if (!fits(words + 2 * i, type)) {
            free(made);
            wide_text(words + 2 * i, type, text);
            if (n > 1)
                snprintf(which, sizeof which, "the sum of probe %llu", (unsigned long long)i);
            return tool_fail(
                FAILED, "%s is %s, which %s, the type of %s, cannot hold: write text, as with -o OUT.csv",
                which, text, type == KR_I64 ? "int64" : "uint64", path);
        }
        made[i] = words[2 * i];
    }
    *narrow = made;
    return made ? DONE : FAILED;
}
