/* The tables of a batch: for each column its edges as a search tree, and what all lanes say of each slot. */
#include "base/key/key.h"
#include "table/families/full/full_batch.h"

#include <stdlib.h>
#include <string.h>

enum { COMPARED_SLOTS = 4 }; /* less, equal, greater, NULL */

/* A column under way. */
typedef struct making {
    const full_batch *batch;
    uint32_t column;
    uint64_t *edges; /* each is the last code of a slot */
    uint32_t n_edges;
    uint32_t key_nbytes, halves;
} making;

/* ---- Edges ----------------------------------------------------------------------------------- */

static int by_code(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The edges of a leaf, ascending: its intervals begin behind the first, third, ... unless code 0 is in it. */
static uint64_t edges_of(const making *m, const kr_leaf *leaf, uint64_t *edges)
{
    const full_codes codes = full_codes_in(m->batch->table, leaf);
    uint64_t n = 0;
    for (uint64_t i = 0; i < codes.n; ++i) {
        const kr_interval at = full_codes_at(&codes, i);
        if (at.low)
            edges[n++] = at.low - 1;
        if (at.high < codes.most)
            edges[n++] = at.high;
    }
    return n;
}

static kr_status find_edges(making *m, kr_error *err)
{
    const full_batch *batch = m->batch;
    uint64_t n = 0, distinct = 0;
    m->edges =
        kr_host_calloc(batch->sources[m->column].n_edges, sizeof *m->edges, "a batch of conditions", err);
    if (!m->edges)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t l = 0; l < batch->n_leaves; ++l)
        if (batch->leaves[l].column == m->column)
            n += edges_of(m, batch->leaves[l].leaf, m->edges + n);
    qsort(m->edges, n, sizeof *m->edges, by_code);
    for (uint64_t i = 0; i < n; ++i)
        if (!i || m->edges[i] != m->edges[i - 1])
            m->edges[distinct++] = m->edges[i];
    m->n_edges = (uint32_t)distinct;
    return KR_OK;
}

static uint32_t slot_behind(const making *m, uint64_t edge)
{
    uint32_t low = 0, high = m->n_edges;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->edges[middle] <= edge)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void write_nodes(const making *m, uint32_t levels, void *nodes)
{
    memset(nodes, 0xFF, (size_t)m->key_nbytes << levels);
    for (uint32_t s = 0; s < m->n_edges; ++s) {
        const uint32_t node = full_node_of(levels, s);
        if (m->key_nbytes == 8)
            ((uint64_t *)nodes)[node] = m->edges[s];
        else
            ((uint32_t *)nodes)[node] = (uint32_t)m->edges[s];
    }
}

/* A leaf that compares columns. */
static void write_compared(const full_lane_leaf *at, uint32_t *masks)
{
    static const uint32_t holds[] = {[KR_LESS] = 1,          [KR_LESS_EQUAL] = 3, [KR_GREATER] = 4,
                                     [KR_GREATER_EQUAL] = 6, [KR_EQUAL] = 2,      [KR_NOT_EQUAL] = 5};
    const uint32_t slots = holds[at->leaf->compare] ^ (at->is_or ? (1u << COMPARED_SLOTS) - 1 : 0);
    for (uint32_t s = 0; s < COMPARED_SLOTS; ++s)
        if (!(slots >> s & 1))
            masks[s] &= ~((uint32_t)1 << at->lane % 32);
}

/* A leaf is in the first slot or not, and changes at its edges: first only changes are written. */
static void write_changes(const making *m, const full_lane_leaf *at, uint64_t *room, uint32_t *masks)
{
    const kr_leaf *leaf = at->leaf;
    const full_codes codes = full_codes_in(m->batch->table, leaf);
    const uint32_t bit = (uint32_t)1 << at->lane % 32, n = m->n_edges;
    const uint64_t n_edges = edges_of(m, leaf, room);
    const uint32_t first = (codes.n && full_codes_at(&codes, 0).low == 0) ^ at->is_or;
    masks[0] = first ? masks[0] : masks[0] & ~bit;
    for (uint64_t e = 0; e < n_edges; ++e)
        masks[slot_behind(m, room[e])] ^= bit;
    masks[n + 1] = (leaf->nulls ^ at->is_or) ? masks[n + 1] : masks[n + 1] & ~bit;
}

