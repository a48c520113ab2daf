/* From one comparison of a condition to a leaf: its column is found by name, and its values become codes. */
#include "table/condition/leaf.h"
#include "base/util/spelling.h"
#include "base/values/values.h"
#include "index/kinds/column.h"
#include "table/condition/grow.h"
#include "table/condition/literal.h"

#include <stdio.h>
#include <string.h>

/* What a comparison is read with. */
typedef struct scope {
    const kr_condition *condition;
    const kr_plan_columns *columns;
    kr_error *err;
} scope;

/* ---- Columns by name ------------------------------------------------------------------------- */

/* A name in a comparison of columns that no column has: probably a text without its quotes. `found`: the
 * other side is a column. */
static const char *quotes_hint(const kr_node *node, const char *wanted, int found, char hint[96])
{
    hint[0] = '\0';
    if (node->op == KR_NODE_COLUMNS && found && strlen(wanted) < 40)
        snprintf(hint, 96, "; put texts in single quotes: '%s'", wanted);
    return hint;
}

/* `found`: the other name of the comparison is a column. */
static kr_status find_column(const scope *in, const kr_node *node, int is_other, int found, uint32_t *column)
{
    char place[KR_PLACE_NBYTES], known[200] = "", hint[KR_SPELLING_HINT_NBYTES], quotes[96];
    const char *wanted = in->condition->texts + (is_other ? node->other : node->column);
    kr_spelling nearest = kr_spelling_begin(wanted, strlen(wanted));
    for (uint32_t c = 0; c < in->columns->n; ++c) {
        const size_t used = strlen(known);
        if (!strcmp(in->columns->names[c], wanted)) {
            *column = c;
            return KR_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", c ? ", " : "", in->columns->names[c]);
        kr_spelling_offer(&nearest, in->columns->names[c], strlen(in->columns->names[c]));
    }
    return kr_fail(
        in->err, KR_ERR_ARGUMENT, "the table has no column '%s'%s%s%s; its columns: %s", wanted,
        kr_literal_place_text(in->condition, node, is_other ? node->other_at : node->column_at, place),
        kr_spelling_hint(&nearest, "'", "'", hint), quotes_hint(node, wanted, found, quotes), known);
}

/* ---- Comparisons with values ----------------------------------------------------------------- */

/* Adds the codes of {x : x compare the bound}, for comparisons with one value. */
static int add_compared(kr_code_set *set, uint32_t compare, kr_bound at, uint64_t most, kr_error *err)
{
    /* The codes below the value are 0 .. below - 1, those above it from `above` on, if they exist. */
    const int has_below = at.above || at.code > 0, has_above = !at.above && (!at.exact || at.code < most);
    const uint64_t last_below = at.above ? most : at.code - 1, first_above = at.code + at.exact;
    const int less = compare == KR_LESS || compare == KR_LESS_EQUAL || compare == KR_NOT_EQUAL;
    const int greater = compare == KR_GREATER || compare == KR_GREATER_EQUAL || compare == KR_NOT_EQUAL;
    const int equal = compare == KR_LESS_EQUAL || compare == KR_GREATER_EQUAL || compare == KR_EQUAL;
    return (!less || !has_below || kr_intervals_add(set, 0, last_below, err)) &&
           (!greater || !has_above || kr_intervals_add(set, first_above, most, err)) &&
           (!equal || !at.exact || kr_intervals_add(set, at.code, at.code, err));
}

/* What is true exactly where the comparison is false. */
static uint32_t opposite(uint32_t compare)
{
    static const uint32_t of[] = {
        [KR_LESS] = KR_GREATER_EQUAL, [KR_LESS_EQUAL] = KR_GREATER, [KR_GREATER] = KR_LESS_EQUAL,
        [KR_GREATER_EQUAL] = KR_LESS, [KR_EQUAL] = KR_NOT_EQUAL,    [KR_NOT_EQUAL] = KR_EQUAL};
    return of[compare];
}

typedef struct values {
    kr_bound *bounds;
    uint8_t *is_null;
} values;

/* What descriptions need to know of texts: the codes do not tell. */
static int keep_text(const scope *in, kr_leaf *leaf, const kr_literal *literal, kr_bound at)
{
    if (literal->kind != KR_LITERAL_TEXT) /* the bits of others are no place in the texts */
        return 1;
    const char *text = in->condition->texts + literal->bits;
    if (in->columns->columns[leaf->column].type == KR_TIMESTAMP64 && kr_value_is_time(text, literal->nbytes))
        leaf->unit = kr_plan_unit(in->columns, leaf->column);
    if (in->columns->columns[leaf->column].type != KR_U32)
        return 1;
    if (!kr_condition_grow((void **)&leaf->labels, &leaf->room_labels, leaf->n_labels, 1,
                           sizeof *leaf->labels, "texts of a condition", in->err))
        return 0;
    leaf->labels[leaf->n_labels++] = (kr_label){at.code, at.exact, text, literal->nbytes};
    return 1;
}

static kr_status find_values(const scope *in, const kr_node *node, kr_leaf *leaf, values *found)
{
    kr_status status = KR_OK;
    found->bounds = kr_host_calloc(node->n, sizeof *found->bounds, "values of a condition", in->err);
    found->is_null = kr_host_calloc(node->n, 1, "values of a condition", in->err);
    if (!found->bounds || !found->is_null)
        return KR_ERR_HOST_MEMORY;
    const int has_texts = kr_plan_has_texts(in->columns, leaf->column);
    if (has_texts)
        status =
            kr_literal_find_texts(in->columns, leaf->column, in->condition, node, found->bounds, in->err);
    for (uint64_t i = 0; i < node->n && status == KR_OK; ++i) {
        const kr_literal *literal = in->condition->literals + node->literal + i;
        found->is_null[i] = literal->kind == KR_LITERAL_NULL;
        if (!found->is_null[i] && (!has_texts || literal->kind != KR_LITERAL_TEXT))
            status = kr_literal_find(in->columns, leaf->column, in->condition, node, literal,
                                     &found->bounds[i], in->err);
        if (status == KR_OK && !keep_text(in, leaf, literal, found->bounds[i]))
            status = KR_ERR_HOST_MEMORY;
    }
    return status;
}

/* IN: its values; NOT IN: all others, and none at all if one value is NULL. */
static int add_in(kr_code_set *set, const values *v, uint64_t n, int negated, uint64_t most, kr_error *err)
{
    int has_null = 0, ok = 1;
    for (uint64_t i = 0; i < n && ok; ++i) {
        has_null |= v->is_null[i];
        ok = v->is_null[i] || add_compared(set, KR_EQUAL, v->bounds[i], most, err);
    }
    kr_intervals_tidy(set);
    if (ok && negated && has_null)
        set->n = 0;
    else if (ok && negated)
        ok = kr_intervals_complement(set, most, err);
    return ok;
}

/* BETWEEN is two comparisons: its opposite holds where one of them is false, whatever the other is. */
static int add_between(kr_code_set *set, const values *v, int negated, uint64_t most, kr_error *err)
{
    kr_code_set outside = {0};
    const int ok = (v->is_null[0] || add_compared(&outside, KR_LESS, v->bounds[0], most, err)) &&
                   (v->is_null[1] || add_compared(&outside, KR_GREATER, v->bounds[1], most, err));
    kr_intervals_tidy(&outside);
    if (ok && !negated && (v->is_null[0] || v->is_null[1]))
        outside.n = 0;
    else if (ok && !negated && !kr_intervals_complement(&outside, most, err))
        return 0;
    *set = outside;
    return ok;
}

static int add_codes(const scope *in, const kr_node *node, const values *v, int negated, uint64_t most,
                     kr_code_set *set)
{
    switch (node->compare) {
    case KR_IS_NULL: return !negated || kr_intervals_add(set, 0, most, in->err);
    case KR_IN: return add_in(set, v, node->n, negated, most, in->err);
    case KR_BETWEEN: return add_between(set, v, negated, most, in->err);
    default:
        return v->is_null[0] || add_compared(set, negated ? opposite(node->compare) : node->compare,
                                             v->bounds[0], most, in->err);
    }
}

/* Codes of texts that a pattern matches, or that it does not; none if it is NULL. */
static kr_status find_like(const scope *in, const kr_node *node, int negated, const kr_leaf *leaf,
                           kr_code_set *set)
{
    const uint64_t most = kr_plan_most_code(in->columns->columns[leaf->column].type);
    const kr_status status = kr_literal_like(in->columns, leaf->column, in->condition, node, set, in->err);
    if (status != KR_OK || !negated || kr_literal_is_null_like(in->condition, node))
        return status;
    kr_intervals_tidy(set);
    return kr_intervals_complement(set, most, in->err) ? KR_OK : KR_ERR_HOST_MEMORY;
}

/* Order is asked of codes that are in an order. */
static kr_status check_order(const scope *in, const kr_node *node, uint32_t column)
{
    const int asks = node->compare < KR_EQUAL || node->compare == KR_BETWEEN;
    if (!asks || !kr_plan_has_texts(in->columns, column) ||
        in->columns->texts->is_ordered(in->columns->of_texts, column))
        return KR_OK;
    return kr_fail(
        in->err, KR_ERR_UNSUPPORTED,
        "column '%s' has a dictionary made with ranges=off, which knows no order: compare it with =, "
        "<>, IN or LIKE, or make the dictionary with ranges=on",
        in->columns->names[column]);
}

/* The column has the texts of that dictionary. */
static kr_status check_texts(const scope *in, uint32_t column, const char *other, uint64_t dictionary)
{
    char what[64];
    snprintf(what, sizeof what, "column '%.48s'", in->columns->names[column]);
    return kr_column_check_texts(what, in->columns->columns[column].dictionary, other, dictionary, in->err);
}

kr_status kr_leaf_of_values(const kr_condition *condition, const kr_node *node, int negated,
                            const kr_plan_columns *columns, kr_leaf *leaf, kr_error *err)
{
    const scope in = {condition, columns, err};
    kr_leaf made = {.other = KR_NO_COLUMN};
    kr_code_set set = {0};
    values v = {0};
    kr_status status = find_column(&in, node, 0, 0, &made.column);
    if (status == KR_OK && node->dictionary) /* numbers stand for codes of whatever dictionary */
        status = check_texts(&in, made.column, "the values", node->dictionary);
    if (status == KR_OK)
        status = check_order(&in, node, made.column);
    if (status == KR_OK && node->compare == KR_LIKE)
        status = find_like(&in, node, negated, &made, &set);
    else if (status == KR_OK)
        status = find_values(&in, node, &made, &v);
    if (status == KR_OK && node->compare != KR_LIKE &&
        !add_codes(&in, node, &v, negated, kr_plan_most_code(columns->columns[made.column].type), &set))
        status = KR_ERR_HOST_MEMORY;
    free(v.is_null);
    free(v.bounds);
    if (status != KR_OK) {
        free(made.labels);
        free(set.at);
        return status;
    }
    kr_intervals_tidy(&set);
    /* IN () is false even for NULL, so NOT IN () is true for it. */
    made.nulls = (node->compare == KR_IS_NULL && !negated) || (node->compare == KR_IN && !node->n && negated);
    made.intervals = set.at;
    made.n_intervals = set.n;
    made.room = set.room;
    *leaf = made;
    return KR_OK;
}

/* ---- Comparisons of two columns -------------------------------------------------------------- */

/* Codes of two columns say the same only in one dictionary. */
static kr_status check_columns_texts(const scope *in, uint32_t column, uint32_t other)
{
    const kr_plan_columns *columns = in->columns;
    char text[64];
    const uint64_t dictionary = columns->columns[other].dictionary;
    if (kr_plan_has_texts(columns, column) && kr_plan_has_texts(columns, other) &&
        dictionary != columns->columns[column].dictionary)
        return kr_fail(in->err, KR_ERR_TYPE,
                       "columns '%s' and '%s' have dictionaries of their own, where one code says two texts: "
                       "make one dictionary of the texts of both, and give it for both in "
                       "kr_table_options.texts",
                       columns->names[column], columns->names[other]);
    snprintf(text, sizeof text, "column '%.48s'", columns->names[other]);
    return check_texts(in, column, text, dictionary);
}

static int same_type(const kr_plan_columns *columns, uint32_t a, uint32_t b)
{
    const kr_type type = columns->columns[a].type;
    return type == columns->columns[b].type &&
           !columns->columns[a].dictionary == !columns->columns[b].dictionary &&
           (type != KR_TIMESTAMP64 || kr_plan_unit(columns, a) == kr_plan_unit(columns, b)) &&
           kr_literal_is_text_column(columns, a) == kr_literal_is_text_column(columns, b);
}

static int has_column(const kr_plan_columns *columns, const char *name)
{
    uint32_t c = 0;
    while (c < columns->n && strcmp(columns->names[c], name) != 0)
        ++c;
    return c < columns->n;
}

static const char *type_of(const kr_plan_columns *columns, uint32_t column, char text[KR_TYPE_TEXT_NBYTES])
{
    const kr_column *of = columns->columns + column;
    const int is_text = of->dictionary || kr_literal_is_text_column(columns, column);
    return is_text ? "text" : kr_value_type_text(of->type, kr_plan_unit(columns, column), text);
}

kr_status kr_leaf_of_columns(const kr_condition *condition, const kr_node *node, int negated,
                             const kr_plan_columns *columns, kr_leaf *leaf, kr_error *err)
{
    const scope in = {condition, columns, err};
    kr_leaf made = {.compare = negated ? opposite(node->compare) : node->compare};
    const int has_other = has_column(columns, condition->texts + node->other);
    kr_status status = find_column(&in, node, 0, has_other, &made.column);
    if (status == KR_OK)
        status = find_column(&in, node, 1, 1, &made.other);
    if (status == KR_OK && !same_type(columns, made.column, made.other)) {
        char place[KR_PLACE_NBYTES], left[KR_TYPE_TEXT_NBYTES], right[KR_TYPE_TEXT_NBYTES];
        status = kr_fail(err, KR_ERR_TYPE,
                         "columns '%s' and '%s'%s are %s and %s; only columns of one type can be compared",
                         columns->names[made.column], columns->names[made.other],
                         kr_literal_place_text(condition, node, node->at, place),
                         type_of(columns, made.column, left), type_of(columns, made.other, right));
    }
    if (status == KR_OK)
        status = check_columns_texts(&in, made.column, made.other);
    if (status == KR_OK)
        status = check_order(&in, node, made.column);
    if (status == KR_OK)
        *leaf = made;
    return status;
}

void kr_leaf_release(kr_leaf *leaf)
{
    free(leaf->labels);
    free(leaf->intervals);
    leaf->labels = NULL;
    leaf->intervals = NULL;
}
