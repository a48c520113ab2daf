/* Are the answers right? Asked before anything is timed, and after updates. */
#include "bench/bench.h"
#include "job.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

/* Matches that the oracle looks at, at most; wide ranges get fewer samples. */
enum { VISITED_MOST = 1 << 28 };

bench_checks *bench_checks_open(void)
{
    bench_checks *checks = tool_alloc(1, sizeof *checks, "the samples");
    if (checks)
        memset(checks, 0, sizeof *checks);
    return checks;
}

void bench_checks_close(bench_checks *checks)
{
    if (checks)
        free(checks->got);
    free(checks);
}

/* No answers of an earlier index may be taken for those of this one. */
static int blot_out(const bench_run *run, uint64_t nbytes)
{
    static unsigned char blot[1 << 16];
    kr_error err = {0};
    char *out = run->out;
    uint64_t done = nbytes < sizeof blot ? nbytes : sizeof blot;
    memset(blot, 0xA5, sizeof blot);
    int code = tool_check(kr_memory_copy(run->device, out, blot, done, NULL, &err), &err);
    while (done < nbytes && !code) {
        const uint64_t n = nbytes - done < done ? nbytes - done : done;
        code = tool_check(kr_memory_copy(run->device, out + done, out, n, NULL, &err), &err);
        done += n;
    }
    return code;
}

/* The answers of the whole batch, in host memory that all checks share. */
static const void *answers(const bench_run *run, kr_result result)
{
    bench_checks *checks = run->data->checks;
    kr_error err = {0};
    const uint64_t n = run->data->n_probes;
    const uint64_t nbytes = result == KR_RESULT_ROW      ? n * 4
                            : result == KR_RESULT_EXISTS ? (n + 7) / 8
                                                         : n * 8;
    if (!checks->got || checks->got_nbytes < nbytes) {
        free(checks->got);
        checks->got = tool_alloc(nbytes, 1, "the answers to check");
        checks->got_nbytes = checks->got ? nbytes : 0;
    }
    int code = checks->got ? blot_out(run, nbytes) : FAILED;
    if (!code)
        code = bench_answer(run, result, NULL, NULL);
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    if (!code)
        code = tool_check(kr_memory_copy(run->device, checks->got, run->out, nbytes, NULL, &err), &err);
    return code ? NULL : checks->got;
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

/* ---- All answers, with the rows that the probes were drawn from ----------------------------- */

typedef struct comparison {
    const bench_data *data;
    const void *got;
    kr_result result;
    uint64_t wrong[KR_WORKLOAD_PARTS_MAX]; /* the first of a part; n_probes: none */
} comparison;

/* Of a row that is the only one with its key. */
static uint64_t known_answer(const bench_data *data, kr_result result, uint64_t i)
{
    const uint32_t row = data->known[i];
    if (result == KR_RESULT_ROW)
        return row;
    if (row == KR_NO_ROW)
        return 0;
    if (result == KR_RESULT_SUM)
        return ((const uint32_t *)data->host[COLUMN_VALUES])[row];
    return result == KR_RESULT_SUM_ROWS ? row : 1;
}

static void compare_part(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    comparison *c = ctx;
    c->wrong[part] = c->data->n_probes;
    for (uint64_t i = first; i < end; ++i)
        if (answer_at(c->got, c->result, i) != known_answer(c->data, c->result, i)) {
            c->wrong[part] = i;
            return;
        }
}

static int check_known(const bench_data *data, kr_result result, const void *got)
{
    comparison c = {.data = data, .got = got, .result = result};
    const uint32_t parts = kr_workload_parts(0, data->n_probes);
    kr_workload_run(parts, data->n_probes, compare_part, &c);
    for (uint32_t part = 0; part < parts; ++part)
        if (c.wrong[part] < data->n_probes)
            return differs(c.wrong[part], answer_at(got, result, c.wrong[part]),
                           known_answer(data, result, c.wrong[part]),
                           data->files ? "a sorted array" : "the generator");
    return DONE;
}

/* ---- Samples, with the oracle --------------------------------------------------------------- */

/* Samples are spread evenly over the batch. */
static uint64_t sample_at(const bench_data *data, uint64_t sample)
{
    const uint64_t samples = data->n_probes < BENCH_SAMPLES ? data->n_probes : BENCH_SAMPLES;
    return sample * data->n_probes / samples;
}

static const bench_checks *right_answers(const bench_data *data, kr_result result)
{
    bench_checks *right = data->checks;
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
    const bench_checks *right = right_answers(data, result);
    for (*n = 0; *n < right->n; ++*n) {
        const uint64_t i = sample_at(data, *n);
        if (answer_at(got, result, i) != right->answers[*n])
            return differs(i, answer_at(got, result, i), right->answers[*n], "the oracle");
    }
    return DONE;
}

/* What is known of each probe: files may have equal keys, so of them only rows are; and updates may change
 * rows, but no counts. */
static kr_result known_result(const bench_run *run, kr_result result)
{
    return run->data->files || run->data->operation == BENCH_UPDATE ? KR_RESULT_ROW : result;
}

/* Of lists of row ids it compares the sums with the oracle, and then all lists with these sums. */
static int check_answers(const bench_run *run, int known, uint64_t *samples)
{
    const bench_data *data = run->data;
    const kr_result result = run->result == KR_RESULT_ROWS ? KR_RESULT_SUM_ROWS : run->result;
    const kr_result of_known = known_result(run, result);
    const void *got = answers(run, known ? of_known : result);
    int code = got ? DONE : FAILED;
    if (!code && known)
        code = check_known(data, of_known, got);
    if (!code && known && of_known != result)
        code = (got = answers(run, result)) ? DONE : FAILED;
    if (!code && data->sorted)
        code = bench_check_samples(data, result, got, samples);
    if (!code && data->sorted && run->result == KR_RESULT_ROWS)
        code = bench_rows_check(run, got);
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
    if (known)
        snprintf(checked, 192, "all %llu %s %llu sampled answers with a sorted array",
                 (unsigned long long)data->n_probes,
                 data->files                                       ? "rows and"
                 : known_result(run, run->result) == KR_RESULT_ROW ? "rows with the generator,"
                                                                   : "answers with the generator,",
                 (unsigned long long)samples);
    else
        snprintf(checked, 192, "%llu sampled answers with a sorted array", (unsigned long long)samples);
    return code;
}
