/* Facts by ordinal: phases, components and counters. Past the last of them, and of NULL, there is no name,
 * and the number is 0. */
#include "api/report.h"
#include "join/pairs.h"
#include "table/storage/table.h"

/* kr_index_phase_count and so on: `what` is index, table, join or report. */
#define PHASES(what)                                                            \
    uint32_t kr_##what##_phase_count(const kr_##what *what)                     \
    {                                                                           \
        return what ? what->phases.n : 0;                                       \
    }                                                                           \
                                                                                \
    const char *kr_##what##_phase_name(const kr_##what *what, uint32_t ordinal) \
    {                                                                           \
        return kr_phases_name(what ? &what->phases : NULL, ordinal);            \
    }                                                                           \
                                                                                \
    double kr_##what##_phase_seconds(const kr_##what *what, uint32_t ordinal)   \
    {                                                                           \
        return kr_phases_seconds(what ? &what->phases : NULL, ordinal);         \
    }

/* kr_index_component_count, kr_index_component_name, kr_index_component_nbytes and so on: `fact` is component
 * or counter, `number` is its number, and fill_WHAT_FACTs fills an array of `most`. */
#define FACTS(what, fact, number, most)                                                                    \
    static kr_##fact what##_##fact##_at(const kr_##what *what, uint32_t ordinal)                           \
    {                                                                                                      \
        kr_##fact all[most];                                                                               \
        return what && ordinal < fill_##what##_##fact##s(what, all) ? all[ordinal] : (kr_##fact){NULL, 0}; \
    }                                                                                                      \
                                                                                                           \
    uint32_t kr_##what##_##fact##_count(const kr_##what *what)                                             \
    {                                                                                                      \
        kr_##fact all[most];                                                                               \
        return what ? fill_##what##_##fact##s(what, all) : 0;                                              \
    }                                                                                                      \
                                                                                                           \
    const char *kr_##what##_##fact##_name(const kr_##what *what, uint32_t ordinal)                         \
    {                                                                                                      \
        return what##_##fact##_at(what, ordinal).name;                                                     \
    }                                                                                                      \
                                                                                                           \
    uint64_t kr_##what##_##fact##_##number(const kr_##what *what, uint32_t ordinal)                        \
    {                                                                                                      \
        return what##_##fact##_at(what, ordinal).number;                                                   \
    }

PHASES(index)
PHASES(table)
PHASES(join)
PHASES(report)

static uint32_t fill_index_components(const kr_index *index, kr_component *all)
{
    return kr_index_components(index, all);
}
FACTS(index, component, nbytes, KR_COMPONENTS_MOST)

static uint32_t fill_index_counters(const kr_index *index, kr_counter *all)
{
    return index->ops->counters ? index->ops->counters(index->self, all) : 0;
}
FACTS(index, counter, value, KR_COUNTERS_MOST)

static uint32_t fill_table_components(const kr_table *table, kr_component *all)
{
    return kr_table_components(table, all);
}
FACTS(table, component, nbytes, KR_TABLE_COMPONENTS_MOST)

static uint32_t fill_table_counters(const kr_table *table, kr_counter *all)
{
    return table->ops->counters ? table->ops->counters(table->self, all) : 0;
}
FACTS(table, counter, value, KR_COUNTERS_MOST)
