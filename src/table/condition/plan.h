/* The normal form of a condition over the columns of one table: AND and OR of leaves, without NOT.
 *
 * NOT goes to the leaves first, which is exact in three-valued logic. From there on a leaf is true or not
 * true, so AND and OR have two values. A leaf on one column is a set of codes (base/key/key.h) and whether
 * NULL belongs to it. Under one AND, and under one OR, there is at most one leaf for each column. */
#ifndef KEYRAY_TABLE_CONDITION_PLAN_H
#define KEYRAY_TABLE_CONDITION_PLAN_H

#include "table/condition/columns.h"
#include "table/condition/leaf.h"

enum { KR_PLAN_LEAF, KR_PLAN_AND, KR_PLAN_OR };

/* In postfix order. Under an AND there are leaves and ORs, under an OR leaves and ANDs; in both cases leaves
 * come first. An AND of nothing is true, an OR of nothing false; these stand alone. */
typedef struct kr_plan_node {
    uint32_t op;
    uint32_t n;    /* LEAF: which; else operands, which end right before this node */
    uint64_t size; /* nodes of this subtree, which ends here */
} kr_plan_node;

typedef struct kr_plan {
    kr_leaf *leaves;
    kr_plan_node *nodes;
    uint64_t n_leaves, n_nodes;
    uint64_t room_leaves, room_nodes;
} kr_plan;

/* 0: the plan is a leaf, an AND of leaves, or constant. */
static inline int kr_plan_has_or(const kr_plan *plan)
{
    return plan->n_nodes > plan->n_leaves + 1 ||
           (plan->n_leaves && plan->nodes[plan->n_nodes - 1].op == KR_PLAN_OR);
}

/* condition NULL: true. KR_ERR_ARGUMENT for an unknown column, KR_ERR_TYPE for a value of another type. */
kr_status kr_plan_make(const kr_condition *condition, const kr_plan_columns *columns, kr_plan *plan,
                       kr_error *err);
void kr_plan_release(kr_plan *plan);

#endif
