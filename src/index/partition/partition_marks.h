/* What the passes of index/partition/partition.h note for the way back: for each probe of a tile, in the
 * order in which its tile was written, a mark of its part and its position in the tile. */
#ifndef KEYRAY_INDEX_PARTITION_PARTITION_MARKS_H
#define KEYRAY_INDEX_PARTITION_PARTITION_MARKS_H

#include "base/program/lang.h"

enum {
    KR_PART_BITS_MOST = 11,
    PARTITION_SOURCE_BITS = 14,
    PARTITION_TILE = 1 << PARTITION_SOURCE_BITS, /* probes of a tile, at most */
    PARTITION_TILE_CPU = 2048,
};
#define KR_TILE_MINE KR_MINE(KR_ON_CUDA ? PARTITION_TILE : PARTITION_TILE_CPU) /* a thread's, of a tile */

KR_BOTH uint32_t kr_partition_mark(uint32_t part, uint32_t source)
{
    return part << PARTITION_SOURCE_BITS | source;
}

KR_BOTH uint32_t kr_partition_mark_part(uint32_t mark)
{
    return mark >> PARTITION_SOURCE_BITS;
}

KR_BOTH uint32_t kr_partition_mark_source(uint32_t mark)
{
    return mark & ((1u << PARTITION_SOURCE_BITS) - 1);
}

#endif
