#include "join/cost.h"

#include <string.h>

/* Nanoseconds, of an H100 (2^20 to 2^26 rows of u32; rx: an H200), and of one thread of a CPU (2^13 to 2^23
 * rows): docs/performance-joins.md has the measurements and what is left out. */
typedef struct kind_rates {
    const char *kind;
    double build, repeated; /* per row to index; more where its key may be there already */
    double build_once;      /* per index, whatever its rows */
    double lookup, doubled; /* per row to look up among 2^20; more for each doubling of these */
} kind_rates;

static const kind_rates gpu_kinds[] = {
    {"hash", 0.078, 0.075, 220000, 0.020, 0.002},
    {"chain", 0.078, 0.075, 220000, 0.020, 0.002},
    {"rx", 1.07, 0, 300000, 0.22, 0.02},
    {"cgrx", 0.114, 0, 340000, 0.27, 0.02},
    {"dense", 0.020, 0.024, 100000, 0.0135, 0.001}, /* H200: its lookups and build, not joins (choosing.md) */
    {NULL, 0.040, 0, 100000, 0.0245, 0.002},        /* all others */
};

static const kind_rates cpu_kinds[] = {
    {"hash", 54, 0, 0, 16, 0},  {"chain", 54, 0, 0, 16, 0}, {"rx", 300, 0, 0, 240, 0},
    {"cgrx", 40, 0, 0, 600, 0}, {"dense", 20, 0, 0, 5, 1},  {NULL, 36, 0, 0, 29, 0},
};

/* The same for all kinds. */
typedef struct device_rates {
    const kind_rates *kinds;
    double lookup_once;
    double back;          /* per row: putting its one answer back in order */
    double several, list; /* per row that may find several; per row that it finds */
    double sort;          /* per pair: sorting it by its left row */
    double range;         /* per range to look up: what it takes more than a value */
    double lay_out,
        lay_once; /* per indexed range: sorting and laying it out, beside the index of its start */
    double scan,
        scan_doubled;  /* per key: counting and listing the ranges among 2^20 that hold it; per doubling */
    double scan_pair;  /* per range that holds it */
    double mark, test; /* per right row whose value becomes a bit; per left row that reads one */
} device_rates;

static const device_rates on_gpu = {gpu_kinds, 60000,  0.004, 0.030, 0.0064, 0.033, 0.026,
                                    0.14,      170000, 0.065, 0.025, 0.15,   0.015, 0.01};
static const device_rates on_cpu = {cpu_kinds, 0, 0, 12, 4, 16, 0, 30, 0, 20, 0, 10, 4, 3};

static const kind_rates *rates_of(const kind_rates *table, const char *kind)
{
    while (table->kind && strcmp(table->kind, kind) != 0)
        ++table;
    return table;
}

/* Doublings of 2^20 that make n. */
static double doublings(uint64_t n)
{
    double times = 0;
    for (uint64_t m = n >> 21; m; m >>= 1)
        ++times;
    return times;
}

static double build(const kind_rates *k, uint64_t rows)
{
    return k->build_once + k->build * (double)rows;
}

/* `more` nanoseconds for each row beyond those of one answer. */
static double look_up(const device_rates *d, const kind_rates *k, uint64_t rows, uint64_t among, double more)
{
    return d->lookup_once + (k->lookup + k->doubled * doublings(among) + more) * (double)rows;
}

/* Left keys may repeat, and are several partners of a right row then; right keys are distinct as a rule. */
static kr_join_costs cost_values(const device_rates *d, const kind_rates *k, const kr_join_shape *s)
{
    const double left = build(k, s->left) + k->repeated * (double)s->left;
    const double right = s->is_bits ? k->build_once + d->mark * (double)s->right + d->test * (double)s->left
                                    : build(k, s->right) + look_up(d, k, s->left, s->right,
                                                                   s->in_order || !s->is_pairs ? d->back : 0);
    if (!s->is_pairs) /* left rows that are indexed look up their own keys, and are listed */
        return (kr_join_costs){left + look_up(d, k, s->right, s->left, 0) +
                                   look_up(d, k, s->left, s->left, d->several / 3),
                               right};
    return (kr_join_costs){left + look_up(d, k, s->right, s->left, d->several) +
                               (d->list + (s->in_order ? d->sort : 0)) * s->pairs,
                           right};
}

/* Ranges that are indexed are sorted and laid out first. Each left key reads those that may hold it twice,
 * and their pairs are sorted by both rows. Left rows that are indexed are found by parts of ranges in a semi
 * or anti join. */
static kr_join_costs cost_ranges(const device_rates *d, const kind_rates *k, const kr_join_shape *s)
{
    const double scan = d->scan + d->scan_doubled * doublings(s->right);
    const double left = build(k, s->left) + look_up(d, k, s->right, s->left, d->range + d->several),
                 right = d->lay_once + build(k, s->right) + d->lay_out * (double)s->right;
    if (!s->is_pairs)
        return (kr_join_costs){left + d->lay_once + d->lay_out * (double)s->right,
                               right + look_up(d, k, s->left, s->right, 0)};
    return (kr_join_costs){left + (d->list + (s->in_order ? d->sort : 0)) * s->pairs,
                           right + look_up(d, k, s->left, s->right, scan) +
                               (d->scan_pair + (s->in_order ? 2 * d->sort : 0)) * s->pairs};
}

kr_join_costs kr_join_cost(const kr_join_shape *shape)
{
    const device_rates *d = shape->device->ops->is_host ? &on_cpu : &on_gpu;
    const kind_rates *k = rates_of(d->kinds, shape->kind->name);
    kr_join_costs costs = shape->is_range ? cost_ranges(d, k, shape) : cost_values(d, k, shape);
    costs.left *= 1e-9;
    costs.right *= 1e-9;
    return costs;
}

int kr_join_addresses(const kr_kind *kind)
{
    return strcmp(kind->name, "dense") == 0;
}
