/* Rows with texts, and what conditions on them are to say: by memcmp, and by a matcher of LIKE that tries
 * everything. */
#ifndef KEYRAY_TESTS_TEXT_TABLES_H
#define KEYRAY_TESTS_TEXT_TABLES_H

#include "check.h"

enum { TEXT_MOST = 48, ROWS_MOST = 4096 };

typedef struct row_text {
    uint32_t n;
    int is_null;
    char bytes[TEXT_MOST];
} row_text;

static uint64_t random_state = 88172645463325252u;

static inline uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % n;
}

/* Few bytes, so that texts begin alike: quotes, characters of two bytes, halves of them, bytes 0 and 255. */
static inline row_text random_text(uint32_t longest)
{
    static const char *const parts[] = {"a", "b", "c", "\xC3\xA9", "\xC3", "\xA9", "'", "\xFF", "%", "_", ""};
    static const char prefix[] = "https://shop.example.com/";
    row_text made = {0};
    if (below(4) == 0) {
        memcpy(made.bytes, prefix, sizeof prefix - 1);
        made.n = sizeof prefix - 1;
    }
    for (uint32_t left = below(longest + 1); left; --left) {
        const uint32_t which = below(12);
        const char *part = parts[which < 11 ? which : 0];
        const uint32_t n = which == 10 ? 1 : (uint32_t)strlen(part); /* the last one is byte 0 */
        memcpy(made.bytes + made.n, part, n);
        made.n += n;
    }
    return made;
}

static inline row_text text_of(const char *bytes)
{
    row_text made = {.n = (uint32_t)strlen(bytes)};
    memcpy(made.bytes, bytes, made.n);
    return made;
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* A column of any row_text type, with memory of its own. */
typedef struct text_column {
    kr_column column;
    kr_text_buffer buffer;
    int32_t near[ROWS_MOST + 1];
    int64_t far[ROWS_MOST + 1];
    int32_t views[4 * ROWS_MOST];
    uint8_t validity[ROWS_MOST / 8 + 2];
    char bytes[ROWS_MOST * TEXT_MOST];
} text_column;

static inline void put_view(text_column *made, uint32_t i, const row_text *of, int32_t at)
{
    int32_t *view = made->views + 4 * i;
    view[0] = (int32_t)of->n;
    memset(view + 1, 0, 12);
    memcpy(view + 1, of->bytes, of->n < 12 ? of->n : 4);
    if (of->n <= 12)
        memcpy(view + 1, of->bytes, of->n);
    if (of->n > 12)
        view[3] = at;
}

static inline void make_column(text_column *made, kr_type type, const row_text *texts, uint32_t n)
{
    const int is_view = type == KR_STRING_VIEW || type == KR_BINARY_VIEW;
    const int is_far = type == KR_LARGE_STRING || type == KR_LARGE_BINARY;
    int32_t at = 0;
    int has_nulls = 0;
    memset(made->validity, 0, sizeof made->validity);
    for (uint32_t i = 0; i < n; ++i) {
        memcpy(made->bytes + at, texts[i].bytes, texts[i].n);
        put_view(made, i, texts + i, at);
        made->near[i] = at;
        made->far[i] = at;
        at += (int32_t)texts[i].n;
        has_nulls |= texts[i].is_null;
        if (!texts[i].is_null)
            made->validity[(i + 3) / 8] |= (uint8_t)(1 << (i + 3) % 8);
    }
    made->near[n] = at;
    made->far[n] = at;
    made->buffer = (kr_text_buffer){made->bytes, (uint64_t)at};
    made->column = (kr_column){.type = type,
                               .count = n,
                               .data = is_view  ? (const void *)made->views
                                       : is_far ? (const void *)made->far
                                                : (const void *)made->near,
                               .validity = has_nulls ? made->validity : NULL,
                               .validity_offset = has_nulls ? 3 : 0,
                               .reserved_words = {is_view ? (uintptr_t)&made->buffer : (uintptr_t)made->bytes,
                                                  is_view ? 1 : (uint64_t)at}};
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static inline int order_of(const row_text *a, const row_text *b)
{
    const int order = memcmp(a->bytes, b->bytes, a->n < b->n ? a->n : b->n);
    return order ? order : (int)a->n - (int)b->n;
}

static inline uint32_t character(const char *at, uint32_t left)
{
    uint32_t n = 1;
    while ((unsigned char)*at >= 0xC0 && n < left && ((unsigned char)at[n] & 0xC0) == 0x80)
        ++n;
    return n;
}

/* 1: the pattern goes on with the escape, which may be NULL. */
static inline int is_escape(const char *p, uint32_t m, const row_text *escape)
{
    return escape && m && character(p, m) == escape->n && !memcmp(p, escape->bytes, escape->n);
}

/* 1: a character of the text begins `at` bytes behind its beginning. */
static inline int is_border(const row_text *text, uint32_t at)
{
    uint32_t from = 0;
    while (from < at)
        from += character(text->bytes + from, text->n - from);
    return from == at;
}

/* Whether the rest of a text is like the rest of a pattern: % is any bytes, _ a character of the text. */
static inline int is_like_from(const row_text *text, uint32_t at, const char *p, uint32_t m,
                               const row_text *escape)
{
    const char *t = text->bytes + at;
    const uint32_t n = text->n - at;
    if (!m)
        return !n;
    if (is_escape(p, m, escape)) {
        const uint32_t by = character(p + escape->n, m - escape->n), both = by + escape->n;
        return n >= by && !memcmp(t, p + escape->n, by) &&
               is_like_from(text, at + by, p + both, m - both, escape);
    }
    if (*p == '%')
        return is_like_from(text, at, p + 1, m - 1, escape) ||
               (n && is_like_from(text, at + 1, p, m, escape));
    if (!n || (*p != '_' ? *p != *t : !is_border(text, at)))
        return 0;
    const uint32_t step = *p == '_' ? character(t, n) : 1;
    return is_like_from(text, at + step, p + 1, m - 1, escape);
}

static inline int is_like(const row_text *text, const row_text *pattern, const row_text *escape)
{
    return is_like_from(text, 0, pattern->bytes, pattern->n, escape);
}

/* 1: true, 0: false, -1: unknown. */
static inline int holds(const row_text *x, kr_compare compare, const row_text *values, uint32_t n)
{
    int unknown = 0;
    if (compare == KR_IS_NULL)
        return x->is_null;
    if (x->is_null)
        return compare == KR_IN && !n ? 0 : -1;
    for (uint32_t i = 0; compare == KR_IN && i < n; ++i) {
        if (!values[i].is_null && !order_of(x, values + i))
            return 1;
        unknown |= values[i].is_null;
    }
    if (compare == KR_IN)
        return unknown ? -1 : 0;
    if (compare == KR_BETWEEN) {
        const int low = values[0].is_null ? -1 : order_of(x, values) >= 0;
        const int high = values[1].is_null ? -1 : order_of(x, values + 1) <= 0;
        return !low || !high ? 0 : low < 0 || high < 0 ? -1 : 1;
    }
    if (values[0].is_null || (compare == KR_LIKE && n > 1 && values[1].is_null))
        return -1;
    const int order = order_of(x, values);
    switch (compare) {
    case KR_LESS: return order < 0;
    case KR_LESS_EQUAL: return order <= 0;
    case KR_GREATER: return order > 0;
    case KR_GREATER_EQUAL: return order >= 0;
    case KR_EQUAL: return order == 0;
    case KR_NOT_EQUAL: return order != 0;
    default: return is_like(x, values, n > 1 ? values + 1 : NULL);
    }
}

#endif
