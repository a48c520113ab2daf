/* The CPU executors of tile programs; included by tile.h only. Nothing is pinned or reordered here: a probe
 * program with the arguments of a tile program's functions, and groups of one thread. */
#ifndef KEYRAY_PROGRAM_TILE_CPU_H
#define KEYRAY_PROGRAM_TILE_CPU_H

#define KR_TILE_PROGRAM_(name, params_t, state_t, pinned, begin, step, end)          \
    KR_BODY int name##_tile_step(const params_t *params, state_t *state)             \
    {                                                                                \
        const kr_pin none = {NULL, 0, 0};                                            \
        return step(params, none, state);                                            \
    }                                                                                \
    KR_BODY void name##_tile_end(const params_t *params, uint64_t i, state_t *state) \
    {                                                                                \
        end(params, &params->put, i, state);                                         \
    }                                                                                \
    KR_FLIGHT_PROGRAM_(KR_TILE_IN_FLIGHT, name, params_t, state_t, begin, name##_tile_step, name##_tile_end)

#define KR_TILE_GROUP_PROGRAM_(name, params_t, state_t, pinned, begin, step, end)     \
    KR_BODY int name##_alone_step(const params_t *params, kr_pin pin, state_t *state) \
    {                                                                                 \
        const kr_group alone = {0, 1};                                                \
        return step(params, pin, alone, state);                                       \
    }                                                                                 \
    KR_TILE_PROGRAM_(name, params_t, state_t, pinned, begin, name##_alone_step, end)

#endif
