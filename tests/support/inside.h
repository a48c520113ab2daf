/* What tests ask that the interface does not tell. */
#ifndef KEYRAY_TESTS_INSIDE_H
#define KEYRAY_TESTS_INSIDE_H

#include <keyray/keyray.h>

/* Places for row ids, empty ones included (kr_rows.n_slots). */
uint64_t kr_slot_count(const kr_index *index);

/* Indexes of keep=host are divided on that device, whatever it is, into parts of about so many rows, 0: as
 * the memory wants. A probe that the CPU answers costs as much as the travel of probe_nbytes; 0: as was
 * measured. */
void kr_divide_indexes(kr_device *device, uint64_t part_rows, uint64_t probe_nbytes);
void kr_divide_no_indexes(kr_device *device);
void kr_divide_indexes_like(kr_device *device, const kr_device *other);

#endif
