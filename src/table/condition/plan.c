/* From a condition to its normal form. A tree of small parts is made bottom up, flattened and folded as it
 * grows, and then written in postfix order. */
#include "table/condition/plan.h"
#include "table/condition/grow.h"
#include "table/condition/intervals.h"

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

static uint64_t add_part(making *m, part made)
{
    if (!kr_condition_grow((void **)&m->parts, &m->room_parts, m->n_parts, 1, sizeof made, "a condition",
                           m->err))
        return NONE;
    made.first = made.last = made.next = NONE;
    m->parts[m->n_parts] = made;
    return m->n_parts++;
}

static uint64_t add_leaf(making *m, kr_leaf leaf)
{
    if (!kr_condition_grow((void **)&m->leaves, &m->room_leaves, m->n_leaves, 1, sizeof leaf, "a condition",
                           m->err)) {
        kr_leaf_release(&leaf);
        return NONE;
    }
    m->leaves[m->n_leaves++] = leaf;
    return add_part(m, (part){.op = KR_PLAN_LEAF, .leaf = m->n_leaves - 1, .is_folded = 1});
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

/* `more` becomes part of `leaf`: united under an OR; under an AND the complements are. */
static int fold_leaf(making *m, kr_leaf *leaf, kr_leaf *more, uint32_t op)
{
    kr_code_set set = {leaf->intervals, leaf->n_intervals, leaf->room};
    int ok = kr_condition_grow((void **)&set.at, &set.room, set.n, more->n_intervals, sizeof *set.at,
                               "intervals of a condition", m->err);
    if (ok && more->n_intervals)
        memcpy(set.at + set.n, more->intervals, more->n_intervals * sizeof *set.at);
    set.n += ok ? more->n_intervals : 0;
    ok = ok && kr_condition_grow((void **)&leaf->labels, &leaf->room_labels, leaf->n_labels, more->n_labels,
                                 sizeof *leaf->labels, "texts of a condition", m->err);
    if (ok && more->n_labels)
        memcpy(leaf->labels + leaf->n_labels, more->labels, more->n_labels * sizeof *leaf->labels);
    leaf->n_labels += ok ? more->n_labels : 0;
    if (leaf->unit == KR_UNIT_NONE)
        leaf->unit = more->unit;
    kr_leaf_release(more);
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
    kr_intervals_tidy(&set);
    if (op == KR_PLAN_AND)
        ok = kr_intervals_complement(&set, kr_plan_most_code(m->columns->columns[leaf->column].type), m->err);
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
                    leaf->intervals[0].high == kr_plan_most_code(column->type);
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
    const int negated = m->negated[i];
    kr_leaf leaf = {0};
    if (node->op == KR_NODE_NOT)
        return KR_OK;
    if (node->op == KR_NODE_AND || node->op == KR_NODE_OR)
        return join(m, (node->op == KR_NODE_AND) != negated ? KR_PLAN_AND : KR_PLAN_OR, node->n)
                   ? KR_OK
                   : KR_ERR_HOST_MEMORY;
    const kr_status status = node->op == KR_NODE_COLUMNS
                                 ? kr_leaf_of_columns(m->condition, node, negated, m->columns, &leaf, m->err)
                                 : kr_leaf_of_values(m->condition, node, negated, m->columns, &leaf, m->err);
    if (status != KR_OK)
        return status;
    const uint64_t made = add_leaf(m, leaf);
    if (made == NONE)
        return KR_ERR_HOST_MEMORY;
    m->stack[m->n_stack++] = made;
    return KR_OK;
}

static int add_plan_node(kr_plan *plan, kr_plan_node node, kr_error *err)
{
    if (!kr_condition_grow((void **)&plan->nodes, &plan->room_nodes, plan->n_nodes, 1, sizeof node,
                           "a condition", err))
        return 0;
    plan->nodes[plan->n_nodes++] = node;
    return 1;
}

static int write_leaf(making *m, kr_plan *plan, const part *p)
{
    if (!kr_condition_grow((void **)&plan->leaves, &plan->room_leaves, plan->n_leaves, 1,
                           sizeof *plan->leaves, "a condition", m->err))
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
            ok = kr_condition_grow((void **)&open, &room, n_open, 1, sizeof *open, "a condition", m->err);
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
        kr_leaf_release(m.leaves + i);
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
        kr_leaf_release(plan->leaves + i);
    free(plan->nodes);
    free(plan->leaves);
    *plan = (kr_plan){0};
}
