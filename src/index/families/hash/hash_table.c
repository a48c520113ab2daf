/* What does not depend on the width of the keys. */
#include "index/families/hash/hash_table.h"
#include "index/families/hash/hash_walk.h"
#include "index/sorted/sorted.h"

#include <stdlib.h>

hash_view hash_view_of(const kr_hashed *table)
{
    return (hash_view){
        .heads = table->heads.data,
        .more = table->more.data,
        .spans = table->spans.data,
        .aside = table->aside.data,
        .seed = table->seed,
        .n_heads = table->n_heads,
        .slots = table->design.slots,
        .linked = table->design.linked,
        .twice = table->design.twice,
        .plain = table->design.plain,
    };
}

void hash_release(kr_device *device, kr_stream *stream, kr_hashed *table)
{
    kr_buffer_release(device, &table->aside, stream);
    kr_buffer_release(device, &table->spans, stream);
    kr_buffer_release(device, &table->more, stream);
    kr_buffer_release(device, &table->heads, stream);
}

void hash_keep(kr_work *w, kr_hashed *table)
{
    table->heads = kr_work_keep(w, table->heads.data);
    table->more = kr_work_keep(w, table->more.data);
    table->spans = kr_work_keep(w, table->spans.data);
    table->aside = kr_work_keep(w, table->aside.data);
}

void hash_give(kr_work *w, kr_hashed *table)
{
    kr_work_give(w, table->aside.data);
    kr_work_give(w, table->spans.data);
    kr_work_give(w, table->more.data);
    kr_work_give(w, table->heads.data);
    table->heads = table->more = table->spans = table->aside = (kr_buffer){0};
}

void hash_destroy(kr_device *device, void *self, kr_stream *stream)
{
    hash_release(device, stream, self);
    free(self);
}

