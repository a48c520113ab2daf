/* Columns of texts for tests, of each type, whose arrays all lie in host memory or all in device memory. */
#ifndef KEYRAY_TESTS_TEXTS_H
#define KEYRAY_TESTS_TEXTS_H

#include "check.h"
#include "random.h"

enum { MOST = 4096, ROOM = 1 << 22, BUFFERS = 3 };

/* Texts one behind the other, and what a column of each type is made of. */
typedef struct text_set {
    uint32_t n;
    uint64_t offsets[MOST + 1];
    uint32_t nulls;       /* every so many rows one is NULL; 0: none */
    uint32_t nulls_below; /* of rows below it; 0: of all */
    uint8_t bytes[ROOM];
} text_set;

static inline void add(text_set *s, const void *bytes, uint64_t n)
{
    if (s->n >= MOST || s->offsets[s->n] + n > ROOM)
        abort(); /* the test asks for more than it has room for */
    memcpy(s->bytes + s->offsets[s->n], bytes, n);
    s->offsets[s->n + 1] = s->offsets[s->n] + n;
    ++s->n;
}

static inline void clear(text_set *s)
{
    s->n = s->nulls = s->nulls_below = 0;
}

static inline int is_null(const text_set *s, uint32_t i)
{
    return s->nulls && (!s->nulls_below || i < s->nulls_below) && i % s->nulls == 0;
}

static inline const uint8_t *text_of(const text_set *s, uint32_t i, uint64_t *n)
{
    *n = s->offsets[i + 1] - s->offsets[i];
    return s->bytes + s->offsets[i];
}

static inline int compare_texts(const uint8_t *a, uint64_t n, const uint8_t *b, uint64_t m)
{
    const int order = memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

/* An array in host memory, or in memory of the device. */
typedef struct array {
    kr_device *device; /* NULL: host memory */
    void *data;
    uint64_t nbytes;
} array;

static inline array make_array(kr_device *device, const void *host, uint64_t nbytes)
{
    array made = {.device = device, .nbytes = nbytes + 16};
    if (!device) {
        made.data = malloc(nbytes ? nbytes : 1); /* so that a sanitizer sees what lies behind it */
        if (!made.data)
            abort();
        if (host && nbytes)
            memcpy(made.data, host, nbytes);
        return made;
    }
    WORKS(kr_memory_allocate(device, made.nbytes, NULL, &made.data, &err));
    if (host && nbytes)
        WORKS(kr_memory_copy(device, made.data, host, nbytes, NULL, &err));
    return made;
}

static inline void read_array(const array *a, void *host, uint64_t nbytes)
{
    if (a->device)
        WORKS(kr_memory_copy(a->device, host, a->data, nbytes, NULL, &err));
    else
        memcpy(host, a->data, nbytes);
}

static inline void free_array(array *a)
{
    if (a->device)
        kr_memory_release(a->device, a->data, a->nbytes, NULL);
    else
        free(a->data);
    *a = (array){0};
}

/* ---- Columns ------------------------------------------------------------------------------------ */

/* A column with memory of its own. Rows before it belong to the array that it is a slice of. */
typedef struct made {
    kr_column column;
    array data, bytes[BUFFERS], validity;
    kr_text_buffer buffers[BUFFERS];
} made;

enum { BEFORE = 5 };

static inline void make_offsets(const text_set *s, made *m, uint32_t wide, kr_device *device)
{
    const uint64_t nbytes = s->offsets[s->n] + BEFORE, n = s->n + BEFORE + 1;
    int32_t *near = malloc(n * sizeof *near);
    int64_t *far = malloc(n * sizeof *far);
    char *bytes = malloc(nbytes);
    memset(bytes, 'x', BEFORE);
    memcpy(bytes + BEFORE, s->bytes, s->offsets[s->n]);
    for (uint32_t i = 0; i < n; ++i) {
        far[i] = i < BEFORE ? i : (int64_t)(s->offsets[i - BEFORE] + BEFORE);
        near[i] = (int32_t)far[i];
    }
    m->bytes[0] = make_array(device, bytes, nbytes);
    m->data = make_array(device, wide ? (void *)far : near, n * (wide ? 8 : 4));
    m->column.data = (char *)m->data.data + BEFORE * (wide ? 8 : 4);
    m->column.reserved_words[0] = (uintptr_t)m->bytes[0].data;
    m->column.reserved_words[1] = nbytes;
    free(bytes);
    free(far);
    free(near);
}

static inline void make_views(const text_set *s, made *m, kr_device *device)
{
    int32_t *views = malloc(((uint64_t)s->n + 1) * 16);
    char *bytes[BUFFERS];
    for (uint32_t b = 0; b < BUFFERS; ++b)
        bytes[b] = malloc(s->offsets[s->n] + 1);
    for (uint32_t i = 0; i < s->n; ++i) {
        uint64_t n;
        const uint8_t *text = text_of(s, i, &n);
        int32_t *view = views + 4 * (uint64_t)i;
        kr_text_buffer *buffer = m->buffers + i % BUFFERS;
        memset(view, 0, 16);
        view[0] = (int32_t)n;
        memcpy(view + 1, text, n <= 12 ? n : 4);
        if (is_null(s, i))
            memset(view, 0xEE, 16); /* which nobody reads */
        else if (n > 12) {
            view[2] = (int32_t)(i % BUFFERS);
            view[3] = (int32_t)buffer->nbytes;
            memcpy(bytes[i % BUFFERS] + buffer->nbytes, text, n);
            buffer->nbytes += n;
        }
    }
    for (uint32_t b = 0; b < BUFFERS; ++b) {
        m->bytes[b] = make_array(device, bytes[b], m->buffers[b].nbytes);
        m->buffers[b].data = m->bytes[b].data;
        free(bytes[b]);
    }
    m->data = make_array(device, views, (uint64_t)s->n * 16);
    m->column.data = m->data.data;
    m->column.reserved_words[0] = (uintptr_t)m->buffers;
    m->column.reserved_words[1] = BUFFERS;
    free(views);
}

/* `device`: its memory holds all arrays; NULL: host memory. The column points into *m. */
static inline void make_column(const text_set *s, kr_type type, kr_device *device, made *m)
{
    memset(m, 0, sizeof *m);
    m->column = (kr_column){.type = type, .count = s->n};
    if (type == KR_STRING_VIEW || type == KR_BINARY_VIEW)
        make_views(s, m, device);
    else
        make_offsets(s, m, type == KR_LARGE_STRING || type == KR_LARGE_BINARY, device);
    if (!s->nulls)
        return;
    uint8_t *validity = calloc(s->n / 8 + 2, 1);
    for (uint32_t i = 0; i < s->n; ++i)
        validity[(i + 3) / 8] |= (uint8_t)(!is_null(s, i) << (i + 3) % 8);
    m->validity = make_array(device, validity, s->n / 8 + 2);
    m->column.validity = m->validity.data;
    m->column.validity_offset = 3;
    free(validity);
}

static inline void free_column(made *m)
{
    for (uint32_t b = 0; b < BUFFERS; ++b)
        free_array(&m->bytes[b]);
    free_array(&m->data);
    free_array(&m->validity);
}

#endif
