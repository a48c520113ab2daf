/* Texts of a condition among the codes of a dictionary: bounds, and patterns of LIKE. */
#include "index/texts/strings.h"
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

/* ---- Patterns of LIKE ------------------------------------------------------------------------ */

/* A pattern without its escapes: elements, and the bytes in front of the first wildcard. */
typedef struct pattern {
    uint16_t *elements; /* bytes, KR_STRINGS_ANY, KR_STRINGS_ONE */
    char *bytes;
    uint64_t n, fixed;
} pattern;

/* Where a pattern is, for errors. */
typedef struct place {
    const kr_condition *condition;
    const kr_node *node;
    const kr_literal *pattern, *escape; /* escape NULL: there is none */
} place;

static kr_strings_text text_of(const kr_condition *condition, const kr_literal *literal)
{
    return (kr_strings_text){(const uint8_t *)condition->texts + literal->bits, literal->nbytes};
}

static kr_status check_escape(const place *p, kr_error *err)
{
    char where[KR_PLACE_NBYTES];
    const kr_literal *escape = p->escape;
    if (!escape)
        return KR_OK;
    const kr_strings_text text = text_of(p->condition, escape);
    if (escape->kind == KR_LITERAL_TEXT && text.n && kr_strings_next(text, 0) == text.n)
        return KR_OK;
    return kr_fail(err, escape->kind == KR_LITERAL_TEXT ? KR_ERR_ARGUMENT : KR_ERR_TYPE,
                   "ESCAPE of LIKE%s takes one character in single quotes: '!'",
                   kr_literal_place_text(p->condition, p->node, escape->at, where));
}

static void add_bytes(pattern *made, const uint8_t *bytes, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        made->elements[made->n++] = bytes[i];
}

/* Character by character, so that a byte within one is not taken for the escape. */
static kr_status read_elements(const place *p, pattern *made, kr_error *err)
{
    char where[KR_PLACE_NBYTES];
    const kr_strings_text text = text_of(p->condition, p->pattern);
    const kr_strings_text escape = p->escape ? text_of(p->condition, p->escape) : (kr_strings_text){0};
    for (uint64_t at = 0, next; at < text.n; at = next) {
        next = kr_strings_next(text, at);
        const uint8_t *bytes = text.bytes + at;
        if (escape.n && next - at == escape.n && memcmp(bytes, escape.bytes, escape.n) == 0) {
            if (next == text.n)
                return kr_fail(err, KR_ERR_ARGUMENT,
                               "the pattern of LIKE%s ends with its ESCAPE: write that twice for itself",
                               kr_literal_place_text(p->condition, p->node, p->pattern->at, where));
            at = next;
            next = kr_strings_next(text, at);
            add_bytes(made, text.bytes + at, next - at);
        } else if (*bytes == '%' || *bytes == '_') {
            made->elements[made->n++] = *bytes == '%' ? KR_STRINGS_ANY : KR_STRINGS_ONE;
        } else {
            add_bytes(made, bytes, next - at);
        }
    }
    return KR_OK;
}

static kr_status read_pattern(const place *p, pattern *made, kr_error *err)
{
    *made = (pattern){0};
    made->elements = kr_host_calloc(p->pattern->nbytes, sizeof *made->elements, "a pattern", err);
    made->bytes = kr_host_calloc(p->pattern->nbytes + 1, 1, "a pattern", err);
    if (!made->elements || !made->bytes)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = read_elements(p, made, err);
    while (made->fixed < made->n && made->elements[made->fixed] < KR_STRINGS_ANY) {
        made->bytes[made->fixed] = (char)made->elements[made->fixed];
        ++made->fixed;
    }
    return status;
}

static void release_pattern(pattern *made)
{
    free(made->bytes);
    free(made->elements);
}

/* 1: no wildcards but %, and these behind all else, at least one. */
static int is_open(const pattern *p)
{
    uint64_t n = p->fixed;
    while (n < p->n && p->elements[n] == KR_STRINGS_ANY)
        ++n;
    return n == p->n && n > p->fixed;
}

/* ---- LIKE ------------------------------------------------------------------------------------ */

/* The codes of the text in front of the wildcards, or of all texts that begin with it: `n` from `first` on.
 * Without an order all texts may begin with it. */
