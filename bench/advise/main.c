/* keyray-advise: is what kr_advise says right? For each of eight columns it asks, then builds all candidates
 * of the whole column and times lookups in turn, longer than kr_advise can, and compares its choice with the
 * best.
 *
 *     keyray-advise [OPTIONS]
 *
 * Lookups and answers lie in memory of the device. On a CPU they are cut into slices, and the least time of
 * each counts: other work may hold up every pass, but hardly always the same slice. Prints a line of a table
 * for each column, as docs/choosing.md has them; exits with 1 if a choice is more than 10% slower than the
 * best. */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, PROBES = 1 << 20, SLICES = 64 };

typedef struct options {
    const char *device;
    uint64_t rows_log2, seconds, passes, shape, seed, threads, ranges; /* shape: COLUMNS: all */
} options;

typedef struct judge {
    kr_device *device;
    int is_host;
    void *lower, *out; /* on the device, or NULL: the column's own */
    kr_column probes;
    kr_index *at[MOST];
    char specs[MOST][KR_SPEC_NBYTES];
    double slices[MOST][SLICES], least[MOST]; /* seconds; the sum of these */
    uint32_t n;
} judge;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int failed(kr_status status, const kr_error *err, const char *what)
{
    if (status != KR_OK)
        fprintf(stderr, "keyray-advise: %s: %s: %s\n", what, kr_status_name(status), err->text);
    return status != KR_OK;
}

static int read_options(options *o, int argc, char **argv)
{
    const struct {
        const char *name;
        uint64_t *number;
    } all[] = {{"--rows-log2", &o->rows_log2}, {"--seconds", &o->seconds}, {"--passes", &o->passes},
               {"--shape", &o->shape},         {"--threads", &o->threads}, {"--seed", &o->seed}};
    enum { N = sizeof all / sizeof *all };
    for (int i = 1; i < argc; ++i) {
        int k = 0;
        while (k < N && strcmp(argv[i], all[k].name) != 0)
            ++k;
        if (strcmp(argv[i], "--ranges") == 0)
            o->ranges = 1;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            o->device = argv[++i];
        else if (k < N && i + 1 < argc)
            *all[k].number = strtoull(argv[++i], NULL, 10);
        else {
            fprintf(stderr, "usage: keyray-advise [--device NAME] [--rows-log2 N] [--seconds S] [--passes N] "
                            "[--shape 0..7] [--seed N] [--threads N] [--ranges]\n");
            return 2;
        }
    }
    return 0;
}

/* Probes to the device; the texts' bytes stay, as kr_index_lookup reaches them in host memory only on a CPU.
 */
static int open_judge(judge *j, const column *probes, kr_error *err)
{
    const uint64_t nbytes = probes->view.count * kr_type_nbytes(probes->view.type);
    j->probes = probes->view;
    kr_status status = kr_memory_allocate(j->device, PROBES * 8, NULL, &j->out, err);
    if (status == KR_OK && !j->is_host && nbytes) {
        status = kr_memory_allocate(j->device, nbytes, NULL, &j->lower, err);
        if (status == KR_OK)
            status = kr_memory_copy(j->device, j->lower, probes->view.data, nbytes, NULL, err);
        j->probes.data = j->lower;
    }
    return failed(status, err, "probes");
}

static void close_judge(judge *j)
{
    for (uint32_t i = 0; i < j->n; ++i)
        kr_index_destroy(j->at[i]);
    if (j->out)
        kr_memory_release(j->device, j->out, PROBES * 8, NULL);
    if (j->lower)
        kr_memory_release(j->device, j->lower, j->probes.count * kr_type_nbytes(j->probes.type), NULL);
}

/* One slice of the lookups; a GPU takes all at once. */
static kr_status look_up(judge *j, uint32_t i, uint64_t first, uint64_t n, int ranges, kr_error *err)
{
    kr_column part = j->probes;
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = ranges ? KR_RESULT_SUM_ROWS : KR_RESULT_ROW,
                          .out = (char *)j->out + first * 8};
    const uint64_t nbytes = kr_type_nbytes(part.type) ? kr_type_nbytes(part.type) : 8; /* offsets of texts */
    part.count = n;
    part.data = (const char *)part.data + first * nbytes;
    const kr_status status = ranges ? kr_index_range(j->at[i], &part, &part, &sink, NULL, err)
                                    : kr_index_lookup(j->at[i], &part, &sink, NULL, err);
    return status == KR_OK ? kr_device_sync(j->device, NULL, err) : status;
}

static int pass(judge *j, uint32_t i, int ranges)
{
    const uint64_t slices = j->is_host && j->probes.count >= SLICES ? SLICES : 1,
                   n = j->probes.count / slices;
    kr_error err = {0};
    kr_status status = KR_OK;
    const int is_first = j->least[i] <= 0;
    j->least[i] = 0;
    for (uint64_t slice = 0; slice < slices && status == KR_OK; ++slice) {
        const double begin = now();
        status = look_up(j, i, slice * n, n, ranges, &err);
        const double seconds = now() - begin;
        if (is_first || seconds < j->slices[i][slice])
            j->slices[i][slice] = seconds;
        j->least[i] += j->slices[i][slice];
    }
    return failed(status, &err, j->specs[i]);
}

/* Ranges of a key of many rows would take minutes: leaves the first that have 2^24 rows together. */
static int limit_ranges(judge *j)
{
    const uint64_t most = UINT64_C(1) << 24;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = j->out};
    uint64_t *counts = malloc(j->probes.count * sizeof *counts), rows = 0, n = 0;
    kr_error err = {0};
    kr_status status = counts ? kr_index_lookup(j->at[0], &j->probes, &sink, NULL, &err) : KR_ERR_HOST_MEMORY;
    if (status == KR_OK)
        status = kr_memory_copy(j->device, counts, j->out, j->probes.count * sizeof *counts, NULL, &err);
    while (status == KR_OK && n < j->probes.count && (!n || rows + counts[n] <= most))
        rows += counts[n++];
    j->probes.count = n;
    free(counts);
    return failed(status, &err, "counts of ranges");
}

