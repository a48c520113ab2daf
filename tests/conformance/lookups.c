/* Every case, type, device, spec and place: build, point lookups and ranges with every sink. */
#include "index/kinds/kind.h"
#include "inside.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a case's buffers lie; MIXED takes turns. */
typedef enum places { ALL_HOST, ALL_DEVICE, MIXED, N_PLACES } places;
static const char *const place_names[N_PLACES] = {"host", "device", "mixed"};

/* The last parts of a test's name; those before "build" by KR_ASK_*. */
static const char *const parts[] = {"point", "range", "nearest", "build"};

typedef struct subject {
    kr_suite *suite;
    const kr_suite_device *on;
    const char *spec;
    const kr_case_data *data;
    places places;
    uint32_t turn;
    char name[384]; /* of the tests, without the last part */
    kr_placed keys, row_ids, values, lower[KR_N_ASKS], upper;
    kr_index *index;
    uint64_t in_use_before;
} subject;

typedef struct outputs {
    kr_guarded out, valid, rows;
} outputs;

static kr_place next_place(subject *s)
{
    if (s->places == MIXED)
        return s->turn++ % 2 ? KR_PLACE_HOST : KR_PLACE_DEVICE;
    return s->places == ALL_DEVICE ? KR_PLACE_DEVICE : KR_PLACE_HOST;
}

static kr_status place(subject *s, const kr_column *column, kr_placed *placed, kr_error *err)
{
    return kr_placed_make(s->on->device, next_place(s), column, s->data->test->shift, placed, err);
}

static kr_status place_all(subject *s, kr_error *err)
{
    const kr_case_data *data = s->data;
    const kr_column ids = {.type = KR_U32, .count = data->keys.view.count, .data = data->row_ids};
    kr_status status = place(s, &data->keys.view, &s->keys, err);
    if (!status && data->row_ids)
        status = place(s, &ids, &s->row_ids, err);
    if (!status)
        status = place(s, &data->values.view, &s->values, err);
    for (uint32_t ask = 0; !status && ask < KR_N_ASKS; ++ask)
        status = place(s, &data->lower[ask].view, &s->lower[ask], err);
    return status ? status : place(s, &data->upper.view, &s->upper, err);
}

static void free_all(subject *s)
{
    kr_placed_free(&s->keys);
    kr_placed_free(&s->row_ids);
    kr_placed_free(&s->values);
    for (uint32_t ask = 0; ask < KR_N_ASKS; ++ask)
        kr_placed_free(&s->lower[ask]);
    kr_placed_free(&s->upper);
}

/* ---- Build ---------------------------------------------------------------------------------- */

/* The rule of docs/memory-and-streams.md, "Estimates": never too low, at most `factor` times the real figure
 * (0: of any size) and what small indexes round up to. */
static void check_estimate(kr_suite *suite, const char *what, uint64_t estimate, uint64_t real,
                           uint64_t factor, uint64_t slack)
{
    if (estimate < real || (factor && estimate > factor * real + slack))
        kr_test_fail(suite, "%s is %llu bytes, the estimate %llu; allowed are %llu times as many and %llu",
                     what, (unsigned long long)real, (unsigned long long)estimate, (unsigned long long)factor,
                     (unsigned long long)slack);
}

/* Four times, or six if the driver compacts a scene. An estimate cannot see which rows are NULL, nor
 * which equal keys share a bucket's triangle, a primitive or a slot. */
static uint64_t estimate_factor(const subject *s, uint64_t n_rows)
{
    char bucket[32], dedupe[32], compact[32], slots[32];
    const int shares = kr_spec_option(s->spec, "bucket", bucket)[0] != 0 ||
                       kr_spec_option(s->spec, "load", slots)[0] != 0 ||
                       kr_spec_option(s->spec, "occupancy", slots)[0] != 0 ||
                       !strcmp(kr_spec_option(s->spec, "dedupe", dedupe), "on");
    if (kr_spec_wants_near(s->spec)) /* bits for as many values as the spec allows */
        return 0;
    const int compacts =
        !s->on->is_host && kr_spec_option(s->spec, "compact", compact)[0] != 0 && strcmp(compact, "off") != 0;
    if (n_rows != s->data->keys.view.count || (s->data->has_duplicates && shares))
        return 0;
    return compacts ? 6 : 4;
}

/* What small indexes may round up to: a block, and one for each part. */
static uint64_t rounding(const char *spec, uint64_t n_rows)
{
    char value[32];
    const uint64_t scenes = strtoull(kr_spec_option(spec, "parts", value), NULL, 10);
    return (1 + (scenes < n_rows ? scenes : n_rows)) * (64 << 10);
}

