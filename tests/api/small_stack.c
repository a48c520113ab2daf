/* 128 KiB of stack are enough for a thread that calls the library (docs/threads.md). */
#include "many_threads.h"

#include <pthread.h>

enum { STACK_NBYTES = 128 << 10 };

static void *call(void *spec)
{
    use_many_threads(spec);
    return NULL;
}

int main(void)
{
    static char specs[][24] = {"array", "eytzinger", "pivot", "rx", "cgrx", "cgrx:updates=on"};
    kr_device_info info = {.struct_size = sizeof info};
    WORKS(kr_device_describe(0, &info, &err));
    const size_t n = strncmp(info.tracer, "none", 4) ? sizeof specs / sizeof *specs : 3;
    for (size_t i = 0; i < n; ++i) {
        pthread_attr_t attributes;
        pthread_t thread;
        CHECK(pthread_attr_init(&attributes) == 0);
        CHECK(pthread_attr_setstacksize(&attributes, STACK_NBYTES) == 0);
        const int started = pthread_create(&thread, &attributes, call, specs[i]);
        CHECK(started == 0);
        if (started == 0)
            pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
    return failures != 0;
}
