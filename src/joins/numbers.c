#include "joins/numbers.h"
#include "joins/numbers_body.h"

kr_status numbers_allocate(const keyed *k, uint32_t nbytes, const char *what, numbers *made, kr_error *err)
{
    const kr_status status = keyed_allocate(k, k->left.n * nbytes, what, &made->left, err);
    return status == KR_OK ? keyed_allocate(k, k->right.n * nbytes, what, &made->right, err) : status;
}

void numbers_release(const keyed *k, numbers *made)
{
    kr_buffer_release(k->device, &made->right, NULL);
    kr_buffer_release(k->device, &made->left, NULL);
}

kr_column numbers_column(const kr_buffer *keys, uint64_t count)
{
    return (kr_column){.type = KR_U64, .count = count, .data = keys->data};
}

kr_status numbers_pair(const keyed *k, const kr_buffer *high, const kr_buffer *low, uint32_t low_bits,
                       uint64_t absent, const kr_buffer *out, uint64_t n, kr_error *err)
{
    const numbers_pack_params params = {high->data, low->data, out->data, absent, low_bits};
    return kr_device_run(k->device, &numbers_pack, &params, n, NULL, err);
}

kr_status numbers_pair_sides(const keyed *k, const numbers *high, const numbers *low, uint32_t low_bits,
                             uint64_t most, const numbers *keys, kr_error *err)
{
    const kr_status status = numbers_pair(k, &high->left, &low->left, low_bits, (most + 1) << low_bits,
                                          &keys->left, k->left.n, err);
    return status == KR_OK ? numbers_pair(k, &high->right, &low->right, low_bits, most << low_bits,
                                          &keys->right, k->right.n, err)
                           : status;
}

/* The first right row of each value. */
static kr_status number(keyed *k, const kr_column *left, const kr_column *right, numbers *ids, kr_error *err)
{
    kr_index *index = NULL;
    kr_status status = numbers_allocate(k, sizeof(uint32_t), "numbers of values", ids, err);
    if (status == KR_OK)
        status = keyed_index(k, right, 0, &index, err);
    if (status == KR_OK)
        status = keyed_locate(k, index, left, NULL, ids->left.data, err);
    if (status == KR_OK)
        status = keyed_locate(k, index, right, NULL, ids->right.data, err);
    kr_index_destroy(index);
    return status;
}

kr_status numbers_of(keyed *k, uint32_t j, numbers *ids, kr_error *err)
{
    return number(k, &k->left.columns[j].column, &k->right.columns[j].column, ids, err);
}

/* One more column: pairs of the numbers so far and its own get numbers in their place. */
static kr_status add_column(keyed *k, uint32_t j, numbers *ids, kr_error *err)
{
    numbers more = {{0}, {0}}, keys = {{0}, {0}}, made = {{0}, {0}};
    kr_status status = numbers_of(k, j, &more, err);
    if (status == KR_OK)
        status = numbers_allocate(k, sizeof(uint64_t), "pairs of numbers", &keys, err);
    if (status == KR_OK) /* row ids end at 0xFFFFFFFD */
        status = numbers_pair_sides(k, ids, &more, 32, 0xFFFFFFFEu, &keys, err);
    numbers_release(k, &more);
    numbers_release(k, ids);
    const kr_column left = numbers_column(&keys.left, k->left.n);
    const kr_column right = numbers_column(&keys.right, k->right.n);
    if (status == KR_OK)
        status = number(k, &left, &right, &made, err);
    numbers_release(k, &keys);
    *ids = made;
    return status;
}

kr_status numbers_make(keyed *k, uint32_t n, numbers *ids, kr_error *err)
{
    kr_status status = numbers_of(k, 0, ids, err);
    for (uint32_t j = 1; j < n && status == KR_OK; ++j)
        status = add_column(k, j, ids, err);
    return status;
}
