/* The CUDA executors of tile programs; included by tile.h only. Each program becomes two kernels: a plain
 * one, whose size of grid and blocks alone can be varied, and a tuned one with pinned words and reordering,
 * so that nobody pays for what is not asked for.
 *
 * A block's shared memory: pinned words; then, when it reorders, places of 2 bytes, the probes' numbers in
 * the order of their buckets; counters of buckets; and of each probe its bucket and its rank there. The last
 * two are done with when the search begins, and make room for the results of KR_REORDER_DOUBLE. */
#ifndef KEYRAY_PROGRAM_TILE_CUDA_H
#define KEYRAY_PROGRAM_TILE_CUDA_H

#include "program/block.h"

#include <cuda_runtime.h>

extern __shared__ uint64_t kr_tile_shared[];

typedef struct kr_tile_room {
    uint16_t *places;
    uint32_t *counters; /* and the results */
    uint32_t *ranks;
    uint32_t probes, bucket_bits;
} kr_tile_room;

KR_BODY kr_tile_room kr_tile_room_of(const kr_tile *tile, uint32_t key_nbytes)
{
    kr_tile_room room;
    room.probes = kr_tile_probes(tile);
    room.bucket_bits = kr_tile_bucket_bits(tile);
    room.places = (uint16_t *)(kr_tile_shared + ((uint64_t)tile->n_pins * key_nbytes + 7) / 8);
    room.counters = (uint32_t *)(room.places + (room.probes + 3) / 4 * 4);
    room.ranks = room.counters + (1u << room.bucket_bits);
    return room;
}

KR_BODY kr_group kr_tile_group(uint32_t size)
{
    const kr_group group = {threadIdx.x % size, size};
    return group;
}

/* Of a value in each thread of the block the smallest, and of another the largest. */
KR_BODY void kr_tile_range(uint64_t *lowest, uint64_t *highest)
{
    __shared__ unsigned long long ends[2];
    unsigned long long low = *lowest, high = *highest;
    for (int distance = 16; distance; distance /= 2) {
        const unsigned long long other_low = __shfl_xor_sync(KR_WARP, low, distance);
        const unsigned long long other_high = __shfl_xor_sync(KR_WARP, high, distance);
        low = other_low < low ? other_low : low;
        high = other_high > high ? other_high : high;
    }
    if (threadIdx.x == 0) {
        ends[0] = ~0ull;
        ends[1] = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        atomicMin(&ends[0], low);
        atomicMax(&ends[1], high);
    }
    __syncthreads();
    *lowest = ends[0];
    *highest = ends[1];
}

/* How far a code's distance from the tile's smallest is shifted to name its bucket: buckets are told apart by
 * the leading bits in which the tile's codes differ. Codes that crowd in a few buckets keep any order there,
 * which costs locality and nothing else. */
KR_BODY uint32_t kr_tile_shift(uint64_t range, uint32_t bucket_bits)
{
    const uint32_t bits = 64 - (uint32_t)__clzll((long long)range);
    return bits > bucket_bits ? bits - bucket_bits : 0;
}

KR_BODY void kr_tile_clear(const kr_tile_room *room)
{
    for (uint32_t b = threadIdx.x; b < 1u << room->bucket_bits; b += blockDim.x)
        room->counters[b] = 0;
}

KR_BODY void kr_tile_count(const kr_tile_room *room, uint32_t j, uint32_t bucket)
{
    room->ranks[j] = bucket << 16 | atomicAdd(&room->counters[bucket], 1u);
}

/* From counters and ranks to places. Each thread sums a run of counters. */
KR_BODY void kr_tile_place(const kr_tile_room *room, uint32_t count)
{
    const uint32_t n = 1u << room->bucket_bits, run = (n + blockDim.x - 1) / blockDim.x;
    const uint32_t first = threadIdx.x * run < n ? threadIdx.x * run : n;
    const uint32_t last = first + run < n ? first + run : n;
    uint32_t sum = 0;
    for (uint32_t b = first; b < last; ++b)
        sum += room->counters[b];
    const kr_block block = {threadIdx.x, blockDim.x, blockIdx.x, gridDim.x};
    uint32_t before = kr_block_sum_before(block, sum, NULL);
    for (uint32_t b = first; b < last; ++b) {
        const uint32_t size = room->counters[b];
        room->counters[b] = before;
        before += size;
    }
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
        const uint32_t rank = room->ranks[j];
        room->places[room->counters[rank >> 16] + (rank & 0xFFFFu)] = (uint16_t)j;
    }
    __syncthreads();
}

