/* Sums of integers, as the library gives them: 128 bits in two words, the low one first. */
#ifndef KEYRAY_TERMINAL_WIDE_H
#define KEYRAY_TERMINAL_WIDE_H

#include <keyray/keyray.h>

enum { WIDE_NBYTES = 48 };

/* The type of a sum of values: u64, i64 or f64. */
kr_type wide_type(kr_type value_type);
/* 1: the sum of such values has 128 bits. */
int wide_is(kr_type value_type);
/* Refuses to add up dates and times, which `name` behind `flag` holds. */
int wide_check(kr_type value_type, const char *flag, const char *name);

/* In decimal digits, and a NUL; returns the length. `type` is u64 or i64: whether it is signed. */
uint32_t wide_text(const uint64_t *words, kr_type type, char text[WIDE_NBYTES]);

/* The n sums as elements of `type`, u64 or i64, for the file `path`, in *narrow, which the caller frees;
 * *narrow is NULL after an error. Fails for the first sum that does not fit, and names its probe if there are
 * several. */
int wide_narrow(const uint64_t *words, uint64_t n, kr_type type, const char *path, uint64_t **narrow);

#endif