static void check_facts(subject *s, const kr_estimate *estimate, uint64_t n_rows)
{
    kr_suite *suite = s->suite;
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    char spec[KR_SPEC_NBYTES];
    const uint64_t sum = kr_component_sum(s->index), host = kr_component_on_host(s->index);
    if (!kr_test_ok(suite, kr_index_query(s->index, &info, &err), &err, "kr_index_query"))
        return;
    if (sum != info.footprint_nbytes)
        kr_test_fail(suite, "the components sum to %llu bytes, the footprint is %llu",
                     (unsigned long long)sum, (unsigned long long)info.footprint_nbytes);
    if (info.rows != n_rows)
        kr_test_fail(suite, "the index has %llu rows, the column %llu", (unsigned long long)info.rows,
                     (unsigned long long)n_rows);
    if (kr_in_use(s->on->device) - s->in_use_before != info.footprint_nbytes - host)
        kr_test_fail(suite,
                     "the device holds %llu bytes more, the footprint is %llu, of which on the host %llu",
                     (unsigned long long)(kr_in_use(s->on->device) - s->in_use_before),
                     (unsigned long long)info.footprint_nbytes, (unsigned long long)host);
    const uint64_t factor = estimate_factor(s, n_rows);
    const uint64_t slack = rounding(s->spec, n_rows);
    check_estimate(suite, "the footprint", estimate->footprint_nbytes, info.footprint_nbytes, factor, slack);
    /* The caller's row ids may have to be put in order first. All rows of a key are in one part. */
    if (!s->data->row_ids && !(host && s->data->has_duplicates))
        check_estimate(suite, "the peak", estimate->peak_nbytes, info.peak_nbytes, factor, slack);
    kr_test_expect(suite, info.peak_nbytes >= info.footprint_nbytes - host,
                   "the peak includes the footprint");
    kr_test_expect(suite, info.type == s->data->type, "facts name the key type");
    kr_test_expect(suite, strcmp(info.device, s->on->info.name) == 0, "facts name the device");
    kr_test_expect(suite, info.tracer[0] != 0, "facts name the tracer, or none");
    kr_test_expect(suite,
                   kr_spec_complete(s->spec, spec, sizeof spec, NULL) == KR_OK && !strcmp(spec, info.spec),
                   "facts name the whole spec");
}

/* Validation takes 4 bytes of device memory per slot, as documented, and a little for counters. */
static void check_validate(subject *s)
{
    const uint64_t slots = kr_slot_count(s->index);
    const uint64_t most = kr_in_use(s->on->device) + 4 * slots + slots / 8 + 4096;
    kr_device_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    kr_error err = {0};
    kr_device_query(s->on->device, &before, NULL);
    kr_test_ok(s->suite, kr_index_validate(s->index, &err), &err, "kr_index_validate");
    kr_device_query(s->on->device, &after, NULL);
    if (after.peak_nbytes > before.peak_nbytes && after.peak_nbytes > most)
        kr_test_fail(s->suite, "validation raised the device's peak to %llu bytes, %llu were to be enough",
                     (unsigned long long)after.peak_nbytes, (unsigned long long)most);
}

static uint64_t valid_rows(const kr_column *column)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < column->count; ++i)
        n += kr_value_is_valid(column, i) != 0;
    return n;
}

/* Keys that the spec cannot hold are refused, and the error says what to change. */
static void expect_refusal(subject *s, kr_status want, const char *must_name)
{
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_error err = {0};
    kr_status status =
        kr_index_create(s->on->device, s->spec, &s->keys.view, s->row_ids.view.data, NULL, &s->index, &err);
    if (status == KR_ERR_UNSUPPORTED) {
        kr_test_skip(s->suite, s->suite->name, err.text);
        return;
    }
    kr_test_expect(s->suite, s->index == NULL, "no index is written on an error");
    if (kr_test_refused(s->suite, want, status, &err, "keys that do not fit") && !strstr(err.text, must_name))
        kr_test_fail(s->suite, "the error does not name '%s': %s", must_name, err.text);
    status = kr_index_estimate(s->on->device, s->spec, &s->keys.view, &estimate, &err);
    if (want == KR_ERR_SPEC)
        kr_test_refused(s->suite, want, status, &err, "an estimate of keys that do not fit");
    else
        kr_test_ok(s->suite, status, &err, "an estimate, which does not look at the keys");
    kr_test_expect(s->suite, kr_in_use(s->on->device) == s->in_use_before,
                   "a refused build releases what it took");
    kr_test_end(s->suite);
}

