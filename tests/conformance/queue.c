/* Units wait in one order, and each thread takes the next. A thread has devices of its own: caps, peaks and
 * bytes in use belong to a device object, so tests that change or count them cannot disturb each other. */
#include "queue.h"
#include "inside.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 9, WIDTHS = 2 };

static const struct area {
    const char *name;
    void (*run)(kr_suite *suite);
} areas[] = {
    {"lookups", kr_run_lookups}, {"nearest", kr_run_nearest}, {"chunks", kr_run_chunks},
    {"streams", kr_run_streams}, {"joins", kr_run_joins},     {"asof", kr_run_asof},
    {"overlap", kr_run_overlap}, {"misuse", kr_run_misuse},   {"every_key", kr_run_every_key},
    {"counts", kr_run_counts},   {"heavy", kr_run_heavy},     {"set_keys", kr_run_set_keys},
    {"updates", kr_run_updates}, {"cancels", kr_run_cancels}, {"growth", kr_run_growth},
    {"work", kr_run_work},       {"limits", kr_run_limits},   {"saved", kr_run_saved},
};
enum { N_AREAS = sizeof areas / sizeof areas[0] };

/* A spec of the list on a device; SPECS_THEMSELVES, which is not a place in the list: the tests that need no
 * device. */
enum { SPECS_THEMSELVES = KR_MAX_SPECS };
typedef struct unit {
    uint32_t spec, device;
    int is_done;
} unit;

typedef struct queue {
    const kr_settings *settings;
    const kr_spec_list *list;
    const kr_queue_options *options;
    unit *units;
    uint32_t n, n_devices;
    kr_error no_gpu; /* why there is none */
    pthread_mutex_t lock;
    uint32_t next;
    int has_no_device;
    kr_totals totals;
    double spent[N_AREAS];
} queue;

/* ---- Devices -------------------------------------------------------------------------------- */

/* Indexes of keep=host are divided on every device, also where device memory is host memory. */
static int open_device(const kr_device_info *info, uint32_t threads, uint64_t part_rows, kr_suite_device *on)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = threads};
    kr_error err = {0};
    if (kr_device_open(info->name, &options, &on->device, &err)) {
        fprintf(stderr, "cannot open %s: %s\n", info->name, err.text);
        return 0;
    }
    if (part_rows)
        kr_divide_indexes(on->device, part_rows, 0);
    on->info = *info;
    on->is_host = strcmp(info->name, "cpu") == 0;
    return 1;
}

static int is_asked_for(const kr_queue_options *options, const kr_device_info *info)
{
    return !strcmp(options->device, "all") || !strncmp(info->name, options->device, strlen(options->device));
}

uint32_t kr_open_devices(const kr_queue_options *options, uint32_t threads, uint32_t most,
                         kr_suite_device *devices)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    uint32_t n = 0;
    for (uint32_t ordinal = 0; n < most && kr_device_describe(ordinal, &info, &err) == KR_OK; ++ordinal) {
        if (!is_asked_for(options, &info))
            continue;
        if (!open_device(&info, threads, options->part_rows, &devices[n])) {
            kr_close_devices(devices, n);
            return 0;
        }
        ++n;
    }
    if (n == 0)
        fprintf(stderr, "there is no device '%s' here: %s\n", options->device, err.text);
    return n;
}

void kr_close_devices(kr_suite_device *devices, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        kr_device_close(devices[i].device);
}

/* Why there is no GPU where all devices are asked for; no text if there is one. */
static void look_for_gpu(queue *q)
{
    kr_device_info info = {.struct_size = sizeof info};
    if (!strcmp(q->options->device, "all"))
        kr_device_describe(1, &info, &q->no_gpu);
}

/* ---- One unit ------------------------------------------------------------------------------- */

static void print_end(const kr_suite *suite, double seconds)
{
    printf("%-44s %s%s%" PRIu64 " passed, %" PRIu64 " failed, %.1f s%s\n", suite->spec,
           suite->on ? suite->on->info.name : "", suite->on ? ": " : "", suite->passed, suite->failed,
           seconds, suite->was_cut ? ", cut off" : "");
    fflush(stdout);
}

static void run_areas(kr_suite *suite, double spent[N_AREAS])
{
    for (size_t i = 0; i < N_AREAS; ++i) {
        const double start = kr_test_clock();
        areas[i].run(suite);
        spent[i] += kr_test_clock() - start;
    }
}

static void run_unit(queue *q, unit *u, kr_suite_device (*devices)[MAX_DEVICES])
{
    const kr_settings *settings = q->settings;
    kr_suite suite = {.settings = settings,
                      .seed = settings->seed,
                      .reduced = settings->reduced,
                      .exhaustive = settings->exhaustive};
    double spent[N_AREAS] = {0};
    const double start = kr_test_clock();
    if (u->spec == SPECS_THEMSELVES) {
        suite.spec = "specs and kinds";
        kr_run_specs(&suite, q->list);
        if (q->no_gpu.status)
            kr_test_skip(&suite, "cuda", q->no_gpu.text);
    } else {
        suite.listed = &q->list->at[u->spec];
        suite.spec = suite.listed->text;
        suite.on = &devices[u->spec % WIDTHS][u->device];
        kr_test_keys_lie(kr_spec_wants_near(suite.spec) ? KR_KEYS_AT_ZERO : KR_KEYS_ANYWHERE);
        run_areas(&suite, spent);
        kr_test_keys_lie(KR_KEYS_ANYWHERE);
    }
    if (suite.passed + suite.failed + (uint64_t)suite.was_cut > 0)
        print_end(&suite, kr_test_clock() - start);
    pthread_mutex_lock(&q->lock);
    u->is_done = !suite.was_cut;
    q->totals.passed += suite.passed;
    q->totals.failed += suite.failed;
    q->totals.skipped += suite.skipped;
    for (size_t i = 0; i < N_AREAS; ++i)
        q->spent[i] += spent[i];
    pthread_mutex_unlock(&q->lock);
}

