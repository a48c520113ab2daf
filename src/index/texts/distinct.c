#include "index/texts/distinct_body.h"
#include "index/texts/long_params.h"
#include "index/texts/texts.h"

KR_PROGRAM_DECLARE(texts_long_hash);
KR_PROGRAM_DECLARE(texts_long_firsts);

static const kr_blocks long_blocks = {.shared_nbytes = sizeof(texts_long_shared)};

void kr_texts_hash_rows(kr_work *w, const kr_texts *texts, const kr_strings *strings, uint64_t n,
                        uint64_t *hashes, uint64_t *notes)
{
    const texts_hash_params params = {*strings, texts->seed, hashes, notes, texts->hash_mask};
    kr_work_run(w, &texts_hash, &params, n);
}

void kr_texts_hash_long(kr_work *w, const kr_texts *texts, const kr_strings *strings, uint64_t n,
                        uint64_t *hashes)
{
    const texts_long_hash_params params = {
        {*strings, texts->seed, hashes, NULL, texts->hash_mask}, n, long_blocks};
    if (texts->has_long)
        kr_work_run(w, &texts_long_hash, &params, texts_long_tiles(n));
}

static void compare_long(kr_work *w, const texts_first_params *firsts, uint64_t n)
{
    const texts_long_first_params params = {*firsts, n, long_blocks};
    kr_work_run(w, &texts_long_firsts, &params, texts_long_tiles(n));
}

/* Rows are sorted by so many upper bits of their hashes that few texts share them: 32 pairs of texts, say. */
static uint32_t first_bit_of(uint64_t n)
{
    uint32_t bits = 0;
    for (uint64_t left = n; left >>= 1;)
        bits += 2;
    return 64 - (bits < 22 ? 16 : bits - 6);
}

int kr_texts_find_distinct(kr_work *w, const kr_texts *texts, const kr_strings *strings, uint64_t n,
                           const uint64_t *hashes, kr_texts_distinct *distinct)
{
    uint64_t found[2] = {0};
    uint64_t *sorted = kr_work_take(w, n * sizeof *sorted, "sorted hashes of texts");
    uint32_t *rows = kr_work_take(w, n * sizeof *rows, "rows of hashes of texts");
    uint64_t *collided = kr_work_counters(w, 1);
    const kr_sort sort = {.key_bits = 64,
                          .first_bit = first_bit_of(n),
                          .end_bit = 64,
                          .n = n,
                          .keys_in = hashes,
                          .keys_out = sorted,
                          .rows_out = rows};
    kr_work_sort(w, &sort);
    uint64_t *firsts = kr_work_take(w, (n + 1) * sizeof *firsts, "first rows of texts");
    kr_work_fill(w, firsts, 0, (n + 1) * sizeof *firsts);
    const texts_first_params params = {*strings, sorted, rows, firsts, collided, sort.first_bit};
    kr_work_run(w, &texts_firsts, &params, n);
    if (texts->has_long)
        compare_long(w, &params, n);
    kr_work_sum(w, firsts, n + 1);
    kr_work_read(w, &found[0], collided, sizeof found[0]);
    kr_work_read(w, &found[1], KR_PLACE_IN(firsts, n), sizeof found[1]);
    kr_work_give(w, sorted);
    kr_work_give(w, rows);
    kr_work_give(w, collided);
    if (!found[0]) {
        distinct->n = found[1];
        distinct->rows = kr_work_take(w, found[1] * sizeof *distinct->rows, "rows of distinct texts");
        const texts_list_params list = {firsts, distinct->rows};
        kr_work_run(w, &texts_list, &list, n);
    }
    kr_work_give(w, firsts);
    return !found[0];
}
