/* A block sorts the keys of a tile in the registers of its threads (Henneberg and Schuhknecht, "Is Binary
 * Search Really All You Need?", 4.3.1); included by launch_cuda.h only.
 *
 * The sort is by digits of 4 bits, the lowest first, up to the highest bit in which keys of the tile differ.
 * Each thread holds neighbours of the order so far, and counts its digits in counters of its own. So no order
 * among equal digits is lost, and no atomics are needed. Between digits only places go through shared memory:
 * a key's place says where it lies there. */
#ifndef KEYRAY_BASE_PROGRAM_LAUNCH_SORT_CUDA_H
#define KEYRAY_BASE_PROGRAM_LAUNCH_SORT_CUDA_H

enum { KR_SORT_BITS = 4, KR_SORT_DIGITS = 16 };

/* Shared memory behind the pinned words. */
template <typename key_t>
struct kr_tile_sort_room {
    key_t *keys;        /* of a tile, in the order of its probes */
    uint16_t *counters; /* digit d of thread t: counters[d * threads + t]; later the results */
    uint16_t *places;   /* in the order of their keys */
    uint32_t probes, each;
};

template <typename key_t>
static __device__ __forceinline__ kr_tile_sort_room<key_t> kr_tile_sort_room_of(const kr_launch *launch,
                                                                                uint64_t *shared)
{
    kr_tile_sort_room<key_t> room;
    room.probes = kr_launch_probes(launch);
    room.each = kr_launch_sort_each(launch);
    room.keys = (key_t *)(shared + ((uint64_t)launch->n_pins * sizeof(key_t) + 7) / 8);
    room.counters = (uint16_t *)((uint64_t *)room.keys + (room.probes * sizeof(key_t) + 7) / 8);
    const uint32_t places = 2 * room.each * kr_launch_threads(launch);
    room.places = (uint16_t *)((char *)room.keys + kr_launch_sort_nbytes(launch, sizeof(key_t)) - places);
    return room;
}

/* Turns counters into the number of keys before those that they counted. Each thread sums a run of them. */
KR_BODY void kr_tile_scan(uint16_t *counters)
{
    const kr_block block = {threadIdx.x, blockDim.x, blockIdx.x, gridDim.x};
    uint16_t *mine = counters + threadIdx.x * KR_SORT_DIGITS;
    uint32_t sum = 0;
    for (uint32_t d = 0; d < KR_SORT_DIGITS; ++d)
        sum += mine[d];
    uint32_t before = kr_block_sum_before(block, sum, NULL);
    for (uint32_t d = 0; d < KR_SORT_DIGITS; ++d) {
        const uint32_t size = mine[d];
        mine[d] = (uint16_t)before;
        before += size;
    }
    __syncthreads();
}

/* Of the items that threads hold, those past the tile's count have the largest digits and stay last. Not
 * inlined: all programs of a file share these few functions. */
template <typename key_t, uint32_t EACH>
static __device__ __noinline__ void kr_tile_sort_each(const key_t *tile, uint16_t *counters, uint16_t *places,
                                                      uint32_t count, uint32_t n_bits)
{
    const uint32_t first = threadIdx.x * EACH;
    uint16_t *const mine = counters + threadIdx.x;
    key_t keys[EACH];
    uint16_t held[EACH];
    KR_UNROLL
    for (uint32_t r = 0; r < EACH; ++r) {
        held[r] = (uint16_t)(first + r);
        keys[r] = first + r < count ? tile[first + r] : (key_t) ~(key_t)0;
    }
    for (uint32_t bit = 0; bit < n_bits; bit += KR_SORT_BITS) {
        for (uint32_t d = 0; d < KR_SORT_DIGITS; ++d)
            mine[d * blockDim.x] = 0;
        KR_UNROLL
        for (uint32_t r = 0; r < EACH; ++r)
            ++mine[(uint32_t)(keys[r] >> bit) % KR_SORT_DIGITS * blockDim.x];
        __syncthreads();
        kr_tile_scan(counters);
        KR_UNROLL
        for (uint32_t r = 0; r < EACH; ++r)
            places[mine[(uint32_t)(keys[r] >> bit) % KR_SORT_DIGITS * blockDim.x]++] = held[r];
        __syncthreads();
        KR_UNROLL
        for (uint32_t r = 0; r < EACH; ++r) {
            held[r] = places[first + r];
            keys[r] = held[r] < count ? tile[held[r]] : (key_t) ~(key_t)0;
        }
    }
    KR_UNROLL
    for (uint32_t r = 0; r < EACH; ++r)
        places[first + r] = held[r];
    __syncthreads();
}

/* Sorts the tile's `count` keys, all of which agree in the bits that are 0 in `differs` above its highest 1.
 */
template <typename key_t>
static __device__ __forceinline__ void kr_tile_sort(const kr_tile_sort_room<key_t> *room, uint32_t count,
                                                    uint64_t differs)
{
    const uint32_t n_bits = 64 - (uint32_t)__clzll((long long)differs);
    switch (room->each) {
    case 1: kr_tile_sort_each<key_t, 1>(room->keys, room->counters, room->places, count, n_bits); break;
    case 2: kr_tile_sort_each<key_t, 2>(room->keys, room->counters, room->places, count, n_bits); break;
    case 4: kr_tile_sort_each<key_t, 4>(room->keys, room->counters, room->places, count, n_bits); break;
    case 8: kr_tile_sort_each<key_t, 8>(room->keys, room->counters, room->places, count, n_bits); break;
    default: kr_tile_sort_each<key_t, 16>(room->keys, room->counters, room->places, count, n_bits); break;
    }
}

#endif
