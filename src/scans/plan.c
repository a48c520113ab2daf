/* From a condition to its normal form. A tree of small parts is made bottom up, flattened and folded as it
 * grows, and then written in postfix order. */
#include "scans/plan.h"
#include "io/values.h"
#include "key/key.h"
#include "kinds/column.h"
#include "scans/grow.h"
#include "scans/intervals.h"
#include "scans/literal.h"
#include "util/spelling.h"

#include <stdio.h>
#include <string.h>

#define NONE UINT64_MAX

/* A part of the tree: a leaf, or an AND or OR of linked parts. */
typedef struct part {
    uint32_t op;
    uint32_t is_folded; /* 1: its leaves are at most one for each column */
    uint64_t leaf;
    uint64_t first, last, next; /* operands; the next operand of the same parent */
} part;

typedef struct making {
    const kr_condition *condition;
    const kr_plan_columns *columns;
    kr_leaf *leaves;
    part *parts;
    uint64_t n_leaves, room_leaves, n_parts, room_parts;
    uint64_t *stack; /* parts that wait for their parent */
    uint64_t n_stack;
    uint64_t *of_column; /* while folding: the part of a column's leaf, or NONE */
    uint8_t *negated;    /* by node */
    kr_error *err;
} making;

static uint64_t most_code(uint32_t type)
{
    return ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
}

static uint64_t add_part(making *m, part made)
{
    if (!kr_grow((void **)&m->parts, &m->room_parts, m->n_parts, 1, sizeof made, "a condition", m->err))
        return NONE;
    made.first = made.last = made.next = NONE;
    m->parts[m->n_parts] = made;
    return m->n_parts++;
}