/* All candidates that can be built of the whole column and that are not much slower than the best, in turn.
 */
static int measure(judge *j, const options *o, const kr_advice *advice, const column *keys)
{
    kr_advice_candidate c = {.struct_size = sizeof c};
    double best = 0;
    for (uint32_t i = 0; kr_advice_candidate_query(advice, i, &c, NULL) == KR_OK && j->n < MOST; ++i) {
        snprintf(j->specs[j->n], sizeof j->specs[0], "%s", c.spec);
        if (kr_index_create(j->device, c.spec, &keys->view, NULL, NULL, &j->at[j->n], NULL) == KR_OK)
            ++j->n;
    }
    if (!j->n || (o->ranges && limit_ranges(j)))
        return 1;
    for (uint64_t p = 0; p < o->passes; ++p)
        for (uint32_t i = 0; i < j->n; ++i) {
            if (p >= 2 && j->least[i] > 3 * best)
                continue;
            if (pass(j, i, (int)o->ranges))
                return 1;
            best = best <= 0 || j->least[i] < best ? j->least[i] : best;
        }
    return 0;
}

/* 2: the choice is more than 10% slower than the best. */
static int compare(const judge *j, const kr_advice_info *info, const column *keys, const char *standard)
{
    uint32_t best = 0;
    double chosen = 0, usual = 0;
    for (uint32_t i = 0; i < j->n; ++i) {
        best = j->least[i] < j->least[best] ? i : best;
        if (strcmp(j->specs[i], info->spec) == 0)
            chosen = j->least[i];
        if (strcmp(j->specs[i], standard) == 0)
            usual = j->least[i];
    }
    const double rate = (double)j->probes.count / 1e6;
    printf("| %s | `%s` | %.1f | %llu | `%s`, %.1f | `%s`, %.1f | %.2f | %.1f |\n", keys->name, info->spec,
           chosen > 0 ? rate / chosen : 0, (unsigned long long)info->measured_rows, j->specs[best],
           rate / j->least[best], standard, usual > 0 ? rate / usual : 0,
           chosen > 0 ? chosen / j->least[best] : 0, info->seconds);
    fflush(stdout);
    return chosen > 0 && chosen <= 1.1 * j->least[best] ? 0 : 2;
}

static int check_shape(const options *o, kr_device *device, int is_host, uint32_t shape)
{
    column keys = {.name = NULL}, probes = {.name = NULL};
    judge *j = calloc(1, sizeof *j);
    kr_advice *advice = NULL;
    kr_advice_info info = {.struct_size = sizeof info};
    kr_explanation usual = {.struct_size = sizeof usual};
    char standard[KR_SPEC_NBYTES] = "";
    kr_error err = {0};
    const kr_advise_options asked = {
        .struct_size = sizeof asked, .seconds = (double)o->seconds, .range_hits = o->ranges ? 1 : 0};
    int code = !j || column_make(&keys, shape, UINT64_C(1) << o->rows_log2, o->seed) ||
               column_probes(&keys, PROBES, &probes);
    if (!code)
        code = failed(kr_advise(device, &keys.view, &asked, &advice, &err), &err, keys.name) ||
               failed(kr_advice_query(advice, &info, &err), &err, keys.name) ||
               failed(kr_index_explain(device, o->ranges ? KR_OP_RANGE : KR_OP_POINT, "best", &keys.view,
                                       PROBES, &usual, &err),
                      &err, keys.name) ||
               failed(kr_spec_shorten(usual.spec, standard, sizeof standard, &err), &err, usual.spec);
    if (!code) {
        j->device = device;
        j->is_host = is_host;
        code = open_judge(j, &probes, &err) || measure(j, o, advice, &keys);
        if (!code)
            code = compare(j, &info, &keys, standard);
        close_judge(j);
    }
    kr_advice_destroy(advice);
    column_free(&probes);
    column_free(&keys);
    free(j);
    return code;
}

int main(int argc, char **argv)
{
    options o = {.device = "auto", .rows_log2 = 22, .seconds = 10, .passes = 25, .shape = COLUMNS, .seed = 1};
    kr_device *device = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    int code = read_options(&o, argc, argv), worst = 0;
    if (code)
        return code;
    const kr_device_options how = {.struct_size = sizeof how, .threads = (uint32_t)o.threads};
    if (failed(kr_device_open(o.device, &how, &device, &err), &err, o.device) ||
        failed(kr_device_query(device, &info, &err), &err, o.device))
        return 1;
    printf("%s, %s, %s, 2^%llu rows, %s, at most %llu s each, commit %s\n\n", info.name, info.description,
           info.software, (unsigned long long)o.rows_log2, o.ranges ? "ranges" : "points",
           (unsigned long long)o.seconds, kr_build_commit());
    printf(
        "| column | advised | M/s | rows measured | best, M/s | `best`, M/s | advised / best, time | seconds "
        "|\n| --- | --- | ---: | ---: | --- | --- | ---: | ---: |\n");
    for (uint32_t shape = 0; shape < COLUMNS; ++shape)
        if (o.shape == COLUMNS || o.shape == shape) {
            code = check_shape(&o, device, strcmp(info.name, "cpu") == 0, shape);
            worst = code && !(worst == 1) ? code : worst;
        }
    kr_device_close(device);
    return worst ? 1 : 0;
}
