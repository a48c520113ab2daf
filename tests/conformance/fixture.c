#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kr_fixture_make(kr_suite *suite, kr_type type, kr_pattern pattern, uint64_t keys, kr_fixture *fixture)
{
    *fixture = (kr_fixture){.suite = suite, .test = {.name = "fixture", .pattern = pattern, .keys = keys}};
    fixture->test.probes = 50;
    kr_case_data_make(suite, &fixture->test, 1000, type, &fixture->data);
    fixture->data.test = &fixture->test;
}

void kr_fixture_make_of(kr_suite *suite, kr_test_column *keys, uint64_t probes, kr_fixture *fixture)
{
    *fixture = (kr_fixture){.suite = suite, .test = {.name = "fixture", .keys = keys->view.count}};
    fixture->test.probes = probes;
    kr_case_data_of(suite, &fixture->test, 1000, keys, NULL, &fixture->data);
    fixture->data.test = &fixture->test;
}

void kr_fixture_free(kr_fixture *fixture)
{
    kr_case_data_free(&fixture->data);
}

kr_status kr_fixture_ask(const kr_fixture *fixture, kr_index *index, uint32_t what, uint32_t question,
                         kr_answer *got, kr_error *err)
{
    const kr_case_data *data = &fixture->data;
    const kr_question *asked = &data->questions[question];
    const kr_answer *want = &data->answers[what][question];
    kr_answer answer = {.n = want->n, .n_rows = want->n_rows};
    answer.out = kr_test_calloc(kr_answer_nbytes(asked, want->n), 1);
    answer.valid = kr_test_calloc(want->n / 8 + 1, 1);
    answer.rows = kr_test_calloc(want->n_rows, sizeof *answer.rows);
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = asked->result,
                          .order = asked->order,
                          .limit = asked->limit,
                          .values = asked->values,
                          .out = answer.out,
                          .valid = answer.valid,
                          .rows = asked->result == KR_RESULT_ROWS ? answer.rows : NULL,
                          .rows_capacity = want->n_rows};
    const kr_status status =
        kr_case_call(data, index, what, &data->lower[what].view, &data->upper.view, &sink, err);
    if (status)
        kr_answer_free(&answer);
    else
        *got = answer;
    return status;
}

/* The kr_index_info of an index of one key. */
static kr_status probe_spec(const kr_suite_device *on, const char *spec, kr_index_info *info, kr_error *err)
{
    const uint8_t key = 0;
    const kr_column keys = {.type = KR_U8, .count = 1, .data = &key};
    kr_index *index = NULL;
    kr_status status = kr_index_create(on->device, spec, &keys, NULL, NULL, &index, err);
    if (!status)
        status = kr_index_query(index, info, err);
    kr_index_destroy(index);
    return status;
}

int kr_casts_rays(const kr_suite_device *on, const char *spec)
{
    kr_index_info info = {.struct_size = sizeof info};
    return probe_spec(on, spec, &info, NULL) == KR_OK && strncmp(info.tracer, "none", 4) != 0;
}

int kr_device_runs(kr_suite *suite)
{
    kr_index_info info = {.struct_size = sizeof info};
    if (!suite->can_run)
        suite->can_run =
            probe_spec(suite->on, suite->spec, &info, &suite->refusal) == KR_ERR_UNSUPPORTED ? -1 : 1;
    if (suite->can_run < 0)
        kr_test_skip(suite, suite->name, suite->refusal.text);
    return suite->can_run > 0;
}

/* A status that is neither KR_OK nor `allowed` fails the test. */
static int settle(kr_suite *suite, kr_status status, kr_status allowed, const kr_error *err, const char *call,
                  uint32_t *refusals)
{
    if (status == KR_OK)
        return 1;
    ++*refusals;
    return allowed ? kr_test_refused(suite, allowed, status, err, call)
                   : kr_test_ok(suite, status, err, call);
}

int kr_fixture_check(const kr_fixture *fixture, const char *spec, kr_index *index, kr_status allowed,
                     uint32_t *refusals)
{
    for (uint32_t what = 0; what < KR_N_ASKS; ++what)
        for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i) {
            const kr_question *question = &fixture->data.questions[i];
            kr_answer got = {0};
            kr_error err = {0};
            char text[256];
            if (!(kr_spec_capabilities(spec) & kr_ask_needs[what]) || !kr_case_asks(&fixture->data, i))
                continue;
            const kr_status status = kr_fixture_ask(fixture, index, what, i, &got, &err);
            if (!settle(fixture->suite, status, allowed, &err, question->name, refusals))
                return 0;
            if (status)
                continue;
            const int differs =
                kr_answer_differs(question, &fixture->data.answers[what][i], &got, text, sizeof text);
            if (differs)
                kr_test_fail(fixture->suite, "%s: %s", question->name, text);
            kr_answer_free(&got);
            if (differs)
                return 0;
        }
    return 1;
}

