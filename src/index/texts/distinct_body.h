/* Hashes of rows, and which rows hold a text that no row before them holds. */
#ifndef KEYRAY_INDEX_TEXTS_DISTINCT_BODY_H
#define KEYRAY_INDEX_TEXTS_DISTINCT_BODY_H

#include "index/texts/distinct_params.h"

typedef struct texts_list_params {
    const uint64_t *before;
    uint32_t *list;
} texts_list_params;
kr_assert_size(texts_list_params, 16);

/* Long texts are left to texts_long_hash. */
KR_BODY void texts_hash_row(const texts_hash_params *p, uint64_t i)
{
    kr_strings_text text;
    const uint32_t wrong = kr_strings_read(&p->strings, i, &text);
    uint64_t hash = ~(uint64_t)0;
    kr_strings_note(p->notes + TEXTS_BAD, i, wrong);
    if (text.n >= KR_STRINGS_LONG)
        kr_strings_note_once(p->notes + TEXTS_LONG);
    else if (!wrong && kr_strings_is_valid(&p->strings, i))
        hash = texts_hash_of(kr_strings_hash(text, p->seed), p->mask);
    kr_store_once(p->hashes + i, hash);
}
KR_MAP_PROGRAM(texts_hash, texts_hash_params, texts_hash_row);

/* Rows in the order of the upper bits of their hashes, those with the same bits in ascending order. Each is
 * compared with the one of its hash before it, so all rows of a hash have one text, or two of these differ.
 * Long texts of one length are left to texts_long_firsts. */
KR_BODY void texts_mark_first(const texts_first_params *p, uint64_t i)
{
    const uint64_t hash = kr_load(p->hashes + i);
    const uint32_t row = kr_load(p->rows + i);
    if (hash == ~(uint64_t)0)
        return;
    const uint64_t before = texts_first_before(p, i);
    if (!before)
        p->firsts[row] = 1;
    else if (!kr_strings_seem_equal(kr_strings_get(&p->strings, row),
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
