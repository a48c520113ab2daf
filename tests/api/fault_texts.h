/* Dictionaries of texts for memory_faults.c. */
#ifndef KEYRAY_TESTS_FAULT_TEXTS_H
#define KEYRAY_TESTS_FAULT_TEXTS_H

#include "check.h"

/* What check_part is given in the place of a spec: part 0 is a dictionary with ranges=on, part 1 without. */
static const char fault_texts[] = "texts";

/* Rows in layers: all share a prefix, and many the slices behind it. */
static kr_column fault_strings(void)
{
    enum { TEXTS = 300, EACH = 40 };
    static char bytes[TEXTS * EACH];
    static int32_t offsets[TEXTS + 1];
    static uint8_t validity[TEXTS / 8 + 1];
    for (int32_t i = 0; i < TEXTS; ++i) {
        char text[EACH];
        const int n = snprintf(text, sizeof text, "https://shop%d.example.com/item/%03d", i % 5, i * 7 % 200);
        memcpy(bytes + offsets[i], text, (size_t)n);
        offsets[i + 1] = offsets[i] + n;
    }
    memset(validity, 0xEE, sizeof validity);
    return (kr_column){.type = KR_STRING,
                       .count = TEXTS,
                       .data = offsets,
                       .validity = validity,
                       .reserved_words = {(uintptr_t)bytes, (uint64_t)offsets[TEXTS]}};
}

static kr_status use_texts(kr_device *device, int part, kr_stream *stream, kr_error *err)
{
    static uint32_t codes[300], lower[300], upper[300];
    static int64_t offsets[301];
    static char bytes[300 * 40];
    const kr_column strings = fault_strings();
    kr_texts *texts = NULL;
    kr_status status =
        kr_texts_create(device, &strings, part ? "ranges=off" : "ranges=on", stream, &texts, err);
    if (!status)
        status = kr_texts_encode(texts, &strings, codes, stream, err);
    if (!status && !part)
        status = kr_texts_bounds(texts, &strings, KR_TEXTS_PREFIX, lower, upper, stream, err);
    if (!status)
        status = kr_texts_decode(texts, codes, 300, offsets, bytes, sizeof bytes, stream, err);
    add_to_checksum(codes, sizeof codes);
    add_to_checksum(lower, sizeof lower);
    add_to_checksum(upper, sizeof upper);
    add_to_checksum(bytes, sizeof bytes);
    kr_texts_destroy(texts);
    return status;
}

#endif
