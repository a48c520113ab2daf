/* The CUDA executors of programs with launch options; included by launch.h only. Each program becomes three
 * kernels: a plain one, which varies only the size of grid and blocks, a tuned one with pinned words and
 * reordering, and a sorted one, whose blocks sort their probes in registers. So a launch pays only for what
 * it uses.
 *
 * A block's shared memory holds the pinned words. If the block reorders, these follow: the probes' numbers in
 * the order of their buckets, in 2 bytes each; a counter for each bucket; the bucket and the rank in it of
 * each probe. The search no longer needs the last two, so the results of KR_REORDER_DOUBLE overwrite them.
 * What a block that sorts in registers has there is in launch_sort_cuda.h. */
#ifndef KEYRAY_BASE_PROGRAM_LAUNCH_CUDA_H
#define KEYRAY_BASE_PROGRAM_LAUNCH_CUDA_H

#include "base/program/block.h"

#include <cuda_runtime.h>

extern __shared__ uint64_t kr_tile_shared[];

typedef struct kr_tile_room {
    uint16_t *places;
    uint32_t *counters; /* and the results */
    uint32_t *ranks;
    uint32_t probes, bucket_bits;
} kr_tile_room;

KR_BODY kr_tile_room kr_tile_room_of(const kr_launch *launch, uint32_t key_nbytes)
{
    kr_tile_room room;
    room.probes = kr_launch_probes(launch);
    room.bucket_bits = kr_launch_bucket_bits(launch);
    room.places = (uint16_t *)(kr_tile_shared + ((uint64_t)launch->n_pins * key_nbytes + 7) / 8);
    room.counters = (uint32_t *)(room.places + (room.probes + 3) / 4 * 4);
    room.ranks = room.counters + (1u << room.bucket_bits);
    return room;
}

KR_BODY kr_group kr_tile_group(uint32_t size)
{
    const kr_group group = {threadIdx.x % size, size};
    return group;
}

/* Gives all threads of the block the smallest *lowest and the largest *highest among them. */
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

/* A code's bucket is its distance from the tile's smallest code, shifted right by this: the leading bits in
 * which the tile's codes differ. Codes in one bucket keep any order, which costs nothing but locality. */
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

