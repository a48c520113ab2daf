/* Hashes of rows, and which rows hold a text that no row before them holds. */
#ifndef KEYRAY_INDEX_TEXTS_DISTINCT_BODY_H
#define KEYRAY_INDEX_TEXTS_DISTINCT_BODY_H

#include "index/texts/strings.h"

typedef struct texts_hash_params {
    kr_strings strings;
    kr_strings_seed seed;
    uint64_t *hashes, *bad;
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

typedef struct texts_list_params {
    const uint64_t *before;
    uint32_t *list;
} texts_list_params;
kr_assert_size(texts_list_params, 16);

KR_BODY void texts_hash_row(const texts_hash_params *p, uint64_t i)
{
    kr_strings_text text;
    const uint32_t wrong = kr_strings_read(&p->strings, i, &text);
    uint64_t hash = ~(uint64_t)0;
    kr_strings_note(p->bad, i, wrong);
    if (!wrong && kr_strings_is_valid(&p->strings, i)) {
        hash = kr_strings_hash(text, p->seed) & p->mask;
        hash -= hash == ~(uint64_t)0; /* which says that there is no text */
    }
    kr_store_once(p->hashes + i, hash);
}
KR_MAP_PROGRAM(texts_hash, texts_hash_params, texts_hash_row);

/* Rows in the order of the upper bits of their hashes, those with the same bits in ascending order. Each is
 * compared with the one of its hash before it, so all rows of a hash have one text, or two of these differ.
 */
KR_BODY void texts_mark_first(const texts_first_params *p, uint64_t i)
{
    const uint64_t hash = kr_load(p->hashes + i);
    const uint32_t row = kr_load(p->rows + i);
    uint64_t before = i; /* one more than the place of that row; 0: there is none */
    if (hash == ~(uint64_t)0)
        return;
    while (before && kr_load(p->hashes + before - 1) != hash)
        before = kr_load(p->hashes + before - 1) >> p->first_bit == hash >> p->first_bit ? before - 1 : 0;
    if (!before)
        p->firsts[row] = 1;
    else if (!kr_strings_equal(kr_strings_get(&p->strings, row),
                               kr_strings_get(&p->strings, kr_load(p->rows + before - 1))))
        kr_atomic_max64(p->collided, 1);
}
KR_MAP_PROGRAM(texts_firsts, texts_first_params, texts_mark_first);

/* firsts: how many first rows there are before each. */
KR_BODY void texts_list_first(const texts_list_params *p, uint64_t i)
{
    const uint64_t place = kr_load(p->before + i);
    if (kr_load(p->before + i + 1) != place)
        p->list[place] = (uint32_t)i;
}
KR_MAP_PROGRAM(texts_list, texts_list_params, texts_list_first);

#endif
