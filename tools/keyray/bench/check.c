#include "job.h"

#include "../tool.h"

#include <stdlib.h>

/* Matches that the oracle looks at, at most; wide ranges get fewer samples. */
enum { VISITED_MOST = 1 << 28 };

/* The answers of the whole batch, brought to host memory. */
static void *answers(const bench_run *run, kr_result result)
{
    kr_error err = {0};
    const uint64_t n = run->data->n_probes;
    const uint64_t nbytes = result == KR_RESULT_ROW      ? n * 4
                            : result == KR_RESULT_EXISTS ? (n + 7) / 8
                                                         : n * 8;
    void *got = tool_alloc(nbytes, 1, "the answers to check");
    int code = got ? bench_answer(run, result, NULL, NULL) : FAILED;
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    if (!code)
        code = tool_check(kr_memory_copy(run->device, got, run->out, nbytes, NULL, &err), &err);
    if (!code)
        return got;
    free(got);
    return NULL;
}

static uint64_t answer_at(const void *got, kr_result result, uint64_t i)
{
    if (result == KR_RESULT_ROW)
        return ((const uint32_t *)got)[i];
    if (result == KR_RESULT_EXISTS)
        return ((const uint8_t *)got)[i / 8] >> (i % 8) & 1;
    return ((const uint64_t *)got)[i];
}

static int differs(uint64_t i, uint64_t got, uint64_t right, const char *by)
{
    return tool_fail(FAILED, "wrong answer to probe %llu: %llu, but %s says %llu; nothing was timed",
                     (unsigned long long)i, (unsigned long long)got, by, (unsigned long long)right);
}

static int check_known(const bench_run *run)
{
    const bench_data *data = run->data;
    uint32_t *rows = answers(run, KR_RESULT_ROW);
    int code = rows ? DONE : FAILED;
    for (uint64_t i = 0; !code && i < data->n_probes; ++i)
        if (rows[i] != data->known[i])
            code = differs(i, rows[i], data->known[i], "the generator");
    free(rows);
    return code;
}

/* Samples are spread evenly over the batch; *n is how many were compared. For lists of row ids it compares
 * their sums, and then all lists with these sums. */
static int check_samples(const bench_run *run, uint64_t *n)
{
    const bench_data *data = run->data;
    const kr_result result = run->result == KR_RESULT_ROWS ? KR_RESULT_SUM_ROWS : run->result;
    const uint64_t samples = data->n_probes < BENCH_SAMPLES ? data->n_probes : BENCH_SAMPLES;
    uint64_t visited = 0;
    void *got = answers(run, result);
    int code = got ? DONE : FAILED;
    for (*n = 0; !code && *n < samples && visited < VISITED_MOST; ++*n) {
        const uint64_t i = *n * data->n_probes / samples;
        const uint64_t right = bench_oracle_answer(data, i, result, &visited);
        if (answer_at(got, result, i) != right)
            code = differs(i, answer_at(got, result, i), right, "the oracle");
    }
    if (!code && run->result == KR_RESULT_ROWS)
        code = bench_rows_check(run, got);
    free(got);
    return code;
}

int bench_check(const bench_run *run, char checked[192])
{
    const bench_data *data = run->data;
    const int known = data->known && data->multiplicity <= 1;
    uint64_t samples = 0;
    kr_error err = {0};
    int code = tool_check(kr_index_validate(run->index, &err), &err);
    if (!code && known)
        code = check_known(run);
    if (!code && data->sorted)
        code = check_samples(run, &samples);
    if (known)
        snprintf(checked, 192, "all %llu rows with the generator, %llu sampled answers with a sorted array",
                 (unsigned long long)data->n_probes, (unsigned long long)samples);
    else
        snprintf(checked, 192, "%llu sampled answers with a sorted array", (unsigned long long)samples);
    return code;
}
