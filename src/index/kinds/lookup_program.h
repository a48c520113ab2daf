/* Lookup programs: probe programs of a family whose launch on a GPU has options (base/program/launch.h).
 *
 *   KR_LOOKUP_PROGRAM(name, params_t, state_t, pinned, begin, step, end, lanes)
 *
 *       kr_key pinned(const params_t *, uint32_t j)
 *           Word j < params.launch.n_pins of those that blocks pin in shared memory.
 *
 *       int begin(const params_t *, uint64_t i, kr_key lower, state_t *)
 *           `lower` is the code of probe i's lower bound (kr_batch_lower): a block that sorts its probes has
 *           read it already. Begins with kr_batch_load_upper. 0: nothing to search.
 *
 *       int step(const params_t *, kr_pin, kr_group, state_t *)
 *           0: done. All threads of the group hold the same state and arrive together. On the CPU a group is
 *           one thread.
 *
 *       void end(const params_t *, const kr_put *, uint64_t i, state_t *)
 *           `i` says where `put` writes. Does not use params.put.
 *
 *       lanes
 *           Threads of a group on a GPU, a power of two up to 32: a constant, or KR_LANES_OF_LAUNCH.
 *
 * params_t has members batch (kr_batch), put (kr_put), launch (kr_launch). A state has at most 32 bytes. */
#ifndef KEYRAY_INDEX_KINDS_LOOKUP_PROGRAM_H
#define KEYRAY_INDEX_KINDS_LOOKUP_PROGRAM_H

#include "base/program/launch.h"
#include "index/kinds/batch.h"

#define KR_LOOKUP_PROGRAM(name, params_t, state_t, pinned, begin, step, end, lanes) \
    KR_APPLY(KR_LOOKUP_PROGRAM_, KR_W(name), params_t, state_t, pinned, begin, step, end, lanes)

#define KR_LANES_OF_LAUNCH (params->launch.group ? params->launch.group : 1u)

#if KR_ON_CUDA

/* The part that does not depend on the program. */
template <typename params_type>
struct kr_lookup_body {
    typedef params_type params_t;
    typedef kr_key key_t;
    typedef kr_put answers_t;

    static __host__ __device__ __forceinline__ const kr_launch *launch(const params_t *params)
    {
        return &params->launch;
    }
    static __device__ __forceinline__ kr_key key(const params_t *params, uint64_t i)
    {
        return kr_batch_lower(&params->batch, i);
    }
    static __device__ __forceinline__ kr_put answers(const params_t *params)
    {
        return params->put;
    }
    /* Answers in shared memory, in the order of the tile. */
    static __device__ __forceinline__ kr_put answers_in(const params_t *params, void *shared)
    {
        kr_put put = params->put;
        put.out = shared;
        put.order = NULL;
        return put;
    }
    static __device__ __forceinline__ uint32_t answer_nbytes(const params_t *params)
    {
        return kr_put_nbytes(kr_put_written(&params->put));
    }
    static __device__ __forceinline__ void *out(const params_t *params)
    {
        return params->put.out;
    }
    static __device__ __forceinline__ uint64_t out_place(const params_t *params, uint64_t i)
    {
        return kr_answer_place(params->put.order, i);
    }
};

#define KR_LOOKUP_PROGRAM_(name, params_type, state_type, pinned_, begin_, step_, end_, lanes_)           \
    kr_assert_fits(state_type, 32);                                                                       \
    struct name##_body_t : kr_lookup_body<params_type> {                                                  \
        typedef state_type state_t;                                                                       \
        static __device__ __forceinline__ uint32_t lanes(const params_t *params)                          \
        {                                                                                                 \
            (void)params;                                                                                 \
            return lanes_;                                                                                \
        }                                                                                                 \
        static __device__ __forceinline__ kr_key pinned(const params_t *params, uint32_t j)               \
        {                                                                                                 \
            return pinned_(params, j);                                                                    \
        }                                                                                                 \
        static __device__ __forceinline__ int begin(const params_t *params, uint64_t i, kr_key lower,     \
                                                    state_t *state)                                       \
        {                                                                                                 \
            return begin_(params, i, lower, state);                                                       \
        }                                                                                                 \
        static __device__ __forceinline__ int step(const params_t *params, kr_pin pin, kr_group group,    \
                                                   state_t *state)                                        \
        {                                                                                                 \
            return step_(params, pin, group, state);                                                      \
        }                                                                                                 \
        static __device__ __forceinline__ void end(const params_t *params, const kr_put *put, uint64_t i, \
                                                   state_t *state)                                        \
        {                                                                                                 \
            end_(params, put, i, state);                                                                  \
        }                                                                                                 \
    };                                                                                                    \
    KR_CUDA_ENTRY(name, params_type, kr_launch_with<name##_body_t>(block, n, cuda_stream))

#else

#define KR_LOOKUP_PROGRAM_(name, params_t, state_t, pinned, begin, step, end, lanes) \
    KR_BODY int name##_open(const params_t *params, uint64_t i, state_t *state)      \
    {                                                                                \
        return begin(params, i, kr_batch_lower(&params->batch, i), state);           \
    }                                                                                \
    KR_BODY int name##_alone(const params_t *params, state_t *state)                 \
    {                                                                                \
        const kr_pin none = {NULL, 0, 0};                                            \
        const kr_group alone = {0, 1};                                               \
        return step(params, none, alone, state);                                     \
    }                                                                                \
    KR_BODY void name##_put(const params_t *params, uint64_t i, state_t *state)      \
    {                                                                                \
        end(params, &params->put, i, state);                                         \
    }                                                                                \
    KR_FLIGHT_PROGRAM_(KR_MANY_IN_FLIGHT, name, params_t, state_t, name##_open, name##_alone, name##_put)

#endif

#endif
