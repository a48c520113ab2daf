#include "device.h"

#include "tool.h"

#include <string.h>

#define NAME_ROW                                                                                         \
    {                                                                                                    \
        "device", 0, 0, OPTION_TEXT, offsetof(device_options, name), "DEVICE",                           \
            "cpu, cuda, cuda:N, or auto, which is a GPU where there is one; keyray never takes another " \
            "device than the one that is named [auto]",                                                  \
            0, 0                                                                                         \
    }
#define THREADS_ROW                                                             \
    {                                                                           \
        "threads", 0, 0, OPTION_NUMBER, offsetof(device_options, threads), "N", \
            "how many threads work on the CPU; 0: one per core [0]", 0, 1024    \
    }

const option_row device_rows[] = {
    NAME_ROW,
    THREADS_ROW,
    {"memory-cap", 0, 0, OPTION_NUMBER, offsetof(device_options, memory_cap), "BYTES",
     "how much device memory may be in use at once; 0: no cap; K, M or G may follow [0]", 0, UINT64_MAX},
    {0},
};

const option_row device_plain_rows[] = {NAME_ROW, THREADS_ROW, {0}};

/* A name that can never be a device is a wrong value, not a missing device. */
static int is_device_name(const char *name)
{
    if (options_choice("cpu|auto|cuda", name, strlen(name)) >= 0)
        return 1;
    return strncmp(name, "cuda:", 5) == 0 && name[5] && strlen(name) < 15 &&
           name[5 + strspn(name + 5, "0123456789")] == '\0';
}

int device_open(const device_options *options, const kr_progress *progress, kr_device **device)
{
    kr_error err = {0};
    if (!is_device_name(options->name))
        return tool_fail(USAGE, "--device is cpu, cuda, cuda:N or auto, not '%s'", options->name);
    kr_device_options wanted = {.struct_size = sizeof wanted,
                                .threads = (uint32_t)options->threads,
                                .memory_cap_nbytes = options->memory_cap};
    if (progress)
        wanted.progress = *progress;
    return tool_check(kr_device_open(options->name, &wanted, device, &err), &err);
}
