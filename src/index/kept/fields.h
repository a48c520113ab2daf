/* A part as its image: fields, whose arrays lie in host memory. */
#ifndef KEYRAY_INDEX_KEPT_FIELDS_H
#define KEYRAY_INDEX_KEPT_FIELDS_H

#include "index/kept/divided.h"

/* The fields of a structure, which is on the device of the work; arrays are copied to memory of the part,
 * which is pinned. Blocks. */
void fields_take(kr_work *work, kr_divided *d, kept_part *part, void *self);
/* The same where arrays lie in a mapped file, and stay there. */
void fields_note(kr_work *work, kr_divided *d, kept_part *part, void *self);
/* Gives part p, whose fields are there, its structure for the CPU. */
void fields_open(kr_work *work, kr_divided *d, uint32_t p);

#endif
