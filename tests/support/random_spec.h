/* Spec strings with random options, from what the library says of its kinds. */
#ifndef KEYRAY_TESTS_RANDOM_SPEC_H
#define KEYRAY_TESTS_RANDOM_SPEC_H

#include "random.h"

#include <keyray/keyray.h>

/* A spec that the library accepts, as it was typed; its kind's capabilities. */
uint32_t kr_random_spec(kr_rng *rng, char text[KR_SPEC_NBYTES]);

#endif
