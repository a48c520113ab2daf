/* A progress callback that cancels at one of its calls. */
#ifndef KEYRAY_TESTS_CANCEL_H
#define KEYRAY_TESTS_CANCEL_H

#include "check.h"

static uint64_t calls, cancel_at; /* cancel_at 0: at none */

static int cancel(void *ctx, const char *phase, double fraction)
{
    (void)ctx;
    CHECK(phase && fraction >= 0 && fraction <= 1);
    return ++calls == cancel_at;
}

#endif
