/* Buffers with guard bytes on both sides, in host or device memory. */
#ifndef KEYRAY_TESTS_MEMORY_H
#define KEYRAY_TESTS_MEMORY_H

#include "columns.h"

typedef enum kr_place { KR_PLACE_HOST, KR_PLACE_DEVICE } kr_place;

typedef struct kr_guarded {
    kr_device *device;
    kr_place place;
    uint8_t *base; /* the whole block, guards included */
    void *data;    /* what a call gets; never NULL */
    uint64_t nbytes, before, whole_nbytes;
} kr_guarded;

/* `shift` bytes beyond the natural alignment of 256; the content is a pattern unlike most answers. */
kr_status kr_guarded_make(kr_device *device, kr_place place, uint64_t nbytes, uint64_t shift,
                          kr_guarded *buffer, kr_error *err);
void kr_guarded_free(kr_guarded *buffer);
/* The bytes once the device's own stream is done; the caller frees them. NULL, with the reason in `err`, if
 * that fails or a guard byte changed (KR_ERR_INTERNAL). */
void *kr_guarded_read(const kr_guarded *buffer, kr_error *err);
/* 1 when no byte has changed since it was made. */
int kr_guarded_untouched(const kr_guarded *buffer, kr_error *err);

/* A column copied to a place; the view points into the buffers. */
typedef struct kr_placed {
    kr_column view;
    kr_guarded data, validity;
} kr_placed;

kr_status kr_placed_make(kr_device *device, kr_place place, const kr_column *column, uint32_t shift_elements,
                         kr_placed *placed, kr_error *err);
void kr_placed_free(kr_placed *placed);

#endif
