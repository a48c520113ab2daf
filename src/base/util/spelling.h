/* The name that was probably meant: what errors say about a name that nothing has. */
#ifndef KEYRAY_BASE_UTIL_SPELLING_H
#define KEYRAY_BASE_UTIL_SPELLING_H

#include <stddef.h>

/* Longer names are neither corrected nor offered. */
enum { KR_SPELLING_NBYTES = 64, KR_SPELLING_HINT_NBYTES = 128 };

typedef struct kr_spelling {
    const char *wanted;
    size_t nbytes;
    char name[KR_SPELLING_NBYTES]; /* the nearest so far; "": none is near */
    size_t distance;
} kr_spelling;

kr_spelling kr_spelling_begin(const char *wanted, size_t nbytes);
/* Takes the name if it is nearer than those before. A distance counts letters that are missing, added, other
 * or exchanged with their neighbour; case does not count. A name of three or four letters is near at 1, a
 * longer one at 1 and a fifth of its letters; a name that begins with what is wanted, of three letters or
 * more, is near. */
void kr_spelling_offer(kr_spelling *nearest, const char *name, size_t nbytes);
/* The same for each of "a|b|c". */
void kr_spelling_offer_choices(kr_spelling *nearest, const char *choices);
/* " (did you mean --probes?)", where `before` is "--" and `after` is ""; "" if no name is near. */
const char *kr_spelling_hint(const kr_spelling *nearest, const char *before, const char *after,
                             char text[KR_SPELLING_HINT_NBYTES]);

#endif
