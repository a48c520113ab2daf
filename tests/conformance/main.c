/* keyray-conformance: does every kind give the right answers on every device? `--help` says how to ask. */
#include "jobs.h"
#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "Usage: keyray-conformance test|support|perf [OPTION]...\n"
    "  test     every case for every kind, key type, device and kind of memory, against an oracle\n"
    "  support  what runs here: kinds, devices, key types, operations\n"
    "  perf     a short table of times\n"
    "Options:\n"
    "  --device cpu|cuda|all  [all]\n"
    "  --kind SPEC            this index only, may be repeated [every kind with its options varied]\n"
    "  --vary KIND            this kind only, with its options varied\n"
    "  --filter TEXT          only tests whose name contains it, e.g. the name of a failed one\n"
    "  --reduced              a short list, for slow tools\n"
    "  --exhaustive           every key type for every index [seven of twelve for those with options]\n"
    "  --shard I/N            every N-th of the indexes from the I-th (0 to N-1): N processes do the whole\n"
    "  --jobs N               N processes side by side, in turn of one thread and of two [1]\n"
    "  --threads N            that a call may use on the CPU [one per core]\n"
    "  --seed N               of all random data [42]\n";

typedef struct arguments {
    const char *mode, *device;
    uint32_t threads, shard, n_shards, jobs;
} arguments;

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "%s '%s'\n%s", what, value, usage);
    return 2;
}

static const char *const with_value[] = {"--device",  "--kind", "--vary",  "--filter",
                                         "--threads", "--seed", "--shard", "--jobs"};

/* 0, or the exit status + 1. */
static int parse(int argc, char **argv, arguments *given, kr_suite *suite)
{
    for (int i = 1; i < argc; ++i) {
        const char *word = argv[i], *value = argv[i + 1];
        int valued = 0;
        for (size_t k = 0; k < sizeof with_value / sizeof with_value[0]; ++k)
            valued |= !strcmp(word, with_value[k]);
        if (valued && !value)
            return 1 + complain("a value is missing after", word);
        i += valued;
        if (!strcmp(word, "--device"))
            given->device = value;
        else if (!strcmp(word, "--kind"))
            kr_add_spec(suite, value, 0);
        else if (!strcmp(word, "--vary"))
            suite->kind = value;
        else if (!strcmp(word, "--filter"))
            suite->filter = value;
        else if (!strcmp(word, "--seed"))
            suite->seed = strtoull(value, NULL, 0);
        else if (!strcmp(word, "--shard") && (sscanf(value, "%u/%u", &given->shard, &given->n_shards) != 2 ||
                                              given->shard >= given->n_shards))
            return 1 + complain("not I/N with I below N:", value);
        else if (!strcmp(word, "--shard"))
            continue;
        else if (!strcmp(word, "--jobs") &&
                 (sscanf(value, "%u", &given->jobs) != 1 || given->jobs < 1 || given->jobs > KR_MAX_JOBS))
            return 1 + complain("not 1 to 256:", value);
        else if (!strcmp(word, "--jobs"))
            continue;
        else if (!strcmp(word, "--threads"))
            given->threads = (uint32_t)strtoul(value, NULL, 0);
        else if (!strcmp(word, "--reduced"))
            suite->reduced = 1;
        else if (!strcmp(word, "--exhaustive"))
            suite->exhaustive = 1;
        else if (!strcmp(word, "--help"))
            return printf("%s", usage) > 0 ? 1 : 2;
        else if (word[0] == '-' || given->mode)
            return 1 + complain("unknown argument", word);
        else
            given->mode = word;
    }
    if (!given->mode ||
        (strcmp(given->mode, "test") && strcmp(given->mode, "support") && strcmp(given->mode, "perf")))
        return 1 + complain("unknown mode", given->mode ? given->mode : "");
    if (given->jobs > 1 && (given->n_shards > 1 || strcmp(given->mode, "test") != 0))
        return 1 + complain("--jobs is for the whole of", "test");
    if (strcmp(given->device, "cpu") && strcmp(given->device, "cuda") && strcmp(given->device, "all"))
        return 1 + complain("unknown device", given->device);
    return 0;
}

static int open_device(kr_suite *suite, const kr_device_info *info, uint32_t threads)
{
    kr_suite_device *on = &suite->devices[suite->n_devices];
    const kr_device_options options = {.struct_size = sizeof options, .threads = threads};
    kr_error err = {0};
    if (suite->n_devices == KR_MAX_DEVICES)
        return 0;
    if (kr_device_open(info->name, &options, &on->device, &err)) {
        fprintf(stderr, "cannot open %s: %s\n", info->name, err.text);
        return 1;
    }
    on->info = *info;
    on->is_host = strcmp(info->name, "cpu") == 0;
    ++suite->n_devices;
    return 0;
}