/* Turns counters and ranks into places. Each thread sums a run of counters. */
KR_BODY void kr_tile_place(const kr_tile_room *room, uint32_t count)
{
    const kr_block block = {threadIdx.x, blockDim.x, blockIdx.x, gridDim.x};
    uint32_t first, last, sum = 0;
    kr_block_share(block, 1u << room->bucket_bits, &first, &last);
    for (uint32_t b = first; b < last; ++b)
        sum += room->counters[b];
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

#include "base/program/launch_sort_cuda.h"

/* ---- Launching -------------------------------------------------------------------------------- */

typedef struct kr_launch_plan {
    unsigned grid, threads, shared_nbytes;
} kr_launch_plan;

/* cudaErrorInvalidConfiguration where a tile does not fit. */
static inline cudaError_t kr_launch_plan_of(const kr_launch *launch, uint32_t key_nbytes, uint64_t n,
                                            kr_launch_plan *plan)
{
    const uint64_t probes = kr_launch_probes(launch), tiles = (n + probes - 1) / probes;
    uint64_t most = (uint64_t)1 << 30;
    if (launch->is_static) {
        int device = 0, multiprocessors = 0;
        cudaError_t code = cudaGetDevice(&device);
        if (code == cudaSuccess)
            code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        if (code != cudaSuccess)
            return code;
        most = (uint64_t)multiprocessors;
    }
    plan->grid = (unsigned)(tiles < most ? tiles : most);
    plan->threads = kr_launch_threads(launch);
    plan->shared_nbytes =
        (launch->n_pins * key_nbytes + 7) / 8 * 8 + kr_launch_order_nbytes(launch, key_nbytes);
    const int fits = plan->shared_nbytes <= kr_launch_shared(launch) && kr_launch_can_order(launch);
    return fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/* Lets a kernel have as much shared memory as the device has: always the same number, since several threads
 * may launch it. */
static inline cudaError_t kr_launch_allow(const void *kernel)
{
    int device = 0, nbytes = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (code == cudaSuccess)
        code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    nbytes - KR_BLOCK_NBYTES_OWN);
    return code;
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

/* What the templates need of a type `body`, beside params_t and state_t (at most 32 bytes):
 *   typedef key_t, answers_t
 *   int       begin(const params_t *, uint64_t i, key_t, state_t *)
 *   int       step(const params_t *, kr_pin, kr_group, state_t *)
 *   void      end(const params_t *, const answers_t *, uint64_t i, state_t *)   i: where the answer goes
 *   key_t     pinned(const params_t *, uint32_t j)
 *   uint32_t  lanes(const params_t *)                  threads of a group, at best a constant
 *   key_t     key(const params_t *, uint64_t i)        what `begin` takes, and reordering sorts probes by
 *   const kr_launch *launch(const params_t *)
 *   answers_t answers(const params_t *), answers_in(const params_t *, void *shared)
 *   uint32_t  answer_nbytes(const params_t *)
 *   void     *out(const params_t *); uint64_t out_place(const params_t *, uint64_t i) */
template <typename body>
static __device__ __forceinline__ void kr_launch_one_search(const typename body::params_t *params, kr_pin pin,
                                                            kr_group group,
                                                            const typename body::answers_t *answers,
                                                            uint64_t i, typename body::key_t key, uint64_t to)
{
    typename body::state_t state;
    if (body::begin(params, i, key, &state))
        while (body::step(params, pin, group, &state))
            ;
    if (group.rank == 0)
        body::end(params, answers, to, &state);
}

template <typename body>
static __global__ void __launch_bounds__(1024)
    kr_launched_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    const kr_pin none = {NULL, 0, 0};
    const kr_group group = kr_tile_group(body::lanes(&params));
    const typename body::answers_t answers = body::answers(&params);
    const uint32_t groups = blockDim.x / group.size;
    for (uint64_t i = (uint64_t)blockIdx.x * groups + threadIdx.x / group.size; i < n;
         i += (uint64_t)gridDim.x * groups)
        kr_launch_one_search<body>(&params, none, group, &answers, i, body::key(&params, i), i);
}

/* Sorts the probes base .. base + count - 1 of a tile into buckets. */
template <typename body>
static __device__ __forceinline__ void kr_launch_tile_order(const typename body::params_t *params,
                                                            const kr_tile_room *room, uint64_t base,
                                                            uint32_t count)
{
    uint64_t lowest = ~(uint64_t)0, highest = 0;
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
        const uint64_t code = body::key(params, base + j);
        lowest = code < lowest ? code : lowest;
        highest = code > highest ? code : highest;
    }
    kr_tile_clear(room);
    kr_tile_range(&lowest, &highest);
    const uint32_t shift = kr_tile_shift(highest - lowest, room->bucket_bits);
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x)
        kr_tile_count(room, j, (uint32_t)((body::key(params, base + j) - lowest) >> shift));
    __syncthreads();
    kr_tile_place(room, count);
}

/* Copies the words that searches find in shared memory. */
template <typename body>
static __device__ __forceinline__ void kr_launch_pin(const typename body::params_t *params, uint32_t n)
{
    for (uint32_t j = threadIdx.x; j < n; j += blockDim.x)
        ((typename body::key_t *)kr_tile_shared)[j] = body::pinned(params, j);
    __syncthreads();
}

/* Writes the results of a tile, which are in shared memory in the order of its probes. */
template <typename body>
static __device__ __forceinline__ void kr_launch_tile_write(const typename body::params_t *params,
                                                            uint64_t base, uint32_t count,
                                                            const void *results)
{
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x)
        kr_tile_copy(body::out(params), body::out_place(params, base + j), results, j,
                     body::answer_nbytes(params));
    __syncthreads();
}

