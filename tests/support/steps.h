/* Single steps of a kr_work. */
#ifndef KEYRAY_TESTS_STEPS_H
#define KEYRAY_TESTS_STEPS_H

#include "base/devices/work.h"

static inline kr_status sort_on(kr_device *device, const kr_sort *sort, kr_stream *stream, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_work_sort(&w, sort);
    return kr_work_end(&w);
}

/* values[i] := sum of the values before i. */
static inline kr_status sum_on(kr_device *device, uint64_t *values, uint64_t n, kr_stream *stream,
                               kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_work_sum(&w, values, n);
    return kr_work_end(&w);
}

#endif
