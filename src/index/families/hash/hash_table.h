/* Hash tables with all rows of a key in one place, for the kinds `hash` and `chain`: the structure, and the
 * operations that both use. hash_nodes.h says how nodes lie in memory. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_TABLE_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_TABLE_H

#include "index/families/hash/hash_view.h"
#include "index/kinds/family.h"

/* What the options of a kind say. */
typedef struct hash_design {
    uint32_t slots, linked, twice, plain;
    uint32_t group; /* threads per probe on a GPU; of kind chain: 32, a warp for one after the other of its */
    uint32_t insert; /* 1: build by inserting rows one by one */
    uint32_t load;   /* keys of a full build, in thousandths of the buckets' slots */
    uint64_t seed;
    const char *help; /* how to save memory, for errors */
} hash_design;

typedef struct kr_hashed {
    hash_design design;
    kr_buffer heads, more, spans, aside;
    uint64_t seed; /* the one in use: another than the design's after too many collisions */
    uint32_t n_heads;
    uint64_t n_rows, n_keys;
    uint64_t n_more;    /* nodes behind the buckets in use; `more` may have room for others */
    uint64_t n_spans;   /* in use; numbers below it may belong to no key any more */
    uint64_t n_aside;   /* the same of places in `aside` */
    uint64_t n_several; /* rows of keys with several rows: those in `aside` that are there */
    uint64_t n_steps;   /* nodes behind its bucket that are read to find a key, over all keys */
    uint64_t n_new;     /* keys that updates have inserted where the table stands, */
    uint64_t n_gone;    /* and those that they have deleted there */
    uint64_t made_keys, made_steps, made_more; /* when it was made */
    uint32_t reseeds;                          /* seeds that were given up, */
    uint32_t tries;                            /* and how many of them in this build */
    uint32_t key_bits;
    uint32_t is_inserted; /* 1: made by build=insert */
} kr_hashed;

/* kr_family_ops of a table. `design` comes from the kind's options; `self` is a kr_hashed. */
kr_status hash_estimate(const kr_shape *shape, const hash_design *design, kr_need *need);
void hash_build_u32(kr_work *work, const kr_build *build, const hash_design *design, void **self);
void hash_build_u64(kr_work *work, const kr_build *build, const hash_design *design, void **self);
void hash_destroy(kr_device *device, void *self, kr_stream *stream);
void hash_locate_u32(kr_work *work, const void *self, const kr_locate *job);
void hash_locate_u64(kr_work *work, const void *self, const kr_locate *job);
kr_rows hash_rows(const void *self);
uint64_t hash_hash_seed(const void *self);
uint32_t hash_components(const void *self, kr_component components[KR_COMPONENTS_MOST]);
uint32_t hash_counters(const void *self, kr_counter counters[KR_COUNTERS_MOST]);
int hash_validate_u32(kr_work *work, const void *self);
int hash_validate_u64(kr_work *work, const void *self);
void hash_update_u32(kr_work *work, void *self, const kr_update *job);
void hash_update_u64(kr_work *work, void *self, const kr_update *job);
void hash_image(kr_image *image, const kr_image_of *of, const hash_design *design, void **self);
extern const kr_program hash_find_slots_u32, hash_find_slots_u64, hash_find_links_u32, hash_find_links_u64;

/* ---- Inside of this folder ------------------------------------------------------------------- */

hash_view hash_view_of(const kr_hashed *table);
void hash_release(kr_device *device, kr_stream *stream, kr_hashed *table);
/* What a work makes is its scratch memory until it is kept, or given back. */
void hash_keep(kr_work *work, kr_hashed *table);
void hash_give(kr_work *work, kr_hashed *table);
/* Buckets for so many keys. */
uint64_t hash_heads(const hash_design *design, uint64_t n_keys);
/* Remembers how the table was made. 0: too many steps to most keys, as they collide: try another seed. */
int hash_is_made(kr_hashed *table);
/* After a failure to fit: the next seed. Fails when that did not help for long, which no keys should do. */
kr_status hash_reseed(kr_hashed *table, kr_error *err);
/* The keys to make room for: n, and more of them when several seeds did not help. */
uint64_t hash_room(const kr_hashed *table, uint64_t n);
typedef struct hash_source {
    const void *keys; /* mixed codes, in ascending order */
    uint32_t *rows;   /* which are overwritten */
    uint64_t n;
    uint64_t room_for; /* keys */
    uint64_t full;     /* 0, or: more keys than these get room for others, as a table that grows */
} hash_source;
/* Makes `table`, all of whose buffers are empty, of entries in the order of table->seed. 0: keys collide too
 * much, or a step failed: then nothing is left, and in the first case another seed should be tried. */
int hash_fill_u32(kr_work *work, const hash_source *source, kr_hashed *table);
int hash_fill_u64(kr_work *work, const hash_source *source, kr_hashed *table);

#endif
