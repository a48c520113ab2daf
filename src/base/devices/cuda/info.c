/* What is known of a GPU without a context on it. */
#include "base/devices/cuda/cuda_device.h"

#include <stdio.h>
#include <string.h>

kr_status kr_cuda_count(uint32_t *count, kr_error *err)
{
    int there = 0;
    const cudaError_t code = cudaGetDeviceCount(&there);
    *count = code == cudaSuccess ? (uint32_t)there : 0;
    return kr_cuda_check(code, "cudaGetDeviceCount", err, "looking for a GPU");
}

/* Only the kernel module tells the driver's own version ("580.65.06"); "" where it does not. */
static void read_driver_version(char *version, size_t nbytes)
{
    char line[256], *rest = NULL;
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    version[0] = '\0';
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        for (const char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
            if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.')) {
                snprintf(version, nbytes, "%s", word);
                break;
            }
        }
    }
    fclose(file);
}

/* Chips of which it is known; for others, OptiX tells once there is a tracer. */
static const struct {
    int major, minor, rt_cores;
} chips[] = {
    {7, 0, 0}, {8, 0, 0}, {9, 0, 0}, {10, 0, 0}, {8, 6, 1}, {8, 9, 1}, {12, 0, 1},
};

static int32_t find_rt_cores(int major, int minor)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; ++i)
        if (chips[i].major == major && chips[i].minor == minor)
            return chips[i].rt_cores;
    return -1;
}

kr_status kr_cuda_describe(uint32_t number, kr_device_info *info, kr_error *err)
{
    struct cudaDeviceProp properties;
    int driver = 0, runtime = 0;
    char version[32];
    cudaError_t code = cudaGetDeviceProperties(&properties, (int)number);
    if (code != cudaSuccess)
        return kr_cuda_check(code, "cudaGetDeviceProperties", err, "describing cuda:%u", number);
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    read_driver_version(version, sizeof version);

    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "cuda:%u", number);
    snprintf(info->description, sizeof info->description, "%.95s", properties.name);
    snprintf(info->software, sizeof info->software, "driver %s%sCUDA %d.%d, runtime %d.%d", version,
             version[0] ? " / " : "for ", driver / 1000, driver % 1000 / 10, runtime / 1000,
             runtime % 1000 / 10);
    info->memory_nbytes = properties.totalGlobalMem;
    info->units = (uint32_t)properties.multiProcessorCount;
    info->rt_cores = find_rt_cores(properties.major, properties.minor);
    return KR_OK;
}
