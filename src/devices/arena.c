#include "devices/arena.h"

#include <stdlib.h>

enum { ALIGNMENT = 256, FIRST_ROOM = 16 };

static _Thread_local kr_arena *current;

void kr_arena_enter(kr_arena *arena)
{
    arena->next = 0;
    current = arena;
}

void kr_arena_leave(void)
{
    current = NULL;
}

kr_arena *kr_arena_of(const kr_device *device)
{
    return current && current->device == device ? current : NULL;
}

int kr_arena_serves(const kr_arena *arena)
{
    return arena->memory.data != NULL || arena->nbytes != 0;
}

/* ---- Recording -------------------------------------------------------------------------------- */

static int overlaps(const kr_arena_block *block, uint64_t offset, uint64_t nbytes)
{
    return block->memory && offset < block->offset + block->nbytes && block->offset < offset + nbytes;
}

/* The lowest place that no live block touches. */
static uint64_t place_of(const kr_arena *arena, uint64_t nbytes)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < arena->n;) {
        const kr_arena_block *block = &arena->blocks[i++];
        if (!overlaps(block, offset, nbytes))
            continue;
        offset = (block->offset + block->nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        i = 0;
    }
    return offset;
}

void kr_arena_note(kr_arena *arena, void *memory, uint64_t nbytes)
{
    if (arena->n == arena->room) {
        const uint32_t room = arena->room ? 2 * arena->room : FIRST_ROOM;
        kr_arena_block *blocks = realloc(arena->blocks, room * sizeof *blocks);
        if (!blocks) {
            arena->failed = 1;
            return;
        }
        arena->blocks = blocks;
        arena->room = room;
    }
    arena->blocks[arena->n] = (kr_arena_block){place_of(arena, nbytes), nbytes, memory};
    const uint64_t end = arena->blocks[arena->n++].offset + nbytes;
    arena->memory.nbytes = end > arena->memory.nbytes ? end : arena->memory.nbytes;
}

void kr_arena_forget(kr_arena *arena, const void *memory)
{
    for (uint32_t i = arena->n; i-- > 0;)
        if (arena->blocks[i].memory == memory) {
            arena->blocks[i].memory = NULL;
            return;
        }
}

kr_status kr_arena_settle(kr_arena *arena, kr_error *err)
{
    const uint64_t nbytes = arena->memory.nbytes;
    if (arena->failed)
        return kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for the places of scratch memory");
    arena->memory = (kr_buffer){0};
    const kr_status status = kr_buffer_allocate(arena->device, nbytes ? nbytes : 1, NULL,
                                                "the scratch memory of a prepared lookup",
                                                "prepare smaller batches", &arena->memory, err);
    arena->nbytes = status == KR_OK ? arena->memory.nbytes : 0;
    return status;
}

void kr_arena_release(kr_arena *arena)
{
    arena->nbytes = 0;
    kr_buffer_release(arena->device, &arena->memory, NULL);
    free(arena->blocks);
    *arena = (kr_arena){.device = arena->device};
}

/* ---- Serving ---------------------------------------------------------------------------------- */

int kr_arena_owns(const kr_arena *arena, const void *memory)
{
    const char *begin = arena->memory.data, *at = memory;
    return begin && at >= begin && at < begin + arena->memory.nbytes;
}

kr_status kr_arena_serve(kr_arena *arena, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err)
{
    const kr_arena_block *block = arena->next < arena->n ? &arena->blocks[arena->next] : NULL;
    if (!block || block->nbytes != nbytes)
        return kr_fail(err, KR_ERR_INTERNAL,
                       "%s takes %llu bytes, but did not when the lookup was prepared; report this", what,
                       (unsigned long long)nbytes);
    ++arena->next;
    *buffer = (kr_buffer){(char *)arena->memory.data + block->offset, nbytes};
    return KR_OK;
}
