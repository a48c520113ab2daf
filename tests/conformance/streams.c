/* Two streams, several handles of one device, reports and explanations. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* COUNT of the fixture's probes, enqueued on a stream with everything in device memory. */
typedef struct enqueued {
    kr_stream *stream;
    kr_placed probes;
    kr_guarded out;
} enqueued;

static int enqueue(const kr_fixture *fixture, kr_device *device, kr_index *index, enqueued *job)
{
    kr_error err = {0};
    const kr_column *probes = &fixture->data.lower[KR_ASK_POINT].view;
    kr_status status = kr_stream_create(device, &job->stream, &err);
    if (!status)
        status = kr_placed_make(device, KR_PLACE_DEVICE, probes, 0, &job->probes, &err);
    if (!status)
        status =
            kr_guarded_make(device, KR_PLACE_DEVICE, probes->count * sizeof(uint64_t), 0, &job->out, &err);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = job->out.data};
    /* The columns were copied on the device's own stream. */
    if (!status)
        status = kr_device_sync(device, NULL, &err);
    if (!status)
        status = kr_index_lookup(index, &job->probes.view, &sink, job->stream, &err);
    return kr_test_ok(fixture->suite, status, &err, "a lookup on a stream");
}

static void finish(const kr_fixture *fixture, kr_device *device, enqueued *job)
{
    const uint32_t question = 1; /* COUNT */
    const kr_answer *want = &fixture->data.answers[KR_ASK_POINT][question];
    kr_error err = {0};
    char text[256];
    kr_answer got = {.n = want->n};
    if (job->out.base &&
        kr_test_ok(fixture->suite, kr_device_sync(device, job->stream, &err), &err, "kr_device_sync")) {
        got.out = kr_guarded_read(&job->out, &err);
        if (!got.out)
            kr_test_fail(fixture->suite, "%s", err.text);
        else if (kr_answer_differs(&fixture->data.questions[question], want, &got, text, sizeof text))
            kr_test_fail(fixture->suite, "on a stream: %s", text);
        free(got.out);
        kr_guarded_free(&job->out);
    }
    kr_placed_free(&job->probes);
    kr_stream_destroy(job->stream);
}

/* An index made on one stream, probed at once on two others. */
static void test_streams(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_fixture fixture;
    kr_error err = {0};
    kr_placed keys = {0};
    kr_stream *stream = NULL;
    kr_index *index = NULL;
    enqueued jobs[2] = {0};
    kr_fixture_make(suite, KR_U32, KR_PATTERN_DUPLICATES, 5000, &fixture);
    kr_status status = kr_stream_create(on->device, &stream, &err);
    if (!status)
        status = kr_placed_make(on->device, KR_PLACE_DEVICE, &fixture.data.keys.view, 0, &keys, &err);
    if (!status)
        status = kr_device_sync(on->device, NULL, &err);
    if (!status)
        status = kr_index_create(on->device, spec, &keys.view, NULL, stream, &index, &err);
    if (kr_test_ok(suite, status, &err, "an index created on a stream"))
        for (int i = 0; i < 2; ++i)
            enqueue(&fixture, on->device, index, &jobs[i]);
    for (int i = 0; i < 2; ++i)
        finish(&fixture, on->device, &jobs[i]);
    kr_index_destroy(index);
    kr_placed_free(&keys);
    kr_stream_destroy(stream);
    kr_fixture_free(&fixture);
}

/* A second handle gives the same answers, with one thread and with a cap that is large enough. */
static void test_handles(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const kr_device_options options[] = {
        {.struct_size = sizeof options[0]},
        {.struct_size = sizeof options[0], .threads = 1},
        {.struct_size = sizeof options[0], .threads = 3, .memory_cap_nbytes = UINT64_C(1) << 30},
    };
    kr_fixture fixture;
    kr_fixture_make(suite, kr_fitting_type(spec, KR_F64), KR_PATTERN_EXTREME, 3000, &fixture);
    for (uint32_t i = 0; i < sizeof options / sizeof options[0]; ++i) {
        kr_error err = {0};
        kr_device *device = NULL;
        uint32_t refusals = 0;
        if (!kr_test_ok(suite, kr_open_like(on, &options[i], &device, &err), &err, "a second handle"))
            break;
        kr_fixture_check_all(&fixture, device, spec, KR_OK, &refusals);
        kr_device_close(device);
    }
    kr_fixture_free(&fixture);
}

