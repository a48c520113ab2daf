/* Strings found by hash, and sorted once at the end. */
#include "io/io.h"

#include "base/util/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t offset, nbytes; /* in `bytes` */
    uint64_t hash;
};

struct kr_dictionary {
    _Atomic uint64_t owners;
    uint64_t identity;
    char *bytes; /* every string with a NUL after it */
    uint64_t used_nbytes, room_nbytes;
    struct entry *entries; /* by code */
    uint64_t count, room;
    uint32_t *slots; /* code + 1, or 0 when free; a power of two, at most half full */
    uint64_t n_slots;
};

enum { FIRST_ROOM = 512 };

static struct kr_dictionary *create(kr_error *err)
{
    struct kr_dictionary *dictionary = kr_host_calloc(1, sizeof *dictionary, "a dictionary", err);
    if (!dictionary)
        return NULL;
    dictionary->owners = 1;
    dictionary->identity = kr_host_identity();
    return dictionary;
}

struct kr_dictionary *kr_dictionary_create(kr_error *err)
{
    struct kr_dictionary *dictionary = create(err);
    if (!dictionary)
        return NULL;
    dictionary->room = FIRST_ROOM;
    dictionary->n_slots = 2 * FIRST_ROOM;
    dictionary->entries = kr_host_calloc(dictionary->room, sizeof *dictionary->entries, "a dictionary", err);
    dictionary->slots = kr_host_calloc(dictionary->n_slots, sizeof *dictionary->slots, "a dictionary", err);
    if (dictionary->entries && dictionary->slots)
        return dictionary;
    kr_dictionary_destroy(dictionary);
    return NULL;
}

/* Without slots, as kr_dictionary_sort leaves it. */
struct kr_dictionary *kr_dictionary_create_of(const char *bytes, const uint64_t *offsets, uint32_t n,
                                              kr_error *err)
{
    const uint64_t all_nbytes = offsets[n] - offsets[0] + n;
    struct kr_dictionary *dictionary = create(err);
    if (!dictionary)
        return NULL;
    dictionary->bytes = kr_host_calloc(all_nbytes, 1, "the strings of a dictionary", err);
    dictionary->entries = kr_host_calloc(n, sizeof *dictionary->entries, "a dictionary", err);
    if (!dictionary->bytes || !dictionary->entries) {
        kr_dictionary_destroy(dictionary);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct entry *entry = &dictionary->entries[i];
        *entry = (struct entry){.offset = dictionary->used_nbytes, .nbytes = offsets[i + 1] - offsets[i]};
        if (entry->nbytes)
            memcpy(dictionary->bytes + entry->offset, bytes + offsets[i], entry->nbytes);
        dictionary->used_nbytes += entry->nbytes + 1; /* a NUL is there */
    }
    dictionary->count = dictionary->room = n;
    dictionary->room_nbytes = all_nbytes;
    return dictionary;
}

struct kr_dictionary *kr_dictionary_share(struct kr_dictionary *dictionary)
{
    atomic_fetch_add(&dictionary->owners, 1);
    return dictionary;
}

uint64_t kr_dictionary_identity(const struct kr_dictionary *dictionary)
{
    return dictionary->identity;
}

void kr_dictionary_destroy(struct kr_dictionary *dictionary)
{
    if (!dictionary || atomic_fetch_sub(&dictionary->owners, 1) > 1)
        return;
    free(dictionary->slots);
    free(dictionary->entries);
    free(dictionary->bytes);
    free(dictionary);
}