static int check_join(const kr_fixture *fixture, kr_device *device, const char *spec, kr_status allowed,
                      uint32_t *refusals)
{
    const kr_column *left = &fixture->data.keys.view, *right = &fixture->data.lower[KR_ASK_POINT].view;
    kr_error err = {0};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    const char *must_name;
    /* The smaller side is indexed. */
    if (kr_spec_refuses(spec, right, &must_name))
        return 1;
    if (!(kr_spec_capabilities(spec) & KR_CAN_POINT))
        return 1;
    kr_status status = kr_join_create(device, spec, left, right, NULL, &join, &err);
    if (!settle(fixture->suite, status, allowed, &err, "kr_join_create", refusals) || status)
        return !status || status == allowed;
    kr_pairs want = kr_oracle_join(left, right, NULL, KR_JOIN_INNER);
    status = kr_join_query(join, &info, &err);
    const int right_size = kr_test_ok(fixture->suite, status, &err, "kr_join_query") &&
                           kr_test_expect(fixture->suite, info.pairs == want.n, "a join has all its pairs");
    free(want.pairs);
    kr_join_destroy(join);
    return right_size;
}

/* As-of joins whose groups are their times, as one key or, where they have 64 bits, as ranks; and joins of
 * intervals. */
static int check_other_joins(const kr_fixture *fixture, kr_device *device, const char *spec,
                             kr_status allowed, uint32_t *refusals)
{
    const kr_column *left = &fixture->data.keys.view, *right = &fixture->data.lower[KR_ASK_POINT].view;
    const kr_column widest = {.type = KR_U64};
    const uint32_t can = kr_spec_capabilities(spec);
    const char *must_name;
    kr_error err = {0};
    kr_join *join = NULL;
    kr_status status = KR_OK;
    if (kr_spec_refuses(spec, &widest, &must_name))
        return 1;
    /* Groups and times as one key lie far apart. */
    const uint32_t n_by = !kr_spec_wants_near(spec);
    if ((can & KR_CAN_NEAREST) && (n_by || !kr_spec_refuses(spec, right, &must_name)))
        status = kr_join_create_asof(device, spec, left, right, n_by ? left : NULL, n_by ? right : NULL, n_by,
                                     NULL, NULL, &join, &err);
    int good = settle(fixture->suite, status, allowed, &err, "kr_join_create_asof", refusals);
    kr_join_destroy(join);
    join = NULL;
    status = KR_OK;
    /* The starts of both sides are indexed. */
    if ((can & KR_CAN_RANGE) && !kr_spec_refuses(spec, left, &must_name) &&
        !kr_spec_refuses(spec, right, &must_name))
        status =
            kr_join_create_overlap(device, spec, left, left, right, right, KR_ENDS_CLOSED, NULL, &join, &err);
    good = good && settle(fixture->suite, status, allowed, &err, "kr_join_create_overlap", refusals);
    kr_join_destroy(join);
    return good;
}

int kr_fixture_check_all(const kr_fixture *fixture, kr_device *device, const char *spec, kr_status allowed,
                         uint32_t *refusals)
{
    const uint64_t before = kr_in_use(device);
    kr_error err = {0};
    kr_index *index = NULL;
    const kr_status status =
        kr_index_create(device, spec, &fixture->data.keys.view, NULL, NULL, &index, &err);
    int good = settle(fixture->suite, status, allowed, &err, "kr_index_create", refusals);
    if (good && status == KR_OK)
        good = kr_fixture_check(fixture, spec, index, allowed, refusals);
    else if (good)
        good = kr_test_expect(fixture->suite, index == NULL, "no index is written on an error");
    kr_index_destroy(index);
    good = good && check_join(fixture, device, spec, allowed, refusals);
    good = good && check_other_joins(fixture, device, spec, allowed, refusals);
    return kr_test_expect(fixture->suite, kr_in_use(device) == before,
                          "the memory in use is what it was before") &&
           good;
}

void kr_test_special(kr_suite *suite, const char *name, kr_type keys, kr_special special)
{
    const kr_column column = {.type = keys};
    const char *must_name;
    if (suite->listed->is_brief ||
        !kr_test_begin(suite, "%s/%s/%s", name, suite->on->info.name, suite->spec) || !kr_device_runs(suite))
        return;
    if (keys && kr_spec_refuses(suite->spec, &column, &must_name)) {
        kr_test_skip(suite, suite->name, "the keys of the test have more bits than option bits of the spec");
        return;
    }
    special(suite, suite->on, suite->spec);
    kr_test_end(suite);
}
