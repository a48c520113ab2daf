/* Memory of a device, for tests that count it or bring columns to it. */
#ifndef KEYRAY_TESTS_API_DEVICE_MEMORY_H
#define KEYRAY_TESTS_API_DEVICE_MEMORY_H

#include "check.h"

static inline uint64_t in_use(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    WORKS(kr_device_query(device, &info, &err));
    return info.in_use_nbytes;
}

/* New memory with a copy of `from`, or with nothing if it is NULL. */
static inline void *bring(kr_device *device, const void *from, uint64_t nbytes)
{
    void *to = NULL;
    WORKS(kr_memory_allocate(device, nbytes, NULL, &to, &err));
    if (from)
        WORKS(kr_memory_copy(device, to, from, nbytes, NULL, &err));
    return to;
}

#endif
