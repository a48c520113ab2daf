#include "joins/cost.h"

#include <string.h>

/* Nanoseconds a row: to index it; to look it up; more, where a row may find several; to sort a pair by its
 * left row. Of an H200 (2^20 to 2^27 rows of u32), and of one thread of a CPU (2^17 to 2^23 rows):
 * docs/performance-joins.md. */
typedef struct rates {
    const char *kind;
    double build, lookup, several, sort;
} rates;

static const rates on_gpu[] = {
    {"hash", 0.098, 0.025, 0.025, 0.028}, {"chain", 0.098, 0.025, 0.025, 0.028},
    {"rx", 1.07, 0.35, 0.025, 0.028},     {"cgrx", 0.15, 0.35, 0.025, 0.028},
    {NULL, 0.034, 0.036, 0.025, 0.028}, /* all others */
};

static const rates on_cpu[] = {
    {"hash", 54, 16, 12, 16},  {"chain", 54, 16, 12, 16}, {"rx", 300, 240, 12, 16},
    {"cgrx", 40, 240, 12, 16}, {NULL, 36, 29, 12, 16},
};

/* Of range joins, on a GPU and a CPU: nanoseconds a range to sort and lay it out, and nanoseconds a key to
 * count and list its pairs. */
static const double lay_out[2] = {0.14, 30}, scan[2] = {0.09, 28};

static const rates *rates_of(const rates *table, const char *kind)
{
    while (table->kind && strcmp(table->kind, kind) != 0)
        ++table;
    return table;
}

/* Keys of the right side are distinct as a rule, keys of the left side seldom are: then only a join that
 * indexes the left side has to list several partners of a row. */
kr_join_costs kr_join_cost(const kr_join_shape *shape)
{
    const int is_host = shape->device->ops->is_host != 0;
    const rates *r = rates_of(is_host ? on_cpu : on_gpu, shape->kind->name);
    const double left = (double)shape->left, right = (double)shape->right;
    const double pairs = shape->in_order ? (left > right ? left : right) : 0;
    if (shape->is_range) /* ranges that are indexed are sorted and laid out first, then counted and listed */
        return (kr_join_costs){
            .left = 1e-9 * (r->build * left + (r->lookup + 2 * r->several) * right + r->sort * pairs),
            .right = 1e-9 * ((r->build + lay_out[is_host]) * right + (r->lookup + scan[is_host]) * left +
                             2 * r->sort * pairs),
        };
    if (!shape->is_pairs) /* left rows that are indexed look up their own keys */
        return (kr_join_costs){
            .left = 1e-9 * ((r->build + r->lookup) * left + r->lookup * right),
            .right = 1e-9 * (r->build * right + r->lookup * left),
        };
    return (kr_join_costs){
        .left = 1e-9 * (r->build * left + (r->lookup + r->several) * right + r->sort * pairs),
        .right = 1e-9 * (r->build * right + r->lookup * left),
    };
}