static int is_prime(uint64_t n)
{
    for (uint64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return 0;
    return n % 2 != 0 || n == 2;
}

/* Double hashing reaches every bucket if their number is prime. */
uint64_t hash_heads(const hash_design *design, uint64_t n_keys)
{
    const uint64_t places = (uint64_t)design->slots * design->load;
    uint64_t heads = (n_keys * 1000 + places - 1) / places;
    while (design->twice && heads > 2 && !is_prime(heads))
        ++heads;
    return heads ? heads : n_keys != 0;
}

/* Even tables with chains of two nodes, or nearly full buckets, take only half a step for each key. */
int hash_is_made(kr_hashed *table)
{
    table->made_keys = table->n_keys;
    table->made_steps = table->n_steps;
    table->made_more = table->n_more;
    return table->n_steps <= table->n_keys + 1000;
}

/* Chance needs one seed, keys made to collide need a second. Only then is the table made larger, too. */
enum { SEEDS = 4, SEEDS_MOST = 64 };

kr_status hash_reseed(kr_hashed *table, kr_error *err)
{
    table->seed = (table->seed + UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93);
    table->seed ^= table->seed >> 32;
    ++table->reseeds;
    if (++table->tries < SEEDS_MOST)
        return KR_OK;
    return kr_fail(err, KR_ERR_LIMIT, "the keys collide under %u seeds of the hash; use kind array",
                   table->tries);
}

uint64_t hash_room(const kr_hashed *table, uint64_t n)
{
    uint64_t room = 0;
    for (uint32_t i = SEEDS; i <= table->tries; ++i)
        room = room ? room + room / 4 : n;
    return room;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* At least n / places + 1, before rounding: then what lies between two numbers of keys is below the larger of
 * the estimates for these. Primes below 2^32 are at most 336 apart. */
static uint64_t heads_most(const hash_design *design, uint64_t keys)
{
    return keys * 1000 / ((uint64_t)design->slots * design->load) + 2 + (design->twice ? 336 : 0);
}

/* Bytes of a table of so many keys, each with so many rows, at most. */
static uint64_t hash_nbytes(const kr_shape *shape, const hash_design *design, uint64_t keys, uint64_t rows)
{
    const uint64_t node = hash_node_nbytes(kr_type_key_bits(shape->type) / 8, design->slots, design->linked);
    const uint64_t more = design->linked ? keys / design->slots + 1 : 0; /* every bucket may end with one */
    return (heads_most(design, keys) + more) * node +
           (rows > 1 ? keys * sizeof(kr_match) + keys * rows * sizeof(uint32_t) : 0);
}

enum { COUNTERS_NBYTES = 4096 };

/* A table is largest where all keys are distinct, or where each has two rows. */
kr_status hash_estimate(const kr_shape *shape, const hash_design *design, kr_need *need)
{
    const uint32_t bits = kr_type_key_bits(shape->type);
    const uint64_t n = shape->count, tiles = n / 32768 + 2;
    const uint64_t kept = larger(hash_nbytes(shape, design, n, 1), hash_nbytes(shape, design, n / 2 + 1, 2));
    kr_shape hashed = *shape; /* all bits are sorted, and what is sorted is not a column */
    hashed.type = bits == 64 ? KR_U64 : KR_U32;
    kr_sorted_estimate(&hashed, need);
    const uint64_t codes = shape->has_validity || shape->has_row_ids ? 0 : n * (bits / 8);
    const uint64_t fill = need->footprint_nbytes + kept + heads_most(design, n) * sizeof(uint32_t) +
                          3 * tiles * sizeof(uint64_t) + COUNTERS_NBYTES +
                          kr_device_scan_temp(shape->device, tiles);
    const uint64_t insert = design->insert ? kept + COUNTERS_NBYTES : 0;
    *need = (kr_need){kept, larger(need->peak_nbytes + codes + insert, fill)};
    return KR_OK;
}

kr_rows hash_rows(const void *self)
{
    const kr_hashed *table = self;
    const uint32_t slots = table->design.slots, linked = table->design.linked, wide = table->key_bits == 64;
    const hash_walk_view view = {
        .heads = table->heads.data,
        .more = table->more.data,
        .aside = table->aside.data,
        .n_table = (table->n_heads + table->n_more) * slots,
        .n_heads = table->n_heads,
        .slots = slots,
        .node_nbytes = hash_node_nbytes(table->key_bits / 8, slots, linked),
        .meta = wide ? 12 * slots : 0,
        .words = wide ? 8 * slots : 4 + 4 * slots,
        .several = linked ? 16 : 7,
    };
    return (kr_rows){
        .walk = &hash_walk,
        .view = kr_match_view_of(&view, sizeof view),
        .n_rows = table->n_rows,
        .n_slots = view.n_table + table->n_aside,
    };
}

/* Counts that validate compares with what there is; how the table was made decides only when it is made anew.
 */
static void image_numbers(kr_image *image, kr_hashed *table)
{
    const uint32_t linked = table->design.linked;
    kr_image_u64(image, "seed", &table->seed, 0, UINT64_MAX);
    kr_image_u32(image, "buckets", &table->n_heads, 0, UINT32_MAX - 1);
    kr_image_u64(image, "nodes", &table->n_more, 0, linked ? UINT32_MAX - 1 - table->n_heads : 0);
    kr_image_u64(image, "n", &table->n_rows, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "keys", &table->n_keys, 0, table->n_rows);
    kr_image_u64(image, "places aside", &table->n_aside, 0, UINT32_MAX - 1);
    kr_image_u64(image, "rows aside", &table->n_several, 0, table->n_aside);
    kr_image_u64(image, "spans", &table->n_spans, 0, table->n_aside / 2);
    kr_image_u64(image, "steps", &table->n_steps, 0, UINT64_MAX);
    kr_image_u64(image, "new keys", &table->n_new, 0, UINT64_MAX);
    kr_image_u64(image, "gone keys", &table->n_gone, 0, UINT64_MAX);
    kr_image_u64(image, "keys when made", &table->made_keys, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "steps when made", &table->made_steps, 0, UINT64_MAX);
    kr_image_u64(image, "nodes when made", &table->made_more, 0, table->n_more);
    kr_image_u32(image, "seeds given up", &table->reseeds, 0, UINT32_MAX);
    kr_image_u32(image, "made by inserting", &table->is_inserted, 0, table->design.insert);
}

void hash_image(kr_image *image, const kr_image_of *of, const hash_design *design, void **self)
{
    kr_hashed *table = kr_image_object(image, self, sizeof *table);
    if (!table)
        return;
    if (kr_image_loads(image)) {
        table->design = *design;
        table->key_bits = kr_type_key_bits(of->type);
    }
    image_numbers(image, table);
    const uint64_t node = hash_node_nbytes(table->key_bits / 8, design->slots, design->linked);
    kr_image_buffer(image, "heads", &table->heads, table->n_heads * node);
    kr_image_buffer_used(image, "more", &table->more, table->n_more * node);
    kr_image_buffer_used(image, "spans", &table->spans, table->n_spans * sizeof(kr_match));
    kr_image_buffer_used(image, "aside", &table->aside, table->n_aside * sizeof(uint32_t));
}

uint64_t hash_hash_seed(const void *self)
{
    return ((const kr_hashed *)self)->seed;
}

uint32_t hash_components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const kr_hashed *table = self;
    uint32_t n = 0;
    components[n++] = (kr_component){"buckets", table->heads.nbytes};
    if (table->design.linked)
        components[n++] = (kr_component){"nodes", table->more.nbytes};
    components[n++] = (kr_component){"rows aside", table->spans.nbytes + table->aside.nbytes};
    return n;
}

uint32_t hash_counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const kr_hashed *table = self;
    uint32_t n = 0;
    counters[n++] = (kr_counter){"buckets", table->n_heads};
    if (table->design.linked)
        counters[n++] = (kr_counter){"nodes behind buckets", table->n_more};
    counters[n++] = (kr_counter){"slots of a node", table->design.slots};
    counters[n++] = (kr_counter){"keys", table->n_keys};
    counters[n++] = (kr_counter){"nodes read to find all keys", table->n_keys + table->n_steps};
    counters[n++] = (kr_counter){"rows aside", table->n_several};
    counters[n++] = (kr_counter){"seeds given up", table->reseeds};
    if (table->design.insert)
        counters[n++] = (kr_counter){"built by inserting", table->is_inserted};
    return n;
}
