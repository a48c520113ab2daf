/* Memory caps and cancellation: wherever a call is stopped, it returns that status and nothing is lost. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Caps from nothing up to enough: every call under them works or names the shortage. */
static void test_caps(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_fixture fixture;
    kr_error err = {0};
    uint32_t refusals = 1, refused_once = 0;
    kr_fixture_make(suite, kr_fitting_type(spec, KR_I64), KR_PATTERN_DUPLICATES, 3000, &fixture);
    /* Opening a GPU and its tracer takes long. */
    const uint32_t divisor = on->is_host ? 2 : 1;
    for (uint64_t cap = 1; cap < UINT64_C(1) << 40 && refusals && !suite->has_failed;
         cap += cap / divisor + 1) {
        const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = cap};
        kr_device *device = NULL;
        kr_device_info info = {.struct_size = sizeof info};
        refusals = 0;
        if (!kr_test_ok(suite, kr_open_like(on, &options, &device, &err), &err, "kr_device_open"))
            break;
        kr_fixture_check_all(&fixture, device, spec, KR_ERR_DEVICE_MEMORY, &refusals);
        refused_once |= refusals;
        if (kr_test_ok(suite, kr_device_query(device, &info, &err), &err, "kr_device_query"))
            kr_test_expect(suite, info.peak_nbytes <= cap && info.in_use_nbytes == 0,
                           "the peak stays under the cap, and nothing is left");
        kr_device_close(device);
    }
    kr_test_expect(suite, refused_once && refusals == 0, "small caps refuse, large ones do not");
    kr_fixture_free(&fixture);
}

static uint64_t built_nbytes(const kr_suite_device *on, const char *spec, const kr_column *keys)
{
    kr_index *index = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    if (kr_index_create(on->device, spec, keys, NULL, NULL, &index, NULL) == KR_OK)
        kr_index_query(index, &info, NULL);
    kr_index_destroy(index);
    return info.footprint_nbytes;
}

/* A cap below the estimate: the error names the bytes and the index can be had once the cap allows it. */
static void test_cap_text(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_test_column keys = kr_test_column_make(kr_fitting_type(spec, KR_U64), 100000, KR_PATTERN_RANDOM,
                                              KR_NULLS_NONE, suite->seed);
    kr_error err = {0};
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_device_options options = {.struct_size = sizeof options};
    char number[32];
    kr_status status = kr_index_estimate(on->device, spec, &keys.view, &estimate, &err);
    /* Parts of an index in host memory are built under small caps, too. */
    options.memory_cap_nbytes = built_nbytes(on, spec, &keys.view) / (kr_spec_keeps_on_host(spec) ? 200 : 2);
    snprintf(number, sizeof number, "%llu", (unsigned long long)options.memory_cap_nbytes);
    if (!status)
        status = kr_open_like(on, &options, &device, &err);
    if (kr_test_ok(suite, status, &err, "kr_device_open")) {
        status = kr_index_create(device, spec, &keys.view, NULL, NULL, &index, &err);
        if (kr_test_refused(suite, KR_ERR_DEVICE_MEMORY, status, &err, "a cap of half the index"))
            kr_test_expect(suite, strstr(err.text, number) && strstr(err.text, "needed"),
                           "the error names the bytes needed and the cap");
        kr_device_close(device);
    }
    options.memory_cap_nbytes = estimate.peak_nbytes;
    if (kr_test_ok(suite, kr_open_like(on, &options, &device, &err), &err, "kr_device_open")) {
        status = kr_index_create(device, spec, &keys.view, NULL, NULL, &index, &err);
        kr_test_ok(suite, status, &err, "a cap of the estimated peak");
        kr_index_destroy(index);
        kr_device_close(device);
    }
    kr_test_column_free(&keys);
}

typedef struct countdown {
    uint64_t calls, stop_at;
    const char *complaint;
    double fraction;
    const char *phase;
} countdown;

