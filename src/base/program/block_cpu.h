/* Blocks of one thread, for CPUs; included by block.h only. */
#ifndef KEYRAY_BASE_PROGRAM_BLOCK_CPU_H
#define KEYRAY_BASE_PROGRAM_BLOCK_CPU_H

KR_BODY void kr_block_sync(kr_block block)
{
    (void)block;
}

KR_BODY kr_group kr_block_group(kr_block block)
{
    const kr_group alone = {0, 1};
    (void)block;
    return alone;
}

KR_BODY uint32_t kr_block_count(kr_block block, uint32_t *counters, uint32_t i)
{
    (void)block;
    return counters[i]++;
}

KR_BODY void kr_block_or(kr_block block, uint32_t *words, uint32_t i, uint32_t bits)
{
    (void)block;
    words[i] |= bits;
}

KR_BODY void kr_block_xor(kr_block block, uint32_t *words, uint32_t i, uint32_t bits)
{
    (void)block;
    words[i] ^= bits;
}

KR_BODY void kr_block_put_bit(kr_block block, uint32_t *words, uint32_t i, int bit)
{
    (void)block;
    words[i / 32] |= (uint32_t)bit << i % 32;
}

KR_BODY void kr_block_copy(kr_block block, uint32_t *to, const uint32_t *from, uint32_t n)
{
    (void)block;
    for (uint32_t w = 0; w < n; w += 64 / sizeof *from)
        kr_prefetch((const char *)(from + w) + KR_BLOCK_AHEAD_NBYTES);
    kr_copy_bytes(to, from, n * sizeof *to);
}

KR_BODY void kr_block_clear(kr_block block, uint32_t *words, uint32_t n)
{
    (void)block;
    for (uint32_t w = 0; w < n; ++w)
        words[w] = 0;
}

KR_BODY void kr_block_copied(kr_block block)
{
    (void)block;
}

KR_BODY void kr_block_xor_words(kr_block block, uint32_t *words, const uint32_t *from, uint32_t n)
{
    (void)block;
    for (uint32_t w = 0; w < n; ++w)
        words[w] ^= from[w];
}

KR_BODY uint32_t kr_block_sum_before(kr_block block, uint32_t x, uint32_t *total)
{
    (void)block;
    if (total)
        *total = x;
    return 0;
}

#define KR_BLOCK_PROGRAM_(title, params_t, body, kernel)           \
    KR_CPU_FUNCTION(title)                                         \
    {                                                              \
        uint64_t shared[KR_BLOCK_NBYTES_CPU / sizeof(uint64_t)];   \
        const kr_block alone = {0, KR_BLOCK_SIZE, first, 1};       \
        (void)n;                                                   \
        body(alone, (char *)shared, (const params_t *)block, end); \
    }                                                              \
    KR_CUDA_ENTRY_DECLARE(title)                                   \
    KR_PROGRAM_TABLE_OF(title, params_t, KR_CUDA_ENTRY(title), 1)

#endif
