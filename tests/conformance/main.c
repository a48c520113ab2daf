/* keyray-conformance: does every kind give the right answers on every device? `--help` says how to ask. */
#include "queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    "  --exhaustive           every key type for every index [three of twelve for those with "
    "options]\n"
    "  --shard I/N            every N-th of the indexes from the I-th (0 to N-1): N processes do the whole\n"
    "  --jobs N               threads that take the next index each, on devices of their own [1]\n"
    "  --threads N            that a call may use on the CPU [one or two, by the index]\n"
    "  --seconds N            begin no test after N seconds, and say which indexes are left; a test that\n"
    "                         has begun is not cut, so that a run may take longer [all]\n"
    "  --order-seed N         shuffle the order of the indexes, so that runs with --seconds cover all in "
    "time\n"
    "  --seed N               of all random data [42]\n"
    "  --part-rows N          rows of the parts that indexes of keep=host are divided into, also on a CPU; "
    "0: as\n"
    "                         programs get them, on GPUs only, and as large as the memory wants [150]\n"
    "Each index gets a line when it ends. The list as a whole decides which tests an index takes: the tests "
    "and\n"
    "their number are the same with any --jobs and --shard. Indexes that differ in options for GPUs are "
    "tested\n"
    "once on a CPU; those that keep the same in memory share tests of growth, updates and memory caps.\n";

typedef struct arguments {
    const char *mode;
    kr_settings settings;
    kr_queue_options options;
    kr_spec_list list;
} arguments;

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "%s '%s'\n%s", what, value, usage);
    return 2;
}

/* A whole number from `least` to `most`. */
static int read_number(const char *value, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    *number = strtoull(value, &end, 0);
    return value[0] >= '0' && value[0] <= '9' && !*end && *number >= least && *number <= most;
}

/* Options with a value. 1: read; 0: not one of them; -1: the value is wrong. */
static int read_valued(arguments *given, const char *word, const char *value)
{
    kr_queue_options *o = &given->options;
    uint64_t number = 0;
    int good = 1;
    if (!strcmp(word, "--device"))
        good = !strcmp(o->device = value, "cpu") || !strcmp(value, "cuda") || !strcmp(value, "all");
    else if (!strcmp(word, "--kind"))
        kr_add_spec(&given->list, value, 0);
    else if (!strcmp(word, "--vary"))
        given->settings.kind = value;
    else if (!strcmp(word, "--filter"))
        given->settings.filter = value;
    else if (!strcmp(word, "--seed"))
        good = read_number(value, 0, UINT64_MAX, &given->settings.seed);
    else if (!strcmp(word, "--part-rows"))
        good = read_number(value, 0, UINT32_MAX, &o->part_rows);
    else if (!strcmp(word, "--order-seed"))
        good = read_number(value, 1, UINT64_MAX, &o->order_seed);
    else if (!strcmp(word, "--shard"))
        good = sscanf(value, "%u/%u", &o->shard, &o->n_shards) == 2 && o->shard < o->n_shards;
    else if (!strcmp(word, "--jobs"))
        good = read_number(value, 1, KR_MAX_JOBS, &number), o->jobs = (uint32_t)number;
    else if (!strcmp(word, "--threads"))
        good = read_number(value, 1, 1024, &number), o->threads = (uint32_t)number;
    else if (!strcmp(word, "--seconds"))
        good = read_number(value, 1, 1000000, &number), o->seconds = (double)number;
    else
        return 0;
    return good ? 1 : -1;
}

/* 0, or the exit status + 1. */
static int parse(int argc, char **argv, arguments *given)
{
    for (int i = 1; i < argc; ++i) {
        const char *word = argv[i], *value = argv[i + 1];
        const int valued = read_valued(given, word, value ? value : "");
        if (valued && !value)
            return 1 + complain("a value is missing after", word);
        if (valued < 0)
            return 1 + complain(word, value);
        i += valued;
        if (valued)
            continue;
        if (!strcmp(word, "--reduced"))
            given->settings.reduced = 1;
        else if (!strcmp(word, "--exhaustive"))
            given->settings.exhaustive = 1;
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
    return 0;
}

static int check_specs(const kr_spec_list *list)
{
    for (uint32_t i = 0; i < list->n; ++i) {
        char text[KR_SPEC_NBYTES];
        kr_error err = {0};
        if (kr_spec_complete(list->at[i].text, text, sizeof text, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        if (strncmp(list->at[i].text, "best", 4) == 0) {
            fprintf(stderr, "--kind %s: its kind depends on the device; test that kind, here %s\n",
                    list->at[i].text, text);
            return 1;
        }
    }
    return 0;
}

/* The modes that print tables. */
static int print_tables(const arguments *given)
{
    enum { MAX_DEVICES = 9 };
    kr_suite_device devices[MAX_DEVICES];
    const uint32_t n = kr_open_devices(&given->options, given->options.threads, MAX_DEVICES, devices);
    for (uint32_t i = 0; i < n; ++i)
        if (!strcmp(given->mode, "support"))
            kr_print_support(&devices[i], &given->list);
        else
            kr_print_performance(&devices[i], &given->list, given->settings.seed);
    kr_close_devices(devices, n);
    return n == 0;
}

int main(int argc, char **argv)
{
    static arguments given = {.settings = {.seed = 42},
                              .options = {.device = "all", .n_shards = 1, .jobs = 1, .part_rows = 150}};
    kr_totals totals = {0};
    const int stop = parse(argc, argv, &given);
    if (stop)
        return stop - 1;
    const int are_named = given.list.n > 0;
    if (check_specs(&given.list))
        return 2;
    if (!are_named)
        kr_expand_specs(&given.settings, &given.list);
    if (given.list.n == 0 && !given.settings.kind) {
        printf("skipped: this build has no kind that makes an index (KEYRAY_KINDS)\n");
        return 77;
    }
    if (given.list.n == 0)
        return complain("there is no kind", given.settings.kind);
    if (strcmp(given.mode, "test") != 0)
        return print_tables(&given);
    kr_compare_specs(&given.list, are_named);
    if (kr_run_queue(&given.settings, &given.list, &given.options, &totals))
        return 1;
    printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n", totals.passed, totals.failed,
           totals.skipped);
    if (given.settings.filter && totals.passed + totals.failed + totals.skipped == 0 && !totals.left &&
        given.options.n_shards == 1) {
        fprintf(stderr, "no test ran: the filter '%s' matches none of these indexes\n",
                given.settings.filter);
        return 2;
    }
    return totals.failed != 0;
}