static int count_down(void *ctx, const char *phase, double fraction)
{
    countdown *c = ctx;
    if (!phase || !phase[0])
        c->complaint = "progress names its phase";
    else if (!(fraction >= 0 && fraction <= 1))
        c->complaint = "progress runs from 0 to 1";
    return ++c->calls == c->stop_at;
}

/* A build of enough rows to report progress, and a lookup of them all; each works or is cancelled. */
static int build_and_look(kr_suite *suite, kr_device *device, const char *spec, const kr_column *keys,
                          uint64_t *counts, uint32_t *refusals)
{
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_error err = {0};
    kr_index *index = NULL;
    kr_status status = kr_index_create(device, spec, keys, NULL, NULL, &index, &err);
    int good = 1;
    if (status == KR_OK && kr_spec_capabilities(spec) & KR_CAN_POINT)
        status = kr_index_lookup(index, keys, &sink, NULL, &err);
    if (status) {
        ++*refusals;
        good = kr_test_refused(suite, KR_ERR_CANCELLED, status, &err, "create and lookup");
    }
    for (uint64_t i = 0; i < keys->count && !status && good; ++i)
        good = kr_test_expect(suite, counts[i] == 1, "after a cancelled call the next one is right");
    kr_index_destroy(index);
    return kr_test_expect(suite, kr_in_use(device) == 0, "a cancelled call releases what it took") && good;
}

/* Cancels at the first report of progress, at the second, the fourth and so on (in the reduced list the
 * first, the eighth and so on), until none is left. */
static void test_cancel(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    /* Scenes take longer than sorting, and report earlier; divided indexes report each part. */
    const uint32_t bits = kr_spec_keeps_on_host(spec) ? 16 : on->is_host && kr_casts_rays(on, spec) ? 18 : 22;
    const uint64_t n = (UINT64_C(1) << bits) + 4321;
    kr_test_column keys = kr_test_column_make(KR_U32, n, KR_PATTERN_DENSE, KR_NULLS_NONE, suite->seed);
    uint64_t *counts = kr_test_calloc(n, sizeof *counts);
    uint32_t refusals = 1, ever = 0;
    for (uint64_t stop_at = 1; refusals && !suite->has_failed; stop_at *= suite->reduced ? 8 : 2) {
        countdown c = {.stop_at = stop_at};
        const kr_device_options options = {.struct_size = sizeof options, .progress = {count_down, &c}};
        kr_error err = {0};
        kr_device *device = NULL;
        refusals = 0;
        if (!kr_test_ok(suite, kr_open_like(on, &options, &device, &err), &err, "kr_device_open"))
            break;
        if (build_and_look(suite, device, spec, &keys.view, counts, &refusals) && refusals) {
            uint32_t again = 0;
            build_and_look(suite, device, spec, &keys.view, counts, &again);
            kr_test_expect(suite, again == 0, "a cancelled call can be repeated");
        }
        ever |= refusals;
        kr_device_close(device);
        if (c.complaint)
            kr_test_fail(suite, "not so: %s", c.complaint);
    }
    kr_test_expect(suite, ever != 0, "long calls report progress and can be cancelled");
    free(counts);
    kr_test_column_free(&keys);
}

/* The memory that a spec asks for depends on what it keeps, not on how it searches. Cancelling once for each
 * kind: it is slow, and the loops that report do not depend on the options. */
void kr_run_limits(kr_suite *suite)
{
    if (suite->listed->is_first_stored) {
        kr_test_special(suite, "memory-cap", 0, test_caps);
        kr_test_special(suite, "memory-cap-text", 0, test_cap_text);
    }
    if ((suite->listed->is_first_of_kind || kr_spec_keeps_on_host(suite->spec)) && !suite->listed->is_brief &&
        kr_test_begin(suite, "cancel/%s/%s", suite->on->info.name, suite->spec) && kr_device_runs(suite)) {
        test_cancel(suite, suite->on, suite->spec);
        kr_test_end(suite);
    }
}
