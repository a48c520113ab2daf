/* For tests that take the name of a device as their argument. */
#ifndef KEYRAY_TESTS_DEVICE_NAME_H
#define KEYRAY_TESTS_DEVICE_NAME_H

#include <keyray/keyray.h>

#include <stdio.h>

static const char *device_name = "cpu";

/* 0, or the exit status of a skip: the device is not there. */
static int take_device_name(int argc, char **argv)
{
    kr_device *opened = NULL;
    kr_error err = {0};
    if (argc < 2)
        return 0;
    device_name = argv[1];
    if (kr_device_open(device_name, NULL, &opened, &err) != KR_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    kr_device_close(opened);
    return 0;
}

#endif
