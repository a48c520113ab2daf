/* keyray-concurrent: many threads look up in one index at the same time, each with a stream and prepared
 * lookups of its own, and each waits for its answer before it asks again.
 *
 *     keyray-concurrent scaling  [OPTIONS]   lookups per second of all threads, beside those of one
 *     keyray-concurrent versions [OPTIONS]   latencies while a writer makes a version each second */
#include "concurrent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: keyray-concurrent scaling|versions [--device NAME] [--spec SPEC] [--threads N] [--keys-log2 N]\n"
    "       [--seconds N] [--rounds N] [--plain] [--device-threads N] [--changes N]\n"
    "\n"
    "scaling   batches of 1, 2^8 and 2^12 probes: lookups per second of --threads threads (64) and of one, "
    "in\n"
    "          turn for --seconds (2), --rounds times (3), prepared and plain; the best of each\n"
    "versions  batches of 2^12 probes of --threads threads (8): latencies without a writer and with one "
    "that\n"
    "          deletes --changes rows (2^16) and inserts as many in a version each second, for --seconds "
    "(10)\n"
    "          each, --rounds times (3)\n"
    "\n"
    "--device-threads  threads of a call on a CPU (1); --keys-log2 26; --spec best; --plain: versions with "
    "plain\n"
    "lookups. All answers of each thread's 8 batches are checked before and after.\n";

static int fail(const char *text, const char *what)
{
    fprintf(stderr, "keyray-concurrent: %s%s\n%s", text, what, usage);
    return 2;
}

static int read_options(options *o, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **text;
        uint64_t *number;
    } all[] = {{"--device", &o->device, NULL},        {"--spec", &o->spec, NULL},
               {"--threads", NULL, &o->threads},      {"--keys-log2", NULL, &o->keys_log2},
               {"--seconds", NULL, &o->seconds_each}, {"--rounds", NULL, &o->rounds},
               {"--changes", NULL, &o->changes},      {"--device-threads", NULL, &o->device_threads}};
    enum { N = sizeof all / sizeof *all };
    for (int i = 2; i < argc; ++i) {
        int k = 0;
        if (strcmp(argv[i], "--plain") == 0) {
            o->plain = 1;
            continue;
        }
        while (k < N && strcmp(argv[i], all[k].name) != 0)
            ++k;
        if (k == N || i + 1 == argc)
            return fail(k == N ? "no such option: " : "a value is missing after ", argv[i]);
        if (all[k].text)
            *all[k].text = argv[++i];
        else if ((*all[k].number = strtoull(argv[++i], NULL, 10)) == 0)
            return fail("not a number above 0: ", argv[i]);
    }
    return o->threads > 1024 || o->keys_log2 > 30 || o->changes > 1 << 24
               ? fail("at most 1024 threads, 2^30 keys and 2^24 changes", "")
               : 0;
}

static int open_index(shared *s)
{
    const options *o = s->o;
    const kr_device_options how = {.struct_size = sizeof how, .threads = (uint32_t)o->device_threads};
    kr_error err = {0};
    kr_index *index = NULL;
    if (concurrent_failed(s, kr_device_open(o->device, &how, &s->device, &err), &err, "kr_device_open"))
        return 1;
    s->n_keys = (uint64_t)1 << o->keys_log2;
    uint32_t *keys = malloc(s->n_keys * sizeof *keys);
    for (uint64_t i = 0; keys && i < s->n_keys; ++i)
        keys[i] = concurrent_key(i);
    const kr_column column = {.type = KR_U32, .count = s->n_keys, .data = keys};
    const kr_status status =
        keys ? kr_index_create(s->device, o->spec, &column, NULL, NULL, &index, &err) : KR_ERR_HOST_MEMORY;
    free(keys);
    return concurrent_failed(s, status, &err, "kr_index_create") || concurrent_publish(s, index, 0);
}

static void print_machine(const shared *s)
{
    kr_device_info device = {.struct_size = sizeof device};
    kr_index_info index = {.struct_size = sizeof index};
    char date[32] = "";
    const time_t now = time(NULL);
    kr_device_query(s->device, &device, NULL);
    kr_index_query(s->newest->index, &index, NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("%s: %s, %s; %ld cores; commit %s; %s\n", device.name, device.description, device.software,
           sysconf(_SC_NPROCESSORS_ONLN), kr_build_commit(), date);
    printf("%s over 2^%llu u32 keys, %llu bytes\n", index.spec, (unsigned long long)s->o->keys_log2,
           (unsigned long long)index.footprint_nbytes);
}

/* Lookups per second, and per second of a core; the most of each. */
typedef struct rates {
    double each_second, each_core_second;
} rates;

static void raise(rates *r, shared *s, uint64_t threads, uint64_t batch)
{
    reader *readers = calloc(threads, sizeof *readers);
    double rate = 0, asked = 0;
    if (readers && !concurrent_read(s, readers, threads, batch, (double)s->o->seconds_each, 0))
        for (uint64_t i = 0; i < threads; ++i) {
            asked += (double)readers[i].n_asked * (double)batch;
            rate += (double)readers[i].n_asked * (double)batch / readers[i].seconds;
        }
    free(readers);
    r->each_second = rate > r->each_second ? rate : r->each_second;
    asked = s->cpu_seconds > 0 ? asked / s->cpu_seconds : 0;
    r->each_core_second = asked > r->each_core_second ? asked : r->each_core_second;
}

static int scale(shared *s, options *o)
{
    static const uint64_t batches[] = {1, 1 << 8, 1 << 12};
    printf("%-9s %6s %14s %14s %7s %22s %7s\n", "lookups", "batch", "1 thread, M/s", "all, M/s", "times",
           "all, M/s of a core", "times");
    for (o->plain = 0; o->plain < 2; ++o->plain)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; ++b) {
            rates one = {0}, all = {0};
            for (uint64_t round = 0; round < o->rounds && !atomic_load(&s->failed); ++round) {
                raise(&one, s, 1, batches[b]);
                raise(&all, s, o->threads, batches[b]);
            }
            if (atomic_load(&s->failed))
                return 1;
            printf("%-9s %6llu %14.4f %14.4f %7.2f %22.4f %7.2f\n", o->plain ? "plain" : "prepared",
                   (unsigned long long)batches[b], one.each_second / 1e6, all.each_second / 1e6,
                   all.each_second / one.each_second, all.each_core_second / 1e6,
                   all.each_core_second / one.each_core_second);
            fflush(stdout);
        }
    return 0;
}

int main(int argc, char **argv)
{
    const int versions = argc > 1 && strcmp(argv[1], "versions") == 0;
    options o = {.device = "auto",
                 .spec = "best",
                 .threads = versions ? 8 : 64,
                 .keys_log2 = 26,
                 .seconds_each = versions ? 10 : 2,
                 .rounds = 3,
                 .changes = 1 << 16,
                 .device_threads = 1};
    shared s = {.o = &o, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc < 2 || (!versions && strcmp(argv[1], "scaling") != 0))
        return fail("say what is measured: scaling or versions", "");
    int code = read_options(&o, argc, argv);
    if (code)
        return code;
    code = open_index(&s);
    if (!code) {
        print_machine(&s);
        code = versions ? concurrent_versions(&s) : scale(&s, &o);
    }
    if (s.newest)
        concurrent_let_go(&s, s.newest);
    kr_device_close(s.device);
    return code || atomic_load(&s.failed);
}
