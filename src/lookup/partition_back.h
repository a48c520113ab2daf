/* Puts answers back in the order of the probes. A tile's answers lie in short runs; as one block reads them
 * all, it finds them in its first-level cache. */
#ifndef KEYRAY_LOOKUP_PARTITION_BACK_H
#define KEYRAY_LOOKUP_PARTITION_BACK_H

#include "program/block.h"

enum { BACK_TILE = 16384 };

typedef struct back_params {
    const uint32_t *places;
    const void *answers;
    void *out;
    kr_blocks blocks;
    uint64_t n;
} back_params;

#define BACK(name, type)                                                                              \
    KR_BODY void name##_all(kr_block block, char *shared, const back_params *p, uint64_t n_tiles)     \
    {                                                                                                 \
        (void)shared;                                                                                 \
        for (uint64_t t = block.index; t < n_tiles; t += block.count) {                               \
            const uint64_t first = t * BACK_TILE + block.rank;                                        \
            uint32_t places[KR_MINE(BACK_TILE)];                                                      \
            KR_UNROLL for (uint32_t j = 0; j < KR_MINE(BACK_TILE); ++j)                               \
            {                                                                                         \
                const uint64_t i = first + (uint64_t)j * block.size;                                  \
                places[j] = i < p->n ? kr_load_once(p->places + i) : 0;                               \
            }                                                                                         \
            KR_UNROLL for (uint32_t j = 0; j < KR_MINE(BACK_TILE); ++j)                               \
            {                                                                                         \
                const uint64_t i = first + (uint64_t)j * block.size;                                  \
                if (i < p->n)                                                                         \
                    kr_store_once((type *)p->out + i, kr_load((const type *)p->answers + places[j])); \
            }                                                                                         \
        }                                                                                             \
    }                                                                                                 \
    KR_BLOCK_PROGRAM(name, back_params, name##_all)

BACK(partition_back_8, uint8_t);
BACK(partition_back_16, uint16_t);
BACK(partition_back_32, uint32_t);
BACK(partition_back_64, uint64_t);

#endif
