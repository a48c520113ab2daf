/* A build and lookups that keep four threads busy, for tests of what threads survive. */
#ifndef KEYRAY_TESTS_MANY_THREADS_H
#define KEYRAY_TESTS_MANY_THREADS_H

#include "check.h"

enum { MANY_KEYS = 1 << 20, MANY_PROBES = 1 << 19, MANY_THREADS = 4 };

static uint32_t many_key(uint32_t i)
{
    return i * 2654435761u; /* odd, so all keys differ */
}

/* On a CPU device of its own; every probe must find its row. */
static void use_many_threads(const char *spec)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = MANY_THREADS};
    uint32_t *keys = calloc(MANY_KEYS, sizeof *keys), *rows = calloc(MANY_PROBES, sizeof *rows);
    const kr_column column = {.type = KR_U32, .count = MANY_KEYS, .data = keys};
    const kr_column probes = {.type = KR_U32, .count = MANY_PROBES, .data = keys};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_device *device = NULL;
    kr_index *index = NULL;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < MANY_KEYS; ++i)
        keys[i] = many_key(i);
    WORKS(kr_device_open("cpu", &options, &device, &err));
    WORKS(kr_index_create(device, spec, &column, NULL, NULL, &index, &err));
    WORKS(kr_index_lookup(index, &probes, &sink, NULL, &err));
    for (uint32_t i = 0; i < MANY_PROBES; ++i)
        wrong += rows[i] != i;
    CHECK(wrong == 0);
    kr_index_destroy(index);
    kr_device_close(device);
    free(rows);
    free(keys);
}

#endif