static void check_report(kr_suite *suite, const char *spec, const kr_report *report, uint64_t n)
{
    const uint32_t phases = kr_report_phase_count(report), orders = kr_report_order_count(report);
    uint64_t probes = 0;
    kr_test_expect(suite, kr_report_probe_count(report) == n, "a report counts the probes");
    for (uint32_t i = 0; i < phases; ++i)
        kr_test_expect(suite, kr_report_phase_name(report, i)[0] && kr_report_phase_seconds(report, i) >= 0,
                       "phases have a name and a time");
    kr_test_expect(suite, phases > 0 && !kr_report_phase_name(report, phases),
                   "a report has phases, and an end");
    for (uint32_t i = 0; i < orders; ++i) {
        const char *name = kr_report_order_name(report, i);
        probes += kr_report_order_probes(report, i);
        if (strstr(spec, "probes=as-is"))
            kr_test_expect(suite, !strcmp(name, "as-is"), "probes=as-is leaves the order");
        if (strstr(spec, "probes=sorted"))
            kr_test_expect(suite, !strcmp(name, "sorted"), "probes=sorted sorts");
    }
    kr_test_expect(suite, probes == n, "every probe was searched in some order");
    kr_test_expect(suite, !kr_report_order_name(report, orders), "orders have an end");
    const int is_divided = orders && !strcmp(kr_report_order_name(report, 0), "divided");
    kr_test_expect(suite, (kr_report_counter_count(report) == 0) != is_divided,
                   "nothing is counted unasked but what travelled");
}

static void test_report(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_fixture fixture;
    kr_error err = {0};
    kr_index *index = NULL;
    kr_report *report = NULL;
    uint64_t counts[64];
    if (!kr_test_ok(suite, kr_report_create(&report, &err), &err, "kr_report_create"))
        return;
    kr_fixture_make(suite, kr_fitting_type(spec, KR_I64), KR_PATTERN_DENSE, 1000, &fixture);
    const kr_column *probes = &fixture.data.lower[KR_ASK_POINT].view;
    const kr_sink sink = {
        .struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts, .report = report};
    kr_status status = kr_index_create(on->device, spec, &fixture.data.keys.view, NULL, NULL, &index, &err);
    if (!status && kr_spec_capabilities(spec) & KR_CAN_POINT) {
        status = kr_index_lookup(index, probes, &sink, NULL, &err);
        if (!status)
            check_report(suite, spec, report, probes->count);
    }
    kr_test_ok(suite, status, &err, "a lookup with a report");
    kr_report_destroy(report);
    kr_index_destroy(index);
    kr_fixture_free(&fixture);
}

static void test_explain(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    static const kr_operation operations[] = {KR_OP_POINT, KR_OP_RANGE, KR_OP_BUILD, KR_OP_JOIN};
    kr_fixture fixture;
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_error err = {0};
    char whole[KR_SPEC_NBYTES] = "";
    kr_fixture_make(suite, KR_U32, KR_PATTERN_DENSE, 1000, &fixture);
    const kr_column *keys = &fixture.data.keys.view;
    kr_status status = kr_index_estimate(on->device, spec, keys, &estimate, &err);
    if (!status)
        status = kr_spec_complete(spec, whole, sizeof whole, &err);
    for (uint32_t i = 0; !status && i < sizeof operations / sizeof operations[0]; ++i) {
        kr_explanation explanation = {.struct_size = sizeof explanation};
        if ((operations[i] == KR_OP_RANGE && !(kr_spec_capabilities(spec) & KR_CAN_RANGE)) ||
            (operations[i] != KR_OP_RANGE && !(kr_spec_capabilities(spec) & KR_CAN_POINT)))
            continue;
        status = kr_index_explain(on->device, operations[i], spec, keys, 1000, &explanation, &err);
        if (status)
            break;
        kr_test_expect(suite, strcmp(explanation.spec, whole) == 0, "explain names the whole spec");
        kr_test_expect(suite, strcmp(explanation.device, on->info.name) == 0, "explain names the device");
        kr_test_expect(suite, explanation.tracer[0] && explanation.reason[0] && explanation.probe_order[0],
                       "explain gives tracer, reason and order of probes");
        kr_test_expect(suite, explanation.memory_accesses_per_probe > 0, "a probe touches something");
        kr_test_expect(suite, explanation.footprint_nbytes == estimate.footprint_nbytes,
                       "explain and estimate agree");
    }
    kr_test_ok(suite, status, &err, "kr_index_explain");
    kr_fixture_free(&fixture);
}

void kr_run_streams(kr_suite *suite)
{
    kr_test_special(suite, "streams", KR_U32, test_streams);
    kr_test_special(suite, "handles", 0, test_handles);
    kr_test_special(suite, "report", 0, test_report);
    kr_test_special(suite, "explain", KR_U32, test_explain);
}