/* The tuned kernel. */
template <typename body>
static __global__ void __launch_bounds__(1024)
    kr_tuned_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    typedef typename body::key_t key_t;
    const kr_launch *launch = body::launch(&params);
    const kr_pin pin = {kr_tile_shared, launch->n_pins, 0};
    const kr_group group = kr_tile_group(body::lanes(&params));
    const kr_tile_room room = kr_tile_room_of(launch, sizeof(key_t));
    const int reorder = launch->reorder != KR_REORDER_NONE, twice = kr_launch_twice(launch);
    const typename body::answers_t answers =
        twice ? body::answers_in(&params, room.counters) : body::answers(&params);
    kr_launch_pin<body>(&params, pin.n);
    for (uint64_t base = (uint64_t)blockIdx.x * room.probes; base < n;
         base += (uint64_t)gridDim.x * room.probes) {
        const uint32_t count = n - base < room.probes ? (uint32_t)(n - base) : room.probes;
        if (reorder)
            kr_launch_tile_order<body>(&params, &room, base, count);
        for (uint32_t j = threadIdx.x / group.size; j < count; j += blockDim.x / group.size) {
            const uint32_t place = reorder ? room.places[j] : j;
            kr_launch_one_search<body>(&params, pin, group, &answers, base + place,
                                       body::key(&params, base + place), twice ? place : base + place);
        }
        if (reorder)
            __syncthreads();
        if (twice)
            kr_launch_tile_write<body>(&params, base, count, room.counters);
    }
}

/* Loads the keys of the probes base .. base + count - 1, once, and sorts them. */
template <typename body>
static __device__ __forceinline__ void
kr_launch_tile_sort(const typename body::params_t *params,
                    const kr_tile_sort_room<typename body::key_t> *room, uint64_t base, uint32_t count)
{
    uint64_t lowest = ~(uint64_t)0, highest = 0;
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
        const typename body::key_t key = body::key(params, base + j);
        room->keys[j] = key;
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    kr_tile_range(&lowest, &highest);
    kr_tile_sort(room, count, lowest ^ highest);
}

/* The sorted kernel. As in the paper each thread (or group) takes neighbours of the sorted order. */
template <typename body>
static __global__ void __launch_bounds__(1024)
    kr_sorted_kernel(const __grid_constant__ typename body::params_t params, uint64_t n)
{
    typedef typename body::key_t key_t;
    const kr_launch *launch = body::launch(&params);
    const kr_pin pin = {kr_tile_shared, launch->n_pins, 0};
    const kr_group group = kr_tile_group(body::lanes(&params));
    const kr_tile_sort_room<key_t> room = kr_tile_sort_room_of<key_t>(launch, kr_tile_shared);
    /* Rounded up: a program may take fewer threads for a probe than those that the tile was made for. */
    const uint32_t groups = blockDim.x / group.size, share = (room.probes + groups - 1) / groups;
    const int twice = kr_launch_twice(launch);
    const typename body::answers_t answers =
        twice ? body::answers_in(&params, room.counters) : body::answers(&params);
    kr_launch_pin<body>(&params, pin.n);
    for (uint64_t base = (uint64_t)blockIdx.x * room.probes; base < n;
         base += (uint64_t)gridDim.x * room.probes) {
        const uint32_t count = n - base < room.probes ? (uint32_t)(n - base) : room.probes;
        const uint32_t first = threadIdx.x / group.size * share;
        kr_launch_tile_sort<body>(&params, &room, base, count);
        for (uint32_t j = first; j < first + share && j < count; ++j) {
            const uint32_t place = room.places[j];
            kr_launch_one_search<body>(&params, pin, group, &answers, base + place, room.keys[place],
                                       twice ? place : base + place);
        }
        __syncthreads();
        if (twice)
            kr_launch_tile_write<body>(&params, base, count, room.counters);
    }
}

template <typename body>
static int kr_launch_with(const void *block, uint64_t n, void *cuda_stream)
{
    const typename body::params_t *params = (const typename body::params_t *)block;
    cudaStream_t stream = (cudaStream_t)cuda_stream;
    kr_launch_plan plan = {0, 0, 0};
    if (n == 0)
        return 0;
    cudaError_t code = kr_launch_plan_of(body::launch(params), sizeof(typename body::key_t), n, &plan);
    void (*kernel)(const typename body::params_t, uint64_t) = kr_launched_kernel<body>;
    if (plan.shared_nbytes)
        kernel = kr_launch_sorts(body::launch(params)) ? kr_sorted_kernel<body> : kr_tuned_kernel<body>;
    if (code == cudaSuccess && plan.shared_nbytes)
        code = kr_launch_allow((const void *)kernel);
    if (code != cudaSuccess)
        return (int)code;
    kernel<<<plan.grid, plan.threads, plan.shared_nbytes, stream>>>(*params, n);
    return (int)cudaGetLastError();
}

#endif
