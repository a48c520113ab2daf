/* The modes `support` and `perf`: tables of what runs here and how fast. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PERF_KEYS = 1 << 18, PERF_ROUNDS = 3, TINY = 4 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *yes(kr_status status)
{
    return status == KR_OK ? "yes" : status == KR_ERR_UNSUPPORTED ? "no" : kr_status_name(status);
}

/* Tries every operation on a handful of keys. */
static void print_row(const kr_suite_device *on, const char *spec, kr_type type)
{
    kr_test_column keys = kr_test_column_make(type, TINY, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    uint64_t counts[TINY];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_index *index = NULL;
    kr_join *join = NULL;
    const kr_status build = kr_index_create(on->device, spec, &keys.view, NULL, NULL, &index, NULL);
    const kr_status point = build ? build : kr_index_lookup(index, &keys.view, &sink, NULL, NULL);
    const kr_status range = build ? build : kr_index_range(index, &keys.view, &keys.view, &sink, NULL, NULL);
    const kr_status joined = kr_join_create(on->device, spec, &keys.view, &keys.view, NULL, &join, NULL);
    printf("%-28s %-8s %-12s %-6s %-6s %-6s %-6s\n", spec, on->info.name, kr_type_name(type), yes(build),
           yes(point), yes(range), yes(joined));
    kr_join_destroy(join);
    kr_index_destroy(index);
    kr_test_column_free(&keys);
}

void kr_print_support(const kr_suite_device *on, const kr_spec_list *list)
{
    printf("%s: %s, %s; rays: %s\n", on->info.name, on->info.description, on->info.software, on->info.tracer);
    printf("%-28s %-8s %-12s %-6s %-6s %-6s %-6s\n", "spec", "device", "keys", "build", "point", "range",
           "join");
    for (uint32_t k = 0; k < list->n && !list->at[k].is_brief; ++k)
        for (int type = 1; type <= KR_N_TYPES; ++type)
            print_row(on, list->at[k].text, (kr_type)type);
}

static void fail(const kr_error *err)
{
    printf("  %s: %s\n", kr_status_name(err->status), err->text);
}

/* The best of some rounds, everything in device memory: seconds of build, ROW and a range COUNT. */
static kr_status measure(const kr_suite_device *on, const char *spec, const kr_placed *keys,
                         const kr_placed *probes, kr_guarded *out, double seconds[3], kr_error *err)
{
    const int can_range = (kr_spec_capabilities(spec) & KR_CAN_RANGE) != 0;
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = out->data};
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = out->data};
    kr_status status = KR_OK;
    for (int round = 0; round < PERF_ROUNDS && !status; ++round) {
        kr_index *index = NULL;
        double times[4] = {now()};
        status = kr_index_create(on->device, spec, &keys->view, NULL, NULL, &index, err);
        times[1] = now();
        if (!status)
            status = kr_index_lookup(index, &probes->view, &row, NULL, err);
        if (!status)
            status = kr_device_sync(on->device, NULL, err);
        times[2] = now();
        if (!status && can_range)
            status = kr_index_range(index, &probes->view, &probes->view, &count, NULL, err);
        if (!status)
            status = kr_device_sync(on->device, NULL, err);
        times[3] = now();
        for (int i = 0; i < 3; ++i)
            if (round == 0 || times[i + 1] - times[i] < seconds[i])
                seconds[i] = times[i + 1] - times[i];
        kr_index_destroy(index);
    }
    return status;
}

static void print_times(const kr_suite_device *on, const kr_spec_list *list, uint64_t seed, kr_type type)
{
    kr_test_column keys = kr_test_column_make(type, PERF_KEYS, KR_PATTERN_DENSE, KR_NULLS_NONE, seed);
    kr_test_column probes = kr_test_column_make(type, PERF_KEYS, KR_PATTERN_DENSE, KR_NULLS_NONE, seed + 1);
    kr_placed on_device[2] = {0};
    kr_guarded out = {0};
    kr_error err = {0};
    kr_status status = kr_placed_make(on->device, KR_PLACE_DEVICE, &keys.view, 0, &on_device[0], &err);
    if (!status)
        status = kr_placed_make(on->device, KR_PLACE_DEVICE, &probes.view, 0, &on_device[1], &err);
    if (!status)
        status = kr_guarded_make(on->device, KR_PLACE_DEVICE, PERF_KEYS * sizeof(uint64_t), 0, &out, &err);
    for (uint32_t k = 0; k < list->n && !status; ++k) {
        double seconds[3] = {0};
        kr_status measured = measure(on, list->at[k].text, &on_device[0], &on_device[1], &out, seconds, &err);
        printf("%-28s %-8s %-6s %9.2f %9.2f %9.2f\n", list->at[k].text, on->info.name, kr_type_name(type),
               1e3 * seconds[0], PERF_KEYS / seconds[1] / 1e6, PERF_KEYS / seconds[2] / 1e6);
        if (measured)
            fail(&err);
    }
    if (status)
        fail(&err);
    if (out.base)
        kr_guarded_free(&out);
    kr_placed_free(&on_device[0]);
    kr_placed_free(&on_device[1]);
    kr_test_column_free(&keys);
    kr_test_column_free(&probes);
}

void kr_print_performance(const kr_suite_device *on, const kr_spec_list *list, uint64_t seed)
{
    printf("%d keys, as many random hits, all in device memory, best of %d\n", PERF_KEYS, PERF_ROUNDS);
    printf("%-28s %-8s %-6s %9s %9s %9s\n", "spec", "device", "keys", "build ms", "row M/s", "range M/s");
    print_times(on, list, seed, KR_U32);
    print_times(on, list, seed, KR_U64);
}
