/*
 * keyray's expressions for polars: a plugin of polars' interface 0.1 in plain C, so that lookups run on
 * polars' threads, with no Python in between. keyray/polars.py makes the expressions.
 *
 * The plugin links no library. Python hands over the functions of the one that it has loaded, and registers
 * each index under a number, which is what an expression carries. So an expression whose index is closed is
 * an error and no wild pointer, and a change of an index waits for lookups that polars' threads are in.
 */
#define _GNU_SOURCE
#include "arrow.h"
#include <keyray/lookups.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct functions {
    kr_status (*lookup)(kr_index *, const kr_column *, const kr_sink *, kr_stream *, kr_error *);
    kr_status (*nearest)(kr_index *, const kr_column *, const kr_nearest_options *, const kr_sink *,
                         kr_stream *, kr_error *);
    kr_status (*lookup_columns)(kr_index *, const kr_column_probes *, const kr_sink *, kr_stream *,
                                kr_error *);
} functions;

/* ---- Registered indexes ---------------------------------------------------------------------- */

typedef struct slot {
    pthread_rwlock_t lock; /* readers: lookups; a writer: a change or the end of the index */
    kr_index *index;       /* NULL: closed */
    functions call;
    uint64_t mark; /* which no other index has, also not one of another process with the same number */
    uint32_t n_columns;
    column_type columns[COLUMNS_MAX];
} slot;

/* Slots are never freed, so a number means the same for ever. They are found under `registry`. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static slot **slots;
static uint64_t n_slots;

static slot *find_slot(uint64_t number)
{
    pthread_mutex_lock(&registry);
    slot *found = number >= 1 && number <= n_slots ? slots[number - 1] : NULL;
    pthread_mutex_unlock(&registry);
    return found;
}

/* Registers an index. Returns its number, or 0: no memory, or more columns than there may be. */
EXPORT uint64_t keyray_plugin_register(kr_index *index, const functions *call, const column_type *columns,
                                       uint32_t n_columns, uint64_t mark)
{
    slot *made = n_columns >= 1 && n_columns <= COLUMNS_MAX ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return 0;
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&made->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    made->index = index;
    made->call = *call;
    made->mark = mark;
    made->n_columns = n_columns;
    memcpy(made->columns, columns, n_columns * sizeof *columns);
    pthread_mutex_lock(&registry);
    slot **grown = realloc(slots, (n_slots + 1) * sizeof *slots);
    uint64_t number = 0;
    if (grown) {
        slots = grown;
        slots[n_slots] = made;
        number = ++n_slots;
    }
    pthread_mutex_unlock(&registry);
    if (!grown)
        free(made);
    return number;
}

/* Waits until no lookup is in the index; none begins before keyray_plugin_unlock, which the same thread
 * calls. */
EXPORT void keyray_plugin_lock(uint64_t number)
{
    slot *one = find_slot(number);
    if (one)
        pthread_rwlock_wrlock(&one->lock);
}

/* `index` is what lookups use from now on; NULL: it is closed. */
EXPORT void keyray_plugin_unlock(uint64_t number, kr_index *index)
{
    slot *one = find_slot(number);
    if (!one)
        return;
    one->index = index;
    pthread_rwlock_unlock(&one->lock);
}

/* ---- What an expression carries ---------------------------------------------------------------- */

/* Polars hands over a pickled dictionary, in which the one text that counts stands as it is: "keyray:" and
 * numbers in hexadecimal digits: index, its mark, side, strict, limited, tolerance, the bits of the tolerance
 * of floats. */
typedef struct request {
    uint64_t number, mark;
    kr_nearest_options nearest;
} request;

static bool read_request(const uint8_t *kwargs, size_t nbytes, request *out)
{
    const char *text = memmem(kwargs, nbytes, "keyray:", 7);
    char copy[160] = {0};
    unsigned long long n[7] = {0};
    if (text) {
        size_t left = nbytes - (size_t)((const uint8_t *)text - kwargs);
        memcpy(copy, text, left < sizeof copy - 1 ? left : sizeof copy - 1);
    }
    if (sscanf(copy, "keyray:%llx:%llx:%llx:%llx:%llx:%llx:%llx;", n, n + 1, n + 2, n + 3, n + 4, n + 5,
               n + 6) != 7)
        return arrow_fail("keyray: the expression carries no index: make it with keyray.polars");
    *out = (request){.number = n[0],
                     .mark = n[1],
                     .nearest = {.struct_size = sizeof(kr_nearest_options),
                                 .side = (kr_nearest_side)n[2],
                                 .strict = (uint32_t)n[3],
                                 .limited = (uint32_t)n[4]}};
    int64_t tolerance = (int64_t)n[5];
    memcpy(&out->nearest.tolerance, &tolerance, 8);
    memcpy(&out->nearest.float_tolerance, &n[6], 8);
    return true;
}

/* ---- Results ----------------------------------------------------------------------------------- */

