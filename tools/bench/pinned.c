/* What the bus carries: copies of pinned memory to the device, beside which others are compared. */
#include "job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

enum { PINNED_NBYTES = 64 << 20 };

int bench_pinned_open(const bench_run *run, const bench_row *row, bench_pinned *pinned)
{
    kr_error err = {0};
    *pinned = (bench_pinned){NULL, NULL};
    if (!strncmp(row->index.info.device, "cpu", 3))
        return DONE;
    char *memory = tool_alloc(PINNED_NBYTES, 1, "pinned memory");
    const int code =
        memory ? tool_check(kr_memory_pin(run->device, memory, PINNED_NBYTES, &err), &err) : FAILED;
    if (code) {
        free(memory);
        return code;
    }
    memset(memory, 1, PINNED_NBYTES);
    pinned->memory = memory;
    return tool_check(kr_memory_allocate(run->device, PINNED_NBYTES, NULL, &pinned->there, &err), &err);
}

int bench_pinned_copy(const bench_run *run, const bench_pinned *pinned, uint64_t nbytes)
{
    kr_error err = {0};
    int code = DONE;
    for (uint64_t done = 0; pinned->memory && done < nbytes && !code; done += PINNED_NBYTES) {
        const uint64_t n = nbytes - done < PINNED_NBYTES ? nbytes - done : PINNED_NBYTES;
        code = tool_check(kr_memory_copy(run->device, pinned->there, pinned->memory, n, NULL, &err), &err);
    }
    return code;
}

void bench_pinned_close(const bench_run *run, bench_pinned *pinned)
{
    if (pinned->there)
        kr_memory_release(run->device, pinned->there, PINNED_NBYTES, NULL);
    if (pinned->memory)
        kr_memory_unpin(run->device, pinned->memory);
    free(pinned->memory);
}
