/* For unit tests on the CPU: the device of all tests, opened before the first and closed behind the last. */
#ifndef KEYRAY_TESTS_CPU_DEVICE_H
#define KEYRAY_TESTS_CPU_DEVICE_H

#include "base/devices/device.h"

static kr_device *device;

static int open_device(void **state)
{
    (void)state;
    return kr_device_open("cpu", NULL, &device, NULL) != KR_OK;
}

static int close_device(void **state)
{
    (void)state;
    kr_device_close(device);
    return 0;
}

#endif
