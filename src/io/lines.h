/* Bytes of text, searched eight at a time, and where its lines end. */
#ifndef KEYRAY_IO_LINES_H
#define KEYRAY_IO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- Bytes, eight at a time ---------------------------------------------------------------- */

/* The high bit of every byte of the word that equals `byte`. */
static inline uint64_t lines_matches(const char *at, char byte)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word ^= (unsigned char)byte * UINT64_C(0x0101010101010101);
    return ~(((word & low) + low) | word | low);
}

/* Adds the high bits up in the highest byte; base x86-64 has no instruction that counts bits. */
static inline uint64_t lines_count_matches(uint64_t found)
{
    return ((found >> 7) * UINT64_C(0x0101010101010101)) >> 56;
}

static inline uint64_t lines_count_bytes(const char *at, const char *end, char byte)
{
    uint64_t n = 0;
    for (; end - at >= 8; at += 8)
        n += lines_count_matches(lines_matches(at, byte));
    for (; at < end; at++)
        n += *at == byte;
    return n;
}

/* The place behind the n-th such byte, n > 0; NULL when there are fewer. */
static inline const char *lines_skip_bytes(const char *at, const char *end, char byte, uint64_t n)
{
    for (; end - at >= 8; at += 8) {
        uint64_t found = lines_matches(at, byte);
        uint64_t there = lines_count_matches(found);
        if (there >= n) {
            while (--n)
                found &= found - 1;
            return at + __builtin_ctzll(found) / 8 + 1;
        }
        n -= there;
    }
    for (; at < end; at++)
        if (*at == byte && --n == 0)
            return at + 1;
    return NULL;
}

/* ---- Line ends: LF, CR LF, and CR alone ---------------------------------------------------- */

/* A CR without its LF, which may still follow the last byte. */
static inline bool lines_find_lone_return(const char *at, const char *end)
{
    while (at < end && (at = memchr(at, '\r', (size_t)(end - at)))) {
        if (at + 1 == end || at[1] != '\n')
            return true;
        at += 2;
    }
    return false;
}

/* Where a line of a window with lone CRs ends: at a CR or LF, `end` for neither. */
static inline const char *lines_find_end(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        const uint64_t found = lines_matches(at, '\n') | lines_matches(at, '\r');
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && *at != '\n' && *at != '\r')
        at++;
    return at;
}

/* The place behind the line end at `at`. */
static inline const char *lines_skip_end(const char *at, const char *end)
{
    return at < end ? at + 1 + (*at == '\r' && at + 1 < end && at[1] == '\n') : at;
}

static inline uint64_t lines_count(const char *at, const char *end)
{
    uint64_t n = 0;
    while ((at = lines_find_end(at, end)) < end) {
        at = lines_skip_end(at, end);
        n++;
    }
    return n;
}

#endif
