/* kr_index_lookup_chunks: all matches under a cap of bytes. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct collected {
    uint64_t cap_nbytes, n_probes, n_rows, n_chunks;
    uint64_t stop_after; /* chunks; 0: never */
    uint64_t offsets[64];
    uint32_t *rows;
    uint64_t capacity;
    const char *complaint;
} collected;

static int collect(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                   const uint32_t *rows)
{
    collected *c = ctx;
    ++c->n_chunks;
    if (first_probe != c->n_probes)
        c->complaint = "chunks follow each other in probe order";
    else if (c->n_probes + n_probes >= sizeof c->offsets / sizeof c->offsets[0])
        c->complaint = "chunks hold the probes that were given";
    else if (offsets[0] != 0)
        c->complaint = "offsets begin at 0 in every chunk";
    else if (offsets[n_probes] * sizeof *rows > c->cap_nbytes)
        c->complaint = "a chunk stays under the cap";
    else if (c->n_rows + offsets[n_probes] > c->capacity)
        c->complaint = "there are no more rows than match";
    if (c->complaint)
        return 1;
    for (uint64_t i = 1; i <= n_probes; ++i)
        c->offsets[c->n_probes + i] = c->n_rows + offsets[i];
    if (offsets[n_probes])
        memcpy(c->rows + c->n_rows, rows, offsets[n_probes] * sizeof *rows);
    c->n_rows += offsets[n_probes];
    c->n_probes += n_probes;
    return c->stop_after && c->n_chunks >= c->stop_after;
}

static uint64_t widest(const kr_answer *answer)
{
    const uint64_t *offsets = answer->out;
    uint64_t most = 0;
    for (uint64_t i = 0; i < answer->n; ++i)
        most = offsets[i + 1] - offsets[i] > most ? offsets[i + 1] - offsets[i] : most;
    return most;
}

static kr_status ask_chunks(const kr_fixture *fixture, kr_index *index, uint32_t what, uint32_t order,
                            collected *c, kr_error *err)
{
    return kr_index_lookup_chunks(index, &fixture->data.lower[what].view,
                                  what == KR_ASK_RANGE ? &fixture->data.upper.view : NULL, order,
                                  c->cap_nbytes, collect, c, err);
}

static void check_cap(const kr_fixture *fixture, kr_index *index, uint32_t what, uint32_t question,
                      uint64_t cap_nbytes)
{
    const kr_question *asked = &fixture->data.questions[question];
    const kr_answer *want = &fixture->data.answers[what][question];
    kr_suite *suite = fixture->suite;
    kr_error err = {0};
    char text[256], needed[32];
    collected c = {.cap_nbytes = cap_nbytes, .capacity = want->n_rows};
    c.rows = kr_test_calloc(want->n_rows, sizeof *c.rows);
    const kr_status status = ask_chunks(fixture, index, what, asked->order, &c, &err);
    const kr_answer got = {.n = want->n, .out = c.offsets, .rows = c.rows, .n_rows = c.n_rows};
    snprintf(needed, sizeof needed, "%llu", (unsigned long long)widest(want) * 4);
    if (c.complaint)
        kr_test_fail(suite, "not so: %s", c.complaint);
    else if (cap_nbytes < widest(want) * 4) {
        if (kr_test_refused(suite, KR_ERR_LIMIT, status, &err, "a cap too small for one probe"))
            kr_test_expect(suite, c.n_chunks > 0 || strstr(err.text, needed), "the error names the size");
    } else if (kr_test_ok(suite, status, &err, "kr_index_lookup_chunks") &&
               kr_test_expect(suite, c.n_probes == want->n, "every probe is in a chunk") &&
               kr_answer_differs(asked, want, &got, text, sizeof text))
        kr_test_fail(suite, "%s in chunks of %llu bytes: %s", asked->name, (unsigned long long)cap_nbytes,
                     text);
    free(c.rows);
}

static void check_stopped(const kr_fixture *fixture, kr_index *index, uint32_t what)
{
    kr_error err = {0};
    collected c = {.cap_nbytes = UINT64_C(1) << 30, .stop_after = 1, .capacity = 1 << 20};
    c.rows = kr_test_calloc(c.capacity, sizeof *c.rows);
    const kr_status status = ask_chunks(fixture, index, what, KR_ORDER_ROW, &c, &err);
    kr_test_refused(fixture->suite, KR_ERR_CANCELLED, status, &err, "a callback that stops");
    kr_test_expect(fixture->suite, c.n_chunks == 1, "no chunk follows the stop");
    free(c.rows);
}

static void check_type(kr_suite *suite, const kr_suite_device *on, const char *spec, kr_type type)
{
    kr_fixture fixture;
    kr_error err = {0};
    kr_index *index = NULL;
    const char *must_name;
    kr_fixture_make(suite, type, KR_PATTERN_DUPLICATES, 300, &fixture);
    if (kr_spec_refuses(spec, &fixture.data.keys.view, &must_name)) {
        kr_fixture_free(&fixture);
        return;
    }
    if (kr_test_ok(suite,
                   kr_index_create(on->device, spec, &fixture.data.keys.view, NULL, NULL, &index, &err), &err,
                   "kr_index_create")) {
        const uint64_t before = kr_in_use(on->device);
        for (uint32_t what = 0; what <= KR_ASK_RANGE; ++what) {
            if (!(kr_spec_capabilities(spec) & (what == KR_ASK_POINT ? KR_CAN_POINT : KR_CAN_RANGE))) {
                collected c = {.cap_nbytes = 1 << 20};
                kr_test_refused(suite, KR_ERR_UNSUPPORTED,
                                ask_chunks(&fixture, index, what, KR_ORDER_ROW, &c, &err), &err,
                                "chunks of what the kind cannot answer");
                continue;
            }
            for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i) {
                const kr_question *question = &fixture.data.questions[i];
                if (question->result != KR_RESULT_ROWS || question->limit)
                    continue;
                const uint64_t most = widest(&fixture.data.answers[what][i]) * 4;
                const uint64_t caps[] = {UINT64_C(1) << 40, most, most + 4, 2 * most, most ? most - 4 : 0};
                for (uint32_t k = 0; k < sizeof caps / sizeof caps[0]; ++k)
                    check_cap(&fixture, index, what, i, caps[k]);
            }
            check_stopped(&fixture, index, what);
        }
        kr_test_expect(suite, kr_in_use(on->device) == before, "chunks release what they took");
    }
    kr_index_destroy(index);
    kr_fixture_free(&fixture);
}

static void check_all_types(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    for (int type = 1; type <= KR_N_TYPES; ++type)
        check_type(suite, on, spec, (kr_type)type);
}

void kr_run_chunks(kr_suite *suite)
{
    kr_test_special(suite, "chunks", 0, check_all_types);
}
