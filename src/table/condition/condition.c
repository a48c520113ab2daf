/* Making conditions from values and from other conditions. */
#include "table/condition/condition.h"
#include "base/key/key.h"
#include "index/texts/column.h"
#include "table/condition/grow.h"

int kr_condition_add_node(kr_condition *condition, kr_node node, kr_error *err)
{
    if (!kr_condition_grow((void **)&condition->nodes, &condition->room_nodes, condition->n_nodes, 1,
                           sizeof node, "a condition", err))
        return 0;
    node.size = 1;
    for (uint64_t i = 0; i < (node.op >= KR_NODE_AND ? node.n : 0); ++i)
        node.size += condition->nodes[condition->n_nodes - node.size].size;
    condition->nodes[condition->n_nodes++] = node;
    return 1;
}

int kr_condition_add_literal(kr_condition *condition, kr_literal literal, kr_error *err)
{
    if (!kr_condition_grow((void **)&condition->literals, &condition->room_literals, condition->n_literals, 1,
                           sizeof literal, "values of a condition", err))
        return 0;
    condition->literals[condition->n_literals++] = literal;
    return 1;
}

int kr_condition_add_text(kr_condition *condition, const char *text, uint64_t nbytes, uint64_t *where,
                          kr_error *err)
{
    if (!kr_condition_grow((void **)&condition->texts, &condition->room_texts, condition->n_texts, nbytes + 1,
                           1, "texts of a condition", err))
        return 0;
    *where = condition->n_texts;
    if (nbytes)
        memcpy(condition->texts + *where, text, nbytes);
    condition->texts[*where + nbytes] = '\0';
    condition->n_texts += nbytes + 1;
    return 1;
}

void kr_condition_destroy(kr_condition *condition)
{
    if (!condition)
        return;
    free(condition->texts);
    free(condition->literals);
    free(condition->nodes);
    free(condition);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

static int is_texts(const kr_column *values)
{
    return values && kr_strings_are(values->type);
}

/* Appends the literal of value i, and its text. */
static kr_status add_text_value(kr_condition *made, const kr_column *values, uint64_t i, kr_error *err)
{
    kr_literal literal = {.kind = KR_LITERAL_NULL};
    kr_strings_text text;
    const kr_status status = kr_strings_row(values, i, "values of kr_condition_compare", &text, err);
    if (status != KR_OK)
        return status;
    if (kr_code_is_valid(values->validity, values->validity_offset, i)) {
        literal = (kr_literal){.kind = KR_LITERAL_TEXT, .nbytes = text.n};
        if (!kr_condition_add_text(made, (const char *)text.bytes, text.n, &literal.bits, err))
            return KR_ERR_HOST_MEMORY;
    }
    return kr_condition_add_literal(made, literal, err) ? KR_OK : KR_ERR_HOST_MEMORY;
}

static kr_literal literal_of(const kr_column *values, uint64_t i)
{
    if (!kr_code_is_valid(values->validity, values->validity_offset, i))
        return (kr_literal){.kind = KR_LITERAL_NULL};
    const uint64_t code = kr_code_load(values->type, values->data, i);
    if (values->type == KR_F32 || values->type == KR_F64)
        return (kr_literal){.kind = KR_LITERAL_REAL,
                            .bits = kr_bits_of_f64(kr_code_float(values->type, code))};
    const uint64_t integer = kr_code_integer(values->type, code);
    if (values->type == KR_DATE32 || values->type == KR_TIMESTAMP64)
        return (kr_literal){.kind = values->type == KR_DATE32 ? KR_LITERAL_DATE : KR_LITERAL_TIME,
                            .bits = integer};
    const uint32_t negative = kr_type_in(values->type, KR_TYPES_SIGNED) && integer >> 63;
    return (kr_literal){
        .kind = KR_LITERAL_INTEGER, .negative = negative, .bits = negative ? 0 - integer : integer};
}

static kr_status check_values(const char *column, kr_compare compare, const kr_column *values, kr_error *err)
{
    const uint64_t n = values ? values->count : 0;
    if (!column)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_condition_compare: column is NULL");
    if ((unsigned)compare < KR_LESS || (unsigned)compare > KR_LIKE)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_condition_compare: %d is not a comparison; use kr_compare",
                       (int)compare);
    const uint64_t takes = compare == KR_IN ? n : compare == KR_IS_NULL ? 0 : compare == KR_BETWEEN ? 2 : 1;
    if (n != takes && !(compare == KR_LIKE && n == 2))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_condition_compare: %llu values; this comparison takes %llu",
                       (unsigned long long)n, (unsigned long long)takes);
    if (!n)
        return KR_OK;
    if (is_texts(values))
        return kr_strings_check(NULL, values, "values of kr_condition_compare", NULL, err);
    if (compare == KR_LIKE)
        return kr_fail(err, KR_ERR_TYPE, "kr_condition_compare: KR_LIKE takes a text: a column of KR_STRING");
    if (!kr_type_nbytes(values->type))
        return kr_fail(err, KR_ERR_TYPE, "kr_condition_compare: %d is not a column type; use one of kr_type",
                       (int)values->type);
    if (!values->data || (uintptr_t)values->data % kr_type_nbytes(values->type))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_condition_compare: values %s",
                       values->data ? "are not aligned to their size" : "have no data");
    return KR_OK;
}

