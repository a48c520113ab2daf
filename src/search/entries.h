/* Entries as the bodies see them; store.h builds and owns them. */
#ifndef KEYRAY_SEARCH_ENTRIES_H
#define KEYRAY_SEARCH_ENTRIES_H

#include "program/lang.h"

typedef struct kr_entries {
    /* soa: kr_key[]; aos: packed entries of a code and a row id, sizeof(kr_key) + 4 bytes. */
    const void *keys;
    const uint32_t *rows; /* soa only */
    uint32_t n;
    uint32_t aos;
} kr_entries;
kr_assert_size(kr_entries, 24);

#endif
