#include "job.h"

#include "tools/terminal/tool.h"

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

static int check_known(const bench_data *data, const uint32_t *rows)
{
    for (uint64_t i = 0; i < data->n_probes; ++i)
        if (rows[i] != data->known[i])
            return differs(i, rows[i], data->known[i], data->files ? "a sorted array" : "the generator");
    return DONE;
}

/* Samples are spread evenly over the batch. */
static uint64_t sample_at(const bench_data *data, uint64_t sample)
{
    const uint64_t samples = data->n_probes < BENCH_SAMPLES ? data->n_probes : BENCH_SAMPLES;
    return sample * data->n_probes / samples;
}

static const bench_right *right_answers(const bench_data *data, kr_result result)
{
    bench_right *right = data->right;
    uint64_t visited = 0;
    if (right->n && right->result == result)
        return right;
    right->result = result;
    for (right->n = 0; right->n < BENCH_SAMPLES && right->n < data->n_probes && visited < VISITED_MOST;
         ++right->n)
        right->answers[right->n] = bench_oracle_answer(data, sample_at(data, right->n), result, &visited);
    return right;
}

int bench_check_samples(const bench_data *data, kr_result result, const void *got, uint64_t *n)
{
    const bench_right *right = right_answers(data, result);
    for (*n = 0; *n < right->n; ++*n) {
        const uint64_t i = sample_at(data, *n);
        if (answer_at(got, result, i) != right->answers[*n])
            return differs(i, answer_at(got, result, i), right->answers[*n], "the oracle");
    }
    return DONE;
}

/* Of lists of row ids it compares the sums with the oracle, and then all lists with these sums. */
static int check_answers(const bench_run *run, int known, uint64_t *samples)
{
    const bench_data *data = run->data;
    const kr_result result = run->result == KR_RESULT_ROWS ? KR_RESULT_SUM_ROWS : run->result;
    uint32_t *rows = known ? answers(run, KR_RESULT_ROW) : NULL;
    int code = known ? (rows ? check_known(data, rows) : FAILED) : DONE;
    void *got = code ? NULL : known && result == KR_RESULT_ROW ? rows : answers(run, result);
    if (!code && !got)
        code = FAILED;
    if (!code && data->sorted)
        code = bench_check_samples(data, result, got, samples);
    if (!code && data->sorted && run->result == KR_RESULT_ROWS)
        code = bench_rows_check(run, got);
    if (got != (void *)rows)
        free(got);
    free(rows);
    return code;
}

int bench_check(const bench_run *run, char checked[192])
{
    const bench_data *data = run->data;
    const int known = data->known && (data->files || data->multiplicity <= 1);
    uint64_t samples = 0;
    kr_error err = {0};
    int code = tool_check(kr_index_validate(run->index, &err), &err);
    if (!code && (known || data->sorted))
        code = check_answers(run, known, &samples);
    if (known && data->files)
        snprintf(checked, 192, "all %llu rows and %llu sampled answers with a sorted array",
                 (unsigned long long)data->n_probes, (unsigned long long)samples);
    else if (known)
        snprintf(checked, 192, "all %llu rows with the generator, %llu sampled answers with a sorted array",
                 (unsigned long long)data->n_probes, (unsigned long long)samples);
    else
        snprintf(checked, 192, "%llu sampled answers with a sorted array", (unsigned long long)samples);
    return code;
}