/* Lanes without a leaf on the column hold everywhere. */
static void write_masks(const making *m, uint32_t half, uint32_t n_slots, uint64_t *room, uint32_t *masks)
{
    const full_batch *batch = m->batch;
    const uint32_t lanes = batch->n_lanes - 32 * half,
                   is_compared = batch->sources[m->column].other != KR_NO_COLUMN;
    const uint32_t all = lanes < 32 ? ((uint32_t)1 << lanes) - 1 : 0xFFFFFFFFu;
    for (uint32_t s = 0; s < n_slots; ++s)
        masks[s] = is_compared || s == 0 || s == n_slots - 1 ? all : 0;
    for (uint64_t l = 0; l < batch->n_leaves; ++l) {
        const full_lane_leaf *at = batch->leaves + l;
        if (at->column != m->column || at->lane / 32 != half)
            continue;
        if (is_compared)
            write_compared(at, masks);
        else
            write_changes(m, at, room, masks);
    }
    for (uint32_t s = 1; !is_compared && s + 1 < n_slots; ++s)
        masks[s] ^= masks[s - 1];
}

/* ---- Buckets --------------------------------------------------------------------------------- */

/* More levels than this take longer than to look a bucket up. Buckets take BUCKETS_NBYTES at most, so that
 * tables of several columns stay in fast memory; of the sampled values at most one in CROWDED_SHARE may fall
 * into a crowded one. */
enum { LEVELS_FEW = 3, BUCKETS_FOR_EDGE = 16, BUCKETS_NBYTES = 16384, CROWDED_SHARE = 64 };

static uint32_t bucket_of(const full_batch_column *column, uint64_t code)
{
    return full_bucket_of_u64(column->lowest, column->shift, column->n_buckets, code);
}

static uint64_t *bucket_at(const making *m, uint64_t *buckets, uint32_t i)
{
    return buckets + (m->key_nbytes == 8 ? 2 * i : i);
}

static void put_bucket(const making *m, uint64_t *to, uint64_t edge, uint32_t slot)
{
    to[0] = m->key_nbytes == 8 ? edge : (uint64_t)slot << 32 | (uint32_t)edge;
    if (m->key_nbytes == 8)
        to[1] = slot;
}

static void write_buckets(const making *m, const full_batch_column *column, uint64_t *buckets)
{
    uint32_t e = 0;
    for (uint32_t i = 0; i < column->n_buckets; ++i) {
        const uint32_t first = e;
        while (e < m->n_edges && bucket_of(column, m->edges[e]) == i)
            ++e;
        if (e - first > 1)
            put_bucket(m, bucket_at(m, buckets, i), UINT64_MAX, FULL_CROWDED);
        else
            put_bucket(m, bucket_at(m, buckets, i), e > first ? m->edges[first] : UINT64_MAX, first);
    }
}

static int is_crowded(const making *m, const full_batch_column *column, uint64_t code)
{
    const uint32_t slot = slot_behind(m, code), bucket = bucket_of(column, code);
    uint32_t n = 0;
    for (uint32_t e = slot; e < m->n_edges && n < 2 && bucket_of(column, m->edges[e]) == bucket; ++e)
        ++n;
    for (uint32_t e = slot; e-- > 0 && n < 2 && bucket_of(column, m->edges[e]) == bucket;)
        ++n;
    return n > 1;
}

/* Decides whether the column gets buckets, and how many. */
static void plan_buckets(const making *m, full_batch_column *column)
{
    const full_table *table = m->batch->table;
    const uint64_t *sample = full_sample_of(table, m->batch->sources[m->column].column);
    const uint32_t most = BUCKETS_NBYTES / (2 * m->key_nbytes);
    uint32_t n = 1, crowded = 0;
    if (column->levels <= LEVELS_FEW)
        return;
    while (n < BUCKETS_FOR_EDGE * m->n_edges && n < most)
        n *= 2;
    const uint64_t range = m->edges[m->n_edges - 1] - m->edges[0];
    column->lowest = m->edges[0];
    while (range >> column->shift >= n)
        ++column->shift;
    column->n_buckets = (uint32_t)(range >> column->shift) + 1;
    for (uint32_t i = 0; i < table->n_samples; ++i)
        crowded += (uint32_t)is_crowded(m, column, sample[i]);
    if (crowded * CROWDED_SHARE > table->n_samples)
        column->n_buckets = 0;
}

/* ---- A column -------------------------------------------------------------------------------- */

/* Where the column's tables are; all begin at multiples of 8 bytes. */
static void lay_out(const making *m, full_batch_column *column, uint64_t begin)
{
    const uint64_t nodes = (uint64_t)m->key_nbytes << column->levels;
    column->tables = begin;
    column->buckets = begin + (nodes + (uint64_t)m->halves * column->n_slots * sizeof(uint32_t) + 7) / 8 * 8;
    column->end = column->buckets + (uint64_t)column->n_buckets * 2 * m->key_nbytes;
}

