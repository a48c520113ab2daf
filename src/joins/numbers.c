#include "joins/numbers.h"
#include "joins/numbers_body.h"

numbers numbers_take(const keyed *k, uint32_t nbytes, const char *what)
{
    return (numbers){keyed_take(k, k->left.n * nbytes, what), keyed_take(k, k->right.n * nbytes, what)};
}

void numbers_give(const keyed *k, const numbers *ids)
{
    kr_work_give(k->work, ids->right);
    kr_work_give(k->work, ids->left);
}

kr_column numbers_column(const void *keys, uint64_t count)
{
    return (kr_column){.type = KR_U64, .count = count, .data = keys};
}

void numbers_pair(const keyed *k, const uint32_t *high, const uint32_t *low, uint32_t low_bits,
                  uint64_t absent, uint64_t *out, uint64_t n)
{
    const numbers_pack_params params = {high, low, out, absent, low_bits};
    kr_work_run(k->work, &numbers_pack, &params, n);
}

void numbers_pair_sides(const keyed *k, const numbers *high, const numbers *low, uint32_t low_bits,
                        uint64_t most, const numbers *keys)
{
    numbers_pair(k, high->left, low->left, low_bits, (most + 1) << low_bits, keys->left, k->left.n);
    numbers_pair(k, high->right, low->right, low_bits, most << low_bits, keys->right, k->right.n);
}

/* The first right row of each value. */
static numbers number(keyed *k, const kr_column *left, const kr_column *right)
{
    const numbers ids = numbers_take(k, sizeof(uint32_t), "numbers of values");
    kr_index *index = keyed_index(k, right, 0);
    keyed_locate(k, index, left, NULL, ids.left);
    keyed_locate(k, index, right, NULL, ids.right);
    kr_index_destroy(index);
    return ids;
}

numbers numbers_of(keyed *k, uint32_t j)
{
    return number(k, &k->left.columns[j].column, &k->right.columns[j].column);
}

numbers numbers_keys(keyed *k, const numbers *ids, const numbers *more)
{
    const numbers keys = numbers_take(k, sizeof(uint64_t), "pairs of numbers");
    numbers_pair_sides(k, ids, more, 32, 0xFFFFFFFEu, &keys); /* row ids end at 0xFFFFFFFD */
    numbers_give(k, more);
    numbers_give(k, ids);
    return keys;
}

/* One more column: pairs of the numbers so far and its own get numbers in their place. */
static numbers add_column(keyed *k, uint32_t j, const numbers *ids)
{
    const numbers more = numbers_of(k, j), keys = numbers_keys(k, ids, &more);
    const kr_column left = numbers_column(keys.left, k->left.n);
    const kr_column right = numbers_column(keys.right, k->right.n);
    const numbers made = number(k, &left, &right);
    numbers_give(k, &keys);
    return made;
}

numbers numbers_make(keyed *k, uint32_t n)
{
    numbers ids = numbers_of(k, 0);
    for (uint32_t j = 1; j < n; ++j)
        ids = add_column(k, j, &ids);
    return ids;
}
