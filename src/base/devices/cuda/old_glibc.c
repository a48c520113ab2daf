/*
 * What static libstdc++ and libgcc, which a library with CUDA is linked with, ask of the glibc that they were
 * built for: arc4random of 2.36 and _dl_find_object of 2.35. The linker takes these instead, inside this
 * library alone, so that it also runs with glibc 2.34. The version script exports neither.
 */
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* glibc's own, whose header may be too old to have it. */
struct found_object {
    unsigned long long flags;
    void *map_start, *map_end;
    struct link_map *link_map;
    void *eh_frame;
    unsigned long long reserved[7];
};

uint32_t arc4random(void);
int find_object(void *address, struct found_object *found) __asm__("_dl_find_object");

uint32_t arc4random(void)
{
    uint32_t value;
    ssize_t n;
    do
        n = getrandom(&value, sizeof value, 0);
    while (n < 0 && errno == EINTR);
    if (n != sizeof value)
        abort(); /* as glibc does: the caller relies on it */
    return value;
}

struct search {
    uintptr_t address;
    struct found_object *found;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    const struct search *search = ctx;
    uintptr_t start = UINTPTR_MAX, end = 0, frame = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_EH_FRAME)
            frame = at;
        if (header->p_type != PT_LOAD)
            continue;
        start = at < start ? at : start;
        end = at + header->p_memsz > end ? at + header->p_memsz : end;
    }
    if (search->address < start || search->address >= end || !frame)
        return 0;
    search->found->map_start = (void *)start;
    search->found->map_end = (void *)end;
    search->found->eh_frame = (void *)frame;
    return 1;
}

/* Where the tables are that an exception needs to leave a function at `address`; -1: no library is there. */
int find_object(void *address, struct found_object *found)
{
    struct search search = {(uintptr_t)address, found};
    /* The part of glibc's struct that exists on this machine is shorter than ours, so nothing behind it is
     * written. */
    memset(found, 0, offsetof(struct found_object, reserved));
    return dl_iterate_phdr(look_at, &search) ? 0 : -1;
}