static uint64_t hash_of(const char *text, size_t nbytes)
{
    uint64_t hash = nbytes;
    for (size_t i = 0; i < nbytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text + i, nbytes - i < 8 ? nbytes - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* The slot of that string, or the free one where it belongs. */
static uint64_t find_slot(const struct kr_dictionary *dictionary, const char *text, size_t nbytes,
                          uint64_t hash)
{
    uint64_t slot = hash;
    for (;; slot++) {
        slot &= dictionary->n_slots - 1;
        uint32_t held = dictionary->slots[slot];
        if (held == 0)
            return slot;
        const struct entry *entry = &dictionary->entries[held - 1];
        if (entry->hash == hash && entry->nbytes == nbytes &&
            memcmp(dictionary->bytes + entry->offset, text, nbytes) == 0)
            return slot;
    }
}

static kr_status double_slots(struct kr_dictionary *dictionary, kr_error *err)
{
    uint64_t n = 2 * dictionary->n_slots;
    uint32_t *slots = kr_host_calloc(n, sizeof *slots, "a dictionary", err);
    if (!slots)
        return KR_ERR_HOST_MEMORY;
    void *entries =
        kr_io_resize(dictionary->entries, n / 2, sizeof *dictionary->entries, "a dictionary", err);
    if (!entries) {
        free(slots);
        return KR_ERR_HOST_MEMORY;
    }
    dictionary->entries = entries;
    for (uint64_t code = 0; code < dictionary->count; code++) {
        uint64_t slot = dictionary->entries[code].hash & (n - 1);
        while (slots[slot])
            slot = (slot + 1) & (n - 1);
        slots[slot] = (uint32_t)code + 1;
    }
    free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->n_slots = n;
    dictionary->room = n / 2;
    return KR_OK;
}

static kr_status append_bytes(struct kr_dictionary *dictionary, const char *text, size_t nbytes,
                              kr_error *err)
{
    uint64_t needed = dictionary->used_nbytes + nbytes + 1;
    if (needed > dictionary->room_nbytes) {
        uint64_t room = needed + needed / 2 + 4096;
        char *bytes = kr_io_resize(dictionary->bytes, room, 1, "the strings of a dictionary", err);
        if (!bytes)
            return KR_ERR_HOST_MEMORY;
        dictionary->bytes = bytes;
        dictionary->room_nbytes = room;
    }
    memcpy(dictionary->bytes + dictionary->used_nbytes, text, nbytes);
    dictionary->bytes[needed - 1] = '\0';
    dictionary->used_nbytes = needed;
    return KR_OK;
}

kr_status kr_dictionary_code(struct kr_dictionary *dictionary, const char *text, size_t nbytes,
                             uint32_t *code, kr_error *err)
{
    uint64_t hash = hash_of(text, nbytes);
    uint64_t slot = find_slot(dictionary, text, nbytes, hash);
    if (dictionary->slots[slot]) {
        *code = dictionary->slots[slot] - 1;
        return KR_OK;
    }
    if (dictionary->count == UINT32_MAX - 1)
        return kr_fail(err, KR_ERR_LIMIT, "more than %u different strings in a column; split it",
                       UINT32_MAX - 1);
    if (dictionary->count == dictionary->room) {
        kr_status status = double_slots(dictionary, err);
        if (status != KR_OK)
            return status;
        slot = find_slot(dictionary, text, nbytes, hash);
    }
    uint64_t offset = dictionary->used_nbytes;
    kr_status status = append_bytes(dictionary, text, nbytes, err);
    if (status != KR_OK)
        return status;
    *code = (uint32_t)dictionary->count;
    dictionary->entries[dictionary->count++] = (struct entry){offset, nbytes, hash};
    dictionary->slots[slot] = *code + 1;
    return KR_OK;
}

/* Elements of the sort: most comparisons end at the first bytes, without reading the string. */
struct sorted {
    uint64_t first; /* the first 8 bytes, big-endian, 0 past the end */
    uint32_t code;
};

static int compare(const void *left, const void *right, void *dictionary)
{
    const struct sorted *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    const struct kr_dictionary *all = dictionary;
    const struct entry *x = &all->entries[a->code], *y = &all->entries[b->code];
    int order =
        memcmp(all->bytes + x->offset, all->bytes + y->offset, x->nbytes < y->nbytes ? x->nbytes : y->nbytes);
    if (order != 0)
        return order;
    return (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes);
}

static struct sorted sortable(const struct kr_dictionary *dictionary, uint32_t code)
{
    const struct entry *entry = &dictionary->entries[code];
    uint64_t first = 0;
    memcpy(&first, dictionary->bytes + entry->offset, entry->nbytes < 8 ? entry->nbytes : 8);
    return (struct sorted){__builtin_bswap64(first), code};
}

kr_status kr_dictionary_sort(struct kr_dictionary *dictionary, uint32_t **rank, kr_error *err)
{
    uint64_t n = dictionary->count;
    kr_status status = KR_ERR_HOST_MEMORY;
    uint32_t *ranks = kr_host_calloc(n, sizeof *ranks, "a dictionary", err);
    struct sorted *order = ranks ? kr_host_calloc(n, sizeof *order, "a dictionary", err) : NULL;
    struct entry *entries = order ? kr_host_calloc(n, sizeof *entries, "a dictionary", err) : NULL;
    if (!entries)
        goto end;
    for (uint64_t code = 0; code < n; code++)
        order[code] = sortable(dictionary, (uint32_t)code);
    qsort_r(order, n, sizeof *order, compare, dictionary);
    for (uint64_t i = 0; i < n; i++) {
        ranks[order[i].code] = (uint32_t)i;
        entries[i] = dictionary->entries[order[i].code];
    }
    free(dictionary->entries);
    dictionary->entries = entries;
    free(dictionary->slots); /* they hold the old codes */
    dictionary->slots = NULL;
    *rank = ranks;
    ranks = NULL;
    status = KR_OK;
end:
    free(order);
    free(ranks);
    return status;
}

/* Byte by byte; of strings that begin alike, the shorter one is below. */
static int compare_with(const struct kr_dictionary *dictionary, uint64_t code, const char *text,
                        size_t nbytes)
{
    const struct entry *entry = &dictionary->entries[code];
    const int order =
        memcmp(dictionary->bytes + entry->offset, text, entry->nbytes < nbytes ? entry->nbytes : nbytes);
    return order ? order : (entry->nbytes > nbytes) - (entry->nbytes < nbytes);
}

bool kr_dictionary_find(const struct kr_dictionary *dictionary, const char *text, size_t nbytes,
                        uint32_t *code)
{
    uint64_t low = 0, high = dictionary->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (compare_with(dictionary, middle, text, nbytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *code = (uint32_t)low;
    return low < dictionary->count && compare_with(dictionary, low, text, nbytes) == 0;
}

const char *kr_dictionary_string(const struct kr_dictionary *dictionary, uint32_t code, size_t *nbytes)
{
    if (code >= dictionary->count)
        return NULL;
    if (nbytes)
        *nbytes = (size_t)dictionary->entries[code].nbytes;
    return dictionary->bytes + dictionary->entries[code].offset;
}
