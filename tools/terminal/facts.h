/* Lists that the library reports about indexes, lookups and joins, copied to outlive the object. */
#ifndef KEYRAY_TERMINAL_FACTS_H
#define KEYRAY_TERMINAL_FACTS_H

#include <keyray/keyray.h>

enum { FACTS_MOST = 16 };

/* Seconds of phases; or bytes, counters and probes. */
typedef struct facts {
    uint32_t n;
    struct {
        char name[32];
        double seconds;
        uint64_t number;
    } at[FACTS_MOST];
} facts;

/* 0 where there is none of that name. */
uint64_t facts_number(const facts *list, const char *name);

/* Adds the numbers and seconds of `one`, by name. */
void facts_add(facts *sum, const facts *one);
/* Means of n. */
void facts_divide(facts *list, uint64_t n);

typedef struct index_facts {
    kr_index_info info;
    facts phases, components, counters;
} index_facts;

typedef struct report_facts {
    uint64_t probes;
    facts orders, phases, counters;
} report_facts;

/* The filled share of nodes; nodes of a list. 0 without lists. */
int index_facts_has_lists(const index_facts *index); /* those of cgrx:updates=on */
double index_facts_fill(const index_facts *index);
double index_facts_nodes_per_list(const index_facts *index);

/* Both return the exit code. */
int index_facts_take(const kr_index *index, index_facts *taken);
void report_facts_take(const kr_report *report, report_facts *taken);
void join_phases_take(const kr_join *join, facts *taken);
/* Of a table: an index_facts whose info has what both have. */
int table_facts_take(const kr_table *table, index_facts *taken);
void table_phases_take(const kr_table *table, facts *taken);

/* "partitioned"; where it was not the same for all probes, with their numbers: "partitioned 8388608, as-is
 * 5". */
const char *report_facts_order(const report_facts *report, char text[96]);

#endif
