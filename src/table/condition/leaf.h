/* Leaves of a plan: the codes of one column for which a comparison of a condition is true. */
#ifndef KEYRAY_TABLE_CONDITION_LEAF_H
#define KEYRAY_TABLE_CONDITION_LEAF_H

#include "table/condition/columns.h"
#include "table/condition/condition.h"
#include "table/condition/intervals.h"

/* Where a text of the condition lies among the codes of a column with a dictionary. */
typedef struct kr_label {
    uint64_t code;    /* the first whose text is not below */
    uint32_t exact;   /* 1: it is that text */
    const char *text; /* the condition's */
    uint64_t nbytes;
} kr_label;

typedef struct kr_leaf {
    uint32_t column;
    uint32_t other;   /* KR_NO_COLUMN; or compare `column` with this column of the same type, see `compare` */
    uint32_t compare; /* KR_LESS ... KR_NOT_EQUAL; such a leaf is not true where one of both is NULL */
    uint32_t nulls;   /* 1: rows whose value is NULL belong to the leaf */
    kr_unit unit;     /* of a timestamp that was compared with texts; else KR_UNIT_NONE */
    uint64_t n_intervals, room; /* room: how many there is memory for */
    kr_interval *intervals;     /* ascending; between two of them lies at least one code */
    uint64_t n_labels, room_labels;
    kr_label *labels; /* for descriptions; valid while the condition is */
} kr_leaf;

/* A comparison with values, or, `negated`, its opposite. KR_ERR_ARGUMENT for an unknown column, KR_ERR_TYPE
 * for a value of another type. */
kr_status kr_leaf_of_values(const kr_condition *condition, const kr_node *node, int negated,
                            const kr_plan_columns *columns, kr_leaf *leaf, kr_error *err);
/* A comparison of two columns; otherwise the same. */
kr_status kr_leaf_of_columns(const kr_condition *condition, const kr_node *node, int negated,
                             const kr_plan_columns *columns, kr_leaf *leaf, kr_error *err);
void kr_leaf_release(kr_leaf *leaf);

#endif
