/* Composite keys: several columns as one u64 column. */
#ifndef KEYRAY_PACK_H
#define KEYRAY_PACK_H

#include "column.h"

struct packed {
    kr_column view;
    uint64_t *data;
    uint8_t *validity;
};

/* Packs `n` columns of two tables, matched pair by pair, in the same way: equal rows become equal u64 and
 * order is kept. Fails when the values that occur take more than 64 bits together. A NULL in any column
 * makes the row NULL. */
int pack_columns(const struct column *left, const struct column *right, uint32_t n,
                 struct packed *packed_left, struct packed *packed_right);
void pack_close(struct packed *packed);

#endif
