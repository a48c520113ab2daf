#include "join/numbers.h"
#include "join/numbers_body.h"

/* ---- Numbers of values ------------------------------------------------------------------------- */

numbers numbers_take(const keyed *k, const char *what)
{
    numbers ids;
    ids.left = keyed_take(k, k->left.n * sizeof *ids.left, what);
    ids.right = keyed_take(k, k->right.n * sizeof *ids.right, what);
    return ids;
}

void numbers_give(const keyed *k, const numbers *ids)
{
    kr_work_give(k->work, ids->right);
    kr_work_give(k->work, ids->left);
}

/* The first right row of each value. */
static numbers number(keyed *k, const kr_column *left, const kr_column *right)
{
    const numbers ids = numbers_take(k, "numbers of values");
    kr_index *index = keyed_index(k, right, 0);
    keyed_locate(k, index, left, NULL, ids.left);
    keyed_locate(k, index, right, NULL, ids.right);
    kr_index_release(index, k->work->stream);
    return ids;
}

numbers numbers_of(keyed *k, uint32_t j)
{
    return number(k, &k->left.columns[j].column, &k->right.columns[j].column);
}

/* One more column: pairs of the numbers so far and its own get numbers in their place. */
static numbers add_column(keyed *k, uint32_t j, const numbers *ids)
{
    const numbers more = numbers_of(k, j);
    const numbers_pairs pairs = numbers_pair_values(k, ids, &more);
    const kr_column left = numbers_column(pairs.left, k->left.n);
    const kr_column right = numbers_column(pairs.right, k->right.n);
    const numbers made = number(k, &left, &right);
    kr_work_give(k->work, pairs.right);
    kr_work_give(k->work, pairs.left);
    return made;
}

numbers numbers_make(keyed *k, uint32_t n)
{
    numbers ids = numbers_of(k, 0);
    for (uint32_t j = 1; j < n; ++j)
        ids = add_column(k, j, &ids);
    return ids;
}

/* ---- Pairs of numbers -------------------------------------------------------------------------- */

void numbers_pair(const keyed *k, const uint32_t *high, const uint32_t *low, uint32_t low_bits,
                  uint64_t absent, uint64_t *out, uint64_t n)
{
    const numbers_pack_params params = {high, low, out, absent, low_bits};
    kr_work_run(k->work, &numbers_pack, &params, n);
}

numbers_pairs numbers_pair_sides(const keyed *k, const numbers *high, const numbers *low, uint32_t low_bits,
                                 uint64_t most, const char *what)
{
    const uint64_t n_left = k->left.n, n_right = k->right.n;
    numbers_pairs made;
    made.left = keyed_take(k, n_left * sizeof *made.left, what);
    made.right = keyed_take(k, n_right * sizeof *made.right, what);
    numbers_pair(k, high->left, low->left, low_bits, (most + 1) << low_bits, made.left, n_left);
    numbers_pair(k, high->right, low->right, low_bits, most << low_bits, made.right, n_right);
    return made;
}

/* Row ids end at 0xFFFFFFFD. */
numbers_pairs numbers_pair_values(const keyed *k, const numbers *high, const numbers *low)
{
    const numbers_pairs made = numbers_pair_sides(k, high, low, 32, 0xFFFFFFFEu, "pairs of numbers");
    numbers_give(k, low);
    numbers_give(k, high);
    return made;
}

kr_column numbers_column(const uint64_t *pairs, uint64_t count)
{
    return (kr_column){.type = KR_U64, .count = count, .data = pairs};
}
