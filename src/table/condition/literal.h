/* Where a value lies among the codes of a column. */
#ifndef KEYRAY_TABLE_CONDITION_LITERAL_H
#define KEYRAY_TABLE_CONDITION_LITERAL_H

#include "table/condition/columns.h"
#include "table/condition/condition.h"

/* The first code whose value is not below the literal, and whether it equals it. */
typedef struct kr_bound {
    uint64_t code;
    uint32_t exact;
    uint32_t above; /* 1: all values of the type are below */
} kr_bound;

/* KR_ERR_TYPE if the literal is of another type than the column. */
kr_status kr_literal_find(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                          const kr_node *node, const kr_literal *literal, kr_bound *bound, kr_error *err);

/* The bounds of all texts of a comparison, of a column with a dictionary of the table: bounds[i] is that of
 * literal i of the node; what is no text, is left out. */
kr_status kr_literal_find_texts(const kr_plan_columns *columns, uint32_t column,
                                const kr_condition *condition, const kr_node *node, kr_bound *bounds,
                                kr_error *err);

/* Adds the codes whose text matches the pattern of a LIKE; NULL adds none. KR_ERR_TYPE if the column has no
 * texts, KR_ERR_ARGUMENT for an escape that is none. */
kr_status kr_literal_like(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                          const kr_node *node, kr_code_set *set, kr_error *err);
/* 1: its pattern or its escape is NULL, so it is unknown for all rows. */
int kr_literal_is_null_like(const kr_condition *condition, const kr_node *node);

/* 1: the column has codes of texts. */
int kr_literal_is_text_column(const kr_plan_columns *columns, uint32_t column);

/* " at character 7", or "" for conditions that were not parsed: at is 0. Where the condition was made of
 * several, the text follows whose character that is. */
enum { KR_PLACE_NBYTES = 120 };
const char *kr_literal_place_text(const kr_condition *condition, const kr_node *node, uint64_t at,
                                  char text[KR_PLACE_NBYTES]);

#endif
