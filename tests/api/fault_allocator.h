/* The allocators of memory_faults.c, in which one allocation fails. */
#ifndef KEYRAY_TESTS_FAULT_ALLOCATOR_H
#define KEYRAY_TESTS_FAULT_ALLOCATOR_H

#include "check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NO_FAULTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NO_FAULTS 1
#endif
#endif
#ifndef __GLIBC__
#define NO_FAULTS 1
#endif

#ifdef NO_FAULTS

static int skip_faults(void)
{
    printf("skipped: the allocator cannot be replaced under a sanitizer or another C library than glibc\n");
    return SKIPPED;
}

#else

#include <errno.h>
#include <link.h>

/* ---- The C library's allocator, with a fault in it ------------------------------------------ */

extern void *__libc_malloc(size_t nbytes);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *memory, size_t nbytes);
extern void *__libc_memalign(size_t alignment, size_t nbytes);
extern void __libc_free(void *memory);

/* Which allocation fails, counted down to 1 (0: none), and how many blocks are held. */
typedef struct fault {
    uint64_t countdown;
    int64_t held;
    int struck;
} fault;

static fault host, device_side;

/* Machine code of the library and of the test, known from main on. */
typedef struct code {
    uintptr_t first, end;
} code;

static code library, test;

static int find_code(struct dl_phdr_info *info, size_t nbytes, void *found)
{
    code *c = found;
    (void)nbytes;
    for (int i = 0; i < info->dlpi_phnum && !c->end; ++i) {
        const uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (first <= c->first && c->first - first < info->dlpi_phdr[i].p_memsz)
            *c = (code){first, first + info->dlpi_phdr[i].p_memsz};
    }
    return c->end != 0;
}

static code code_of(uintptr_t address)
{
    code c = {address, 0};
    CHECK(dl_iterate_phdr(find_code, &c));
    return c;
}

/* 1 when the caller is the library, or the test where the library's last call returns to it. */
static int is_ours(const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    return (at >= library.first && at < library.end) || (at >= test.first && at < test.end);
}

/* The blocks that are held, and how many places were ever in use. */
static void *blocks[4096];
static size_t n_blocks;

static void hold(void *memory)
{
    for (size_t i = 0; memory && i < sizeof blocks / sizeof blocks[0]; ++i)
        if (!blocks[i]) {
            blocks[i] = memory;
            n_blocks = i < n_blocks ? n_blocks : i + 1;
            ++host.held;
            return;
        }
}

/* 1 when it was held. */
static int let_go(const void *memory)
{
    for (size_t i = 0; memory && i < n_blocks; ++i)
        if (blocks[i] == memory) {
            blocks[i] = NULL;
            --host.held;
            return 1;
        }
    return 0;
}

static int strikes(fault *f)
{
    if (f->countdown == 0 || --f->countdown != 0)
        return 0;
    f->struck = 1;
    return 1;
}

enum { NEW, CLEARED, ALIGNED };

static void *take(int how, size_t alignment, size_t nbytes, const void *caller)
{
    const int ours = is_ours(caller);
    void *memory = ours && strikes(&host) ? NULL
                   : how == CLEARED       ? __libc_calloc(1, nbytes)
                   : how == ALIGNED       ? __libc_memalign(alignment, nbytes)
                                          : __libc_malloc(nbytes);
    if (ours)
        hold(memory);
    if (!memory)
        errno = ENOMEM;
    return memory;
}

void *malloc(size_t nbytes)
{
    return take(NEW, 0, nbytes, __builtin_return_address(0));
}

void *calloc(size_t n, size_t each)
{
    return each && n > SIZE_MAX / each ? NULL : take(CLEARED, 0, n * each, __builtin_return_address(0));
}

void *realloc(void *memory, size_t nbytes)
{
    if (!memory)
        return take(NEW, 0, nbytes, __builtin_return_address(0));
    if (is_ours(__builtin_return_address(0)) && strikes(&host)) {
        errno = ENOMEM;
        return NULL;
    }
    const int held = let_go(memory);
    void *moved = __libc_realloc(memory, nbytes);
    if (held)
        hold(moved ? moved : memory);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t nbytes)
{
    return take(ALIGNED, alignment, nbytes, __builtin_return_address(0));
}

int posix_memalign(void **memory, size_t alignment, size_t nbytes)
{
    void *made = take(ALIGNED, alignment, nbytes, __builtin_return_address(0));
    if (made)
        *memory = made;
    return made ? 0 : ENOMEM;
}

void free(void *memory)
{
    let_go(memory);
    __libc_free(memory);
}

/* ---- The caller's allocator, with a fault in it --------------------------------------------- */

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)native_stream;
    if (strikes(&device_side))
        return NULL;
    /* Host faults must not hit this allocation. */
    void *memory = __libc_memalign(256, nbytes);
    device_side.held += memory != NULL;
    return memory;
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)nbytes;
    (void)native_stream;
    device_side.held -= memory != NULL;
    __libc_free(memory);
}

#endif
#endif