/* Always builds, as the other tests need it; 0 when there is no index. */
static int build(subject *s)
{
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_error err = {0};
    s->in_use_before = kr_in_use(s->on->device);
    const int counts = kr_test_begin(s->suite, "%s/build", s->name);
    const char *must_name;
    const kr_status refused = kr_spec_refuses(s->spec, &s->data->keys.view, &must_name);
    if (refused) {
        if (counts)
            expect_refusal(s, refused, must_name);
        return 0;
    }
    kr_status status = kr_index_estimate(s->on->device, s->spec, &s->keys.view, &estimate, &err);
    if (!status)
        status = kr_index_create(s->on->device, s->spec, &s->keys.view, s->row_ids.view.data, NULL, &s->index,
                                 &err);
    if (status == KR_ERR_UNSUPPORTED) {
        kr_test_skip(s->suite, s->suite->name, err.text);
        return 0;
    }
    if (kr_test_ok(s->suite, status, &err, "estimate and create") && counts) {
        check_validate(s);
        check_facts(s, &estimate, valid_rows(&s->data->keys.view));
    }
    if (counts || status)
        kr_test_end(s->suite);
    return status == KR_OK;
}

/* ---- One question --------------------------------------------------------------------------- */

static kr_status ask(subject *s, uint32_t what, const kr_sink *sink, kr_error *err)
{
    const kr_status status =
        kr_case_call(s->data, s->index, what, &s->lower[what].view, &s->upper.view, sink, err);
    return status ? status : kr_device_sync(s->on->device, NULL, err);
}

static void free_outputs(outputs *o)
{
    kr_guarded_free(&o->out);
    kr_guarded_free(&o->valid);
    kr_guarded_free(&o->rows);
}

/* Memory for an answer and `capacity` row ids; exits if there is none, which is not a failure of the
 * library. */
static void make_outputs(subject *s, const kr_question *question, uint64_t n, uint64_t capacity, outputs *o,
                         kr_sink *sink)
{
    const uint64_t shift = s->data->test->shift;
    kr_error err = {0};
    *o = (outputs){0};
    if (kr_guarded_make(s->on->device, next_place(s), kr_answer_nbytes(question, n),
                        shift * kr_type_nbytes(kr_answer_type(question)), &o->out, &err) ||
        kr_guarded_make(s->on->device, next_place(s), (n + 7) / 8, shift, &o->valid, &err) ||
        kr_guarded_make(s->on->device, next_place(s), capacity * sizeof(uint32_t), shift * sizeof(uint32_t),
                        &o->rows, &err)) {
        fprintf(stderr, "the test itself ran out of memory: %s\n", err.text);
        exit(1);
    }
    *sink = (kr_sink){.struct_size = sizeof *sink,
                      .result = question->result,
                      .order = question->order,
                      .limit = question->limit,
                      .values = kr_result_has_values(question->result) ? &s->values.view : NULL,
                      .out = o->out.data,
                      .valid = o->valid.data, /* of no use to most results, which leave it alone */
                      .rows_capacity = capacity};
}

static int has_valid(const kr_question *question)
{
    return question->result == KR_RESULT_MIN || question->result == KR_RESULT_MAX;
}

/* Reads the outputs back and compares; `n_rows` of the row ids count. */
static void compare(subject *s, const kr_question *question, const kr_answer *want, const outputs *o,
                    uint64_t n_rows, const char *phase)
{
    kr_error err = {0};
    char text[256];
    kr_answer got = {.n = want->n, .n_rows = n_rows};
    got.out = kr_guarded_read(&o->out, &err);
    got.valid = got.out ? kr_guarded_read(&o->valid, &err) : NULL;
    got.rows = got.valid ? kr_guarded_read(&o->rows, &err) : NULL;
    if (!got.rows)
        kr_test_fail(s->suite, "%s%s: %s", question->name, phase, err.text);
    else if (!has_valid(question) && !kr_guarded_untouched(&o->valid, &err))
        kr_test_fail(s->suite, "%s%s: valid was written, which is for MIN and MAX", question->name, phase);
    else if (kr_answer_differs(question, want, &got, text, sizeof text))
        kr_test_fail(s->suite, "%s%s (values: %s): %s", question->name, phase,
                     kr_type_name(question->values->type), text);
    kr_answer_free(&got);
}

