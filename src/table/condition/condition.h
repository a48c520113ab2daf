/* Conditions: the nodes of an expression in postfix order, so that no depth of nesting needs recursion. */
#ifndef KEYRAY_TABLE_CONDITION_CONDITION_H
#define KEYRAY_TABLE_CONDITION_CONDITION_H

#include "base/util/error.h"

enum { KR_NODE_COMPARE, KR_NODE_COLUMNS, KR_NODE_AND, KR_NODE_OR, KR_NODE_NOT };

/* HUGE: an integer of more than 64 bits. */
enum {
    KR_LITERAL_NULL,
    KR_LITERAL_INTEGER,
    KR_LITERAL_HUGE,
    KR_LITERAL_REAL,
    KR_LITERAL_DATE,
    KR_LITERAL_TIME,
    KR_LITERAL_TEXT
};

/* A value before it is known which column it is compared with. */
typedef struct kr_literal {
    uint32_t kind;
    uint32_t negative; /* INTEGER, HUGE */
    uint64_t bits;   /* INTEGER: the magnitude; HUGE, REAL: of a double; DATE, TIME: an int64; TEXT: where it
                        begins */
    uint64_t nbytes; /* TEXT */
    uint64_t at;     /* its first character in the parsed text, counted from 1; 0: not parsed */
    uint32_t beyond; /* HUGE, REAL: 1: finite, but no double is as large; `bits` are of an infinity */
} kr_literal;

typedef struct kr_node {
    uint32_t op;
    uint32_t compare;             /* COMPARE, COLUMNS: a kr_compare */
    uint64_t n;                   /* AND, OR: operands; COMPARE: literals */
    uint64_t size;                /* nodes of this subtree, which ends here */
    uint64_t literal;             /* COMPARE: the first */
    uint64_t column, other;       /* where the names are among the texts; `other` of COLUMNS only */
    uint64_t dictionary;          /* COMPARE: of the literals, which are codes of texts; 0: they are not */
    uint64_t at;                  /* its first character in the parsed text, counted from 1; 0: not parsed */
    uint64_t column_at, other_at; /* the same of the names */
    uint64_t source;              /* where the parsed text is among the texts */
} kr_node;

/* All of a condition; the last node is the root. */
struct kr_condition {
    kr_node *nodes;
    kr_literal *literals;
    char *texts;
    uint64_t n_nodes, n_literals, n_texts;
    uint64_t room_nodes, room_literals, room_texts;
    uint32_t is_combined; /* 1: of conditions that may have been parsed from a text each */
};

/* Append; they return 0 if there is no memory. `size` of AND, OR and NOT is found from their operands. */
int kr_condition_add_node(kr_condition *condition, kr_node node, kr_error *err);
int kr_condition_add_literal(kr_condition *condition, kr_literal literal, kr_error *err);
/* A NUL follows the text. */
int kr_condition_add_text(kr_condition *condition, const char *text, uint64_t nbytes, uint64_t *where,
                          kr_error *err);

#endif