static kr_status find_fixed(const kr_plan_columns *columns, uint32_t column, const pattern *p,
                            uint32_t *first, uint32_t *n, kr_error *err)
{
    const kr_plan_texts *texts = columns->texts;
    const int64_t offsets[] = {0, (int64_t)p->fixed};
    const int is_prefix = p->fixed < p->n;
    const kr_column fixed = {.type = KR_LARGE_BINARY,
                             .count = 1,
                             .data = offsets,
                             .reserved_words = {(uintptr_t)p->bytes, p->fixed}};
    uint32_t end = 0;
    *first = 0;
    *n = texts->count(columns->of_texts, column);
    if (is_prefix && (!p->fixed || !texts->is_ordered(columns->of_texts, column)))
        return KR_OK;
    const kr_status status = texts->bounds(columns->of_texts, column, &fixed, is_prefix, first, &end, err);
    *n = end - *first;
    return status;
}

static kr_status match(const kr_plan_columns *columns, uint32_t column, const pattern *p, kr_code_set *set,
                       kr_error *err)
{
    const kr_plan_texts *texts = columns->texts;
    uint32_t first, n;
    const kr_status status = find_fixed(columns, column, p, &first, &n, err);
    if (status != KR_OK || !n)
        return status;
    const int all =
        p->fixed == p->n || (is_open(p) && (!p->fixed || texts->is_ordered(columns->of_texts, column)));
    if (all)
        return kr_intervals_add(set, first, (uint64_t)first + n - 1, err) ? KR_OK : KR_ERR_HOST_MEMORY;
    return texts->match(columns->of_texts, column, p->elements, p->n, first, n, set, err);
}

/* Codes of a caller's dictionary: the first of a prefix, and the first behind it. */
static kr_status match_callers(const kr_plan_columns *columns, uint32_t column, const pattern *p,
                               kr_code_set *set, kr_error *err)
{
    uint64_t n = p->fixed;
    uint32_t from = 0, to = 0;
    if (p->fixed < p->n && !is_open(p))
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "column '%s' has codes of a caller's dictionary, so LIKE takes 'text' and 'text%%' there: "
            "give the dictionary in kr_table_options.texts",
            columns->names[column]);
    const int is_there = columns->find_text(columns->ctx, column, p->bytes, p->fixed, &from) == 1;
    if (p->fixed == p->n)
        return !is_there || kr_intervals_add(set, from, from, err) ? KR_OK : KR_ERR_HOST_MEMORY;
    while (n && (unsigned char)p->bytes[n - 1] == 0xFF)
        --n;
    if (!n)
        return kr_intervals_add(set, from, kr_plan_most_code(KR_U32), err) ? KR_OK : KR_ERR_HOST_MEMORY;
    ++p->bytes[n - 1];
    columns->find_text(columns->ctx, column, p->bytes, n, &to);
    return to <= from || kr_intervals_add(set, from, to - 1, err) ? KR_OK : KR_ERR_HOST_MEMORY;
}

int kr_literal_is_null_like(const kr_condition *condition, const kr_node *node)
{
    const kr_literal *literals = condition->literals + node->literal;
    return literals[0].kind == KR_LITERAL_NULL || (node->n > 1 && literals[1].kind == KR_LITERAL_NULL);
}

kr_status kr_literal_like(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                          const kr_node *node, kr_code_set *set, kr_error *err)
{
    const kr_literal *literals = condition->literals + node->literal;
    const place p = {condition, node, literals, node->n > 1 ? literals + 1 : NULL};
    char where[KR_PLACE_NBYTES];
    pattern made;
    if (!kr_literal_is_text_column(columns, column))
        return kr_fail(err, KR_ERR_TYPE, "column '%s' is %s, but LIKE%s takes a column of texts",
                       columns->names[column], kr_type_name(columns->columns[column].type),
                       kr_literal_place_text(condition, node, node->at, where));
    if (kr_literal_is_null_like(condition, node))
        return KR_OK;
    if (literals->kind != KR_LITERAL_TEXT)
        return kr_fail(err, KR_ERR_TYPE, "LIKE%s takes a pattern in single quotes: '%s'",
                       kr_literal_place_text(condition, node, literals->at, where), "ab%");
    kr_status status = check_escape(&p, err);
    if (status != KR_OK)
        return status;
    status = read_pattern(&p, &made, err);
    if (status == KR_OK)
        status = kr_plan_has_texts(columns, column) ? match(columns, column, &made, set, err)
                                                    : match_callers(columns, column, &made, set, err);
    release_pattern(&made);
    return status;
}