static void expect_answer(subject *s, uint32_t what, const kr_question *question, const kr_answer *want,
                          int fill)
{
    kr_error err = {0};
    outputs o;
    kr_sink sink;
    const uint64_t n_rows = fill ? want->n_rows : 0;
    make_outputs(s, question, want->n, n_rows, &o, &sink);
    if (fill || question->result != KR_RESULT_ROWS)
        sink.rows = o.rows.data;
    const kr_status status = ask(s, what, &sink, &err);
    if (kr_test_ok(s->suite, status, &err, question->name))
        compare(s, question, want, &o, n_rows, fill ? ", fill" : "");
    free_outputs(&o);
}

/* How many row ids are known when one does not fit: if a range is cut, any of its ids may be left, unless
 * they come in the order of the scan. */
static uint64_t whole_rows(const kr_question *question, uint32_t what, const kr_answer *want)
{
    const uint64_t *offsets = want->out;
    uint64_t i = want->n;
    if (what != KR_ASK_RANGE || question->order == KR_ORDER_KEY)
        return want->n_rows - 1;
    while (offsets[i] == want->n_rows)
        --i;
    return offsets[i];
}

/* Room for one row id less than needed: refused where `out` is host memory, cut off where it is not. */
static void expect_too_small(subject *s, uint32_t what, const kr_question *question, const kr_answer *want)
{
    kr_error err = {0};
    outputs o;
    kr_sink sink;
    char needed[32];
    if (want->n_rows == 0 || s->places == MIXED)
        return;
    make_outputs(s, question, want->n, want->n_rows - 1, &o, &sink);
    sink.rows = o.rows.data;
    const kr_status status = ask(s, what, &sink, &err);
    snprintf(needed, sizeof needed, "%llu", (unsigned long long)want->n_rows);
    if (s->places == ALL_DEVICE && !s->on->is_host) {
        if (kr_test_ok(s->suite, status, &err, "rows, too little room on the device"))
            compare(s, question, want, &o, whole_rows(question, what, want), ", cut off");
    } else if (kr_test_refused(s->suite, KR_ERR_LIMIT, status, &err, "rows, too little room")) {
        kr_test_expect(s->suite, strstr(err.text, needed) != NULL, "the error names the room needed");
        kr_test_expect(s->suite, kr_guarded_untouched(&o.out, &err) && kr_guarded_untouched(&o.rows, &err),
                       "nothing is written when there is too little room");
    }
    free_outputs(&o);
}

/* The first kind that can, or what leaves all of them out of this build. */
static const char *able_to(uint32_t capability)
{
    uint32_t i = 0;
    while (kr_kind_at(i) && !(kr_kind_at(i)->capabilities & capability))
        ++i;
    return kr_kind_at(i) ? kr_kind_at(i)->name : "KEYRAY_KINDS";
}

/* A question that the kind cannot answer is refused for any result and any memory, even without probes, and
 * the error names a kind that can. */
static void expect_unsupported(subject *s, uint32_t what)
{
    for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i) {
        const kr_question *question = &s->data->questions[i];
        kr_error err = {0};
        outputs o;
        kr_sink sink;
        if (!kr_case_asks(s->data, i))
            continue;
        make_outputs(s, question, s->data->answers[what][i].n, 0, &o, &sink);
        if (kr_test_refused(s->suite, KR_ERR_UNSUPPORTED, ask(s, what, &sink, &err), &err, question->name))
            kr_test_expect(s->suite, strstr(err.text, able_to(kr_ask_needs[what])) != NULL,
                           "the error names a kind that can");
        kr_test_expect(s->suite, kr_guarded_untouched(&o.out, &err), "nothing is written");
        free_outputs(&o);
    }
}

/* All results but ROWS at once. */
static void expect_many(subject *s, uint32_t what)
{
    outputs o[KR_N_QUESTIONS];
    kr_sink sinks[KR_N_QUESTIONS];
    const kr_sink *pointers[KR_N_QUESTIONS];
    uint32_t asked[KR_N_QUESTIONS], n = 0;
    kr_error err = {0};
    for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i) {
        const kr_question *question = &s->data->questions[i];
        if (!kr_case_asks(s->data, i) || question->result == KR_RESULT_ROWS)
            continue;
        make_outputs(s, question, s->data->answers[what][i].n, 0, &o[n], &sinks[n]);
        pointers[n] = &sinks[n];
        asked[n++] = i;
    }
    kr_status status =
        kr_index_lookup_many(s->index, &s->lower[what].view, what == KR_ASK_RANGE ? &s->upper.view : NULL,
                             what == KR_ASK_NEAREST ? &s->data->nearest : NULL, pointers, n, NULL, &err);
    if (!status)
        status = kr_device_sync(s->on->device, NULL, &err);
    if (kr_test_ok(s->suite, status, &err, "kr_index_lookup_many"))
        for (uint32_t i = 0; i < n; ++i)
            compare(s, &s->data->questions[asked[i]], &s->data->answers[what][asked[i]], &o[i], 0,
                    ", of many");
    for (uint32_t i = 0; i < n; ++i)
        free_outputs(&o[i]);
}

