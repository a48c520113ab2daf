/* Lookups for all matches: room for the row ids, and whether they are the right ones. */
#include "job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>

int bench_rows_open(bench_run *run)
{
    const uint64_t n = run->data->n_probes;
    uint64_t total = 0;
    kr_error err = {0};
    if (run->result != KR_RESULT_ROWS)
        return DONE;
    if (run->data->batches > 1)
        return tool_fail(USAGE, "--result rows looks up all probes at once; leave out --batches");
    int code = bench_answer(run, KR_RESULT_ROWS, NULL, NULL); /* offsets only */
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    if (!code)
        code = tool_check(
            kr_memory_copy(run->device, &total, (uint64_t *)run->out + n, sizeof total, NULL, &err), &err);
    if (code)
        return code;
    run->rows_capacity = total;
    if (run->data->device)
        return tool_check(
            kr_memory_allocate(run->device, (total + 1) * sizeof(uint32_t), NULL, &run->rows, &err), &err);
    run->rows = tool_alloc(total + 1, sizeof(uint32_t), "the row ids");
    return run->rows ? DONE : FAILED;
}

void bench_rows_close(bench_run *run)
{
    if (run->data->device && run->rows)
        kr_memory_release(run->device, run->rows, (run->rows_capacity + 1) * sizeof(uint32_t), NULL);
    else
        free(run->rows);
    run->rows = NULL;
}

/* Row ids of each probe add up to their sum, and ascend where they shall. */
static int compare(const bench_run *run, const uint64_t *offsets, const uint32_t *rows, const uint64_t *sums)
{
    for (uint64_t i = 0; i < run->data->n_probes; ++i) {
        uint64_t sum = 0;
        for (uint64_t at = offsets[i]; at < offsets[i + 1]; ++at) {
            sum += rows[at];
            if (run->order == KR_ORDER_ROW && at > offsets[i] && rows[at] <= rows[at - 1])
                return tool_fail(FAILED, "the row ids of probe %llu do not ascend; nothing was timed",
                                 (unsigned long long)i);
        }
        if (sum != sums[i])
            return tool_fail(FAILED,
                             "the row ids of probe %llu add up to %llu, not to %llu; nothing was timed",
                             (unsigned long long)i, (unsigned long long)sum, (unsigned long long)sums[i]);
    }
    return DONE;
}

int bench_rows_check(const bench_run *run, const uint64_t *sums)
{
    const uint64_t n = run->data->n_probes;
    uint64_t *offsets = tool_alloc(n + 1, sizeof *offsets, "offsets to check");
    uint32_t *rows = tool_alloc(run->rows_capacity + 1, sizeof *rows, "row ids to check");
    kr_error err = {0};
    int code = offsets && rows ? bench_answer(run, KR_RESULT_ROWS, NULL, NULL) : FAILED;
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    if (!code)
        code = tool_check(
            kr_memory_copy(run->device, offsets, run->out, (n + 1) * sizeof *offsets, NULL, &err), &err);
    if (!code)
        code = tool_check(
            kr_memory_copy(run->device, rows, run->rows, run->rows_capacity * sizeof *rows, NULL, &err),
            &err);
    if (!code)
        code = compare(run, offsets, rows, sums);
    free(rows);
    free(offsets);
    return code;
}
