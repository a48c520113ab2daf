/* Long texts: what programs of blocks get, which hash and compare them. */
#ifndef KEYRAY_INDEX_TEXTS_LONG_PARAMS_H
#define KEYRAY_INDEX_TEXTS_LONG_PARAMS_H

#include "base/program/block.h"
#include "index/texts/distinct_params.h"

/* Rows that a block looks through for long texts. */
enum { LONG_TILE = 128 };

KR_BOTH uint64_t texts_long_tiles(uint64_t n)
{
    return (n + LONG_TILE - 1) / LONG_TILE;
}

typedef struct texts_long_shared {
    uint64_t lanes[KR_STRINGS_LANES];
    uint32_t rows[LONG_TILE]; /* those with long texts */
    uint32_t n, differ;
} texts_long_shared;

typedef struct texts_long_hash_params {
    texts_hash_params hash;
    uint64_t n;
    kr_blocks blocks;
} texts_long_hash_params;
kr_assert_size(texts_long_hash_params, 120);

typedef struct texts_long_first_params {
    texts_first_params first;
    uint64_t n;
    kr_blocks blocks;
} texts_long_first_params;
kr_assert_size(texts_long_first_params, 120);

typedef struct texts_long_verify_params {
    kr_strings probes, texts;
    uint32_t *codes;
    uint64_t n;
    kr_blocks blocks;
} texts_long_verify_params;
kr_assert_size(texts_long_verify_params, 152);

#endif
