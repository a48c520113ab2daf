/* Predicates of TPC-H's Q3, Q6 and Q17 on a denormalised table, as Lv et al., "RTScan", section 5.5. */
#include "scan_job.h"

#include "tools/terminal/tool.h"

#include <stdio.h>
#include <string.h>

enum { Q3 = 1, Q6, Q17, DRAWS = 4 /* random numbers of a query */ };

static const struct {
    const char *name;
    kr_type type;
    kr_tpch_column column;
} tables[][BENCH_TPCH_COLUMNS] = {
    [Q3] = {{"l_shipdate", KR_DATE32, KR_TPCH_SHIPDATE},
            {"o_orderdate", KR_DATE32, KR_TPCH_ORDERDATE},
            {"c_mktsegment", KR_U32, KR_TPCH_SEGMENT}},
    [Q6] = {{"l_shipdate", KR_DATE32, KR_TPCH_SHIPDATE},
            {"l_discount", KR_U32, KR_TPCH_DISCOUNT}, /* in hundredths, as a DECIMAL(15,2) is kept */
            {"l_quantity", KR_U32, KR_TPCH_QUANTITY}},
    [Q17] = {{"p_brand", KR_U32, KR_TPCH_BRAND},
             {"p_container", KR_U32, KR_TPCH_CONTAINER},
             {"l_quantity", KR_U32, KR_TPCH_QUANTITY}},
};

/* ---- The table ------------------------------------------------------------------------------- */

int bench_tpch_settle(workload *w)
{
    const workload standard = WORKLOAD_DEFAULTS;
    if (!w->tpch && w->scale != standard.scale)
        return tool_fail(USAGE,
                         "--scale sets the size of TPC-H's tables; give --workload q3, q6 or q17, too");
    if (!w->tpch)
        return DONE;
    if (w->rows != standard.rows || w->append || w->predicates != standard.predicates || w->distribution ||
        w->wide || w->ascending || w->selectivity != standard.selectivity)
        return tool_fail(
            USAGE,
            "--workload of a TPC-H query has its own table and conditions, so leave out --rows, --append, "
            "--predicates, --distribution, --width, --ascending and --selectivity; --scale sets its size");
    const kr_tpch_spec spec = {w->scale, w->value_seed};
    w->rows = kr_tpch_rows(&spec);
    w->predicates = BENCH_TPCH_COLUMNS;
    return DONE;
}

const char *bench_tpch_name(const workload *w, uint32_t c)
{
    return tables[w->tpch][c].name;
}

kr_type bench_tpch_type(const workload *w, uint32_t c)
{
    return tables[w->tpch][c].type;
}

void bench_tpch_values(const workload *w, uint32_t c, uint32_t threads, uint32_t *values)
{
    const kr_tpch_spec spec = {w->scale, w->value_seed};
    kr_generate_tpch(&spec, tables[w->tpch][c].column, threads, values);
}

int bench_tpch_find_text(void *ctx, uint32_t c, const char *text, size_t nbytes, uint32_t *code)
{
    const workload *w = ctx;
    const kr_tpch_column column = tables[w->tpch][c].column;
    const uint32_t n = kr_tpch_words(column);
    char word[16] = "";
    int order = -1;
    *code = 0;
    while (*code < n && order < 0) {
        kr_tpch_word(column, *code, word);
        const size_t length = strlen(word), both = length < nbytes ? length : nbytes;
        order = memcmp(word, text, both);
        if (order == 0)
            order = (length > nbytes) - (length < nbytes);
        *code += order < 0;
    }
    return n ? *code < n && order == 0 : -1;
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Days since 1970 of a first of January, of years that TPC-H has. */
static uint32_t new_year(uint32_t year)
{
    return 365 * (year - 1970) + (year - 1969) / 4;
}

/* A day of March, 1995. */
static uint32_t march(uint32_t day)
{
    return new_year(1995) + 31 + 28 + day - 1;
}

static kr_bounds equal(uint64_t value)
{
    return (kr_bounds){value, value + 1};
}

/* Random number k of query i, below n; of the first query the value that TPC-H validates with. */
static uint32_t draw(const workload *w, uint64_t i, uint32_t k, uint32_t n, uint32_t first)
{
    return i ? (uint32_t)kr_tpch_random(w->value_seed, i * DRAWS + k, n) : first;
}

static void write_q3(const workload *w, uint64_t i, kr_bounds *bounds, char text[192])
{
    const uint32_t day = 1 + draw(w, i, 0, 31, 14), segment = draw(w, i, 1, 5, 1);
    char word[16];
    kr_tpch_word(KR_TPCH_SEGMENT, segment, word);
    bounds[0] = (kr_bounds){march(day) + 1, (uint64_t)UINT32_MAX + 1};
    bounds[1] = (kr_bounds){0, march(day)};
    bounds[2] = equal(segment);
    snprintf(text, 192,
             "l_shipdate > date '1995-03-%02u' and o_orderdate < date '1995-03-%02u' and c_mktsegment = '%s'",
             day, day, word);
}

static void write_q6(const workload *w, uint64_t i, kr_bounds *bounds, char text[192])
{
    const uint32_t year = 1993 + draw(w, i, 0, 5, 1), discount = 2 + draw(w, i, 1, 8, 4),
                   quantity = 24 + draw(w, i, 2, 2, 0);
    bounds[0] = (kr_bounds){new_year(year), new_year(year + 1)};
    bounds[1] = (kr_bounds){discount - 1, discount + 2};
    bounds[2] = (kr_bounds){0, quantity};
    snprintf(
        text, 192,
        "l_shipdate >= date '%u-01-01' and l_shipdate < date '%u-01-01' and l_discount between %u and %u "
        "and l_quantity < %u",
        year, year + 1, discount - 1, discount + 1, quantity);
}

static void write_q17(const workload *w, uint64_t i, kr_bounds *bounds, char text[192])
{
    const uint32_t brand = draw(w, i, 0, 25, 7), container = draw(w, i, 1, 40, 17);
    char words[2][16];
    kr_tpch_word(KR_TPCH_BRAND, brand, words[0]);
    kr_tpch_word(KR_TPCH_CONTAINER, container, words[1]);
    bounds[0] = equal(brand);
    bounds[1] = equal(container);
    bounds[2] = (kr_bounds){0, 6}; /* TPC-H has a mean here, the paper this constant */
    snprintf(text, 192, "p_brand = '%s' and p_container = '%s' and l_quantity < 6", words[0], words[1]);
}

static void write_query(const workload *w, uint64_t i, kr_bounds *bounds, char text[192])
{
    switch (w->tpch) {
    case Q3: write_q3(w, i, bounds, text); break;
    case Q6: write_q6(w, i, bounds, text); break;
    default: write_q17(w, i, bounds, text);
    }
}

kr_status bench_tpch_condition(const workload *w, uint64_t i, kr_bounds *bounds, kr_condition **condition,
                               kr_error *err)
{
    char text[192];
    write_query(w, i, bounds, text);
    return kr_condition_parse(text, condition, err);
}

void bench_tpch_text(const workload *w, char text[192])
{
    kr_bounds bounds[BENCH_TPCH_COLUMNS];
    write_query(w, 0, bounds, text);
}
