/* Spec strings with random options, from what the library says of its kinds. */
#ifndef KEYRAY_TESTS_RANDOM_SPEC_H
#define KEYRAY_TESTS_RANDOM_SPEC_H

#include "random.h"

#include <keyray/keyray.h>

/* A spec that the library accepts, as it was typed; its kind's capabilities. */
uint32_t kr_random_spec(kr_rng *rng, char text[KR_SPEC_NBYTES]);
/* The same, and indexes of it take kr_index_update. */
uint32_t kr_random_updating_spec(kr_rng *rng, char text[KR_SPEC_NBYTES]);

/* Kind `ordinal`, in a form that takes kr_index_update: its name, with updates=on if it has that option. 0:
 * it takes none. */
int kr_updating_spec(uint32_t ordinal, char text[KR_SPEC_NBYTES]);

#endif
