/* Texts of a condition among the codes of a dictionary: bounds, and patterns of LIKE. */
#include "table/condition/grow.h"
#include "table/condition/literal.h"

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The texts of a comparison, one behind the other, as a column; NULL literals are empty. */
typedef struct gathered {
    int64_t *offsets;
    char *bytes;
    uint32_t *lower, *upper;
} gathered;

static kr_status gather(const kr_condition *condition, const kr_literal *literals, uint64_t n, gathered *g,
                        kr_error *err)
{
    uint64_t nbytes = 0;
    for (uint64_t i = 0; i < n; ++i)
        nbytes += literals[i].kind == KR_LITERAL_TEXT ? literals[i].nbytes : 0;
    g->offsets = kr_host_calloc(n + 1, sizeof *g->offsets, "texts of a condition", err);
    g->bytes = kr_host_calloc(nbytes, 1, "texts of a condition", err);
    g->lower = kr_host_calloc(n, sizeof *g->lower, "texts of a condition", err);
    g->upper = kr_host_calloc(n, sizeof *g->upper, "texts of a condition", err);
    if (!g->offsets || !g->bytes || !g->lower || !g->upper)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t size = literals[i].kind == KR_LITERAL_TEXT ? literals[i].nbytes : 0;
        if (size)
            memcpy(g->bytes + g->offsets[i], condition->texts + literals[i].bits, size);
        g->offsets[i + 1] = g->offsets[i] + (int64_t)size;
    }
    return KR_OK;
}

/* lower and upper of n literals. */
static kr_status find(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                      const kr_literal *literals, uint64_t n, gathered *g, kr_error *err)
{
    const kr_status status = gather(condition, literals, n, g, err);
    if (status != KR_OK)
        return status;
    const kr_column texts = {.type = KR_LARGE_BINARY,
                             .count = n,
                             .data = g->offsets,
                             .reserved_words = {(uintptr_t)g->bytes, (uint64_t)g->offsets[n]}};
    return columns->texts->bounds(columns->of_texts, column, &texts, 0, g->lower, g->upper, err);
}

static void release(gathered *g)
{
    free(g->upper);
    free(g->lower);
    free(g->bytes);
    free(g->offsets);
}

kr_status kr_literal_find_texts(const kr_plan_columns *columns, uint32_t column,
                                const kr_condition *condition, const kr_node *node, kr_bound *bounds,
                                kr_error *err)
{
    gathered g = {0};
    const kr_literal *literals = condition->literals + node->literal;
    kr_status status = KR_OK;
    uint64_t n = 0;
    while (n < node->n && literals[n].kind != KR_LITERAL_TEXT)
        ++n;
    if (n < node->n)
        status = find(columns, column, condition, literals, node->n, &g, err);
    for (uint64_t i = 0; n < node->n && status == KR_OK && i < node->n; ++i)
        bounds[i] = (kr_bound){g.lower[i], g.upper[i] > g.lower[i], 0};
    release(&g);
    return status;
}

/* ---- LIKE ------------------------------------------------------------------------------------ */

/* Bytes in front of the first % or _. */
static uint64_t prefix_of(const char *pattern, uint64_t nbytes)
{
    uint64_t n = 0;
    while (n < nbytes && pattern[n] != '%' && pattern[n] != '_')
        ++n;
    return n;
}

/* 1: only % from `from` on, at least one. */
static int is_open(const char *pattern, uint64_t nbytes, uint64_t from)
{
    uint64_t n = from;
    while (n < nbytes && pattern[n] == '%')
        ++n;
    return n == nbytes && n > from;
}

/* The codes of all texts that begin with so many bytes: `n` from `first` on. All without an order. */
static kr_status find_prefix(const kr_plan_columns *columns, uint32_t column, const char *bytes,
                             uint64_t nbytes, uint32_t *first, uint32_t *n, kr_error *err)
{
    const kr_plan_texts *texts = columns->texts;
    const int64_t offsets[] = {0, (int64_t)nbytes};
    const kr_column prefix = {
        .type = KR_LARGE_BINARY, .count = 1, .data = offsets, .reserved_words = {(uintptr_t)bytes, nbytes}};
    uint32_t end = 0;
    *first = 0;
    *n = texts->count(columns->of_texts, column);
    if (!nbytes || !texts->is_ordered(columns->of_texts, column))
        return KR_OK;
    const kr_status status = texts->bounds(columns->of_texts, column, &prefix, 1, first, &end, err);
    *n = end - *first;
    return status;
}