static void write_tables(const making *m, const full_batch_column *column, uint64_t *room, char *tables)
{
    write_nodes(m, column->levels, tables + column->tables);
    uint32_t *masks = (uint32_t *)(tables + column->tables + ((size_t)m->key_nbytes << column->levels));
    for (uint32_t h = 0; h < m->halves; ++h)
        write_masks(m, h, column->n_slots, room, masks + h * column->n_slots);
    write_buckets(m, column, (uint64_t *)(tables + column->buckets));
}

/* Grows the tables by those of a column. */
static kr_status add_column(making *m, full_batch_column *column, char **tables, uint64_t *nbytes,
                            kr_error *err)
{
    const int is_compared = m->batch->sources[m->column].other != KR_NO_COLUMN;
    kr_status status = find_edges(m, err);
    column->n_slots = is_compared ? COMPARED_SLOTS : m->n_edges + 2;
    while (((uint32_t)1 << column->levels) - 1 < m->n_edges)
        ++column->levels;
    if (status == KR_OK)
        plan_buckets(m, column);
    lay_out(m, column, *nbytes);
    char *grown = status == KR_OK ? kr_host_calloc(column->end, 1, "a batch of conditions", err) : NULL;
    uint64_t *room = kr_host_calloc(m->n_edges + 1, sizeof *room, "a batch of conditions", err);
    if (grown && room) {
        memcpy(grown, *tables, *nbytes);
        free(*tables);
        *tables = grown;
        *nbytes = column->end;
        write_tables(m, column, room, grown);
    } else {
        free(grown);
        status = KR_ERR_HOST_MEMORY;
    }
    free(room);
    free(m->edges);
    return status;
}

/* Results and folds. */
static char *make_head(const full_batch *batch, full_batch_params *params, uint64_t *nbytes, kr_error *err)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < FULL_BATCH_TEAMS; ++t)
        n += batch->n_folds[t];
    *nbytes = sizeof batch->results + (n * sizeof(uint32_t) + 7) / 8 * 8;
    char *head = kr_host_calloc(*nbytes, 1, "a batch of conditions", err);
    if (!head)
        return NULL;
    memcpy(head, batch->results, sizeof batch->results);
    uint32_t *folds = (uint32_t *)(head + sizeof batch->results);
    for (uint32_t t = 0; t < FULL_BATCH_TEAMS; ++t) {
        memcpy(folds + params->folds[t], batch->folds[t], batch->n_folds[t] * sizeof *folds);
        params->folds[t + 1] = params->folds[t] + batch->n_folds[t];
    }
    return head;
}

static full_batch_column column_of(const full_batch *batch, uint32_t c)
{
    const full_table *table = batch->table;
    const full_batch_source *from = batch->sources + c;
    const kr_column *column = (from->other == KR_NO_COLUMN ? table->reads : table->columns) + from->column;
    const full_zones *zones = table->zones ? table->zones + from->column : NULL;
    full_batch_column made = {.data = column->data,
                              .validity = column->validity,
                              .validity_offset = (uint32_t)column->validity_offset,
                              .type = column->type,
                              .load = full_load_of(column, batch->is_wide)};
    if (from->other != KR_NO_COLUMN) {
        const kr_column *other = table->columns + from->other;
        made.other = other->data;
        made.other_validity = other->validity;
        made.other_offset = (uint32_t)other->validity_offset;
        made.load = full_load_of(other, batch->is_wide) ? made.load : FULL_LOAD_ONE_BY_ONE;
    } else if (zones && zones->are_used) {
        made.zones = zones->buffer.data;
        made.zone_highs = (const char *)zones->buffer.data + zones->buffer.nbytes / 2;
    }
    for (uint64_t l = 0; l < batch->n_leaves; ++l)
        if (batch->leaves[l].column == c)
            made.uses[batch->leaves[l].lane / 32] |= (uint32_t)1 << batch->leaves[l].lane % 32;
    return made;
}

kr_status full_tables_make(full_batch *batch, full_batch_params *params, char **tables, uint64_t *nbytes,
                           kr_error *err)
{
    kr_status status = KR_OK;
    *tables = make_head(batch, params, nbytes, err);
    if (!*tables)
        return KR_ERR_HOST_MEMORY;
    batch->n_edges = 0;
    for (uint32_t c = 0; c < batch->n_columns && status == KR_OK; ++c) {
        making m = {.batch = batch,
                    .column = c,
                    .key_nbytes = batch->is_wide ? 8 : 4,
                    .halves = batch->n_lanes > 32 ? 2 : 1};
        params->columns[c] = column_of(batch, c);
        status = add_column(&m, params->columns + c, tables, nbytes, err);
        batch->n_edges += m.n_edges;
    }
    return status;
}
