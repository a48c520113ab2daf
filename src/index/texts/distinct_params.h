/* What hashing and telling apart of texts read, in programs of rows and of blocks. */
#ifndef KEYRAY_INDEX_TEXTS_DISTINCT_PARAMS_H
#define KEYRAY_INDEX_TEXTS_DISTINCT_PARAMS_H

#include "index/texts/strings.h"

/* What programs note about rows. */
enum { TEXTS_BAD, TEXTS_LONG, TEXTS_NOTES };

typedef struct texts_hash_params {
    kr_strings strings;
    kr_strings_seed seed;
    uint64_t *hashes;
    uint64_t *notes; /* [TEXTS_BAD]: of kr_strings_note; [TEXTS_LONG] becomes 1 where a text is long */
    uint64_t mask;
} texts_hash_params;
kr_assert_size(texts_hash_params, 104);

typedef struct texts_first_params {
    kr_strings strings;
    const uint64_t *hashes;
    const uint32_t *rows;
    uint64_t *firsts, *collided;
    uint64_t first_bit; /* rows are sorted by the bits of their hashes from here on */
} texts_first_params;
kr_assert_size(texts_first_params, 104);

/* UINT64_MAX says that there is no text. */
KR_BODY uint64_t texts_hash_of(uint64_t hash, uint64_t mask)
{
    hash &= mask;
    return hash - (hash == ~(uint64_t)0);
}

/* One more than the place before i whose row has the same hash; 0: there is none. */
KR_BODY uint64_t texts_first_before(const texts_first_params *p, uint64_t i)
{
    const uint64_t hash = kr_load(p->hashes + i);
    uint64_t before = i;
    while (before && kr_load(p->hashes + before - 1) != hash)
        before = kr_load(p->hashes + before - 1) >> p->first_bit == hash >> p->first_bit ? before - 1 : 0;
    return before;
}

#endif