static unit *take(queue *q)
{
    const int is_late = q->settings->deadline > 0 && kr_test_clock() > q->settings->deadline;
    pthread_mutex_lock(&q->lock);
    unit *u = q->next < q->n && !is_late ? &q->units[q->next++] : NULL;
    pthread_mutex_unlock(&q->lock);
    return u;
}

/* A spec always gets a device with the same number of threads, whichever thread of the runner takes it. */
static void *work(void *ctx)
{
    queue *q = ctx;
    kr_suite_device devices[WIDTHS][MAX_DEVICES];
    uint32_t n[WIDTHS] = {0};
    unit *u;
    for (uint32_t i = 0; i < WIDTHS; ++i)
        n[i] = kr_open_devices(q->options, q->options->threads ? q->options->threads : 1 + i, MAX_DEVICES,
                               devices[i]);
    if (n[0] != q->n_devices || n[1] != q->n_devices)
        q->has_no_device = 1;
    else
        while ((u = take(q)))
            run_unit(q, u, devices);
    for (uint32_t i = 0; i < WIDTHS; ++i)
        kr_close_devices(devices[i], n[i]);
    return NULL;
}

/* ---- The list of units ---------------------------------------------------------------------- */

static void make_units(queue *q, const kr_suite_device *devices)
{
    const kr_queue_options *o = q->options;
    uint32_t all = 0;
    for (uint32_t d = 0; d < q->n_devices; ++d)
        for (uint32_t i = 0; i < q->list->n; ++i)
            if ((!devices[d].is_host || !q->list->at[i].is_for_gpu) && all++ % o->n_shards == o->shard)
                q->units[q->n++] = (unit){i, d, 0};
    if (all % o->n_shards == o->shard)
        q->units[q->n++] = (unit){SPECS_THEMSELVES, 0, 0};
    kr_rng rng = {o->order_seed};
    for (uint32_t i = q->n; o->order_seed && i > 1; --i) {
        const uint32_t other = (uint32_t)kr_rng_below(&rng, i);
        const unit last = q->units[i - 1];
        q->units[i - 1] = q->units[other];
        q->units[other] = last;
    }
}

static void print_start(const queue *q, const kr_suite_device *devices)
{
    printf("keyray %s (%s), seed %" PRIu64 "%s, %u specs, devices:", kr_version(), kr_build_commit(),
           q->settings->seed, q->settings->reduced ? ", reduced" : "", q->list->n);
    for (uint32_t i = 0; i < q->n_devices; ++i)
        printf(" %s (%s)", devices[i].info.name, devices[i].info.description);
    printf("\n");
    fflush(stdout);
}

static uint32_t print_left(const queue *q, const kr_suite_device *devices)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < q->n; ++i)
        left += !q->units[i].is_done;
    if (left == 0)
        return 0;
    printf("the time was over: %u of %u did not run, or not to their end:\n", left, q->n);
    for (uint32_t i = 0; i < q->n; ++i)
        if (!q->units[i].is_done)
            printf("  %s %s\n", devices[q->units[i].device].info.name,
                   q->units[i].spec == SPECS_THEMSELVES ? "specs and kinds"
                                                        : q->list->at[q->units[i].spec].text);
    return left;
}

static void print_areas(const queue *q)
{
    printf("seconds of all threads:");
    for (size_t i = 0; i < N_AREAS; ++i)
        if (q->spent[i] >= 0.5)
            printf(" %s %.0f", areas[i].name, q->spent[i]);
    printf("\n");
}

static void run_threads(queue *q)
{
    pthread_t threads[KR_MAX_JOBS];
    uint32_t n = 0;
    while (n + 1 < q->options->jobs && pthread_create(&threads[n], NULL, work, q) == 0)
        ++n;
    work(q);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

int kr_run_queue(kr_settings *settings, const kr_spec_list *list, const kr_queue_options *options,
                 kr_totals *totals)
{
    kr_suite_device devices[MAX_DEVICES];
    queue q = {.settings = settings, .list = list, .options = options, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (options->seconds > 0)
        settings->deadline = kr_test_clock() + options->seconds;
    q.n_devices = kr_open_devices(options, 1, MAX_DEVICES, devices);
    if (q.n_devices == 0)
        return 1;
    look_for_gpu(&q);
    q.units = kr_test_calloc((uint64_t)list->n * q.n_devices + 1, sizeof *q.units);
    make_units(&q, devices);
    print_start(&q, devices);
    run_threads(&q);
    q.totals.left = print_left(&q, devices);
    print_areas(&q);
    free(q.units);
    kr_close_devices(devices, q.n_devices);
    kr_case_data_drop_shared();
    kr_heavy_drop_shared();
    *totals = q.totals;
    return q.has_no_device;
}
