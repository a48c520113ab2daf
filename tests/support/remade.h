/* Saved files taken apart, changed, and put together again with right checksums: what a crafted file is. */
#ifndef KEYRAY_TESTS_REMADE_H
#define KEYRAY_TESTS_REMADE_H

#include "base/image/layout.h"

typedef struct kr_remade {
    kr_field_list list;   /* of texts and arrays, data is memory of its own */
    unsigned char *bytes; /* the directory, aligned */
} kr_remade;

/* Aborts unless the bytes are those of a saved file. */
kr_remade kr_remade_take_apart(const void *bytes, uint64_t nbytes);
void kr_remade_release(kr_remade *remade);

/* A change that eight bytes choose: of a number, of some bytes of an array or text, of the length of an
 * array; a field left out, given twice, or with the contents of another. */
enum { KR_REMADE_PLAN = 8 };
void kr_remade_change(kr_remade *remade, const uint8_t plan[KR_REMADE_PLAN]);

/* The file; the caller frees it. */
unsigned char *kr_remade_put_together(const kr_remade *remade, uint64_t *nbytes);

#endif