static kr_status match(const kr_plan_columns *columns, uint32_t column, const char *pattern, uint64_t nbytes,
                       kr_code_set *set, kr_error *err)
{
    const uint64_t fixed = prefix_of(pattern, nbytes);
    uint32_t first, n;
    const kr_status status = find_prefix(columns, column, pattern, fixed, &first, &n, err);
    if (status != KR_OK || !n)
        return status;
    if (is_open(pattern, nbytes, fixed) && (!fixed || columns->texts->is_ordered(columns->of_texts, column)))
        return kr_intervals_add(set, first, (uint64_t)first + n - 1, err) ? KR_OK : KR_ERR_HOST_MEMORY;
    return columns->texts->match(columns->of_texts, column, pattern, nbytes, first, n, set, err);
}

/* Codes of a caller's dictionary: the first of a prefix, and the first behind it. */
static kr_status match_callers(const kr_plan_columns *columns, uint32_t column, const char *pattern,
                               uint64_t nbytes, kr_code_set *set, kr_error *err)
{
    const uint64_t fixed = prefix_of(pattern, nbytes);
    uint64_t n = fixed;
    uint32_t from = 0, to = 0;
    if (fixed < nbytes && !is_open(pattern, nbytes, fixed))
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "column '%s' has codes of a caller's dictionary, so LIKE takes 'text' and 'text%%' there: "
            "give the dictionary in kr_table_options.texts",
            columns->names[column]);
    const int is_there = columns->find_text(columns->ctx, column, pattern, fixed, &from) == 1;
    if (fixed == nbytes)
        return !is_there || kr_intervals_add(set, from, from, err) ? KR_OK : KR_ERR_HOST_MEMORY;
    while (n && (unsigned char)pattern[n - 1] == 0xFF)
        --n;
    if (!n)
        return kr_intervals_add(set, from, kr_plan_most_code(KR_U32), err) ? KR_OK : KR_ERR_HOST_MEMORY;
    char *behind = kr_host_calloc(n + 1, 1, "a pattern", err);
    if (!behind)
        return KR_ERR_HOST_MEMORY;
    memcpy(behind, pattern, n);
    ++behind[n - 1];
    columns->find_text(columns->ctx, column, behind, n, &to);
    free(behind);
    return to <= from || kr_intervals_add(set, from, to - 1, err) ? KR_OK : KR_ERR_HOST_MEMORY;
}

kr_status kr_literal_like(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                          const kr_node *node, const kr_literal *pattern, kr_code_set *set, kr_error *err)
{
    char place[KR_PLACE_NBYTES];
    if (!kr_literal_is_text_column(columns, column))
        return kr_fail(err, KR_ERR_TYPE, "column '%s' is %s, but LIKE%s takes a column of texts",
                       columns->names[column], kr_type_name(columns->columns[column].type),
                       kr_literal_place_text(condition, node, node->at, place));
    if (pattern->kind == KR_LITERAL_NULL)
        return KR_OK;
    if (pattern->kind != KR_LITERAL_TEXT)
        return kr_fail(err, KR_ERR_TYPE, "LIKE%s takes a pattern in single quotes: '%s'",
                       kr_literal_place_text(condition, node, pattern->at, place), "ab%");
    const char *text = condition->texts + pattern->bits;
    if (!kr_plan_has_texts(columns, column))
        return match_callers(columns, column, text, pattern->nbytes, set, err);
    const kr_bound none = {0};
    kr_bound at = none;
    if (prefix_of(text, pattern->nbytes) < pattern->nbytes)
        return match(columns, column, text, pattern->nbytes, set, err);
    const kr_status status = kr_literal_find_texts(columns, column, condition, node, &at, err);
    return status != KR_OK || !at.exact || kr_intervals_add(set, at.code, at.code, err) ? status
                                                                                        : KR_ERR_HOST_MEMORY;
}
