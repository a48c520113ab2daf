/* For unit tests: a device that runs half of its n-th program and is then cancelled, as callbacks do between
 * pieces. */
#ifndef KEYRAY_TESTS_CANCELLING_DEVICE_H
#define KEYRAY_TESTS_CANCELLING_DEVICE_H

#include "base/devices/device.h"

static const kr_device_ops *real_ops;
static uint64_t cancel_at; /* counted down; 0: nothing is cancelled */

static kr_status run_half(kr_device *of, const kr_program *program, const void *params, uint64_t n,
                          void *stream, kr_error *err)
{
    if (program->whole || !cancel_at || --cancel_at)
        return real_ops->run(of, program, params, n, stream, err);
    program->cpu(params, 0, n / 2 / 64 * 64, n);
    return kr_fail(err, KR_ERR_CANCELLED, "cancelled");
}

/* `half` is what the device runs with until its ops become real_ops again. */
static void cancel_programs(kr_device *of, kr_device_ops *half)
{
    real_ops = of->ops;
    *half = *of->ops;
    half->run = run_half;
    of->ops = half;
}

#endif
