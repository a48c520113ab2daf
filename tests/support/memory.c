#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 256, GUARD_BYTE = 0xC3, FRESH_BYTE = 0xA5 };

static uint8_t expected_byte(const kr_guarded *buffer, uint64_t i)
{
    return i < buffer->before || i >= buffer->before + buffer->nbytes ? GUARD_BYTE : FRESH_BYTE;
}

kr_status kr_guarded_make(kr_device *device, kr_place place, uint64_t nbytes, uint64_t shift,
                          kr_guarded *buffer, kr_error *err)
{
    kr_guarded made = {.device = device, .place = place, .nbytes = nbytes, .before = GUARD + shift};
    kr_status status = KR_OK;
    made.whole_nbytes = (made.before + nbytes + GUARD + 255) / 256 * 256;
    uint8_t *content = aligned_alloc(256, made.whole_nbytes);
    if (!content)
        exit(1);
    for (uint64_t i = 0; i < made.whole_nbytes; ++i)
        content[i] = expected_byte(&made, i);
    made.base = content;
    if (place == KR_PLACE_DEVICE) {
        status = kr_memory_allocate(device, made.whole_nbytes, NULL, (void **)&made.base, err);
        if (!status)
            status = kr_memory_copy(device, made.base, content, made.whole_nbytes, NULL, err);
        free(content);
    }
    made.data = made.base + made.before;
    if (!status)
        *buffer = made;
    return status;
}

void kr_guarded_free(kr_guarded *buffer)
{
    if (buffer->place == KR_PLACE_DEVICE)
        kr_memory_release(buffer->device, buffer->base, buffer->whole_nbytes, NULL);
    else
        free(buffer->base);
    *buffer = (kr_guarded){0};
}

static uint8_t *read_whole(const kr_guarded *buffer, kr_error *err)
{
    uint8_t *whole = kr_test_calloc(buffer->whole_nbytes, 1);
    if (buffer->place == KR_PLACE_HOST) {
        memcpy(whole, buffer->base, buffer->whole_nbytes);
    } else if (kr_memory_copy(buffer->device, whole, buffer->base, buffer->whole_nbytes, NULL, err)) {
        free(whole);
        return NULL;
    }
    return whole;
}

void *kr_guarded_read(const kr_guarded *buffer, kr_error *err)
{
    uint8_t *whole = read_whole(buffer, err);
    if (!whole)
        return NULL;
    for (uint64_t i = 0; i < buffer->whole_nbytes; ++i) {
        if (i == buffer->before)
            i += buffer->nbytes;
        if (whole[i] == GUARD_BYTE)
            continue;
        err->status = KR_ERR_INTERNAL;
        snprintf(err->text, sizeof err->text, "byte %lld of a buffer of %llu bytes was written",
                 (long long)i - (long long)buffer->before, (unsigned long long)buffer->nbytes);
        free(whole);
        return NULL;
    }
    memmove(whole, whole + buffer->before, buffer->nbytes);
    return whole;
}

int kr_guarded_untouched(const kr_guarded *buffer, kr_error *err)
{
    uint8_t *whole = read_whole(buffer, err);
    uint64_t i = 0;
    while (whole && i < buffer->whole_nbytes && whole[i] == expected_byte(buffer, i))
        ++i;
    free(whole);
    return whole && i == buffer->whole_nbytes;
}

static kr_status place_bytes(kr_device *device, kr_place place, const void *bytes, uint64_t nbytes,
                             uint64_t shift, kr_guarded *buffer, kr_error *err)
{
    kr_status status = kr_guarded_make(device, place, nbytes, shift, buffer, err);
    if (status || nbytes == 0)
        return status;
    if (place == KR_PLACE_HOST)
        memcpy(buffer->data, bytes, nbytes);
    else
        status = kr_memory_copy(device, buffer->data, bytes, nbytes, NULL, err);
    if (status)
        kr_guarded_free(buffer);
    return status;
}

kr_status kr_placed_make(kr_device *device, kr_place place, const kr_column *column, uint32_t shift_elements,
                         kr_placed *placed, kr_error *err)
{
    const uint32_t each = kr_type_nbytes(column->type);
    kr_placed made = {.view = *column};
    kr_status status = place_bytes(device, place, column->data, column->count * each,
                                   (uint64_t)shift_elements * each, &made.data, err);
    if (status)
        return status;
    made.view.data = made.data.data;
    if (column->validity) {
        status =
            place_bytes(device, place, column->validity, (column->validity_offset + column->count + 7) / 8,
                        shift_elements, &made.validity, err);
        if (status) {
            kr_guarded_free(&made.data);
            return status;
        }
        made.view.validity = made.validity.data;
    }
    *placed = made;
    return KR_OK;
}

void kr_placed_free(kr_placed *placed)
{
    if (placed->data.base)
        kr_guarded_free(&placed->data);
    if (placed->validity.base)
        kr_guarded_free(&placed->validity);
    *placed = (kr_placed){0};
}
