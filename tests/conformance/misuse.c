/* Wrong calls: each is refused with its status and one line, writes nothing, and leaves the index usable. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PROBES = 50, OUT_NBYTES = 64 * sizeof(uint64_t), FRESH = 0x5A };

/* The arguments of a right call; each row of the table below spoils one thing. */
typedef struct call {
    kr_index *index;
    kr_column lower, upper;
    const kr_column *lower_at, *upper_at; /* upper_at NULL: a point lookup */
    kr_column values;
    kr_sink sink;
    const kr_sink *sink_at;
} call;

typedef struct misuse {
    const char *name;
    kr_status want;
    kr_result result; /* of the right call */
    int range;
    void (*spoil)(call *c);
} misuse;

static void no_index(call *c)
{
    c->index = NULL;
}
static void no_probes(call *c)
{
    c->lower_at = NULL;
}
static void no_sink(call *c)
{
    c->sink_at = NULL;
}
static void no_struct_size(call *c)
{
    c->sink.struct_size = 0;
}
static void no_out(call *c)
{
    c->sink.out = NULL;
}
static void no_valid(call *c)
{
    c->sink.valid = NULL;
}
static void no_values(call *c)
{
    c->sink.values = NULL;
}
static void no_result(call *c)
{
    c->sink.result = (kr_result)0;
}
static void unknown_result(call *c)
{
    c->sink.result = (kr_result)99;
}
static void unknown_order(call *c)
{
    c->sink.order = 7;
}
static void probes_of_no_type(call *c)
{
    c->lower.type = (kr_type)0;
}
static void probes_of_unknown_type(call *c)
{
    c->lower.type = (kr_type)13;
}
static void probes_of_other_type(call *c)
{
    c->lower.type = KR_I32;
}
static void upper_of_other_type(call *c)
{
    c->upper.type = KR_F32;
}
static void upper_shorter(call *c)
{
    c->upper.count -= 1;
}
static void probes_without_data(call *c)
{
    c->lower.data = NULL;
}
static void probes_misaligned(call *c)
{
    c->lower.data = (const char *)c->lower.data + 1;
    c->lower.count -= 1;
}
static void out_misaligned(call *c)
{
    c->sink.out = (char *)c->sink.out + 1;
}
static void values_of_no_type(call *c)
{
    c->values.type = (kr_type)0;
}
static void values_without_data(call *c)
{
    c->values.data = NULL;
}
static void values_misaligned(call *c)
{
    c->values.data = (const char *)c->values.data + 1;
}

static void values_are_floats(call *c)
{
    c->values.type = KR_F32;
    c->values.data = c->lower.data;
}

static void limit_of_counts(call *c)
{
    c->sink.limit = 3;
}

static const misuse lookups[] = {
    {"a limit is not for counts", KR_ERR_ARGUMENT, KR_RESULT_COUNT, 0, limit_of_counts},
    {"a limit is not for sums of ranges", KR_ERR_ARGUMENT, KR_RESULT_SUM, 1, limit_of_counts},
    {"the index is NULL", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, no_index},
    {"the probes are NULL", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, no_probes},
    {"the lower bounds are NULL", KR_ERR_ARGUMENT, KR_RESULT_ROW, 1, no_probes},
    {"the sink is NULL", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, no_sink},
    {"the sink has no size", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, no_struct_size},
    {"out is NULL", KR_ERR_ARGUMENT, KR_RESULT_COUNT, 0, no_out},
    {"valid is NULL", KR_ERR_ARGUMENT, KR_RESULT_MIN, 0, no_valid},
    {"values are NULL for SUM", KR_ERR_ARGUMENT, KR_RESULT_SUM, 0, no_values},
    {"values are NULL for MAX", KR_ERR_ARGUMENT, KR_RESULT_MAX, 1, no_values},
    {"the result is 0", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, no_result},
    {"the result is unknown", KR_ERR_ARGUMENT, KR_RESULT_ROW, 1, unknown_result},
    {"the order is unknown", KR_ERR_ARGUMENT, KR_RESULT_ROWS, 0, unknown_order},
    {"probes have no type", KR_ERR_TYPE, KR_RESULT_ROW, 0, probes_of_no_type},
    {"probes have an unknown type", KR_ERR_TYPE, KR_RESULT_ROW, 0, probes_of_unknown_type},
    {"probes have another type", KR_ERR_TYPE, KR_RESULT_ROW, 0, probes_of_other_type},
    {"lower bounds have another type", KR_ERR_TYPE, KR_RESULT_ROW, 1, probes_of_other_type},
    {"upper bounds have another type", KR_ERR_TYPE, KR_RESULT_COUNT, 1, upper_of_other_type},
    {"upper bounds are fewer", KR_ERR_ARGUMENT, KR_RESULT_ROW, 1, upper_shorter},
    {"probes have no data", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, probes_without_data},
    {"probes are misaligned", KR_ERR_ARGUMENT, KR_RESULT_ROW, 0, probes_misaligned},
    {"out is misaligned", KR_ERR_ARGUMENT, KR_RESULT_COUNT, 0, out_misaligned},
    {"values have no type", KR_ERR_TYPE, KR_RESULT_SUM, 0, values_of_no_type},
    {"values have no data", KR_ERR_ARGUMENT, KR_RESULT_SUM, 0, values_without_data},
    {"values have no data for SUM_WIDE", KR_ERR_ARGUMENT, KR_RESULT_SUM_WIDE, 0, values_without_data},
    {"out of SUM_WIDE is misaligned", KR_ERR_ARGUMENT, KR_RESULT_SUM_WIDE, 1, out_misaligned},
    {"floats have no wide sum", KR_ERR_TYPE, KR_RESULT_SUM_WIDE, 0, values_are_floats},
    {"values are misaligned", KR_ERR_ARGUMENT, KR_RESULT_MIN, 0, values_misaligned},
};