KR_BODY void kr_tile_copy(void *to, uint64_t slot, const void *from, uint32_t j, uint32_t nbytes)
{
    if (nbytes == 4)
        ((uint32_t *)to)[slot] = ((const uint32_t *)from)[j];
    else if (nbytes == 8)
        ((uint64_t *)to)[slot] = ((const uint64_t *)from)[j];
    else
        ((uint8_t *)to)[slot] = ((const uint8_t *)from)[j];
}

/* ---- Launching -------------------------------------------------------------------------------- */

typedef struct kr_tile_plan {
    unsigned grid, threads, shared_nbytes;
} kr_tile_plan;

/* cudaErrorInvalidConfiguration where a tile cannot be launched so. */
static inline cudaError_t kr_tile_plan_of(const kr_tile *tile, uint32_t key_nbytes, uint64_t n,
                                          kr_tile_plan *plan)
{
    const uint64_t probes = kr_tile_probes(tile), tiles = (n + probes - 1) / probes;
    uint64_t most = (uint64_t)1 << 30;
    if (tile->is_static) {
        int device = 0, multiprocessors = 0;
        cudaError_t code = cudaGetDevice(&device);
        if (code == cudaSuccess)
            code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        if (code != cudaSuccess)
            return code;
        most = (uint64_t)multiprocessors;
    }
    plan->grid = (unsigned)(tiles < most ? tiles : most);
    plan->threads = kr_tile_threads(tile);
    plan->shared_nbytes = (tile->n_pins * key_nbytes + 7) / 8 * 8 + kr_tile_order_nbytes(tile);
    const int fits = plan->shared_nbytes <= KR_TILE_SHARED &&
                     (tile->reorder == KR_REORDER_NONE || probes <= KR_TILE_ORDER_PROBES);
    return fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/* Lets a kernel have as much shared memory as any of its launches may ask for: always the same number, since
 * several threads may launch it. */
static inline cudaError_t kr_tile_allow(const void *kernel)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, KR_TILE_SHARED);
}

#define KR_TILE_LAUNCHER(name, params_t)                                                                     \
    extern "C" int name##_cuda(const void *block, uint64_t n, void *cuda_stream)                             \
    {                                                                                                        \
        const params_t *params = (const params_t *)block;                                                    \
        kr_tile_plan plan;                                                                                   \
        if (n == 0)                                                                                          \
            return 0;                                                                                        \
        cudaError_t code = kr_tile_plan_of(&params->tile, sizeof(kr_key), n, &plan);                         \
        if (code == cudaSuccess && plan.shared_nbytes)                                                       \
            code = kr_tile_allow((const void *)name##_tuned_kernel);                                         \
        if (code != cudaSuccess)                                                                             \
            return (int)code;                                                                                \
        if (plan.shared_nbytes)                                                                              \
            name##_tuned_kernel<<<plan.grid, plan.threads, plan.shared_nbytes, (cudaStream_t)cuda_stream>>>( \
                *params, n);                                                                                 \
        else                                                                                                 \
            name##_kernel<<<plan.grid, plan.threads, 0, (cudaStream_t)cuda_stream>>>(*params, n);            \
        return (int)cudaGetLastError();                                                                      \
    }                                                                                                        \
    kr_assert_fits(params_t, 4096)

/* ---- Kernels ---------------------------------------------------------------------------------- */

