/* Semi and anti joins of a side whose values lie close together: nothing is sorted or indexed. Right rows set
 * the bits of their values, in any order and however often a value is there; then each left row reads one
 * bit. The bits are those from the lowest value of either side to its highest: what lies outside has no
 * partner. */
#ifndef KEYRAY_JOIN_BITS_H
#define KEYRAY_JOIN_BITS_H

#include "index/kinds/look.h"
#include "join/pairs.h"

/* Fills join->left and of its info pairs, tracer and footprint. `near`: what is known of that side. Blocks.
 */
void kr_join_bits_run(kr_work *work, const kr_join_job *job, const kr_look *near, kr_join *join);

#endif