typedef enum what { ROWS, COUNTS, EXISTS, NEAREST } what;

static const struct {
    const char *format;
    kr_result result;
    uint32_t bits;
} kinds[] = {
    [ROWS] = {"I", KR_RESULT_ROW, 32},
    [COUNTS] = {"L", KR_RESULT_COUNT, 64},
    [EXISTS] = {"b", KR_RESULT_EXISTS, 1},
    [NEAREST] = {"I", KR_RESULT_ROW, 32},
};

static void release_schema(ArrowSchema *schema)
{
    free((char *)schema->name);
    schema->release = NULL;
}

static bool fill_schema(ArrowSchema *schema, what kind, const char *name)
{
    char *copy = strdup(name ? name : "");
    if (!copy)
        return arrow_fail("keyray: no memory for the name of a column");
    /* Polars takes a schema without private data for a call that failed. */
    *schema = (ArrowSchema){.format = kinds[kind].format, .name = copy, .flags = 2, .private_data = copy};
    schema->release = release_schema;
    return true;
}

static void release_array(ArrowArray *array)
{
    free((void *)array->buffers[0]);
    free((void *)array->buffers[1]);
    free(array->buffers);
    array->release = NULL;
}

/* An array of n answers with room for their validity; nothing is in them yet. */
static bool make_array(ArrowArray *array, what kind, uint64_t n)
{
    const void **buffers = calloc(2, sizeof *buffers);
    if (buffers)
        buffers[1] = malloc((n * kinds[kind].bits + 7) / 8 + 8);
    if (buffers && kinds[kind].result == KR_RESULT_ROW)
        buffers[0] = malloc(n / 8 + 8);
    if (!buffers || !buffers[1] || (kinds[kind].result == KR_RESULT_ROW && !buffers[0])) {
        if (buffers)
            free((void *)buffers[1]);
        free(buffers);
        return arrow_fail("keyray: no memory for %llu answers: use smaller batches", (unsigned long long)n);
    }
    *array = (ArrowArray){.length = (int64_t)n, .n_buffers = 2, .buffers = buffers, .release = release_array};
    return true;
}

/* Rows that are KR_NO_ROW become NULL. */
static void mark_nulls(ArrowArray *array)
{
    const uint32_t *rows = array->buffers[1];
    uint8_t *valid = (uint8_t *)array->buffers[0];
    uint64_t n = (uint64_t)array->length, nulls = 0;
    for (uint64_t i = 0; i < n; i += 8) {
        uint64_t end = n - i < 8 ? n - i : 8;
        unsigned byte = 0;
        for (uint64_t k = 0; k < end; ++k)
            byte |= (unsigned)(rows[i + k] != KR_NO_ROW) << k;
        valid[i / 8] = (uint8_t)byte;
        nulls += end - (uint64_t)__builtin_popcount(byte);
    }
    array->null_count = (int64_t)nulls;
}

/* Frees structs and the schema. Polars has moved the arrays out of theirs; `arrays_too` if it never will. */
static void free_series(SeriesExport *series, bool arrays_too)
{
    for (size_t i = 0; i < series->len; ++i) {
        if (arrays_too && series->arrays[i] && series->arrays[i]->release)
            series->arrays[i]->release(series->arrays[i]);
        free(series->arrays[i]);
    }
    if (series->field && series->field->release)
        series->field->release(series->field);
    free(series->field);
    free(series->arrays);
    *series = (SeriesExport){0};
}

static void release_series(SeriesExport *series)
{
    free_series(series, false);
}

static bool begin_series(SeriesExport *series, what kind, const SeriesExport *in)
{
    *series = (SeriesExport){0};
    series->field = calloc(1, sizeof *series->field);
    series->arrays = calloc(in->len + 1, sizeof *series->arrays);
    if (!series->field || !series->arrays)
        return arrow_fail("keyray: no memory for a column of answers");
    return fill_schema(series->field, kind, in->field->name);
}

/* ---- Lookups ----------------------------------------------------------------------------------- */

/* The columns of one chunk: the chunk, or the fields of a struct. */
static bool bind_columns(const slot *one, const ArrowSchema *field, const ArrowArray *chunk, bool exact,
                         scratch *s, kr_column *columns)
{
    uint64_t n = (uint64_t)chunk->length;
    if (strcmp(field->format, "+s") != 0) {
        if (one->n_columns != 1)
            return arrow_fail("keyray: the index has %u columns: give a list of as many expressions",
                              one->n_columns);
        return arrow_column(field, chunk, chunk->offset, n, one->columns, exact, s, columns);
    }
    if (field->n_children != (int64_t)one->n_columns)
        return arrow_fail("keyray: %lld columns are asked for, the index has %u",
                          (long long)field->n_children, one->n_columns);
    for (uint32_t i = 0; i < one->n_columns; ++i) {
        const ArrowArray *child = chunk->children[i];
        bool last = i + 1 == one->n_columns;
        if (!arrow_column(field->children[i], child, child->offset + chunk->offset, n, one->columns + i,
                          exact && last, s, columns + i))
            return false;
    }
    return arrow_within(chunk, n, s, columns);
}

