/* Loading the library and listing devices creates no CUDA context; opening the device does. */
#include <keyray/keyray.h>

#include <dlfcn.h>
#include <stdio.h>

enum { SKIP = 77 };

/* The driver's own functions, taken from the driver, so that no other library takes part. */
typedef int (*init_function)(unsigned flags);
typedef int (*state_function)(int device, unsigned *flags, int *active);

static state_function primary_context_state;

static int context_is_active(void)
{
    unsigned flags = 0;
    int active = -1;
    return primary_context_state(0, &flags, &active) == 0 ? active : -1;
}

int main(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    kr_device *device = NULL;
    init_function init;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);

    if (driver == NULL) {
        printf("skipped: no CUDA driver here\n");
        return SKIP;
    }
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&primary_context_state = dlsym(driver, "cuDevicePrimaryCtxGetState");
    if (init == NULL || primary_context_state == NULL || init(0) != 0) {
        printf("skipped: the CUDA driver does not start\n");
        return SKIP;
    }
    for (uint32_t i = 0; kr_device_describe(i, &info, &err) == KR_OK; i++)
        printf("%s: %s, %s\n", info.name, info.description, info.software);
    printf("after listing: context active %d\n", context_is_active());
    if (context_is_active() != 0)
        return 1;
    if (kr_device_open("cuda", NULL, &device, &err) != KR_OK) {
        printf("%s\n", err.text);
        return 1;
    }
    printf("after opening: context active %d\n", context_is_active());
    if (context_is_active() != 1)
        return 1;
    kr_device_close(device);
    return 0;
}
