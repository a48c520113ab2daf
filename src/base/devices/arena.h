/* Scratch memory of work that is done many times, which has the arena (kr_work, base/devices/work.h). While
 * an arena records, the work allocates as ever, and the arena notes each block and how long it lives. Then it
 * lays all blocks out in one, and while it serves, the same allocations get the same places again: nothing is
 * allocated, and addresses stay the same.
 *
 * Blocks that hold constants (kr_work_take_constants) share their places with no other. The first run that
 * the arena serves fills them, and later ones find them there: what a graph replays never reads host memory.
 *
 * Only for work of one thread on one stream, whose blocks and constants do not depend on what columns hold.
 */
#ifndef KEYRAY_BASE_DEVICES_ARENA_H
#define KEYRAY_BASE_DEVICES_ARENA_H

#include "base/devices/device.h"

typedef struct kr_arena_block {
    uint64_t offset, nbytes;
    void *memory; /* while it records, NULL once released */
    int is_constant;
} kr_arena_block;

typedef struct kr_arena {
    kr_device *device;
    kr_stream *stream; /* in whose order memory is taken and given back now; NULL: the device's own */
    kr_buffer memory;  /* none while it records */
    kr_arena_block *blocks;
    uint32_t n, room;
    uint32_t next;             /* block, while it serves */
    uint64_t constants_nbytes; /* behind the other blocks */
    int notes_constant;        /* the next block that is noted */
    int is_filled;             /* constants are there */
    uint64_t nbytes;           /* of all blocks as they are laid out */
    int failed;                /* a block could not be noted */
    int misfits;               /* a run took other memory than was noted */
} kr_arena;

/* Before a run. */
void kr_arena_begin(kr_arena *arena);
/* After recording: takes the memory, that of `spare` where it suffices; NULL: there is none. */
kr_status kr_arena_settle(kr_arena *arena, kr_arena *spare, kr_error *err);
/* 1: a run must fill constants before any is captured; kr_arena_filled once that run is done. */
int kr_arena_has_constants(const kr_arena *arena);
void kr_arena_filled(kr_arena *arena);
void kr_arena_release(kr_arena *arena);

/* ---- For work.c --------------------------------------------------------------------------------- */

/* 1: it has its memory, and serves; 0: it records. */
int kr_arena_serves(const kr_arena *arena);
kr_status kr_arena_serve(kr_arena *arena, uint64_t nbytes, const char *what, kr_buffer *buffer,
                         kr_error *err);
void kr_arena_note(kr_arena *arena, void *memory, uint64_t nbytes);
void kr_arena_forget(kr_arena *arena, const void *memory);
/* 1: the memory is the arena's own, so that releasing it means nothing. */
int kr_arena_owns(const kr_arena *arena, const void *memory);

#endif
