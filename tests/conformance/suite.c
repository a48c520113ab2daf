#include "suite.h"
#include "inside.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double kr_test_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int kr_test_wanted(const kr_suite *suite, const char *name)
{
    return !suite->settings->filter || strstr(name, suite->settings->filter);
}

int kr_test_is_late(kr_suite *suite)
{
    if (suite->settings->deadline > 0 && kr_test_clock() > suite->settings->deadline)
        suite->was_cut = 1;
    return suite->was_cut;
}

int kr_test_begin(kr_suite *suite, const char *name, ...)
{
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(suite->name, sizeof suite->name, name, arguments);
    va_end(arguments);
    suite->has_failed = 0;
    if (!kr_test_wanted(suite, suite->name))
        return 0;
    return !kr_test_is_late(suite);
}

void kr_test_fail(kr_suite *suite, const char *text, ...)
{
    va_list arguments;
    if (suite->has_failed++)
        return;
    flockfile(stdout);
    printf("FAILED %s: ", suite->name);
    va_start(arguments, text);
    vprintf(text, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    funlockfile(stdout);
}

void kr_test_end(kr_suite *suite)
{
    suite->passed += !suite->has_failed;
    suite->failed += suite->has_failed != 0;
}

/* 1 for a reason that no thread has given before. */
static int is_new_reason(const char *reason)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char reasons[KR_MAX_REASONS][192];
    static uint32_t n_reasons;
    int is_new = 1;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_reasons; ++i)
        is_new = is_new && strncmp(reasons[i], reason, sizeof reasons[i] - 1) != 0;
    if (is_new && n_reasons < KR_MAX_REASONS)
        snprintf(reasons[n_reasons++], sizeof reasons[0], "%s", reason);
    pthread_mutex_unlock(&lock);
    return is_new;
}

void kr_test_skip(kr_suite *suite, const char *name, const char *reason)
{
    if (!kr_test_wanted(suite, name))
        return;
    ++suite->skipped;
    if (is_new_reason(reason))
        printf("skipped %s, and others like it: %s\n", name, reason);
}

int kr_test_expect(kr_suite *suite, int truth, const char *what)
{
    if (!truth)
        kr_test_fail(suite, "not so: %s", what);
    return truth;
}

int kr_test_ok(kr_suite *suite, kr_status status, const kr_error *err, const char *call)
{
    if (status)
        kr_test_fail(suite, "%s: %s: %s", call, kr_status_name(status), err->text);
    return status == KR_OK;
}

int kr_test_refused(kr_suite *suite, kr_status want, kr_status status, const kr_error *err, const char *call)
{
    if (status != want)
        kr_test_fail(suite, "%s: want %s, got %s: %s", call, kr_status_name(want), kr_status_name(status),
                     status ? err->text : "");
    else if (err->status != want || !err->text[0] || strchr(err->text, '\n'))
        kr_test_fail(suite, "%s: the error does not say why in one line: %s '%s'", call,
                     kr_status_name(err->status), err->text);
    else
        return 1;
    return 0;
}

uint64_t kr_in_use(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    return kr_device_query(device, &info, NULL) ? UINT64_MAX : info.in_use_nbytes;
}

kr_status kr_open_like(const kr_suite_device *on, const kr_device_options *options, kr_device **device,
                       kr_error *err)
{
    const kr_status status = kr_device_open(on->info.name, options, device, err);
    if (status == KR_OK)
        kr_divide_indexes_like(*device, on->device);
    return status;
}

uint64_t kr_component_sum(const kr_index *index)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; kr_index_component_name(index, i); ++i)
        sum += kr_index_component_nbytes(index, i);
    return sum;
}

uint64_t kr_component_on_host(const kr_index *index)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; kr_index_component_name(index, i); ++i)
        if (strcmp(kr_index_component_name(index, i), "host memory") == 0)
            sum += kr_index_component_nbytes(index, i);
    return sum;
}

static uint64_t counter(const kr_report *report, const char *name)
{
    for (uint32_t i = 0; kr_report_counter_name(report, i); ++i)
        if (strcmp(kr_report_counter_name(report, i), name) == 0)
            return kr_report_counter_value(report, i);
    return 0;
}

kr_test_work kr_test_work_of(const kr_report *report)
{
    return (kr_test_work){.rays = counter(report, "rays"),
                          .hits = counter(report, "hits"),
                          .filtered = counter(report, "filtered"),
                          .repaired = counter(report, "repaired"),
                          .untraced = counter(report, "untraced")};
}