static kr_status add_comparison(kr_condition *made, const char *column, kr_compare compare,
                                const kr_column *values, kr_error *err)
{
    kr_node node = {.op = KR_NODE_COMPARE,
                    .compare = compare,
                    .n = values ? values->count : 0,
                    .dictionary = values && values->count ? values->dictionary : 0};
    kr_status status = KR_OK;
    for (uint64_t i = 0; i < node.n && status == KR_OK; ++i)
        if (is_texts(values))
            status = add_text_value(made, values, i, err);
        else if (!kr_condition_add_literal(made, literal_of(values, i), err))
            status = KR_ERR_HOST_MEMORY;
    if (status != KR_OK)
        return status;
    return kr_condition_add_text(made, column, strlen(column), &node.column, err) &&
                   kr_condition_add_node(made, node, err)
               ? KR_OK
               : KR_ERR_HOST_MEMORY;
}

/* Hands over what was made, or destroys it. */
static kr_status finish(kr_condition *made, int is_whole, kr_condition **condition)
{
    if (!made || !is_whole) {
        kr_condition_destroy(made);
        return KR_ERR_HOST_MEMORY;
    }
    *condition = made;
    return KR_OK;
}

kr_status kr_condition_compare(const char *column, kr_compare compare, const kr_column *values,
                               kr_condition **condition, kr_error *err)
{
    if (!condition)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_condition_compare: condition is NULL");
    const kr_status status = check_values(column, compare, values, err);
    if (status != KR_OK)
        return status;
    kr_condition *made = kr_host_calloc(1, sizeof *made, "a condition", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    const kr_status added = add_comparison(made, column, compare, values, err);
    if (added == KR_OK)
        *condition = made;
    else
        kr_condition_destroy(made);
    return added;
}

kr_status kr_condition_compare_columns(const char *left, kr_compare compare, const char *right,
                                       kr_condition **condition, kr_error *err)
{
    if (!left || !right || !condition)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_condition_compare_columns: left, right or condition is NULL");
    if ((unsigned)compare < KR_LESS || (unsigned)compare > KR_NOT_EQUAL)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_condition_compare_columns: %d does not compare two columns; use KR_LESS ... "
                       "KR_NOT_EQUAL",
                       (int)compare);
    kr_node node = {.op = KR_NODE_COLUMNS, .compare = compare};
    kr_condition *made = kr_host_calloc(1, sizeof *made, "a condition", err);
    return finish(made,
                  made && kr_condition_add_text(made, left, strlen(left), &node.column, err) &&
                      kr_condition_add_text(made, right, strlen(right), &node.other, err) &&
                      kr_condition_add_node(made, node, err),
                  condition);
}

/* ---- And, or, not ---------------------------------------------------------------------------- */

/* Appends all of `part`, whose places move by what is there already. */
static int add_condition(kr_condition *made, const kr_condition *part, kr_error *err)
{
    const uint64_t literals = made->n_literals, texts = made->n_texts;
    if (!kr_condition_grow((void **)&made->nodes, &made->room_nodes, made->n_nodes, part->n_nodes,
                           sizeof *made->nodes, "a condition", err) ||
        !kr_condition_grow((void **)&made->literals, &made->room_literals, literals, part->n_literals,
                           sizeof *made->literals, "values of a condition", err) ||
        !kr_condition_grow((void **)&made->texts, &made->room_texts, texts, part->n_texts, 1,
                           "texts of a condition", err))
        return 0;
    for (uint64_t i = 0; i < part->n_nodes; ++i) {
        kr_node node = part->nodes[i];
        node.literal += literals;
        node.column += texts;
        node.other += texts;
        node.source += texts;
        made->nodes[made->n_nodes++] = node;
    }
    for (uint64_t i = 0; i < part->n_literals; ++i) {
        kr_literal literal = part->literals[i];
        literal.bits += literal.kind == KR_LITERAL_TEXT ? texts : 0;
        made->literals[made->n_literals++] = literal;
    }
    if (part->n_texts)
        memcpy(made->texts + texts, part->texts, part->n_texts);
    made->n_texts += part->n_texts;
    return 1;
}

static kr_status combine(uint32_t op, const kr_condition *const *conditions, uint32_t n,
                         kr_condition **condition, const char *call, kr_error *err)
{
    if (!condition || (n && !conditions))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: condition%s is NULL", call, condition ? "s" : "");
    for (uint32_t i = 0; i < n; ++i)
        if (!conditions[i])
            return kr_fail(err, KR_ERR_ARGUMENT, "%s: condition %u is NULL", call, i);
    kr_condition *made = kr_host_calloc(1, sizeof *made, "a condition", err);
    int is_whole = made != NULL;
    for (uint32_t i = 0; i < n && is_whole; ++i)
        is_whole = add_condition(made, conditions[i], err);
    if (made)
        made->is_combined = 1;
    return finish(made, is_whole && kr_condition_add_node(made, (kr_node){.op = op, .n = n}, err), condition);
}

kr_status kr_condition_and(const kr_condition *const *conditions, uint32_t n, kr_condition **condition,
                           kr_error *err)
{
    return combine(KR_NODE_AND, conditions, n, condition, "kr_condition_and", err);
}

kr_status kr_condition_or(const kr_condition *const *conditions, uint32_t n, kr_condition **condition,
                          kr_error *err)
{
    return combine(KR_NODE_OR, conditions, n, condition, "kr_condition_or", err);
}

kr_status kr_condition_not(const kr_condition *negated, kr_condition **condition, kr_error *err)
{
    return combine(KR_NODE_NOT, &negated, 1, condition, "kr_condition_not", err);
}
