/* Puts answers back in the order of the probes. A block reads a tile's answers run by run, so that
 * neighbouring threads read neighbouring answers, and puts them in order in shared memory. */
#ifndef KEYRAY_INDEX_PARTITION_PARTITION_BODY_H
#define KEYRAY_INDEX_PARTITION_PARTITION_BODY_H

#include "base/program/block.h"
#include "index/partition/partition_marks.h"

typedef struct back_params {
    const uint32_t *marks, *bases;
    const void *answers;
    void *out;
    kr_blocks blocks;
    uint64_t n;
    uint32_t tile, bits;
} back_params;

/* Answers that a thread reads at a time: few, so that the registers suffice for two blocks on a
 * multiprocessor. */
enum { BACK_AT_ONCE = 8 };

/* Where the answers lie, and where in the tile they belong: from place `from` of the tile on, thread r's are
 * r, r + size, ... */
KR_BODY void partition_back_read_marks(kr_block block, const back_params *p, uint64_t t, uint32_t here,
                                       uint32_t from, const uint32_t *bases, uint32_t *places,
                                       uint32_t *sources)
{
    const uint32_t *marks = p->marks + t * p->tile;
    KR_UNROLL
    for (uint32_t j = 0; j < BACK_AT_ONCE; ++j) {
        const uint32_t at = from + j * block.size + block.rank;
        const uint32_t mark = at < here ? kr_load_once(marks + at) : 0;
        places[j] = bases[kr_partition_mark_part(mark)] + at;
        sources[j] = kr_partition_mark_source(mark);
    }
}

/* Answers of `words` elements go back element by element, so that a tile takes no more shared memory. */
#define BACK(name, type, words)                                                                       \
    KR_BODY void name##_tile(kr_block block, const back_params *p, uint64_t t, const uint32_t *bases, \
                             uint32_t w, type *ordered)                                               \
    {                                                                                                 \
        const uint64_t first = t * p->tile;                                                           \
        const uint32_t here = p->n - first < p->tile ? (uint32_t)(p->n - first) : p->tile;            \
        for (uint32_t from = 0; from < here; from += BACK_AT_ONCE * block.size) {                     \
            uint32_t places[BACK_AT_ONCE], sources[BACK_AT_ONCE];                                     \
            partition_back_read_marks(block, p, t, here, from, bases, places, sources);               \
            KR_UNROLL                                                                                 \
            for (uint32_t j = 0; j < BACK_AT_ONCE; ++j)                                               \
                if (from + j * block.size + block.rank < here)                                        \
                    ordered[sources[j]] =                                                             \
                        kr_load((const type *)p->answers + (uint64_t)places[j] * (words) + w);        \
        }                                                                                             \
        kr_block_sync(block);                                                                         \
        for (uint32_t i = block.rank; i < here; i += block.size)                                      \
            kr_store_once((type *)p->out + (first + i) * (words) + w, ordered[i]);                    \
    }                                                                                                 \
    KR_BODY void name##_all(kr_block block, char *shared, const back_params *p, uint64_t n_tiles)     \
    {                                                                                                 \
        type *ordered = (type *)shared;                                                               \
        uint32_t *bases = (uint32_t *)(ordered + p->tile);                                            \
        for (uint64_t t = block.index; t < n_tiles; t += block.count) {                               \
            for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)                         \
                bases[i] = kr_load_once(p->bases + (t << p->bits) + i);                               \
            kr_block_sync(block);                                                                     \
            for (uint32_t w = 0; w < (words); ++w) {                                                  \
                name##_tile(block, p, t, bases, w, ordered);                                          \
                kr_block_sync(block);                                                                 \
            }                                                                                         \
        }                                                                                             \
    }                                                                                                 \
    KR_BLOCK_PAIR_PROGRAM(name, back_params, name##_all)

BACK(partition_back_8, uint8_t, 1);
BACK(partition_back_16, uint16_t, 1);
BACK(partition_back_32, uint32_t, 1);
BACK(partition_back_64, uint64_t, 1);
BACK(partition_back_128, uint64_t, 2);

#endif