static void run_misuse(kr_suite *suite, const kr_fixture *fixture, kr_index *index, const misuse *m)
{
    uint8_t out[OUT_NBYTES] __attribute__((aligned(64))), valid[OUT_NBYTES];
    kr_error err = {0};
    call c = {.index = index,
              .lower = fixture->data.lower[m->range ? KR_ASK_RANGE : KR_ASK_POINT].view,
              .upper = fixture->data.upper.view,
              .values = fixture->data.values.view};
    memset(out, FRESH, sizeof out);
    memset(valid, FRESH, sizeof valid);
    c.lower_at = &c.lower;
    c.upper_at = m->range ? &c.upper : NULL;
    c.sink = (kr_sink){
        .struct_size = sizeof c.sink, .result = m->result, .values = &c.values, .out = out, .valid = valid};
    c.sink_at = &c.sink;
    m->spoil(&c);
    const kr_status status = m->range ? kr_index_range(c.index, c.lower_at, c.upper_at, c.sink_at, NULL, &err)
                                      : kr_index_lookup(c.index, c.lower_at, c.sink_at, NULL, &err);
    kr_test_refused(suite, m->want, status, &err, m->name);
    for (uint32_t i = 0; i < OUT_NBYTES; ++i)
        if (out[i] != FRESH || valid[i] != FRESH) {
            kr_test_fail(suite, "%s: byte %u of an output was written", m->name, i);
            break;
        }
    /* The text is optional; the status is not. */
    const kr_status silent = m->range ? kr_index_range(c.index, c.lower_at, c.upper_at, c.sink_at, NULL, NULL)
                                      : kr_index_lookup(c.index, c.lower_at, c.sink_at, NULL, NULL);
    kr_test_expect(suite, silent == status, "the status does not depend on err");
}

static int has_range(const char *spec)
{
    return (kr_spec_capabilities(spec) & KR_CAN_RANGE) != 0;
}

static void test_lookups(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_fixture fixture;
    kr_error err = {0};
    kr_index *index = NULL;
    uint32_t refusals = 0;
    kr_fixture_make(suite, KR_U32, KR_PATTERN_DUPLICATES, 500, &fixture);
    /* Value types that can be misaligned. */
    kr_test_column_free(&fixture.data.values);
    fixture.data.values = kr_test_column_make(KR_I64, 500, KR_PATTERN_RANDOM, KR_NULLS_NONE, suite->seed);
    if (kr_test_ok(suite,
                   kr_index_create(on->device, spec, &fixture.data.keys.view, NULL, NULL, &index, &err), &err,
                   "kr_index_create")) {
        const uint64_t before = kr_in_use(on->device);
        for (uint32_t i = 0; i < sizeof lookups / sizeof lookups[0]; ++i)
            if (kr_spec_capabilities(spec) & (lookups[i].range ? KR_CAN_RANGE : KR_CAN_POINT))
                run_misuse(suite, &fixture, index, &lookups[i]);
        kr_test_expect(suite, kr_in_use(on->device) == before, "refused lookups release what they took");
    }
    kr_index_destroy(index);
    kr_fixture_free(&fixture);
    kr_fixture_make(suite, KR_U32, KR_PATTERN_DUPLICATES, 500, &fixture);
    kr_fixture_check_all(&fixture, on->device, spec, KR_OK, &refusals);
    kr_fixture_free(&fixture);
}

/* A kind without an operation reports that. */
static void test_incapable(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_fixture fixture;
    kr_error err = {0};
    kr_index *index = NULL;
    kr_answer got = {0};
    kr_fixture_make(suite, KR_U32, KR_PATTERN_DENSE, 100, &fixture);
    const kr_status status =
        kr_index_create(on->device, spec, &fixture.data.keys.view, NULL, NULL, &index, &err);
    if (kr_test_ok(suite, status, &err, "kr_index_create") && !has_range(spec))
        kr_test_refused(suite, KR_ERR_UNSUPPORTED,
                        kr_fixture_ask(&fixture, index, KR_ASK_RANGE, 0, &got, &err), &err, "kr_index_range");
    kr_index_destroy(index);
    kr_fixture_free(&fixture);
}

