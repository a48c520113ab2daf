#include "bench/workload/workload.h"

#include <stdio.h>

/* TPC-H, clause 4.2.3, where seeds are ours: each value is a function of the seed and of what it belongs to.
 */

enum {
    ORDERS = 15000, /* of a hundredth of scale factor 1, as all numbers here */
    CUSTOMERS = 1500,
    PARTS = 2000,
    LINES_MOST = 7,
    FIRST_DAY = 8035, /* 1992-01-01 */
    LAST_DAY = 10591, /* 1998-12-31 */
    ORDER_DAYS = LAST_DAY - 151 - FIRST_DAY + 1,
    SHIP_DAYS = 121
};

/* What a random number is for. */
enum { LINES, ORDER_DAY, CUSTOMER, SEGMENT, PART, BRAND, CONTAINER, SHIPPED, DISCOUNT, QUANTITY, CONSTANT };

static const char *const segments[] = {"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"};
static const char *const sizes[] = {"JUMBO", "LG", "MED", "SM", "WRAP"};
static const char *const boxes[] = {"BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG"};

static uint64_t draw(uint64_t seed, uint32_t use, uint64_t i, uint64_t n)
{
    return kr_scale(kr_random(kr_random_stream(kr_mix(seed) + use, KR_USE_TPCH), i), n);
}

uint64_t kr_tpch_random(uint64_t seed, uint64_t i, uint64_t n)
{
    return draw(seed ? seed : 42, CONSTANT, i, n);
}

uint32_t kr_tpch_words(kr_tpch_column column)
{
    switch (column) {
    case KR_TPCH_SEGMENT: return 5;
    case KR_TPCH_BRAND: return 25;
    case KR_TPCH_CONTAINER: return 40;
    default: return 0;
    }
}

void kr_tpch_word(kr_tpch_column column, uint32_t i, char text[16])
{
    if (column == KR_TPCH_SEGMENT)
        snprintf(text, 16, "%s", segments[i]);
    else if (column == KR_TPCH_BRAND)
        snprintf(text, 16, "Brand#%u%u", (uint8_t)(i / 5 + 1), (uint8_t)(i % 5 + 1));
    else
        snprintf(text, 16, "%s %s", sizes[i / 8], boxes[i % 8]);
}

/* ---- Columns --------------------------------------------------------------------------------- */

typedef struct tpch {
    uint64_t hundreds, seed, n_orders;
    kr_tpch_column column;
    uint64_t rows[KR_WORKLOAD_PARTS_MAX]; /* of a part's orders, or of those before it */
    uint32_t *values;
} tpch;

static uint64_t lines_of(const tpch *t, uint64_t order)
{
    return 1 + draw(t->seed, LINES, order, LINES_MOST);
}

static uint32_t value_of(const tpch *t, uint64_t order, uint64_t row)
{
    const uint32_t day = FIRST_DAY + (uint32_t)draw(t->seed, ORDER_DAY, order, ORDER_DAYS);
    const uint64_t part = draw(t->seed, PART, row, PARTS * t->hundreds);
    switch (t->column) {
    case KR_TPCH_ORDERDATE: return day;
    case KR_TPCH_SHIPDATE: return day + 1 + (uint32_t)draw(t->seed, SHIPPED, row, SHIP_DAYS);
    case KR_TPCH_DISCOUNT: return (uint32_t)draw(t->seed, DISCOUNT, row, 11);
    case KR_TPCH_QUANTITY: return 1 + (uint32_t)draw(t->seed, QUANTITY, row, 50);
    case KR_TPCH_BRAND: return (uint32_t)draw(t->seed, BRAND, part, 25);
    case KR_TPCH_CONTAINER: return (uint32_t)draw(t->seed, CONTAINER, part, 40);
    default: break;
    }
    /* A third of the customers has no orders: those whose number, from 1, is a multiple of 3. */
    const uint64_t customer = draw(t->seed, CUSTOMER, order, CUSTOMERS * t->hundreds / 3 * 2);
    return (uint32_t)draw(t->seed, SEGMENT, customer / 2 * 3 + customer % 2, 5);
}

static void count_lines(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    tpch *t = ctx;
    for (uint64_t order = first; order < end; ++order)
        t->rows[part] += lines_of(t, order);
}

static void write_lines(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const tpch *t = ctx;
    uint64_t row = t->rows[part];
    for (uint64_t order = first; order < end; ++order)
        for (const uint64_t last = row + lines_of(t, order); row < last; ++row)
            t->values[row] = value_of(t, order, row);
}

static tpch open_tpch(const kr_tpch_spec *spec)
{
    return (tpch){.hundreds = spec->scale_hundredths,
                  .seed = spec->seed ? spec->seed : 42,
                  .n_orders = ORDERS * spec->scale_hundredths};
}

uint64_t kr_tpch_rows(const kr_tpch_spec *spec)
{
    tpch t = open_tpch(spec);
    uint64_t rows = 0;
    kr_workload_run(kr_workload_parts(0, t.n_orders), t.n_orders, count_lines, &t);
    for (uint32_t part = 0; part < KR_WORKLOAD_PARTS_MAX; ++part)
        rows += t.rows[part];
    return rows;
}

void kr_generate_tpch(const kr_tpch_spec *spec, kr_tpch_column column, uint32_t threads, uint32_t *values)
{
    tpch t = open_tpch(spec);
    const uint32_t parts = kr_workload_parts(threads, t.n_orders);
    uint64_t before = 0;
    t.column = column;
    t.values = values;
    kr_workload_run(parts, t.n_orders, count_lines, &t);
    for (uint32_t part = 0; part < parts; ++part) {
        const uint64_t rows = t.rows[part];
        t.rows[part] = before;
        before += rows;
    }
    kr_workload_run(parts, t.n_orders, write_lines, &t);
}
