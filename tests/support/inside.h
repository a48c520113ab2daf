/* What tests ask that the interface does not tell. */
#ifndef KEYRAY_TESTS_INSIDE_H
#define KEYRAY_TESTS_INSIDE_H

#include <keyray/keyray.h>

/* Places for row ids, empty ones included (kr_rows.n_slots). */
uint64_t kr_slot_count(const kr_index *index);

#endif