static bool answer_chunk(const slot *one, const request *ask, what kind, const ArrowSchema *field,
                         const ArrowArray *chunk, ArrowArray *out)
{
    kr_column columns[COLUMNS_MAX];
    scratch s = {.n = 0};
    kr_error err = {0};
    kr_sink sink = {.struct_size = sizeof sink, .result = kinds[kind].result};
    const kr_nearest_options *nearest = kind == NEAREST ? &ask->nearest : NULL;
    if (!bind_columns(one, field, chunk, kind == NEAREST, &s, columns) ||
        !make_array(out, kind, (uint64_t)chunk->length)) {
        scratch_free(&s);
        return false;
    }
    sink.out = (void *)out->buffers[1];
    kr_status status;
    if (one->n_columns > 1) {
        kr_column_probes probes = {.struct_size = sizeof probes, .columns = columns, .nearest = nearest};
        probes.n_columns = one->n_columns;
        status = one->call.lookup_columns(one->index, &probes, &sink, NULL, &err);
    } else if (nearest) {
        status = one->call.nearest(one->index, columns, nearest, &sink, NULL, &err);
    } else {
        status = one->call.lookup(one->index, columns, &sink, NULL, &err);
    }
    scratch_free(&s);
    if (status != KR_OK)
        return arrow_fail("keyray: %s", err.text);
    if (kinds[kind].result == KR_RESULT_ROW)
        mark_nulls(out);
    return true;
}

static bool answer(const request *ask, what kind, const SeriesExport *in, SeriesExport *out)
{
    slot *one = find_slot(ask->number);
    if (!one || one->mark != ask->mark)
        return arrow_fail("keyray: the expression names an index of another process: make it anew here");
    if (!begin_series(out, kind, in))
        return false;
    pthread_rwlock_rdlock(&one->lock);
    bool fine = one->index != NULL;
    if (!fine)
        arrow_fail("keyray: the index of this expression is closed: keep the Index until the query has run");
    for (size_t i = 0; i < in->len && fine; ++i) {
        ArrowArray *made = calloc(1, sizeof *made);
        fine = made ? answer_chunk(one, ask, kind, in->field, in->arrays[i], made)
                    : arrow_fail("keyray: no memory for a column of answers");
        if (made)
            out->arrays[out->len++] = made;
    }
    pthread_rwlock_unlock(&one->lock);
    return fine;
}

/* Inputs are the callee's: arrays first, then the structs that hold them. */
static void release_inputs(SeriesExport *in, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < in[i].len; ++k)
            if (in[i].arrays[k]->release)
                in[i].arrays[k]->release(in[i].arrays[k]);
        if (in[i].release)
            in[i].release(in + i);
    }
}

static void call(what kind, SeriesExport *in, size_t n, const uint8_t *kwargs, size_t nbytes,
                 SeriesExport *out)
{
    request ask;
    SeriesExport made = {0};
    bool fine = n == 1 ? read_request(kwargs, nbytes, &ask)
                       : arrow_fail("keyray: one column of probes is expected, %zu came", n);
    fine = fine && answer(&ask, kind, in, &made);
    if (fine) {
        made.release = release_series;
        made.private_data = made.field; /* any pointer: a result without one is an error */
        *out = made;
    } else {
        free_series(&made, true);
    }
    release_inputs(in, n);
}

/* ---- What polars calls ------------------------------------------------------------------------- */

/* Major in the upper half. A polars with another major refuses the plugin. */
EXPORT uint32_t _polars_plugin_get_version(void)
{
    return 1;
}
EXPORT const char *_polars_plugin_get_last_error_message(void)
{
    return arrow_error();
}

#define EXPRESSION(symbol, kind)                                                                          \
    EXPORT void _polars_plugin_##symbol(SeriesExport *in, size_t n, const uint8_t *kwargs, size_t nbytes, \
                                        SeriesExport *out, const void *context)                           \
    {                                                                                                     \
        (void)context;                                                                                    \
        call(kind, in, n, kwargs, nbytes, out);                                                           \
    }                                                                                                     \
    EXPORT void _polars_plugin_field_##symbol(const ArrowSchema *fields, size_t n, ArrowSchema *out,      \
                                              const uint8_t *kwargs, size_t nbytes)                       \
    {                                                                                                     \
        (void)kwargs;                                                                                     \
        (void)nbytes;                                                                                     \
        fill_schema(out, kind, n ? fields[0].name : "");                                                  \
    }

EXPRESSION(row, ROWS)
EXPRESSION(count, COUNTS)
EXPRESSION(exists, EXISTS)
EXPRESSION(nearest, NEAREST)