static void test_asks(subject *s, uint32_t what)
{
    const int wanted = kr_test_begin(s->suite, "%s/%s", s->name, parts[what]);
    if (!wanted)
        return;
    if (!(kr_spec_capabilities(s->spec) & kr_ask_needs[what])) {
        expect_unsupported(s, what);
        kr_test_end(s->suite);
        return;
    }
    const uint64_t before = kr_in_use(s->on->device);
    for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i) {
        const kr_question *question = &s->data->questions[i];
        const kr_answer *want = &s->data->answers[what][i];
        if (!kr_case_asks(s->data, i))
            continue;
        expect_answer(s, what, question, want, 0);
        if (question->result == KR_RESULT_ROWS) {
            expect_answer(s, what, question, want, 1);
            expect_too_small(s, what, question, want);
        }
    }
    expect_many(s, what);
    kr_test_expect(s->suite, kr_in_use(s->on->device) == before, "a lookup releases what it took");
    kr_test_end(s->suite);
}

static int is_wanted(const subject *s)
{
    char name[512];
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        snprintf(name, sizeof name, "%s/%s", s->name, parts[i]);
        if (kr_test_wanted(s->suite, name))
            return 1;
    }
    return 0;
}

static void run_subject(subject *s)
{
    kr_error err = {0};
    if (place_all(s, &err)) {
        kr_test_begin(s->suite, "%s", s->name);
        kr_test_fail(s->suite, "no memory for the test's columns: %s", err.text);
        kr_test_end(s->suite);
    } else if (build(s)) {
        for (uint32_t ask = 0; ask < KR_N_ASKS; ++ask)
            test_asks(s, ask);
        kr_index_destroy(s->index);
        if (kr_in_use(s->on->device) != s->in_use_before) {
            kr_test_begin(s->suite, "%s/destroy", s->name);
            kr_test_fail(s->suite, "%llu bytes stay in use",
                         (unsigned long long)(kr_in_use(s->on->device) - s->in_use_before));
            kr_test_end(s->suite);
        }
    }
    free_all(s);
}

/* Brief specs get fewer cases, as do all specs with options in the reduced list; large cases get few
 * specs. */
static int is_left_out(const kr_suite *suite, const kr_case *test, kr_type type, places where)
{
    const int few = type == KR_U32 || type == KR_U64;
    const int varied = strchr(suite->spec, ':') != NULL;
    if (!kr_type_is_wanted(suite, suite->spec, type))
        return 1;
    if (test->large && !few && varied)
        return 1;
    return (suite->listed->is_brief || (suite->reduced && varied)) &&
           (where != ALL_DEVICE || !test->reduced || !(few || type == KR_U8 || type == KR_I16));
}

/* Where device memory is host memory, mixing makes no difference, and specs with options take each case in
 * one of the two places. */
static int is_alike(const kr_suite *suite, uint32_t number, places where)
{
    const int one_place =
        strchr(suite->spec, ':') && !suite->listed->is_brief && !suite->reduced && !suite->exhaustive;
    return where == MIXED || (one_place && (number % 2 == 0) != (where == ALL_HOST));
}

static void run_case(kr_suite *suite, const kr_case *test, uint32_t number, kr_type type)
{
    for (int p = 0; p < N_PLACES; ++p) {
        subject s = {.suite = suite, .on = suite->on, .spec = suite->spec, .places = (places)p};
        snprintf(s.name, sizeof s.name, "%s/%s/%s/%s/%s", s.on->info.name, s.spec, kr_type_name(type),
                 test->name, place_names[p]);
        if ((s.on->is_host && is_alike(suite, number + type, (places)p)) ||
            is_left_out(suite, test, type, (places)p) || !is_wanted(&s) || kr_test_is_late(suite))
            continue;
        s.data = kr_case_data_shared(suite, test, number, type);
        run_subject(&s);
    }
}

void kr_run_lookups(kr_suite *suite)
{
    const kr_case *test;
    for (uint32_t number = 0; (test = kr_case_at(suite, number)); ++number)
        for (int type = 1; type <= KR_N_TYPES; ++type)
            run_case(suite, test, number, (kr_type)type);
}
