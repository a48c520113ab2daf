/* Floating point as the library computes: to the nearest, no exceptions trapped, whatever the calling thread
 * has set. Each begin keeps the caller's settings for its end. */
#ifndef KEYRAY_UTIL_ROUNDING_H
#define KEYRAY_UTIL_ROUNDING_H

#include <fenv.h>

static inline void kr_rounding_begin(fenv_t *before)
{
    fegetenv(before);
    fesetenv(FE_DFL_ENV);
}

static inline void kr_rounding_end(const fenv_t *before)
{
    fesetenv(before);
}

#endif
