/* Progress of a long call, and stopping it.
 *
 * The callback runs on the thread that made the call. A stopped call ends with KR_ERR_CANCELLED and leaves
 * nothing half done; the device remains usable. Short calls may end without ever calling it. */
#include <keyray/keyray.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1 << 23 };

typedef struct watcher {
    unsigned calls;
    double stop_at; /* fraction of a phase; above 1: never */
} watcher;

static int watch(void *ctx, const char *phase, double fraction)
{
    watcher *w = ctx;
    w->calls++;
    printf("  %-20s %3.0f %%\n", phase, 100 * fraction);
    return fraction >= w->stop_at;
}

/* Builds an index, stopping where the watcher says. */
static kr_status build(watcher *w, const kr_column *keys, kr_error *err)
{
    const kr_device_options options = {.struct_size = sizeof options, .progress = {.call = watch, .ctx = w}};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_status status = kr_device_open("cpu", &options, &device, err);
    if (status != KR_OK)
        return status;
    status = kr_index_create(device, "array", keys, NULL, NULL, &index, err);
    kr_index_destroy(index);
    /* Whether it was stopped or not: all memory is back. */
    if (kr_device_query(device, &info, NULL) != KR_OK || info.in_use_nbytes != 0)
        status = KR_ERR_INTERNAL;
    kr_device_close(device);
    return status;
}

int main(void)
{
    uint32_t *data = malloc(ROWS * sizeof *data);
    if (!data)
        return 1;
    for (uint32_t i = 0; i < ROWS; ++i)
        data[i] = i * 2654435761u;
    const kr_column keys = {.type = KR_U32, .count = ROWS, .data = data};
    watcher patient = {.stop_at = 2}, hasty = {.stop_at = 0.3};
    kr_error err = {0};

    printf("to the end:\n");
    const kr_status whole = build(&patient, &keys, &err);
    printf("%s after %u reports\nstopped:\n", kr_status_name(whole), patient.calls);
    const kr_status stopped = build(&hasty, &keys, &err);
    printf("%s: %s\n", kr_status_name(stopped), err.text);
    free(data);
    return whole != KR_OK || patient.calls == 0 || stopped != KR_ERR_CANCELLED;
}
