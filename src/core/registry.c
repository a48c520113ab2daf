/* The list of kinds: one line each. */
#include "core/family.h"

extern const kr_family kr_family_array;

static const kr_family *const families[] = {
    &kr_family_array,
};

const kr_family *kr_family_at(uint32_t ordinal)
{
    return ordinal < sizeof families / sizeof families[0] ? families[ordinal] : NULL;
}