/* Opens what was asked for; a GPU that was asked for by name must be there. */
static int open_devices(kr_suite *suite, const arguments *given)
{
    const char *wanted = given->device;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    uint32_t ordinal = 0, found = 0;
    for (; kr_device_describe(ordinal, &info, &err) == KR_OK; ++ordinal) {
        if (strcmp(wanted, "all") != 0 && strncmp(info.name, wanted, strlen(wanted)) != 0)
            continue;
        ++found;
        if (open_device(suite, &info, given->threads))
            return 1;
    }
    if (found == 0) {
        fprintf(stderr, "there is no device '%s' here: %s\n", wanted, err.text);
        return 1;
    }
    if (ordinal == 1 && strcmp(wanted, "all") == 0 && given->shard == 0)
        kr_test_skip(suite, "cuda", err.text);
    return 0;
}

static int check_specs(const kr_suite *suite)
{
    for (uint32_t i = 0; i < suite->n_specs; ++i) {
        char text[KR_SPEC_NBYTES];
        kr_error err = {0};
        if (kr_spec_complete(suite->specs[i], text, sizeof text, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        if (strncmp(suite->specs[i], "best", 4) == 0) {
            fprintf(stderr, "--kind %s: its kind depends on the device; test that kind, here %s\n",
                    suite->specs[i], text);
            return 1;
        }
    }
    return 0;
}

static const struct area {
    const char *name;
    void (*run)(kr_suite *suite);
} areas[] = {
    {"specs", kr_run_specs},         {"lookups", kr_run_lookups}, {"nearest", kr_run_nearest},
    {"chunks", kr_run_chunks},       {"streams", kr_run_streams}, {"joins", kr_run_joins},
    {"asof", kr_run_asof},           {"overlap", kr_run_overlap}, {"misuse", kr_run_misuse},
    {"every_key", kr_run_every_key}, {"counts", kr_run_counts},   {"heavy", kr_run_heavy},
    {"set_keys", kr_run_set_keys},   {"updates", kr_run_updates}, {"growth", kr_run_growth},
    {"work", kr_run_work},           {"limits", kr_run_limits},
};

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_tests(kr_suite *suite)
{
    printf("keyray %s (%s), seed %" PRIu64 "%s, %u specs, devices:", kr_version(), kr_build_commit(),
           suite->seed, suite->reduced ? ", reduced" : "", suite->n_specs);
    for (uint32_t i = 0; i < suite->n_devices; ++i)
        printf(" %s (%s)", suite->devices[i].info.name, suite->devices[i].info.description);
    printf("\n");
    fflush(stdout);
    double spent[sizeof areas / sizeof areas[0]];
    for (size_t i = 0; i < sizeof areas / sizeof areas[0]; ++i) {
        const double start = seconds();
        areas[i].run(suite);
        spent[i] = seconds() - start;
    }
    printf("seconds:");
    for (size_t i = 0; i < sizeof areas / sizeof areas[0]; ++i)
        if (spent[i] >= 0.5)
            printf(" %s %.0f", areas[i].name, spent[i]);
    printf("\n");
}

/* Opens the devices, runs, closes them. 0, or the exit status. */
static int run_share(kr_suite *suite, const arguments *given)
{
    kr_keep_shard(suite, given->shard, given->n_shards);
    if (open_devices(suite, given))
        return 1;
    if (!strcmp(given->mode, "support"))
        kr_print_support(suite);
    else if (!strcmp(given->mode, "perf"))
        kr_print_performance(suite);
    else
        run_tests(suite);
    for (uint32_t i = 0; i < suite->n_devices; ++i)
        kr_device_close(suite->devices[i].device);
    return 0;
}

int main(int argc, char **argv)
{
    static kr_suite suite = {.seed = 42};
    arguments given = {.device = "all", .n_shards = 1, .jobs = 1};
    kr_totals totals = {0};
    const int stop = parse(argc, argv, &given, &suite);
    if (stop)
        return stop - 1;
    if (check_specs(&suite))
        return 2;
    if (suite.n_specs == 0)
        kr_expand_specs(&suite);
    if (suite.n_specs == 0)
        return complain("there is no kind", suite.kind);
    const int to = given.jobs > 1 ? kr_divide(given.jobs, &given.shard, &totals) : -1;
    if (to >= 0) {
        given.n_shards = given.jobs;
        given.threads = given.threads ? given.threads : 1 + given.shard % 2;
    }
    if (to >= 0 || given.jobs == 1) {
        if (run_share(&suite, &given))
            return 1;
        totals = (kr_totals){suite.passed, suite.failed, suite.skipped};
    }
    if (to >= 0)
        kr_hand_over(to, &totals);
    else if (!strcmp(given.mode, "test"))
        printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n", totals.passed, totals.failed,
               totals.skipped);
    return totals.failed != 0;
}
