/* Kind `dense`: options, and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_H

#include "index/families/direct/direct_view.h"
#include "index/kinds/family.h"

enum { DIRECT_OPTION_SPREAD, DIRECT_OPTION_STEP, DIRECT_OPTION_BUILD, DIRECT_OPTION_KEEP, DIRECT_OPTIONS };
enum { DIRECT_BUILD_AUTO, DIRECT_BUILD_SORT, DIRECT_BUILD_SCATTER, DIRECT_BUILD_PARTS };
enum { DIRECT_STEP_AUTO, DIRECT_STEP_1 };

extern const kr_family_ops direct_ops_u32, direct_ops_u64;

/* Blocks for values 0 to `last`. */
uint64_t direct_blocks_of(uint64_t last);
/* The most blocks that an index of n rows may have. */
uint64_t direct_blocks_most(const kr_spec *spec, uint32_t type, uint64_t n);
/* KR_ERR_LIMIT where the bits of n rows from the lowest code to one that is `span` above it would take more
 * than the spec allows. */
kr_status direct_check_spread(const kr_spec *spec, uint64_t n, uint64_t span, uint64_t step, kr_error *err);
/* What bodies divide by. */
void direct_set_step(direct_view *view, uint64_t step, uint32_t key_bits);

#endif
