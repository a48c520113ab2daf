#include "table/condition/join.h"

static void join_operands(const kr_plan *plan, uint64_t at, uint32_t *places, uint32_t *joins,
                          uint32_t *n_joins)
{
    const kr_plan_node *node = plan->nodes + at;
    const uint32_t op = node->op == KR_PLAN_OR ? KR_JOIN_OR : KR_JOIN_AND;
    uint64_t child = at - 1;
    for (uint32_t i = 0; i < node->n; child -= plan->nodes[child].size, ++i) {
        if (places[child] == KR_NO_PLACE)
            continue;
        if (places[at] == KR_NO_PLACE)
            places[at] = places[child];
        else
            joins[(*n_joins)++] = kr_plan_join_of(op, places[at], places[child]);
    }
}

uint32_t kr_plan_join(const kr_plan *plan, uint32_t *places, uint32_t *joins, uint32_t *n_joins)
{
    for (uint64_t at = 0; at < plan->n_nodes; ++at)
        if (plan->nodes[at].op != KR_PLAN_LEAF)
            join_operands(plan, at, places, joins, n_joins);
    return places[plan->n_nodes - 1];
}