/* ---- Creating ------------------------------------------------------------------------------- */

static void refuse_create(kr_suite *suite, kr_device *device, const char *spec, const kr_column *keys,
                          const uint32_t *row_ids, kr_status want, const char *name)
{
    kr_error err = {0};
    kr_index *index = NULL;
    const kr_status status = kr_index_create(device, spec, keys, row_ids, NULL, &index, &err);
    kr_test_refused(suite, want, status, &err, name);
    kr_test_expect(suite, index == NULL, "no index is written on an error");
    if (status == KR_OK)
        kr_index_destroy(index);
}

static void test_create(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    kr_test_column keys = kr_test_column_make(KR_U32, 100, KR_PATTERN_DENSE, KR_NULLS_NONE, suite->seed);
    const kr_column right = keys.view;
    const uint64_t before = kr_in_use(on->device);
    kr_error err = {0};
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_column wrong;
    refuse_create(suite, NULL, spec, &right, NULL, KR_ERR_ARGUMENT, "the device is NULL");
    refuse_create(suite, on->device, NULL, &right, NULL, KR_ERR_ARGUMENT, "the spec is NULL");
    refuse_create(suite, on->device, "", &right, NULL, KR_ERR_SPEC, "the spec is empty");
    refuse_create(suite, on->device, spec, NULL, NULL, KR_ERR_ARGUMENT, "the keys are NULL");
    wrong = right, wrong.type = (kr_type)0;
    refuse_create(suite, on->device, spec, &wrong, NULL, KR_ERR_TYPE, "keys have no type");
    wrong = right, wrong.data = NULL;
    refuse_create(suite, on->device, spec, &wrong, NULL, KR_ERR_ARGUMENT, "keys have no data");
    wrong = right, wrong.data = (const char *)right.data + 1, wrong.count -= 1;
    refuse_create(suite, on->device, spec, &wrong, NULL, KR_ERR_ARGUMENT, "keys are misaligned");
    wrong = right, wrong.count = UINT64_C(1) << 32;
    refuse_create(suite, on->device, spec, &wrong, NULL, KR_ERR_LIMIT, "2^32 keys");
    wrong.count = UINT64_MAX;
    refuse_create(suite, on->device, spec, &wrong, NULL, KR_ERR_LIMIT, "2^64 - 1 keys");
    kr_test_refused(suite, KR_ERR_LIMIT, kr_index_estimate(on->device, spec, &wrong, &estimate, &err), &err,
                    "an estimate of 2^64 - 1 keys");
    kr_test_refused(suite, KR_ERR_ARGUMENT, kr_index_create(on->device, spec, &right, NULL, NULL, NULL, &err),
                    &err, "the index pointer is NULL");
    kr_test_expect(suite, kr_in_use(on->device) == before, "refused builds release what they took");
    kr_test_column_free(&keys);
}

/* Row ids that no index may hold are refused by create or found by validate. */
static void check_row_ids(kr_suite *suite, const kr_suite_device *on, const char *spec, const uint32_t *ids,
                          const char *name)
{
    kr_test_column keys = kr_test_column_make(KR_U32, 100, KR_PATTERN_DENSE, KR_NULLS_NONE, suite->seed);
    kr_error err = {0};
    kr_index *index = NULL;
    kr_status status = kr_index_create(on->device, spec, &keys.view, ids, NULL, &index, &err);
    if (status == KR_OK)
        kr_test_refused(suite, KR_ERR_INVARIANT, kr_index_validate(index, &err), &err, name);
    else
        kr_test_refused(suite, KR_ERR_ARGUMENT, status, &err, name);
    kr_index_destroy(index);
    kr_test_column_free(&keys);
}

static void test_row_ids(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    uint32_t *ids = kr_test_row_ids(KR_ROW_IDS_SHUFFLED, 100, suite->seed);
    const uint32_t kept = ids[40];
    ids[40] = KR_NO_ROW;
    check_row_ids(suite, on, spec, ids, "a row id of 2^32 - 1");
    ids[40] = ids[90];
    check_row_ids(suite, on, spec, ids, "a row id twice, under two keys");
    ids[40] = kept;
    free(ids);
}

void kr_run_misuse(kr_suite *suite)
{
    kr_test_special(suite, "misuse/lookup", KR_U32, test_lookups);
    kr_test_special(suite, "misuse/incapable", KR_U32, test_incapable);
    kr_test_special(suite, "misuse/create", 0, test_create);
    kr_test_special(suite, "misuse/row-ids", KR_U32, test_row_ids);
}
