/* Where the system gives no more threads, the library works on those that it has: none of its own, or one. */
#include "many_threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static int allowed; /* threads that may still be started */

/* In place of the C library's, for the library under test, too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    if (allowed == 0)
        return EAGAIN;
    --allowed;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, run, argument);
}

/* Embree would end the process. */
static void no_rays(void)
{
    const uint32_t data[] = {1, 2, 3};
    const kr_column keys = {.type = KR_U32, .count = 3, .data = data};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    WORKS(kr_device_query(device, &info, &err));
    if (info.units > 1) /* with one core it starts none */
        REFUSED(KR_ERR_UNSUPPORTED, kr_index_create(device, "rx", &keys, NULL, NULL, &index, &err));
    kr_device_close(device);
}

int main(void)
{
    no_rays();
    for (int n = 0; n < 3; ++n) {
        allowed = n;
        use_many_threads("array");
        use_many_threads("eytzinger");
        use_many_threads("pivot");
        CHECK(n == 0 || allowed == 0);
    }
    return failures != 0;
}
