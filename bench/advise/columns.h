/* Columns of different shape, and lookups in them. */
#ifndef KEYRAY_BENCH_ADVISE_COLUMNS_H
#define KEYRAY_BENCH_ADVISE_COLUMNS_H

#include <keyray/keyray.h>

enum { COLUMNS = 8 };

typedef struct column {
    const char *name;
    kr_column view;
    void *data;
    char *bytes; /* of texts */
} column;

uint64_t column_random(uint64_t *state);
/* Both return 1 if there is no memory. */
int column_make(column *c, uint32_t shape, uint64_t n, uint64_t seed);
int column_probes(const column *keys, uint64_t n, column *probes);
void column_free(column *c);

#endif