static uint64_t add_leaf(making *m, kr_leaf leaf)
{
    if (!kr_grow((void **)&m->leaves, &m->room_leaves, m->n_leaves, 1, sizeof leaf, "a condition", m->err)) {
        free(leaf.labels);
        free(leaf.intervals);
        return NONE;
    }
    m->leaves[m->n_leaves++] = leaf;
    return add_part(m, (part){.op = KR_PLAN_LEAF, .leaf = m->n_leaves - 1, .is_folded = 1});
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

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
static kr_status find_column(const making *m, const kr_node *node, int is_other, int found, uint32_t *column)
{
    char place[KR_PLACE_NBYTES], known[200] = "", hint[KR_SPELLING_HINT_NBYTES], quotes[96];
    const char *wanted = m->condition->texts + (is_other ? node->other : node->column);
    kr_spelling nearest = kr_spelling_begin(wanted, strlen(wanted));
    for (uint32_t c = 0; c < m->columns->n; ++c) {
        const size_t used = strlen(known);
        if (!strcmp(m->columns->names[c], wanted)) {
            *column = c;
            return KR_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", c ? ", " : "", m->columns->names[c]);
        kr_spelling_offer(&nearest, m->columns->names[c], strlen(m->columns->names[c]));
    }
    return kr_fail(m->err, KR_ERR_ARGUMENT, "the table has no column '%s'%s%s%s; its columns: %s", wanted,
                   kr_place_text(m->condition, node, is_other ? node->other_at : node->column_at, place),
                   kr_spelling_hint(&nearest, "'", "'", hint), quotes_hint(node, wanted, found, quotes),
                   known);
}

/* Adds the codes of {x : x compare the bound}, for comparisons with one value. */
static int add_compared(kr_code_set *set, uint32_t compare, kr_bound at, uint64_t most, kr_error *err)
{
    /* The codes below the value are 0 .. below - 1, those above it from `above` on, if they exist. */
    const int has_below = at.above || at.code > 0, has_above = !at.above && (!at.exact || at.code < most);
    const uint64_t last_below = at.above ? most : at.code - 1, first_above = at.code + at.exact;
    const int less = compare == KR_LESS || compare == KR_LESS_EQUAL || compare == KR_NOT_EQUAL;
    const int greater = compare == KR_GREATER || compare == KR_GREATER_EQUAL || compare == KR_NOT_EQUAL;
    const int equal = compare == KR_LESS_EQUAL || compare == KR_GREATER_EQUAL || compare == KR_EQUAL;
    return (!less || !has_below || kr_code_set_add(set, 0, last_below, err)) &&
           (!greater || !has_above || kr_code_set_add(set, first_above, most, err)) &&
           (!equal || !at.exact || kr_code_set_add(set, at.code, at.code, err));
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
static int keep_text(const making *m, kr_leaf *leaf, const kr_literal *literal, kr_bound at)
{
    if (literal->kind != KR_LITERAL_TEXT) /* the bits of others are no place in the texts */
        return 1;
    const char *text = m->condition->texts + literal->bits;
    if (m->columns->columns[leaf->column].type == KR_TIMESTAMP64 && kr_value_is_time(text, literal->nbytes))
        leaf->unit = kr_plan_unit(m->columns, leaf->column);
    if (m->columns->columns[leaf->column].type != KR_U32)
        return 1;
    if (!kr_grow((void **)&leaf->labels, &leaf->room_labels, leaf->n_labels, 1, sizeof *leaf->labels,
                 "texts of a condition", m->err))
        return 0;
    leaf->labels[leaf->n_labels++] = (kr_label){at.code, at.exact, text};
    return 1;
}

static kr_status find_values(const making *m, const kr_node *node, kr_leaf *leaf, values *found)
{
    kr_status status = KR_OK;
    found->bounds = kr_host_calloc(node->n, sizeof *found->bounds, "values of a condition", m->err);
    found->is_null = kr_host_calloc(node->n, 1, "values of a condition", m->err);
    if (!found->bounds || !found->is_null)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < node->n && status == KR_OK; ++i) {
        const kr_literal *literal = m->condition->literals + node->literal + i;
        found->is_null[i] = literal->kind == KR_LITERAL_NULL;
        if (!found->is_null[i])
            status = kr_literal_find(m->columns, leaf->column, m->condition, node, literal, &found->bounds[i],
                                     m->err);
        if (status == KR_OK && !keep_text(m, leaf, literal, found->bounds[i]))
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
    kr_code_set_tidy(set);
    if (ok && negated && has_null)
        set->n = 0;
    else if (ok && negated)
        ok = kr_code_set_complement(set, most, err);
    return ok;
}

/* BETWEEN is two comparisons: its opposite holds where one of them is false, whatever the other is. */
static int add_between(kr_code_set *set, const values *v, int negated, uint64_t most, kr_error *err)
{
    kr_code_set outside = {0};
    const int ok = (v->is_null[0] || add_compared(&outside, KR_LESS, v->bounds[0], most, err)) &&
                   (v->is_null[1] || add_compared(&outside, KR_GREATER, v->bounds[1], most, err));
    kr_code_set_tidy(&outside);
    if (ok && !negated && (v->is_null[0] || v->is_null[1]))
        outside.n = 0;
    else if (ok && !negated && !kr_code_set_complement(&outside, most, err))
        return 0;
    *set = outside;
    return ok;
}

static int add_codes(const making *m, const kr_node *node, const values *v, int negated, uint64_t most,
                     kr_code_set *set)
{
    switch (node->compare) {
    case KR_IS_NULL: return !negated || kr_code_set_add(set, 0, most, m->err);
    case KR_IN: return add_in(set, v, node->n, negated, most, m->err);
    case KR_BETWEEN: return add_between(set, v, negated, most, m->err);
    default:
        return v->is_null[0] || add_compared(set, negated ? opposite(node->compare) : node->compare,
                                             v->bounds[0], most, m->err);
    }
}

/* The column has the texts of that dictionary. */
static kr_status check_texts(const making *m, uint32_t column, const char *other, uint64_t dictionary)
{
    char what[64];
    snprintf(what, sizeof what, "column '%.48s'", m->columns->names[column]);
    return kr_column_check_texts(what, m->columns->columns[column].dictionary, other, dictionary, m->err);
}

static kr_status make_comparison(making *m, const kr_node *node, int negated, uint64_t *made)
{
    kr_leaf leaf = {.other = KR_NO_COLUMN};
    kr_code_set set = {0};
    values v = {0};
    kr_status status = find_column(m, node, 0, 0, &leaf.column);
    if (status == KR_OK && node->dictionary) /* numbers stand for codes of whatever dictionary */
        status = check_texts(m, leaf.column, "the values", node->dictionary);
    if (status == KR_OK)
        status = find_values(m, node, &leaf, &v);
    if (status == KR_OK &&
        !add_codes(m, node, &v, negated, most_code(m->columns->columns[leaf.column].type), &set))
        status = KR_ERR_HOST_MEMORY;
    free(v.is_null);
    free(v.bounds);
    if (status != KR_OK) {
        free(leaf.labels);
        free(set.at);
        return status;
    }
    kr_code_set_tidy(&set);
    /* IN () is false even for NULL, so NOT IN () is true for it. */
    leaf.nulls = (node->compare == KR_IS_NULL && !negated) || (node->compare == KR_IN && !node->n && negated);
    leaf.intervals = set.at;
    leaf.n_intervals = set.n;
    leaf.room = set.room;
    *made = add_leaf(m, leaf);
    return *made == NONE ? KR_ERR_HOST_MEMORY : KR_OK;
}

static int same_type(const kr_plan_columns *columns, uint32_t a, uint32_t b)
{
    const kr_type type = columns->columns[a].type;
    return type == columns->columns[b].type &&
           !columns->columns[a].dictionary == !columns->columns[b].dictionary &&
           (type != KR_TIMESTAMP64 || kr_plan_unit(columns, a) == kr_plan_unit(columns, b)) &&
           kr_is_text_column(columns, a) == kr_is_text_column(columns, b);
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
    const int is_text = of->dictionary || kr_is_text_column(columns, column);
    return is_text ? "text" : kr_type_text(of->type, kr_plan_unit(columns, column), text);
}

static kr_status make_columns(making *m, const kr_node *node, int negated, uint64_t *made)
{
    char place[KR_PLACE_NBYTES];
    kr_leaf leaf = {.compare = negated ? opposite(node->compare) : node->compare};
    const int has_other = has_column(m->columns, m->condition->texts + node->other);
    kr_status status = find_column(m, node, 0, has_other, &leaf.column);
    if (status == KR_OK)
        status = find_column(m, node, 1, 1, &leaf.other);
    if (status == KR_OK && !same_type(m->columns, leaf.column, leaf.other)) {
        char left[KR_TYPE_TEXT_NBYTES], right[KR_TYPE_TEXT_NBYTES];
        status = kr_fail(m->err, KR_ERR_TYPE,
                         "columns '%s' and '%s'%s are %s and %s; only columns of one type can be compared",
                         m->columns->names[leaf.column], m->columns->names[leaf.other],
                         kr_place_text(m->condition, node, node->at, place),
                         type_of(m->columns, leaf.column, left), type_of(m->columns, leaf.other, right));
    }
    char other[64];
    if (status == KR_OK) {
        snprintf(other, sizeof other, "column '%.48s'", m->columns->names[leaf.other]);
        status = check_texts(m, leaf.column, other, m->columns->columns[leaf.other].dictionary);
    }
    if (status != KR_OK)
        return status;
    *made = add_leaf(m, leaf);
    return *made == NONE ? KR_ERR_HOST_MEMORY : KR_OK;
}

/* ---- Folding --------------------------------------------------------------------------------- */

/* Parts first ... last, which are linked already. */
static void append_all(making *m, uint64_t parent, uint64_t first, uint64_t last)
{
    part *to = m->parts + parent;
    if (to->last == NONE)
        to->first = first;
    else
        m->parts[to->last].next = first;
    to->last = last;
}

static void append(making *m, uint64_t parent, uint64_t child)
{
    append_all(m, parent, child, child);
}

static void release_leaf(kr_leaf *leaf)
{
    free(leaf->labels);
    free(leaf->intervals);
    leaf->labels = NULL;
    leaf->intervals = NULL;
}

/* `more` becomes part of `leaf`: united under an OR; under an AND the complements are. */
static int fold_leaf(making *m, kr_leaf *leaf, kr_leaf *more, uint32_t op)
{
    kr_code_set set = {leaf->intervals, leaf->n_intervals, leaf->room};
    int ok = kr_grow((void **)&set.at, &set.room, set.n, more->n_intervals, sizeof *set.at,
                     "intervals of a condition", m->err);
    if (ok && more->n_intervals)
        memcpy(set.at + set.n, more->intervals, more->n_intervals * sizeof *set.at);
    set.n += ok ? more->n_intervals : 0;
    ok = ok && kr_grow((void **)&leaf->labels, &leaf->room_labels, leaf->n_labels, more->n_labels,
                       sizeof *leaf->labels, "texts of a condition", m->err);
    if (ok && more->n_labels)
        memcpy(leaf->labels + leaf->n_labels, more->labels, more->n_labels * sizeof *leaf->labels);
    leaf->n_labels += ok ? more->n_labels : 0;
    if (leaf->unit == KR_UNIT_NONE)
        leaf->unit = more->unit;
    release_leaf(more);
    leaf->intervals = set.at;
    leaf->n_intervals = set.n;
    leaf->room = set.room;
    leaf->nulls = op == KR_PLAN_AND ? leaf->nulls & more->nulls : leaf->nulls | more->nulls;
    return ok;
}

static int turn(making *m, kr_leaf *leaf, uint32_t op)
{
    kr_code_set set = {leaf->intervals, leaf->n_intervals, leaf->room};
    int ok = 1;
    kr_code_set_tidy(&set);
    if (op == KR_PLAN_AND)
        ok = kr_code_set_complement(&set, most_code(m->columns->columns[leaf->column].type), m->err);
    leaf->intervals = set.at;
    leaf->n_intervals = set.n;
    leaf->room = set.room;
    return ok;
}

/* 1: true for every row; 0: for none; -1: neither is known. */
static int truth(const making *m, const part *p)
{
    if (p->op != KR_PLAN_LEAF)
        return p->first != NONE ? -1 : p->op == KR_PLAN_AND;
    const kr_leaf *leaf = m->leaves + p->leaf;
    const kr_column *column = m->columns->columns + leaf->column;
    if (leaf->other != KR_NO_COLUMN)
        return -1;
    if (!leaf->n_intervals && (!leaf->nulls || !column->validity))
        return 0;
    const int all = leaf->n_intervals == 1 && !leaf->intervals[0].low &&
                    leaf->intervals[0].high == most_code(column->type);
    return all && (leaf->nulls || !column->validity) ? 1 : -1;
}

/* Joins the leaves of one column; leaves come first then. Operands that do not matter go away; one that
 * decides stays alone. */
static int fold(making *m, uint64_t at)
{
    const uint32_t op = m->parts[at].op;
    const int neutral = op == KR_PLAN_AND;
    uint64_t leaves = m->parts[at].first, next, others = NONE;
    int ok = 1, decided = 0;
    m->parts[at].first = m->parts[at].last = NONE;
    for (uint64_t i = leaves; i != NONE && ok; i = next) {
        part *p = m->parts + i;
        kr_leaf *leaf = p->op == KR_PLAN_LEAF ? m->leaves + p->leaf : NULL;
        next = p->next;
        p->next = NONE;
        if (!leaf) {
            p->next = others;
            others = i;
        } else if (leaf->other != KR_NO_COLUMN) {
            append(m, at, i);
        } else {
            uint64_t *of = m->of_column + leaf->column;
            ok = op != KR_PLAN_AND || turn(m, leaf, op);
            if (ok && *of == NONE)
                append(m, at, *of = i);
            else if (ok)
                ok = fold_leaf(m, m->leaves + m->parts[*of].leaf, leaf, op);
        }
    }
    leaves = m->parts[at].first;
    m->parts[at].first = m->parts[at].last = NONE;
    for (uint64_t i = leaves; i != NONE; i = next) {
        kr_leaf *leaf = m->leaves + m->parts[i].leaf;
        next = m->parts[i].next;
        m->parts[i].next = NONE;
        if (leaf->other == KR_NO_COLUMN) {
            m->of_column[leaf->column] = NONE;
            ok = ok && turn(m, leaf, op);
        }
        decided |= ok && truth(m, m->parts + i) == !neutral;
        if (ok && truth(m, m->parts + i) == -1)
            append(m, at, i);
    }
    for (uint64_t i = others; i != NONE; i = next) {
        next = m->parts[i].next;
        m->parts[i].next = NONE;
        decided |= truth(m, m->parts + i) == !neutral;
        if (truth(m, m->parts + i) == -1)
            append(m, at, i);
    }
    if (decided)
        m->parts[at] = (part){neutral ? KR_PLAN_OR : KR_PLAN_AND, 1, 0, NONE, NONE, NONE};
    m->parts[at].is_folded = 1;
    return ok;
}

/* The part that stands for `at`, folded: itself, or its only operand. */
static uint64_t finish(making *m, uint64_t at)
{
    if (!m->parts[at].is_folded && !fold(m, at))
        return NONE;
    const part *p = m->parts + at;
    if (p->op == KR_PLAN_LEAF && truth(m, p) >= 0)
        return add_part(m, (part){.op = truth(m, p) ? KR_PLAN_AND : KR_PLAN_OR, .is_folded = 1});
    return p->op != KR_PLAN_LEAF && p->first != NONE && p->first == p->last ? p->first : at;
}

static int join(making *m, uint32_t op, uint64_t n)
{
    const uint64_t made = add_part(m, (part){.op = op});
    if (made == NONE)
        return 0;
    m->n_stack -= n;
    for (uint64_t i = 0; i < n; ++i) {
        uint64_t child = m->stack[m->n_stack + i];
        if (m->parts[child].op != op && (child = finish(m, child)) == NONE)
            return 0;
        m->parts[child].next = NONE;
        if (m->parts[child].op != op)
            append(m, made, child);
        else if (m->parts[child].first != NONE) /* else true in an AND, false in an OR */
            append_all(m, made, m->parts[child].first, m->parts[child].last);
    }
    m->stack[m->n_stack++] = made;
    return 1;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* From the root down: what stands under an odd number of NOTs. */
static void find_negated(making *m)
{
    const kr_node *nodes = m->condition->nodes;
    for (uint64_t i = m->condition->n_nodes; i-- > 0;) {
        uint64_t child = i - 1;
        for (uint64_t k = 0; nodes[i].op >= KR_NODE_AND && k < nodes[i].n; ++k) {
            m->negated[child] = m->negated[i] ^ (nodes[i].op == KR_NODE_NOT);
            child -= nodes[child].size;
        }
    }
}

static kr_status make_node(making *m, uint64_t i)
{
    const kr_node *node = m->condition->nodes + i;
    uint64_t made = NONE;
    kr_status status = KR_OK;
    if (node->op == KR_NODE_NOT)
        return KR_OK;
    if (node->op == KR_NODE_AND || node->op == KR_NODE_OR)
        return join(m, (node->op == KR_NODE_AND) != m->negated[i] ? KR_PLAN_AND : KR_PLAN_OR, node->n)
                   ? KR_OK
                   : KR_ERR_HOST_MEMORY;
    status = node->op == KR_NODE_COLUMNS ? make_columns(m, node, m->negated[i], &made)
                                         : make_comparison(m, node, m->negated[i], &made);
    if (status == KR_OK)
        m->stack[m->n_stack++] = made;
    return status;
}

static int add_plan_node(kr_plan *plan, kr_plan_node node, kr_error *err)
{
    if (!kr_grow((void **)&plan->nodes, &plan->room_nodes, plan->n_nodes, 1, sizeof node, "a condition", err))
        return 0;
    plan->nodes[plan->n_nodes++] = node;
    return 1;
}

static int write_leaf(making *m, kr_plan *plan, const part *p)
{
    if (!kr_grow((void **)&plan->leaves, &plan->room_leaves, plan->n_leaves, 1, sizeof *plan->leaves,
                 "a condition", m->err))
        return 0;
    plan->leaves[plan->n_leaves] = m->leaves[p->leaf];
    m->leaves[p->leaf].intervals = NULL; /* the plan's from now on */
    m->leaves[p->leaf].labels = NULL;
    return add_plan_node(plan, (kr_plan_node){KR_PLAN_LEAF, (uint32_t)plan->n_leaves++, 1}, m->err);
}

/* Postfix order of the parts below `root`. `open` holds the way there: each part and its next operand. */
static int write_plan(making *m, uint64_t root, kr_plan *plan)
{
    typedef struct step {
        uint64_t part, next, n, begin;
    } step;
    step *open = NULL;
    uint64_t n_open = 0, room = 0, at = root;
    int ok = 1;
    while (ok) {
        const part *p = m->parts + at;
        if (p->op == KR_PLAN_LEAF) {
            ok = write_leaf(m, plan, p);
        } else {
            ok = kr_grow((void **)&open, &room, n_open, 1, sizeof *open, "a condition", m->err);
            if (ok)
                open[n_open++] = (step){at, p->first, 0, plan->n_nodes};
        }
        while (ok && n_open && open[n_open - 1].next == NONE) {
            const step *done = open + --n_open;
            ok = add_plan_node(
                plan,
                (kr_plan_node){m->parts[done->part].op, (uint32_t)done->n, plan->n_nodes - done->begin + 1},
                m->err);
        }
        if (!ok || !n_open)
            break;
        at = open[n_open - 1].next;
        open[n_open - 1].next = m->parts[at].next;
        ++open[n_open - 1].n;
    }
    free(open);
    return ok;
}

static kr_status make(making *m, kr_plan *plan)
{
    const uint64_t n = m->condition->n_nodes;
    kr_status status = KR_OK;
    m->stack = kr_host_calloc(n, sizeof *m->stack, "a condition", m->err);
    m->negated = kr_host_calloc(n, 1, "a condition", m->err);
    m->of_column = kr_host_calloc(m->columns->n, sizeof *m->of_column, "a condition", m->err);
    if (!m->stack || !m->negated || !m->of_column)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t c = 0; c < m->columns->n; ++c)
        m->of_column[c] = NONE;
    find_negated(m);
    for (uint64_t i = 0; i < n && status == KR_OK; ++i)
        status = make_node(m, i);
    if (status != KR_OK)
        return status;
    const uint64_t root = finish(m, m->stack[0]);
    return root != NONE && write_plan(m, root, plan) ? KR_OK : KR_ERR_HOST_MEMORY;
}

kr_status kr_plan_make(const kr_condition *condition, const kr_plan_columns *columns, kr_plan *plan,
                       kr_error *err)
{
    kr_plan made = {0};
    making m = {.condition = condition, .columns = columns, .err = err};
    kr_status status = KR_OK;
    if (condition)
        status = make(&m, &made);
    else if (!add_plan_node(&made, (kr_plan_node){KR_PLAN_AND, 0, 1}, err))
        status = KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < m.n_leaves; ++i)
        release_leaf(m.leaves + i);
    free(m.of_column);
    free(m.negated);
    free(m.stack);
    free(m.parts);
    free(m.leaves);
    if (status != KR_OK) {
        kr_plan_release(&made);
        return status;
    }
    *plan = made;
    return KR_OK;
}

void kr_plan_release(kr_plan *plan)
{
    for (uint64_t i = 0; i < plan->n_leaves; ++i)
        release_leaf(plan->leaves + i);
    free(plan->nodes);
    free(plan->leaves);
    *plan = (kr_plan){0};
}