#define KR_TILE_KERNELS(name, params_t, state_t, pinned, begin, step, end, lanes)                        \
    kr_assert_fits(state_t, 32);                                                                         \
    KR_BODY void name##_search(const params_t *params, kr_pin pin, kr_group group, const kr_put *put,    \
                               uint64_t i, uint64_t to)                                                  \
    {                                                                                                    \
        state_t state;                                                                                   \
        if (begin(params, i, &state))                                                                    \
            while (step(params, pin, group, &state))                                                     \
                ;                                                                                        \
        if (group.rank == 0)                                                                             \
            end(params, put, to, &state);                                                                \
    }                                                                                                    \
    static __global__ void __launch_bounds__(1024)                                                       \
        name##_kernel(const __grid_constant__ params_t params, uint64_t n)                               \
    {                                                                                                    \
        const kr_pin none = {NULL, 0, 0};                                                                \
        const kr_group group = kr_tile_group(lanes);                                                     \
        const uint32_t groups = blockDim.x / group.size;                                                 \
        for (uint64_t i = (uint64_t)blockIdx.x * groups + threadIdx.x / group.size; i < n;               \
             i += (uint64_t)gridDim.x * groups)                                                          \
            name##_search(&params, none, group, &params.put, i, i);                                      \
    }                                                                                                    \
    KR_BODY void name##_order(const params_t *params, const kr_tile_room *room, uint64_t base,           \
                              uint32_t count)                                                            \
    {                                                                                                    \
        const kr_batch *batch = &params->batch;                                                          \
        uint64_t lowest = ~(uint64_t)0, highest = 0;                                                     \
        for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {                                     \
            const uint64_t code = kr_load_key(batch->lower_type, batch->lower, base + j);                \
            lowest = code < lowest ? code : lowest;                                                      \
            highest = code > highest ? code : highest;                                                   \
        }                                                                                                \
        kr_tile_clear(room);                                                                             \
        kr_tile_range(&lowest, &highest);                                                                \
        const uint32_t shift = kr_tile_shift(highest - lowest, room->bucket_bits);                       \
        for (uint32_t j = threadIdx.x; j < count; j += blockDim.x)                                       \
            kr_tile_count(                                                                               \
                room, j,                                                                                 \
                (uint32_t)((kr_load_key(batch->lower_type, batch->lower, base + j) - lowest) >> shift)); \
        __syncthreads();                                                                                 \
        kr_tile_place(room, count);                                                                      \
    }                                                                                                    \
    static __global__ void __launch_bounds__(1024)                                                       \
        name##_tuned_kernel(const __grid_constant__ params_t params, uint64_t n)                         \
    {                                                                                                    \
        const kr_pin pin = {kr_tile_shared, params.tile.n_pins, 0};                                      \
        const kr_group group = kr_tile_group(lanes);                                                     \
        const kr_tile_room room = kr_tile_room_of(&params.tile, sizeof(kr_key));                         \
        const uint32_t reorder = params.tile.reorder;                                                    \
        kr_put put = params.put;                                                                         \
        if (reorder == KR_REORDER_DOUBLE) {                                                              \
            put.out = room.counters;                                                                     \
            put.order = NULL;                                                                            \
        }                                                                                                \
        for (uint32_t j = threadIdx.x; j < pin.n; j += blockDim.x)                                       \
            ((kr_key *)kr_tile_shared)[j] = pinned(&params, j);                                          \
        __syncthreads();                                                                                 \
        for (uint64_t base = (uint64_t)blockIdx.x * room.probes; base < n;                               \
             base += (uint64_t)gridDim.x * room.probes) {                                                \
            const uint32_t count = n - base < room.probes ? (uint32_t)(n - base) : room.probes;          \
            if (reorder != KR_REORDER_NONE)                                                              \
                name##_order(&params, &room, base, count);                                               \
            for (uint32_t j = threadIdx.x / group.size; j < count; j += blockDim.x / group.size) {       \
                const uint32_t place = reorder != KR_REORDER_NONE ? room.places[j] : j;                  \
                name##_search(&params, pin, group, &put, base + place,                                   \
                              reorder == KR_REORDER_DOUBLE ? place : base + place);                      \
            }                                                                                            \
            if (reorder != KR_REORDER_NONE)                                                              \
                __syncthreads();                                                                         \
            if (reorder == KR_REORDER_DOUBLE) {                                                          \
                for (uint32_t j = threadIdx.x; j < count; j += blockDim.x)                               \
                    kr_tile_copy(params.put.out, kr_slot(params.put.order, base + j), put.out, j,        \
                                 kr_put_nbytes(put.what));                                               \
                __syncthreads();                                                                         \
            }                                                                                            \
        }                                                                                                \
    }                                                                                                    \
    KR_TILE_LAUNCHER(name, params_t)

#define KR_TILE_PROGRAM_(name, params_t, state_t, pinned, begin, step, end)                         \
    KR_BODY int name##_one_step(const params_t *params, kr_pin pin, kr_group group, state_t *state) \
    {                                                                                               \
        (void)group;                                                                                \
        return step(params, pin, state);                                                            \
    }                                                                                               \
    KR_TILE_KERNELS(name, params_t, state_t, pinned, begin, name##_one_step, end, 1u)

#define KR_TILE_GROUP_PROGRAM_(name, params_t, state_t, pinned, begin, step, end) \
    KR_TILE_KERNELS(name, params_t, state_t, pinned, begin, step, end,            \
                    (params.tile.group ? params.tile.group : 1u))

#endif
