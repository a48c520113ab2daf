/* kr_index_update, cancelled: nothing changes, and a later update goes through. Its indexes are large, since
 * short updates report no progress. */
#include "fixture.h"

#include <stdlib.h>

typedef struct countdown {
    uint64_t left; /* the call of progress that ends the update; 0: none does */
} countdown;

static int count_down(void *ctx, const char *phase, double fraction)
{
    countdown *c = ctx;
    (void)phase;
    (void)fraction;
    return c->left && --c->left == 0;
}

/* 1: all of these keys are there, each in one row, or none of them. */
static int are_there(kr_suite *suite, kr_index *index, const kr_column *keys, int wanted)
{
    uint64_t *counts = kr_test_calloc(keys->count, sizeof *counts), wrong = 0;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_error err = {0};
    if (kr_test_ok(suite, kr_index_lookup(index, keys, &sink, NULL, &err), &err, "kr_index_lookup"))
        for (uint64_t i = 0; i < keys->count; ++i)
            wrong += counts[i] != (uint64_t)wanted;
    free(counts);
    return wrong == 0 && !suite->has_failed;
}

/* Cancels an update at its first report of progress, at the second, the fourth and so on (in the reduced list
 * the eighth and so on), until it goes through: the keys of `old` are there until then, and those of `half`
 * from then on. Returns how often it was cancelled. */
static uint32_t cancel_update(kr_suite *suite, kr_device *device, kr_index *index, countdown *c,
                              const kr_column *old, const kr_column *half)
{
    kr_status status = KR_ERR_CANCELLED;
    uint32_t cancelled = 0;
    for (uint64_t stop_at = 1; status && !suite->has_failed; stop_at *= suite->reduced ? 8 : 2) {
        kr_error err = {0};
        const uint64_t in_use = kr_in_use(device);
        c->left = stop_at;
        status = kr_index_update(index, half, NULL, old, NULL, &err);
        c->left = 0;
        if (status && kr_test_refused(suite, KR_ERR_CANCELLED, status, &err, "kr_index_update"))
            kr_test_expect(suite, kr_in_use(device) == in_use, "a cancelled update releases what it took");
        cancelled += status != KR_OK;
        kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
        kr_test_expect(suite,
                       are_there(suite, index, old, status != KR_OK) &&
                           are_there(suite, index, half, status == KR_OK),
                       "a cancelled update changes nothing, another one all");
    }
    return cancelled;
}

/* Deletes all keys and inserts three times as many, so that everything is built anew. A sort reports from
 * 2^22 keys on; a kind that casts rays reports while it builds its scene, which an update does when its rows
 * are in place. */
static void run_cancel(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const kr_type type = kr_fitting_type(spec, KR_U32);
    const uint64_t many = kr_casts_rays(on, spec) ? 150000 : 6000000, n = type == KR_U32 ? many : 200;
    kr_test_column keys = kr_test_column_make(type, n, KR_PATTERN_ASCENDING, KR_NULLS_NONE, 1);
    kr_column old = keys.view, half = keys.view;
    countdown c = {0};
    const kr_device_options options = {.struct_size = sizeof options, .progress = {count_down, &c}};
    kr_error err = {0};
    kr_device *device = NULL;
    kr_index *index = NULL;
    uint32_t cancelled = 0;
    old.count = n / 4;
    half.count = n - n / 4;
    half.data = kr_value_at(&keys.view, n / 4);
    if (kr_test_ok(suite, kr_open_like(on, &options, &device, &err), &err, "kr_device_open") &&
        kr_test_ok(suite, kr_index_create(device, spec, &old, NULL, NULL, &index, &err), &err,
                   "kr_index_create"))
        cancelled = cancel_update(suite, device, index, &c, &old, &half);
    kr_test_expect(suite, cancelled || n < 1 << 22, "a long update reports progress and can be cancelled");
    kr_index_destroy(index);
    kr_device_close(device);
    kr_test_column_free(&keys);
}

/* CANCELS/DEVICE/SPEC: one spec of a kind, in host memory. */
void kr_run_cancels(kr_suite *suite)
{
    if (suite->on->is_host && suite->listed->is_first_to_update)
        kr_test_special(suite, "cancels", 0, run_cancel);
}
