#include "base/devices/arena.h"

#include <stdlib.h>

enum { ALIGNMENT = 256, FIRST_ROOM = 16 };

void kr_arena_begin(kr_arena *arena)
{
    arena->next = 0;
}

int kr_arena_serves(const kr_arena *arena)
{
    return arena->memory.data != NULL || arena->nbytes != 0;
}

/* ---- Recording -------------------------------------------------------------------------------- */

static int overlaps(const kr_arena_block *block, uint64_t offset, uint64_t nbytes)
{
    return block->memory && !block->is_constant && offset < block->offset + block->nbytes &&
           block->offset < offset + nbytes;
}

static uint64_t aligned(uint64_t nbytes)
{
    return (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The lowest place that no live block touches. */
static uint64_t place_of(const kr_arena *arena, uint64_t nbytes)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < arena->n;) {
        const kr_arena_block *block = &arena->blocks[i++];
        if (!overlaps(block, offset, nbytes))
            continue;
        offset = aligned(block->offset + block->nbytes);
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
    const int is_constant = arena->notes_constant;
    const uint64_t offset = is_constant ? arena->constants_nbytes : place_of(arena, nbytes);
    arena->blocks[arena->n++] = (kr_arena_block){offset, nbytes, memory, is_constant};
    if (is_constant)
        arena->constants_nbytes = aligned(offset + nbytes);
    else if (offset + nbytes > arena->memory.nbytes)
        arena->memory.nbytes = offset + nbytes;
}

void kr_arena_forget(kr_arena *arena, const void *memory)
{
    for (uint32_t i = arena->n; i-- > 0;)
        if (arena->blocks[i].memory == memory) {
            arena->blocks[i].memory = NULL;
            return;
        }
}

/* Nothing is left in `spare` that a run of its own work could need. */
static int takes_spare(kr_arena *arena, kr_arena *spare, uint64_t nbytes)
{
    if (!spare || spare->constants_nbytes || arena->constants_nbytes || spare->memory.nbytes < nbytes)
        return 0;
    arena->memory = spare->memory;
    arena->nbytes = spare->memory.nbytes;
    spare->memory = (kr_buffer){0};
    return 1;
}

kr_status kr_arena_settle(kr_arena *arena, kr_arena *spare, kr_error *err)
{
    const uint64_t others = aligned(arena->memory.nbytes), nbytes = others + arena->constants_nbytes;
    if (arena->failed)
        return kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for the places of scratch memory");
    for (uint32_t i = 0; i < arena->n; ++i)
        arena->blocks[i].offset += arena->blocks[i].is_constant ? others : 0;
    arena->memory = (kr_buffer){0};
    if (takes_spare(arena, spare, nbytes))
        return KR_OK;
    const kr_status status = kr_buffer_allocate(arena->device, nbytes ? nbytes : 1, arena->stream,
                                                "the scratch memory of prepared work",
                                                "prepare smaller batches", &arena->memory, err);
    arena->nbytes = status == KR_OK ? arena->memory.nbytes : 0;
    return status;
}

int kr_arena_has_constants(const kr_arena *arena)
{
    return arena->constants_nbytes != 0;
}

void kr_arena_filled(kr_arena *arena)
{
    arena->is_filled = 1;
}

void kr_arena_release(kr_arena *arena)
{
    arena->nbytes = 0;
    kr_buffer_release(arena->device, &arena->memory, arena->stream);
    free(arena->blocks);
    *arena = (kr_arena){.device = arena->device, .stream = arena->stream};
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
    arena->misfits |= !block || block->nbytes != nbytes;
    if (arena->misfits)
        return kr_fail(err, KR_ERR_INTERNAL,
                       "%s takes %llu bytes, but did not when the work was prepared; report this", what,
                       (unsigned long long)nbytes);
    ++arena->next;
    *buffer = (kr_buffer){(char *)arena->memory.data + block->offset, nbytes};
    return KR_OK;
}
